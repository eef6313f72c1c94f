//! Datagrams in fragments put together again, several at once and in any order, and messages that were there before.
//!
//! Both ends know how a message is cut, so nothing has to be believed of a fragment but where it belongs, and none can overlap another
//! (RFC 1858, RFC 5722): one that is cut in another way changes nothing.

use std::collections::VecDeque;

use chronoseal_core::{DiscardReason, Duration, LocalTime};
use chronoseal_wire::ipv4::{Cut, Packet};

/// Messages of one stream that are put together at once; the oldest is given up for one more.
const MESSAGES_MAX: usize = 256;
/// Identifications of whole messages that are remembered, so that a copy of a fragment that comes late begins nothing.
const WHOLE_MAX: usize = 256;

/// The receiver's end of one stream.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    cut: Cut,
    timeout: Duration,
    /// In the order in which they began.
    active: VecDeque<Active>,
    whole: VecDeque<u16>,
}

/// A message of which not all is there.
#[derive(Clone, Debug)]
struct Active {
    identification: u16,
    bytes: Vec<u8>,
    /// Which fragments are there.
    has: Vec<bool>,
    deadline: LocalTime,
}

/// What a packet did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Collected {
    /// Its message is there.
    Whole(Vec<u8>),
    /// Its message waits for others.
    Waits,
    /// It was there before.
    Nothing,
}

impl Collector {
    pub(super) fn new(cut: Cut, timeout: Duration) -> Self {
        Self { cut, timeout, active: VecDeque::new(), whole: VecDeque::new() }
    }

    /// When the oldest message is given up; `None` if there is none.
    pub(super) fn deadline(&self) -> Option<LocalTime> {
        self.active.front().map(|active| active.deadline)
    }

    /// The first packet of the oldest message if that has waited too long, or nothing if it has not come; `None` if none has.
    pub(super) fn give_up(&mut self, now: LocalTime) -> Option<Option<Vec<u8>>> {
        let is_over = |active: &Active| active.deadline <= now || self.active.len() > MESSAGES_MAX;
        self.active.front().filter(|active| is_over(active))?;
        let active = self.active.pop_front()?;
        Some(active.has[0].then_some(active.bytes))
    }

    /// Takes a packet of the stream.
    pub(super) fn take(&mut self, now: LocalTime, packet: &Packet<'_>) -> Result<Collected, DiscardReason> {
        let len = self.cut.len_at(packet.offset);
        if len == 0 || packet.data.len() != len || packet.more_fragments == self.cut.is_last(packet.offset) {
            return Err(DiscardReason::Malformed);
        }
        if packet.is_whole() {
            return Ok(Collected::Whole(packet.data.to_vec()));
        }
        if self.whole.contains(&packet.identification) {
            return Ok(Collected::Nothing);
        }
        let known = self.active.iter().position(|active| active.identification == packet.identification);
        let place = known.unwrap_or_else(|| {
            self.active.push_back(Active {
                identification: packet.identification,
                bytes: vec![0; self.cut.datagram_len],
                has: vec![false; self.cut.fragments()],
                deadline: now + self.timeout,
            });
            self.active.len() - 1
        });
        let active = &mut self.active[place];
        let fragment = packet.offset / self.cut.fragment_len;
        if std::mem::replace(&mut active.has[fragment], true) {
            return Ok(Collected::Nothing);
        }
        active.bytes[packet.offset..packet.offset + len].copy_from_slice(packet.data);
        if !active.has.iter().all(|has| *has) {
            return Ok(Collected::Waits);
        }
        if self.whole.len() == WHOLE_MAX {
            self.whole.pop_front();
        }
        self.whole.push_back(packet.identification);
        Ok(self.active.remove(place).map_or(Collected::Nothing, |active| Collected::Whole(active.bytes)))
    }
}

/// Which messages were there: a window behind the highest number, as wide as packets of one stream may overtake each other.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    next: u64,
    /// By number, modulo its length.
    window: Vec<bool>,
}

/// Numbers that are told apart. What is older counts as one that was there.
const WINDOW: usize = 1 << 14;

impl Default for Seen {
    fn default() -> Self {
        Self { next: 0, window: vec![false; WINDOW] }
    }
}

impl Seen {
    /// Notes a message. False if it was there before.
    pub(super) fn take(&mut self, sequence: u64) -> bool {
        let width = WINDOW as u64;
        if sequence + width < self.next {
            return false;
        }
        if sequence >= self.next {
            let first = self.next.max(sequence.saturating_sub(width - 1));
            (first..=sequence).for_each(|number| self.window[(number % width) as usize] = false);
            self.next = sequence + 1;
        }
        !std::mem::replace(&mut self.window[(sequence % width) as usize], true)
    }
}
