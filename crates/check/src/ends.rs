//! Every stream from its sender to its receivers, over all segments: bound, parts, deadline.

mod counters;

use chronoseal_analysis::can::NoBound;
use chronoseal_analysis::segment::routed::LinkReason;
use chronoseal_analysis::segment::{Bounds, EndBound, QueueBound, Risk, StreamBounds, Why, bounds, gateway_queues};
use chronoseal_catalog::{Kinds, Prepared};
use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_plan::{DeadlineKind, HopPlan, Plan, StreamPlan};
use chronoseal_report::{Block, Cell, Evidence, Mark, Section, Table, Word};
use serde::Serialize;

use super::assumptions;

/// Streams named beside a reason.
const NAMED_MAX: usize = 3;
const NO_DEADLINE: &str = "the scenario names no deadline for it";

const NO_NEXT: &str = "it is sent when its value changes, and nothing says when that is next, so its `age` has no limit: write \
                       `deadline_kind = \"reaction\"`, or a `period`";

/// What is bounded from end to end.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EndsReport {
    /// One for each stream and receiver.
    pub(crate) ends: Vec<EndReport>,
    /// The queues of gateways.
    pub(crate) queues: Vec<QueueReport>,
    /// What is taken for granted, a sentence each.
    assumptions: Vec<String>,
    /// What can lose frames or make them late whatever their bounds, a sentence each.
    risks: Vec<String>,
    /// Some of it concerns a whole segment, whether or not streams are on it.
    #[serde(skip)]
    has_broken_segment: bool,
    /// Clocks of a segment can be any time apart, as far as paper says, and a run judges them.
    #[serde(skip)]
    pub(crate) has_unbounded_clocks: bool,
}

/// One stream at one of its receivers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EndReport {
    stream: String,
    receiver: String,
    /// From the instant at which a frame is due to its reception, checked.
    bound_ns: Option<f64>,
    /// What the deadline limits: `reaction`, which is the bound, or `age`, a period more.
    deadline_kind: &'static str,
    /// The scenario's, or the period of a stream that stays in the slots of one segment.
    deadline_ns: Option<f64>,
    /// The deadline is kept in the worst case. `None` without a deadline, and for recordings and what crosses a radio, which
    /// have no bound in any case; what else has none does not hold.
    holds: Option<bool>,
    /// What can be said: that no frame is lost or late, that one can be, or nothing.
    pub(crate) word: Word,
    /// Why it is not held.
    why: Option<String>,
    /// Where there is no bound, and why.
    no_bound: Option<String>,
    /// Nothing bounds it because it comes by radio.
    #[serde(skip)]
    by_radio: bool,
    #[serde(skip)]
    is_recording: bool,
    /// In the order of the way, up to the first place without a bound; behind a radio it goes on, from the instant of reception.
    parts: Vec<PartReport>,
}

#[derive(Clone, Debug, Serialize)]
struct PartReport {
    /// `sender`, `segment`, `gateway` or `receiver`.
    role: &'static str,
    place: String,
    max_ns: f64,
}

/// The queue of a gateway for a segment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct QueueReport {
    gateway: String,
    segment: String,
    /// So many frames wait in it at most.
    frames_max: Option<u64>,
    room_frames: u64,
    holds: bool,
}

impl EndsReport {
    /// Bounds a plan that was made with these kinds of segments.
    pub(crate) fn of(plan: &Plan, kinds: Kinds) -> Self {
        let prepared = Prepared::with_kinds(plan, kinds).ok();
        let table = |segment| prepared.as_ref().and_then(|prepared| prepared.schedule(segment)).cloned();
        let tables: Vec<Option<ScheduleTable>> = plan.segment_ids().map(table).collect();
        let Bounds { streams, risks } = bounds(plan, &tables, kinds.bounds());
        let queues = gateway_queues(plan, &streams);
        let mut ends: Vec<Vec<EndReport>> =
            streams.iter().map(|bound| of_stream(plan, bound, kinds, &risks, &queues)).collect();
        counters::shared(plan, &mut ends);
        let ends = ends.into_iter().flatten().collect();
        let queues = queues.iter().map(|queue| QueueReport::of(plan, queue)).collect();
        let mut said: Vec<String> = Vec::new();
        for risk in &risks {
            let text = risk_text(plan, risk);
            if !said.contains(&text) {
                said.push(text);
            }
        }
        let has_broken_segment = risks.iter().any(|risk| risk.stream.is_none() && !risk.cause.is_unbounded());
        let has_unbounded_clocks = !assumptions::unbounded_clocks(plan).is_empty();
        let assumptions = assumptions::of(plan);
        Self { ends, queues, assumptions, risks: said, has_broken_segment, has_unbounded_clocks }
    }

    /// The word for all of it: the worst there is. What nobody can bound on paper, as a recording, says nothing.
    pub(crate) fn word(&self) -> Word {
        let ends = self.ends.iter().filter(|end| !end.is_recording).map(|end| end.word);
        let queues = self.queues.iter().map(QueueReport::word);
        let segments = self.has_broken_segment.then_some(Word::Broken);
        let clocks = self.has_unbounded_clocks.then_some(Word::NotProven);
        ends.chain(queues).chain(segments).chain(clocks).max().unwrap_or(Word::Held)
    }

    /// Ends of which a frame can be lost or late.
    pub(crate) fn broken(&self) -> usize {
        self.ends.iter().filter(|end| end.word == Word::Broken).count()
    }

    /// Ends of which nothing can be said, but for recordings.
    pub(crate) fn unbounded(&self) -> usize {
        self.ends.iter().filter(|end| end.word == Word::NotProven && !end.is_recording).count()
    }

    /// True if a stream has a deadline.
    pub(crate) fn has_deadlines(&self) -> bool {
        self.ends.iter().any(|end| end.deadline_ns.is_some())
    }

    /// Why not everything is held, each reason once, with the streams it is about.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for end in self.ends.iter().filter(|end| !end.is_recording && end.word != Word::Held) {
            let Some(why) = &end.why else { continue };
            // What is said of a queue once is not said of every stream in it.
            if self.warnings().any(|warning| warning == *why) {
                continue;
            }
            let about = format!("`{}` at `{}`", end.stream, end.receiver);
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, ends)) => ends.push(about),
                None if self.risks.contains(why) => {}
                None => reasons.push((why, vec![about])),
            }
        }
        let told = |(why, ends): (&str, Vec<String>)| {
            let more = ends.len().saturating_sub(NAMED_MAX);
            let named = ends[..ends.len() - more].join(", ");
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{named}{rest}: {why}")
        };
        self.risks.iter().cloned().chain(reasons.into_iter().map(told)).collect()
    }

    /// Streams that nothing bounds because they come by radio.
    pub(crate) fn by_radio(&self) -> usize {
        self.ends.iter().filter(|end| end.by_radio).count()
    }

    /// What may go wrong beside deadlines, with the smallest change that helps.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.queues.iter().filter(|queue| !queue.holds).map(QueueReport::warning)
    }

    /// The pages of a document.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut sections = vec![
            Section::new("From end to end")
                .with(Block::Text(
                    "From the instant at which a frame is due, or its slot starts, to the instant at which the \
                     receiver's application has it, checked. Processors are never idle while they have work, and serve in \
                     any order; clocks drift as the scenario says. Key exchanges, errors of the wire, and attackers but \
                     those that babble or delay on the links of an Ethernet are left out of the figures: simulate for those."
                        .into(),
                ))
                .with(Block::Table(self.table())),
        ];
        if !self.queues.is_empty() {
            sections.push(Section::new("Queues of gateways").with(Block::Table(self.queue_table())));
        }
        sections
    }

    fn table(&self) -> Table {
        let mut table = Table::new("Every stream at each of its receivers, in the worst case")
            .words("stream")
            .words("receiver")
            .numbers("bound", "us")
            .numbers("deadline", "us")
            .words("holds")
            .words("where the time goes, in us")
            .footnote("A segment counts with the driver of the node that sends there, and with the wait for a slot.");
        if self.ends.iter().any(|end| end.deadline_kind == "age") {
            table = table.footnote(
                "A deadline marked `age` limits how old the receiver's value becomes: the bound and a period more.",
            );
        }
        if self.ends.iter().any(|end| end.by_radio && end.parts.len() > 1) {
            table = table
                .footnote("What is behind a radio is bounded from the instant at which the radio received a message.");
        }
        for assumption in &self.assumptions {
            table = table.footnote(assumption);
        }
        for end in &self.ends {
            table.push(end.row());
        }
        table
    }

    fn queue_table(&self) -> Table {
        let mut table = Table::new("Frames that wait in a gateway for a segment, at most")
            .words("gateway")
            .words("segment")
            .numbers("waiting", "")
            .numbers("room", "")
            .words("holds");
        for queue in &self.queues {
            let waiting = match queue.frames_max {
                Some(frames) => Cell::count(frames).from(Evidence::Recomputed),
                None => Cell::na("a stream that waits in it has no bound"),
            };
            table.push(vec![
                Cell::text(&queue.gateway),
                Cell::text(&queue.segment),
                waiting,
                Cell::count(queue.room_frames),
                if queue.holds {
                    Cell::text("yes").marked(Mark::Good)
                } else {
                    Cell::text("no").marked(Mark::Warn).titled(queue.warning())
                },
            ]);
        }
        table
    }
}

/// Its ends; as one where everybody hears it by radio, nothing bounds that, and it goes no further.
fn of_stream(plan: &Plan, bound: &StreamBounds, kinds: Kinds, risks: &[Risk], queues: &[QueueBound]) -> Vec<EndReport> {
    let stream = &plan.streams[bound.stream.index()];
    let stays_in_slots = stays_in_slots(plan, stream, kinds);
    let end = |end: &EndBound| {
        let deadline = stream.deadline_of(end.receiver).or(stays_in_slots.then_some(stream.period));
        let on_way = |risk: &&Risk| {
            // What can cost a frame of several PDUs costs all of them.
            let is_in = |id: StreamId| {
                plan.streams[id.index()].collected().is_some_and(|collect| collect.streams.contains(&bound.stream))
            };
            let concerns = |id: StreamId| id == bound.stream || is_in(id);
            risk.stream.map_or_else(|| stream.on(risk.segment).is_some(), concerns)
                && risk.cause.concerns(end.receiver)
                && !matches!(end.latency, Err(missing) if missing.why == Why::Recording)
        };
        let mut report = EndReport::of(plan, stream, end, deadline, &risks.iter().filter(on_way).collect::<Vec<_>>());
        for queue in queues.iter().filter(|queue| is_before(stream, end.receiver, queue)) {
            report.is_behind(&QueueReport::of(plan, queue));
        }
        report
    };
    let mut ends: Vec<EndReport> = bound.ends.iter().map(end).collect();
    if ends.len() > 1 && stream.hops.len() == 1 && ends.iter().all(|end| end.by_radio) {
        let count = ends.len();
        ends.truncate(1);
        ends[0].receiver = format!("all {count}");
        ends[0].parts.truncate(1);
    }
    ends
}

/// True if what a receiver gets of a stream has waited in the queue of a gateway.
fn is_before(stream: &StreamPlan, receiver: NodeId, queue: &QueueBound) -> bool {
    let is_last = |hop: &&HopPlan| hop.to.contains(&receiver);
    let before = |hop: &&HopPlan| hop.previous.and_then(|previous| stream.hops.get(usize::from(previous)));
    let is_its = |hop: &HopPlan| hop.previous.is_some() && (hop.from, hop.segment) == (queue.gateway, queue.segment);
    stream.hops.iter().filter(is_last).any(|last| std::iter::successors(Some(last), before).any(is_its))
}

/// True if a stream has one hop, and slots there.
fn stays_in_slots(plan: &Plan, stream: &StreamPlan, kinds: Kinds) -> bool {
    let [hop] = &stream.hops[..] else { return false };
    let kind = plan.segments[hop.segment.index()].kind;
    kinds.bounds().iter().any(|row| row.kind() == kind && row.is_in_slots(hop))
}

/// From one frame of a stream to the next one at most; `None` if it is sent when its value changes.
///
/// A slow clock makes the period longer by its drift, which is below a thousandth. An application with a timer of its own has the
/// timer's drift besides, and its own period.
fn until_the_next(stream: &StreamPlan) -> Option<Duration> {
    match (&stream.application, stream.min_distance) {
        (Some(application), _) => Some(application.period + application.period / 499),
        (None, Some(_)) => None,
        (None, None) => Some(stream.period + stream.period / 999),
    }
}

/// True of what nobody can bound on paper, whatever the scenario says.
const fn is_never_bounded(why: Why) -> bool {
    matches!(why, Why::Recording | Why::Radio)
}

/// True where it is known that something is asked for more than it has.
fn is_overload(why: Why) -> bool {
    let is_full = |reason: LinkReason| matches!(reason, LinkReason::Overload { .. } | LinkReason::NoRoom);
    match why {
        Why::Arbitration(reason) => !matches!(reason, NoBound::ArrivalUnbounded | NoBound::TransfersGrow),
        Why::Link(link) => is_full(link.reason),
        Why::Overload(_) => true,
        _ => false,
    }
}

/// What can go wrong, and where.
fn risk_text(plan: &Plan, risk: &Risk) -> String {
    let text = risk.cause.text(plan);
    match risk.stream {
        Some(stream) => format!("`{}`: {text}", plan.streams[stream.index()].name),
        None => text,
    }
}

fn ns(span: Duration) -> f64 {
    span.as_ps() as f64 / 1e3
}

impl EndReport {
    fn of(plan: &Plan, stream: &StreamPlan, end: &EndBound, deadline: Option<Duration>, risks: &[&Risk]) -> Self {
        let node = |id: NodeId| plan.nodes.get(id.index()).map_or_else(String::new, |node| node.name.clone());
        let bound = end.latency.ok().map(|latency| latency.max);
        let (deadline_kind, limited) = match stream.deadline_kind {
            DeadlineKind::Reaction => ("reaction", bound),
            DeadlineKind::Age => ("age", bound.zip(until_the_next(stream)).map(|(bound, next)| bound + next)),
        };
        let is_endless = bound.is_some() && limited.is_none();
        let no_bound = end.latency.err();
        let by_radio = no_bound.is_some_and(|missing| missing.why == Why::Radio);
        let holds = match (limited, deadline) {
            (Some(limited), deadline) => deadline.map(|deadline| limited <= deadline),
            (None, _) => no_bound.is_none_or(|missing| !is_never_bounded(missing.why)).then_some(false),
        };
        let place = no_bound.map(|missing| {
            format!("{} `{}`: {}", missing.place.role(), missing.place.name(plan), missing.why.text(plan))
        });
        let worst = risks.iter().find(|risk| !risk.cause.is_unbounded()).or(risks.first());
        let (word, why) = match (worst, limited, deadline) {
            (Some(risk), ..) if !risk.cause.is_unbounded() => (Word::Broken, Some(risk_text(plan, risk))),
            (None, Some(limited), Some(deadline)) if limited > deadline => {
                let most = end.parts.iter().max_by_key(|part| part.max);
                let part = most.map_or_else(String::new, |part| {
                    format!(", of it {} in {} `{}`", part.max, part.place.role(), part.place.name(plan))
                });
                (Word::Broken, Some(format!("it can take {limited}{part}, and its deadline is {deadline}")))
            }
            (_, None, _) if no_bound.is_some_and(|missing| is_overload(missing.why)) => (Word::Broken, place.clone()),
            (Some(risk), ..) => (Word::NotProven, Some(risk_text(plan, risk))),
            (None, Some(_), _) => (Word::Held, None),
            (None, None, _) if is_endless => (Word::NotProven, Some(NO_NEXT.to_owned())),
            (None, None, _) => (Word::NotProven, place.clone()),
        };
        let holds = if word == Word::Broken { Some(false) } else { holds.filter(|_| word == Word::Held) };
        Self {
            word,
            why,
            is_recording: no_bound.is_some_and(|missing| missing.why == Why::Recording),
            stream: stream.name.clone(),
            receiver: node(end.receiver),
            bound_ns: bound.map(ns),
            deadline_kind,
            deadline_ns: deadline.map(ns),
            by_radio,
            holds,
            no_bound: place,
            parts: end
                .parts
                .iter()
                .map(|part| PartReport {
                    role: part.place.role(),
                    place: part.place.name(plan).to_owned(),
                    max_ns: ns(part.max),
                })
                .collect(),
        }
    }

    /// Its frames wait in a queue: if that can overflow, any of them can be lost.
    fn is_behind(&mut self, queue: &QueueReport) {
        let word = queue.word();
        if word > self.word && !self.is_recording {
            (self.word, self.why) = (word, Some(queue.warning()));
            self.holds = if word == Word::Broken { Some(false) } else { None };
        }
    }

    fn row(&self) -> Vec<Cell> {
        let why = || self.why.clone().or(self.no_bound.clone()).unwrap_or_default();
        let bound = match self.bound_ns {
            Some(ns) => Cell::number(ns / 1e3, 1).from(Evidence::Recomputed),
            None => Cell::na(why()),
        };
        let holds = match self.word {
            Word::Held => Cell::text("HELD").marked(Mark::Good),
            Word::Broken | Word::Failed | Word::Worse => Cell::text("BROKEN").marked(Mark::Bad).titled(why()),
            Word::NotProven | Word::NotChecked => {
                Cell::text(self.word.name().to_uppercase()).marked(Mark::Warn).titled(why())
            }
        };
        let listed = |parts: &mut dyn Iterator<Item = &PartReport>| -> Vec<String> {
            let parts = parts.filter(|part| part.max_ns > 0.0);
            parts.map(|part| format!("{} {:.1}", part.place, part.max_ns / 1e3)).collect()
        };
        let parts = listed(&mut self.parts.iter());
        // The first part is the sender's, and a radio comes right after it.
        let behind = listed(&mut self.parts.iter().skip(1).filter(|_| self.by_radio));
        let way = match &self.no_bound {
            Some(why) if !behind.is_empty() => format!("no bound: {why}; behind it {}", behind.join(" + ")),
            Some(why) => format!("no bound: {why}"),
            None => parts.join(" + "),
        };
        let mut deadline = self.deadline_ns.map_or_else(|| Cell::na(NO_DEADLINE), |ns| Cell::number(ns / 1e3, 1));
        if self.deadline_ns.is_some() && self.deadline_kind == "age" {
            deadline.text += " (age)";
        }
        vec![Cell::text(&self.stream), Cell::text(&self.receiver), bound, deadline, holds, Cell::text(way)]
    }
}

impl QueueReport {
    fn of(plan: &Plan, queue: &QueueBound) -> Self {
        Self {
            gateway: plan.node_name(queue.gateway),
            segment: plan.segments[queue.segment.index()].name.clone(),
            frames_max: queue.frames,
            room_frames: queue.room,
            holds: queue.holds(),
        }
    }

    fn word(&self) -> Word {
        match (self.holds, self.frames_max) {
            (true, _) => Word::Held,
            (false, Some(_)) => Word::Broken,
            (false, None) => Word::NotProven,
        }
    }

    fn warning(&self) -> String {
        let Self { gateway, segment, room_frames, .. } = self;
        match self.frames_max {
            Some(frames) => format!(
                "up to {frames} frames can wait in `{gateway}` for `{segment}`, and its queue holds {room_frames}: write \
                 `queue = \"{frames} frames\"`"
            ),
            None => format!(
                "nothing bounds how many frames wait in `{gateway}` for `{segment}`: its queue will overflow unless what \
                 has no bound sends less"
            ),
        }
    }
}
