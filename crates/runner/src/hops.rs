//! Transmissions followed back from a receiver to the sender.
//!
//! A transmission is a hop of each stream of which it carries a PDU, at each node that it came to. One with PDUs of several streams can
//! carry several of one stream, even with the same number, if an attacker made one up. They keep their order from hop to hop, so
//! the first of them behind a gateway is the first of them before it.

use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, NodeId, SimTime, StreamId};
use chronoseal_results::rows::{FrameRow, HopRow};

/// The hops of a run, to be followed back.
pub(crate) struct Hops<'a> {
    rows: &'a [HopRow],
    /// Places by stream, receiver and time of sending, in order.
    by_end: Vec<(End, usize)>,
    /// Places by transmission and stream, in order.
    by_frame: Vec<((u64, StreamId), usize)>,
    /// By hop: the how manieth it is of those that come from one transmission and have one number and way.
    nth: Vec<usize>,
    /// By row that is told: its hop.
    of_row: Vec<Option<usize>>,
    /// PDUs that an attack was part of, and whose.
    attacks: BTreeMap<Part, (AttackKind, NodeId)>,
}

type End = (StreamId, NodeId, Option<SimTime>);

/// Places by key, in order.
fn by_key<R, K: Ord>(rows: &[R], key: impl Fn(&R) -> K) -> Vec<(K, usize)> {
    let mut places: Vec<(K, usize)> = rows.iter().map(key).zip(0..).collect();
    places.sort_unstable();
    places
}

/// The places with a key, in order.
fn places<'a, K: Ord>(places: &'a [(K, usize)], key: &K) -> impl Iterator<Item = usize> + Clone + use<'a, K> {
    let first = places.partition_point(|(known, _)| known < key);
    let len = places[first..].partition_point(|(known, _)| known == key);
    places[first..first + len].iter().map(|(_, place)| *place)
}

/// The how manieth each row is of those with one key.
fn nth<R, K: Ord>(rows: &[R], key: impl Fn(&R) -> K) -> Vec<usize> {
    let places = by_key(rows, key);
    let mut nth = vec![0; rows.len()];
    for pair in places.windows(2) {
        if pair[0].0 == pair[1].0 {
            nth[pair[1].1] = nth[pair[0].1] + 1;
        }
    }
    nth
}

/// A PDU of a stream in a transmission: its number, and the how manieth with that number it is there.
type Part = (u64, StreamId, u64, usize);

/// How a frame came to one of its receivers.
pub(crate) struct Way {
    /// When its sender sent it.
    pub(crate) sent_at: Option<SimTime>,
    /// An attack that one of its hops was part of.
    pub(crate) attack: Option<(AttackKind, NodeId)>,
}

impl<'a> Hops<'a> {
    /// The hops of a run, and the rows of frames at their receivers; both tell of what one node got in the same order.
    pub(crate) fn new(rows: &'a [HopRow], told: &[FrameRow]) -> Self {
        let by_end = by_key(rows, |row| (row.stream, row.to, row.sent_at));
        let by_frame = by_key(rows, |row| (row.frame, row.stream));
        let alike = |row: &HopRow| (row.origins.first().copied(), row.stream, row.segment, row.to, row.sequence);
        let (of_row, attacks) = (Vec::with_capacity(told.len()), BTreeMap::new());
        let mut hops = Self { rows, by_end, by_frame, nth: nth(rows, alike), of_row, attacks };
        let nth = nth(told, |row| (row.stream, row.at, row.sent_at, row.sequence));
        for (row, nth) in told.iter().zip(nth) {
            let hop = hops.last(row, nth);
            hops.of_row.push(hop);
            if let (Some(attack), Some(hop)) = (row.attack, hop) {
                let part = hops.part(hop);
                hops.attacks.insert(part, (attack, row.sender));
            }
        }
        hops
    }

    /// The last hop of a frame, as its receiver's row tells of it: of several alike the `nth`.
    fn last(&self, row: &FrameRow, nth: usize) -> Option<usize> {
        let candidates = places(&self.by_end, &(row.stream, row.at, row.sent_at));
        let same = candidates.clone().filter(|index| self.rows[*index].sequence == row.sequence);
        same.clone().nth(nth).or_else(|| same.last()).or_else(|| candidates.clone().next())
    }

    /// Which PDU a hop is of.
    fn part(&self, hop: usize) -> Part {
        let row = &self.rows[hop];
        let alike = |index: &usize| {
            let other = &self.rows[*index];
            *index < hop && other.to == row.to && other.sequence == row.sequence
        };
        let before = places(&self.by_frame, &(row.frame, row.stream)).filter(alike).count();
        (row.frame, row.stream, row.sequence, before)
    }

    /// The hop that brought what goes on with this one, if `frame` did.
    fn before(&self, hop: usize, frame: u64) -> Option<usize> {
        let row = &self.rows[hop];
        let candidates = places(&self.by_frame, &(frame, row.stream));
        let to_sender = |index: &usize| self.rows[*index].to == row.from && self.rows[*index].sequence == row.sequence;
        let same = candidates.clone().filter(to_sender);
        same.clone().nth(self.nth[hop]).or_else(|| same.last()).or_else(|| candidates.clone().next())
    }

    /// The way of a frame back to where it began; of the row with this number among those that are told.
    pub(crate) fn way(&self, number: usize) -> Option<Way> {
        let mut at = self.of_row.get(number).copied().flatten()?;
        let mut attack = None;
        // Each step leads to an earlier transmission.
        for _ in 0..self.rows.len() {
            if !self.attacks.is_empty() {
                attack = attack.or_else(|| self.attacks.get(&self.part(at)).copied());
            }
            match self.rows[at].origins.iter().find_map(|frame| self.before(at, *frame)) {
                Some(before) => at = before,
                None => break,
            }
        }
        Some(Way { sent_at: self.rows[at].sent_at, attack })
    }
}
