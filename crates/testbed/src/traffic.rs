//! What the test bed has to be told about frames, since it knows no scenario.

use chronoseal_core::{NodeId, Priority, SimTime, StreamId};
use chronoseal_results::{EventRow, FrameRow};

/// Reads frames for the emulator and for the records. Called while frames are on their way: it has to be quick.
pub trait Traffic: Sync {
    /// The egress queue a frame belongs to.
    fn priority(&self, bytes: &[u8]) -> Priority;

    /// What a frame is that came in at the switch at `arrived_at`. On a CAN bus: that was handed to the bus then.
    fn describe(&self, bytes: &[u8], arrived_at: SimTime) -> FrameDescription;

    /// Whether a frame of `stream` is meant for `node`. A CAN bus gives every frame to everybody, and so to many that
    /// have nothing to say about it: there is no row for them.
    fn concerns(&self, _stream: StreamId, _node: NodeId) -> bool {
        true
    }

    /// The row of a frame that an event of kind `Missing` says never came. `None`: no row.
    fn missing(&self, _event: &EventRow) -> Option<FrameRow> {
        None
    }
}

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameDescription {
    /// Its stream, or [`StreamId::NONE`].
    pub stream: StreamId,
    /// Which frame of the stream, if its bytes tell; else what the receiver counted.
    pub sequence: Option<u64>,
    /// Who sends frames of this stream; shown as sender unless the frame is part of an attack.
    pub sender: Option<NodeId>,
    /// Start of the integration cycle it belongs to.
    pub cycle_start: SimTime,
    /// Start of its slot.
    pub slot_start: Option<SimTime>,
    /// A frame the switch passes on after this is late. On a CAN bus: a frame whose receiver has checked it after this.
    pub late_after: Option<SimTime>,
}

impl FrameDescription {
    /// A frame of no stream.
    pub const UNKNOWN: Self = Self {
        stream: StreamId::NONE,
        sequence: None,
        sender: None,
        cycle_start: SimTime::ZERO,
        slot_start: None,
        late_after: None,
    };
}
