//! What is judged on paper: every stream and recording at each of its receivers, with its own deadline there, the queues of gateways,
//! and clocks.

mod counters;
mod rows;
mod table;
mod verdict;

use chronoseal_analysis::segment::{
    Bounds, Cause, EndBound, QueueBound, Risk, StreamBounds, Why, bounds, gateway_queues,
};
use chronoseal_catalog::{Kinds, PrepareError, Prepared};
use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{DeadlineKind, HopPlan, Plan, SegmentId, StreamPlan};
use chronoseal_report::Word;

use super::assumptions;
use super::certain::{Loads, is_certain, is_exact};
use super::left_out::{self, LeftOut};

pub(crate) use self::rows::{
    ClockReport, InfeasibleReport, Judged, JudgedKind, PartReport, QueueReport, ScheduleReport,
};

const NO_NEXT: &str = "it is sent when its value changes, and nothing says when that is next, so its `age` has no limit: write \
                       `deadline_kind = \"reaction\"`, or a `period`";

/// Why a stream in slots needs no deadline.
const IN_SLOTS: &str = "its slot says when it has to leave";

/// Everything that is judged.
pub(crate) struct Judgement {
    /// One for each stream and receiver.
    pub(crate) ends: Vec<Judged>,
    /// The queues of gateways.
    pub(crate) queues: Vec<QueueReport>,
    /// Clocks that are not known to hold.
    pub(crate) clocks: Vec<ClockReport>,
    /// What is not checked on paper.
    pub(crate) left_out: Vec<LeftOut>,
    /// What is taken for granted, a sentence each.
    pub(crate) assumptions: Vec<String>,
    /// How busy everything is.
    pub(crate) loads: Loads,
    /// By segment: what its schedule has, if there is one with slots.
    pub(crate) schedules: Vec<Option<ScheduleReport>>,
    /// Why a schedule does not fit, if one does not.
    pub(crate) infeasible: Option<InfeasibleReport>,
}

/// What the rows of a plan are judged by.
struct Judge<'p> {
    plan: &'p Plan,
    kinds: Kinds,
    bounds: Bounds,
    queues: Vec<QueueBound>,
    loads: Loads,
    schedules: Vec<Option<ScheduleReport>>,
    /// Attacks that are left out, each with the segments on which it can be felt.
    attacks: Vec<(LeftOut, Vec<SegmentId>)>,
    infeasible: Option<InfeasibleReport>,
}

impl Judgement {
    /// Judges a plan that was made with these kinds of segments.
    pub(crate) fn of(plan: &Plan, kinds: Kinds) -> Self {
        let prepared = Prepared::with_kinds(plan, kinds);
        let infeasible = match &prepared {
            Err(PrepareError::Infeasible(infeasible)) => Some(InfeasibleReport {
                text: infeasible.to_string(),
                name: infeasible.name.clone(),
                conflict: infeasible.conflict.clone(),
                fitted: infeasible.fitted,
                wanted: infeasible.wanted,
            }),
            _ => None,
        };
        let table = |segment| prepared.as_ref().ok().and_then(|prepared| prepared.schedule(segment)).cloned();
        let tables: Vec<Option<ScheduleTable>> = plan.segment_ids().map(table).collect();
        let bounds = bounds(plan, &tables, kinds.bounds());
        let queues = gateway_queues(plan, &bounds.streams);
        let loads = Loads::of(plan, kinds.bounds());
        let attacks = left_out::attacks(plan);
        let schedules = tables.iter().map(|table| table.as_ref().and_then(ScheduleReport::of)).collect();
        let judge = Judge { plan, kinds, bounds, queues, loads, schedules, attacks, infeasible };
        judge.judgement()
    }
}

impl Judge<'_> {
    fn judgement(self) -> Judgement {
        let plan = self.plan;
        let mut ends: Vec<Vec<Judged>> = self.bounds.streams.iter().map(|bound| self.of_stream(bound)).collect();
        counters::shared(plan, &mut ends);
        for (stream, ends) in plan.streams.iter().zip(&mut ends) {
            let felt = |(_, segments): &&(LeftOut, Vec<SegmentId>)| {
                stream.hops.iter().any(|hop| segments.contains(&hop.segment))
            };
            let attack = self.attacks.iter().find(felt);
            ends.iter_mut().for_each(|end| end.leaves_out(attack.map(|(attack, _)| attack)));
        }
        let ends: Vec<Judged> = ends.into_iter().flatten().collect();
        let clocks = self.clocks();
        let mut left_out: Vec<LeftOut> = self.attacks.iter().map(|(attack, _)| attack.clone()).collect();
        left_out.extend(not_checked(&ends));
        left_out.extend(clocks.iter().filter(|clock| clock.word == Word::NotChecked).map(|clock| LeftOut {
            kind: "clocks",
            name: clock.segment.clone(),
            text: format!("how far apart the clocks of `{}` are", clock.segment),
        }));
        Judgement {
            ends,
            queues: self.queues.iter().map(|queue| QueueReport::of(plan, queue)).collect(),
            clocks,
            left_out,
            assumptions: assumptions::of(plan),
            loads: self.loads,
            schedules: self.schedules,
            infeasible: self.infeasible,
        }
    }

    /// A stream at its receivers; as one where everybody hears it by radio, nothing bounds that, and it goes no further.
    fn of_stream(&self, bound: &StreamBounds) -> Vec<Judged> {
        let stream = &self.plan.streams[bound.stream.index()];
        let end = |end: &EndBound| {
            let deadline = stream.deadline_of(end.receiver);
            let risks: Vec<&Risk> = self.bounds.risks.iter().filter(|risk| self.concerns(risk, bound, end)).collect();
            let mut judged = self.judged(stream, end, deadline, &risks);
            for queue in self.queues.iter().filter(|queue| is_before(stream, end.receiver, queue)) {
                judged.is_behind(&QueueReport::of(self.plan, queue));
            }
            judged
        };
        let mut ends: Vec<Judged> = bound.ends.iter().map(end).collect();
        if ends.len() > 1 && stream.hops.len() == 1 && ends.iter().all(|end| end.by_radio) {
            let count = ends.len();
            ends.truncate(1);
            ends[0].receiver = format!("all {count}");
            ends[0].parts.truncate(1);
        }
        ends
    }

    /// True if a risk is one of a stream at one of its receivers.
    fn concerns(&self, risk: &Risk, bound: &StreamBounds, end: &EndBound) -> bool {
        // What can cost a frame of several PDUs costs all of them.
        let is_in = |id: StreamId| {
            self.plan.streams[id.index()].collected().is_some_and(|collect| collect.streams.contains(&bound.stream))
        };
        let stream = &self.plan.streams[bound.stream.index()];
        // What can happen to clocks that no stream goes by is said of the clocks.
        let is_on_it = || !is_of_clocks(&risk.cause) && stream.on(risk.segment).is_some();
        let is_its = risk.stream.map_or_else(is_on_it, |id| id == bound.stream || is_in(id));
        is_its && risk.cause.concerns(end.receiver)
    }

    fn why_no_deadline(&self, stream: &StreamPlan, is_recording: bool) -> &'static str {
        let is_in_slots = |hop: &HopPlan| {
            let kind = self.plan.segments[hop.segment.index()].kind;
            self.kinds.bounds().iter().any(|row| row.kind() == kind && row.is_in_slots(hop))
        };
        match stream.hops.iter().any(is_in_slots) {
            true => IN_SLOTS,
            false if is_recording => "each identifier has its own, the median distance of its frames",
            false => "the scenario names no deadline for it",
        }
    }

    fn judged(&self, stream: &StreamPlan, end: &EndBound, deadline: Option<Duration>, risks: &[&Risk]) -> Judged {
        let plan = self.plan;
        let no_bound = end.latency.err();
        let is_recording = no_bound.is_some_and(|missing| missing.why == Why::Recording);
        let verdict = match is_recording {
            true => self.of_recording(stream),
            false => self.of_end(stream, end, deadline, risks),
        };
        let part = |part: &chronoseal_analysis::segment::Part| PartReport {
            role: part.place.role(),
            place: part.place.name(plan).to_owned(),
            max_ns: ns(part.max),
        };
        Judged {
            stream: stream.name.clone(),
            receiver: plan.nodes.get(end.receiver.index()).map_or_else(String::new, |node| node.name.clone()),
            kind: if is_recording { JudgedKind::Recording } else { JudgedKind::Stream },
            word: verdict.word,
            by_bound: verdict.word,
            why: verdict.why,
            bound_ns: end.latency.ok().map(|latency| ns(latency.max)),
            deadline_ns: deadline.map(ns),
            no_deadline: deadline.is_none().then(|| self.why_no_deadline(stream, is_recording).to_owned()),
            deadline_kind: match stream.deadline_kind {
                DeadlineKind::Reaction => "reaction",
                DeadlineKind::Age => "age",
            },
            no_bound: no_bound.map(|missing| place_text(plan, missing)),
            parts: end.parts.iter().map(part).collect(),
            by_radio: no_bound.is_some_and(|missing| missing.why == Why::Radio),
            follows: verdict.follows,
        }
    }

    /// Its frames come when they came, which has no bound; a bus that is too slow for all of them is known to be.
    fn of_recording(&self, stream: &StreamPlan) -> Found {
        let full = stream.hops.iter().map(|hop| hop.segment).find(|segment| self.loads.is_bus_over(*segment));
        match full {
            Some(segment) => {
                let share = self.loads.busiest(segment).map_or(0, |link| link.share.ppm());
                let name = &self.plan.segments[segment.index()].name;
                Found::new(
                    Word::Broken,
                    format!("`{name}` would need {} of its time for all that is on it", percent(share)),
                )
            }
            None => Found::new(
                Word::NotChecked,
                "a replayed recording has no period of its own, so nothing bounds its frames; a run judges them".into(),
            ),
        }
    }

    fn of_end(&self, stream: &StreamPlan, end: &EndBound, deadline: Option<Duration>, risks: &[&Risk]) -> Found {
        let plan = self.plan;
        let next = until_the_next(stream);
        let (limited, least) = match (stream.deadline_kind, end.latency.ok()) {
            (DeadlineKind::Reaction, span) => (span.map(|span| span.max), span.map(|span| span.min)),
            (DeadlineKind::Age, span) => (
                span.zip(next).map(|(span, next)| span.max + next),
                span.map(|span| span.min + stream.period - stream.period / 499),
            ),
        };
        let certain = risks.iter().find(|risk| is_certain(plan, risk));
        if let Some(risk) = certain {
            return Found::new(Word::Broken, risk.cause.text(plan));
        }
        if let (Some(least), Some(deadline)) = (least, deadline)
            && least > deadline
        {
            let why = format!("it takes {least:.3} even if nothing is in its way, and its deadline is {deadline}");
            return Found::new(Word::Broken, why);
        }
        if let (Some(limited), Some(deadline)) = (limited, deadline)
            && limited > deadline
            && is_exact(plan, stream, &self.bounds.streams)
        {
            let why = format!(
                "it takes {limited} if all messages of the bus are due at once, each with the most stuff bits, and its deadline is {deadline}"
            );
            return Found::new(Word::Broken, why);
        }
        if let Err(missing) = end.latency {
            return self.without_bound((stream, end.receiver), missing, risks);
        }
        if let Some(risk) = risks.first() {
            return Found { follows: is_derived(&risk.cause), ..Found::new(Word::NotProven, risk.cause.text(plan)) };
        }
        match (limited, deadline) {
            (Some(limited), Some(deadline)) if limited > deadline => {
                let most = end.parts.iter().max_by_key(|part| part.max);
                let part = most.map_or_else(String::new, |part| {
                    format!(", of it {:.3} in {} `{}`", part.max, part.place.role(), part.place.name(plan))
                });
                Found::new(
                    Word::NotProven,
                    format!(
                        "it is bounded by {limited:.3}{part}, and its deadline is {deadline}: the bound may count more than can happen"
                    ),
                )
            }
            (None, _) => Found::new(Word::NotProven, NO_NEXT.to_owned()),
            _ => Found { word: Word::Held, why: None, follows: false },
        }
    }

    fn without_bound(
        &self,
        (stream, receiver): (&StreamPlan, NodeId),
        missing: chronoseal_analysis::segment::Missing,
        risks: &[&Risk],
    ) -> Found {
        let plan = self.plan;
        let place = place_text(plan, missing);
        if self.loads.are_over(missing) {
            return Found::new(Word::Broken, place);
        }
        // What has no bound for another reason is late all the same where a processor on its way has no time for it.
        let ends = [(stream.sender, "sender"), (receiver, "receiver")];
        let over = ends.iter().find_map(|(node, role)| Some((node, role, self.loads.overload(*node)?)));
        if let Some((node, role, overload)) = over {
            return Found::new(Word::Broken, format!("{role} `{}`: {overload}", plan.node_name(*node)));
        }
        // Why there is none is said once, in the verdict.
        if missing.why == Why::NoSchedule && self.infeasible.is_some() {
            return Found { follows: true, ..Found::new(Word::Broken, place) };
        }
        match missing.why {
            Why::Radio | Why::Middleware => Found::new(Word::NotChecked, format!("{place}; a run judges it")),
            // What is before it or beside it knows better.
            Why::ArrivalUnbounded | Why::MadeUpFrames => {
                let known = risks.iter().find(|risk| !is_derived(&risk.cause));
                let why = known.map_or(place, |risk| risk.cause.text(plan));
                let follows = known.is_none() && missing.why == Why::ArrivalUnbounded;
                Found { follows, ..Found::new(Word::NotProven, why) }
            }
            _ => Found::new(Word::NotProven, place),
        }
    }

    /// What is said of clocks, each sentence once.
    fn clocks(&self) -> Vec<ClockReport> {
        let plan = self.plan;
        let name = |segment: SegmentId| plan.segments[segment.index()].name.clone();
        let mut found: Vec<ClockReport> = Vec::new();
        for risk in self.bounds.risks.iter().filter(|risk| is_of_clocks(&risk.cause)) {
            let word = if is_certain(plan, risk) { Word::Broken } else { Word::NotProven };
            let report = ClockReport { segment: name(risk.segment), word, why: risk.cause.text(plan) };
            if !found.contains(&report) {
                found.push(report);
            }
        }
        found.extend(assumptions::unbounded_clocks(plan).into_iter().map(|segment| ClockReport {
            segment: name(segment),
            word: Word::NotChecked,
            why: "nothing bounds on paper how far apart clocks of IEEE 802.1AS are; a run judges it".into(),
        }));
        found
    }
}

/// What was found of a row.
struct Found {
    word: Word,
    why: Option<String>,
    follows: bool,
}

impl Found {
    const fn new(word: Word, why: String) -> Self {
        Self { word, why: Some(why), follows: false }
    }
}

/// Streams and recordings that are not checked, each once.
fn not_checked(ends: &[Judged]) -> Vec<LeftOut> {
    let mut found: Vec<LeftOut> = Vec::new();
    for end in ends.iter().filter(|end| end.by_bound == Word::NotChecked) {
        let (kind, text) = match end.kind {
            JudgedKind::Recording => ("recording", format!("the recording `{}`", end.stream)),
            JudgedKind::Stream if end.by_radio => ("radio", format!("`{}` by radio", end.stream)),
            JudgedKind::Stream => ("middleware", format!("`{}` over a middleware", end.stream)),
        };
        let one = LeftOut { kind, name: end.stream.clone(), text };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// True of what follows from something else that has no bound.
const fn is_derived(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::SenderUnbounded { .. }
            | Cause::QueueFull { bytes: None, .. }
            | Cause::LinkFull { bytes: None, .. }
            | Cause::HostBufferFull { bytes: None, .. }
            | Cause::Skew { skew: None, .. }
    )
}

const fn is_of_clocks(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::Clock { .. }
            | Cause::Cluster { .. }
            | Cause::ClusterSlots { .. }
            | Cause::ControlDelay { .. }
            | Cause::ClusterStart { .. }
            | Cause::NoBeacon { .. }
            | Cause::Beacon { .. }
            | Cause::BeaconFails { .. }
            | Cause::ClockFramesLost { .. }
    )
}

fn place_text(plan: &Plan, missing: chronoseal_analysis::segment::Missing) -> String {
    format!("{} `{}`: {}", missing.place.role(), missing.place.name(plan), missing.why.text(plan))
}

/// True if what a receiver gets of a stream has waited in the queue of a gateway.
fn is_before(stream: &StreamPlan, receiver: NodeId, queue: &QueueBound) -> bool {
    let is_last = |hop: &&HopPlan| hop.to.contains(&receiver);
    let before = |hop: &&HopPlan| hop.previous.and_then(|previous| stream.hops.get(usize::from(previous)));
    let is_its = |hop: &HopPlan| hop.previous.is_some() && (hop.from, hop.segment) == (queue.gateway, queue.segment);
    stream.hops.iter().filter(is_last).any(|last| std::iter::successors(Some(last), before).any(is_its))
}

/// From one frame of a stream to the next one at most; `None` if it is sent when its value changes.
///
/// A slow clock makes the period longer by its drift, which is below a thousandth. An application with a timer of its own has the
/// timer's drift besides, and its own period.
fn until_the_next(stream: &StreamPlan) -> Option<Duration> {
    match (&stream.application, stream.min_distance) {
        // Nothing says that what makes its sender send goes on.
        _ if stream.trigger.is_some() => None,
        (Some(application), _) => Some(application.period + application.period / 499),
        (None, Some(_)) => None,
        (None, None) => Some(stream.period + stream.period / 999),
    }
}

pub(crate) fn ns(span: Duration) -> f64 {
    span.as_ps() as f64 / 1e3
}

/// A word as tables have it.
pub(crate) fn shown(word: Word) -> String {
    word.name().to_uppercase()
}

/// A share of a million as a reader wants it.
pub(crate) fn percent(ppm: u64) -> String {
    format!("{:.1} %", ppm as f64 / 1e4)
}
