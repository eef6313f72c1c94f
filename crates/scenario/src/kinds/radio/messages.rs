//! Streams on a radio segment: CAMs, DENMs, CPMs and VAMs.

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Duration, Length, LocalTime, SimTime};
use chronoseal_media::radio::psdu_len;
use chronoseal_nodes::gateway::SEQUENCE_LEN;
use chronoseal_plan::{Facet, ProtectionKind, RadioHop, RadioSegment};
use chronoseal_v2x_fleet::generation;
use chronoseal_v2x_fleet::road::Trips;
use chronoseal_v2x_fleet::simulation::Perceives;
use chronoseal_v2x_fleet::station::{
    Hazard, MessageKind, RoadUser, STATIONARY_VEHICLE, VAM_INTERVAL_MAX, frame_len_max, message_len_max,
};
use chronoseal_wire::its::VruProfile;

use super::spec::{MessageSpec, RadioStreamSpec, RoadUserSpec};
use crate::kinds::{Context, HopParts, HopRequest, OnSegment, OwnMessage, Room, Segment, Table};
use crate::limits::DURATION_MAX;
use crate::problem::Code;
use crate::shape::shortened;

/// When a hazard is noticed if nothing is said.
const NOTICED_AT: Duration = Duration::from_s(1);
/// How far sensors see if nothing is said, and how far a CPM can say that they do.
const SENSOR_RANGE: Length = Length(100_000);
const SENSOR_RANGE_MAX: Length = Length(400_000);
/// Vehicles that notice a hazard are drawn from these streams.
const HAZARD_STREAMS: u64 = 1 << 40;

const fn kind(spec: MessageSpec) -> MessageKind {
    match spec {
        MessageSpec::Cam => MessageKind::Cam,
        MessageSpec::Denm => MessageKind::Denm,
        MessageSpec::Cpm => MessageKind::Cpm,
        MessageSpec::Vam => MessageKind::Vam,
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
    let perceives = (message == MessageKind::Cpm).then(|| perceives(request, &spec, context));
    let road_user = (message == MessageKind::Vam).then(|| road_user(request, &spec, is_of_road, context));
    let vehicle = hazard.filter(|_| is_of_road).map(|hazard| witness(request, &radio.fleet.trips, &hazard, context));
    let frame_len = frame_len_max(message, radio.fleet.signs, 0) as u32;
    Some(HopParts {
        frame_len,
        class: message.name(),
        facet: Facet::new(RadioHop { message, hazard, vehicle, perceives, road_user }),
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
    let keys = [
        ("at", spec.at.is_some(), MessageKind::Denm, "what happens on the road"),
        ("cause", spec.cause.is_some(), MessageKind::Denm, "what happens on the road"),
        ("range", spec.range.is_some(), MessageKind::Cpm, "what sensors see"),
        ("profile", spec.profile.is_some(), MessageKind::Vam, "vulnerable road users"),
    ];
    let sent = kind(spec.message);
    for (key, _, of, what) in keys.into_iter().filter(|(_, is_written, of, _)| *is_written && *of != sent) {
        context.report(
            Code::SegmentTable,
            &request.table.at(key),
            format!("stream `{name}` sends {}s, and `{key}` is for {what}", sent.name().to_uppercase()),
            "of another kind of message",
            format!("leave it out, or write `message = \"{}\"`", of.name()),
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

/// What the senders of a CPM see, and how often they may tell of it.
fn perceives(request: &HopRequest<'_>, spec: &RadioStreamSpec, context: &mut Context<'_>) -> Perceives {
    let every = context.within(
        &request.stream.at("period"),
        "the shortest time between two CPMs",
        request.stream.period,
        generation::INTERVAL_MIN,
        generation::INTERVAL_MAX,
    );
    let range = spec.range.map_or(SENSOR_RANGE, |range| {
        context.within(&request.table.at("range"), "the range of sensors", range.0, Length(1_000), SENSOR_RANGE_MAX)
    });
    Perceives { range_mm: range.0.unsigned_abs(), every }
}

/// Who sends VAMs: a station of the scenario, as whoever drives on the road is none of them.
fn road_user(
    request: &HopRequest<'_>,
    spec: &RadioStreamSpec,
    is_of_road: bool,
    context: &mut Context<'_>,
) -> RoadUser {
    if is_of_road {
        let (name, segment) = (shortened(&request.stream.spec.name), &request.segment.name);
        context.report(
            Code::NotYet,
            &request.stream.at("from"),
            format!("stream `{name}` sends VAMs, and vehicles of `{segment}` are no vulnerable road users"),
            "these are vehicles",
            "write the name of a station that goes on foot or rides, such as one with `station = { speed = \"1.4m/s\" }`",
        );
    }
    let every = context.within(
        &request.stream.at("period"),
        "the shortest time between two VAMs",
        request.stream.period,
        generation::INTERVAL_MIN,
        VAM_INTERVAL_MAX,
    );
    let profile = match spec.profile.unwrap_or(RoadUserSpec::Pedestrian) {
        RoadUserSpec::Pedestrian => VruProfile::Pedestrian(1),
        RoadUserSpec::Bicyclist => VruProfile::Bicyclist(1),
        RoadUserSpec::Motorcyclist => VruProfile::Motorcyclist(2),
    };
    RoadUser { profile, every }
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

/// Tickets of a segment permit CPMs and VAMs if there are some, and are longer then, whatever is signed under them.
fn permit_further(segment: &Segment<'_>, streams: &mut [OnSegment<'_>]) {
    let Some(radio) = segment.facet::<RadioSegment>() else { return };
    let sent = |streams: &[OnSegment<'_>], kind| {
        streams.iter().any(|stream| stream.hop.facet.get::<RadioHop>().is_some_and(|facet| facet.message == kind))
    };
    let permits = [MessageKind::Cpm, MessageKind::Vam].into_iter().filter(|kind| sent(streams, *kind)).count();
    for stream in streams {
        if let Some(facet) = stream.hop.facet.get::<RadioHop>() {
            stream.hop.frame_len = frame_len_max(facet.message, radio.fleet.signs, permits) as u32;
        }
    }
}

/// A frame on the air shows what kind of message it is, and not whose: a segment has one stream of each kind.
pub(super) fn check(segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
    permit_further(segment, streams);
    for message in MessageKind::ALL {
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
