//! What the test bed has to be told about frames, since it knows no scenario.

use chronoseal_core::{MessagePart, NodeId, Priority, SimTime, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_results::{EventRow, FrameRow};

/// Reads frames for the emulator and for the records. Called while frames are on their way: it has to be quick.
///
/// One run may have segments of different kinds. A frame is described by whoever knows the segment it is on, which
/// `from` tells: the attachment of the wire it was read from. For a frame of a CAN interface of the kernel that is the
/// attachment of the guest that listens there, whoever sent the frame.
pub trait Traffic: Sync {
    /// The egress queue that a frame belongs to. Not asked for frames of a CAN interface of the kernel.
    fn priority(&self, from: Attachment, bytes: &[u8]) -> Priority;

    /// What the frame is. Asked once for each frame that is read from a wire, right after the medium took it.
    ///
    /// `arrived_at` is when the medium had the whole frame, if the medium has passed it on already; else, and that is the
    /// common case, when the emulator read it, which is when it was handed to the medium.
    fn describe(&self, from: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription;

    /// Whether a frame of `stream` is meant for `node`. A medium may give a frame to nodes that it is not meant for; when
    /// they report nothing about it, there is no row of it there.
    fn concerns(&self, _stream: StreamId, _node: NodeId) -> bool {
        true
    }

    /// Whether what `node` reports about a frame of `stream`, which came from `from`, makes a row of it there. Where
    /// everybody hears everything, others than its receivers may have something to say.
    fn is_for(&self, _from: Attachment, _stream: StreamId, _node: NodeId) -> bool {
        true
    }

    /// What people call a stream.
    fn stream_name(&self, stream: StreamId) -> String {
        format!("stream {}", stream.0)
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
    /// The frame is late if its first bit leaves the medium after this. `None`: no such deadline. Whoever carries frames
    /// without telling when they leave (a CAN interface of the kernel) never makes one late by this.
    pub leaves_by: Option<SimTime>,
    /// The frame is late if its receiver has accepted it, checks included, after this. `None`: no such deadline.
    pub received_by: Option<SimTime>,
    /// What of a message it is. A message in several frames has one row at each receiver.
    pub part: MessagePart,
    /// True if its stream's number goes by what its receiver accepted: a number in its bytes that no tag covers says nothing then.
    pub is_numbered_by_receiver: bool,
    /// True if it holds PDUs of several streams, of each of which its receivers report by itself.
    pub is_container: bool,
    /// What [`FrameRow::received_at`] means: true for when the receiver had the frame checked, and no time if it never
    /// said so; false for when its last bit was in. A guest is no receiver that checks; its rows have the last bit.
    pub has_when_checked: bool,
}

impl FrameDescription {
    /// A frame of no stream.
    pub const UNKNOWN: Self = Self {
        stream: StreamId::NONE,
        sequence: None,
        sender: None,
        cycle_start: SimTime::ZERO,
        slot_start: None,
        leaves_by: None,
        received_by: None,
        part: MessagePart::Whole,
        is_numbered_by_receiver: false,
        is_container: false,
        has_when_checked: false,
    };
}
