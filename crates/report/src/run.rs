//! The report of one run, simulated or live.

mod accounts;
mod charts;
mod collateral;
mod divided;
mod group;
mod pair;
mod programs;
mod ranges;
mod round_trips;
mod schedule;
mod segments;
mod tables;
mod topology;
pub(crate) mod verdict;

use chronoseal_core::statistics::samples_for;
use chronoseal_results::{EXACT_MAX, Engine, FrameFigures, RunMeta, RunRows, RunSummary, StreamMeta, StreamSummary};

use crate::counted::{counted, were};
use crate::document::{Block, Document, Evidence, Section};
use crate::inputs;

pub use self::pair::{RunView, pair_report};

/// The document of one run.
pub fn run_report(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Document {
    let mut sections = vec![ranges::section((meta, summary), None)];
    sections.extend(sections_below(meta, summary, rows));
    Document {
        title: format!("{}: {} run", meta.name, meta.engine.evidence()),
        subtitle: meta.description.clone(),
        verdict: verdict::verdict(meta, summary),
        sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
        environment: environment(meta),
    }
}

/// Everything of one run below its picture.
fn sections_below(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Vec<Section> {
    let figures = rows.figures(meta, summary);
    let mut sections: Vec<Section> = group::section(meta, summary).into_iter().collect();
    sections.extend([programs::section(meta), streams(meta, summary), latency(meta, summary, &figures)]);
    sections.extend(round_trips::sections(meta, summary));
    let drawing = topology::topology(meta, summary);
    sections.extend(drawing.map(|drawing| Section::new("Topology").with(Block::Topology(drawing))));
    sections.extend(segments::sections(meta, summary, rows));
    sections.push(schedules(meta, &figures));
    if !summary.attacks.is_empty() {
        sections.push(attacks(meta, summary, &figures));
    }
    if !meta.streams.is_empty() {
        sections.push(discards(meta, summary));
    }
    sections.push(clocks(meta, summary));
    sections.push(processor_time(meta, summary));
    match meta.engine {
        Engine::Live if meta.hosts.is_empty() => sections.push(emulator(summary, rows)),
        Engine::Live => sections.push(hosts(meta)),
        Engine::Sim => {}
    }
    sections
}

/// True for a stream whose frames hold PDUs of others: what becomes of these is told of their own streams.
fn is_shared_frame(stream: &StreamMeta) -> bool {
    stream.receivers.is_empty() && stream.senders.is_none()
}

/// How the numbers of this run were obtained.
fn evidence(meta: &RunMeta) -> Evidence {
    match meta.engine {
        Engine::Sim => Evidence::Simulated,
        Engine::Live => Evidence::Measured,
    }
}

fn streams(meta: &RunMeta, summary: &RunSummary) -> Section {
    if meta.streams.is_empty() {
        return Section::new("Streams");
    }
    let mut section = Section::new("Streams").with(Block::Table(tables::streams(meta, summary)));
    if summary.streams.iter().any(|stream| !stream.receivers.is_empty()) {
        section = section.with(Block::Table(accounts::table(meta, summary)));
    }
    if summary.strangers > 0 {
        let not_carried = match summary.not_carried {
            0 => String::new(),
            count => format!(" Gateways had no room for {count} of them."),
        };
        section = section.with(Block::Text(format!(
            "{} belonged to no stream and {} thrown away.{not_carried}",
            counted(summary.strangers, "frame"),
            were(summary.strangers)
        )));
    }
    section
}

fn latency(meta: &RunMeta, summary: &RunSummary, figures: &FrameFigures) -> Section {
    let mut section = Section::new("Latency");
    if meta.streams.is_empty() {
        return section;
    }
    section = section
        .with(Block::Text(format!(
            "Of frames accepted after start-up. A latency counts from when a frame was due at its sender, before anything is \
             computed for it, to when its receiver has accepted it, checked: as bounds and deadlines do. A percentile is printed only where there are enough samples to bound it: {}, {} and {} for the \
             median, the 90th and the 99th.",
            samples_for(0.5),
            samples_for(0.9),
            samples_for(0.99)
        )))
        .with(Block::Table(tables::latency(meta, summary, false)));
    let closed = tables::latency(meta, summary, true);
    if !closed.rows.is_empty() {
        section = section.with(Block::Text(round_trips::CLOSED_LOOP.into())).with(Block::Table(closed));
    }
    section.blocks.extend(divided::divided(meta, summary).map(Block::Divided));
    for chart in charts::latency(meta, figures) {
        section = section.with(Block::Chart(chart));
    }
    let is_rounded = |stream: &StreamSummary| stream.end_to_end.all.is_some_and(|latency| latency.is_rounded);
    if summary.streams.iter().any(is_rounded) {
        section = section.with(Block::Text(format!(
            "Of a stream with more than {} different latencies, percentiles are rounded: they are off by 0.05 % at most.",
            EXACT_MAX
        )));
    }
    let between = tables::between(meta, summary);
    if between.rows.is_empty() { section } else { section.with(Block::Table(between)) }
}

fn schedules(meta: &RunMeta, figures: &FrameFigures) -> Section {
    let mut section = Section::new("Schedule");
    for (segment, number) in meta.segments.iter().zip(0u16..) {
        let Some(schedule) = segment.schedule.as_ref().filter(|schedule| !schedule.slots.is_empty()) else { continue };
        section = section.with(Block::Timeline(schedule::planned(meta, segment, schedule)));
        let seen = figures.seen(number).and_then(|cycle| schedule::seen(meta, segment, schedule, cycle));
        if let Some(seen) = seen {
            section = section.with(Block::Timeline(seen));
        }
    }
    section
}

fn clocks(meta: &RunMeta, summary: &RunSummary) -> Section {
    let section = Section::new("Clocks");
    if summary.clocks.is_empty() {
        return section;
    }
    section
        .with(Block::Text(
            "Each station runs on a clock of its own, disciplined by the sync beacon of its segment. Corrections after \
             joining bound how far the clock strays between two beacons."
                .into(),
        ))
        .with(Block::Table(tables::clocks(meta, summary)))
}

fn processor_time(meta: &RunMeta, summary: &RunSummary) -> Section {
    let mut section = Section::new("Processor time");
    if !summary.work.is_empty() {
        section = section.with(Block::Table(tables::work(meta, summary)));
    }
    if !summary.tasks.is_empty() {
        section = section.with(Block::Table(tables::node_tasks(meta, summary)));
    }
    section
}

fn attacks(meta: &RunMeta, summary: &RunSummary, figures: &FrameFigures) -> Section {
    let section = Section::new("Attacks")
        .with(Block::Text(
            "Each frame that an attacker made of a stream is followed to where it was stopped: by its shape, by the schedule \
             table (address, port, window), by the tag or by the freshness value. Copies are counted, one for each receiver \
             a frame reached; a frame stopped at a switch counts once. What was said in a key exchange shows in what was \
             given up, and in whether the key came."
                .into(),
        ))
        .with(Block::Table(tables::attacks(meta, summary)));
    let tables = [collateral::stopped(meta, figures), collateral::collateral(meta, summary, figures)].into_iter();
    tables.filter(|table| !table.rows.is_empty()).fold(section, |section, table| section.with(Block::Table(table)))
}

fn discards(meta: &RunMeta, summary: &RunSummary) -> Section {
    let table = tables::discards(meta, summary);
    let section = Section::new("Discards");
    if table.rows.is_empty() {
        return section.with(Block::Text("After start-up no frame of a stream was thrown away.".into()));
    }
    section.with(Block::Table(table))
}

fn emulator(summary: &RunSummary, rows: &RunRows) -> Section {
    let mut section = Section::new("Emulator")
        .with(Block::Text(
            "What carried the frames is a program on this host. This is its own error: how much later than planned it wrote a \
             frame, and how long the host kept it off the processor. Differences below this error mean nothing."
                .into(),
        ))
        .with(Block::Table(tables::emulator(summary)));
    for chart in charts::emulator(rows) {
        section = section.with(Block::Chart(chart));
    }
    section
}

fn hosts(meta: &RunMeta) -> Section {
    Section::new("Hosts")
        .with(Block::Text(
            "Each node ran on the host of an agent, and messages crossed the network between these hosts, of which nothing was \
             emulated. Times are those of the controller's clock: an agent's clock was compared with it before, during and after the \
             run. A latency between two agents may be wrong by the uncertainties of both together."
                .into(),
        ))
        .with(Block::Table(tables::hosts(meta)))
}

fn environment(meta: &RunMeta) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.into(), value));
        }
    };
    fact("scenario", format!("{} ({})", meta.name, meta.scenario_hash).replace(" ()", ""));
    for (name, value) in inputs::facts(meta) {
        fact(&name, value);
    }
    fact("engine", format!("{} ({})", meta.engine.name(), meta.engine.evidence()));
    fact("seed", meta.seed.to_string());
    fact("duration", format!("{:.3} s", meta.duration_ns as f64 / 1e9));
    for segment in &meta.segments {
        fact(&format!("segment {}", segment.name), segments::words(segment));
    }
    fact("clock source", meta.clock_source.clone());
    fact("fingerprint", meta.fingerprint.clone().unwrap_or_default());
    fact("started", meta.started.clone().unwrap_or_default());
    fact("commit", meta.commit.clone());
    facts.extend(meta.versions.iter().cloned());
    facts.extend(meta.host.iter().cloned());
    facts
}
