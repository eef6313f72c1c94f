//! A run for counts and speed, of which nothing is kept.

use chronoseal_console::{Format, Printer, Trouble};
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_plan::Fidelity;
use chronoseal_report::{Verdict, Word};
use chronoseal_runner::tally;
use chronoseal_testbed::cost;
use serde_json::{Value, json};

use super::progress;
use crate::arguments::Run;

/// Simulates and prints what was counted, or gives it back for programs.
pub(super) fn counted(
    prepared: &Prepared<'_>,
    options: &Run,
    printer: &Printer,
    stop: &AtomicBool,
) -> Result<Option<Value>, Trouble> {
    let plan = prepared.plan();
    let verdict = Verdict { word: Word::NotChecked, text: unjudged(options, plan.fidelity), points: Vec::new() };
    let mut go_on = progress(plan.duration, "simulating", printer, stop);
    let cpu_before = cost::process_cpu_ns();
    let run = tally(prepared, &mut go_on)?;
    let cpu_s = (cost::process_cpu_ns() - cpu_before) as f64 * 1e-9;
    let rows = run.tally.rows();
    let stream = |index: usize| &plan.streams[index];
    // A count knows the last hop of a frame alone.
    let on_wire = |index: usize, ns: f64| (!stream(index).is_relayed()).then_some(ns);
    match options.format {
        Format::Json => {
            let streams: Vec<_> = rows
                .iter()
                .enumerate()
                .map(|(index, row)| {
                    json!({
                        "stream": stream(index).name,
                        "count": row.delivered,
                        "discarded": row.discarded,
                        "latency_mean_ns": on_wire(index, row.latency_mean_ns()),
                        "latency_max_ns": on_wire(index, row.latency_max.as_ps() as f64 / 1000.0),
                    })
                })
                .collect();
            return Ok(Some(json!({
                "schema_version": 1,
                "scenario": plan.name,
                "engine": "sim",
                "seed": plan.seed,
                "fingerprint": run.fingerprint,
                "interrupted": !run.finished,
                "word": verdict.word,
                "verdict": verdict.text,
                "frames_delivered": run.tally.delivered(),
                "events": run.events,
                "cpu_s": cpu_s,
                "frames_per_cpu_s": run.tally.delivered() as f64 / cpu_s,
                "simulated_s": plan.duration.as_secs_f64(),
                "flows": streams,
            })));
        }
        Format::Human | Format::Csv => {
            printer.data("stream,delivered,discarded,latency_mean_ns,latency_max_ns");
            for (index, row) in rows.iter().enumerate() {
                let shown = |ns: f64| on_wire(index, ns).map_or_else(String::new, |ns| format!("{ns:.3}"));
                printer.data(&format!(
                    "{},{},{},{},{}",
                    stream(index).name,
                    row.delivered,
                    row.discarded,
                    shown(row.latency_mean_ns()),
                    shown(row.latency_max.as_ps() as f64 / 1000.0)
                ));
            }
            printer.note(&format!("{}\n{}", verdict.word.name().to_uppercase(), verdict.text));
            printer.hint("delivered counts messages, discarded single frames, of which a message may have several");
            printer.hint(&format!(
                "simulated {} frames by {} events in {cpu_s:.2} s of processor time ({:.2} million frames a second, {:.1} times real time); nothing is stored; seed {}, fingerprint {}",
                run.tally.delivered(),
                run.events,
                run.tally.delivered() as f64 / cpu_s / 1e6,
                plan.duration.as_secs_f64() / cpu_s,
                plan.seed,
                run.fingerprint
            ));
        }
    }
    Ok(None)
}

/// Why there is no verdict, by what was asked for, and what to do for one.
fn unjudged(options: &Run, fidelity: Fidelity) -> String {
    let of_count = "frames were counted and none was judged, as `--count` asks: leave it out for a verdict";
    let of_timing = "frames were counted and none was judged, since `fidelity = \"timing\"` makes none that could be kept: write \
                     `--set fidelity=bytes` for a verdict";
    let why = match (options.count, fidelity) {
        (true, Fidelity::Bytes) => of_count.to_owned(),
        (true, Fidelity::Timing) => format!("{of_count}, and write `--set fidelity=bytes`"),
        (false, _) => of_timing.to_owned(),
    };
    format!("No deadline was checked: {why}.")
}
