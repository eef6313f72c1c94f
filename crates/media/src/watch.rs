//! What lines do with frames, told to whoever draws a run or divides a latency into its parts.
//!
//! Nothing is kept unless the [`FrameStore`](crate::medium::FrameStore) is told to, and nothing in a network decides by it.

use chronoseal_core::{Duration, Priority, SimTime};

/// Something that happened to a frame at a line, which is one direction of a link with the queues in front of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// The segment that the line belongs to.
    pub segment: u16,
    /// The line, as its medium numbers them.
    pub line: u32,
    /// The driver's number of the frame; `None` if the medium made the frame itself, or no single frame is meant.
    pub frame: Option<u64>,
    /// When it is told.
    pub at: SimTime,
    /// What happened.
    pub what: Passed,
}

/// What a line did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// The frame came to the queues of the line. Told before [`Self::Sent`] or [`Self::Refused`], also of a frame that does not wait.
    Queued {
        /// Its class.
        priority: Priority,
    },
    /// The queues had no room for it, or would have kept it for too long.
    Refused,
    /// The line is used from now on until then, whatever was said of it before. Told where frames can be interrupted.
    Used {
        /// When the next frame may start.
        until: SimTime,
    },
    /// The frame leaves, or has left. One that can be interrupted is told of when its last bit has left.
    Sent {
        /// First bit on the line.
        started_at: SimTime,
        /// Last bit on the line.
        left_at: SimTime,
        /// Last bit at the other end.
        arrives_at: SimTime,
        /// The next frame may start then.
        free_at: SimTime,
        /// What its own bits take on the line if nobody interrupts them.
        transmission: Duration,
    },
}
