//! Datagrams in fragments of IPv4 (RFC 791) put together again, one at a time.
//!
//! This state machine is told what comes and when, and knows no frames and no streams. A station that embeds it has one for each
//! stream whose messages are longer than a frame, and both ends know how long a message is and how it is cut. So nothing has to be
//! believed of a fragment but where it belongs:
//!
//! - A fragment that is not cut as the stream's messages are, too short a one above all, or one that goes on with no message that
//!   has begun, changes nothing. Neither can overlap another, since each begins where another ends.
//! - A message takes memory as its fragments come, and never more than its length. There is one at a time: its first fragment
//!   ends the one before. Frames of one stream do not overtake each other, so that is a message of which the rest was lost.
//! - Of a message that has begun each fragment has to be the next. Another of its own says that one was lost, doubled or out of
//!   order, and ends it. One of which no more comes is over when its time is.
//!
//! What a message holds is believed when its tag was checked, which is when all of it is there.

use chronoseal_core::{DiscardReason, Duration, LocalTime};
use chronoseal_wire::ipv4::{Address, Cut, Packet};

/// What both ends of a stream agree on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReassemblyConfig {
    /// How its messages are cut.
    pub cut: Cut,
    /// A message of which so long after the first fragment not all have come is given up.
    pub timeout: Duration,
}

/// What a fragment did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It is the first of a message.
    Began,
    /// It goes on with the message, and others follow.
    GoesOn,
    /// It is the last: the message is whole.
    Whole(Vec<u8>),
    /// It ended the message it belongs to.
    Ended(DiscardReason),
    /// Nothing.
    Nothing,
}

/// The receiver's end.
#[derive(Clone, Debug)]
pub struct Reassembly {
    config: ReassemblyConfig,
    active: Option<Active>,
}

/// A message that has begun.
#[derive(Clone, Debug)]
struct Active {
    source: Address,
    identification: u16,
    bytes: Vec<u8>,
    deadline: LocalTime,
}

impl Reassembly {
    /// One that has heard nothing yet.
    pub const fn new(config: ReassemblyConfig) -> Self {
        Self { config, active: None }
    }

    /// When it gives a message up; `None` if there is none.
    pub fn deadline(&self) -> Option<LocalTime> {
        self.active.as_ref().map(|active| active.deadline)
    }

    /// Gives up the message that has begun, if there is one. False if there is none.
    pub fn give_up(&mut self) -> bool {
        self.active.take().is_some()
    }

    /// True if a fragment begins a message, so that one that has begun before is over.
    pub fn is_first(&self, packet: &Packet<'_>) -> bool {
        packet.offset == 0 && self.is_cut_so(packet)
    }

    /// Takes a fragment. Before a first one the caller has to [give up](Self::give_up) what has begun.
    pub fn take(&mut self, now: LocalTime, packet: &Packet<'_>) -> Taken {
        if !self.is_cut_so(packet) {
            return Taken::Nothing;
        }
        if packet.offset == 0 {
            self.active = Some(Active {
                source: packet.source,
                identification: packet.identification,
                bytes: packet.data.to_vec(),
                deadline: now + self.config.timeout,
            });
        } else {
            let is_its =
                |active: &&mut Active| (active.source, active.identification) == (packet.source, packet.identification);
            let Some(active) = self.active.as_mut().filter(is_its) else { return Taken::Nothing };
            if active.bytes.len() != packet.offset {
                self.active = None;
                return Taken::Ended(DiscardReason::WrongSequence);
            }
            active.bytes.extend_from_slice(packet.data);
        }
        match packet.more_fragments {
            false => self.active.take().map_or(Taken::Nothing, |active| Taken::Whole(active.bytes)),
            true if packet.offset == 0 => Taken::Began,
            true => Taken::GoesOn,
        }
    }

    /// True if a fragment is cut as the stream's messages are.
    pub fn is_cut_so(&self, packet: &Packet<'_>) -> bool {
        let cut = &self.config.cut;
        let len = cut.len_at(packet.offset);
        len > 0 && packet.data.len() == len && packet.more_fragments != cut.is_last(packet.offset)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_wire::ipv4::PROTOCOL_UDP;
    use proptest::prelude::*;

    use super::*;

    const LEN: usize = 100;
    const CUT: Cut = Cut { datagram_len: LEN, fragment_len: 32 };

    fn receiver() -> Reassembly {
        Reassembly::new(ReassemblyConfig { cut: CUT, timeout: Duration::from_ms(10) })
    }

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn message() -> Vec<u8> {
        (0..LEN as u8).collect()
    }

    fn packet(identification: u16, offset: usize, message: &[u8]) -> Packet<'_> {
        let len = CUT.len_at(offset);
        Packet {
            source: [10, 0, 0, 1],
            destination: [239, 192, 0, 1],
            identification,
            offset,
            more_fragments: !CUT.is_last(offset),
            protocol: PROTOCOL_UDP,
            data: &message[offset..offset + len],
        }
    }

    const LOST: Taken = Taken::Ended(DiscardReason::WrongSequence);

    #[test]
    fn a_message_is_whole_with_its_last_fragment() {
        let (mut receiver, message) = (receiver(), message());
        let take = |receiver: &mut Reassembly, offset| receiver.take(at(0), &packet(7, offset, &message));
        assert_eq!(take(&mut receiver, 0), Taken::Began);
        assert_eq!(receiver.deadline(), Some(at(10)));
        assert_eq!([32, 64].map(|offset| take(&mut receiver, offset)), [Taken::GoesOn, Taken::GoesOn]);
        assert_eq!(take(&mut receiver, 96), Taken::Whole(message.clone()));
        assert_eq!((receiver.deadline(), receiver.give_up()), (None, false));
    }

    #[test]
    fn a_fragment_that_was_lost_or_doubled_ends_the_message_and_its_rest_changes_nothing() {
        let message = message();
        for wrong in [0usize, 1] {
            let mut receiver = receiver();
            receiver.take(at(0), &packet(7, 0, &message));
            receiver.take(at(0), &packet(7, 32, &message));
            assert_eq!(receiver.take(at(0), &packet(7, [96, 32][wrong], &message)), LOST);
            assert_eq!(receiver.take(at(0), &packet(7, 64, &message)), Taken::Nothing);
            assert_eq!(receiver.take(at(0), &packet(7, 96, &message)), Taken::Nothing);
        }
    }

    #[test]
    fn fragments_of_others_change_nothing() {
        let (mut receiver, message) = (receiver(), message());
        assert_eq!(receiver.take(at(0), &packet(7, 32, &message)), Taken::Nothing, "none has begun");
        receiver.take(at(0), &packet(7, 0, &message));
        assert_eq!(receiver.take(at(0), &packet(8, 32, &message)), Taken::Nothing, "another message");
        let other = Packet { source: [10, 0, 0, 2], ..packet(7, 32, &message) };
        assert_eq!(receiver.take(at(0), &other), Taken::Nothing, "another sender");
        assert_eq!(receiver.take(at(0), &packet(7, 32, &message)), Taken::GoesOn);
    }

    #[test]
    fn tiny_overlapping_and_overlong_fragments_change_nothing() {
        let (mut receiver, message) = (receiver(), message());
        receiver.take(at(0), &packet(7, 0, &message));
        let next = packet(7, 32, &message);
        let wrong = [
            Packet { data: &message[..8], ..next },
            Packet { data: &message[..40], ..next },
            Packet { offset: 24, ..next },
            Packet { offset: 16, data: &message[..16], ..next },
            Packet { more_fragments: false, ..next },
            Packet { more_fragments: true, ..packet(7, 96, &message) },
            Packet { offset: 128, data: &message[..4], more_fragments: false, ..next },
            Packet { offset: 0, data: &message[..8], ..next },
        ];
        for packet in wrong {
            assert!(!receiver.is_first(&packet));
            assert_eq!(receiver.take(at(0), &packet), Taken::Nothing, "{packet:?}");
        }
        assert_eq!(receiver.take(at(0), &next), Taken::GoesOn, "none of them was in its way");
    }

    #[test]
    fn what_is_given_up_is_forgotten() {
        let (mut receiver, message) = (receiver(), message());
        receiver.take(at(0), &packet(7, 0, &message));
        assert!(receiver.give_up());
        assert_eq!(receiver.take(at(0), &packet(7, 32, &message)), Taken::Nothing);
        assert!(receiver.is_first(&packet(8, 0, &message)));
    }

    proptest! {
        /// Whatever comes, a message is only ever whole if all of its fragments came one after the other, and no more is kept than
        /// one message.
        #[test]
        fn only_fragments_in_order_are_a_message(
            fragments in proptest::collection::vec((0u16..3, 0usize..16, 0usize..48, any::<bool>()), 0..40),
        ) {
            let (mut receiver, message) = (receiver(), [0x5a; 200]);
            let mut in_order: Option<(u16, usize)> = None;
            for (identification, unit, len, more_fragments) in fragments {
                let (offset, len) = (unit * 8, if len < 40 { CUT.len_at(unit * 8) } else { len });
                let more_fragments = if more_fragments { offset != 96 } else { !CUT.is_last(offset) };
                let packet =
                    Packet { identification, offset, more_fragments, data: &message[..len], ..packet(0, 0, &message) };
                let taken = receiver.take(at(0), &packet);
                let goes_on = in_order.filter(|state| *state == (identification, offset)).is_some();
                match taken {
                    Taken::Began => in_order = Some((identification, len)),
                    Taken::GoesOn => {
                        prop_assert!(goes_on);
                        in_order = Some((identification, offset + len));
                    }
                    Taken::Whole(bytes) => {
                        prop_assert!(goes_on && bytes.len() == LEN);
                        in_order = None;
                    }
                    Taken::Ended(_) => in_order = None,
                    Taken::Nothing => {}
                }
                let held = receiver.active.as_ref().map_or(0, |active| active.bytes.len());
                prop_assert!(held < LEN);
            }
        }
    }
}
