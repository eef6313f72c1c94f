//! Messages that are sent in several frames: from which of them on a receiver has one, and what became of it.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::Describe;
use chronoseal_core::{DiscardReason, Event, EventKind, MessagePart, NodeId, StoppedBy, StreamId, TransferFault};
use chronoseal_media::medium::FrameLabel;
use chronoseal_sim::FrameContext;

/// The messages that nodes have half.
#[derive(Default)]
pub(crate) struct Messages {
    begun: BTreeMap<Key, Begun>,
    /// Those that ended when a frame was thrown away unread, of which their receivers may not know yet.
    ended_unread: BTreeSet<Key>,
}

type Key = (StreamId, NodeId, Which);

/// Which message of a stream, where a receiver may have several half; else there is one.
type Which = Option<u64>;

/// The first frame of a message.
pub(crate) struct Begun {
    pub(crate) label: FrameLabel,
    pub(crate) bytes: Vec<u8>,
    /// As its receiver numbers it.
    pub(crate) sequence: u64,
}

/// What an event at a node is about.
pub(crate) enum About {
    /// The frame it comes with, or no frame.
    Frame,
    /// A message in several frames: the label of the transmission that its row is of, and how it is numbered.
    Message(FrameLabel, u64),
    /// A message that ended without another frame.
    Ended(Begun),
    /// A piece of a message, and nothing that ends one.
    Piece,
}

impl Messages {
    /// Takes out those of which the rest has not come, with their streams and receivers: of one node, or all.
    pub(crate) fn take_open(&mut self, of: Option<NodeId>) -> Vec<((StreamId, NodeId), Begun)> {
        let open = self.begun.extract_if(.., |(_, node, _), _| of.is_none_or(|of| of == *node));
        open.map(|((stream, node, _), begun)| ((stream, node), begun)).collect()
    }

    /// What an event is about.
    pub(crate) fn about(
        &mut self,
        describers: &[Box<dyn Describe>],
        node: NodeId,
        event: &Event,
        frame: Option<&FrameContext<'_>>,
    ) -> About {
        let key = (event.stream, node, self.which(describers, event, frame));
        match (event.kind, frame) {
            (EventKind::TransferBegan, Some(frame)) => {
                let bytes = frame.bytes.to_vec();
                self.ended_unread.remove(&key);
                self.begun.insert(key, Begun { label: *frame.label, bytes, sequence: event.sequence });
                About::Piece
            }
            // The beginning of a message where none could begin is all there is of it.
            (EventKind::TransferFault(TransferFault::UnexpectedFrame), Some(frame))
                if describers[usize::from(frame.label.segment)].part(frame.bytes).is_first() =>
            {
                About::Frame
            }
            (EventKind::TransferBegan | EventKind::TransferFault(_), _) => About::Piece,
            // What its message was given up for is another message.
            (EventKind::Discarded(DiscardReason::Interrupted | DiscardReason::FrameMissing), _) => {
                match self.begun.remove(&key) {
                    Some(begun) => About::Ended(begun),
                    None if self.ended_unread.remove(&key) => About::Piece,
                    None => About::Frame,
                }
            }
            // A copy ends nothing. Copies of a message are counted by its first frame.
            (EventKind::Discarded(reason), Some(frame))
                if reason == DiscardReason::CopyEliminated
                    && describers[usize::from(frame.label.segment)].part(frame.bytes) == MessagePart::Continues =>
            {
                About::Piece
            }
            // What is refused of a frame with which a message would have begun is not the one that has begun before.
            (EventKind::Discarded(_), Some(frame))
                if describers[usize::from(frame.label.segment)].part(frame.bytes) == MessagePart::Begins =>
            {
                About::Frame
            }
            (EventKind::Delivered | EventKind::Relayed | EventKind::Discarded(_), Some(frame))
                if describers[usize::from(frame.label.segment)].part(frame.bytes) != MessagePart::Whole =>
            {
                // A host interface does not know the number of what it throws away, and a station that has not looked into it gives none.
                // Whose tag or freshness value is refused has been read: its number may be 0.
                let is_unread = match event.kind {
                    EventKind::Discarded(DiscardReason::HostBufferFull) => true,
                    EventKind::Discarded(reason) => {
                        event.sequence == 0 && !matches!(reason.stopped_by(), StoppedBy::Tag | StoppedBy::Freshness)
                    }
                    _ => false,
                };
                let of_message = |begun: Begun| {
                    let FrameLabel { sender, attack, sent_at, .. } = begun.label;
                    let sequence = if is_unread { begun.sequence } else { event.sequence };
                    About::Message(FrameLabel { sender, attack, sent_at, ..*frame.label }, sequence)
                };
                let is_first = describers[usize::from(frame.label.segment)].part(frame.bytes).is_first();
                match (self.begun.remove(&key), event.kind) {
                    (Some(begun), _) => {
                        if is_unread {
                            self.ended_unread.insert(key);
                        }
                        of_message(begun)
                    }
                    // Whoever throws the first frame away ends the message.
                    (None, EventKind::Discarded(_)) if is_first => About::Frame,
                    (None, _) => About::Piece,
                }
            }
            _ => About::Frame,
        }
    }

    /// Which message an event is about. A message that ends without a frame is one of those that have begun.
    fn which(&self, describers: &[Box<dyn Describe>], event: &Event, frame: Option<&FrameContext<'_>>) -> Which {
        let overtakes = |segment: u16| describers[usize::from(segment)].overtakes();
        let is_several = match frame {
            Some(frame) => overtakes(frame.label.segment),
            None => self.begun.keys().any(|(stream, _, which)| *stream == event.stream && which.is_some()),
        };
        is_several.then_some(event.sequence)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_catalog::Description;
    use chronoseal_core::SimTime;

    use super::*;

    const STREAM: StreamId = StreamId(0);

    /// Frames of messages in several, of which the first is `[0]`.
    struct Pieces;

    impl Describe for Pieces {
        fn stream_of(&self, _: &[u8]) -> StreamId {
            STREAM
        }

        fn part(&self, bytes: &[u8]) -> MessagePart {
            if bytes == [0] { MessagePart::Begins } else { MessagePart::Continues }
        }

        fn describe(&self, _: &[u8], sent_at: SimTime) -> Description {
            Description {
                stream: STREAM,
                sequence: None,
                sender: None,
                cycle_start: sent_at,
                slot_start: None,
                leaves_by: None,
                received_by: None,
                is_received_when_checked: false,
            }
        }

        fn payload_len(&self, bytes: &[u8]) -> u64 {
            bytes.len() as u64
        }

        fn is_judged(&self, _: StreamId) -> bool {
            false
        }

        fn is_shared(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_message_ends_once_where_its_receiver_did_not_read_the_frame_that_ended_it() {
        let describers: [Box<dyn Describe>; 1] = [Box::new(Pieces)];
        let (mut messages, label) = (Messages::default(), FrameLabel::default());
        let mut about = |kind, sequence, bytes: &[u8]| {
            let frame = FrameContext { bytes, label: &label, departed_at: None, received_at: None };
            messages.about(&describers, NodeId(1), &Event::of(kind, STREAM, sequence), Some(&frame))
        };
        assert!(matches!(about(EventKind::TransferBegan, 22, &[0]), About::Piece));
        let unread = EventKind::Discarded(DiscardReason::OutsideWindow);
        assert!(matches!(about(unread, 0, &[1]), About::Message(_, 22)));
        // Its receiver has it half until the next one begins, and gives it up then.
        let interrupted = EventKind::Discarded(DiscardReason::Interrupted);
        assert!(matches!(about(interrupted, 22, &[0]), About::Piece));
        assert!(matches!(about(EventKind::TransferBegan, 23, &[0]), About::Piece));
        assert!(matches!(about(EventKind::Delivered, 23, &[1]), About::Message(_, 23)));
    }

    #[test]
    fn a_message_ends_where_the_first_one_of_all_was_read_and_refused_before() {
        let describers: [Box<dyn Describe>; 1] = [Box::new(Pieces)];
        let (mut messages, label) = (Messages::default(), FrameLabel::default());
        let mut about = |kind, sequence, bytes: &[u8]| {
            let frame = FrameContext { bytes, label: &label, departed_at: None, received_at: None };
            messages.about(&describers, NodeId(1), &Event::of(kind, STREAM, sequence), Some(&frame))
        };
        for reason in [DiscardReason::TagMismatch, DiscardReason::FreshnessTooOld] {
            assert!(matches!(about(EventKind::TransferBegan, 0, &[0]), About::Piece));
            assert!(matches!(about(EventKind::Discarded(reason), 0, &[1]), About::Message(_, 0)));
            // Nobody has it half any more, so this is the end of another one, of which the beginning was not seen.
            let missing = EventKind::Discarded(DiscardReason::FrameMissing);
            assert!(matches!(about(missing, 1, &[1]), About::Frame));
        }
    }
}
