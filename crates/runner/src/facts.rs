//! What a run's description says of its segments, and what its rows keep of them, whatever their kinds.

use chronoseal_catalog::{Prepared, Wire};
use chronoseal_core::{Duration, NodeId};
use chronoseal_media::medium::Series;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{Plan, SegmentId};
use chronoseal_results::meta::{
    ClockDomainMeta, DeliveryMeta, LinkMeta, ScheduleMeta, SegmentMeta, SlotMeta, TaskMeta,
};
use chronoseal_results::rows::{STRANGER_BYTES, STRANGER_FRAMES, SegmentSeries};

/// The description of one segment.
pub(crate) fn segment(prepared: &Prepared<'_>, id: SegmentId) -> SegmentMeta {
    let plan = prepared.plan();
    let kind = prepared.kind(id);
    let on_it = plan.nodes.iter().enumerate().filter(|(_, node)| node.interfaces.contains(&id));
    let properties = kind.properties(prepared, id);
    let wires = prepared.wires(id);
    let clocks: Vec<NodeId> = on_it.map(|(node, _)| NodeId(node as u16)).chain(switches(prepared, id)).collect();
    SegmentMeta {
        name: plan.segments[id.index()].name.clone(),
        kind: kind.name().into(),
        link_type: kind.link_type(),
        properties: properties.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        clocks: kind.sync_interval(prepared, id).map(|interval| ClockDomainMeta {
            cycle_ns: interval.as_ns(),
            nodes: clocks.iter().map(|node| node.0).collect(),
            dependents: (kind.depend_on_clocks(prepared, id, &clocks).into_iter())
                .map(|streams| streams.into_iter().map(|stream| stream.0).collect())
                .collect(),
            precision_ns: kind.precision(prepared, id).map(Duration::as_ns),
            startup_cycles: kind.startup(prepared, id).map(|time| time.div_floor(interval) + 1),
            spared: (kind.spared_clocks(prepared, id).into_iter())
                .map(|(node, since)| (node.0, since.since_zero().as_ns()))
                .collect(),
        }),
        schedule: prepared.schedule(id).map(|table| schedule(plan, table)),
        members: if wires.is_empty() { members(prepared, id) } else { Vec::new() },
        links: wires.chunks_exact(2).map(|wires| link(&wires[0])).collect(),
    }
}

/// The switches of a segment whose clocks frames go by, in slots or through gates.
fn switches(prepared: &Prepared<'_>, id: SegmentId) -> impl Iterator<Item = NodeId> {
    let plan = prepared.plan();
    let have_own = prepared.kind(id).has_own_clocks(prepared, id);
    let own = if have_own { plan.segments[id.index()].own_nodes.len() } else { 0 };
    (0..own).map(move |index| plan.own_node(id, index))
}

/// A link by its first direction.
fn link(wire: &Wire) -> LinkMeta {
    LinkMeta {
        ends: [wire.from.0, wire.to.0],
        rate_bps: wire.rate.0,
        fails_at_ns: wire.fails_at.map(|at| at.since_zero().as_ns()),
    }
}

/// Who has a port to a segment.
fn members(prepared: &Prepared<'_>, id: SegmentId) -> Vec<u16> {
    let nodes = prepared.plan().node_ids();
    nodes.filter(|node| prepared.attachment(*node, id).is_some()).map(|node| node.0).collect()
}

fn schedule(plan: &Plan, table: &ScheduleTable) -> ScheduleMeta {
    let slots = table.slots.iter().map(|slot| SlotMeta {
        stream: slot.stream.0,
        start_ns: slot.start.as_ns(),
        frame_time_ns: slot.frame_time.as_ns(),
        dispatch_ns: slot.dispatch.as_ns(),
        end_ns: slot.end.as_ns(),
    });
    let tasks = table.tasks.iter().map(|task| TaskMeta {
        node: task.node.0,
        name: plan.nodes[task.node.index()].tasks[usize::from(task.task)].name.clone(),
        start_ns: task.start.as_ns(),
        length_ns: task.length.as_ns(),
    });
    let deliveries = table.deliveries.iter().map(|delivery| DeliveryMeta {
        slot: delivery.slot,
        node: delivery.node.0,
        is_second: delivery.is_second,
        dispatch_ns: delivery.dispatch.as_ns(),
        frame_time_ns: delivery.frame_time.as_ns(),
    });
    ScheduleMeta {
        cycle_ns: table.cluster_cycle.as_ns(),
        slots: slots.collect(),
        deliveries: deliveries.collect(),
        tasks: tasks.collect(),
    }
}

/// Frames of no stream that were handed to a segment.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Strangers {
    pub(crate) frames: u64,
    /// What they carried \[byte\].
    pub(crate) bytes: u64,
}

/// What a segment was used for: what its medium counted, and frames of no stream.
pub(crate) fn series(segment: SegmentId, counted: Vec<Series>, strangers: Strangers) -> Vec<SegmentSeries> {
    let own = [
        Series::total(STRANGER_FRAMES, "frames", strangers.frames as i64),
        Series::total(STRANGER_BYTES, "bytes", strangers.bytes as i64),
    ];
    let of_segment = |series: Series| SegmentSeries {
        segment: segment.0,
        name: series.name.into(),
        unit: series.unit.into(),
        window: series.window,
        values: series.values,
    };
    // A window is there from the first one that was used on; before, there is nothing to show.
    counted.into_iter().chain(own).filter(|series| !series.values.is_empty()).map(of_segment).collect()
}
