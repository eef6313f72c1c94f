//! Processors that never have two things to do at once, because the scenario says when each of them comes.
//!
//! In general nobody knows which frame comes when, and a processor is bounded by its longest busy period. Where every stream that
//! costs its node something is due at instants that the scenario writes, by a clock that keeps to them, the times at which frames
//! come are known within their spans. If the work of none meets that of another, whatever comes is dealt with at once.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, Ppm, StreamId};
use chronoseal_plan::{Plan, StreamPlan};

use super::Span;
use super::compose::Reached;
use super::processor::Jobs;
use super::recurring::Recurring;

/// By node and stream: what a frame takes of a processor that has nothing else to do then.
pub(super) type Alone = BTreeMap<(NodeId, StreamId), Duration>;

/// When the first frame of a stream is due by true time, and how far apart they are; `None` if a clock that drifts, an application
/// or chance has a part in it.
pub(super) fn due(plan: &Plan, stream: &StreamPlan) -> Option<(Duration, Duration)> {
    let clock = plan.nodes.get(stream.sender.index())?.clock;
    let keeps_time = clock.drift == Ppm(0) && clock.drift_max == Ppm(0);
    let is_free = stream.application.is_some()
        || stream.min_distance.is_some()
        || stream.sent_by.is_some()
        || stream.trigger.is_some();
    let is_written = stream.has_offset && keeps_time && !is_free && stream.collected().is_none();
    stream.offset.filter(|_| is_written && stream.period > Duration::ZERO).map(|offset| (offset, stream.period))
}

/// What processors have to do that nothing else meets, if frames come as `reached` has it. In the first round of a composition nobody
/// knows when frames come, and nothing meets.
pub(super) fn found(jobs: &Jobs<'_>, reached: &Reached, is_first: bool) -> Alone {
    let plan = jobs.plan;
    if !plan.threats.is_empty() {
        return Alone::new();
    }
    let is_plain = |node: &NodeId| {
        let node = &plan.nodes[node.index()];
        node.tasks.is_empty() && node.gateway.is_none() && node.host_interface.is_none() && node.interfaces.len() == 1
    };
    let mut work: BTreeMap<NodeId, Option<Vec<Job>>> = BTreeMap::new();
    for (index, stream) in plan.streams.iter().enumerate() {
        let (id, due) = (StreamId(index as u16), due(plan, stream));
        for hop in &stream.hops {
            let is_whole = stream.hops.len() == 1 && !jobs.is_in_slots(hop);
            let mut add = |node: NodeId, cost: Duration, at: Option<Span>| {
                let known = work.entry(node).or_insert_with(|| is_plain(&node).then(Vec::new));
                match due.zip(at).filter(|_| is_whole) {
                    Some(((due, period), at)) => {
                        let taken = Recurring { from: due + at.min, len: at.jitter() + cost, period };
                        known.iter_mut().for_each(|known| known.push(Job { stream: id, cost, taken }));
                    }
                    // It costs nothing, whenever it comes.
                    None if cost == Duration::ZERO => {}
                    None => *known = None,
                }
            };
            add(hop.from, jobs.sealing(id, hop), Some(Span::DUE));
            for node in &hop.to {
                let per_period = jobs.row(hop.segment).map_or(1, |row| row.openings_per_period(plan, id, hop));
                let cost = jobs.on_arrival(id, hop, *node) * i64::try_from(per_period).unwrap_or(i64::MAX);
                add(*node, cost, reached.at(id, hop.segment, *node).ok());
            }
        }
    }
    let mut alone = Alone::new();
    for (node, known) in work {
        // What takes a processor no time is in nobody's way.
        let (busy, idle): (Vec<Job>, Vec<Job>) =
            known.unwrap_or_default().into_iter().partition(|job| job.cost > Duration::ZERO);
        let is_met = |job: &Job| {
            let others = || busy.iter().filter(|other| other.stream != job.stream);
            job.taken.meets_itself() || others().any(|other| job.taken.meets(&other.taken))
        };
        if !is_first && busy.iter().any(is_met) {
            continue;
        }
        let quiet = busy.iter().chain(&idle).filter(|job| is_first || !is_met(job));
        alone.extend(quiet.map(|job| ((node, job.stream), job.cost)));
    }
    alone
}

/// What a frame of a stream asks of a processor.
struct Job {
    stream: StreamId,
    cost: Duration,
    /// From the earliest instant at which it can come until the latest at which it is done.
    taken: Recurring,
}
