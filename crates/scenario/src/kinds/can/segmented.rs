//! Streams that are sent in several frames each (ISO 15765-2).

use chronoseal_core::Duration;
use chronoseal_plan::{CanSegment, SegmentedPlan};
use chronoseal_wire::can::iso_tp::{SeparationTime, WireTimes};
use chronoseal_wire::can::{CanId, FrameKind};

use super::messages::{can_id, wire_time as frame_time};
use super::spec::{CanStreamSpec, SegmentedSpec};
use crate::kinds::{Context, HopRequest, OnSegment, Room, Segment};
use crate::limits::{PERIOD_MIN, SEGMENTED_LEN_MAX, SEGMENTED_WAIT_MAX};
use crate::problem::Code;
use crate::shape::shortened;

/// The key of the identifier of flow control frames, within `segmented`.
pub(super) const KEY: &str = "flow_control";

/// How a stream is cut into frames, checked. `None` if its spans cannot be used, which has been reported then.
pub(super) fn resolve(
    request: &HopRequest<'_>,
    stream: &CanStreamSpec,
    spec: &SegmentedSpec,
    context: &mut Context<'_>,
) -> Option<SegmentedPlan> {
    let at = |key: &'static str| request.table.at("segmented").key(key);
    let flow_control = can_id(&at(KEY), &spec.flow_control, stream.extended, context);
    let mut wait = |key: &'static str, what: &str, span: Duration| {
        context.within(&at(key), what, span, PERIOD_MIN, SEGMENTED_WAIT_MAX)
    };
    let n_bs = wait("n_bs", "N_Bs", spec.n_bs.0);
    let n_cr = wait("n_cr", "N_Cr", spec.n_cr.0);
    let written = spec.st_min.0;
    let nearest = SeparationTime::at_least(written).unwrap_or(SeparationTime::MAX);
    if nearest.duration() != written {
        context.report(
            Code::OutOfRange,
            &at("st_min"),
            format!("STmin is {written}, which no flow control frame can say"),
            "cannot be said",
            format!("write `st_min = \"{}\"`", nearest.duration()),
        );
    }
    Some(SegmentedPlan { flow_control, block_size: spec.block_size, separation_time: nearest, n_bs, n_cr })
}

/// What a segmented message has room for.
pub(super) fn room() -> Room {
    Room { bytes: SEGMENTED_LEN_MAX, frame: "a segmented message", other_way: String::new() }
}

/// What a message of `len` bytes takes at least, with flow control and without a stuff bit.
pub(super) fn wire_time(segment: &CanSegment, id: CanId, kind: FrameKind, plan: &SegmentedPlan, len: u32) -> Duration {
    let segments = SegmentedPlan::segments(kind, len);
    let wire = WireTimes {
        full: frame_time(segment, id, kind, segments.full_len()),
        last: frame_time(segment, id, kind, segments.last_len()),
        flow_control: frame_time(segment, plan.flow_control, kind, SegmentedPlan::format(kind).flow_control_len()),
    };
    segments.duration_min(plan.block_size, plan.separation_time, &wire)
}

/// Refuses a segmented stream with several receivers on one segment.
pub(super) fn several_receivers(segment: &Segment<'_>, stream: &OnSegment<'_>, context: &mut Context<'_>) {
    context.report_both(
        Code::SegmentedToMany,
        (&stream.at(segment, "segmented"), "for one receiver"),
        (&crate::kinds::Place::new("streams").entry(stream.entry).key("to"), "received here"),
        format!(
            "stream `{}` has {} receivers on `{}`, and ISO 15765-2 sends several frames to one alone: the answers of \
             several would contradict each other, and functional addressing is for single frames",
            shortened(stream.name),
            stream.hop.to.len(),
            segment.name
        ),
        "write a stream for each receiver, or leave `segmented` out if a frame has room for it",
    );
}
