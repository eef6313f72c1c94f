//! What a run's description says of each kind of segment, and what its rows keep: one row a kind.

use chronoseal_catalog::{Prepared, can};
use chronoseal_core::Duration;
use chronoseal_media::medium::Series;
use chronoseal_results::meta::{SlotMeta, TaskMeta};
use chronoseal_results::{BusMeta, BusRow, RunMeta};
use chronoseal_scenario::plan::{CAN, Can, ETHERNET, Ethernet, SegmentId};

/// Adds to a description what is known of a segment.
type Facts = fn(&Prepared<'_>, SegmentId, &mut RunMeta);

/// By name of the kind.
const FACTS: &[(&str, Facts)] = &[(ETHERNET, of_ethernet), (CAN, of_can)];

/// Adds to a description what its segments' kinds have to say.
pub(crate) fn add(prepared: &Prepared<'_>, meta: &mut RunMeta) {
    for segment in prepared.plan().segment_ids() {
        let kind = prepared.plan().segments[segment.index()].kind;
        if let Some((_, facts)) = FACTS.iter().find(|(known, _)| *known == kind) {
            facts(prepared, segment, meta);
        }
    }
}

fn of_ethernet(prepared: &Prepared<'_>, segment: SegmentId, meta: &mut RunMeta) {
    let (Some(view), Some(schedule)) = (Ethernet::of(prepared.plan(), segment), prepared.schedule(segment)) else {
        return;
    };
    meta.cluster_cycle_ns = view.segment.cluster_cycle.as_ns();
    meta.integration_cycle_ns = view.segment.integration_cycle.as_ns();
    meta.guard_ns = view.segment.guard_period.as_ns();
    meta.accounting = view.segment.accounting.name().into();
    meta.slots.extend(schedule.slots.iter().map(|slot| SlotMeta {
        stream: slot.stream.0,
        start_ns: slot.start.as_ns(),
        frame_time_ns: slot.frame_time.as_ns(),
        dispatch_ns: slot.dispatch.as_ns(),
        end_ns: slot.end.as_ns(),
    }));
    meta.tasks.extend(schedule.tasks.iter().map(|task| TaskMeta {
        node: task.node.0,
        name: prepared.plan().nodes[task.node.index()].tasks[usize::from(task.task)].name.clone(),
        start_ns: task.start.as_ns(),
        length_ns: task.length.as_ns(),
    }));
}

fn of_can(prepared: &Prepared<'_>, segment: SegmentId, meta: &mut RunMeta) {
    let Some(view) = Can::of(prepared.plan(), segment) else { return };
    let bits = &view.segment.bits;
    meta.bus = Some(BusMeta {
        bit_rate: bits.nominal_rate.0,
        data_bit_rate: (bits.data_rate != bits.nominal_rate).then_some(bits.data_rate.0),
    });
}

/// Frames of no stream that were handed to a segment.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Strangers {
    pub(crate) frames: u64,
    /// What they carried \[byte\].
    pub(crate) bytes: u64,
}

/// The use of a bus, from what its segment counted.
pub(crate) fn bus_row(series: &[Series], strangers: Strangers) -> BusRow {
    let total = |name: &str| {
        let found = series.iter().find(|series| series.name == name && series.window.is_none());
        found.and_then(|series| series.values.first().copied()).unwrap_or(0)
    };
    let by_window = series.iter().find(|series| series.name == "busy" && series.window.is_some());
    BusRow {
        frames: total("frames") as u64,
        failed_attempts: total("failed attempts") as u64,
        lost_arbitrations: total("lost arbitrations") as u64,
        key_frames: strangers.frames,
        key_bytes: strangers.bytes,
        busy: Duration::from_ns(total("busy")),
        window: can::LOAD_WINDOW,
        busy_by_window: by_window
            .map_or_else(Vec::new, |series| series.values.iter().map(|ns| Duration::from_ns(*ns)).collect()),
    }
}
