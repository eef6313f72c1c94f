//! Tables I, II and III: printed, recomputed, simulated, measured.

use std::sync::atomic::AtomicBool;

use chronoseal_analysis::tdma;
use chronoseal_catalog::Prepared;
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;
use chronoseal_report::{Cell, Evidence, Mark, Table};
use chronoseal_results::Distribution;
use chronoseal_results::summary::{Spread, StreamSummary};
use chronoseal_runner::simulate;

use super::frames_max::{Question, frame_time_max, frames_max};
use super::live::{CARRIED_SHARE, Live};
use super::published::{Table2Quantity, Table3Column, Table3Row, claimed_of_tags, table1, table2, table3};
use super::scenarios;
use crate::StudyError;

/// Why a cell is empty that Ctrl-C came before.
pub(super) const NOT_REACHED: &str = "not reached before the run was stopped";

const PERIOD: Duration = Duration::from_ms(10);

fn ms(span: Duration) -> f64 {
    span.as_ms_f64()
}

fn ns_as_ms(ns: f64) -> f64 {
    ns * 1e-6
}

/// The protection that makes an 80-byte frame of a 60-byte one, as in the source.
fn protection(frame_len: u32) -> (u32, &'static str) {
    if frame_len == 80 { (60, "sha1-20") } else { (frame_len, "none") }
}

/// NFmax by simulation, with every byte and tag really made and checked.
fn simulated(
    frame_len: u32,
    accounting: Accounting,
    guard: Duration,
    stop: &AtomicBool,
) -> Result<Option<u64>, StudyError> {
    let (frame_len, protection) = protection(frame_len);
    frames_max(&Question { nodes: 2, frame_len, protection, accounting, guard, real_bytes: true }, stop)
}

/// A simulated count, marked by whether it equals the formula's. `None` if the run was stopped before.
pub(super) fn simulated_cell(found: Option<u64>, expected: u64) -> Cell {
    let Some(found) = found else { return Cell::na(NOT_REACHED) };
    let cell = Cell::count(found).from(Evidence::Simulated);
    if found == expected {
        cell.marked(Mark::Good).titled("equals the formula")
    } else {
        cell.marked(Mark::Bad).titled(format!("the formula gives {expected}"))
    }
}

/// True if no cell of the table is marked bad.
pub(super) fn is_good(table: &Table) -> bool {
    table.rows.iter().flatten().all(|cell| cell.mark != Mark::Bad)
}

/// Table I.
pub(super) fn first(live: &Live, stop: &AtomicBool) -> Result<Table, StudyError> {
    let mut table = Table::new("Table I: frames in a base period of 10 ms, and the time each takes")
        .numbers("guard", "ms")
        .numbers("frame", "B")
        .numbers("NFmax printed", "")
        .numbers("NFmax recomputed", "")
        .numbers("NFmax simulated, as published", "")
        .numbers("NFmax recomputed, on the wire", "")
        .numbers("NFmax simulated, on the wire", "")
        .words("live")
        .numbers("Frametime printed", "ms")
        .numbers("Frametime recomputed", "ms")
        .numbers("slot recomputed", "ms")
        .footnote("80 bytes are 60 bytes and a SHA-1 tag, made and checked in every simulated and live frame.")
        .footnote(claimed_of_tags())
        .footnote("Simulated: frames are added until, in the trace, one misses its slot or its period; perfect clocks, and the beacon in a channel of its own, as in the source.")
        .footnote(format!("Live with guard 0: no host of this kind keeps back-to-back slots of 5 us; the cell gives the highest rate the emulated switch carried with at least {} % of the frames delivered.", CARRIED_SHARE * 100.0));
    for row in table1() {
        let as_published = simulated(row.frame_len, Accounting::AsPublished, row.guard, stop)?;
        let on_wire = simulated(row.frame_len, Accounting::OnWire, row.guard, stop)?;
        table.push(vec![
            Cell::number(ms(row.guard), 1),
            Cell::count(u64::from(row.frame_len)),
            printed_count(row.frames_max_printed, row.recomputed.frames_max),
            Cell::count(row.recomputed.frames_max).from(Evidence::Recomputed),
            simulated_cell(as_published, row.recomputed.frames_max),
            Cell::count(row.on_wire.frames_max).from(Evidence::Recomputed),
            simulated_cell(on_wire, row.on_wire.frames_max),
            live_first(live, row.guard, row.frame_len),
            Cell::number(ms(row.frame_time_printed), 4).from(Evidence::Printed),
            Cell::number(ms(row.recomputed.frame_time), 4).from(Evidence::Recomputed),
            Cell::number(ms(row.recomputed.slot_time), 4).from(Evidence::Recomputed),
        ]);
    }
    Ok(table)
}

fn printed_count(printed: u64, recomputed: u64) -> Cell {
    let cell = Cell::count(printed).from(Evidence::Printed);
    if printed == recomputed {
        cell
    } else {
        cell.marked(Mark::Warn).titled("differs from what its formula gives; see the inconsistencies")
    }
}

fn live_first(live: &Live, guard: Duration, frame_len: u32) -> Cell {
    if let Some(why) = missing_live(live) {
        return Cell::na(why);
    }
    if guard == Duration::ZERO {
        let highest = live.rates.iter().filter(|rate| rate.is_carried()).map(|rate| rate.offered).max();
        return match highest {
            Some(rate) => {
                Cell { text: format!("n/a; carried {rate} frames/s"), ..Cell::na("the highest rate carried") }
            }
            None => Cell::na("no rate was carried without loss"),
        };
    }
    match live.full.iter().find(|(nodes, len, _)| *nodes == 2 && *len == frame_len) {
        Some((_, _, run)) => slots_kept(&run.summary.streams),
        None => Cell::na(NOT_REACHED),
    }
}

fn missing_live(live: &Live) -> Option<String> {
    live.refused.as_ref().map(|why| format!("not measured: {why}"))
}

/// `48 used, n = 24000: 0 late or lost, 3 in stalls`.
fn slots_kept(streams: &[StreamSummary]) -> Cell {
    let sum = |count: fn(&StreamSummary) -> u64| streams.iter().map(count).sum::<u64>();
    let kept = sum(|s| s.delivered);
    let not_kept = sum(|s| s.late + s.missing + s.unaccounted + s.discarded_total());
    let n = kept + not_kept;
    let mark = if n == 0 {
        Mark::Bad
    } else if not_kept == 0 {
        Mark::Good
    } else {
        Mark::Warn
    };
    Cell::text(format!(
        "{} slots used; n = {n}, not kept {not_kept} ({:.3} %)",
        streams.len(),
        100.0 * not_kept as f64 / n.max(1) as f64
    ))
    .from(Evidence::Measured)
    .marked(mark)
}

/// Table II.
pub(super) fn second(live: &Live, seed: u64) -> Result<Table, StudyError> {
    let mut table = Table::new("Table II: arrival (Tx) and departure (Rx) of a frame at the switch against the sync beacon, and their difference")
        .words("quantity")
        .numbers("frame", "B")
        .words("from")
        .numbers("n", "")
        .numbers("min", "ms")
        .numbers("mean", "ms")
        .numbers("p50", "ms")
        .numbers("p99", "ms")
        .numbers("max", "ms")
        .footnote("Tx counts from the nominal start of the frame's slot. Difference: the source writes Tx - Rx and means Rx - Tx; its minimum and maximum are differences of the extremes.")
        .footnote("Simulated: driver time (exponential, mean 3.2 us, at most 110 us), routing time (274 us and an exponential part, mean 378 us, at most 558 us) and the sniffing switch (one more store and forward, less the beacon's) are elements of the model. Their laws are calibrated to the 60-byte column; the 1514-byte column is predicted by them.")
        .footnote("The printed minimum of Tx at 1514 bytes, 0.110 ms, is shorter than the 0.121 ms the frame needs on one wire of 100 Mbit/s: the sender must have begun before its slot. The model's senders never do.")
        .footnote("Measured: the emulated switch forwards after the guard period of 0.2 ms; its stamps are the emulator's own, so no sniffing switch is in the path. Stall-free leaves out frames that a stall of the host overlapped.");
    for row in table2() {
        let printed = |span: Duration| Cell::number(ms(span), 4).from(Evidence::Printed);
        let blank = || Cell::na("not printed");
        table.push(vec![
            Cell::text(row.quantity.name()),
            Cell::count(u64::from(row.frame_len)),
            Cell::text("printed").from(Evidence::Printed),
            blank(),
            printed(row.printed.min),
            printed(row.printed.avg),
            blank(),
            blank(),
            printed(row.printed.max),
        ]);
        if let Some(cells) = row.recomputed {
            let recomputed = |span: Duration| Cell::number(ms(span), 4).from(Evidence::Recomputed);
            table.push(vec![
                Cell::text(row.quantity.name()),
                Cell::count(u64::from(row.frame_len)),
                Cell::text("Rx - Tx of the printed cells").from(Evidence::Recomputed),
                blank(),
                recomputed(cells.min),
                recomputed(cells.avg),
                blank(),
                blank(),
                recomputed(cells.max),
            ]);
        }
        let model = switch_model(row.frame_len, seed)?;
        if let Some(spread) = quantity(&model, row.quantity).all {
            table.push(distribution_row(row.quantity, row.frame_len, "simulated", &spread, Evidence::Simulated));
        }
        match live.switch.iter().find(|(len, _)| *len == row.frame_len) {
            Some((_, run)) => {
                let Spread { all, stall_free } = quantity(&run.summary.streams[0], row.quantity);
                let note = if run.interrupted { " (interrupted)" } else { "" };
                for (name, spread) in [("measured, all", all), ("measured, stall-free", stall_free)] {
                    if let Some(spread) = spread {
                        let name = format!("{name}{note}");
                        table.push(distribution_row(row.quantity, row.frame_len, &name, &spread, Evidence::Measured));
                    }
                }
            }
            None => {
                let why = missing_live(live).unwrap_or_else(|| NOT_REACHED.into());
                table.push(vec![
                    Cell::text(row.quantity.name()),
                    Cell::count(u64::from(row.frame_len)),
                    Cell::text("measured"),
                    Cell::na(why),
                ]);
            }
        }
    }
    Ok(table)
}

fn quantity(stream: &StreamSummary, quantity: Table2Quantity) -> Spread {
    match quantity {
        Table2Quantity::Tx => stream.tx,
        Table2Quantity::Rx => stream.rx,
        Table2Quantity::Diff => stream.residence,
    }
}

fn distribution_row(
    quantity: Table2Quantity,
    frame_len: u32,
    from: &str,
    spread: &Distribution,
    evidence: Evidence,
) -> Vec<Cell> {
    let number = |ns: f64| Cell::number(ns_as_ms(ns), 4).from(evidence);
    let percentile = |ns: Option<i64>| ns.map_or_else(|| Cell::na("too few frames"), |ns| number(ns as f64));
    vec![
        Cell::text(quantity.name()),
        Cell::count(u64::from(frame_len)),
        Cell::text(from).from(evidence),
        Cell::count(spread.n),
        number(spread.min_ns as f64),
        number(spread.mean_ns),
        percentile(spread.p50_ns),
        percentile(spread.p99_ns),
        number(spread.max_ns as f64),
    ]
}

/// The source's measurement with its disturbances as elements of the model.
fn switch_model(frame_len: u32, seed: u64) -> Result<StreamSummary, StudyError> {
    let (frame_len, protection) = protection(frame_len);
    let (length, seed) = (scenarios::length(frame_len), seed.to_string());
    let sets = [("streams.frame.length", length.as_str()), ("streams.frame.protection", protection), ("seed", &seed)];
    let scenario = scenarios::load(scenarios::SWITCH_MODEL, &sets)?;
    Ok(simulate(&Prepared::new(&scenario.plan)?, false, &mut |_| true)?.summary.streams.remove(0))
}

/// Table III.
pub(super) fn third(live: &Live, stop: &AtomicBool) -> Result<Table, StudyError> {
    let mut table = Table::new("Table III: impact on the frames in a base period, with 2 and with 4 end nodes")
        .words("column")
        .numbers("nodes", "")
        .numbers("frame", "B")
        .words("from")
        .numbers("Frametime", "ms")
        .numbers("Diff", "ms")
        .numbers("MaxTT", "ms")
        .numbers("NFmax by MaxTT", "")
        .numbers("NFmax by slot", "")
        .footnote("MaxTT = 2 (Frametime - SO) + Diff. The source takes NFmax of its theoretical columns by slot, BP / (Frametime + GP), and of its measured ones by MaxTT, BP / MaxTT; both rules are shown for all.")
        .footnote("Simulated: Frametime is the largest Tx in the trace with NFmax frames in the period, Diff the guard period; NFmax by slot is found by adding frames until one misses its slot or its period.")
        .footnote("Measured: Frametime is the largest stall-free Tx, and beside it the 99th percentile, because one late wake-up in thousands decides the largest; Diff is the guard period of 0.2 ms as in the source, SO = 0 because no sniffing switch is in the path. Here, too, the end node's time to hand a frame over is what costs most.");
    for row in table3() {
        table.push(third_printed(&row));
        table.push(third_recomputed(&row));
        if row.column == Table3Column::Theoretical {
            for nodes in [2, 4] {
                table.push(third_simulated(&row, nodes, stop)?);
            }
        } else {
            table.push(third_measured(live, row.frame_len, "measured, largest", |tx| Some(tx.max_ns)));
            table.push(third_measured(live, row.frame_len, "measured, p99", |tx| tx.p99_ns));
        }
    }
    Ok(table)
}

fn third_printed(row: &Table3Row) -> Vec<Cell> {
    let by_slot_is_printed = row.column == Table3Column::Theoretical;
    let printed = Cell::count(row.frames_max_printed).from(Evidence::Printed);
    let other = || Cell::na("the source uses the other rule here");
    vec![
        Cell::text(row.column.name()),
        Cell::count(2),
        Cell::count(u64::from(row.frame_len)),
        Cell::text("printed").from(Evidence::Printed),
        Cell::number(ms(row.frame_time_printed), 4).from(Evidence::Printed),
        Cell::na("not printed"),
        Cell::number(ms(row.transmission_time_max_printed), 4).from(Evidence::Printed),
        if by_slot_is_printed { other() } else { printed.clone() },
        if by_slot_is_printed { printed } else { other() },
    ]
}

fn third_recomputed(row: &Table3Row) -> Vec<Cell> {
    let frame_time = row.frame_time_recomputed.map_or_else(
        || Cell::na("in no other table of the source"),
        |span| Cell::number(ms(span), 4).from(Evidence::Recomputed),
    );
    vec![
        Cell::text(row.column.name()),
        Cell::count(2),
        Cell::count(u64::from(row.frame_len)),
        Cell::text("recomputed").from(Evidence::Recomputed),
        frame_time,
        Cell::number(0.2, 4).from(Evidence::Recomputed),
        Cell::number(ms(row.transmission_time_max_recomputed), 4).from(Evidence::Recomputed),
        Cell::count(row.frames_max_by_transmission).from(Evidence::Recomputed),
        Cell::count(row.frames_max_by_slot).from(Evidence::Recomputed),
    ]
}

fn third_simulated(row: &Table3Row, nodes: usize, stop: &AtomicBool) -> Result<Vec<Cell>, StudyError> {
    let guard = Duration::from_us(200);
    let (frame_len, protection) = protection(row.frame_len);
    let asked = Question { nodes, frame_len, protection, accounting: Accounting::AsPublished, guard, real_bytes: true };
    let found = frames_max(&asked, stop)?;
    let mut cells = vec![
        Cell::text(row.column.name()),
        Cell::count(nodes as u64),
        Cell::count(u64::from(row.frame_len)),
        Cell::text("simulated").from(Evidence::Simulated),
    ];
    let Some(count) = found else {
        cells.resize(9, Cell::na(NOT_REACHED));
        return Ok(cells);
    };
    let frame_time = frame_time_max(&asked, count)?;
    let max_tt = tdma::transmission_time_max(frame_time, Duration::ZERO, guard);
    let time = |span: Duration| Cell::number(ms(span), 4).from(Evidence::Simulated);
    cells.extend([
        time(frame_time),
        Cell::number(ms(guard), 4),
        time(max_tt),
        simulated_cell(Some(tdma::frames_max_by_transmission(PERIOD, max_tt)), row.frames_max_by_transmission),
        simulated_cell(found, row.frames_max_by_slot),
    ]);
    Ok(cells)
}

fn third_measured(
    live: &Live,
    frame_len: u32,
    from: &str,
    frame_time_ns: fn(&Distribution) -> Option<i64>,
) -> Vec<Cell> {
    let head = vec![
        Cell::text(Table3Column::Measured.name()),
        Cell::count(2),
        Cell::count(u64::from(frame_len)),
        Cell::text(from).from(Evidence::Measured),
    ];
    let spread = live
        .switch
        .iter()
        .find(|(len, _)| *len == frame_len)
        .and_then(|(_, run)| run.summary.streams[0].tx.stall_free.or(run.summary.streams[0].tx.all));
    let Some((spread, frame_time)) = spread.and_then(|spread| Some((spread, frame_time_ns(&spread)?))) else {
        let why = missing_live(live).unwrap_or_else(|| "too few frames before the run was stopped".into());
        return head.into_iter().chain([Cell::na(why)]).collect();
    };
    let (frame_time, guard) = (Duration::from_ns(frame_time), Duration::from_us(200));
    let max_tt = tdma::transmission_time_max(frame_time, Duration::ZERO, guard);
    let rest = [
        Cell::number(ms(frame_time), 4).from(Evidence::Measured).titled(format!("n = {}", spread.n)),
        Cell::number(ms(guard), 4),
        Cell::number(ms(max_tt), 4).from(Evidence::Derived),
        Cell::count(tdma::frames_max_by_transmission(PERIOD, max_tt)).from(Evidence::Derived),
        Cell::count(tdma::frames_max(PERIOD, frame_time, guard)).from(Evidence::Derived),
    ];
    head.into_iter().chain(rest).collect()
}

/// Every slot of the base period used at once, live.
pub(super) fn every_slot(live: &Live) -> Table {
    let mut table = Table::new("Table III, live: every one of the 48 slots of a base period used at once")
        .numbers("nodes", "")
        .numbers("frame", "B")
        .numbers("slots used", "")
        .numbers("n", "")
        .numbers("kept", "")
        .numbers("late", "")
        .numbers("thrown away", "")
        .numbers("missing or lost", "")
        .numbers("not kept", "%")
        .numbers("stalls of the host", "")
        .footnote("n counts frames at receivers. A frame keeps its slot if the switch passes it on by the slot's end and the precision of the clocks. Thrown away: it came to the switch or to its receiver outside its window, because the host woke somebody too late.");
    for (nodes, len, run) in &live.full {
        let streams = &run.summary.streams;
        let sum = |count: fn(&StreamSummary) -> u64| streams.iter().map(count).sum::<u64>();
        let (kept, late) = (sum(|s| s.delivered), sum(|s| s.late));
        let (discarded, absent) = (sum(StreamSummary::discarded_total), sum(|s| s.missing + s.unaccounted));
        let n = kept + late + discarded + absent;
        let count = |value: u64| Cell::count(value).from(Evidence::Measured);
        table.push(vec![
            Cell::count(*nodes as u64),
            Cell::count(u64::from(*len)),
            Cell::count(streams.len() as u64),
            count(n),
            count(kept),
            count(late),
            count(discarded),
            count(absent),
            Cell::number(100.0 * (n - kept) as f64 / n.max(1) as f64, 3).from(Evidence::Measured),
            count(run.summary.stalls.count),
        ]);
    }
    if live.full.is_empty() {
        let why = missing_live(live).unwrap_or_else(|| NOT_REACHED.into());
        table.push(vec![Cell::na(why)]);
    }
    table
}
