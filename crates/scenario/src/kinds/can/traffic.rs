//! Recorded traffic of a bus.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_plan::{Can, CanHop, CanRecording, CanSegment, Facet, PayloadPlan, Plan, SegmentId};
use chronoseal_recordings::Recording;
use chronoseal_wire::can::{CanId, FrameKind};

use crate::kinds::{Context, Place, TrafficParts, TrafficRequest, replay_length};
use crate::limits::REPLAY_MIN;
use crate::problem::Code;
use crate::shape::shortened;

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
        Ok(recording) if !recording.frames.is_empty() && several(&recording).is_none() => {
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
            let frames: Vec<_> = frames.map(|frame| (Duration::from_ns(frame.at_ns as i64), frame.frame)).collect();
            if let Some(length) = replay_length(frames.last().map(|(at, _)| *at), frames.len(), request.every) {
                let (source, start) = (source.to_owned(), request.start);
                return Some(parts(CanRecording { source, frames, length, start }));
            }
            let what = match frames.len() {
                1 => format!("{source} has one frame, and nothing says how often it comes"),
                count => format!(
                    "the {count} frames of {source} were recorded within less than {REPLAY_MIN}, so nothing says how often they come"
                ),
            };
            (
                what,
                "no time to play",
                "record for longer, with the time of each frame, or write a stream with its `period`",
            )
        }
        Ok(recording) => match several(&recording) {
            Some(channels) => (
                format!("{source} has frames of {channels}, and one bus is played here"),
                "several buses",
                "cut it to the frames of one channel",
            ),
            None => (format!("{source} has no frame in it"), "empty", "name a recording with at least one frame"),
        },
        Err(error) => (format!("{source}: {error}"), "cannot be used", "mend the file or cut it before that place"),
    };
    context.report(Code::BadRecording, &request.at, message, label, help);
    None
}

/// The channels that have frames, if there are several.
fn several(recording: &Recording) -> Option<String> {
    let used: BTreeSet<u16> = recording.frames.iter().map(|frame| frame.channel).collect();
    let names: Vec<String> = used
        .iter()
        .filter_map(|channel| Some(format!("`{}`", shortened(recording.channels.get(usize::from(*channel))?))))
        .collect();
    (used.len() > 1).then(|| format!("{} channels, {}", names.len(), names.join(", ")))
}

/// The identifiers that occur in a recording.
pub(super) fn identifiers(hop: &Facet) -> Vec<CanId> {
    let Some(CanHop::Recording(recording)) = hop.get() else { return Vec::new() };
    let ids: BTreeSet<CanId> = recording.frames.iter().map(|(_, frame)| frame.id()).collect();
    ids.into_iter().collect()
}

/// Refuses recordings with frames of an identifier that a stream has on a bus to which they come, by themselves or over gateways.
pub(super) fn check(plan: &Plan, segment: SegmentId, context: &mut Context<'_>) {
    let Some(view) = Can::of(plan, segment) else { return };
    let own = view.streams().flat_map(|(_, stream, _, facet)| facet.identifiers().map(|id| (id, &stream.name)));
    let taken: BTreeMap<CanId, &String> = own.collect();
    let bridged = view.bridged();
    let local = view.recordings().map(|(id, _, recording)| (id, recording));
    for (id, recording) in local.chain(bridged.iter().map(|(id, recording)| (*id, recording))) {
        let mut frames = recording.frames.iter().map(|(_, frame)| frame.id());
        let Some((can_id, stream)) = frames.find_map(|id| Some((id, *taken.get(&id)?))) else { continue };
        let name = &plan.streams[id.index()].name;
        let Some(i) = context.spec().recordings.iter().position(|recording| recording.name == *name) else { continue };
        context.report(
            Code::BadCanId,
            &Place::new("recordings").entry(i).key("traffic"),
            format!(
                "the recording has frames with the identifier {:#05X}, which stream `{}` has on `{}`",
                can_id.raw(),
                shortened(stream),
                plan.segments[segment.index()].name
            ),
            "has frames of a stream",
            format!(
                "two senders of one identifier destroy each other's frames: give `{}` another identifier there, or leave those frames out of \
                 the recording",
                shortened(stream)
            ),
        );
    }
}

fn parts(recording: CanRecording) -> TrafficParts {
    let longest = recording.frames.iter().map(|(_, frame)| frame.data().len() as u32).max().unwrap_or(0);
    TrafficParts {
        frame_len: longest,
        message_len: longest,
        class: "recording",
        length: recording.length,
        facet: Facet::new(CanHop::Recording(recording)),
        payload: PayloadPlan::Synthetic,
    }
}
