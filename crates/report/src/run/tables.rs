//! The tables of a run.

use std::collections::BTreeSet;

use chronoseal_core::AttackKind;
use chronoseal_results::{Distribution, RunMeta, RunSummary, Spread, StreamMeta, StreamSummary};

use super::ranges::shown;
use super::{evidence, is_shared_frame};
use crate::document::{Cell, Evidence, Mark, Table};

/// Streams a table shows at most; all of them are in the run's own tables.
const STREAMS_MAX: usize = 40;

/// The streams to show, in their order: all, or those with the highest rank.
fn choose(summary: &RunSummary, rank: impl Fn(&StreamSummary) -> i64) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..summary.streams.len()).collect();
    chosen.sort_by_key(|&i| std::cmp::Reverse(rank(&summary.streams[i])));
    chosen.truncate(STREAMS_MAX);
    chosen.sort_unstable();
    chosen
}

fn slowest(stream: &StreamSummary) -> i64 {
    stream.end_to_end.all.map_or(i64::MIN, |latency| latency.max_ns)
}

fn note_cut(table: Table, shown: usize, summary: &RunSummary, which: &str) -> Table {
    let all = summary.streams.len();
    if shown == all {
        return table;
    }
    table.footnote(format!("{shown} of {all} streams are shown, {which}; all are in manifest.json and frames.parquet."))
}

/// A count that should be zero.
pub(super) fn unwanted(count: u64, kind: Evidence) -> Cell {
    Cell::count(count).from(kind).marked(if count > 0 { Mark::Bad } else { Mark::None })
}

pub(super) fn streams(meta: &RunMeta, summary: &RunSummary) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("What became of each stream's frames")
        .words("stream")
        .words("held")
        .words("from, to")
        .words("class")
        .words("protection")
        .numbers("frame", "B")
        .numbers("period", "ms")
        .numbers("sent", "frames")
        .numbers("in time", "copies")
        .numbers("late", "copies")
        .numbers("missing", "copies")
        .numbers("thrown away", "copies")
        .numbers("replaced", "copies")
        .numbers("lost", "copies")
        .numbers("start-up", "copies")
        .numbers("under way", "copies")
        .numbers("not sent", "copies")
        .footnote(
            "Copies: one for each receiver of a frame; all columns from in time to under way add up to them. Replaced: a frame of \
             an attack had its slot, its room in a queue or its freshness value, or an attacker held it in its hands. Start-up: \
             not in time in cycles that began before every clock of the segments on its way had joined. Under way: when the run \
             ended. Not sent: due, and the sender sent nothing.",
        );
    // Trouble first, so that a cut never hides it.
    let chosen = choose(summary, |stream| i64::from(!stream.held()));
    let known = chosen.iter().filter_map(|&i| Some((meta.streams.get(i)?, &summary.streams[i])));
    // Of frames that hold PDUs of several streams only those are told that were thrown away.
    let is_told = |(stream, counts): &(&StreamMeta, &StreamSummary)| {
        !is_shared_frame(stream) || counts.discarded_total() + counts.unaccounted + counts.replaced > 0
    };
    let not_timed: Vec<&str> = (meta.unmeasured.iter().filter(|end| end.deadline_ns.is_some()))
        .filter_map(|end| meta.streams.get(usize::from(end.stream)).map(|stream| stream.name.as_str()))
        .collect();
    for (stream, counts) in known.filter(is_told) {
        let protection = Cell::text(&stream.protection);
        let protection = if stream.replayable {
            protection.marked(Mark::Warn).titled("replayable: a frame recorded earlier passes again")
        } else {
            protection
        };
        table.push(vec![
            Cell::text(&stream.name),
            match (counts.held(), not_timed.contains(&stream.name.as_str())) {
                (false, _) if counts.failed_in_stalls() => Cell::text("not checked")
                    .marked(Mark::Warn)
                    .titled("the host was stalled where frames were late or lost"),
                (false, _) => Cell::text("no").marked(Mark::Bad),
                (true, true) => Cell::text("not checked").marked(Mark::Warn),
                (true, false) if counts.delivered == 0 => {
                    Cell::text("not checked").marked(Mark::Warn).titled("no frame of it could be judged")
                }
                (true, false) => Cell::text("yes").marked(Mark::Good),
            },
            Cell::text(meta.way_of(stream)),
            Cell::text(&stream.class),
            protection,
            Cell::count(u64::from(stream.secured_len)).titled(format!("{} B before protection", stream.frame_len)),
            Cell::number(stream.period_ns as f64 / 1e6, 3),
            Cell::count(counts.sent).from(kind),
            Cell::count(counts.delivered).from(kind),
            unwanted(counts.late, kind),
            unwanted(counts.missing, kind),
            unwanted(counts.discarded_total(), kind),
            Cell::count(counts.replaced).from(kind).marked(if counts.replaced > 0 { Mark::Warn } else { Mark::None }),
            unwanted(counts.unaccounted, kind),
            Cell::count(counts.startup).from(kind),
            Cell::count(counts.in_flight).from(kind),
            unwanted(counts.not_sent, kind),
        ]);
    }
    if meta.streams.iter().any(|stream| stream.replayable) {
        table =
            table.footnote("! replayable: the stream has no freshness value of its own, so a frame recorded earlier passes again, unless its link stops it (MACsec).");
    }
    table
}

/// Columns of a spread, in microseconds.
pub(super) fn spread_columns(table: Table) -> Table {
    table
        .numbers("n", "")
        .numbers("min", "\u{b5}s")
        .numbers("median", "\u{b5}s")
        .numbers("p90", "\u{b5}s")
        .numbers("p99", "\u{b5}s")
        .numbers("p99.9", "\u{b5}s")
        .numbers("max", "\u{b5}s")
        .numbers("mean", "\u{b5}s")
}

fn spread_cells(spread: &Distribution, kind: Evidence) -> Vec<Cell> {
    let us = |ns: f64| Cell::number(ns / 1e3, 3).from(kind);
    let percentile =
        |ns: Option<i64>| ns.map_or_else(|| Cell::na("too few samples for this percentile"), |ns| us(ns as f64));
    vec![
        Cell::count(spread.n).from(kind),
        us(spread.min_ns as f64),
        percentile(spread.p50_ns),
        percentile(spread.p90_ns),
        percentile(spread.p99_ns),
        percentile(spread.p999_ns),
        us(spread.max_ns as f64),
        us(spread.mean_ns),
    ]
}

/// Rows of one quantity: all samples, and the stall-free ones where some were not.
pub(super) fn push_spread(table: &mut Table, names: &[&str], spread: &Spread, kind: Evidence) {
    let Some(all) = spread.all else { return };
    let mut push = |basis: &str, spread: &Distribution| {
        let mut row: Vec<Cell> = names.iter().map(|name| Cell::text(*name)).collect();
        row.push(Cell::text(basis));
        row.extend(spread_cells(spread, kind));
        table.push(row);
    };
    push("all", &all);
    if let Some(stall_free) = spread.stall_free.filter(|stall_free| stall_free.n < all.n) {
        push("stall-free", &stall_free);
    }
}

/// Of streams in closed loops, or of all others: what they measure is not the same.
pub(super) fn latency(meta: &RunMeta, summary: &RunSummary, of_closed_loops: bool) -> Table {
    let caption = match of_closed_loops {
        true => "End-to-end latency of each stream in a closed loop",
        false => "End-to-end latency of each stream",
    };
    let mut table = spread_columns(Table::new(caption).words("stream").words("frames"));
    let chosen = choose(summary, slowest);
    let is_meant =
        |i: &&usize| meta.streams.get(**i).is_some_and(|stream| meta.is_in_closed_loop(stream)) == of_closed_loops;
    for stream in chosen.iter().filter(is_meant).map(|&i| &summary.streams[i]) {
        push_spread(&mut table, &[&stream.name], &stream.end_to_end, evidence(meta));
    }
    note_cut(table, chosen.len(), summary, "those with the largest latency")
}

pub(super) fn between(meta: &RunMeta, summary: &RunSummary) -> Table {
    let mut table =
        spread_columns(Table::new("Between sender and receiver").words("stream").words("quantity").words("frames"))
            .footnote(
                "Residence: from the last bit in to the first bit out of what lies between a sender and its receivers.",
            );
    let is_timed = |spread: &Spread| spread.all.is_some();
    if summary.streams.iter().any(|stream| is_timed(&stream.tx) || is_timed(&stream.rx)) {
        table = table.footnote(
            "Tx: from the start of the slot to the last bit in. Rx: from the start of the slot to the first bit out.",
        );
    }
    let chosen = choose(summary, slowest);
    for (index, stream) in chosen.iter().map(|&index| (index, &summary.streams[index])) {
        let of = meta.streams.get(index).map_or_else(|| stream.name.clone(), |known| shown(meta, known));
        for (name, spread) in [("Tx", &stream.tx), ("Rx", &stream.rx), ("residence", &stream.residence)] {
            push_spread(&mut table, &[&of, name], spread, evidence(meta));
        }
    }
    note_cut(table, chosen.len(), summary, "those with the largest latency")
}

/// Why nothing is said of single messages to an exchange of keys.
const ON_KEYS: &str = "whether the exchange of keys came through says what became of attacks on it";

pub(super) fn attacks(meta: &RunMeta, summary: &RunSummary) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("What stopped each attack")
        .words("attack")
        .words("attacker")
        .words("on stream")
        .words("protection")
        .numbers("attempts", "frames")
        .numbers("accepted", "copies")
        .numbers("by format", "copies")
        .numbers("by schedule", "copies")
        .numbers("by tag", "copies")
        .numbers("by freshness", "copies")
        .numbers("by capacity", "copies")
        .numbers("under way", "copies");
    for attack in &summary.attacks {
        let protection = match (attack.authenticated, attack.replayable) {
            _ if attack.is_on_keys() => Cell::na(ON_KEYS),
            (true, false) => Cell::text("tag and freshness"),
            (true, true) => Cell::text("tag, replayable").marked(Mark::Warn),
            (false, _) => Cell::text("none").marked(Mark::Warn),
        };
        let mut row = vec![
            Cell::text(&attack.attack),
            Cell::text(&attack.attacker),
            Cell::text(&attack.stream),
            protection,
            Cell::count(attack.attempts).from(kind),
            Cell::count(attack.accepted).from(kind).marked(if attack.accepted > 0 { Mark::Bad } else { Mark::Good }),
        ];
        let others = [
            attack.stopped_by_format,
            attack.stopped_by_schedule,
            attack.stopped_by_tag,
            attack.stopped_by_freshness,
            attack.stopped_by_capacity,
            attack.in_flight,
        ];
        row.extend(others.map(|count| Cell::count(count).from(kind)));
        let is_of_genuine = [AttackKind::Withhold, AttackKind::Delay].iter().any(|kind| kind.name() == attack.attack);
        if is_of_genuine {
            row[5..]
                .fill(Cell::na("what is kept back or delayed is a genuine frame, and is in the account of its stream"));
        } else if attack.is_on_keys() {
            row[5..].fill(Cell::na(ON_KEYS));
        }
        table.push(row);
    }
    table
}

pub(super) fn discards(meta: &RunMeta, summary: &RunSummary) -> Table {
    let reasons: BTreeSet<&String> = summary.streams.iter().flat_map(|stream| stream.discarded.keys()).collect();
    let mut table = Table::new("Frames of streams thrown away after start-up, by reason").words("stream");
    for reason in &reasons {
        table = table.numbers(reason.as_str(), "copies");
    }
    let chosen = choose(summary, |stream| i64::try_from(stream.discarded_total()).unwrap_or(i64::MAX));
    let chosen = chosen.iter().map(|&i| &summary.streams[i]);
    for stream in chosen.filter(|stream| !stream.discarded.is_empty()) {
        let mut row = vec![Cell::text(&stream.name)];
        row.extend(
            reasons.iter().map(|reason| unwanted(stream.discarded.get(*reason).copied().unwrap_or(0), evidence(meta))),
        );
        table.push(row);
    }
    table
}

pub(super) fn clocks(meta: &RunMeta, summary: &RunSummary) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("When each clock joined, and how far it was corrected afterwards")
        .words("segment")
        .words("station")
        .numbers("joined after", "ms")
        .numbers("cycles", "")
        .numbers("first correction", "\u{b5}s")
        .numbers("largest later correction", "\u{b5}s")
        .numbers("corrections", "")
        .numbers("beacons refused", "")
        .numbers("times lost", "");
    for clock in &summary.clocks {
        let number = |value: Option<i64>, scale: f64, digits| {
            value.map_or_else(|| Cell::na("it never happened"), |ns| Cell::number(ns as f64 / scale, digits).from(kind))
        };
        let joined = match clock.acquired_ns {
            None => Cell::text("never").marked(Mark::Bad),
            some => number(some, 1e6, 3),
        };
        table.push(vec![
            Cell::text(&clock.segment),
            Cell::text(&clock.node),
            joined,
            number(clock.acquired_cycles, 1.0, 0),
            number(clock.first_correction_ns, 1e3, 3),
            number(clock.correction_max_ns, 1e3, 3),
            Cell::count(clock.corrections).from(kind),
            Cell::count(clock.beacons_rejected).from(kind),
            match clock.spared {
                // The report says of these why they do no harm.
                spared if spared > 0 && spared == clock.lost => Cell::count(clock.lost).from(kind),
                _ => unwanted(clock.lost, kind),
            },
        ]);
    }
    table
}

pub(super) fn work(meta: &RunMeta, summary: &RunSummary) -> Table {
    let what = match evidence(meta) {
        Evidence::Measured => "taken from the clock",
        _ => "charged from the platform's profile",
    };
    let mut table = spread_columns(
        Table::new(format!("Processor time of each computation, {what}"))
            .words("station")
            .words("operation")
            .words("over"),
    );
    for work in &summary.work {
        let len = if work.len_min == work.len_max {
            format!("{} B", work.len_min)
        } else {
            format!("{}..{} B", work.len_min, work.len_max)
        };
        let mut row = vec![Cell::text(&work.node), Cell::text(&work.operation), Cell::text(len)];
        row.extend(spread_cells(&work.duration, evidence(meta)));
        table.push(row);
    }
    table
}

pub(super) fn node_tasks(meta: &RunMeta, summary: &RunSummary) -> Table {
    let mut table =
        spread_columns(Table::new("Response time of node tasks").words("station").numbers("overruns", "runs"));
    for tasks in &summary.tasks {
        let mut row = vec![Cell::text(&tasks.node), unwanted(tasks.overruns, evidence(meta))];
        if let Some(response) = &tasks.response {
            row.extend(spread_cells(response, evidence(meta)));
        }
        table.push(row);
    }
    table
}

pub(super) fn emulator(summary: &RunSummary) -> Table {
    let kind = Evidence::Measured;
    let mut table = spread_columns(Table::new("The emulator's own error").words("quantity")).footnote(format!(
        "Stalls: {} seen, {:.3} ms together, the longest {:.3} ms.",
        summary.stalls.count,
        summary.stalls.total_ns as f64 / 1e6,
        summary.stalls.max_ns as f64 / 1e6
    ));
    if let Some(error) = &summary.release_error {
        let mut row = vec![Cell::text("written later than planned")];
        row.extend(spread_cells(error, kind));
        table.push(row);
    }
    table
}

pub(super) fn hosts(meta: &RunMeta) -> Table {
    let kind = Evidence::Measured;
    let mut table = Table::new("Hosts and their clocks")
        .words("node")
        .words("agent")
        .words("control")
        .words("messages")
        .numbers("clock ahead at the start", "ms")
        .numbers("faster by", "ppm")
        .numbers("uncertain by", "us")
        .words("by");
    for host in &meta.hosts {
        let cell = |value: Option<f64>, digits| match value {
            Some(value) => Cell::number(value, digits).from(kind),
            None => Cell::na("its clock was not compared to the end"),
        };
        table.push(vec![
            Cell::text(meta.node_name(host.node)),
            Cell::text(&host.agent),
            Cell::text(&host.control),
            Cell::text(&host.data),
            cell(host.clock.map(|clock| clock.offset_ns as f64 / 1e6), 6),
            cell(host.clock.map(|clock| clock.drift_ppb as f64 / 1e3), 3),
            cell(host.clock.map(|clock| clock.uncertainty_ns as f64 / 1e3), 3),
            match host.clock_sources.iter().find(|source| source.is_used) {
                Some(source) => Cell::text(&source.name),
                None => Cell::na("its clock was not compared to the end"),
            },
        ]);
    }
    table
}
