//! What each way to protect the streams of a plan would cost, and which is the lightest that holds.
//!
//! Each candidate is put on every stream of the plan's first Ethernet segment, and its schedule is synthesised anew: tag
//! bytes lengthen the frames, sealing and verification take processor time.
//!
//! # Model of an online forgery
//! The forger knows no key and guesses tags. A time-triggered stream accepts one frame in each of its slots, so it can
//! try one guess in each period, and policing lets one through in each bandwidth allocation gap of a virtual link; a
//! best-effort stream can be tried as often as its frames fit on a link. Half of all `2^(8 * tag bytes)` tags have to be tried
//! on average when no guess is repeated. With a freshness value the right tag
//! changes from frame to frame, earlier guesses exclude nothing, and it takes twice as long; the shorter time is shown.
//! Guessing on all streams at once makes *one* of them accept earlier. Discarded guesses raise counters long before;
//! nobody reading them is assumed.

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{
    Access, Ethernet, EthernetHop, EthernetStream, Plan, ProtectionId, ProtectionKind, ProtectionPlan, SegmentId,
    StreamClass, relayed_frame_len,
};
use serde::Serialize;

use crate::bounds::bounds;
use crate::synthesis::{Infeasible, authentication_time, slot_pitch, synthesize};
use crate::tdma::{FRAME_LEN_MAX, FRAME_LEN_MIN, frames_max};

/// How the forgery times of a [`CheckReport`] are meant, for a reader of it.
pub const FORGERY_MODEL: &str = "one guess in each slot of a stream (best effort: in each frame time of a link), half of \
                                 all tags tried on average; with a freshness value it takes twice as long";

/// What `check` finds in a plan.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// Name of the scenario.
    pub scenario: String,
    /// The plan as written has a schedule, and every bounded latency is within its deadline.
    pub holds: bool,
    /// The plan as written has a schedule.
    pub feasible: bool,
    /// Why it has none.
    pub infeasible: Option<InfeasibleReport>,
    /// One sentence for a person.
    pub verdict: String,
    /// The streams as written.
    pub streams: Vec<StreamReport>,
    /// Each candidate on every stream.
    pub candidates: Vec<CandidateReport>,
    /// Name of the lightest candidate that holds.
    pub lightest: Option<String>,
    /// Why that one, or why none.
    pub lightest_reason: String,
    /// How the forgery times are meant.
    pub forgery_model: &'static str,
}

/// Why there is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InfeasibleReport {
    /// The stream or task that found no place.
    pub name: String,
    /// Streams and tasks that do not fit together.
    pub conflict: Vec<String>,
    /// Streams that fit.
    pub fitted: usize,
    /// Time-triggered streams of the plan.
    pub wanted: usize,
    /// All of it in words, and what to change.
    pub text: String,
}

/// One stream of the plan as written.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamReport {
    /// Its name.
    pub stream: String,
    /// Name of its protection.
    pub protection: String,
    /// `time-triggered`, `rate-constrained` or `best-effort`.
    pub class: &'static str,
    /// Before protection, without checksum `[byte]`.
    pub frame_len_bytes: u32,
    /// With protection, without checksum `[byte]`.
    pub secured_len_bytes: u32,
    /// On one wire, in the plan's accounting.
    pub frame_time_ns: f64,
    /// Distance of two frames.
    pub period_ns: f64,
    /// A frame has to arrive so long after it became due: within its period, if the scenario says nothing else.
    pub deadline_ns: f64,
    /// First bit at the sender to last bit at the receiver, at most, if nothing holds the frame up on its sender's link. It is
    /// no bound of what is seen and is not shown: [`crate::segment::bounds`] are.
    #[serde(skip)]
    pub latency_max_ns: Option<f64>,
    /// Why there is no such time.
    #[serde(skip)]
    pub unbounded: Option<String>,
    /// It is within the deadline; `None` without one.
    #[serde(skip)]
    pub holds: Option<bool>,
}

/// One candidate on every stream of the plan.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CandidateReport {
    /// Name of the protection.
    pub protection: String,
    /// Whether a forger without the key is stopped.
    pub authenticates: bool,
    /// Whether a frame heard earlier is accepted again.
    pub replayable: bool,
    /// The hash is here for comparison with published figures, not for new designs.
    pub kept_for_comparison: bool,
    /// Added to every frame `[byte]`.
    pub overhead_bytes: u32,
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
    /// Share of the busiest processor that tasks, sealing and verification take `[%]`.
    pub processor_share_max_percent: f64,
    /// Whose processor that is.
    pub busiest_node: String,
    /// Expected time until the stream that is easiest to guess accepts a forged frame.
    pub forgery_one_stream: ForgeryTime,
    /// The same with all streams tried at once.
    pub forgery_all_streams: ForgeryTime,
    /// A schedule was found.
    pub fits: bool,
    /// Why none was found.
    pub why_not: Option<String>,
}

/// Expected time until a forged frame is accepted.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ForgeryTime {
    /// In numbers, where guessing is what a forger has to do.
    pub expected_s: Option<f64>,
    /// For a person: `248 days`, `immediately`, `n/a`.
    pub text: String,
}

/// Bounds the plan's first Ethernet segment as written and weighs its candidates (the protections in use if it names
/// none). `None` if it has no such segment.
pub fn check(plan: &Plan) -> Option<CheckReport> {
    Ethernet::first(plan).map(check_segment)
}

fn check_segment(view: Ethernet<'_>) -> CheckReport {
    let plan = view.plan;
    let result = synthesize(view);
    let streams = stream_reports(view, result.as_ref().ok());
    let mut trial = plan.clone();
    trial.recordings.clear();
    let candidates: Vec<_> =
        candidate_ids(view).into_iter().map(|id| candidate(on_every_stream(&mut trial, view.id, id), id)).collect();
    let (lightest, lightest_reason) = lightest(&candidates);
    let late = streams.iter().filter(|stream| stream.holds == Some(false)).count();
    let verdict = match &result {
        Err(infeasible) => infeasible.to_string(),
        Ok(_) if late > 0 => format!("the schedule fits, but {late} streams can arrive after their deadline"),
        Ok(table) => {
            format!("the schedule fits: {} slots in a cluster cycle of {}", table.slots.len(), { table.cluster_cycle })
        }
    };
    CheckReport {
        scenario: plan.name.clone(),
        holds: result.is_ok() && late == 0,
        feasible: result.is_ok(),
        infeasible: result.err().map(|infeasible| report(*infeasible)),
        verdict,
        streams,
        candidates,
        lightest,
        lightest_reason,
        forgery_model: FORGERY_MODEL,
    }
}

fn report(infeasible: Infeasible) -> InfeasibleReport {
    InfeasibleReport {
        text: infeasible.to_string(),
        name: infeasible.name,
        conflict: infeasible.conflict,
        fitted: infeasible.fitted,
        wanted: infeasible.wanted,
    }
}

fn ns(span: Duration) -> f64 {
    span.as_ps() as f64 / 1e3
}

fn share_percent(part: Duration, whole: Duration) -> f64 {
    100.0 * part.as_ps() as f64 / whole.as_ps().max(1) as f64
}

fn stream_reports(view: Ethernet<'_>, table: Option<&ScheduleTable>) -> Vec<StreamReport> {
    let bounds = table.map(|table| bounds(view, table));
    (view.streams().enumerate())
        .map(|(index, on_wire)| {
            let stream = on_wire.stream;
            let deadline = stream.deadline.unwrap_or(stream.period);
            let bound = bounds.as_ref().map(|bounds| bounds[index]);
            let latency_max = bound.and_then(|bound| bound.latency_max);
            let unbounded = match bound {
                None => Some("the plan has no schedule"),
                Some(bound) => bound.unbounded,
            };
            StreamReport {
                stream: stream.name.clone(),
                protection: view.protection_of(&on_wire).name.clone(),
                class: on_wire.class.name(),
                frame_len_bytes: on_wire.hop.frame_len,
                secured_len_bytes: view.secured_len(&on_wire),
                frame_time_ns: ns(view.frame_time_of(&on_wire)),
                period_ns: ns(stream.period),
                deadline_ns: ns(deadline),
                latency_max_ns: latency_max.map(ns),
                unbounded: unbounded.map(str::to_owned),
                holds: latency_max.map(|latency| latency <= deadline),
            }
        })
        .collect()
}

/// The candidates of the plan, or what its streams use, each once.
fn candidate_ids(view: Ethernet<'_>) -> Vec<ProtectionId> {
    if !view.plan.candidates.is_empty() {
        return view.plan.candidates.clone();
    }
    let mut used: Vec<_> = view.streams().map(|stream| stream.stream.protection).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Puts one protection on every stream of a segment of `trial`.
fn on_every_stream(trial: &mut Plan, segment: SegmentId, id: ProtectionId) -> Ethernet<'_> {
    let overhead = trial.protections[usize::from(id.0)].overhead_bytes();
    for stream in &mut trial.streams {
        let (is_relayed, length) = (stream.is_relayed(), stream.length);
        for hop in stream.hops.iter_mut().filter(|hop| hop.segment == segment) {
            stream.protection = id;
            hop.protection = None;
            if is_relayed {
                let own = hop.facet.get::<EthernetHop>();
                let tag = own.map_or(0, EthernetHop::tags_len);
                let trailer = own.map_or(0, EthernetHop::trailer_len);
                hop.frame_len = relayed_frame_len(length + trailer, overhead) + tag;
            }
        }
    }
    Ethernet::of(trial, segment).expect("a trial has the segments of its plan")
}

/// What a protection does to a segment on whose every stream it is.
fn candidate(view: Ethernet<'_>, id: ProtectionId) -> CandidateReport {
    let protection = &view.plan.protections[usize::from(id.0)];
    let network = view.segment;
    let scheduled = view.streams().filter(|stream| stream.class.is_time_triggered());
    let longest = scheduled.map(|stream| stream.hop.frame_len).max();
    let frame_len = longest.or(view.streams().map(|stream| stream.hop.frame_len).max()).unwrap_or(FRAME_LEN_MIN);
    let secured_len = frame_len + protection.overhead_bytes();
    let guard = network.guard_period + view.integration_wait(network.default_link());
    let frames = |len| match len {
        0..=FRAME_LEN_MAX => frames_max(network.cluster_cycle, view.frame_time(len), guard),
        _ => 0,
    };
    let slack = slack(view);
    let (busiest_node, processor_share) = busiest_processor(view);
    let (one, all) = forgery(view, protection);
    let why_not =
        without_slot(view, protection).or_else(|| synthesize(view).err().map(|infeasible| infeasible.to_string()));
    CandidateReport {
        protection: protection.name.clone(),
        authenticates: protection.is_authenticated(),
        replayable: protection.is_replayable(),
        kept_for_comparison: protection.profile().is_some_and(|profile| profile.mac().kept_for_comparison()),
        overhead_bytes: protection.overhead_bytes(),
        secured_len_max_bytes: secured_len,
        overhead_time_ns: ns(view.frame_time(secured_len) - view.frame_time(frame_len)),
        frames_max: frames(secured_len),
        frames_lost: frames(frame_len).saturating_sub(frames(secured_len)),
        slack_ns: ns(slack),
        slack_percent: share_percent(slack, network.cluster_cycle),
        processor_share_max_percent: processor_share,
        busiest_node,
        forgery_one_stream: one,
        forgery_all_streams: all,
        fits: why_not.is_none(),
        why_not,
    }
}

/// Why a protection that counts slots cannot be on every stream, if so.
fn without_slot(view: Ethernet<'_>, protection: &ProtectionPlan) -> Option<String> {
    protection.profile().filter(|profile| profile.freshness().needs_clock())?;
    let stream = view.streams().find(|stream| !stream.class.is_time_triggered())?;
    Some(format!(
        "`{}` takes freshness from the cycle counter, and {} frames like those of `{}` come in no certain cycle",
        protection.name,
        stream.class.name(),
        stream.stream.name
    ))
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

/// The node with the busiest processor, and its share `[%]`; best effort included.
fn busiest_processor(view: Ethernet<'_>) -> (String, f64) {
    let share = |node: NodeId| {
        let station = &view.plan.nodes[node.index()];
        let frames = view
            .streams()
            .filter(|stream| stream.hop.from == node || stream.hop.to.contains(&node))
            .map(|stream| share_percent(authentication_time(view, &stream, node), stream.stream.period));
        let tasks = station.tasks.iter().map(|task| share_percent(task.wcet, task.period));
        let percent: f64 = frames.chain(tasks).sum();
        (station.name.clone(), percent)
    };
    view.stations().map(share).reduce(|most, next| if next.1 > most.1 { next } else { most }).unwrap_or_default()
}

/// For the stream that is easiest to guess, and for all at once.
fn forgery(view: Ethernet<'_>, protection: &ProtectionPlan) -> (ForgeryTime, ForgeryTime) {
    let fixed = |text: &str| ForgeryTime { expected_s: None, text: text.into() };
    let tag_bits = match &protection.kind {
        ProtectionKind::None => return (fixed("immediately"), fixed("immediately")),
        ProtectionKind::SizeOnly { .. } => return (fixed("n/a"), fixed("n/a")),
        ProtectionKind::Secured { profile, .. } => i32::from(profile.tag_bits()),
    };
    let rates: Vec<_> = view
        .streams()
        .map(|stream| {
            let every = match stream.class {
                StreamClass::TimeTriggered { .. } => stream.stream.period,
                // Policing lets no more through.
                StreamClass::RateConstrained(link) => link.bag,
                StreamClass::BestEffort { .. } => view.frame_time_of(&stream),
            };
            1.0 / every.as_secs_f64()
        })
        .collect();
    if rates.is_empty() {
        return (fixed("n/a"), fixed("n/a"));
    }
    let guesses = 2f64.powi(tag_bits - 1);
    let time = |rate: f64| {
        let expected_s = guesses / rate;
        ForgeryTime { expected_s: Some(expected_s), text: long_time(expected_s) }
    };
    (time(rates.iter().copied().fold(0.0, f64::max)), time(rates.iter().sum()))
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

/// Fewest frames lost, then fewest bytes, then least processor time, among the best that is there: what stops forgery
/// and replay with a hash for new designs; else what stops forgery; else, only if nothing here authenticates, the rest.
fn lightest(candidates: &[CandidateReport]) -> (Option<String>, String) {
    type Tier = (fn(&CandidateReport) -> bool, &'static str);
    const TIERS: [Tier; 3] = [
        (|one| one.authenticates && !one.replayable && !one.kept_for_comparison, "stops forgery and replay"),
        (
            |one| one.authenticates && !one.replayable,
            "stops forgery and replay, but with a hash kept for comparison only",
        ),
        (|one| one.authenticates, "stops forgery, but accepts replayed frames"),
    ];
    if candidates.is_empty() {
        return (None, "the plan has neither candidates nor streams".into());
    }
    let weight = |one: &CandidateReport, other: &CandidateReport| {
        (one.frames_lost, one.overhead_bytes)
            .cmp(&(other.frames_lost, other.overhead_bytes))
            .then(one.processor_share_max_percent.total_cmp(&other.processor_share_max_percent))
    };
    let best = |tier: fn(&CandidateReport) -> bool| {
        candidates.iter().filter(|one| one.fits && tier(one)).min_by(|one, other| weight(one, other))
    };
    for (tier, meaning) in TIERS {
        if let Some(best) = best(tier) {
            let cost = format!("{} frames and {} bytes a frame", best.frames_lost, best.overhead_bytes);
            return (Some(best.protection.clone()), format!("it fits, {meaning}, and costs {cost}"));
        }
    }
    if candidates.iter().any(|one| one.authenticates) {
        return (None, "no candidate that authenticates fits".into());
    }
    match best(|_| true) {
        Some(best) => {
            (Some(best.protection.clone()), "it fits, but neither it nor any other candidate stops a forger".into())
        }
        None => (None, "no candidate fits, and none authenticates".into()),
    }
}

#[cfg(test)]
mod tests;
