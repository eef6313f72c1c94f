//! Which format bytes are in, told from how they begin.

use std::fmt;

use crate::{busmaster, candump, csv, sqlite};

/// A format of recordings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Format {
    /// `candump -l`, which `canplayer` plays: `(1398128223.803317) can0 166#D0320009`.
    CandumpLog,
    /// What `candump` shows: `(1398128223.803317)  can0  166   [4]  D0 32 00 09`.
    CandumpConsole,
    /// Vector's text format.
    Asc,
    /// Vector's binary format.
    Blf,
    /// PEAK's text format, versions 1.0 to 2.1.
    Trc,
    /// ASAM MDF 4, bus logging.
    Mf4,
    /// BUSMASTER's text format.
    Busmaster,
    /// SavvyCAN's native CSV.
    Gvret,
    /// python-can's CSV.
    PythonCsv,
    /// python-can's SQLite database.
    Sqlite,
    /// pcap with link type 227, `LINKTYPE_CAN_SOCKETCAN`.
    Pcap,
    /// pcapng with an interface of link type 227.
    Pcapng,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CandumpLog => "candump log",
            Self::CandumpConsole => "candump's console",
            Self::Asc => "ASC",
            Self::Blf => "BLF",
            Self::Trc => "TRC",
            Self::Mf4 => "MF4",
            Self::Busmaster => "BUSMASTER log",
            Self::Gvret => "SavvyCAN's CSV",
            Self::PythonCsv => "python-can's CSV",
            Self::Sqlite => "python-can's SQLite",
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
        })
    }
}

/// Lines looked at for a known beginning: headers of text formats are preceded by little else.
const LINES_MAX: usize = 50;

impl Format {
    /// The format of `bytes`, if their content is of one. Some letters at their beginning are not enough: a table of streams may
    /// begin with any word.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        binary(bytes).or_else(|| {
            let lines =
                || bytes.split(|byte| *byte == b'\n').take(LINES_MAX).filter_map(|line| str::from_utf8(line).ok());
            lines().find_map(|line| {
                let line = line.trim();
                if line.starts_with(busmaster::BEGINNING) {
                    Some(Self::Busmaster)
                } else if csv::is_gvret_header(line) {
                    Some(Self::Gvret)
                } else if csv::is_python_header(line) {
                    Some(Self::PythonCsv)
                } else if is_trc_remark(line) && is_trc(lines()) {
                    Some(Self::Trc)
                } else if is_asc_header(line) {
                    Some(Self::Asc)
                } else if candump::is_log_line(line) {
                    Some(Self::CandumpLog)
                } else if candump::is_console_line(line) {
                    Some(Self::CandumpConsole)
                } else {
                    None
                }
            })
        })
    }
}

/// A binary format: its magic, and what its header has behind it.
fn binary(bytes: &[u8]) -> Option<Format> {
    let word = |at: usize| Some(*bytes.get(at..)?.first_chunk::<4>()?);
    // A version of the format as text, such as `4.11    `.
    let has_version = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit) && bytes.get(at + 1) == Some(&b'.');
    match word(0)? {
        // The length of the header, 144 so far, in little-endian order. A file that ends before it has been cut off.
        header if header == *b"LOGG" => {
            word(4).is_none_or(|len| (72..4096).contains(&u32::from_le_bytes(len))).then_some(Format::Blf)
        }
        _ if bytes.starts_with(b"MDF     ") || bytes.starts_with(b"UnFinMF ") => has_version(8).then_some(Format::Mf4),
        _ if bytes.starts_with(sqlite::BEGINNING) => Some(Format::Sqlite),
        [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d] | [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1] => Some(Format::Pcap),
        [0x0a, 0x0d, 0x0d, 0x0a] => Some(Format::Pcapng),
        _ => None,
    }
}

/// `date Sam Sep 30 15:06:13.191 2017` or `base hex  timestamps absolute`.
fn is_asc_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["date", ..] => words.iter().any(|word| {
            let parts: Vec<&str> = word.split(':').collect();
            parts.len() == 3 && parts[..2].iter().all(|part| part.len() <= 2 && part.parse::<u8>().is_ok())
        }),
        ["base", "hex" | "dec", "timestamps", "absolute" | "relative", ..] => true,
        _ => false,
    }
}

fn is_trc_remark(line: &str) -> bool {
    line.starts_with(';')
}

/// True if the remarks say so, or what comes behind them is numbered as in version 1.0, `1)`, which says nothing of itself.
fn is_trc<'a>(mut lines: impl Iterator<Item = &'a str>) -> bool {
    let numbered = |line: &str| {
        let number = line.split_whitespace().next().and_then(|word| word.strip_suffix(')'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    lines.any(|line| line.contains("$FILEVERSION=") || numbered(line))
}
