//! Streams on a radio segment: CAMs and DENMs.

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Duration, LocalTime, SimTime};
use chronoseal_media::radio::psdu_len;
use chronoseal_nodes::gateway::SEQUENCE_LEN;
use chronoseal_plan::{Facet, ProtectionKind, RadioHop, RadioSegment};
use chronoseal_v2x_fleet::generation;
use chronoseal_v2x_fleet::road::Trips;
use chronoseal_v2x_fleet::station::{Hazard, MessageKind, STATIONARY_VEHICLE, frame_len_max, message_len_max};

use super::spec::{MessageSpec, RadioStreamSpec};
use crate::kinds::{Context, HopParts, HopRequest, OnSegment, OwnMessage, Room, Segment, Table};
use crate::limits::DURATION_MAX;
use crate::problem::Code;
use crate::shape::shortened;

/// When a hazard is noticed if nothing is said.
const NOTICED_AT: Duration = Duration::from_s(1);
/// Vehicles that notice a hazard are drawn from these streams.
const HAZARD_STREAMS: u64 = 1 << 40;

const fn kind(spec: MessageSpec) -> MessageKind {
    match spec {
        MessageSpec::Cam => MessageKind::Cam,
        MessageSpec::Denm => MessageKind::Denm,
    }
}

/// What a stream that begins on the segment is by itself: its length, and of a CAM the least distance of two.
pub(super) fn own(segment: &Segment<'_>, table: &Table<'_>, context: &mut Context<'_>) -> Option<OwnMessage> {
    let spec: RadioStreamSpec = table.is_written().then(|| table.read(context))??;
    let radio: &RadioSegment = segment.facet()?;
    let message = kind(spec.message);
    Some(OwnMessage {
        payload_len: (SEQUENCE_LEN + message_len_max(message)) as u32,
        distance: (message == MessageKind::Cam).then_some(radio.fleet.cam_interval_min),
    })
}

/// A stream's way over the segment.
pub(super) fn hop(request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
    let spec: RadioStreamSpec = request.table.read(context)?;
    let radio: &RadioSegment = request.segment.facet()?;
    let message = kind(spec.message);
    not_possible(request, &spec, context);
    let hazard = (message == MessageKind::Denm).then(|| {
        let at = spec.at.map_or(NOTICED_AT, |written| {
            context.within(&request.table.at("at"), "the time it is noticed", written.0, Duration::ZERO, DURATION_MAX)
        });
        let every = request.stream.period.max(generation::INTERVAL_MIN);
        Hazard { at: LocalTime::ZERO + at, every, cause_code: spec.cause.unwrap_or(STATIONARY_VEHICLE) }
    });
    let is_of_road = request.stream.spec.from == request.segment.name;
    let vehicle = hazard.filter(|_| is_of_road).map(|hazard| witness(request, &radio.fleet.trips, &hazard, context));
    let frame_len = frame_len_max(message, radio.fleet.signs) as u32;
    Some(HopParts {
        frame_len,
        class: message.name(),
        facet: Facet::new(RadioHop { message, hazard, vehicle }),
        has_slots: false,
        room: Room { bytes: frame_len, frame: "a message of this kind", other_way: String::new() },
        // Preamble and one symbol; how long a message is shows when it is made.
        wire_time: radio.fleet.rate.airtime(psdu_len(0)),
    })
}

fn not_possible(request: &HopRequest<'_>, spec: &RadioStreamSpec, context: &mut Context<'_>) {
    let (stream, name) = (request.stream, shortened(&request.stream.spec.name));
    if !request.is_first {
        context.report(
            Code::NotYet,
            &stream.at("to"),
            format!(
                "stream `{name}` would go on over `{}`, and stations only send messages of their own yet",
                request.segment.name
            ),
            "not there yet",
            "let a stream begin on the radio segment",
        );
    }
    if !matches!(request.protection.kind, ProtectionKind::None) {
        context.report(
            Code::NotYet,
            &request.protection_at,
            format!(
                "messages on `{}` are secured as the segment says, and not by `{}`",
                request.segment.name, request.protection.name
            ),
            "not on radio",
            "leave `protection` out; `security` of the segment says how its messages are secured",
        );
    }
    for (key, _) in [("at", spec.at.is_some()), ("cause", spec.cause.is_some())]
        .into_iter()
        .filter(|(_, is_written)| *is_written && spec.message == MessageSpec::Cam)
    {
        context.report(
            Code::SegmentTable,
            &request.table.at(key),
            format!("stream `{name}` sends CAMs, and `{key}` is for what happens on the road"),
            "of a DENM",
            "leave it out, or write `message = \"denm\"`",
        );
    }
    if stream.spec.count.is_some_and(|count| count > 1) {
        context.report(
            Code::TooMany,
            &stream.at("count"),
            format!("stream `{name}` is several at once, and a radio segment has one stream of each kind of message"),
            "more than one",
            "leave `count` out: every station that sends such messages is part of the stream",
        );
    }
}

/// The vehicle that notices a hazard: one of those on the road then, drawn from the seed.
fn witness(request: &HopRequest<'_>, trips: &Trips, hazard: &Hazard, context: &mut Context<'_>) -> usize {
    let at = SimTime::from_ps(hazard.at.as_ps());
    let is_there = |(index, trip): (usize, &chronoseal_v2x_fleet::road::Trip)| {
        (trip.state_at(at, trips.step).is_some() && trip.state_at(at + Duration::from_s(1), trips.step).is_some())
            .then_some(index)
    };
    let there: Vec<usize> = trips.trips.iter().enumerate().filter_map(is_there).collect();
    if there.is_empty() {
        context.report(
            Code::NoReceivers,
            &request.table.at("at"),
            format!("nobody is on the road at {}", hazard.at.since_zero()),
            "nobody notices it",
            "write another time, or more traffic",
        );
        return 0;
    }
    let mut rng = random::stream(context.seed(), Purpose::Phase, HAZARD_STREAMS + request.stream.entry as u64);
    there[uniform_i64(&mut rng, 0, there.len() as i64 - 1) as usize]
}

/// A frame on the air shows what kind of message it is, and not whose: a segment has one stream of each kind.
pub(super) fn check(segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
    for message in [MessageKind::Cam, MessageKind::Denm] {
        let is_it = |stream: &&OnSegment<'_>| {
            stream.number == 0 && stream.hop.facet.get::<RadioHop>().is_some_and(|facet| facet.message == message)
        };
        let mut of_kind = streams.iter().filter(is_it);
        let Some(first) = of_kind.next() else { continue };
        for second in of_kind {
            context.report_both(
                Code::TooMany,
                (&second.at(segment, "message"), "again here"),
                (&first.at(segment, "message"), "first here"),
                format!("`{}` has two streams of {}s", segment.name, message.name()),
                format!("write one stream; `from = \"{}\"` lets every vehicle of the road send it", segment.name),
            );
        }
    }
}
