//! Clocks, computations and tasks of nodes.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, EventKind, NodeId, SimTime};

use super::{ClockSummary, TaskSummary, WorkSummary};
use crate::{EventRow, RunMeta, Samples, Stays, WorkRow};

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
    /// When it was lost while somebody did, and when it was back.
    losses: Vec<(SimTime, Option<SimTime>)>,
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
                    held_up: 0,
                    is_start_held_up: false,
                    is_unused: domain.is_unused(node),
                    beacons_rejected: 0,
                    startup_cycles: domain.startup_cycles,
                };
                let spared_from_ns = spared.map(|(_, since_ns)| *since_ns);
                clocks.push(Clock { summary, cycle_ns: domain.cycle_ns, spared_from_ns, losses: Vec::new() });
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

    /// When the run could not go on for reasons of the host, of which `stays` are known: these, and the times without a clock that was lost in one,
    /// or while another one was gone for that reason.
    pub(crate) fn held_up(&self, stays: &Stays) -> Stays {
        let losses = |clock: &Clock| {
            let cycle = Duration::from_ns(clock.cycle_ns);
            let end = |back: Option<SimTime>| back.map_or(SimTime::MAX, |back| back + cycle);
            clock.losses.iter().map(|(lost, back)| (*lost - cycle, *lost, end(*back))).collect::<Vec<_>>()
        };
        let mut losses: Vec<_> = self.clocks.iter().flat_map(losses).collect();
        losses.sort_unstable_by_key(|(_, lost, _)| *lost);
        let mut without: Vec<(SimTime, SimTime)> = Vec::new();
        for (since, lost, back) in losses {
            if stays.overlap(since, lost) || without.iter().any(|(begin, end)| *begin <= lost && since <= *end) {
                without.push((since, back));
            }
        }
        stays.with(&without)
    }

    /// What became of each. `held_up` is when the run could not go on for reasons of the host.
    pub(crate) fn finish(self, held_up: &Stays) -> Vec<ClockSummary> {
        let finish = |Clock { mut summary, cycle_ns, losses, .. }: Clock| {
            let is_held_up = |(at, _): &&(SimTime, _)| held_up.overlap(*at - Duration::from_ns(cycle_ns), *at);
            summary.held_up = losses.iter().filter(is_held_up).count() as u64;
            let joined = summary.acquired_ns.map(|ns| SimTime::ZERO + Duration::from_ns(ns));
            summary.is_start_held_up = joined.is_some_and(|joined| held_up.overlap(SimTime::ZERO, joined));
            summary
        };
        self.clocks.into_iter().map(finish).collect()
    }
}

impl Clock {
    fn event(&mut self, row: &EventRow) {
        // Most events are none of a clock's.
        let (value_ns, ns) = (|| row.event.value / 1_000, || row.time.since_zero().as_ns());
        let clock = &mut self.summary;
        match row.event.kind {
            EventKind::SyncAcquired if clock.acquired_ns.is_none() => {
                let (ns, cycle_ns) = (ns(), self.cycle_ns);
                clock.acquired_ns = Some(ns);
                clock.first_correction_ns = Some(value_ns());
                clock.acquired_cycles =
                    (cycle_ns > 0).then(|| ns.div_euclid(cycle_ns) + i64::from(ns.rem_euclid(cycle_ns) > 0));
            }
            EventKind::SyncAcquired => {
                if let Some((_, back @ None)) = self.losses.last_mut() {
                    *back = Some(row.time);
                }
            }
            EventKind::SyncLost => {
                clock.lost += 1;
                match self.spared_from_ns.is_some_and(|since_ns| ns() >= since_ns) {
                    true => clock.spared += 1,
                    false => self.losses.push((row.time, None)),
                }
            }
            EventKind::BeaconRejected => clock.beacons_rejected += 1,
            EventKind::ClockCorrected if clock.acquired_ns.is_some_and(|acquired_ns| acquired_ns < ns()) => {
                clock.corrections += 1;
                clock.correction_max_ns = Some(clock.correction_max_ns.unwrap_or(0).max(value_ns().abs()));
            }
            _ => {}
        }
    }
}

/// What processors computed, by node, each with its operations.
#[derive(Default)]
pub(crate) struct Computed(Vec<Vec<Computations>>);

struct Computations {
    operation: &'static str,
    len_min: u32,
    len_max: u32,
    durations: Samples,
}

impl Computed {
    pub(crate) fn work(&mut self, row: &WorkRow) {
        let place = row.node.index();
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Vec::new);
        }
        let of_node = &mut self.0[place];
        // Of what a node computes there are few kinds.
        let known = of_node.iter().position(|known| known.operation == row.operation).unwrap_or_else(|| {
            let (operation, len) = (row.operation, row.len);
            of_node.push(Computations { operation, len_min: len, len_max: len, durations: Samples::default() });
            of_node.len() - 1
        });
        let known = &mut of_node[known];
        known.len_min = known.len_min.min(row.len);
        known.len_max = known.len_max.max(row.len);
        known.durations.push(row.duration.as_ns());
    }

    pub(crate) fn finish(self, meta: &RunMeta) -> Vec<WorkSummary> {
        let mut summaries = Vec::new();
        for (node, mut of_node) in (0..).zip(self.0) {
            of_node.sort_by_key(|known| known.operation);
            summaries.extend(of_node.into_iter().filter_map(|mut known| {
                Some(WorkSummary {
                    node: meta.node_name(node),
                    operation: known.operation.into(),
                    len_min: known.len_min,
                    len_max: known.len_max,
                    duration: known.durations.spread()?,
                })
            }));
        }
        summaries
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
        let summary = |(node, (overruns, mut responses)): (NodeId, (u64, Samples))| TaskSummary {
            node: meta.node_name(node.0),
            done: responses.len(),
            overruns,
            response: responses.spread(),
        };
        self.0.into_iter().map(summary).collect()
    }
}
