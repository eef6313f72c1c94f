//! Messages in pieces put together again, several at once and in any order, and messages that were there before.
//!
//! Pieces are fragments of IPv4, or datagrams with a part of a message each. Both ends know how a message is cut, so nothing has to
//! be believed of a piece but where it belongs, and none can overlap another (RFC 1858, RFC 5722): one that is cut in another way
//! changes nothing.

use std::borrow::Cow;
use std::collections::VecDeque;

use chronoseal_core::{DiscardReason, Duration, LocalTime};
use chronoseal_wire::ipv4::{Cut, Packet};

/// Messages of one stream that are put together at once; the oldest is given up for one more.
const MESSAGES_MAX: usize = 256;
/// What they have together at most, or two of them if those are longer `[byte]`.
const BYTES_MAX: usize = 64 << 20;
/// Whole messages that are remembered, so that a copy of a piece that comes late begins nothing.
const WHOLE_MAX: usize = 256;

/// The receiver's end of one stream.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    cut: Cut,
    /// Of what goes before the pieces `[byte]`.
    front_len: usize,
    timeout: Duration,
    messages_max: usize,
    /// In the order in which they began.
    active: VecDeque<Active>,
    whole: VecDeque<u32>,
}

/// A message of which not all is there.
#[derive(Clone, Debug)]
struct Active {
    number: u32,
    bytes: Vec<u8>,
    /// Which pieces are there.
    has: Vec<bool>,
    missing: usize,
    is_intact: bool,
    deadline: LocalTime,
}

/// A piece of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// The same for all pieces of a message.
    pub(super) number: u32,
    /// Where its data begin in what is cut `[byte]`.
    pub(super) offset: usize,
    /// True unless it is the last.
    pub(super) more: bool,
    pub(super) data: &'a [u8],
    /// What all of the message begins with, as long as the collector was told.
    pub(super) front: &'a [u8],
    /// False if its own checksum does not fit.
    pub(super) is_intact: bool,
}

impl<'a> From<&Packet<'a>> for Piece<'a> {
    fn from(packet: &Packet<'a>) -> Self {
        let Packet { identification, offset, more_fragments, data, .. } = *packet;
        Self { number: identification.into(), offset, more: more_fragments, data, front: &[], is_intact: true }
    }
}

/// What a piece did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Collected<'a> {
    /// Its message is there; it is worth nothing if a piece of it was altered.
    Whole {
        /// With the front. Where it is, if it came in one piece.
        bytes: Cow<'a, [u8]>,
        /// Every piece was.
        is_intact: bool,
    },
    /// Its message waits for others.
    Waits,
    /// It was there before.
    Nothing,
}

/// How many messages of so many bytes a receiver puts together at once, of one stream; the oldest is given up for one more.
pub fn unfinished_max(message_len: usize) -> usize {
    (BYTES_MAX / message_len.max(1)).clamp(2, MESSAGES_MAX)
}

impl Collector {
    /// Of messages that are cut so, behind `front_len` bytes that each of their pieces repeats.
    pub(super) fn new(cut: Cut, front_len: usize, timeout: Duration) -> Self {
        let messages_max = unfinished_max(front_len + cut.datagram_len);
        Self { cut, front_len, timeout, messages_max, active: VecDeque::new(), whole: VecDeque::new() }
    }

    /// When the oldest message is given up; `None` if there is none.
    pub(super) fn deadline(&self) -> Option<LocalTime> {
        self.active.front().map(|active| active.deadline)
    }

    /// The beginning of the oldest message if that has waited too long, or nothing if its first piece has not come; `None` if none
    /// has.
    pub(super) fn give_up(&mut self, now: LocalTime) -> Option<Option<Vec<u8>>> {
        let is_over = |active: &Active| active.deadline <= now || self.active.len() > self.messages_max;
        self.active.front().filter(|active| is_over(active))?;
        let active = self.active.pop_front()?;
        Some(active.has[0].then_some(active.bytes))
    }

    /// Takes a piece of a message of the stream.
    pub(super) fn take<'a>(&mut self, now: LocalTime, piece: &Piece<'a>) -> Result<Collected<'a>, DiscardReason> {
        let Piece { number, offset, data, front, is_intact, .. } = *piece;
        let len = self.cut.len_at(offset);
        if len == 0 || data.len() != len || piece.more == self.cut.is_last(offset) || front.len() != self.front_len {
            return Err(DiscardReason::Malformed);
        }
        if self.cut.fragments() == 1 {
            let bytes = if front.is_empty() { data.into() } else { [front, data].concat().into() };
            return Ok(Collected::Whole { bytes, is_intact });
        }
        if self.whole.contains(&number) {
            return Ok(Collected::Nothing);
        }
        let known = self.active.iter().position(|active| active.number == number);
        let place = known.unwrap_or_else(|| {
            let mut bytes = vec![0; self.front_len + self.cut.datagram_len];
            bytes[..front.len()].copy_from_slice(front);
            let missing = self.cut.fragments();
            let deadline = now + self.timeout;
            self.active.push_back(Active {
                number,
                bytes,
                has: vec![false; missing],
                missing,
                is_intact: true,
                deadline,
            });
            self.active.len() - 1
        });
        let active = &mut self.active[place];
        if std::mem::replace(&mut active.has[offset / self.cut.fragment_len], true) {
            return Ok(Collected::Nothing);
        }
        active.bytes[self.front_len + offset..][..len].copy_from_slice(data);
        active.is_intact &= is_intact;
        active.missing -= 1;
        if active.missing > 0 {
            return Ok(Collected::Waits);
        }
        if self.whole.len() == WHOLE_MAX {
            self.whole.pop_front();
        }
        self.whole.push_back(number);
        let whole = self.active.remove(place);
        let collected = |Active { bytes, is_intact, .. }| Collected::Whole { bytes: bytes.into(), is_intact };
        Ok(whole.map_or(Collected::Nothing, collected))
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
pub const NUMBERS_TOLD_APART: usize = 1 << 14;

impl Default for Seen {
    fn default() -> Self {
        Self { next: 0, window: vec![false; NUMBERS_TOLD_APART] }
    }
}

impl Seen {
    /// True if a message was there before, or is too old to be told apart from one.
    pub(super) fn has(&self, sequence: u64) -> bool {
        let width = NUMBERS_TOLD_APART as u64;
        sequence < self.next && (sequence + width < self.next || self.window[(sequence % width) as usize])
    }

    /// Notes a message. False if it was there before.
    pub(super) fn take(&mut self, sequence: u64) -> bool {
        let width = NUMBERS_TOLD_APART as u64;
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
