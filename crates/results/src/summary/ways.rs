//! Where on its way a frame spends its time, for streams that cross several segments.

use chronoseal_core::{NodeId, SimTime, StreamId};

use super::PartSummary;
use crate::{FrameRow, HopRow, RunMeta, Samples};

/// More transmissions than any way has; origins that lead in a circle end here.
const TRANSMISSIONS_MAX: usize = 64;

/// A frame at its receiver: stream, receiver and time of sending.
type Key = (StreamId, NodeId, Option<SimTime>);

/// Where frames ended: when each was due, and when it was accepted.
type End = (Key, Option<SimTime>, Option<SimTime>);

/// Where a frame is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Node(NodeId),
    Segment(u16),
}

/// By stream: the time in its sender, in each segment, in each node between two of them and in its receiver, in the order of the
/// way. Empty for a stream whose frames cross one segment only. Frames of a stream that were sent before its `ready_ns` do not
/// count.
pub(super) struct Ways {
    found: Vec<Vec<(Place, Samples)>>,
    ready_ns: Vec<i64>,
    /// Transmissions of the time that is not settled, and of the two before.
    hops: [Vec<HopRow>; 3],
    /// Where frames ended, of the same times.
    ends: [Vec<End>; 3],
    /// The last transmissions of ways, in order, of the time that is not settled and of that before.
    last: [Vec<HopRow>; 2],
    /// By stream: it has transmissions.
    has_hops: Vec<bool>,
}

impl Ways {
    pub(super) fn new(meta: &RunMeta) -> Self {
        Self {
            found: vec![Vec::new(); meta.streams.len()],
            ready_ns: vec![0; meta.streams.len()],
            hops: Default::default(),
            ends: Default::default(),
            last: Default::default(),
            has_hops: vec![false; meta.streams.len()],
        }
    }

    /// Takes in a transmission, before the rows of the frames that it brought.
    pub(super) fn hop(&mut self, meta: &RunMeta, row: &HopRow) {
        if let Some(stream) = meta.streams.get(row.stream.index()) {
            self.has_hops[row.stream.index()] = true;
            if !row.origins.is_empty() && stream.receivers.contains(&row.to.0) {
                self.last[1].push(row.clone());
            }
        }
        self.hops[2].push(row.clone());
    }

    /// Takes in where a frame ended.
    pub(super) fn frame(&mut self, row: &FrameRow) {
        if self.has_hops.get(row.stream.index()) == Some(&true) {
            self.ends[2].push(((row.stream, row.at, row.sent_at), row.due_at, row.accepted_at));
        }
    }

    /// Divides the ways that were whole when this was called before; when the run is over all.
    pub(super) fn settle(&mut self, meta: &RunMeta, ready_ns: &[i64], is_over: bool) {
        for ((known, ready), found) in self.ready_ns.iter_mut().zip(ready_ns).zip(&mut self.found) {
            if ready > known {
                found.iter_mut().for_each(|(_, samples)| samples.clear());
            }
            *known = *ready;
        }
        // Of several with one key the last one counts.
        self.hops[2].sort_by_cached_key(hop_key);
        self.ends[2].sort_by_key(|(key, ..)| *key);
        let mut last = std::mem::take(&mut self.last[0]);
        if is_over {
            last.append(&mut self.last[1]);
        }
        last.iter().for_each(|last| self.divide(meta, last));
        self.last.rotate_left(1);
        self.hops.rotate_left(1);
        self.hops[2].clear();
        self.ends.rotate_left(1);
        self.ends[2].clear();
    }

    fn divide(&mut self, meta: &RunMeta, last: &HopRow) {
        let stream = last.stream.index();
        let Some(way) = self.way(last, NodeId(meta.streams[stream].sender)) else { return };
        let sent_at = way[0].sent_at;
        if sent_at.is_none_or(|at| at.since_zero().as_ns() < self.ready_ns[stream]) {
            return;
        }
        let key = (last.stream, last.to, sent_at);
        let end = self.ends.iter().rev().find_map(|ends| last_of(ends, &key, |(key, ..)| *key));
        for (place, ns) in times(&way, end) {
            let samples = &mut self.found[stream];
            match samples.iter_mut().find(|(known, _)| *known == place) {
                Some((_, samples)) => samples.push(ns),
                None => samples.push((place, Samples::from_iter([ns]))),
            }
        }
    }

    fn hop_at(&self, key: (u64, NodeId)) -> Option<&HopRow> {
        self.hops.iter().rev().find_map(|hops| last_of(hops, &key, hop_key))
    }

    /// The transmissions that led to `last`, the first of them by `sender`; `None` if one is not known.
    fn way<'r>(&'r self, last: &'r HopRow, sender: NodeId) -> Option<Vec<&'r HopRow>> {
        let mut way = vec![last];
        let mut current = last;
        while current.from != sender {
            let before = current.origins.iter().filter_map(|frame| self.hop_at((*frame, current.from)));
            // Of several frames that went into one, the stream's own; else the one that came last.
            current = before.max_by_key(|hop| (hop.stream == last.stream, hop.received_at))?;
            way.push(current);
            if way.len() > TRANSMISSIONS_MAX {
                return None;
            }
        }
        way.reverse();
        Some(way)
    }

    pub(super) fn finish(self, meta: &RunMeta) -> Vec<Vec<PartSummary>> {
        let name = |place| match place {
            Place::Node(node) => meta.node_name(node.0),
            Place::Segment(segment) => meta.segment_name(segment),
        };
        let summed_up = |parts: Vec<(Place, Samples)>| {
            let spreads = parts.into_iter().filter_map(|(place, mut samples)| Some((name(place), samples.spread()?)));
            let parts = spreads.map(|(name, time)| PartSummary { name, time });
            // A sender or a receiver that computes nothing is no part of a way.
            parts.filter(|part| part.time.max_ns > 0).collect()
        };
        self.found.into_iter().map(summed_up).collect()
    }
}

fn hop_key(hop: &HopRow) -> (u64, NodeId) {
    (hop.frame, hop.to)
}

/// The last row with a key among rows in the order of their keys.
fn last_of<'r, R, K: Ord>(rows: &'r [R], key: &K, key_of: impl Fn(&R) -> K) -> Option<&'r R> {
    let behind = rows.partition_point(|row| key_of(row) <= *key);
    rows[..behind].last().filter(|row| key_of(row) == *key)
}

/// What passed in the sender, in each segment, in each node between two segments and in the receiver `[ns]`.
fn times(way: &[&HopRow], end: Option<&End>) -> Vec<(Place, i64)> {
    let between = |from: Option<SimTime>, to: Option<SimTime>| from.zip(to).map(|(from, to)| (to - from).as_ns());
    let (Some(first), Some(last)) = (way.first(), way.last()) else { return Vec::new() };
    let sender = end.and_then(|(_, due_at, _)| between(*due_at, first.sent_at)).map(|ns| (Place::Node(first.from), ns));
    let receiver = end.and_then(|(.., accepted_at)| between(last.received_at, *accepted_at));
    let receiver = receiver.map(|ns| (Place::Node(last.to), ns));
    let mut times = Vec::with_capacity(2 * way.len() + 1);
    times.extend(sender);
    for (index, hop) in way.iter().enumerate() {
        let waited = index.checked_sub(1).and_then(|before| between(way[before].received_at, hop.sent_at));
        times.extend(waited.map(|ns| (Place::Node(hop.from), ns)));
        times.extend(between(hop.sent_at, hop.received_at).map(|ns| (Place::Segment(hop.segment), ns)));
    }
    times.extend(receiver);
    times
}
