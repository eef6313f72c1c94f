//! Why a recording cannot be read, where, and what to do.

use std::fmt;

use crate::format::Format;
use crate::gzip::GzipError;
use crate::recording::Recording;

/// A place in the bytes of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Why reading stopped. What was read until then is in [`read`](Self::read).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{problem}; {} frames before it were read", read.frames.len())]
pub struct ReadError {
    /// What is wrong.
    pub problem: Problem,
    /// The frames before it, as good as any.
    pub read: Box<Recording>,
}

/// What is wrong with a recording.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The beginning is none of any format.
    #[error(
        "this is no recording: it begins with `{found}`; give a candump, ASC, BLF, TRC, MF4, BUSMASTER, pcap or \
         pcapng file"
    )]
    UnknownFormat {
        /// How it begins.
        found: String,
    },
    /// Packed with gzip, and not to be unpacked.
    #[error("{0}")]
    Packed(GzipError),
    /// Something else than the format wants.
    #[error("{format}, {place}: {expected} was expected, found `{found}`; {help}")]
    Malformed {
        /// The format.
        format: Format,
        /// Where.
        place: Place,
        /// What should be there.
        expected: &'static str,
        /// What is there, shortened.
        found: String,
        /// What to do.
        help: &'static str,
    },
    /// The end of the bytes in the middle of a frame.
    #[error("{format}, {place}: the recording ends in the middle of {expected}; record again, or cut it before")]
    Truncated {
        /// The format.
        format: Format,
        /// Where what is cut off begins.
        place: Place,
        /// What is cut off.
        expected: &'static str,
    },
    /// A kind of the format that is not read.
    #[error("{format}, {place}: {what} is not supported; {help}")]
    Unsupported {
        /// The format.
        format: Format,
        /// Where.
        place: Place,
        /// What.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// More than anybody waits for.
    #[error("{format}, {place}: more than {limit} {what}; cut the recording into parts")]
    TooMany {
        /// The format.
        format: Format,
        /// Where.
        place: Place,
        /// Of what.
        what: &'static str,
        /// How many are read.
        limit: usize,
    },
}
