//! A virtual link that several streams share (ARINC 664 part 7): each is a sub-virtual link with a queue of its own, first in first
//! out. In every bandwidth allocation gap one frame goes, and the queues that hold one take turns.
//!
//! A frame is sealed when it is due, as that of any virtual link, and its number is written when it goes: a receiver counts the
//! frames of the virtual link, whichever of its streams they are of.
//!
//! A message that is longer than a frame is sealed as a whole when it is due, and all of its frames come into the queue at once. Which
//! stream a frame is of its test-bed header says, and of a fragment, most of which have none, the two highest bits of its identification.

use std::collections::VecDeque;

use chronoseal_core::{LocalTime, Output, PortId, Priority, Transmit};
use chronoseal_wire::virtual_link::SequenceNumber;

use super::EndSystem;
use super::talker::{Regulation, Talker};
use super::virtual_link::Regulator;
use crate::gateway::Mark;

/// The queues of one virtual link.
pub(super) struct SubVirtualLinks {
    regulator: Regulator,
    priority: Priority,
    queues: Vec<VecDeque<Held>>,
    /// The queue whose turn is next.
    turn: usize,
}

/// A frame that waits for its turn.
struct Held {
    /// It may go from then on; that it is made later is no reason to hold back the next one.
    due: LocalTime,
    /// What was written of it; what it has behind that is of no use to anybody.
    bytes: Vec<u8>,
    len: usize,
    /// True if its number has to be written.
    is_numbered: bool,
    mark: Option<Mark>,
}

/// Those of a station: talkers with one identifier share a virtual link, and are told their queue in it.
pub(super) fn of(talkers: &mut [Talker]) -> Vec<SubVirtualLinks> {
    let mut found: Vec<(u16, SubVirtualLinks)> = Vec::new();
    for index in 0..talkers.len() {
        let Some(link) = talkers[index].config.virtual_link else { continue };
        let is_shared = |talker: &Talker| talker.config.virtual_link.is_some_and(|other| other.ct_id == link.ct_id);
        if talkers.iter().filter(|talker| is_shared(talker)).count() == 1 {
            continue;
        }
        let place = found.iter().position(|(ct_id, _)| *ct_id == link.ct_id).unwrap_or_else(|| {
            let priority = talkers[index].priority;
            let shared = SubVirtualLinks { regulator: Regulator::new(link.bag), priority, queues: Vec::new(), turn: 0 };
            found.push((link.ct_id, shared));
            found.len() - 1
        });
        let queues = &mut found[place].1.queues;
        talkers[index].regulation = Regulation::Shared { link: place, queue: queues.len() };
        queues.push(VecDeque::new());
    }
    found.into_iter().map(|(_, shared)| shared).collect()
}

impl SubVirtualLinks {
    /// When a frame may go; `None` if none waits. It may have been before now.
    pub(super) fn next_at(&self) -> Option<LocalTime> {
        let first = self.queues.iter().filter_map(|queue| Some(queue.front()?.due)).min()?;
        Some(self.regulator.next_at(first))
    }

    /// Takes the frame whose turn it is, with when it may go and its number.
    fn take(&mut self) -> Option<(Held, LocalTime, SequenceNumber)> {
        let first = self.queues.iter().filter_map(|queue| Some(queue.front()?.due)).min()?;
        let count = self.queues.len();
        let queue = (0..count).map(|on| (self.turn + on) % count).find(|queue| !self.queues[*queue].is_empty())?;
        let held = self.queues[queue].pop_front()?;
        self.turn = (queue + 1) % count;
        Some((held, self.regulator.release(first), self.regulator.number()))
    }
}

impl EndSystem {
    /// Puts a frame that has been made into the queue of its sub-virtual link.
    pub(super) fn hold(&mut self, due: LocalTime, talker: usize, frame: &[u8], (len, headers_len): (usize, usize)) {
        let talker = &self.talkers[talker];
        let Regulation::Shared { link, queue } = talker.regulation else { return };
        let has_all = self.config.real_bytes;
        let written = if has_all { len } else { headers_len };
        let is_numbered = has_all || talker.config.virtual_link.is_some_and(|link| link.is_replicated);
        let held = Held { due, bytes: frame[..written].to_vec(), len, is_numbered, mark: self.sent.take() };
        self.shared[link].queues[queue].push_back(held);
        self.due_at = self.next_wake();
    }

    /// The virtual link of which a frame may go by now.
    pub(super) fn link_to_release(&self, now: LocalTime) -> Option<usize> {
        self.shared.iter().position(|shared| shared.next_at().is_some_and(|at| at <= now))
    }

    /// Lets the next frame of a virtual link go.
    pub(super) fn release(&mut self, link: usize, frame: &mut [u8]) -> Option<Output> {
        let shared = &mut self.shared[link];
        let (held, launch_at, number) = shared.take()?;
        let priority = shared.priority;
        frame[..held.bytes.len()].copy_from_slice(&held.bytes);
        if held.is_numbered {
            frame[held.len - SequenceNumber::LEN] = number.0;
        }
        self.sent = held.mark;
        self.due_at = self.next_wake();
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at, len: held.len, token: None }))
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Duration;

    use super::*;

    fn ms(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn shared(queues: &[&[i64]]) -> SubVirtualLinks {
        let held = |(queue, at): (usize, &i64)| Held {
            due: ms(*at),
            bytes: vec![queue as u8],
            len: 1,
            is_numbered: false,
            mark: None,
        };
        SubVirtualLinks {
            regulator: Regulator::new(Duration::from_ms(4)),
            priority: Priority::RATE_CONSTRAINED_LOW,
            queues: queues
                .iter()
                .enumerate()
                .map(|(queue, ats)| ats.iter().map(|at| held((queue, at))).collect())
                .collect(),
            turn: 0,
        }
    }

    #[test]
    fn queues_take_turns_and_one_frame_goes_in_each_gap() {
        let mut shared = shared(&[&[1, 1, 1], &[], &[1, 1], &[1]]);
        let mut left = Vec::new();
        while let Some(at) = shared.next_at() {
            let (held, launch_at, number) = shared.take().expect("one waits");
            assert_eq!(launch_at, at);
            left.push((at, held.bytes[0], number.0));
        }
        let expected = [(1, 0, 0), (5, 2, 1), (9, 3, 2), (13, 0, 3), (17, 2, 4), (21, 0, 5)];
        assert_eq!(left, expected.map(|(at, queue, number)| (ms(at), queue, number)));
        assert!(shared.take().is_none());
    }
}
