//! Transmissions followed back from a receiver to the sender.
//!
//! A transmission is a hop of each stream of which it carries a PDU, at each node that it came to. One with PDUs of several streams can
//! carry several of one stream, even with the same number, if an attacker made one up. They keep their order from hop to hop, so
//! the first of them behind a gateway is the first of them before it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use chronoseal_core::{AttackKind, NodeId, SimTime, StreamId};
use chronoseal_results::rows::{FrameRow, HopRow};

/// The hops of a run, to be followed back.
pub(crate) struct Hops<'a> {
    rows: &'a [HopRow],
    told: &'a [FrameRow],
    /// Places by stream, receiver and time of sending, in order.
    by_end: Vec<(End, usize)>,
    /// Places by transmission and stream, in order.
    by_frame: Vec<((u64, StreamId), usize)>,
    /// By hop: the how manieth it is of those that come from one transmission and have one number and way. Few runs have any that are alike.
    nth_hop: OnceCell<Vec<usize>>,
    /// By row that is told: the how manieth it is of those that have one number and were sent at one time.
    nth_told: OnceCell<Vec<usize>>,
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

/// Of several places the nth, or the last one if there are fewer. One alone is it, whatever its number.
fn one_of(mut places: impl Iterator<Item = usize> + Clone, nth: impl FnOnce() -> usize) -> Option<usize> {
    let all = places.clone();
    let first = places.next()?;
    if places.clone().next().is_none() {
        return Some(first);
    }
    all.clone().nth(nth()).or_else(|| all.last())
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
    pub(crate) fn new(rows: &'a [HopRow], told: &'a [FrameRow]) -> Self {
        let by_end = by_key(rows, |row| (row.stream, row.to, row.sent_at));
        let by_frame = by_key(rows, |row| (row.frame, row.stream));
        let (nth_hop, nth_told) = (OnceCell::new(), OnceCell::new());
        let mut hops = Self { rows, told, by_end, by_frame, nth_hop, nth_told, attacks: BTreeMap::new() };
        for (row, number) in told.iter().zip(0..) {
            if let (Some(attack), Some(hop)) = (row.attack, row.attack.and_then(|_| hops.last(number))) {
                let part = hops.part(hop);
                hops.attacks.insert(part, (attack, row.sender));
            }
        }
        hops
    }

    /// The last hop of a frame, as the row with this number tells of it: of several alike the one that it is among the rows alike.
    fn last(&self, number: usize) -> Option<usize> {
        let row = self.told.get(number)?;
        let candidates = places(&self.by_end, &(row.stream, row.at, row.sent_at));
        let same = candidates.clone().filter(|index| self.rows[*index].sequence == row.sequence);
        let alike = |row: &FrameRow| (row.stream, row.at, row.sent_at, row.sequence);
        let nth = || self.nth_told.get_or_init(|| nth(self.told, alike))[number];
        one_of(same, nth).or_else(|| candidates.clone().next())
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
        let alike = |row: &HopRow| (row.origins.first().copied(), row.stream, row.segment, row.to, row.sequence);
        let nth = || self.nth_hop.get_or_init(|| nth(self.rows, alike))[hop];
        one_of(same, nth).or_else(|| candidates.clone().next())
    }

    /// The way of a frame back to where it began; of the row with this number among those that are told.
    pub(crate) fn way(&self, number: usize) -> Option<Way> {
        let mut at = self.last(number)?;
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
