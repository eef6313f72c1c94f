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
    /// By stream, receiver and time of sending.
    by_end: BTreeMap<(StreamId, NodeId, Option<SimTime>), Vec<usize>>,
    /// By transmission and stream.
    by_frame: BTreeMap<(u64, StreamId), Vec<usize>>,
    /// By hop: the how manieth it is of those that come from one transmission and have one number and way.
    nth: Vec<usize>,
    /// By row that is told: its hop.
    of_row: Vec<Option<usize>>,
    /// PDUs that an attack was part of, and whose.
    attacks: BTreeMap<Part, (AttackKind, NodeId)>,
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
        let mut by_end: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut by_frame: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut nth = Vec::with_capacity(rows.len());
        let mut count: BTreeMap<_, usize> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            by_end.entry((row.stream, row.to, row.sent_at)).or_default().push(index);
            by_frame.entry((row.frame, row.stream)).or_default().push(index);
            let alike = count.entry((row.origins.first(), row.stream, row.segment, row.to, row.sequence)).or_default();
            nth.push(*alike);
            *alike += 1;
        }
        let (of_row, attacks) = (Vec::new(), BTreeMap::new());
        let mut hops = Self { rows, by_end, by_frame, nth, of_row, attacks };
        let mut count: BTreeMap<_, usize> = BTreeMap::new();
        for row in told {
            let alike = count.entry((row.stream, row.at, row.sent_at, row.sequence)).or_default();
            let hop = hops.last(row, *alike);
            *alike += 1;
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
        let candidates = self.by_end.get(&(row.stream, row.at, row.sent_at))?;
        let same: Vec<usize> =
            candidates.iter().copied().filter(|index| self.rows[*index].sequence == row.sequence).collect();
        same.get(nth).or(same.last()).or(candidates.first()).copied()
    }

    /// Which PDU a hop is of.
    fn part(&self, hop: usize) -> Part {
        let row = &self.rows[hop];
        let alike = |index: &&usize| {
            let other = &self.rows[**index];
            **index < hop && other.to == row.to && other.sequence == row.sequence
        };
        let before = self.by_frame.get(&(row.frame, row.stream)).map_or(0, |all| all.iter().filter(alike).count());
        (row.frame, row.stream, row.sequence, before)
    }

    /// The hop that brought what goes on with this one, if `frame` did.
    fn before(&self, hop: usize, frame: u64) -> Option<usize> {
        let row = &self.rows[hop];
        let candidates = self.by_frame.get(&(frame, row.stream))?;
        let to_sender = |index: &usize| self.rows[*index].to == row.from && self.rows[*index].sequence == row.sequence;
        let same: Vec<usize> = candidates.iter().copied().filter(to_sender).collect();
        same.get(self.nth[hop]).or(same.last()).or(candidates.first()).copied()
    }

    /// The way of a frame back to where it began; of the row with this number among those that are told.
    pub(crate) fn way(&self, number: usize) -> Option<Way> {
        let mut at = self.of_row.get(number).copied().flatten()?;
        let mut attack = None;
        // Each step leads to an earlier transmission.
        for _ in 0..self.rows.len() {
            attack = attack.or_else(|| self.attacks.get(&self.part(at)).copied());
            match self.rows[at].origins.iter().find_map(|frame| self.before(at, *frame)) {
                Some(before) => at = before,
                None => break,
            }
        }
        Some(Way { sent_at: self.rows[at].sent_at, attack })
    }
}
