//! The opening picture: every stream's latency against what it can be and what it may be.

use std::collections::BTreeMap;

use chronoseal_results::{
    Account, BoundMeta, Distribution, EndMeta, PartSummary, RunMeta, RunSummary, StreamMeta, StreamSummary,
};

use super::{evidence, is_shared_frame};
use crate::document::{Block, Evidence, Mark, RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Section};
use crate::inputs::{differences, listed};

/// One run's description and what it amounts to.
pub(super) type Run<'a> = (&'a RunMeta, &'a RunSummary);

/// The section that opens the report; without blocks if the run has no streams.
pub(super) fn section(run: Run<'_>, other: Option<Run<'_>>) -> Section {
    let section = Section::new("All streams");
    let ranges = ranges(run, other);
    if ranges.rows.is_empty() {
        return section;
    }
    section.with(Block::Ranges(ranges))
}

fn ranges(run: Run<'_>, other: Option<Run<'_>>) -> Ranges {
    let runs: Vec<Run<'_>> = std::iter::once(run).chain(other).collect();
    let alike = other.is_some_and(|other| other.0.engine == run.0.engine);
    let mut hops = Hops::default();
    let mut rows: Vec<RangeRow> = Vec::new();
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (which, (meta, summary)) in runs.iter().enumerate() {
        // A name that occurs twice in one run is two streams.
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut is_in_run = vec![false; rows.len()];
        let instances = instances(meta);
        for (stream, counts) in meta.streams.iter().zip(&summary.streams).filter(|(stream, _)| !is_shared_frame(stream))
        {
            for end in ends(meta, stream, counts) {
                let nth = taken.entry(end.name.clone()).or_default();
                let of_name = places.entry(end.name.clone()).or_default();
                if *nth == of_name.len() {
                    of_name.push(rows.len());
                    is_in_run.push(true);
                    rows.push(RangeRow {
                        name: end.name.clone(),
                        instance_of: instances
                            .get(&*stream.name)
                            .map_or_else(String::new, |base| end.name.replacen(&stream.name, base, 1)),
                        note: meta.way_of(stream),
                        absent: runs[..which].iter().map(|run| (evidence(run.0), NOT_IN_RUN.into())).collect(),
                        ..RangeRow::default()
                    });
                }
                let place = of_name[*nth];
                *nth += 1;
                is_in_run[place] = true;
                let note = if alike { ["this run", "the other run"][which] } else { "" };
                fill(&mut rows[place], meta, &end, note, &mut hops);
            }
        }
        for (row, _) in rows.iter_mut().zip(is_in_run).filter(|(_, is_in_run)| !is_in_run) {
            row.absent.push((evidence(meta), NOT_IN_RUN.into()));
        }
    }
    for row in &mut rows {
        if row.bound.is_none() && row.unbounded.is_empty() {
            row.unbounded = "the run was stored without one".into();
        }
    }
    // What is closest to harm comes first, so that a cut never hides it.
    rows.sort_by(|one, other| harm(other).total_cmp(&harm(one)));
    Ranges {
        caption: "Latency of every stream: what was seen, what is possible, what is allowed".into(),
        quantity: "end-to-end latency".into(),
        unit: "\u{b5}s".into(),
        hops: hops.names,
        rows,
        footnotes: other.map(|other| beside(run.0, other.0)).into_iter().collect(),
        lines: Vec::new(),
        is_log: false,
    }
}

/// What streams are instances of, by name: of `wheel.0` and `wheel.1`, from and to the same nodes, that is `wheel`.
fn instances(meta: &RunMeta) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for pair in meta.streams.windows(2) {
        let [(one, first), (other, second)] = [numbered(&pair[0]), numbered(&pair[1])].map(Option::unwrap_or_default);
        let way = |stream: &StreamMeta| (stream.sender, stream.receivers.clone(), stream.segments.clone());
        let are_alike = way(&pair[0]) == way(&pair[1])
            && (pair[0].period_ns, pair[0].deadline_ns) == (pair[1].period_ns, pair[1].deadline_ns);
        if !one.is_empty() && one == other && first + 1 == second && are_alike {
            found.extend([(pair[0].name.as_str(), one), (pair[1].name.as_str(), one)]);
        }
    }
    found
}

/// The name before the number, and the number.
fn numbered(stream: &StreamMeta) -> Option<(&str, u32)> {
    let (name, number) = stream.name.rsplit_once('.')?;
    Some((name, number.parse().ok()?))
}

/// How close a row is to harm: frames that failed before all, then what share of its deadline was seen or is bounded.
fn harm(row: &RangeRow) -> f64 {
    let longest = row.spreads.iter().map(|spread| spread.max).chain(row.bound.iter().map(|bound| bound.total));
    match (row.mark, row.deadline) {
        (Mark::Bad, _) => f64::INFINITY,
        (_, Some(deadline)) if deadline > 0.0 => longest.fold(0.0, f64::max) / deadline,
        _ => 0.0,
    }
}

const NOT_IN_RUN: &str = "that run has no such stream";

/// Names of hops, numbered as they come.
#[derive(Default)]
struct Hops {
    names: Vec<String>,
}

impl Hops {
    fn number(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        })
    }
}

/// What one row is of: a stream, or one of its receivers if these have deadlines or bounds of their own.
struct End<'a> {
    name: String,
    stream: &'a StreamMeta,
    counts: &'a StreamSummary,
    deadline_ns: Option<i64>,
    bound: Option<&'a BoundMeta>,
    unbounded: Option<&'a String>,
    latency: Option<&'a Distribution>,
    /// Why frames were not in time, and how many.
    losses: Vec<(&'a str, u64)>,
}

/// The name of a stream where it stands beside others: what a closed loop measures is something else.
pub(super) fn shown(meta: &RunMeta, stream: &StreamMeta) -> String {
    if meta.is_in_closed_loop(stream) { format!("{}, closed loop", stream.name) } else { stream.name.clone() }
}

/// A bound stands beside the deadline of the same receiver.
fn ends<'a>(meta: &RunMeta, stream: &'a StreamMeta, counts: &'a StreamSummary) -> Vec<End<'a>> {
    let name = shown(meta, stream);
    let limits = |end: &EndMeta| (end.deadline_ns, end.bound_ns(), end.unbounded.clone());
    let is_divided = stream.ends.windows(2).any(|pair| limits(&pair[0]) != limits(&pair[1]));
    if !is_divided || counts.receivers.len() != stream.ends.len() {
        return vec![End {
            name,
            stream,
            counts,
            deadline_ns: stream.deadline_ns,
            bound: stream.bound.as_ref(),
            unbounded: stream.unbounded.as_ref(),
            latency: counts.end_to_end.all.as_ref(),
            losses: counts.losses().collect(),
        }];
    }
    let end = |(end, account): (&'a EndMeta, &'a Account)| End {
        name: format!("{name} \u{2192} {}", meta.node_name(end.receiver)),
        stream,
        counts,
        deadline_ns: end.deadline_ns,
        bound: end.bound.as_ref(),
        unbounded: end.unbounded.as_ref(),
        latency: account.end_to_end.as_ref(),
        losses: account.losses().collect(),
    };
    stream.ends.iter().zip(&counts.receivers).map(end).collect()
}

/// Adds what one run says about a row. Deadline and bound are of the first run that has them.
fn fill(row: &mut RangeRow, meta: &RunMeta, end: &End<'_>, note: &str, hops: &mut Hops) {
    let (stream, counts) = (end.stream, end.counts);
    row.deadline = row.deadline.or(end.deadline_ns.map(us));
    let id = meta.streams.iter().position(|known| std::ptr::eq(known, stream));
    let unmeasured = meta.unmeasured.iter().find(|end| Some(usize::from(end.stream)) == id);
    let not_checked = unmeasured.map(|end| format!("not checked, because {}", end.why));
    if let Some(why) = not_checked.as_ref().filter(|_| row.deadline.is_none()) {
        row.no_deadline.clone_from(why);
    }
    if row.no_deadline.is_empty() && row.deadline.is_none() {
        row.no_deadline = match (has_slot(meta, stream), stream.is_judged) {
            (true, _) => "its slot says when it has to leave".into(),
            (_, true) => "each identifier has its own, the median distance of its frames".into(),
            _ => "the scenario names none for it".into(),
        };
    }
    if let (None, Some(bound)) = (&row.bound, end.bound) {
        let parts = bound.parts.iter().map(|(name, ns)| RangePart { hop: hops.number(name), value: us(*ns) });
        row.bound = Some(RangeBound { total: us(bound.total_ns), parts: parts.collect() });
    }
    if let (true, Some(why)) = (row.unbounded.is_empty(), end.unbounded) {
        row.unbounded.clone_from(why);
    }
    match end.latency {
        Some(latency) => {
            let part = |part: &PartSummary| {
                part.time.p50_ns.map(|median| RangePart { hop: hops.number(&part.name), value: us(median) })
            };
            // Parts are of all receivers together.
            let is_whole = std::ptr::eq(latency, counts.end_to_end.all.as_ref().unwrap_or(latency));
            let parts = counts.way.iter().filter(|_| is_whole).filter_map(part).collect();
            row.spreads.push(spread(latency, parts, evidence(meta), note));
        }
        None => {
            let why = not_checked.unwrap_or_else(|| "no frame was accepted after start-up".into());
            row.absent.push((evidence(meta), why));
        }
    }
    let losses: Vec<String> = (end.losses.iter())
        .filter(|_| counts.is_judged || !counts.held())
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    if !losses.is_empty() {
        let losses = format!("{}: {}", evidence(meta).name(), losses.join(", "));
        row.mark = Mark::Bad;
        row.remark = if row.remark.is_empty() { losses } else { format!("{}; {losses}", row.remark) };
    }
}

/// True if a slot of a schedule is for frames of this stream.
fn has_slot(meta: &RunMeta, stream: &StreamMeta) -> bool {
    let schedules = meta.segments.iter().filter_map(|segment| segment.schedule.as_ref());
    let mut slots = schedules.flat_map(|schedule| &schedule.slots);
    slots.any(|slot| meta.streams.get(usize::from(slot.stream)).is_some_and(|known| std::ptr::eq(known, stream)))
}

fn spread(latency: &Distribution, parts: Vec<RangePart>, evidence: Evidence, note: &str) -> RangeSpread {
    RangeSpread {
        evidence,
        note: note.into(),
        n: latency.n,
        min: us(latency.min_ns),
        median: latency.p50_ns.map(us),
        p99: latency.p99_ns.map(us),
        max: us(latency.max_ns),
        parts,
        tukey: None,
    }
}

/// What was drawn beside the run, and whether it may be compared.
fn beside(meta: &RunMeta, other: &RunMeta) -> String {
    let warning = match &differences(meta, other)[..] {
        [] => String::new(),
        differences => {
            format!(" It is of another scenario, so compare with care: they differ in {}.", listed(differences))
        }
    };
    format!(
        "Drawn beside this run: the {} run of {} with seed {}, {:.3} s long.{warning}",
        other.engine.evidence(),
        other.name,
        other.seed,
        other.duration_ns as f64 / 1e9
    )
}

fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}
