//! The report of a run on a CAN bus: who had the key when, what it loaded the bus with, and what became of the messages.

use chronoseal_results::{BusSummary, Engine, GroupMeta, GroupSummary, RunMeta, RunRows, RunSummary};

use super::{charts, discards, emulator, environment, evidence, tables};
use crate::document::{Axis, Block, Cell, Chart, Document, Held, Mark, Section, Series, SeriesKind, Table, Verdict};

pub(super) fn document(meta: &RunMeta, summary: &RunSummary, rows: &RunRows, picture: Section) -> Document {
    let mut sections = vec![picture];
    if let (Some(group), Some(found)) = (&meta.group, &summary.group) {
        sections.push(key(meta, group, found));
    }
    if let Some(bus) = &summary.bus {
        sections.push(load(meta, bus));
    }
    if !meta.streams.is_empty() {
        sections.push(messages(meta, summary, rows));
        sections.push(discards(meta, summary));
    }
    if !summary.attacks.is_empty() {
        sections.push(
            Section::new("Attacks")
                .with(Block::Text(
                    "Each attacker is a node of its own. Frames it made of a message are followed to where they were \
                     stopped; what it said in a key exchange shows in what was given up, and in whether the key came."
                        .into(),
                ))
                .with(Block::Table(tables::attacks(meta, summary))),
        );
    }
    if !summary.work.is_empty() {
        sections.push(Section::new("Processor time").with(Block::Table(tables::work(meta, summary))));
    }
    if meta.engine == Engine::Live {
        sections.push(emulator("The bus", summary, rows));
    }
    Document {
        title: format!("{}: {} run", meta.name, meta.engine.evidence()),
        subtitle: meta.description.clone(),
        verdict: verdict(meta, summary),
        sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect(),
        environment: environment(meta),
    }
}

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

fn verdict(meta: &RunMeta, summary: &RunSummary) -> Verdict {
    let mut points = Vec::new();
    let mut is_keyed = true;
    let key = match (&meta.group, &summary.group) {
        (Some(group), Some(found)) => {
            let nodes = group.members.len() + 1;
            is_keyed = found.is_established(group);
            for key in found.keys.iter().skip(1) {
                points.push(format!(
                    "Key {} was in use at {} of {nodes} nodes {:.3} ms into the run.",
                    key.epoch,
                    key.installed_ns.len(),
                    ms(key.complete_ns())
                ));
            }
            for (reason, count) in found.aborted.iter().chain(&found.refused) {
                points.push(format!("Given up {count} times: {reason}."));
            }
            match found.established_after_ns(group) {
                Some(ns) => format!("All {nodes} nodes shared a key {:.3} ms after the exchange began", ms(ns)),
                None => {
                    let have = found.keys.first().map_or(0, |key| key.installed_ns.len());
                    format!("Not all nodes came to a key: {have} of {nodes} had one at the end")
                }
            }
        }
        _ => String::new(),
    };
    let deadlines = summary.deadlines_held();
    let (mut in_time, mut failed) = (0, 0);
    for stream in summary.streams.iter().filter(|stream| stream.has_deadline()) {
        in_time += stream.delivered;
        failed += stream.late + stream.unaccounted + stream.discarded_total();
    }
    let messages = match (summary.has_deadlines(), deadlines) {
        (false, _) => "there was no other traffic".to_owned(),
        (true, true) => format!("every one of {in_time} messages was in time"),
        (true, false) => format!("{failed} of {} messages were late, thrown away or lost", in_time + failed),
    };
    let text = match key.is_empty() {
        true => {
            let mut text = messages;
            if let Some(first) = text.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            text + "."
        }
        false => format!("{key}; {messages}."),
    };
    if let Some(bus) = &summary.bus {
        points.push(format!(
            "The bus was used {:.1} % of the time, {:.1} % in its busiest {:.0} ms; {} frames and {} bytes of it were key exchange.",
            100.0 * bus.load,
            100.0 * bus.load_max,
            ms(bus.window_ns),
            bus.key_frames,
            bus.key_bytes
        ));
    }
    if let Some(found) = summary.group.as_ref().filter(|found| found.withheld > 0) {
        points.push(format!(
            "{} messages were due before there was a key to protect them with, and were not sent.",
            found.withheld
        ));
    }
    let forged = summary.forged_accepted();
    if summary.attack_attempts() > 0 {
        points.push(format!(
            "{} attempts of attackers; {forged} forged or repeated messages were believed.",
            summary.attack_attempts()
        ));
    }
    if summary.interrupted {
        points.push("The run was interrupted; what is here is what there was until then.".into());
    }
    points.extend(meta.warnings.iter().map(|warning| format!("Check before trusting: {warning}")));
    let held = match (is_keyed && !summary.interrupted, deadlines) {
        (true, true) if forged > 0 => Held::Mixed,
        (true, true) => Held::Yes,
        (false, _) => Held::No,
        (true, false) => Held::Mixed,
    };
    Verdict { held, text, points }
}

fn key(meta: &RunMeta, group: &GroupMeta, found: &GroupSummary) -> Section {
    let mut table = Table::new(format!(
        "When each node took each key into use, from the start of the run: {}, {}, {}",
        group.scheme, group.suite, group.profile
    ))
    .words("node")
    .words("role");
    for key in &found.keys {
        table = table.numbers(format!("key {}", key.epoch), "ms");
    }
    for node in std::iter::once(group.orchestrator).chain(group.members.iter().copied()) {
        let role = if node == group.orchestrator { "orchestrator" } else { "member" };
        let mut row = vec![Cell::text(meta.node_name(node)), Cell::text(role)];
        row.extend(found.keys.iter().map(|key| match key.installed_ns.get(&node) {
            Some(ns) => Cell::number(ms(*ns), 3).from(evidence(meta)),
            None => Cell::text("never").marked(Mark::Warn).titled("it did not come to this key"),
        }));
        table.push(row);
    }
    let mut section = Section::new("Group key").with(Block::Table(table));
    if !found.aborted.is_empty() || !found.refused.is_empty() {
        let mut table = Table::new("What was given up, and why").words("what").words("reason").numbers("times", "");
        let aborted = found.aborted.iter().map(|(reason, count)| ("exchange", reason, count));
        for (what, reason, count) in aborted.chain(found.refused.iter().map(|(reason, count)| ("key", reason, count))) {
            table.push(vec![
                Cell::text(what),
                Cell::text(reason.clone()),
                Cell::count(*count).from(evidence(meta)).marked(Mark::Warn),
            ]);
        }
        section = section.with(Block::Table(table));
    }
    section
}

fn load(meta: &RunMeta, bus: &BusSummary) -> Section {
    let kind = evidence(meta);
    let mut table = Table::new("The bus")
        .numbers("frames", "")
        .numbers("of key exchange", "")
        .numbers("lost arbitrations", "")
        .numbers("failed attempts", "")
        .numbers("load", "%")
        .numbers("busiest window", "%");
    table.push(vec![
        Cell::count(bus.frames).from(kind),
        Cell::count(bus.key_frames).from(kind),
        Cell::count(bus.lost_arbitrations).from(kind),
        Cell::count(bus.failed_attempts).from(kind),
        Cell::number(100.0 * bus.load, 2).from(kind),
        Cell::number(100.0 * bus.load_max, 2).from(kind),
    ]);
    let points = bus
        .busy_by_window_ns
        .iter()
        .enumerate()
        .map(|(index, busy)| (ms(index as i64 * bus.window_ns), 100.0 * *busy as f64 / bus.window_ns.max(1) as f64))
        .collect();
    Section::new("Bus load").with(Block::Table(table)).with(Block::Chart(Chart {
        caption: format!("Load of the bus in windows of {:.0} ms", ms(bus.window_ns)),
        x: Axis::linear("time", "ms"),
        y: Axis::linear("load", "%"),
        series: vec![Series { name: "all frames".into(), kind: SeriesKind::Step, points }],
    }))
}

fn messages(meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Section {
    let mut section = Section::new("Messages")
        .with(Block::Text(
            "From the moment the sender's controller has the frame to the moment the receiver's application has it, \
             checked. A recorded frame is late if that takes longer than the median distance of its identifier's frames."
                .into(),
        ))
        .with(Block::Table(tables::streams(meta, summary)))
        .with(Block::Table(tables::latency(meta, summary)));
    for chart in charts::latency(meta, summary, rows) {
        section = section.with(Block::Chart(chart));
    }
    section
}
