//! Who drives on the road of a radio segment.

use std::borrow::Cow;
use std::sync::Arc;

use chronoseal_core::{Duration, Flow, Length, Percent, SimTime, Speed};
use chronoseal_media::radio::Position;
use chronoseal_recordings::GzipError;
use chronoseal_v2x_fleet::road::highway::{Highway, STEP};
use chronoseal_v2x_fleet::road::sumo::{self, Coordinates};
use chronoseal_v2x_fleet::road::{Origin, State, Trips};

use super::spec::{HighwaySpec, RadioSegmentSpec, RoadSpec};
use crate::kinds::{Context, Place, SegmentRequest};
use crate::limits::{DURATION_MAX, RECORDING_LEN_MAX, STATIONS_MAX};
use crate::problem::Code;

/// Nobody.
fn empty() -> Trips {
    Trips { trips: Vec::new(), step: STEP, ends_at: SimTime::ZERO }
}

/// The trips of a segment's road; nobody's where there is none, or where it cannot be used.
pub(super) fn trips(
    request: &SegmentRequest<'_>,
    spec: &RadioSegmentSpec,
    origin: Origin,
    context: &mut Context<'_>,
) -> Arc<Trips> {
    let at = request.table.at("road");
    let trips = match &spec.road {
        None => empty(),
        Some(RoadSpec::Highway(highway)) => self::highway(at.clone().key("highway"), highway, context),
        Some(RoadSpec::Sumo(path)) => {
            let coordinates = if spec.geographic { Coordinates::Geographic(origin) } else { Coordinates::Plane };
            trace(request, at.clone().key("sumo"), path, coordinates, context)
        }
    };
    if trips.trips.len() > STATIONS_MAX as usize {
        context.report(
            Code::TooMany,
            &at,
            format!("{} vehicles drive there", trips.trips.len()),
            "too many",
            format!("at most {STATIONS_MAX} are possible: write a shorter road, less traffic or a shorter run"),
        );
        return Arc::new(empty());
    }
    Arc::new(trips)
}

fn highway(at: Place<'_>, spec: &HighwaySpec, context: &mut Context<'_>) -> Trips {
    let place = |key| at.clone().key(key);
    let (metre, hundred_km) = (Length(1_000), Length(100_000_000));
    let length =
        context.within(&place("length"), "the highway's length", spec.length.0, Length(100 * metre.0), hundred_km);
    let (slow, fast) = (Speed(5 * 3_600_000), Speed(70 * 3_600_000));
    let speed = context.within(&place("speed"), "the speed", spec.speed.0, slow, fast);
    let trucks = context.within(&place("trucks"), "the share of trucks", spec.trucks.0, Percent(0), Percent(10_000));
    let warm_up =
        context.within(&place("warm_up"), "the time before the run", spec.warm_up.0, Duration::ZERO, DURATION_MAX);
    let run = context.spec().duration.0.clamp(STEP, DURATION_MAX);
    let duration = spec.duration.map_or(run, |written| {
        context.within(&place("duration"), "the time with traffic", written.0, STEP, DURATION_MAX)
    });
    let ways = f64::from(spec.lanes) * if spec.two_way { 2.0 } else { 1.0 };
    let flow = flow(&at, spec, length.as_m() * ways / speed.as_m_s(), context);
    let highway = Highway {
        length_m: length.as_m(),
        lanes: spec.lanes.clamp(1, 8) as usize,
        is_two_way: spec.two_way,
        flow_per_lane_per_h: flow,
        truck_share: trucks.0 as f64 / 10_000.0,
        desired_speed_m_s: speed.as_m_s(),
        duration,
        warm_up,
        seed: context.seed(),
        ..Highway::default()
    };
    highway.drive().unwrap_or_else(|error| {
        context.report(Code::OutOfRange, &at, error.to_string(), "no such road", "write another value");
        empty()
    })
}

/// Vehicles that enter each lane in an hour. `lane_s` is what a vehicle takes on the road, times its lanes `[s]`.
fn flow(at: &Place<'_>, spec: &HighwaySpec, lane_s: f64, context: &mut Context<'_>) -> f64 {
    let (min, max) = (Flow(1_000), Flow(2_400_000));
    match (spec.flow, spec.vehicles) {
        (Some(flow), None) => {
            context.within(&at.clone().key("flow"), "the vehicles entering a lane", flow.0, min, max).per_h()
        }
        (None, None) => 1_000.0,
        (None, Some(vehicles)) => {
            let flow = f64::from(vehicles) * 3_600.0 / lane_s;
            if !(min.per_h()..=max.per_h()).contains(&flow) {
                let most = max.per_h() * lane_s / 3_600.0;
                let place = at.clone().key("vehicles");
                let help = format!("write at most {most:.0}, a longer road, or more lanes");
                context.report(
                    Code::OutOfRange,
                    &place,
                    format!("{vehicles} vehicles at a time are {flow:.0} an hour and lane"),
                    "no such traffic",
                    help,
                );
            }
            flow.clamp(min.per_h(), max.per_h())
        }
        (Some(_), Some(_)) => {
            context.report_both(
                Code::ChooseOne,
                (&at.clone().key("vehicles"), "at a time"),
                (&at.clone().key("flow"), "in an hour"),
                "the road says in two ways how many drive on it",
                "keep one of them",
            );
            1_000.0
        }
    }
}

fn trace(
    request: &SegmentRequest<'_>,
    at: Place<'_>,
    path: &str,
    coordinates: Coordinates,
    context: &mut Context<'_>,
) -> Trips {
    let unpacked = |bytes: Vec<u8>| match chronoseal_recordings::unpacked_within(&bytes, RECORDING_LEN_MAX)? {
        Cow::Borrowed(_) => Ok(bytes),
        Cow::Owned(unpacked) => Ok::<_, GzipError>(unpacked),
    };
    let read = request.files.read(path).map(unpacked);
    let (message, label, help) = match read {
        Err(why) => (format!("{path}: {why}"), "cannot be read", "name a file beside the scenario".to_owned()),
        Ok(Err(error)) => (format!("{path}: {error}"), "cannot be unpacked", "name a trace that is whole".to_owned()),
        Ok(Ok(bytes)) if bytes.len() > RECORDING_LEN_MAX => (
            format!("{path} has {} bytes; at most {RECORDING_LEN_MAX} are read", bytes.len()),
            "too long",
            "record a shorter time, or in longer steps".to_owned(),
        ),
        Ok(Ok(bytes)) => match std::str::from_utf8(&bytes).map(|text| sumo::read(text, coordinates)) {
            Ok(Ok(trips)) => return trips,
            Ok(Err(error)) => (
                format!("{path}:{}: {}", error.line, error.kind),
                "no trace",
                "a trace is what `sumo --fcd-output FILE` writes; with `--fcd-output.geo` write `geographic = true` and an \
                 `origin` near its middle"
                    .to_owned(),
            ),
            Err(_) => (format!("{path} is no UTF-8 text"), "no trace", "name what `sumo --fcd-output` wrote".to_owned()),
        },
    };
    context.report(Code::BadRecording, &at, message, label, help);
    empty()
}

/// The middle of all places that vehicles come by.
pub(super) fn middle(trips: &Trips) -> Position {
    let states = || trips.trips.iter().flat_map(|trip| trip.states());
    let middle_of = |axis: fn(&State) -> f64| {
        let (low, high) =
            states().map(axis).fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low <= high { ((low + high) * 500.0).round() as i64 } else { 0 }
    };
    Position { x_mm: middle_of(|state| state.x_m), y_mm: middle_of(|state| state.y_m) }
}
