//! The schedule table as a timeline: as planned, and one cycle as it was seen.

use chronoseal_core::SimTime;
use chronoseal_results::{FrameRow, NodeRole, Outcome, RunMeta, ScheduleMeta, SeenCycle, SegmentMeta, SlotMeta};

use crate::document::{Bar, BarKind, Lane, Timeline};

/// One cluster cycle as planned: for each station its wire to the switch, its wire from the switch, that from network B if copies come
/// over it, its tasks.
pub(super) fn planned(meta: &RunMeta, segment: &SegmentMeta, schedule: &ScheduleMeta) -> Timeline {
    let mut lanes = Vec::new();
    for node in stations(meta) {
        let (mut out, mut into, mut into_second) = (Vec::new(), Vec::new(), Vec::new());
        for (number, slot) in schedule.slots.iter().enumerate() {
            let Some(stream) = meta.streams.get(usize::from(slot.stream)) else { continue };
            if stream.sender == node {
                out.extend(slot_bars(slot, &stream.name));
            }
            if stream.receivers.contains(&node) {
                let mut own = schedule.deliveries.iter().filter(|own| (own.slot, own.node) == (number, node));
                let (from, takes) = match own.clone().find(|own| !own.is_second) {
                    Some(own) => (own.dispatch_ns, own.frame_time_ns),
                    None => (slot.dispatch_ns, slot.frame_time_ns),
                };
                into.push(bar(from, from + takes, stream.name.clone(), BarKind::Dispatch));
                if let Some(second) = own.find(|own| own.is_second) {
                    let (from, until) = (second.dispatch_ns, second.dispatch_ns + second.frame_time_ns);
                    into_second.push(bar(from, until, stream.name.clone(), BarKind::Dispatch));
                }
            }
        }
        let tasks: Vec<Bar> = schedule
            .tasks
            .iter()
            .filter(|task| task.node == node)
            .map(|task| bar(task.start_ns, task.start_ns + task.length_ns, task.name.clone(), BarKind::Task))
            .collect();
        let name = meta.node_name(node);
        push(&mut lanes, format!("from {name}"), out);
        push(&mut lanes, format!("to {name}"), into);
        push(&mut lanes, format!("to {name}, network B"), into_second);
        push(&mut lanes, format!("on {name}"), tasks);
    }
    let caption = format!("One cluster cycle of {} as planned", segment.name);
    Timeline { caption, cycle_ns: schedule.cycle_ns, lanes }
}

fn slot_bars(slot: &SlotMeta, name: &str) -> Vec<Bar> {
    let frame_end = slot.start_ns + slot.frame_time_ns;
    let mut bars = vec![bar(slot.start_ns, frame_end, name.into(), BarKind::Frame)];
    if slot.end_ns > frame_end {
        bars.push(bar(frame_end, slot.end_ns, format!("guard after {name}"), BarKind::Guard));
    }
    bars
}

/// One cluster cycle with what arrived and departed at the switch; `None` if that was nothing of a station.
pub(super) fn seen(
    meta: &RunMeta,
    segment: &SegmentMeta,
    schedule: &ScheduleMeta,
    SeenCycle { number: cycle, rows }: &SeenCycle,
) -> Option<Timeline> {
    let cycle_ns = schedule.cycle_ns;
    let origin_ns = cycle * cycle_ns;
    let mut lanes = Vec::new();
    for node in 0..meta.nodes.len() as u16 {
        let role = meta.nodes[usize::from(node)].role;
        let mut arrivals: Vec<Bar> = Vec::new();
        let mut departures: Vec<Bar> = Vec::new();
        for row in rows {
            let frame_ns = frame_time_ns(schedule, row);
            let at = |time: SimTime| time.since_zero().as_ns() - origin_ns;
            let kind = kind_of(row);
            if from_node(meta, row) == node
                && let Some(arrived) = row.arrived_at
            {
                let seen = bar(at(arrived) - frame_ns, at(arrived), label(meta, row), kind);
                // Copies for several receivers share one arrival.
                if !arrivals.contains(&seen) {
                    arrivals.push(seen);
                }
            }
            if row.at.0 == node
                && role == NodeRole::Station
                && let Some(departed) = row.departed_at
            {
                departures.push(bar(at(departed), at(departed) + frame_ns, label(meta, row), kind));
            }
        }
        let name = meta.node_name(node);
        push(&mut lanes, format!("from {name}"), arrivals);
        push(&mut lanes, format!("to {name}"), departures);
    }
    (!lanes.is_empty()).then(|| Timeline {
        caption: format!(
            "Cluster cycle {cycle} of {} as seen at the switch ({})",
            segment.name,
            meta.engine.evidence()
        ),
        cycle_ns,
        lanes,
    })
}

/// Whose wire a frame came in on: a genuine one on its stream's sender's, even if somebody sits on that wire.
fn from_node(meta: &RunMeta, row: &FrameRow) -> u16 {
    match meta.streams.get(row.stream.index()) {
        Some(stream) if row.attack.is_none() => stream.sender,
        _ => row.sender.0,
    }
}

fn kind_of(row: &FrameRow) -> BarKind {
    if row.attack.is_none() && row.outcome == Outcome::Delivered { BarKind::Seen } else { BarKind::Trouble }
}

fn label(meta: &RunMeta, row: &FrameRow) -> String {
    let stream = meta.stream_name(row.stream.0);
    let outcome = row.outcome.reason().map_or(row.outcome.name(), |reason| reason.name());
    match row.attack {
        Some(attack) => format!("{} on {stream}: {outcome}", attack.name()),
        None if row.outcome == Outcome::Delivered => stream,
        None => format!("{stream}: {outcome}"),
    }
}

/// Time on the wire as its stream's slot has it; a hair's breadth for frames without one.
fn frame_time_ns(schedule: &ScheduleMeta, row: &FrameRow) -> i64 {
    schedule.slots.iter().find(|slot| slot.stream == row.stream.0).map_or(1_000, |slot| slot.frame_time_ns)
}

fn stations(meta: &RunMeta) -> impl Iterator<Item = u16> {
    meta.nodes.iter().enumerate().filter(|(_, node)| node.role == NodeRole::Station).map(|(id, _)| id as u16)
}

fn push(lanes: &mut Vec<Lane>, name: String, mut bars: Vec<Bar>) {
    if !bars.is_empty() {
        bars.sort_by_key(|bar| bar.start_ns);
        lanes.push(Lane { name, bars });
    }
}

fn bar(start_ns: i64, end_ns: i64, label: String, kind: BarKind) -> Bar {
    Bar { start_ns, end_ns, label, kind }
}
