//! Whether a segment has a time that its frames and nodes go by.

use chronoseal_plan::{Ethernet, EthernetSegment, Plan, SegmentId, Sync};

use super::segment::CYCLE;
use crate::kinds::{Context, Table};
use crate::problem::Code;

/// A segment that does not say how its clocks are kept together has beacons if something goes by its time; else nothing keeps them.
/// Slots, tasks and what keeps clocks together by cycles need a cycle.
pub(super) fn complete(plan: &mut Plan, id: SegmentId, table: &Table<'_>, context: &mut Context<'_>) {
    let Some(view) = Ethernet::of(plan, id) else { return };
    let is_used = view.uses_clock();
    let sync = match view.segment.sync {
        Sync::None if is_used => Sync::Beacon,
        other => other,
    };
    let in_slots =
        view.streams().find(|stream| stream.class.is_time_triggered()).map(|stream| stream.stream.name.clone());
    let with_tasks = view.task_stations().map(|node| &plan.nodes[node.index()]).find(|node| !node.tasks.is_empty());
    let needs = match (in_slots, with_tasks, sync) {
        (Some(stream), ..) => Some(format!("stream `{stream}` has slots")),
        (_, Some(node), _) => Some(format!("node `{}` has tasks", node.name)),
        (_, _, Sync::Beacon) => Some("beacons are sent".to_owned()),
        (_, _, Sync::As6802) => Some("the control frames of its cluster are sent".to_owned()),
        (_, _, Sync::None | Sync::Ideal | Sync::Gptp) => None,
    };
    if let Some(segment) = plan.segments.get_mut(id.index()).and_then(|segment| segment.facet.get_mut()) {
        let segment: &mut EthernetSegment = segment;
        segment.sync = sync;
    }
    if let Some(needs) = needs.filter(|_| table.is_written() && !table.has(CYCLE)) {
        context.report(
            Code::MissingKey,
            &table.at("rate"),
            format!("`{}` has no `{CYCLE}`, and {needs} in each of them", plan.segments[id.index()].name),
            "without a cycle",
            "write `cluster_cycle = \"10ms\"` beside it: a time that the periods of all that has slots, and of all tasks, divide",
        );
    }
}
