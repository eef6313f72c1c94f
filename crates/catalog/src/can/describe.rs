//! What a frame on a bus is.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, MessagePart, NodeId, SimTime, StreamId};
use chronoseal_frameauth::TripResetLayout;
use chronoseal_plan::{Can, CanHop};
use chronoseal_wire::can::CanFrameView;
use chronoseal_wire::can::iso_tp::Pdu;

use chronoseal_nodes::ById;

use crate::{Describe, Description};

/// Describes the frames of one segment.
#[derive(Clone, Debug)]
pub(super) struct Describer {
    by_id: ById<Known>,
    /// Numbers of periodic messages, in order.
    messages: Vec<StreamId>,
    /// Numbers of replayed recordings.
    recordings: Vec<StreamId>,
    /// The synchronisation message where gateways bring it from another segment, or take it to one.
    relayed: Option<(StreamId, TripResetLayout)>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    stream: StreamId,
    sender: NodeId,
    /// Of a recorded identifier: a frame has to be received so long after it was sent.
    deadline: Option<Duration>,
    /// What its frames are.
    role: Role,
}

/// What the frames of an identifier are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Each a message.
    Messages,
    /// Pieces of messages.
    Pieces,
    /// Flow control frames.
    FlowControl,
}

impl Describer {
    /// For the frames of a segment. The deadline of a recorded identifier is the median of its distances. A message goes
    /// before a recording with its identifier, and the synchronisation message before both.
    pub(super) fn new(view: Can<'_>) -> Self {
        let mut by_id = BTreeMap::new();
        for (id, stream, recording) in view.recordings() {
            for (can_id, deadline) in recording.median_distances() {
                by_id.insert(can_id, Known { stream: id, sender: stream.sender, deadline, role: Role::Messages });
            }
        }
        for (id, stream, _, facet) in view.streams() {
            let known = |role| Known { stream: id, sender: stream.sender, deadline: None, role };
            match facet {
                CanHop::Message { id: can_id, segmented: Some(segmented), .. } => {
                    by_id.insert(*can_id, known(Role::Pieces));
                    by_id.insert(segmented.flow_control, known(Role::FlowControl));
                }
                CanHop::Message { id: can_id, .. } | CanHop::Synchronisation { id: can_id } => {
                    by_id.insert(*can_id, known(Role::Messages));
                }
                CanHop::Recording(_) => {}
            }
        }
        let mut messages: Vec<StreamId> = view.messages().map(|message| message.stream_id).collect();
        messages.sort_unstable();
        Self {
            by_id: by_id.into_iter().collect(),
            messages,
            recordings: view.recordings().map(|(id, ..)| id).collect(),
            relayed: view
                .synchronisation()
                .filter(|(_, stream, ..)| stream.is_relayed())
                .and_then(|(id, ..)| Some((id, view.plan.freshness.as_ref()?.layout))),
        }
    }

    fn known(&self, bytes: &[u8]) -> Option<Known> {
        self.by_id.get(CanFrameView::new_checked(bytes).ok()?.id()).copied()
    }
}

impl Describe for Describer {
    fn stream_of(&self, bytes: &[u8]) -> StreamId {
        self.known(bytes).map_or(StreamId::NONE, |known| known.stream)
    }

    fn part(&self, bytes: &[u8]) -> MessagePart {
        let Ok(view) = CanFrameView::new_checked(bytes) else { return MessagePart::Whole };
        match self.by_id.get(view.id()).map(|known| known.role) {
            None | Some(Role::Messages) => MessagePart::Whole,
            Some(Role::FlowControl) => MessagePart::Answers,
            Some(Role::Pieces) => match Pdu::parse(view.data(), None) {
                Ok(Pdu::First { .. }) => MessagePart::Begins,
                Ok(Pdu::Single { .. }) => MessagePart::Whole,
                // What is nothing of the protocol goes on with nothing.
                _ => MessagePart::Continues,
            },
        }
    }

    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let known = self.known(bytes);
        Description {
            stream: known.map_or(StreamId::NONE, |known| known.stream),
            sequence: known.and_then(|known| {
                let (_, layout) = self.relayed.filter(|(stream, _)| *stream == known.stream)?;
                let view = CanFrameView::new_checked(bytes).ok()?;
                Some(layout.counters_in(view.data()).number())
            }),
            sender: known.map(|known| known.sender),
            cycle_start: sent_at,
            slot_start: None,
            leaves_by: None,
            received_by: known.and_then(|known| known.deadline).map(|deadline| sent_at + deadline),
            // A deadline is not held by bytes nobody may believe yet.
            is_received_when_checked: true,
        }
    }

    fn payload_len(&self, bytes: &[u8]) -> u64 {
        CanFrameView::new_checked(bytes).map_or(0, |view| view.data().len() as u64)
    }

    fn is_judged(&self, stream: StreamId) -> bool {
        self.recordings.contains(&stream)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn is_accounted(&self, stream: StreamId) -> bool {
        self.messages.binary_search(&stream).is_ok()
    }
}
