//! What a file seems to be, told from its content: one table for every command that reads files of others.
//!
//! A file is never taken for something by its name. What is in the table and not read is there to be named, with what to
//! make of it instead.

mod start;
mod table;

use std::fmt;

use start::Start;
pub use table::ENTRIES;

/// Columns of a table of streams that a scenario is made of.
pub const STREAM_COLUMNS: [&str; 5] = ["name", "from", "to", "period", "frame"];

/// What a file is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A scenario is made of it: `chronoseal scenario from FILE`.
    Import,
    /// Which messages gateways carry on: `chronoseal scenario from A.dbc B.dbc --routes FILE`.
    Routes,
    /// It is a scenario: `chronoseal check FILE`.
    Scenario,
    /// A network of tsnkit: `chronoseal schedule make --network FILE`.
    Network,
    /// Streams of tsnkit: `chronoseal schedule make --streams FILE`.
    Streams,
    /// Gate control lists: `chronoseal schedule replay --gates FILE`.
    Gates,
    /// Traffic on roads: `chronoseal v2x fleet --fcd FILE`.
    Trace,
    /// Certificates and messages of V2X: `chronoseal v2x lint FILE`.
    Credentials,
}

impl Purpose {
    /// The command that reads it, with `FILE` in its place.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Import => "chronoseal scenario from FILE",
            Self::Routes => "chronoseal scenario from A.dbc B.dbc --routes FILE",
            Self::Scenario => "chronoseal check FILE",
            Self::Network => "chronoseal schedule make --network FILE --streams STREAMS --out DIR",
            Self::Streams => "chronoseal schedule make --network NETWORK --streams FILE --out DIR",
            Self::Gates => "chronoseal schedule replay --network NETWORK --streams STREAMS --from DIR --gates FILE",
            Self::Trace => "chronoseal v2x fleet --fcd FILE",
            Self::Credentials => "chronoseal v2x lint FILE",
        }
    }

    /// What is read for it.
    pub const fn reads(self) -> &'static str {
        match self {
            Self::Import => {
                "CSV with the columns name,from,to,period,frame; pcap and pcapng; candump, ASC, BLF, TRC, MF4 and BUSMASTER \
                 logs, the CSV of SavvyCAN and python-can; DBC databases; AUTOSAR system descriptions (ARXML); each of them also packed with gzip"
            }
            Self::Routes => "CSV with the columns message,from,to,gateway, also packed with gzip",
            Self::Scenario => "scenarios in TOML or JSON",
            Self::Network => "tsnkit's CSV with the columns link,q_num,rate,t_proc,t_prop, also packed with gzip",
            Self::Streams => {
                "tsnkit's CSV with the columns stream,src,dst,size,period,deadline,jitter, also packed with gzip"
            }
            Self::Gates => "JSON (RFC 7951) or XML of the YANG modules of IEEE 802.1Qcw, also packed with gzip",
            Self::Trace => "what `sumo --fcd-output FILE` writes, also packed with gzip",
            Self::Credentials => {
                "certificates, messages and trust lists in COER, captures as pcap or pcapng, also packed with gzip"
            }
        }
    }
}

/// One kind of content.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is called, with its article.
    pub name: &'static str,
    /// What it is read for; `None` if it is not read.
    pub purpose: Option<Purpose>,
    /// What to make of it, for a content that is not read.
    pub instead: &'static str,
    is: fn(&Start<'_>) -> bool,
}

/// The kind of content of the table that the bytes are, if they are one. gzip is looked into by nobody here: unpack first.
pub fn recognised(bytes: &[u8]) -> Option<&'static Entry> {
    let start = Start::of(bytes);
    ENTRIES.iter().find(|entry| (entry.is)(&start))
}

/// True for a table whose header is that of streams, with no more than two mistakes in its names.
pub fn is_stream_table(bytes: &[u8]) -> bool {
    start::is_stream_table(&Start::of(bytes))
}

/// True for XML whose first element has this name.
pub(crate) fn has_root(bytes: &[u8], name: &str) -> bool {
    Start::of(bytes).has_root(name)
}

/// Why a file is not taken for what a command reads: what it seems to be, the nearest that is read, and what is read at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotRead {
    /// What it seems to be, as a sentence.
    pub message: String,
    /// What to do, and what is read at all.
    pub help: String,
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.message, self.help)
    }
}

impl std::error::Error for NotRead {}

/// Says of bytes that are not read for this purpose what they seem to be.
pub fn not_read(bytes: &[u8], wanted: Purpose) -> NotRead {
    let (message, nearest) = match recognised(bytes) {
        Some(Entry { name, purpose: None, instead, .. }) => {
            (format!("this seems to be {name}, which is not read"), (*instead).to_owned())
        }
        Some(Entry { name, purpose: Some(purpose), .. }) => {
            (format!("this seems to be {name}"), format!("use `{}`", purpose.command()))
        }
        None => {
            let start = Start::of(bytes);
            (format!("what this is was not recognised: {}", start.shown()), start.nearest(wanted).to_owned())
        }
    };
    NotRead { message, help: format!("{nearest}; read here: {}", wanted.reads()) }
}

/// Refuses bytes that are known to be something else than what is wanted. What is not recognised is left to the reader of
/// what is wanted, who says the line.
///
/// # Errors
/// [`NotRead`].
pub fn expect(bytes: &[u8], wanted: Purpose) -> Result<(), NotRead> {
    match recognised(bytes) {
        Some(entry) if entry.purpose != Some(wanted) => Err(not_read(bytes, wanted)),
        _ => Ok(()),
    }
}
