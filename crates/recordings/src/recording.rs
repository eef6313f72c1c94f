//! What every format is read into.

use chronoseal_wire::can::CanFrame;

use crate::error::{Place, Problem};
use crate::format::Format;

/// Frames of one recording, in the order of their times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// What it was read from.
    pub format: Format,
    /// When the recording begins as the recorder stamped it `[ns]`. It counts from 1970 where the format says so (candump,
    /// pcap, MF4), else from what the format counts from: midnight (BUSMASTER), the start of the measurement (ASC, TRC,
    /// BLF).
    pub start_ns: u64,
    /// Names of the channels: `can0`, `1`, … [`RecordedFrame::channel`] is an index into them.
    pub channels: Vec<String>,
    /// Frames by time; frames of one time keep the order they were recorded in.
    pub frames: Vec<RecordedFrame>,
    /// What the recorder says about errors on the bus, by time. These were never frames.
    pub errors: Vec<RecordedError>,
    /// What to know before trusting it: left out lines, times out of order, a coarse clock.
    pub warnings: Vec<Warning>,
}

impl Recording {
    /// From the first frame to the last `[ns]`; 0 if there are fewer than two.
    pub fn length_ns(&self) -> u64 {
        match (self.frames.first(), self.frames.last()) {
            (Some(first), Some(last)) => last.at_ns - first.at_ns,
            _ => 0,
        }
    }
}

/// One frame of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedFrame {
    /// Since the recording begins `[ns]`, at most [`LENGTH_NS_MAX`](crate::LENGTH_NS_MAX).
    pub at_ns: u64,
    /// Index into [`Recording::channels`].
    pub channel: u16,
    /// The frame.
    pub frame: CanFrame,
}

/// An error the recorder saw on the bus, or in itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedError {
    /// Since the recording begins `[ns]`.
    pub at_ns: u64,
    /// Index into [`Recording::channels`].
    pub channel: u16,
    /// Class of the error as in Linux's `can/error.h`, 29 bits; 0 if the format does not say it that way.
    pub class: u32,
    /// Details as in Linux's `can/error.h`; zeros if the format does not say them that way.
    pub details: [u8; 8],
}

/// Something about a recording that is no error and should be known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Entries that are no CAN frame.
    #[error("{count} entries were left out, the first at {first}: {what}")]
    LeftOut {
        /// What they are.
        what: &'static str,
        /// How many.
        count: u64,
        /// Where the first is.
        first: Place,
    },
    /// Entries that are damaged in a format whose entries stand for themselves.
    #[error("{count} entries are damaged and were left out; the first: {first}")]
    Damaged {
        /// How many.
        count: u64,
        /// What is wrong with the first.
        first: Box<Problem>,
    },
    /// Times that run backwards; the frames are sorted.
    #[error("{count} frames were recorded out of order, by up to {back_ns} ns, and are sorted by time")]
    OutOfOrder {
        /// How many frames stood behind a later one.
        count: u64,
        /// The largest step back `[ns]`.
        back_ns: u64,
    },
    /// Frames so late that the recorder's clock must have been set before them.
    #[error(
        "{count} frames more than 50 days after the first were left out; cut the recording where its clock was set"
    )]
    TooLate {
        /// How many frames and errors.
        count: u64,
    },
    /// What a format could not say.
    #[error("{0}")]
    Missing(&'static str),
}
