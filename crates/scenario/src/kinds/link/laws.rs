//! What a link does to packets, from what is written of it.

use std::str::FromStr;

use chronoseal_core::{Duration, Percent, Rate};
use chronoseal_media::link::{DelayLaw, LinkLaws, Loss, Order, QUEUE_MAX, Shaper};

use super::spec::{DelaySpec, LinkSegmentSpec, LossSpec, OrderSpec, ProfileSpec, ShaperSpec};
use crate::kinds::{Context, Place, SegmentRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::quantity::{Frames, Quantity};

/// Packets that may wait unless a scenario says otherwise, as in NetEm.
const QUEUE: u32 = 1_000;

/// All of a channel `[10^-4]`.
const WHOLE: Percent = Percent(10_000);

/// The laws of a link, and the name of the profile they began with.
pub(super) fn resolve(
    request: &SegmentRequest<'_>,
    spec: &LinkSegmentSpec,
    context: &mut Context<'_>,
) -> Option<(Option<&'static str>, LinkLaws)> {
    let (name, mut laws) = profile(spec.profile);
    let at = |key| request.table.at(key);
    if let Some(Quantity(rate)) = spec.rate {
        laws.rate = Some(context.within(&at("rate"), "the rate", rate, RATE_MIN, RATE_MAX));
    }
    laws.shaper = shaper(request, spec, laws.rate, context);
    laws.queue = match (spec.queue, laws.shaper) {
        (Some(Quantity(queue)), Shaper::Behind) => {
            context.within(&at("queue"), "the queue", queue, Frames(1), Frames(QUEUE_MAX)).0
        }
        (None, Shaper::Behind) => QUEUE,
        (_, Shaper::Sender) => QUEUE_MAX,
    };
    if let Some(delay) = &spec.delay {
        laws.delay = self::delay(request, at("delay"), delay, context)?;
    }
    if let Some(loss) = &spec.loss {
        laws.loss = self::loss(at("loss"), loss, context);
    }
    laws.duplicate = share(at("duplicate"), "the share of packets that come twice", spec.duplicate, context);
    laws.corrupt = share(at("corrupt"), "the share of packets that come altered", spec.corrupt, context);
    laws.order = match spec.order {
        OrderSpec::AsDelayed => Order::AsDelayed,
        OrderSpec::Strict => Order::Strict,
    };
    Some((name, laws))
}

/// Where the rate is kept, if it can be kept there.
fn shaper(
    request: &SegmentRequest<'_>,
    spec: &LinkSegmentSpec,
    rate: Option<Rate>,
    context: &mut Context<'_>,
) -> Shaper {
    if spec.shaper == ShaperSpec::Behind {
        return Shaper::Behind;
    }
    if rate.is_none() {
        context.report(
            Code::MissingKey,
            &request.table.at("shaper"),
            format!("`{}` has no rate at which a sender could be held back", request.name),
            "nothing to keep",
            "write a `rate`, or leave `shaper` out",
        );
    }
    if spec.queue.is_some() {
        context.report(
            Code::ChooseOne,
            &request.table.at("queue"),
            "a sender that is held back fills no queue: its messages wait in its own kernel, and none is thrown away"
                .to_owned(),
            "never full",
            "leave `queue` out, or write `shaper = \"behind\"`",
        );
    }
    Shaper::Sender
}

/// The networks that F. Martín, E. Soriano-Salvador and J. M. Cañas emulated with NetEm: "Quantitative analysis of security in distributed
/// robotic frameworks", Robotics and Autonomous Systems 100 (2018) 95-107.
fn profile(profile: ProfileSpec) -> (Option<&'static str>, LinkLaws) {
    let laws = |rate: Option<u64>, delay, loss| LinkLaws {
        rate: rate.map(Rate),
        queue: 0,
        shaper: Shaper::Behind,
        delay,
        loss: Loss::Independent(loss),
        duplicate: 0.0,
        corrupt: 0.0,
        order: Order::AsDelayed,
    };
    let normal = |mean, deviation| DelayLaw::Normal { mean, deviation };
    let us = Duration::from_us;
    match profile {
        ProfileSpec::Localhost => (None, laws(None, DelayLaw::Constant(Duration::ZERO), 0.0)),
        ProfileSpec::GigabitEthernet => {
            (Some("gigabit-ethernet"), laws(Some(1_000_000_000), normal(us(300), us(360)), 0.0))
        }
        ProfileSpec::Wifi => (Some("wifi"), laws(Some(54_000_000), normal(us(13_000), us(22_000)), 0.01)),
    }
}

fn delay(request: &SegmentRequest<'_>, at: Place<'_>, spec: &DelaySpec, context: &mut Context<'_>) -> Option<DelayLaw> {
    let within = |place: Place<'_>, what: &str, written: &Quantity<Duration>, context: &mut Context<'_>| {
        context.within(&place, what, written.0, Duration::ZERO, DELAY_MAX)
    };
    Some(match spec {
        DelaySpec::Constant(written) => DelayLaw::Constant(within(at.key("constant"), "the delay", written, context)),
        DelaySpec::Uniform { min, max } => {
            let place = at.key("uniform");
            let least = within(place.clone().key("min"), "the least delay", min, context);
            let most = within(place.clone().key("max"), "the longest delay", max, context);
            if least > most {
                context.report(
                    Code::OutOfRange,
                    &place,
                    format!("a delay of at least {least} would be at most {most}"),
                    "out of order",
                    "write the shorter one as `min`",
                );
            }
            DelayLaw::Uniform { min: least, max: most.max(least) }
        }
        DelaySpec::Normal { mean, deviation } => {
            let place = at.key("normal");
            let mean = within(place.clone().key("mean"), "the mean", mean, context);
            let deviation = within(place.key("deviation"), "the deviation", deviation, context);
            DelayLaw::Normal { mean, deviation }
        }
        DelaySpec::Recorded(path) => {
            let place = at.key("recorded");
            match read(request, path) {
                Ok(delays) => DelayLaw::Recorded(delays.into()),
                Err((message, help)) => {
                    context.report(Code::BadRecording, &place, message, "no delays", help);
                    return None;
                }
            }
        }
    })
}

/// The delays of a file, or what is wrong with it and what to do.
fn read(request: &SegmentRequest<'_>, path: &str) -> Result<Vec<Duration>, (String, String)> {
    let help = "a file of delays has a duration with its unit on each line, such as `12.5ms`";
    let bytes = request
        .files
        .read(path)
        .map_err(|why| (format!("{path}: {why}"), "name a file beside the scenario".to_owned()))?;
    if bytes.len() > RECORDING_LEN_MAX {
        let message = format!("{path} has {} bytes; at most {RECORDING_LEN_MAX} are read", bytes.len());
        return Err((message, "record a shorter time".to_owned()));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| (format!("{path} is no UTF-8 text"), help.to_owned()))?;
    let mut delays = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let written = line.trim();
        if written.is_empty() || written.starts_with('#') {
            continue;
        }
        let number = place + 1;
        let wrong = |what: &str| (format!("{path}:{number}: {what}"), help.to_owned());
        let delay = Duration::from_str(written)
            .map_err(|error| wrong(&format!("`{}` {error}", crate::shape::shortened(written))))?;
        if delay < Duration::ZERO || delay > DELAY_MAX {
            return Err(wrong(&format!("a delay of {delay}, and 0s to {DELAY_MAX} are possible")));
        }
        delays.push(delay);
    }
    if delays.is_empty() {
        return Err((format!("{path} has no delay"), help.to_owned()));
    }
    if delays.len() > SAMPLES_MAX {
        return Err((
            format!("{path} has {} delays; at most {SAMPLES_MAX} are read", delays.len()),
            "record a shorter time".to_owned(),
        ));
    }
    Ok(delays)
}

fn loss(at: Place<'_>, spec: &LossSpec, context: &mut Context<'_>) -> Loss {
    match spec {
        LossSpec::Independent(written) => {
            Loss::Independent(share(at.key("independent"), "the share that is lost", *written, context))
        }
        LossSpec::GilbertElliott { to_bad, to_good, good, bad } => {
            let place = at.key("gilbert_elliott");
            let mut of =
                |key, what, written: &Quantity<Percent>| share(place.clone().key(key), what, *written, context);
            Loss::GilbertElliott {
                to_bad: of("to_bad", "the probability of a change to bad", to_bad),
                to_good: of("to_good", "the probability of a change to good", to_good),
                good: of("good", "what a good channel loses", good),
                bad: of("bad", "what a bad channel loses", bad),
            }
        }
    }
}

fn share(at: Place<'_>, what: &str, written: Quantity<Percent>, context: &mut Context<'_>) -> f64 {
    context.within(&at, what, written.0, Percent(0), WHOLE).0 as f64 / WHOLE.0 as f64
}
