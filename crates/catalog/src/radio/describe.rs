//! What a frame on the air is.

use chronoseal_core::{NodeId, Priority, SimTime, StreamId};
use chronoseal_plan::Radio;
use chronoseal_v2x_fleet::station::{FrameTable, MessageKind, priority_of};

use crate::{Describe, Description};

/// Describes the frames of one segment: by the kind of their message, as nothing on the air shows whose they are.
#[derive(Clone, Debug)]
pub(super) struct Describer {
    table: Option<FrameTable>,
    known: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    message: MessageKind,
    stream: StreamId,
    /// In order.
    receivers: Vec<NodeId>,
}

impl Describer {
    /// For the frames of a segment; without a table nothing can be told of them.
    pub(super) fn new(view: Radio<'_>, table: Option<FrameTable>) -> Self {
        let known = view.streams().map(|(id, _, hop, facet)| {
            let mut receivers = hop.to.clone();
            receivers.sort_unstable();
            Known { message: facet.message, stream: id, receivers }
        });
        Self { table, known: known.collect() }
    }

    fn known(&self, bytes: &[u8]) -> Option<&Known> {
        let frame = self.table.as_ref()?.frame(bytes);
        let message = frame.content().ok()?.kind();
        self.known.iter().find(|known| known.message == message)
    }
}

impl Describe for Describer {
    fn stream_of(&self, bytes: &[u8]) -> StreamId {
        self.known(bytes).map_or(StreamId::NONE, |known| known.stream)
    }

    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let known = self.known(bytes);
        Description {
            stream: known.map_or(StreamId::NONE, |known| known.stream),
            sequence: None,
            sender: None,
            cycle_start: sent_at,
            slot_start: None,
            leaves_by: None,
            received_by: None,
            // A warning that nobody may believe yet warns nobody.
            is_received_when_checked: true,
        }
    }

    fn priority(&self, bytes: &[u8]) -> Priority {
        let kind = self.table.as_ref().and_then(|table| Some(table.frame(bytes).content().ok()?.kind()));
        priority_of(kind.unwrap_or(MessageKind::Cam))
    }

    fn payload_len(&self, bytes: &[u8]) -> u64 {
        self.table.as_ref().map_or(0, |table| table.frame(bytes).text().len() as u64)
    }

    fn is_judged(&self, _: StreamId) -> bool {
        false
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn loses_frames(&self) -> bool {
        true
    }

    fn is_for(&self, stream: StreamId, node: NodeId) -> bool {
        self.known
            .iter()
            .find(|known| known.stream == stream)
            .is_none_or(|known| known.receivers.binary_search(&node).is_ok())
    }
}
