//! What is written of a radio segment, to what will be run.

use std::sync::Arc;

use chronoseal_core::{Angle, Duration, Gain, Length, Rate, Speed};
use chronoseal_media::radio::{LogDistance, OfdmRate, Position, Propagation};
use chronoseal_plan::{Facet, PlatformId, RadioSegment};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x_fleet::accuracy::Accuracy;
use chronoseal_v2x_fleet::generation;
use chronoseal_v2x_fleet::road::Origin;
use chronoseal_v2x_fleet::simulation::FleetConfig;

use super::spec::{AccuracySpec, CurveSpec, LogDistanceSpec, PathLossSpec, RadioSegmentSpec, SecuritySpec};
use super::{road, stations};
use crate::kinds::{Context, Place, SegmentParts, SegmentRequest};
use crate::problem::Code;
use crate::quantity::Frames;

/// Frames in an access category's queue at most.
const QUEUE_MAX: Frames = Frames(1_000);
/// No signal and no loss is beyond so much.
const GAIN_MAX: Gain = Gain(300_000);

/// A segment with its defaults filled in.
pub(super) fn resolve(request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
    let spec: RadioSegmentSpec = request.table.read(context)?;
    let at = |key| request.table.at(key);
    let rate = rate(&at("rate"), spec.rate.0, context);
    let origin = origin(request, &spec, context);
    let trips = road::trips(request, &spec, origin, context);
    let middle = road::middle(&trips);
    let policies = stations::Policies::of(request, &spec, context);
    let vehicles = at("vehicles");
    let signed = match spec.security {
        SecuritySpec::None => None,
        SecuritySpec::Signed(signed) => Some(signed),
    };
    let capture =
        spec.capture.map(|gain| context.within(&at("capture"), "the capture ratio", gain.0, Gain(0), GAIN_MAX).as_db());
    if let (Some(_), PathLossSpec::Disc(_)) = (capture, &spec.path_loss) {
        context.report_both(
            Code::ChooseOne,
            (&at("capture"), "compares powers"),
            (&at("path_loss"), "knows none"),
            "a frame cannot survive others by its power where everybody within a range is heard alike",
            "leave `capture` out, or write `path_loss = { log_distance = {} }`",
        );
    }
    let (interval_min, interval_max) = (generation::INTERVAL_MIN, generation::INTERVAL_MAX);
    let fleet = FleetConfig {
        origin,
        rate,
        propagation: propagation(&at("path_loss"), &spec.path_loss, rate, context),
        capture_db: capture.filter(|_| matches!(spec.path_loss, PathLossSpec::LogDistance(_))),
        queue_len_max: context.within(&at("queue"), "the queue", spec.queue.0, Frames(1), QUEUE_MAX).0 as usize,
        accuracy: accuracy(&vehicles.clone().key("accuracy"), &spec.vehicles.accuracy, context),
        cam_interval_min: context.within(
            &at("cam_interval"),
            "the shortest time between two CAMs",
            spec.cam_interval.0,
            interval_min,
            interval_max,
        ),
        tells_dimensions: !spec.vehicles.hide_sizes,
        posts: spec.posts.iter().map(|post| Position { x_mm: post.x.0.0, y_mm: post.y.0.0 }).collect(),
        signs: signed.map(|signed| curve(signed.curve)),
        asks_for_certificates: signed.is_some_and(|signed| signed.asks),
        wait_max: context.within(
            &at("wait_max"),
            "the wait for a processor",
            spec.wait_max.0,
            Duration::ZERO,
            Duration::from_s(10),
        ),
        seed: context.seed(),
        ..FleetConfig::new(
            Arc::clone(&trips),
            policies.policy(vehicles.clone().key("pseudonyms"), &spec.vehicles.pseudonyms, context),
        )
    };
    let brought = (0..trips.trips.len()).map(|index| format!("{}-{index}", request.name));
    let posts = (0..spec.posts.len()).map(|index| format!("{}-post-{index}", request.name));
    let platform = spec.vehicles.platform.as_ref().map_or(PlatformId(0), |name| {
        let place = vehicles.clone().key("platform");
        context.platform(name, &place)
    });
    let stations = stations::resolve(request, &policies, middle, context);
    let facet = Facet::new(RadioSegment { fleet: Arc::new(fleet), stations, middle });
    Some(SegmentParts {
        brought: brought.chain(posts).collect(),
        brought_platform: platform,
        ..SegmentParts::new(facet)
    })
}

fn rate(at: &Place<'_>, written: Rate, context: &mut Context<'_>) -> OfdmRate {
    let found = OfdmRate::ALL.into_iter().find(|rate| rate.rate() == written);
    found.unwrap_or_else(|| {
        let all: Vec<String> = OfdmRate::ALL.iter().map(|rate| format!("\"{}\"", rate.rate())).collect();
        context.report(
            Code::OutOfRange,
            at,
            format!("no modulation of ITS-G5 carries {written}"),
            "no such rate",
            format!("write one of {}", all.join(", ")),
        );
        OfdmRate::default()
    })
}

fn origin(request: &SegmentRequest<'_>, spec: &RadioSegmentSpec, context: &mut Context<'_>) -> Origin {
    let at = request.table.at("origin");
    let mut within = |key, what: &str, value: Angle, max_deg: i64| {
        let max = max_deg * 1_000_000_000;
        context.within(&at.clone().key(key), what, value, Angle(-max), Angle(max)).as_deg()
    };
    Origin {
        latitude_deg: within("latitude", "the latitude", spec.origin.latitude.0, 89),
        longitude_deg: within("longitude", "the longitude", spec.origin.longitude.0, 179),
    }
}

fn propagation(at: &Place<'_>, spec: &PathLossSpec, rate: OfdmRate, context: &mut Context<'_>) -> Propagation {
    let spec = match spec {
        PathLossSpec::Disc(disc) => {
            let place = at.clone().key("disc").key("range");
            let range = context.within(&place, "the range", disc.range.0, Length(1_000), Length(100_000_000));
            return Propagation::Disc { range_mm: range.0.unsigned_abs() };
        }
        PathLossSpec::LogDistance(spec) => spec,
    };
    let at = at.clone().key("log_distance");
    let LogDistanceSpec { exponent, fading, power, reference_loss, carrier_sense, sensitivity } = spec;
    let usual = LogDistance::new(2.3, rate);
    let exponent = match (0.5..=10.0).contains(exponent) {
        true => *exponent,
        false => {
            context.report(
                Code::OutOfRange,
                &at.clone().key("exponent"),
                format!("the exponent is {exponent}"),
                "out of range",
                "write a value from 0.5 to 10; 2 is free space",
            );
            usual.exponent
        }
    };
    let mut within = |key, what: &str, value: Option<Gain>, usual_db: f64| {
        let least = Gain(-GAIN_MAX.0);
        value.map_or(usual_db, |gain| context.within(&at.clone().key(key), what, gain, least, GAIN_MAX).as_db())
    };
    let mut model = LogDistance {
        tx_power_dbm: within("power", "the power", Some(power.0), usual.tx_power_dbm),
        reference_loss_db: within(
            "reference_loss",
            "the loss",
            reference_loss.map(|loss| loss.0),
            usual.reference_loss_db,
        ),
        carrier_sense_dbm: within(
            "carrier_sense",
            "the threshold",
            carrier_sense.map(|power| power.0),
            usual.carrier_sense_dbm,
        ),
        sensitivity_dbm: within(
            "sensitivity",
            "the threshold",
            sensitivity.map(|power| power.0),
            usual.sensitivity_dbm,
        ),
        exponent,
        nakagami_m: (*fading > 0).then_some((*fading).min(16)),
    };
    if model.carrier_sense_dbm > model.sensitivity_dbm {
        context.report(
            Code::OutOfRange,
            &at,
            format!(
                "a frame of {} dBm would be decoded and not heard, as the threshold of hearing is {} dBm",
                model.sensitivity_dbm, model.carrier_sense_dbm
            ),
            "contradict each other",
            "write a `carrier_sense` at or below `sensitivity`",
        );
        model.carrier_sense_dbm = model.sensitivity_dbm;
    }
    Propagation::LogDistance(model)
}

fn accuracy(at: &Place<'_>, spec: &AccuracySpec, context: &mut Context<'_>) -> Accuracy {
    let place = |key| at.clone().key(key);
    let (km, fast, half_turn) = (Length(1_000_000), Speed(100 * 3_600_000), Angle(180_000_000_000));
    Accuracy {
        position_m: context.within(&place("position"), "the error of the place", spec.position.0, Length(0), km).as_m(),
        speed_m_s: context.within(&place("speed"), "the error of the speed", spec.speed.0, Speed(0), fast).as_m_s(),
        heading_deg: context
            .within(&place("heading"), "the error of the direction", spec.heading.0, Angle(0), half_turn)
            .as_deg(),
    }
}

const fn curve(spec: CurveSpec) -> Curve {
    match spec {
        CurveSpec::NistP256 => Curve::NistP256,
        CurveSpec::NistP384 => Curve::NistP384,
        CurveSpec::BrainpoolP256r1 => Curve::BrainpoolP256r1,
        CurveSpec::BrainpoolP384r1 => Curve::BrainpoolP384r1,
    }
}
