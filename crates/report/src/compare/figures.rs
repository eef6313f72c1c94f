//! The figures of runs that are compared, each by what it is and whose.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_results::{LinkUse, RoundTripSummary, RunMeta, RunSummary, Spread, StreamMeta, StreamSummary};
use serde::Serialize;

use super::{Change, EFFECT_MIN, Line, RUNS_MIN, Run, SHARE_EFFECT_MIN, mean};
use crate::statistics::exchange::Sides;
use crate::word::Word;

/// What kind of figure a line compares; what does the most harm comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Runs whose verdict is as bad as the line says.
    Verdict,
    /// Forged, changed or repeated frames that were accepted.
    Forgeries,
    /// Share of a stream's frames that were late or lost, for one reason.
    Losses,
    /// From the start of the exchange of a group's keys until all members have one.
    Keys,
    /// The longest a frame can take by analysis.
    Bound,
    /// The longest, or the 99th percentile, of a stream's latencies.
    Tail,
    /// The median of a stream's latencies.
    Median,
    /// Share of the time that a bus or a direction of a link is used.
    Load,
    /// Share of the time that a node's processor computes.
    Processor,
}

/// Latencies below a nanosecond count as one.
const LATENCY_FLOOR_US: f64 = 1e-3;
/// The longest of so many times as many messages is longer by less than [`EFFECT_MIN`], of a hundred whose times have an exponential tail.
const COUNTS_ALIKE: f64 = 1.25;
/// Counts of nothing count as half of one where only ratios matter.
const COUNT_FLOOR: f64 = 0.5;

impl Kind {
    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Forgeries => "accepted forgeries",
            Self::Losses => "frames late or lost",
            Self::Keys => "time until keys are there",
            Self::Bound => "bound",
            Self::Tail => "latency",
            Self::Median => "median latency",
            Self::Load => "load",
            Self::Processor => "processor time",
        }
    }

    /// Unit of its figures.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Verdict => "% of runs",
            Self::Forgeries => "a run",
            Self::Losses => "% of frames",
            Self::Keys | Self::Bound | Self::Tail | Self::Median => "us",
            Self::Load | Self::Processor => "% of time",
        }
    }

    /// A figure as shown, in [`Self::unit`].
    pub(super) fn shown(self, value: f64) -> f64 {
        if self.unit().starts_with('%') { 100.0 * value } else { value }
    }

    /// How often something happened, and not how long it took.
    pub(super) const fn is_counted(self) -> bool {
        matches!(self, Self::Verdict | Self::Forgeries | Self::Losses)
    }

    /// A single one is harm already, if there was none before.
    pub(super) const fn is_certain(self) -> bool {
        matches!(self, Self::Verdict | Self::Forgeries)
    }

    /// Differences are those of shares, not relative.
    pub(super) const fn is_absolute(self) -> bool {
        matches!(self, Self::Verdict | Self::Losses | Self::Load | Self::Processor)
    }

    /// A figure on the scale on which it is tested: that of ratios, but for shares, which may be zero.
    fn tested(self, value: f64) -> f64 {
        match self {
            Self::Verdict | Self::Losses | Self::Load | Self::Processor => value,
            Self::Forgeries => value.max(COUNT_FLOOR).ln(),
            Self::Keys | Self::Bound | Self::Tail | Self::Median => value.max(LATENCY_FLOOR_US).ln(),
        }
    }

    /// What stands for the runs of a side: their mean on that scale, but of counts the plain one.
    pub(super) fn typical(self, values: &[Option<f64>]) -> Option<f64> {
        match self {
            Self::Keys | Self::Bound | Self::Tail | Self::Median => {
                let tested: Vec<Option<f64>> =
                    values.iter().map(|value| value.map(|value| self.tested(value))).collect();
                mean(&tested).map(f64::exp)
            }
            Self::Verdict | Self::Forgeries | Self::Losses | Self::Load | Self::Processor => mean(values),
        }
    }

    /// A difference on that scale as it is reported.
    pub(super) fn shift_from(self, difference: f64) -> f64 {
        if self.is_absolute() { difference } else { difference.exp_m1() }
    }

    /// The difference of two figures as it is reported.
    pub(super) fn shift_between(self, a: f64, b: f64) -> f64 {
        self.shift_from(self.tested(b) - self.tested(a))
    }
}

/// One figure of every run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Figures {
    pub(super) kind: Kind,
    pub(super) of: String,
    pub(super) detail: String,
    pub(super) a: Vec<Option<f64>>,
    pub(super) b: Vec<Option<f64>>,
    /// Why runs of the two sides cannot be held against each other in this, whatever they have.
    pub(super) unlike: Option<String>,
}

impl Figures {
    /// As the test wants them; of pairs, only runs that have a partner, in the same order.
    pub(super) fn sides(&self, pairs: Option<&[(usize, usize)]>) -> Sides {
        let tested = |value: Option<f64>| value.map(|value| self.kind.tested(value));
        let (a, b) = match pairs {
            Some(pairs) => pairs.iter().map(|&(a, b)| (tested(self.a[a]), tested(self.b[b]))).unzip(),
            None => (self.a.iter().copied().map(tested).collect(), self.b.iter().copied().map(tested).collect()),
        };
        let least = self.least();
        // Where every difference counts, a twentieth of all runs.
        let blur = if least > 0.0 { least / 20.0 } else { 0.05 };
        Sides { a, b, least, blur }
    }

    /// The least difference that is worth reporting, on the scale on which it is tested.
    fn least(&self) -> f64 {
        match self.kind {
            Kind::Verdict | Kind::Forgeries => 0.0,
            Kind::Losses => SHARE_EFFECT_MIN,
            // Of what is the same whichever side a run is on.
            Kind::Load | Kind::Processor => {
                let known = self.a.iter().chain(&self.b).flatten();
                let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
                (EFFECT_MIN * mean).max(SHARE_EFFECT_MIN)
            }
            Kind::Keys | Kind::Bound | Kind::Tail | Kind::Median => EFFECT_MIN.ln_1p(),
        }
    }

    /// Why there are too few figures to test, or none that can be.
    pub(super) fn why_not_checked(&self) -> String {
        let known = |values: &[Option<f64>]| values.iter().flatten().count();
        match (known(&self.a), known(&self.b)) {
            (_, 0) => "no run of the second side has it".into(),
            (0, _) => "no run of the first side has it".into(),
            _ if self.unlike.is_some() => self.unlike.clone().unwrap_or_default(),
            (a, b) if a == self.a.len() && b == self.b.len() => "too few runs".into(),
            (a, b) => format!("only {a} and {b} runs have it, and a test needs {RUNS_MIN} of each side"),
        }
    }
}

/// What a figure is: its kind, whose it is, and which of several.
type Key = (Kind, String, String);

pub(super) const FAILED: &str = "failed";
const NOT_HELD: &str = "not held";
const PERCENTILE: &str = "p99";
const LONGEST: &str = "longest";

/// Every figure that some run of both sides can have, but for bounds.
pub(super) fn figures(a: (&[&Run], &[Word]), b: (&[&Run], &[Word])) -> Vec<Figures> {
    let of_side = |(runs, words): (&[&Run], &[Word])| {
        runs.iter().zip(words).map(|((meta, summary), word)| of_run(meta, summary, *word)).collect::<Vec<_>>()
    };
    let streams = |(runs, _): (&[&Run], &[Word])| -> Vec<BTreeSet<String>> {
        runs.iter().map(|(meta, summary)| names(meta, summary).collect()).collect()
    };
    let (figures_a, figures_b) = (of_side(a), of_side(b));
    let (streams_a, streams_b) = (streams(a), streams(b));
    let keys: BTreeSet<&Key> = figures_a.iter().chain(&figures_b).flat_map(BTreeMap::keys).collect();
    let all: Vec<Figures> = keys
        .into_iter()
        .map(|key| {
            let values = |figures: &[BTreeMap<Key, f64>], streams: &[BTreeSet<String>]| {
                let one = |(run, streams): (&BTreeMap<Key, f64>, &BTreeSet<String>)| {
                    run.get(key).copied().or_else(|| when_absent(key, streams))
                };
                figures.iter().zip(streams).map(one).collect()
            };
            let (kind, of, detail) = key.clone();
            let unlike = (kind == Kind::Tail && detail == LONGEST).then(|| unlike(&of, a.0, b.0)).flatten();
            Figures { kind, of, detail, a: values(&figures_a, &streams_a), b: values(&figures_b, &streams_b), unlike }
        })
        .collect();
    all.iter().filter(|figures| is_worth_comparing(figures, &all)).cloned().collect()
}

/// Of more messages the longest takes longer: why longest latencies cannot be compared, if one side has many more messages in a run.
fn unlike(of: &str, a: &[&Run], b: &[&Run]) -> Option<String> {
    let of_run = |(meta, summary): &&Run| {
        let streams = names(meta, summary).zip(summary.streams.iter().map(|stream| stream.end_to_end.all));
        let trips = summary.round_trips.iter().map(|trip| (trip_name(trip), trip.from_due.all));
        let found = streams.chain(trips).find(|(name, _)| name == of);
        found.and_then(|(_, latency)| latency).map_or(0.0, |latency| latency.n as f64)
    };
    let mean = |runs: &[&Run]| runs.iter().map(of_run).sum::<f64>() / runs.len().max(1) as f64;
    let (count_a, count_b) = (mean(a), mean(b));
    let length = |runs: &[&Run]| runs.first().map(|(meta, _)| meta.duration_ns);
    (count_a.max(count_b) > count_a.min(count_b) * COUNTS_ALIKE).then(|| {
        let why = if length(a) == length(b) { "fewer came on one side" } else { "compare runs of one length" };
        format!("the longest of {count_a:.0} messages a run is no measure beside the longest of {count_b:.0}: {why}")
    })
}

fn trip_name(trip: &RoundTripSummary) -> String {
    loop_name(&format!("{} and back as {}", trip.stream, trip.answer), trip.closed_loop_ns.is_some())
}

/// What it means that a run does not mention a figure.
fn when_absent((kind, of, _): &Key, streams: &BTreeSet<String>) -> Option<f64> {
    match kind {
        Kind::Verdict | Kind::Forgeries | Kind::Processor => Some(0.0),
        Kind::Losses => streams.contains(of).then_some(0.0),
        Kind::Keys | Kind::Bound | Kind::Tail | Kind::Median | Kind::Load => None,
    }
}

/// False for what only the second side has, which nothing is there to compare with, and for what says nothing that another
/// figure does not say better.
fn is_worth_comparing(figures: &Figures, all: &[Figures]) -> bool {
    let known = |values: &[Option<f64>]| values.iter().flatten().count();
    let other = |kind: Kind, detail: &str| {
        all.iter().find(|other| (other.kind, &other.of, other.detail.as_str()) == (kind, &figures.of, detail))
    };
    let is_complete = |percentile: &Figures, longest: &Figures| {
        (known(&percentile.a), known(&percentile.b)) == (known(&longest.a), known(&longest.b))
    };
    match figures.kind {
        Kind::Verdict => {
            let failed = other(Kind::Verdict, FAILED);
            figures.detail == FAILED || failed.is_none_or(|failed| (&failed.a, &failed.b) != (&figures.a, &figures.b))
        }
        // A stream or a link that is new.
        _ if known(&figures.a) == 0 => false,
        Kind::Load => known(&figures.b) > 0,
        // Percentiles need samples; a run that is too short for them has a longest latency.
        Kind::Median => other(Kind::Tail, LONGEST).is_none_or(|longest| is_complete(figures, longest)),
        Kind::Tail if figures.detail == PERCENTILE => {
            other(Kind::Tail, LONGEST).is_none_or(|longest| is_complete(figures, longest))
        }
        Kind::Tail => other(Kind::Tail, PERCENTILE).is_none_or(|percentile| !is_complete(percentile, figures)),
        Kind::Losses => known(&figures.b) > 0,
        Kind::Forgeries | Kind::Keys | Kind::Bound | Kind::Processor => true,
    }
}

/// All figures of one run.
fn of_run(meta: &RunMeta, summary: &RunSummary, word: Word) -> BTreeMap<Key, f64> {
    let mut figures = BTreeMap::new();
    // An interrupted run is not checked to its end, which says nothing of the side.
    let bad = |is_bad: bool| if is_bad { 1.0 } else { 0.0 };
    figures.insert((Kind::Verdict, String::new(), FAILED.into()), bad(word >= Word::Worse));
    figures.insert((Kind::Verdict, String::new(), NOT_HELD.into()), bad(word > Word::Held && !meta.interrupted));
    for attack in summary.attacks.iter().filter(|attack| attack.accepted > 0) {
        let key = (Kind::Forgeries, attack.stream.clone(), attack.attack.clone());
        *figures.entry(key).or_default() += attack.accepted as f64;
    }
    for (index, stream) in summary.streams.iter().enumerate() {
        of_stream(stream, is_closed(meta, index), &mut figures);
    }
    for trip in &summary.round_trips {
        latency(trip_name(trip), &trip.from_due, &mut figures);
    }
    let keys_after =
        meta.group.as_ref().zip(summary.group.as_ref()).and_then(|(group, found)| found.established_after_ns(group));
    if let Some(ns) = keys_after {
        figures.insert((Kind::Keys, String::new(), String::new()), ns as f64 / 1e3);
    }
    let time_ns = meta.duration_ns.max(1) as f64;
    for segment in &summary.segments {
        if let Some(share) = segment.load().and_then(|load| load.share) {
            figures.insert((Kind::Load, segment.name.clone(), String::new()), share);
        }
    }
    for used in &summary.links {
        for (direction, busy_ns) in used.busy_ns.iter().enumerate() {
            if let Some(of) = link_name(meta, used, direction) {
                *figures.entry((Kind::Load, of, String::new())).or_default() += *busy_ns as f64 / time_ns;
            }
        }
    }
    for work in &summary.work {
        let share = work.duration.n as f64 * work.duration.mean_ns / time_ns;
        *figures.entry((Kind::Processor, work.node.clone(), String::new())).or_default() += share;
    }
    figures
}

/// The streams of a run, as its figures name them.
fn names<'r>(meta: &'r RunMeta, summary: &'r RunSummary) -> impl Iterator<Item = String> + use<'r> {
    summary.streams.iter().enumerate().map(|(index, stream)| loop_name(&stream.name, is_closed(meta, index)))
}

fn is_closed(meta: &RunMeta, index: usize) -> bool {
    meta.streams.get(index).is_some_and(|stream| meta.is_in_closed_loop(stream))
}

/// Figures of a closed loop are compared with such alone.
fn loop_name(of: &str, is_closed: bool) -> String {
    if is_closed { format!("{of}, closed loop") } else { of.to_owned() }
}

fn of_stream(stream: &StreamSummary, is_closed: bool, figures: &mut BTreeMap<Key, f64>) {
    let name = loop_name(&stream.name, is_closed);
    let mut add = |kind: Kind, detail: &str, value: f64| {
        figures.insert((kind, name.clone(), detail.to_owned()), value);
    };
    let lost: u64 = stream.losses().map(|(_, count)| count).sum();
    let all = (stream.delivered + lost) as f64;
    for (reason, count) in stream.losses() {
        add(Kind::Losses, reason, count as f64 / all);
    }
    latency(name, &stream.end_to_end, figures);
}

fn latency(of: String, spread: &Spread, figures: &mut BTreeMap<Key, f64>) {
    let Some(latency) = spread.all else { return };
    let mut add = |kind: Kind, detail: &str, value: f64| {
        figures.insert((kind, of.clone(), detail.to_owned()), value);
    };
    let us = |ns: i64| ns as f64 / 1e3;
    add(Kind::Tail, LONGEST, us(latency.max_ns));
    if let Some(ns) = latency.p99_ns {
        add(Kind::Tail, PERCENTILE, us(ns));
    }
    if let Some(ns) = latency.p50_ns {
        add(Kind::Median, "", us(ns));
    }
}

/// The direction of a link by the names of its ends.
fn link_name(meta: &RunMeta, used: &LinkUse, direction: usize) -> Option<String> {
    let link = meta.segments.get(usize::from(used.segment))?.links.get(usize::from(used.link))?;
    let [from, to] = if direction == 0 { link.ends } else { [link.ends[1], link.ends[0]] };
    Some(format!("{} \u{2192} {}", meta.node_name(from), meta.node_name(to)))
}

/// The bounds of streams that both sides have: analysis makes them, so nothing is to be tested.
pub(super) fn bounds(a: &[&Run], b: &[&Run]) -> Vec<Line> {
    let (a, b) = (streams_of(a), streams_of(b));
    a.iter().filter_map(|(name, a)| bound(name, a, b.get(name)?)).collect()
}

/// The streams of a side's runs, by name.
fn streams_of<'r>(runs: &[&'r Run]) -> BTreeMap<&'r str, Vec<&'r StreamMeta>> {
    let mut streams: BTreeMap<&str, Vec<&StreamMeta>> = BTreeMap::new();
    for stream in runs.iter().flat_map(|(meta, _)| &meta.streams) {
        streams.entry(&stream.name).or_default().push(stream);
    }
    streams
}

/// Compares the largest bound of each side; a side has none if one of its runs has none.
fn bound(name: &str, a: &[&StreamMeta], b: &[&StreamMeta]) -> Option<Line> {
    let largest = |streams: &[&StreamMeta]| -> Option<f64> {
        let bounds: Option<Vec<i64>> = streams.iter().map(|of| of.bound.as_ref().map(|bound| bound.total_ns)).collect();
        bounds?.into_iter().max().map(|ns| ns as f64 / 1e3)
    };
    // A bound of several receivers is held against no single deadline.
    let misses = |streams: &[&StreamMeta]| {
        streams.iter().filter(|of| of.receivers.len() == 1).any(|of| {
            let (bound, deadline) = (of.bound.as_ref().map(|bound| bound.total_ns), of.deadline_ns);
            bound.zip(deadline).is_some_and(|(bound, deadline)| bound > deadline)
        })
    };
    let values = (largest(a), largest(b));
    let shift = values.0.zip(values.1).map(|(a, b)| Kind::Bound.shift_between(a, b));
    let (change, note) = match (values, shift) {
        ((None, None), _) => return None,
        ((Some(_), None), _) => {
            let why = b.iter().find_map(|stream| stream.unbounded.clone());
            (Change::Worse, why.unwrap_or_else(|| "analysis does not bound it any more".into()))
        }
        ((None, Some(_)), _) => (Change::Better, "analysis did not bound it before".into()),
        _ if misses(b) && !misses(a) => (Change::Worse, "it is beyond the deadline now".into()),
        (_, Some(shift)) if shift >= EFFECT_MIN => (Change::Worse, String::new()),
        (_, Some(shift)) if shift <= -EFFECT_MIN => (Change::Better, String::new()),
        _ => (Change::Same, String::new()),
    };
    Some(Line {
        kind: Kind::Bound,
        of: name.to_owned(),
        detail: String::new(),
        n: (a.len(), b.len()),
        values,
        shift,
        interval: None,
        p: None,
        change,
        note,
    })
}
