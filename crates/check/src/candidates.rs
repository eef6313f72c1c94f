//! Candidates: the scenario with each of them applied, judged as the scenario is, and the lightest with which it holds.

use chronoseal_analysis::candidates::{
    FORGERY_MODEL, ForgeryTime, SlotCosts, TAG_BITS_ADVISED, forgery, guessed_bits, slot_costs,
};
use chronoseal_catalog::Kinds;
use chronoseal_plan::{Plan, ProtectionId, ProtectionPlan, StreamPlan, ThreatKind};
use chronoseal_report::{Block, Cell, Mark, Section, Table, Word};
use schemars::JsonSchema;
use serde::Serialize;

use super::judged::{Judgement, percent, shown};
use super::report::word;

/// Streams that a reason names.
const NAMED_MAX: usize = 3;

/// The scenario with the protection of this name on all its streams that can have it. If there is none, why.
pub type Applied<'a> = dyn Fn(&str) -> Result<Tried, Refused> + 'a;

/// Why a candidate cannot be applied, in one sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A scenario with a candidate applied.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it means then.
    pub plan: Plan,
    /// Streams that keep their own protection, for which the candidate is not.
    pub kept: Vec<String>,
}

/// All candidates of a plan.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(crate) list: Vec<CandidateReport>,
    /// The name of the lightest that holds.
    pub(crate) lightest: Option<String>,
    /// Why that one, or why none.
    pub(crate) reason: String,
}

/// The scenario with one candidate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct CandidateReport {
    /// Name of the protection.
    protection: String,
    /// Whether a forger without the key is stopped.
    authenticates: bool,
    /// Whether a frame heard earlier is accepted again.
    replayable: bool,
    /// The hash is here for comparison with published figures, not for new designs.
    kept_for_comparison: bool,
    /// Added to every frame `[byte]`.
    overhead_bytes: u32,
    /// The word of the scenario with it.
    #[schemars(schema_with = "word")]
    word: Word,
    /// Why it is not held.
    why_not: Option<String>,
    /// It is the same for the scenario as it is.
    #[serde(skip)]
    is_own: bool,
    /// Streams that keep their own protection, since the candidate is not for them.
    kept: Vec<String>,
    /// Streams that no tag protects on all of their way even so.
    open_streams: usize,
    /// Their names.
    #[serde(skip)]
    open: Vec<String>,
    /// All streams.
    #[serde(skip)]
    streams: usize,
    /// Its tag, if it is so short that a forger guesses it `[bit]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    guessed_bits: Option<u16>,
    /// It stops what the attackers of the scenario do to their targets.
    stops_attackers: bool,
    /// What frames need of the busiest link or bus `[%]`.
    load_max_percent: Option<f64>,
    /// What is asked of the busiest processor `[%]`.
    processor_share_max_percent: Option<f64>,
    /// Whose processor that is.
    busiest_node: Option<String>,
    /// What it costs in slots, on the first Ethernet segment that has some.
    slots: Option<SlotCosts>,
    /// Expected time until the stream that is easiest to guess accepts a forged frame.
    forgery_one_stream: ForgeryTime,
    /// The same with all streams that have the tag tried at once; those that stay open need no guess.
    forgery_all_streams: ForgeryTime,
}

impl Candidates {
    pub(crate) fn of(plan: &Plan, own: &Judgement, kinds: Kinds, applied: &Applied<'_>) -> Self {
        let text = own.text();
        let of = |id: ProtectionId| {
            let protection = &plan.protections[usize::from(id.0)];
            CandidateReport::of((plan, &text), protection, kinds, applied(&protection.name))
        };
        let list: Vec<CandidateReport> = candidate_ids(plan, own).iter().copied().map(of).collect();
        let (lightest, reason) = lightest(&list, own.word(), has_replayer(plan));
        Self { list, lightest, reason }
    }

    /// The lightest, as a sentence below the verdict.
    pub(crate) fn point(&self) -> Option<String> {
        if self.list.iter().all(|one| one.overhead_bytes == 0 && !one.authenticates) {
            return None;
        }
        Some(match &self.lightest {
            Some(name) => format!("Lightest protection that holds: {name}. {}.", self.reason),
            None => format!("No protection is named as the lightest that holds: {}.", self.reason),
        })
    }

    pub(crate) fn sections(&self) -> Vec<Section> {
        if self.list.is_empty() {
            return Vec::new();
        }
        vec![Section::new("Candidates").with(Block::Table(self.table()))]
    }

    /// What each candidate costs, whether the scenario holds with it, and what guessing its tag takes.
    pub(crate) fn table(&self) -> Table {
        let has_slots = self.list.iter().any(|one| one.slots.is_some());
        let mut table = Table::new("What each protection costs this scenario, applied to its streams")
            .words("protection")
            .numbers("added", "B")
            .words("holds")
            .words("stops a forger")
            .words("expected time to an online forgery")
            .numbers("busiest link or bus", "%")
            .numbers("busiest processor", "%")
            .footnote(format!("Forgery model: {FORGERY_MODEL}."));
        if has_slots {
            table = table.numbers("frames per cycle", "").numbers("slack", "us").numbers("slack", "%");
        }
        if self.list.iter().any(|one| one.kept_for_comparison) {
            table = table
                .footnote("SHA-1 is kept for comparison with published figures; choose another hash for new designs.");
        }
        for one in &self.list {
            if !one.kept.is_empty() {
                let names = named(&one.kept);
                table =
                    table.footnote(format!("Not for `{}`, and so as the file protects them: {names}.", one.protection));
            }
        }
        for one in &self.list {
            if let Some(why) = &one.why_not {
                let why = if one.is_own { "the same as without it." } else { why };
                table = table.footnote(format!("With `{}` {}: {why}", one.protection, shown(one.word)));
            }
        }
        for one in &self.list {
            table.push(one.row(self.lightest.as_deref() == Some(&one.protection), has_slots));
        }
        table
    }
}

impl CandidateReport {
    /// Of the plan and what is said of it as it is.
    fn of(
        (plan, own): (&Plan, &String),
        protection: &ProtectionPlan,
        kinds: Kinds,
        tried: Result<Tried, Refused>,
    ) -> Self {
        let (one, all) = forgery(plan, protection);
        let mut report = Self {
            protection: protection.name.clone(),
            authenticates: protection.is_authenticated(),
            replayable: protection.is_replayable(),
            kept_for_comparison: protection.profile().is_some_and(|profile| profile.mac().kept_for_comparison()),
            overhead_bytes: protection.overhead_bytes(),
            word: Word::Broken,
            why_not: None,
            is_own: false,
            kept: Vec::new(),
            open_streams: plan.streams.len(),
            open: Vec::new(),
            streams: plan.streams.len(),
            guessed_bits: guessed_bits(protection),
            stops_attackers: false,
            load_max_percent: None,
            processor_share_max_percent: None,
            busiest_node: None,
            slots: None,
            forgery_one_stream: one,
            forgery_all_streams: all,
        };
        let trial = match tried {
            Ok(trial) => trial,
            Err(Refused(why)) => return Self { why_not: Some(why), ..report },
        };
        let plan = &trial.plan;
        let judgement = Judgement::of(plan, kinds);
        report.word = judgement.word();
        report.why_not = (report.word > Word::Held).then(|| judgement.text());
        let is_open = |stream: &&StreamPlan| !is_safe(plan, stream, ProtectionPlan::is_authenticated);
        // What a frame of several PDUs holds is protected by itself.
        let alone = || plan.streams.iter().filter(|stream| stream.collected().is_none());
        report.streams = alone().count();
        report.open = alone().filter(is_open).map(|stream| stream.name.clone()).collect();
        report.open_streams = report.open.len();
        report.stops_attackers = stops_attackers(plan);
        report.is_own = report.why_not.as_ref() == Some(own);
        let links = plan.segment_ids().filter_map(|segment| judgement.loads.busiest(segment));
        report.load_max_percent = links.map(|link| link.share.ppm() as f64 / 1e4).reduce(f64::max);
        if let Some((node, share)) = judgement.loads.busiest_processor() {
            report.processor_share_max_percent = Some(share.ppm() as f64 / 1e4);
            report.busiest_node = plan.nodes.get(node).map(|node| node.name.clone());
        }
        report.slots = slot_costs(plan, protection);
        (report.forgery_one_stream, report.forgery_all_streams) = forgery(plan, protection);
        Self { kept: trial.kept, ..report }
    }

    /// On how many streams of all it is, if some stay open.
    fn on_some(&self) -> Option<String> {
        let closed = self.streams - self.open_streams;
        (self.open_streams > 0 && self.word <= Word::NotProven)
            .then(|| format!("on {closed} of {} streams", self.streams))
    }

    /// All that is checked holds with it.
    fn holds(&self) -> bool {
        self.word <= Word::NotChecked
    }

    fn row(&self, is_lightest: bool, has_slots: bool) -> Vec<Cell> {
        let mut name = self.protection.clone();
        if self.kept_for_comparison {
            name += " (for comparison)";
        }
        if is_lightest {
            name += " *";
        }
        let stops = match (self.authenticates, self.replayable) {
            (true, _) if let Some(bits) = self.guessed_bits => {
                Cell::text(format!("no, {bits} bits are guessed")).marked(Mark::Bad)
            }
            (false, _) => Cell::text("no").marked(Mark::Bad),
            (true, is_replayable) => {
                let on = self.on_some().map_or_else(String::new, |on| format!(" {on}"));
                let but = if is_replayable { ", but replayable" } else { "" };
                let mark = if on.is_empty() && !is_replayable { Mark::Good } else { Mark::Warn };
                Cell::text(format!("yes{on}{but}")).marked(mark)
            }
        };
        let mark = match self.word {
            Word::Held => Mark::Good,
            Word::NotChecked | Word::NotProven => Mark::Warn,
            _ => Mark::Bad,
        };
        let share = |percent: Option<f64>| match percent {
            Some(percent) => Cell::number(percent, 2),
            None => Cell::na("nothing is known of it"),
        };
        let mut row = vec![
            Cell::text(name),
            Cell::count(u64::from(self.overhead_bytes)),
            Cell::text(shown(self.word)).marked(mark).titled(self.why_not.clone().unwrap_or_default()),
            stops,
            Cell::text(self.forgery_one_stream.text.clone())
                .titled(format!("all streams with the tag at once: {}", self.forgery_all_streams.text)),
            share(self.load_max_percent),
            share(self.processor_share_max_percent).titled(self.busiest_node.clone().unwrap_or_default()),
        ];
        if has_slots {
            let slots = self.slots.as_ref();
            let none = || Cell::na("it has no slots");
            row.push(slots.map_or_else(none, |slots| Cell::count(slots.frames_max)));
            row.push(slots.map_or_else(none, |slots| Cell::number(slots.slack_ns / 1000.0, 1)));
            row.push(slots.map_or_else(none, |slots| Cell::number(slots.slack_percent, 1)));
        }
        row
    }
}

fn named(streams: &[String]) -> String {
    let more = streams.len().saturating_sub(NAMED_MAX);
    let named: Vec<String> = streams.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// The candidates of the plan. Nothing alone is nothing to compare, unless it says how many frames would fit.
fn candidate_ids<'p>(plan: &'p Plan, own: &Judgement) -> &'p [ProtectionId] {
    if plan.candidates == [ProtectionId::default()] && own.infeasible.is_none() { &[] } else { &plan.candidates }
}

fn has_replayer(plan: &Plan) -> bool {
    plan.threats.iter().any(|threat| matches!(threat.kind, ThreatKind::Replay(_)))
}

/// True if a stream is protected so on all its way.
fn is_safe(plan: &Plan, stream: &StreamPlan, against: fn(&ProtectionPlan) -> bool) -> bool {
    stream.hops.iter().all(|hop| against(plan.protection_on(stream, hop)))
}

/// True if the target of each attack on frames is protected against it on all its way.
fn stops_attackers(plan: &Plan) -> bool {
    plan.threats.iter().all(|threat| match threat.kind {
        ThreatKind::Spoof(stream) | ThreatKind::Tamper(stream) => {
            is_safe(plan, &plan.streams[stream.index()], ProtectionPlan::is_authenticated)
        }
        ThreatKind::Replay(stream) => {
            is_safe(plan, &plan.streams[stream.index()], |one| one.is_authenticated() && !one.is_replayable())
        }
        _ => true,
    })
}

/// Fewest streams without a tag, then fewest frames lost, then fewest bytes, then least processor time, of those that stop the scenario's attackers with a hash for new
/// designs, and with which all that is checked holds. One that stops replay goes before one that does not.
fn lightest(list: &[CandidateReport], own: Word, has_replayer: bool) -> (Option<String>, String) {
    if list.is_empty() {
        return (None, "the scenario has no protection".into());
    }
    let has_tag = |one: &&CandidateReport| one.authenticates && !one.kept_for_comparison;
    let stop: Vec<&CandidateReport> = list.iter().filter(has_tag).filter(|one| one.guessed_bits.is_none()).collect();
    if stop.is_empty() {
        let why = match list.iter().any(|one| has_tag(&one)) {
            true => format!("no candidate has a tag of {TAG_BITS_ADVISED} bits at least, and shorter ones are guessed"),
            false => "no candidate stops a forger with a hash for new designs".into(),
        };
        return (None, why);
    }
    if stop.iter().all(|one| !one.holds()) {
        let why = match own > Word::NotChecked {
            true => "the scenario does not hold with any of them, nor as it is",
            false => "the scenario does not hold with any that stops a forger",
        };
        return (None, why.into());
    }
    let weight = |one: &&&CandidateReport, other: &&&CandidateReport| {
        let lost = |one: &CandidateReport| one.slots.as_ref().map_or(0, |slots| slots.frames_lost);
        let share = |one: &CandidateReport| one.processor_share_max_percent.unwrap_or_default();
        (one.open_streams, lost(one), one.overhead_bytes)
            .cmp(&(other.open_streams, lost(other), other.overhead_bytes))
            .then(share(one).total_cmp(&share(other)))
    };
    let best = |is_replayable: bool| {
        let fit = stop.iter().filter(|one| one.holds() && one.stops_attackers && one.replayable == is_replayable);
        fit.min_by(|one, other| weight(one, other))
    };
    let found = best(false).map(|one| (one, "stops forgery and replay"));
    let found = found.or_else(|| {
        let other = best(true).filter(|_| !has_replayer);
        other.map(|one| (one, "stops forgery, but accepts replayed frames"))
    });
    match found {
        Some((best, meaning)) => {
            let lost = best.slots.as_ref().map_or_else(String::new, |slots| match slots.frames_lost {
                1 => "1 frame a cycle and ".into(),
                lost => format!("{lost} frames a cycle and "),
            });
            let share = best.processor_share_max_percent.unwrap_or_default();
            let cost = format!(
                "{lost}{} bytes a frame, with {} of the busiest processor",
                best.overhead_bytes,
                percent((share * 1e4) as u64)
            );
            let word = if best.word == Word::Held { "" } else { ", but for what is not checked" };
            let on = best.on_some().map_or_else(String::new, |on| {
                let stays = if best.open_streams == 1 { "stays" } else { "stay" };
                format!(" {on} ({} {stays} open)", named(&best.open))
            });
            let name = best.protection.clone();
            (Some(name), format!("The scenario holds with it{word}; it {meaning}{on}, and costs {cost}"))
        }
        None => (None, "no candidate with which the scenario holds stops what its attackers do".into()),
    }
}
