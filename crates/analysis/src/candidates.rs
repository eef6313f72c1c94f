//! What a way to protect streams costs in slots, and how long a forger has to guess its tags.
//!
//! # Model of an online forgery
//! The forger knows no key and guesses tags. A time-triggered stream accepts one frame in each of its slots, so it can
//! try one guess in each period, and policing lets one through in each bandwidth allocation gap of a virtual link; a
//! best-effort stream can be tried as often as its frames fit on a link, and one on a bus as often as they fit there. Half of all
//! `2^(8 * tag bytes)` tags have to be tried on average when no guess is repeated. With a freshness value the right tag
//! changes from frame to frame, earlier guesses exclude nothing, and it takes twice as long; the shorter time is shown.
//! Guessing on all streams at once makes *one* of them accept earlier. Discarded guesses raise counters long before;
//! nobody reading them is assumed.

use chronoseal_core::Duration;
pub use chronoseal_frameauth::TAG_BITS_ADVISED;
use chronoseal_frameauth::{Profile, secoc};
use chronoseal_plan::{
    Access, Can, Ethernet, EthernetStream, HopPlan, Plan, ProtectionKind, ProtectionPlan, StreamClass, StreamPlan,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::can::bounds::frame_time;
use crate::synthesis::slot_pitch;
use crate::tdma::{FRAME_LEN_MAX, FRAME_LEN_MIN, frames_max};

/// How forgery times are meant, for a reader of them.
pub const FORGERY_MODEL: &str = "one guess in each slot of a stream (best effort and bus: in each frame time), half of all tags tried on \
                                 average; with a freshness value it takes twice as long, and the shorter time is shown";

/// What a protection on every stream costs in the slots of a segment.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SlotCosts {
    /// The longest frame with this protection, without checksum `[byte]`.
    pub secured_len_max_bytes: u32,
    /// Added to every frame on one wire.
    pub overhead_time_ns: f64,
    /// Frames of the longest length that fit in a cluster cycle, one after another (the source's NFmax).
    pub frames_max: u64,
    /// How many fewer than without protection.
    pub frames_lost: u64,
    /// Time of the cluster cycle that no slot takes: of the cluster, or of the busiest link if links have slots of their
    /// own. Below zero by what is lacking.
    pub slack_ns: f64,
    /// [`Self::slack_ns`] of the cluster cycle `[%]`.
    pub slack_percent: f64,
}

/// Expected time until a forged frame is accepted.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ForgeryTime {
    /// In numbers, where guessing is what a forger has to do.
    pub expected_s: Option<f64>,
    /// For a person: `248 days`, `immediately`, `n/a`.
    pub text: String,
}

impl ForgeryTime {
    fn fixed(text: &str) -> Self {
        Self { expected_s: None, text: text.into() }
    }

    fn of(expected_s: f64) -> Self {
        Self { expected_s: Some(expected_s), text: long_time(expected_s) }
    }
}

fn ns(span: Duration) -> f64 {
    span.as_ps() as f64 / 1e3
}

fn share_percent(part: Duration, whole: Duration) -> f64 {
    100.0 * part.as_ps() as f64 / whole.as_ps().max(1) as f64
}

/// What a protection costs on the first segment with slots, on whose every stream it is; `None` if there is no such segment.
pub fn slot_costs(plan: &Plan, protection: &ProtectionPlan) -> Option<SlotCosts> {
    let has_slots = |view: &Ethernet<'_>| view.streams().any(|stream| stream.class.is_time_triggered());
    let view = plan.segment_ids().filter_map(|segment| Ethernet::of(plan, segment)).find(has_slots)?;
    let network = view.segment;
    let scheduled = view.streams().filter(|stream| stream.class.is_time_triggered());
    let frame_len = scheduled.map(|stream| stream.hop.frame_len).max().unwrap_or(FRAME_LEN_MIN);
    let secured_len = frame_len + protection.overhead_bytes();
    let guard = network.guard_period + view.integration_wait(network.default_link());
    let frames = |len| match len {
        0..=FRAME_LEN_MAX => frames_max(network.cluster_cycle, view.frame_time(len), guard),
        _ => 0,
    };
    let slack = slack(view);
    Some(SlotCosts {
        secured_len_max_bytes: secured_len,
        overhead_time_ns: ns(view.frame_time(secured_len) - view.frame_time(frame_len)),
        frames_max: frames(secured_len),
        frames_lost: frames(frame_len).saturating_sub(frames(secured_len)),
        slack_ns: ns(slack),
        slack_percent: share_percent(slack, network.cluster_cycle),
    })
}

/// How often a stream sends in a cluster cycle.
fn instances(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> i64 {
    view.segment.cluster_cycle.div_floor(stream.stream.period.max(Duration::from_ps(1)))
}

fn slack(view: Ethernet<'_>) -> Duration {
    let taken = |uses: &dyn Fn(&EthernetStream<'_>) -> bool| -> Duration {
        view.streams()
            .filter(|stream| stream.class.is_time_triggered() && uses(stream))
            .map(|stream| {
                let slots = instances(view, &stream) * i64::from(stream.frames());
                slot_pitch(view, &stream).saturating_mul(slots)
            })
            .fold(Duration::ZERO, |sum, slots| Duration::from_ps(sum.as_ps().saturating_add(slots.as_ps())))
    };
    let busiest = match view.segment.access {
        Access::SharedSlots => taken(&|_| true),
        Access::PerLink => view
            .stations()
            .flat_map(|node| [taken(&|stream| stream.hop.from == node), taken(&|stream| stream.hop.to.contains(&node))])
            .max()
            .unwrap_or_default(),
    };
    view.segment.cluster_cycle - busiest
}

/// How long it takes to forge a frame under a protection, for the stream that is easiest to guess, and for all at once. Of streams that
/// are not under it nothing is said, unless none is.
pub fn forgery(plan: &Plan, protection: &ProtectionPlan) -> (ForgeryTime, ForgeryTime) {
    let both = |text: &str| (ForgeryTime::fixed(text), ForgeryTime::fixed(text));
    let tag_bits = match &protection.kind {
        ProtectionKind::None => return both("immediately"),
        ProtectionKind::SizeOnly { .. } => return both("n/a"),
        ProtectionKind::Secured { profile, .. } => i32::from(profile.tag_bits()),
    };
    let is_under = |(stream, hop): &(&StreamPlan, &HopPlan)| plan.protection_on(stream, hop).name == protection.name;
    let rates = |counts: &dyn Fn(&(&StreamPlan, &HopPlan)) -> bool| -> Vec<f64> {
        let of_stream = |stream: &StreamPlan| {
            let hops = stream.hops.iter().filter(|hop| counts(&(stream, hop)));
            hops.filter_map(|hop| guess_every(plan, stream, hop))
                .map(|every| 1.0 / every.as_secs_f64())
                .reduce(f64::max)
        };
        plan.streams.iter().filter_map(of_stream).collect()
    };
    let own = rates(&is_under);
    let rates = if own.is_empty() { rates(&|_| true) } else { own };
    if rates.is_empty() {
        return both("n/a");
    }
    let guesses = 2f64.powi(tag_bits - 1);
    let time = |rate: f64| ForgeryTime::of(guesses / rate);
    (time(rates.iter().copied().fold(0.0, f64::max)), time(rates.iter().sum()))
}

/// A tag below this is spoken of `[bit]`: NIST SP 800-107 (5.3.3) allows none shorter of an HMAC.
const TAG_BITS_SHORT: u16 = 32;

/// A protection in use whose tag is short.
#[derive(Clone, PartialEq, Debug)]
pub struct ShortTag<'p> {
    /// Its name.
    pub protection: &'p str,
    /// Its tag `[bit]`.
    pub bits: u16,
    /// How long a forger needs for the stream that is easiest to guess.
    pub forgery: ForgeryTime,
}

/// The protections of streams whose tags have fewer than 32 bits. Those of AUTOSAR's profiles, 24 and 28 bits, are its own choice, and are
/// not among them.
pub fn short_tags(plan: &Plan) -> Vec<ShortTag<'_>> {
    let is_used = |protection: &ProtectionPlan| {
        let is_under =
            |stream: &StreamPlan| stream.hops.iter().any(|hop| plan.protection_on(stream, hop).name == protection.name);
        plan.streams.iter().any(is_under)
    };
    let is_short = |profile: &&Profile| profile.tag_bits() < TAG_BITS_SHORT && secoc::name(profile) == secoc::CUSTOM;
    let used = plan.protections.iter().filter(|protection| is_used(protection));
    used.filter_map(|protection| {
        let bits = protection.profile().filter(is_short)?.tag_bits();
        Some(ShortTag { protection: &protection.name, bits, forgery: forgery(plan, protection).0 })
    })
    .collect()
}

/// The tag of a protection, if it has one that is so short that a forger guesses it `[bit]`: below [`TAG_BITS_ADVISED`].
pub fn guessed_bits(protection: &ProtectionPlan) -> Option<u16> {
    protection.profile().map(Profile::tag_bits).filter(|bits| *bits < TAG_BITS_ADVISED)
}

/// The distance of two guesses on a hop; `None` where nothing is known of it.
fn guess_every(plan: &Plan, stream: &StreamPlan, hop: &HopPlan) -> Option<Duration> {
    if let Some(view) = Can::of(plan, hop.segment) {
        return frame_time(view, plan.secured_len(stream, hop), hop);
    }
    let view = Ethernet::of(plan, hop.segment)?;
    let on_wire = view.streams().find(|known| std::ptr::eq(known.hop, hop))?;
    Some(match on_wire.class {
        StreamClass::TimeTriggered { .. } => stream.period,
        // Policing lets no more through.
        StreamClass::RateConstrained(link) => link.bag,
        StreamClass::BestEffort { .. } => view.frame_time_of(&on_wire),
    })
}

/// A long time in the largest unit a person would use.
fn long_time(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    match seconds {
        s if s < 2.0 * MINUTE => format!("{s:.1} s"),
        s if s < 2.0 * HOUR => format!("{:.0} min", s / MINUTE),
        s if s < 2.0 * DAY => format!("{:.0} h", s / HOUR),
        s if s < 2.0 * YEAR => format!("{:.0} days", s / DAY),
        s if s < 1e5 * YEAR => format!("{:.0} years", s / YEAR),
        s => format!("10^{:.0} years", (s / YEAR).log10().floor()),
    }
}

#[cfg(test)]
mod tests;
