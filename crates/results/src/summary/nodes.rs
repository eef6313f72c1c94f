//! Clocks, computations and tasks of nodes.

use std::collections::BTreeMap;

use chronoseal_core::{EventKind, NodeId};

use super::{ClockSummary, TaskSummary, WorkSummary};
use crate::{Distribution, EventRow, RunMeta, RunRows};

/// Every clock of every segment that keeps clocks together, by segment and node.
pub(super) fn clocks(meta: &RunMeta, rows: &RunRows) -> Vec<ClockSummary> {
    let mut in_order: Vec<_> = rows.events.iter().collect();
    in_order.sort_by_key(|row| row.time);
    let mut clocks = Vec::new();
    for segment in &meta.segments {
        let Some(domain) = &segment.clocks else { continue };
        for &node in &domain.nodes {
            let events = in_order.iter().filter(|row| row.node == NodeId(node)).copied();
            let since = domain.spared.iter().find(|(spared, _)| *spared == node).map(|(_, since_ns)| *since_ns);
            let is_spared = |row: &&EventRow| since.is_some_and(|since| row.time.since_zero().as_ns() >= since);
            let lost = events.clone().filter(|row| row.event.kind == EventKind::SyncLost);
            let spared = lost.filter(is_spared).count() as u64;
            let clock = clock(segment.name.clone(), meta.node_name(node), domain.cycle_ns, events);
            let is_unused = domain.is_unused(node);
            clocks.push(ClockSummary { startup_cycles: domain.startup_cycles, spared, is_unused, ..clock });
        }
    }
    clocks
}

/// One clock, from the events of its node in order.
fn clock<'r>(segment: String, node: String, cycle_ns: i64, events: impl Iterator<Item = &'r EventRow>) -> ClockSummary {
    let mut clock = ClockSummary {
        segment,
        node,
        acquired_ns: None,
        acquired_cycles: None,
        first_correction_ns: None,
        correction_max_ns: None,
        corrections: 0,
        lost: 0,
        spared: 0,
        is_unused: false,
        beacons_rejected: 0,
        startup_cycles: None,
    };
    for row in events {
        let value_ns = row.event.value / 1_000;
        match row.event.kind {
            EventKind::SyncAcquired if clock.acquired_ns.is_none() => {
                let ns = row.time.since_zero().as_ns();
                clock.acquired_ns = Some(ns);
                clock.first_correction_ns = Some(value_ns);
                clock.acquired_cycles =
                    (cycle_ns > 0).then(|| ns.div_euclid(cycle_ns) + i64::from(ns.rem_euclid(cycle_ns) > 0));
            }
            EventKind::SyncLost => clock.lost += 1,
            EventKind::BeaconRejected => clock.beacons_rejected += 1,
            EventKind::ClockCorrected if clock.acquired_ns.is_some_and(|ns| ns < row.time.since_zero().as_ns()) => {
                clock.corrections += 1;
                clock.correction_max_ns = Some(clock.correction_max_ns.unwrap_or(0).max(value_ns.abs()));
            }
            _ => {}
        }
    }
    clock
}

pub(super) fn work(meta: &RunMeta, rows: &RunRows) -> Vec<WorkSummary> {
    let mut found: BTreeMap<(NodeId, &str), (u32, u32, Vec<i64>)> = BTreeMap::new();
    for row in &rows.work {
        let (len_min, len_max, durations) =
            found.entry((row.node, row.operation)).or_insert((row.len, row.len, Vec::new()));
        *len_min = (*len_min).min(row.len);
        *len_max = (*len_max).max(row.len);
        durations.push(row.duration.as_ns());
    }
    found
        .into_iter()
        .filter_map(|((node, operation), (len_min, len_max, mut durations))| {
            Some(WorkSummary {
                node: meta.node_name(node.0),
                operation: operation.into(),
                len_min,
                len_max,
                duration: Distribution::of(&mut durations)?,
            })
        })
        .collect()
}

pub(super) fn tasks(meta: &RunMeta, rows: &RunRows) -> Vec<TaskSummary> {
    let mut found: BTreeMap<NodeId, (u64, Vec<i64>)> = BTreeMap::new();
    for row in &rows.events {
        match row.event.kind {
            EventKind::TaskDone => found.entry(row.node).or_default().1.push(row.event.value / 1_000),
            EventKind::TaskOverrun => found.entry(row.node).or_default().0 += 1,
            _ => {}
        }
    }
    found
        .into_iter()
        .map(|(node, (overruns, mut responses))| TaskSummary {
            node: meta.node_name(node.0),
            done: responses.len() as u64,
            overruns,
            response: Distribution::of(&mut responses),
        })
        .collect()
}
