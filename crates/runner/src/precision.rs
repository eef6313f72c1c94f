//! How far the clocks of a segment differ, measured: for each clock what it showed last, against the time of the run.

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, Event, EventKind, NodeId, SimTime};
use chronoseal_media::medium::Series;
use chronoseal_results::CLOCK_DIFFERENCE;

/// The clocks of all segments that make their time themselves.
pub(crate) struct Precision {
    /// By segment: the distance of two readings of one clock.
    cycles: Vec<Option<Duration>>,
    /// By node: its segment, and what its clock was ahead of the run when it was read last, and when.
    clocks: Vec<Option<(usize, Option<Reading>)>>,
    window: Duration,
    /// By segment: the largest difference in each window.
    found: Vec<Vec<Duration>>,
}

#[derive(Clone, Copy)]
struct Reading {
    at: SimTime,
    ahead: i64,
}

impl Precision {
    pub(crate) fn new(prepared: &Prepared<'_>) -> Self {
        let plan = prepared.plan();
        let cycles: Vec<_> = plan.segment_ids().map(|id| prepared.kind(id).sync_interval(prepared, id)).collect();
        let has_clocks = |segment: usize| cycles[segment].is_some();
        let mut clocks: Vec<_> = (plan.nodes.iter())
            .map(|node| node.interfaces.iter().map(|id| id.index()).find(|id| has_clocks(*id)))
            .collect();
        for id in plan.segment_ids() {
            for index in 0..plan.segments[id.index()].own_nodes.len() {
                let node = plan.own_node(id, index).index();
                clocks.resize(clocks.len().max(node + 1), None);
                clocks[node] = has_clocks(id.index()).then_some(id.index());
            }
        }
        Self {
            found: vec![Vec::new(); cycles.len()],
            cycles,
            clocks: clocks.into_iter().map(|segment| segment.map(|segment| (segment, None))).collect(),
            window: chronoseal_catalog::load_window(plan),
        }
    }

    /// A node tells of its clock.
    pub(crate) fn tell(&mut self, at: SimTime, node: NodeId, event: &Event) {
        let Some(Some((segment, reading))) = self.clocks.get_mut(node.index()) else { return };
        let segment = *segment;
        match event.kind {
            EventKind::ClockShown => {
                *reading = Some(Reading { at, ahead: event.sequence as i64 - at.since_zero().as_ps() });
            }
            // Who has lost its cluster shows no time of it.
            EventKind::SyncLost => {
                *reading = None;
                return;
            }
            _ => return,
        }
        // Clocks of one cluster are read at nearly the same time; one that was not read since has left it.
        let Some(since) = self.cycles[segment].map(|cycle| at - cycle / 2) else { return };
        let of_segment = self.clocks.iter().flatten().filter(|(of, _)| *of == segment);
        let recent = of_segment.filter_map(|(_, reading)| reading.filter(|reading| reading.at >= since));
        let (low, high) =
            recent.fold((i64::MAX, i64::MIN), |(low, high), Reading { ahead, .. }| (low.min(ahead), high.max(ahead)));
        let window = at.since_zero().div_floor(self.window).max(0) as usize;
        let found = &mut self.found[segment];
        found.resize(found.len().max(window + 1), Duration::ZERO);
        found[window] = found[window].max(Duration::from_ps(high - low));
    }

    /// What was found on a segment: over the whole run, and by window.
    pub(crate) fn series(&self, segment: usize) -> Vec<Series> {
        let found = &self.found[segment];
        let Some(largest) = found.iter().max() else { return Vec::new() };
        let values = found.iter().map(|difference| difference.as_ns()).collect();
        vec![
            Series::total(CLOCK_DIFFERENCE, "ns", largest.as_ns()),
            Series { name: CLOCK_DIFFERENCE.into(), unit: "ns", window: Some(self.window), values },
        ]
    }
}
