//! HMAC on time-triggered Ethernet (Martins, Bhattacharjee, Dubey, Koutsoukos, ISRCS 2014): study `tte-hmac`.

mod figures;
mod forger;
pub mod frames_max;
mod live;
pub mod published;
mod scenarios;
mod tables;

use std::sync::atomic::AtomicBool;

use chronoseal_check::{Refused, Tried, compare};
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;
use chronoseal_report::{Block, Cell, Document, Evidence, Section, Table, Verdict, Word};
use chronoseal_results::RunSummary;
use chronoseal_runner::{CostTable, processor_cost};

use self::frames_max::Question;
use self::live::Live;
use self::published::inconsistencies;
use crate::cost::{cost_chart, cost_table};
use crate::{Progress, StudyError, StudyOptions, StudyOutcome};

/// As read.
pub const TITLE: &str = "HMAC on time-triggered Ethernet (ISRCS 2014)";

/// Calls for each cost.
const CALLS: usize = 5000;

/// Reproduces the work.
///
/// # Errors
/// [`StudyError`]; a host that refuses live runs is no error, its cells say so.
pub fn run(options: &StudyOptions, stop: &AtomicBool, progress: &mut Progress<'_>) -> Result<StudyOutcome, StudyError> {
    progress(0.0, "processor cost of each hash");
    let costs = processor_cost(CALLS);
    progress(0.05, "simulating: sweep of frames, tags and guards");
    let sweep = figures::sweep(stop)?;
    progress(0.2, "simulating: forger");
    let forged = forger::simulated(options.seed, stop)?;
    let live = live::measure_all(options, stop, progress)?;
    progress(0.98, "writing the report");
    let first = tables::first(&live, stop)?;
    let second = tables::second(&live, options.seed)?;
    let third = tables::third(&live, stop)?;

    let simulated: Vec<(&str, &RunSummary)> = forged.iter().map(|(name, summary)| (*name, summary)).collect();
    let measured: Vec<(&str, &RunSummary)> = live.forger.iter().map(|(name, run)| (*name, &run.summary)).collect();
    let findings = Findings {
        counts_agree: tables::is_good(&first) && tables::is_good(&third) && tables::is_good(&sweep),
        frames: headline_frames(stop)?,
        simulated_accepted: forger::accepted(&simulated),
        measured_accepted: forger::accepted(&measured),
        simulated_forger_stopped: forger::stopped_where_it_must_be(&simulated),
        measured_forger_stopped: forger::stopped_where_it_must_be(&measured),
    };
    let document = Document {
        title: TITLE.into(),
        subtitle: "Martins, Bhattacharjee, Dubey, Koutsoukos: tags on every frame of a time-triggered Ethernet. Printed, recomputed, simulated and measured side by side.".into(),
        verdict: verdict(&findings, &live),
        sections: vec![
            Section::new("Table I: frames in a base period").with(Block::Table(first)),
            Section::new("Table II: the central switch").with(Block::Table(second)),
            Section::new("Table III: impact").with(Block::Table(third)).with(Block::Table(tables::every_slot(&live))),
            which_protection(&costs)?,
            Section::new("The forger")
                .with(Block::Text("One forger has a switch port of its own, another sits on the sender's link. Each attack has a stream of its own, 100 attempts, first with no protection, then with a tag but no freshness value as in the source, then with both.".into()))
                .with(Block::Table(forger::table(&simulated, &measured)))
                .with(Block::Table(forger::discards(&simulated, &measured))),
            of_run("Latency", "Latency at the switch, live", live.switch.first().map(|(_, run)| &run.document), &live),
            of_run("Schedule", "The TDMA schedule, live", live.full.first().map(|(.., run)| &run.document), &live),
            Section::new("Processor cost")
                .with(Block::Chart(cost_chart(&costs)))
                .with(Block::Table(cost_table(&costs))),
            curves(sweep),
            Section::new("Where the source contradicts itself").with(Block::Table(contradictions())),
            Section::new("Not there yet").with(Block::Notes(vec![
                "The control loop of the source's example: its real-time target simulates vehicle dynamics. Here the target is a station that sends and receives frames; no vehicle model closes the loop.".into(),
                "A cluster of several masters as SAE AS6802 has it: here one beacon keeps the clocks, as in the source. A scenario has the cluster with `sync = { as6802 = { … } }`.".into(),
                "The source's 1.6 GHz Atom as a platform: its figure 3 has no numbers to take over.".into(),
            ])),
        ],
        environment: live.runs.environment(),
    };
    Ok(StudyOutcome { document, pages: live.runs.pages })
}

struct Findings {
    counts_agree: bool,
    /// Frames in a base period by simulation: 60 bytes and 60 with SHA-1 as published, then on the wire 60 bytes and 60
    /// with a 32-byte tag. `None` if the run was stopped before.
    frames: Option<[u64; 4]>,
    simulated_accepted: String,
    measured_accepted: String,
    simulated_forger_stopped: bool,
    measured_forger_stopped: bool,
}

fn verdict(findings: &Findings, live: &Live) -> Verdict {
    let mut points = vec![match findings.frames {
        Some([plain, tagged, plain_on_wire, long_on_wire]) => format!(
            "Simulated with the source's guard period of 0.2 ms: {plain} frames of 60 bytes in a base period of 10 ms without a tag, {tagged} with a 20-byte SHA-1 tag. With preamble, checksum and gap counted: {plain_on_wire} without, {long_on_wire} with a 32-byte tag."
        ),
        None => "The run was stopped before the simulated part was complete; what is there is marked.".into(),
    }];
    if !findings.simulated_accepted.is_empty() {
        points.push(format!(
            "Forged, changed or repeated frames accepted in the simulator: {}. The source's tag has no freshness value, so it cannot tell a repeated frame.",
            findings.simulated_accepted
        ));
    }
    if !findings.measured_accepted.is_empty() {
        points.push(format!("The same live: {}.", findings.measured_accepted));
    }
    points.push(if findings.counts_agree {
        let which = if findings.frames.is_some() { "Every simulated count" } else { "Every count simulated so far" };
        format!("{which} of frames equals the formula, for every size, tag, accounting and guard.")
    } else {
        "Some simulated counts of frames differ from the formula; they are marked in the tables.".to_owned()
    });
    let is_measured = live.refused.is_none() && !live.forger.is_empty();
    if let Some((kept, n)) = live.slots_kept() {
        points.push(format!("Live, with all 48 slots of a base period used by 2 end nodes, {:.2} % of n = {n} frames kept their slots on this host.", 100.0 * kept as f64 / n.max(1) as f64));
        points.extend(live.host_limit());
    }
    points.push(match (&live.refused, is_measured) {
        (Some(why), _) => format!("Nothing was measured live: {why}"),
        (None, false) => "The run was stopped before the live part was complete; what is there is marked.".into(),
        (None, true) => "Live rows are measurements of this host, with real frames between real processes; stalls of the host are counted, not hidden.".into(),
    });
    let tag_costs_a_frame = findings.frames.is_some_and(|[plain, tagged, ..]| plain != tagged);
    let word = if tag_costs_a_frame || !findings.counts_agree || !findings.simulated_forger_stopped {
        Word::Failed
    } else if findings.frames.is_none() || !is_measured {
        Word::NotChecked
    } else if findings.measured_forger_stopped {
        Word::Held
    } else {
        Word::Failed
    };
    let text = match word {
        Word::Held => {
            "The published main result holds: the tag costs no frame. What a forger still gets through is counted here."
        }
        Word::NotChecked if findings.frames.is_none() => {
            "The run was stopped: what it came to agrees with the published main result, the rest is open."
        }
        Word::NotChecked => {
            "The published main result holds on paper and in the simulator; it was not fully measured here."
        }
        Word::Failed | Word::Broken | Word::Worse | Word::NotProven => {
            "Something does not hold: the tag costs a frame, a count differs from its formula, or a frame that must be stopped was accepted."
        }
    };
    Verdict { word, text: text.into(), points }
}

/// The counts the verdict speaks of, by simulation with every byte and tag.
fn headline_frames(stop: &AtomicBool) -> Result<Option<[u64; 4]>, StudyError> {
    let asked = |protection, accounting| {
        let guard = Duration::from_us(200);
        let asked = Question { nodes: 2, frame_len: 60, protection, accounting, guard, real_bytes: true };
        frames_max::frames_max(&asked, stop)
    };
    let found = [
        asked("none", Accounting::AsPublished)?,
        asked("sha1-20", Accounting::AsPublished)?,
        asked("none", Accounting::OnWire)?,
        asked("sha256-32", Accounting::OnWire)?,
    ];
    Ok(match found {
        [Some(plain), Some(tagged), Some(plain_on_wire), Some(long_on_wire)] => {
            Some([plain, tagged, plain_on_wire, long_on_wire])
        }
        _ => None,
    })
}

/// The source's cluster as a user would ask about it, at the prices measured here.
fn which_protection(costs: &CostTable) -> Result<Section, StudyError> {
    let (name, text) = scenarios::CLUSTER;
    let mut text = text.to_owned();
    // At the end of the file no table is open but the last stream's, and a platform is a table of its own.
    text.push('\n');
    text.push_str(&costs.platform_toml("this-host"));
    for node in ["ecu1", "ecu2", "ecu3", "target"] {
        let line = format!("name = \"{node}\"\n");
        text = text.replacen(&line, &format!("{line}platform = \"this-host\"\n"), 1);
    }
    let scenario = scenarios::load((name, &text), &[])?;
    let applied = |name: &str| match scenario.protected(name) {
        Ok((plan, kept)) => Ok(Tried { plan, kept }),
        Err(problems) => Err(Refused(problems.first())),
    };
    let compared = compare(&scenario.plan, &applied);
    Ok(Section::new("Which protection fits")
        .with(Block::Text(format!(
            "40 frames of 60 bytes on 4 end nodes, base period 10 ms, guard 0.2 ms, counted on the wire, at the processor costs measured on this host. Lightest that holds: {}. {}.",
            compared.lightest.as_deref().unwrap_or("none"),
            compared.reason
        )))
        .with(Block::Table(compared.table)))
}

/// One section of a live run's own report, under a title of this one.
fn of_run(section: &str, title: &str, document: Option<&Document>, live: &Live) -> Section {
    let mut shown = Section::new(title);
    let found = document.and_then(|document| document.sections.iter().find(|known| known.title == section));
    match (found, &live.refused) {
        (Some(known), _) => shown.blocks.clone_from(&known.blocks),
        (None, Some(why)) => shown = shown.with(Block::Text(format!("Not measured: {why}"))),
        (None, None) => shown = shown.with(Block::Text("Not reached before the run was stopped.".into())),
    }
    shown
}

fn curves(sweep: Table) -> Section {
    let mut section = Section::new("Curves").with(Block::Chart(figures::figure_4()));
    for accounting in [Accounting::AsPublished, Accounting::OnWire] {
        for chart in figures::figures_6_and_7(accounting) {
            section = section.with(Block::Chart(chart));
        }
    }
    section.with(Block::Table(sweep))
}

fn contradictions() -> Table {
    let mut table = Table::new("Printed values that do not follow from the source's own formulas or tables")
        .numbers("no.", "")
        .words("place")
        .words("printed")
        .words("recomputed")
        .words("how we read it");
    for entry in inconsistencies() {
        table.push(vec![
            Cell::count(u64::from(entry.id)),
            Cell::text(entry.place),
            Cell::text(entry.printed).from(Evidence::Printed),
            Cell::text(entry.recomputed).from(Evidence::Recomputed),
            Cell::text(entry.explanation),
        ]);
    }
    table
}
