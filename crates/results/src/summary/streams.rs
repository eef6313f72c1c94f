//! What became of each stream's frames.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{EventKind, NodeId, SimTime, StreamId};

use super::{ClockSummary, Spread, StreamSummary, ways};
use crate::{Distribution, FrameRow, Outcome, RunMeta, RunRows, StreamMeta};

pub(super) fn strangers(rows: &RunRows) -> u64 {
    let is_stranger = |row: &&FrameRow| {
        row.stream == StreamId::NONE && row.attack.is_none() && matches!(row.outcome, Outcome::Discarded(_))
    };
    rows.frames.iter().filter(is_stranger).count() as u64
}

/// When the last clock of the segments on a stream's way had joined `[ns]`.
fn ready_ns(meta: &RunMeta, stream: &StreamMeta, clocks: &[ClockSummary]) -> i64 {
    let names: Vec<String> = stream.segments.iter().map(|segment| meta.segment_name(*segment)).collect();
    let on_way = clocks.iter().filter(|clock| names.contains(&clock.segment));
    on_way.filter_map(|clock| clock.acquired_ns).max().unwrap_or(0)
}

/// Samples of one quantity `[ns]`, and those of them no stall overlapped.
#[derive(Default)]
struct Samples {
    all: Vec<i64>,
    stall_free: Vec<i64>,
}

impl Samples {
    fn push(&mut self, from: Option<SimTime>, to: Option<SimTime>, stalled: bool) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let ns = (to - from).as_ns();
        self.all.push(ns);
        if !stalled {
            self.stall_free.push(ns);
        }
    }

    fn spread(mut self) -> Spread {
        Spread { all: Distribution::of(&mut self.all), stall_free: Distribution::of(&mut self.stall_free) }
    }
}

#[derive(Default)]
struct StreamCounts {
    sent: BTreeSet<u64>,
    arrived: BTreeSet<u64>,
    delivered: u64,
    late: u64,
    missing: u64,
    unaccounted: u64,
    in_flight: u64,
    startup: u64,
    denied: u64,
    attacked_cycles: BTreeSet<SimTime>,
    /// Slots whose frame was thrown away, with the node that did it.
    explained: BTreeSet<(SimTime, NodeId)>,
    discarded: BTreeMap<String, u64>,
    end_to_end: Samples,
    residence: Samples,
    tx: Samples,
    rx: Samples,
}

impl StreamCounts {
    /// True if the frame a receiver misses is known to have been thrown away, by itself or before it could get there.
    fn is_explained(&self, missing: &FrameRow, receivers: &[u16]) -> bool {
        let Some(slot) = missing.slot_start else { return false };
        let nodes = (slot, NodeId(0))..=(slot, NodeId(u16::MAX));
        self.explained.range(nodes).any(|(_, node)| *node == missing.at || !receivers.contains(&node.0))
    }

    fn add(&mut self, row: &FrameRow, ready_ns: i64, last_sent: SimTime, period_ns: i64) {
        if row.sent_at.is_some() {
            self.sent.insert(row.sequence);
        }
        let in_startup = row.cycle_start.since_zero().as_ns() < ready_ns;
        if in_startup {
            *(if row.outcome == Outcome::Delivered { &mut self.delivered } else { &mut self.startup }) += 1;
            return;
        }
        match row.outcome {
            Outcome::Delivered => self.delivered += 1,
            Outcome::Late => self.late += 1,
            _ if self.attacked_cycles.contains(&row.cycle_start) => self.denied += 1,
            Outcome::Discarded(reason) => *self.discarded.entry(reason.name().into()).or_default() += 1,
            Outcome::Missing => self.missing += 1,
            Outcome::Unaccounted => {
                // Sent within the last period: the run ended before its receiver could have it.
                let sent = row.sent_at.or(row.slot_start).unwrap_or(row.cycle_start);
                let young = (last_sent - sent).as_ns() < period_ns;
                *(if young { &mut self.in_flight } else { &mut self.unaccounted }) += 1;
            }
        }
        if !matches!(row.outcome, Outcome::Delivered | Outcome::Late) {
            return;
        }
        self.end_to_end.push(row.sent_at, row.received_at, row.stalled);
        self.residence.push(row.arrived_at, row.departed_at, row.stalled);
        self.rx.push(row.slot_start, row.departed_at, row.stalled);
        // The copies for several receivers share one arrival.
        if self.arrived.insert(row.sequence) {
            self.tx.push(row.slot_start, row.arrived_at, row.stalled);
        }
    }
}

pub(super) fn streams(meta: &RunMeta, rows: &RunRows, clocks: &[ClockSummary]) -> Vec<StreamSummary> {
    let ready_ns: Vec<i64> = meta.streams.iter().map(|stream| ready_ns(meta, stream, clocks)).collect();
    let mut ways = ways::parts(meta, rows, &ready_ns).into_iter();
    let mut counts: Vec<StreamCounts> = meta.streams.iter().map(|_| StreamCounts::default()).collect();
    let last_sent = rows.frames.iter().filter_map(|row| row.sent_at).max().unwrap_or(SimTime::ZERO);
    for row in rows.frames.iter().filter(|row| row.attack.is_some()) {
        if let Some(stream) = counts.get_mut(row.stream.index()) {
            stream.attacked_cycles.insert(row.cycle_start);
        }
    }
    for row in rows.frames.iter().filter(|row| row.attack.is_none()) {
        if let (Some(stream), Outcome::Discarded(_)) = (counts.get_mut(row.stream.index()), row.outcome) {
            stream.explained.extend(row.slot_start.map(|slot| (slot, row.at)));
        }
    }
    for row in rows.frames.iter().filter(|row| row.attack.is_none()) {
        if let Some(stream) = counts.get_mut(row.stream.index()) {
            let receivers = &meta.streams[row.stream.index()].receivers;
            if row.outcome == Outcome::Missing && stream.is_explained(row, receivers) {
                continue;
            }
            // What is thrown away before it was copied is lost to every receiver.
            let copies = if receivers.contains(&row.at.0) { 1 } else { receivers.len().max(1) };
            for _ in 0..if matches!(row.outcome, Outcome::Discarded(_)) { copies } else { 1 } {
                stream.add(row, ready_ns[row.stream.index()], last_sent, meta.streams[row.stream.index()].period_ns);
            }
        }
    }
    let mut told = vec![0u64; meta.streams.len()];
    for row in rows.events.iter().filter(|row| row.event.kind == EventKind::Sent) {
        let index = row.event.stream.index();
        if meta.streams.get(index).is_some_and(|stream| stream.is_sent_by(row.node.0)) {
            told[index] += 1;
        }
    }
    meta.streams
        .iter()
        .zip(counts)
        .zip(told)
        .zip(ready_ns)
        .map(|(((stream, counts), told), ready_ns)| StreamSummary {
            name: stream.name.clone(),
            class: stream.class.clone(),
            is_judged: stream.is_judged,
            ready_ns,
            sent: if told > 0 { told } else { counts.sent.len() as u64 },
            delivered: counts.delivered,
            late: counts.late,
            missing: counts.missing,
            unaccounted: counts.unaccounted,
            in_flight: counts.in_flight,
            startup: counts.startup,
            denied: counts.denied,
            discarded: counts.discarded,
            end_to_end: counts.end_to_end.spread(),
            way: ways.next().unwrap_or_default(),
            residence: counts.residence.spread(),
            tx: counts.tx.spread(),
            rx: counts.rx.spread(),
        })
        .collect()
}
