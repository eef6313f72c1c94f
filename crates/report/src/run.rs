//! The report of one run, simulated or live.

mod bus;
mod charts;
mod ranges;
mod schedule;
mod tables;

use chronoseal_core::statistics::samples_for;
use chronoseal_results::{Engine, RunMeta, RunRows, RunSummary};

use crate::document::{Block, Document, Evidence, Held, Section, Verdict};

/// The document of one run. Rows that were not kept (a summary read back without them) leave their charts out.
pub fn run_report(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Document {
    run_report_with(meta, summary, rows, None)
}

/// The document of one run whose opening picture also shows an `other` run of the same scenario, such as the live one beside
/// the simulated one. Streams are matched by name. Everything below the picture is of the first run alone.
pub fn run_report_with(
    meta: &RunMeta,
    summary: &RunSummary,
    rows: &RunRows,
    other: Option<(&RunMeta, &RunSummary)>,
) -> Document {
    let picture = ranges::section((meta, summary), other);
    if meta.bus.is_some() {
        return bus::document(meta, summary, rows, picture);
    }
    let mut sections = vec![picture, streams(meta, summary), latency(meta, summary, rows), schedule(meta, rows)];
    if !summary.attacks.is_empty() {
        sections.push(attacks(meta, summary));
    }
    sections.push(discards(meta, summary));
    sections.push(
        Section::new("Clocks")
            .with(Block::Text(
                "Each station runs on a clock of its own, disciplined by the sync beacon. Corrections after joining \
                 bound how far the clock strays between two beacons."
                    .into(),
            ))
            .with(Block::Table(tables::clocks(meta, summary))),
    );
    if !summary.work.is_empty() || !summary.tasks.is_empty() {
        let mut section = Section::new("Processor time");
        if !summary.work.is_empty() {
            section = section.with(Block::Table(tables::work(meta, summary)));
        }
        if !summary.tasks.is_empty() {
            section = section.with(Block::Table(tables::node_tasks(meta, summary)));
        }
        sections.push(section);
    }
    if meta.engine == Engine::Live {
        sections.push(emulator("The switch", summary, rows));
    }
    Document {
        title: format!("{}: {} run", meta.name, meta.engine.evidence()),
        subtitle: meta.description.clone(),
        verdict: verdict(meta, summary),
        sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
        environment: environment(meta),
    }
}

/// Attacks the verdict names one by one.
const ATTACKS_MAX: usize = 8;

/// How the numbers of this run were obtained.
fn evidence(meta: &RunMeta) -> Evidence {
    match meta.engine {
        Engine::Sim => Evidence::Simulated,
        Engine::Live => Evidence::Measured,
    }
}

/// The answer in plain words: did every deadline hold, and did any attack get through?
fn verdict(meta: &RunMeta, summary: &RunSummary) -> Verdict {
    let (deadlines, forged) = (summary.deadlines_held(), summary.forged_accepted());
    let scheduled = summary.streams.iter().filter(|stream| stream.is_time_triggered());
    let (mut delivered, mut failed) = (0, 0);
    for stream in scheduled {
        delivered += stream.delivered;
        failed += stream.late + stream.missing + stream.unaccounted + stream.discarded_total();
    }
    let (attempts, denied) = (summary.attack_attempts(), summary.denied());
    let first = if !summary.has_deadlines() {
        "No stream of this run has a slot, so there was no deadline to hold".to_owned()
    } else if deadlines {
        "Every deadline held".to_owned()
    } else if failed > 0 {
        format!("Deadlines did not hold: {failed} of {} scheduled frames were late or lost", delivered + failed)
    } else {
        "It cannot be said that deadlines held: not every clock joined, or a stream delivered nothing".to_owned()
    };
    let second = match (attempts, forged) {
        (0, _) => "; nothing attacked this run.".to_owned(),
        (_, 0) => format!(", and none of {attempts} attacks was accepted."),
        _ => {
            let but = if deadlines { "but" } else { "and" };
            format!(", {but} {forged} forged, changed or repeated frames were accepted.")
        }
    };
    let held = match (deadlines && !summary.interrupted, forged == 0 && denied == 0) {
        (true, true) => Held::Yes,
        _ if deadlines => Held::Mixed,
        _ => Held::No,
    };
    let mut points = Vec::new();
    if summary.interrupted {
        points.push("The run was interrupted; what is here is what there was until then.".into());
    }
    points.push(format!(
        "{delivered} scheduled frames were delivered in time; {failed} were late, missing, lost or thrown away after start-up."
    ));
    if denied > 0 {
        points.push(format!(
            "Attacks kept {denied} genuine frames from their receivers, by taking their slot or changing them: \
             authentication detects that, it cannot prevent it."
        ));
    }
    for attack in summary.attacks.iter().filter(|attack| attack.accepted > 0).take(ATTACKS_MAX) {
        let why = match (attack.authenticated, attack.replayable) {
            (false, _) => "its stream carries no tag that is checked",
            (true, true) if attack.attack == "replay" => {
                "its stream carries no freshness value, so a repeated frame has a valid tag"
            }
            _ => "its stream is authenticated, so this should not happen",
        };
        points.push(format!(
            "{} on {} by {}: {} copies accepted, because {why}.",
            attack.attack, attack.stream, attack.attacker, attack.accepted
        ));
    }
    if summary.stalls.count > 0 {
        points.push(format!(
            "The host took the processor away {} times, {:.1} ms together; {} frames were on their way meanwhile and are told apart below.",
            summary.stalls.count,
            summary.stalls.total_ns as f64 / 1e6,
            summary.stalls.frames
        ));
    }
    points.extend(meta.warnings.iter().map(|warning| format!("Check before trusting: {warning}")));
    Verdict { held, text: format!("{first}{second}"), points }
}

fn streams(meta: &RunMeta, summary: &RunSummary) -> Section {
    let mut section = Section::new("Streams").with(Block::Table(tables::streams(meta, summary)));
    if summary.strangers > 0 {
        section = section
            .with(Block::Text(format!("{} frames belonged to no stream and were thrown away.", summary.strangers)));
    }
    section
}

fn latency(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Section {
    let mut section = Section::new("Latency")
        .with(Block::Text(format!(
            "Counted from the first bit out of the sender to the last bit in at the receiver, frames accepted after \
             start-up. A percentile is printed only where there are enough samples to bound it: {}, {} and {} for the \
             median, the 90th and the 99th.",
            samples_for(0.5),
            samples_for(0.9),
            samples_for(0.99)
        )))
        .with(Block::Table(tables::latency(meta, summary)));
    for chart in charts::latency(meta, summary, rows) {
        section = section.with(Block::Chart(chart));
    }
    section.with(Block::Table(tables::switch(meta, summary)))
}

fn schedule(meta: &RunMeta, rows: &RunRows) -> Section {
    let mut section = Section::new("Schedule");
    if meta.slots.is_empty() {
        return section;
    }
    section = section.with(Block::Timeline(schedule::planned(meta)));
    if let Some(seen) = schedule::seen(meta, rows) {
        section = section.with(Block::Timeline(seen));
    }
    section
}

fn attacks(meta: &RunMeta, summary: &RunSummary) -> Section {
    Section::new("Attacks")
        .with(Block::Text(
            "Each frame of an attacker is followed to where it was stopped: by its shape, by the schedule table \
             (address, port, window), by the tag or by the freshness value. Copies are counted, one for each receiver a \
             frame reached; a frame stopped at the switch counts once."
                .into(),
        ))
        .with(Block::Table(tables::attacks(meta, summary)))
}

fn discards(meta: &RunMeta, summary: &RunSummary) -> Section {
    let table = tables::discards(meta, summary);
    let section = Section::new("Discards");
    if table.rows.is_empty() {
        return section.with(Block::Text("After start-up no frame of a stream was thrown away.".into()));
    }
    section.with(Block::Table(table))
}

/// `what` is emulated: the switch, the bus.
fn emulator(what: &str, summary: &RunSummary, rows: &RunRows) -> Section {
    let mut section = Section::new("Emulator")
        .with(Block::Text(format!(
            "{what} is a program on this host. This is its own error: how much later than planned it wrote a frame, \
             and how long the host kept it off the processor. Differences below this error mean nothing."
        )))
        .with(Block::Table(tables::emulator(summary)));
    for chart in charts::emulator(rows) {
        section = section.with(Block::Chart(chart));
    }
    section
}

fn environment(meta: &RunMeta) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.into(), value));
        }
    };
    fact("scenario", format!("{} ({})", meta.name, meta.scenario_hash).replace(" ()", ""));
    fact("engine", format!("{} ({})", meta.engine.name(), meta.engine.evidence()));
    fact("seed", meta.seed.to_string());
    fact("duration", format!("{:.3} s", meta.duration_ns as f64 / 1e9));
    match &meta.bus {
        Some(bus) => {
            fact("bit rate", format!("{} kbit/s", bus.bit_rate / 1000));
            fact("data bit rate", bus.data_bit_rate.map(|rate| format!("{} kbit/s", rate / 1000)).unwrap_or_default());
        }
        None => {
            fact("cluster cycle", format!("{:.3} ms", meta.cluster_cycle_ns as f64 / 1e6));
            fact("integration cycle", format!("{:.3} ms", meta.integration_cycle_ns as f64 / 1e6));
            fact("guard period", format!("{:.3} ms", meta.guard_ns as f64 / 1e6));
        }
    }
    fact("accounting", meta.accounting.clone());
    fact("clock source", meta.clock_source.clone());
    fact("fingerprint", meta.fingerprint.clone().unwrap_or_default());
    fact("started", meta.started.clone().unwrap_or_default());
    fact("commit", meta.commit.clone());
    facts.extend(meta.versions.iter().cloned());
    facts.extend(meta.host.iter().cloned());
    facts
}
