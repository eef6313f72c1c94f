//! Recorded traffic of a bus.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_wire::can::{CanId, FrameKind};

use super::plan::{CanHop, CanRecording, CanSegment};
use crate::kinds::{Context, TrafficParts, TrafficRequest};
use crate::plan::Facet;
use crate::problem::Code;

/// Recordings of whole buses; `car-synthetic` is none and stands for one that cannot be kept.
pub(super) const BUILTIN: &[(&str, &[u8])] = &[
    ("car-busmaster", include_bytes!("../../../../../data/can/car_busmaster.log")),
    ("vessel-bus", include_bytes!("../../../../../data/can/vessel_bus.log")),
    ("car-synthetic", include_bytes!("../../../../../data/can/car_synthetic.log")),
];

/// A recording, read and checked against the segment.
pub(super) fn resolve(request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
    let segment: &CanSegment = request.segment.facet()?;
    let source = request.source;
    let (message, label, help) = match chronoseal_recordings::read(request.bytes) {
        Ok(recording) if !recording.frames.is_empty() => {
            let switches = |kind: FrameKind| matches!(kind, FrameKind::Fd { brs: true, .. });
            if !segment.has_data_phase && recording.frames.iter().any(|frame| switches(frame.frame.kind())) {
                context.report(
                    Code::BadBitTiming,
                    &request.at,
                    format!(
                        "{source} has frames with bit-rate switch, and `{}` has one bit rate",
                        request.segment.name
                    ),
                    "nothing to switch to",
                    "add `data_bit_rate` to the segment",
                );
            }
            let frames = recording.frames.iter();
            let frames = frames.map(|frame| (Duration::from_ns(frame.at_ns as i64), frame.frame)).collect();
            return Some(parts(CanRecording {
                source: source.to_owned(),
                frames,
                length: Duration::ZERO,
                start: request.start,
            }));
        }
        Ok(_) => (format!("{source} has no frame in it"), "empty", "name a recording with at least one frame"),
        Err(error) => (format!("{source}: {error}"), "cannot be used", "mend the file or cut it before that place"),
    };
    context.report(Code::BadRecording, &request.at, message, label, help);
    None
}

/// The identifiers that occur in a recording.
pub(super) fn identifiers(hop: &Facet) -> Vec<CanId> {
    let Some(CanHop::Recording(recording)) = hop.get() else { return Vec::new() };
    let ids: BTreeSet<CanId> = recording.frames.iter().map(|(_, frame)| frame.id()).collect();
    ids.into_iter().collect()
}

fn parts(mut recording: CanRecording) -> TrafficParts {
    // After its last frame comes its usual gap.
    let last = recording.frames.last().map_or(Duration::ZERO, |(at, _)| *at);
    let gap = last / (recording.frames.len().saturating_sub(1)).max(1) as i64;
    recording.length = (last + gap).max(Duration::from_ms(1));
    TrafficParts {
        frame_len: recording.frames.iter().map(|(_, frame)| frame.data().len() as u32).max().unwrap_or(0),
        class: "recording",
        length: recording.length,
        facet: Facet::new(CanHop::Recording(recording)),
    }
}
