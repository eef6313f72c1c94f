//! Clocks, computations and tasks of nodes.

use std::collections::BTreeMap;

use chronoseal_core::{EventKind, NodeId};

use super::{ClockSummary, TaskSummary, WorkSummary};
use crate::{EventRow, RunMeta, Samples, WorkRow};

/// Every clock of every segment that keeps clocks together, by segment and node.
pub(crate) struct Clocks {
    clocks: Vec<Clock>,
    /// By node: its clocks.
    of_node: Vec<Vec<usize>>,
}

struct Clock {
    summary: ClockSummary,
    cycle_ns: i64,
    /// From then on nobody relies on it `[ns]`.
    spared_from_ns: Option<i64>,
}

impl Clocks {
    pub(crate) fn new(meta: &RunMeta) -> Self {
        let (mut clocks, mut of_node) = (Vec::new(), Vec::new());
        for segment in &meta.segments {
            let Some(domain) = &segment.clocks else { continue };
            for &node in &domain.nodes {
                let place = usize::from(node);
                of_node.resize(of_node.len().max(place + 1), Vec::new());
                of_node[place].push(clocks.len());
                let spared = domain.spared.iter().find(|(spared, _)| *spared == node);
                let summary = ClockSummary {
                    segment: segment.name.clone(),
                    node: meta.node_name(node),
                    acquired_ns: None,
                    acquired_cycles: None,
                    first_correction_ns: None,
                    correction_max_ns: None,
                    corrections: 0,
                    lost: 0,
                    spared: 0,
                    is_unused: domain.is_unused(node),
                    beacons_rejected: 0,
                    startup_cycles: domain.startup_cycles,
                };
                let spared_from_ns = spared.map(|(_, since_ns)| *since_ns);
                clocks.push(Clock { summary, cycle_ns: domain.cycle_ns, spared_from_ns });
            }
        }
        Self { clocks, of_node }
    }

    /// Takes in an event. Those of a node come in time.
    pub(crate) fn event(&mut self, row: &EventRow) {
        for &place in self.of_node.get(row.node.index()).into_iter().flatten() {
            self.clocks[place].event(row);
        }
    }

    /// When each clock joined, if it has `[ns]`.
    pub(crate) fn joined(&self) -> impl Iterator<Item = Option<i64>> {
        self.clocks.iter().map(|clock| clock.summary.acquired_ns)
    }

    pub(crate) fn finish(self) -> Vec<ClockSummary> {
        self.clocks.into_iter().map(|clock| clock.summary).collect()
    }
}

impl Clock {
    fn event(&mut self, row: &EventRow) {
        let (clock, value_ns, ns) = (&mut self.summary, row.event.value / 1_000, row.time.since_zero().as_ns());
        match row.event.kind {
            EventKind::SyncAcquired if clock.acquired_ns.is_none() => {
                clock.acquired_ns = Some(ns);
                clock.first_correction_ns = Some(value_ns);
                let cycle_ns = self.cycle_ns;
                clock.acquired_cycles =
                    (cycle_ns > 0).then(|| ns.div_euclid(cycle_ns) + i64::from(ns.rem_euclid(cycle_ns) > 0));
            }
            EventKind::SyncLost => {
                clock.lost += 1;
                clock.spared += u64::from(self.spared_from_ns.is_some_and(|since_ns| ns >= since_ns));
            }
            EventKind::BeaconRejected => clock.beacons_rejected += 1,
            EventKind::ClockCorrected if clock.acquired_ns.is_some_and(|acquired_ns| acquired_ns < ns) => {
                clock.corrections += 1;
                clock.correction_max_ns = Some(clock.correction_max_ns.unwrap_or(0).max(value_ns.abs()));
            }
            _ => {}
        }
    }
}

/// What processors computed, by node and operation.
#[derive(Default)]
pub(crate) struct Computed(BTreeMap<(NodeId, &'static str), Computations>);

struct Computations {
    len_min: u32,
    len_max: u32,
    durations: Samples,
}

impl Computed {
    pub(crate) fn work(&mut self, row: &WorkRow) {
        let first = || Computations { len_min: row.len, len_max: row.len, durations: Samples::default() };
        let known = self.0.entry((row.node, row.operation)).or_insert_with(first);
        known.len_min = known.len_min.min(row.len);
        known.len_max = known.len_max.max(row.len);
        known.durations.push(row.duration.as_ns());
    }

    pub(crate) fn finish(self, meta: &RunMeta) -> Vec<WorkSummary> {
        let summary = |((node, operation), known): ((NodeId, &str), Computations)| {
            Some(WorkSummary {
                node: meta.node_name(node.0),
                operation: operation.into(),
                len_min: known.len_min,
                len_max: known.len_max,
                duration: known.durations.spread()?,
            })
        };
        self.0.into_iter().filter_map(summary).collect()
    }
}

/// Runs of tasks that did not end in time, and how long the others took, by node.
#[derive(Default)]
pub(crate) struct Tasks(BTreeMap<NodeId, (u64, Samples)>);

impl Tasks {
    pub(crate) fn event(&mut self, row: &EventRow) {
        match row.event.kind {
            EventKind::TaskDone => self.0.entry(row.node).or_default().1.push(row.event.value / 1_000),
            EventKind::TaskOverrun => self.0.entry(row.node).or_default().0 += 1,
            _ => {}
        }
    }

    pub(crate) fn finish(self, meta: &RunMeta) -> Vec<TaskSummary> {
        let summary = |(node, (overruns, responses)): (NodeId, (u64, Samples))| TaskSummary {
            node: meta.node_name(node.0),
            done: responses.len(),
            overruns,
            response: responses.spread(),
        };
        self.0.into_iter().map(summary).collect()
    }
}
