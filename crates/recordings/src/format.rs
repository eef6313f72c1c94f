//! Which format bytes are in, told from how they begin.

use std::fmt;

use crate::{busmaster, candump};

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
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
        })
    }
}

/// Lines looked at for a known beginning: headers of text formats are preceded by little else.
const LINES_MAX: usize = 50;

impl Format {
    /// The format of `bytes`, if they begin like one.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let magic: &[(&[u8], Self)] = &[
            (b"LOGG", Self::Blf),
            (b"MDF ", Self::Mf4),
            (b"UnFinMF", Self::Mf4),
            (&[0xa1, 0xb2, 0xc3, 0xd4], Self::Pcap),
            (&[0xd4, 0xc3, 0xb2, 0xa1], Self::Pcap),
            (&[0xa1, 0xb2, 0x3c, 0x4d], Self::Pcap),
            (&[0x4d, 0x3c, 0xb2, 0xa1], Self::Pcap),
            (&[0x0a, 0x0d, 0x0d, 0x0a], Self::Pcapng),
        ];
        if let Some((_, format)) = magic.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Some(*format);
        }
        bytes.split(|byte| *byte == b'\n').take(LINES_MAX).find_map(|line| {
            let line = str::from_utf8(line).ok()?.trim();
            let first = line.split_whitespace().next()?;
            if line.starts_with(busmaster::BEGINNING) {
                Some(Self::Busmaster)
            } else if line.starts_with(';') {
                Some(Self::Trc)
            } else if matches!(first, "date" | "base") {
                Some(Self::Asc)
            } else if candump::is_log_line(line) {
                Some(Self::CandumpLog)
            } else if candump::is_console_line(line) {
                Some(Self::CandumpConsole)
            } else {
                None
            }
        })
    }
}
