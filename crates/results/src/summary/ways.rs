//! Where on its way a frame spends its time, for streams that cross several segments.

use std::collections::BTreeMap;

use chronoseal_core::{NodeId, SimTime};

use super::PartSummary;
use crate::{Distribution, FrameRow, HopRow, RunMeta, RunRows};

/// More transmissions than any way has; origins that lead in a circle end here.
const TRANSMISSIONS_MAX: usize = 64;

/// By stream: the time in its sender, in each segment, in each node between two of them and in its receiver, in the order of the
/// way. Empty for a stream
/// whose frames cross one segment only. Frames of a stream that were sent before its `ready_ns` do not
/// count.
pub(super) fn parts(meta: &RunMeta, rows: &RunRows, ready_ns: &[i64]) -> Vec<Vec<PartSummary>> {
    let mut found: Vec<Vec<(String, Vec<i64>)>> = vec![Vec::new(); meta.streams.len()];
    if rows.hops.iter().all(|hop| hop.origins.is_empty()) {
        return found.into_iter().map(|_| Vec::new()).collect();
    }
    let key = |row: &FrameRow| (row.stream, row.at, row.sent_at);
    let ends: BTreeMap<_, &FrameRow> = rows.frames.iter().map(|row| (key(row), row)).collect();
    let hops: BTreeMap<(u64, NodeId), &HopRow> = rows.hops.iter().map(|hop| ((hop.frame, hop.to), hop)).collect();
    for last in rows.hops.iter().filter(|hop| !hop.origins.is_empty()) {
        let Some(stream) = meta.streams.get(last.stream.index()) else { continue };
        if !stream.receivers.contains(&last.to.0) {
            continue;
        }
        let Some(way) = way(&hops, last, NodeId(stream.sender)) else { continue };
        if way[0].sent_at.is_none_or(|at| at.since_zero().as_ns() < ready_ns[last.stream.index()]) {
            continue;
        }
        let end = ends.get(&(last.stream, last.to, way[0].sent_at)).copied();
        for (name, ns) in times(meta, &way, end) {
            let samples = &mut found[last.stream.index()];
            match samples.iter_mut().find(|(known, _)| *known == name) {
                Some((_, samples)) => samples.push(ns),
                None => samples.push((name, vec![ns])),
            }
        }
    }
    let summed_up =
        |(name, mut samples): (String, Vec<i64>)| Distribution::of(&mut samples).map(|time| PartSummary { name, time });
    // A sender or a receiver that computes nothing is no part of a way.
    let takes_time = |part: &PartSummary| part.time.max_ns > 0;
    found.into_iter().map(|parts| parts.into_iter().filter_map(summed_up).filter(takes_time).collect()).collect()
}

/// The transmissions that led to `last`, the first of them by `sender`; `None` if one is not known.
fn way<'r>(hops: &BTreeMap<(u64, NodeId), &'r HopRow>, last: &'r HopRow, sender: NodeId) -> Option<Vec<&'r HopRow>> {
    let mut way = vec![last];
    let mut current = last;
    while current.from != sender {
        let before = current.origins.iter().filter_map(|frame| hops.get(&(*frame, current.from)).copied());
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

/// What passed in the sender, in each segment, in each node between two segments and in the receiver `[ns]`.
fn times(meta: &RunMeta, way: &[&HopRow], end: Option<&FrameRow>) -> Vec<(String, i64)> {
    let between = |from: Option<SimTime>, to: Option<SimTime>| from.zip(to).map(|(from, to)| (to - from).as_ns());
    let (Some(first), Some(last)) = (way.first(), way.last()) else { return Vec::new() };
    let sender = end.and_then(|end| between(end.due_at, first.sent_at)).map(|ns| (meta.node_name(first.from.0), ns));
    let receiver =
        end.and_then(|end| between(last.received_at, end.accepted_at)).map(|ns| (meta.node_name(last.to.0), ns));
    let mut times = Vec::from_iter(sender);
    for (index, hop) in way.iter().enumerate() {
        let waited = index.checked_sub(1).and_then(|before| between(way[before].received_at, hop.sent_at));
        times.extend(waited.map(|ns| (meta.node_name(hop.from.0), ns)));
        times.extend(between(hop.sent_at, hop.received_at).map(|ns| (meta.segment_name(hop.segment), ns)));
    }
    times.extend(receiver);
    times
}
