//! Networks, streams and schedules in the files of other tools. Everything is bytes in and text out.

pub mod qcw;
mod qcw_tree;
pub mod scenario;
pub mod taprio;
pub mod tsnkit;

use std::fmt;

/// A file of this length is refused `[byte]`.
const FILE_LEN_MAX: usize = 64_000_000;

/// Why a file was not taken: where, what was expected, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The file.
    pub source: String,
    /// The line in it, from 1; nothing if the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong, with the stream or port.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Refusal {
    /// A refusal of a file, at a line if one is meant.
    pub fn new(source: &str, line: Option<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { source: source.into(), line, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\nhelp: {}", self.message, self.help)
    }
}

impl std::error::Error for Refusal {}

/// The text of a file that is not too long.
///
/// # Errors
/// If it is, or is no UTF-8.
pub fn text<'a>(source: &str, bytes: &'a [u8]) -> Result<&'a str, Refusal> {
    if bytes.len() > FILE_LEN_MAX {
        let message = format!("the file has {} bytes, and at most {FILE_LEN_MAX} are read", bytes.len());
        return Err(Refusal::new(source, None, message, "split it"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Refusal::new(source, Some(line), "this is no UTF-8 text", "save the file as UTF-8")
    })
}
