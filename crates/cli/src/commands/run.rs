//! `chronoseal run`

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, SimTime};
use chronoseal_report::{Held, html, run_report};
use chronoseal_results::store;
use chronoseal_runner::{CanPlaceName, LiveOptions, Run as FinishedRun, Scenario, measure, simulate, tally};
use chronoseal_scenario::plan::Fidelity;
use chronoseal_testbed::{Placement, cost, interrupt};
use serde_json::json;

use crate::arguments::{EngineName, Format, PlacementName, Run};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

const OUT_OF_TIMING: &str =
    "error: a run with fidelity = \"timing\" counts frames and keeps none, so --out has nothing to hold
help: leave --out away, or keep frames with --set fidelity=bytes";

pub(crate) fn run(options: &Run, printer: &Printer) -> Result<Status, Trouble> {
    let stop = interrupt::flag();
    let mut status = Status::Held;
    for round in 0..options.repeat {
        let scenario = scenario(options, round)?;
        let prepared = input::prepare(&scenario, &options.scenario.file, options.format)?;
        let counts_only = options.count || scenario.plan.fidelity == Fidelity::Timing;
        if options.engine == EngineName::Sim && counts_only {
            // Millions of frames: counted, not kept.
            if options.out.is_some() {
                return Err(Trouble(OUT_OF_TIMING.into()));
            }
            counted(&prepared, options, printer, stop)?;
            if stop.load(Ordering::Relaxed) {
                printer.note("interrupted: the counts are of what there was until then");
                return Ok(Status::Failed);
            }
            continue;
        }
        // Before the run: nobody wants to hear after five minutes that there is no room for the results.
        let place = place(options, &scenario.plan.name, scenario.plan.seed, round);
        place.as_deref().map(input::claim).transpose()?;
        let cpu_before = cost::process_cpu_ns();
        let finished = one(&scenario, &prepared, options, printer, stop).inspect_err(|_| {
            if let Some(folder) = &place {
                // Only if it is still empty; the error to tell is the other one.
                let _ = std::fs::remove_dir(folder);
            }
        })?;
        let cpu_s = (cost::process_cpu_ns() - cpu_before) as f64 * 1e-9;
        if show(&finished, cpu_s, options, place, printer)? == Status::Failed {
            status = Status::Failed;
        }
        if stop.load(Ordering::Relaxed) {
            let kept = if options.no_store { "shown" } else { "kept" };
            printer.note(&format!("interrupted: what there was is {kept} and marked as such"));
            return Ok(Status::Failed);
        }
    }
    Ok(status)
}

fn scenario(options: &Run, round: u32) -> Result<Scenario, Trouble> {
    let first = input::scenario(&options.scenario, &seed_set(options.seed), options.format)?;
    if round == 0 || options.engine == EngineName::Live {
        return Ok(first);
    }
    let seed = first.plan.seed + u64::from(round);
    input::scenario(&options.scenario, &seed_set(Some(seed)), options.format)
}

fn seed_set(seed: Option<u64>) -> Vec<(String, String)> {
    seed.map(|seed| ("seed".to_owned(), seed.to_string())).into_iter().collect()
}

/// One run with every row kept.
fn one(
    scenario: &Scenario,
    prepared: &Prepared<'_>,
    options: &Run,
    printer: &Printer,
    stop: &AtomicBool,
) -> Result<FinishedRun, Trouble> {
    match options.engine {
        EngineName::Sim => {
            let mut go_on = progress(scenario.plan.duration, "simulating", printer, stop);
            Ok(simulate(prepared, options.capture, &mut go_on)?)
        }
        EngineName::Live => {
            printer.hint(&format!("running live for {}", scenario.plan.duration));
            Ok(measure(scenario, &live_options(options), stop)?)
        }
    }
}

fn live_options(options: &Run) -> LiveOptions {
    let placement = options.placement.map(|placement| match placement {
        PlacementName::One => Placement::OneProcessor,
        PlacementName::Apart => Placement::Apart,
        PlacementName::Free => Placement::Free,
    });
    let can = match &options.can_interface {
        Some(interface) => CanPlaceName::Interface(interface.clone()),
        None => CanPlaceName::Bus { guests: options.can_guest.clone() },
    };
    LiveOptions { capture: options.capture, no_fifo: options.no_fifo, placement, agent_command: None, can }
}

/// Asked now and then by the simulator: shows how far it is, and stops it on Ctrl-C.
fn progress<'a>(
    duration: Duration,
    what: &str,
    printer: &Printer,
    stop: &'a AtomicBool,
) -> impl FnMut(SimTime) -> bool + 'a {
    let bar = printer.progress(duration.as_ns().unsigned_abs(), what);
    move |at: SimTime| {
        bar.set_position(at.since_zero().as_ns().unsigned_abs());
        !stop.load(Ordering::Relaxed)
    }
}

/// A run for counts and speed.
fn counted(prepared: &Prepared<'_>, options: &Run, printer: &Printer, stop: &AtomicBool) -> Result<(), Trouble> {
    let plan = prepared.plan();
    let mut go_on = progress(plan.duration, "simulating", printer, stop);
    let cpu_before = cost::process_cpu_ns();
    let run = tally(prepared, &mut go_on)?;
    let cpu_s = (cost::process_cpu_ns() - cpu_before) as f64 * 1e-9;
    let rows = run.tally.rows();
    let stream = |index: usize| &plan.streams[index];
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
                        "latency_mean_ns": row.latency_mean_ns(),
                        "latency_max_ns": row.latency_max.as_ps() as f64 / 1000.0,
                    })
                })
                .collect();
            printer.data(&serde_json::to_string_pretty(&json!({
                "schema_version": 1,
                "scenario": plan.name,
                "engine": "sim",
                "seed": plan.seed,
                "fingerprint": run.fingerprint,
                "interrupted": !run.finished,
                "frames_delivered": run.tally.delivered(),
                "cpu_s": cpu_s,
                "frames_per_cpu_s": run.tally.delivered() as f64 / cpu_s,
                "simulated_s": plan.duration.as_secs_f64(),
                "flows": streams,
            }))?);
        }
        Format::Human | Format::Csv => {
            printer.data("stream,delivered,discarded,latency_mean_ns,latency_max_ns");
            for (index, row) in rows.iter().enumerate() {
                printer.data(&format!(
                    "{},{},{},{:.3},{:.3}",
                    stream(index).name,
                    row.delivered,
                    row.discarded,
                    row.latency_mean_ns(),
                    row.latency_max.as_ps() as f64 / 1000.0
                ));
            }
            printer.hint(&format!(
                "simulated {} frames in {cpu_s:.2} s of processor time ({:.2} million a second); nothing is stored; seed {}, fingerprint {}",
                run.tally.delivered(),
                run.tally.delivered() as f64 / cpu_s / 1e6,
                plan.seed,
                run.fingerprint
            ));
        }
    }
    Ok(())
}

/// Where a run is stored; `None` if it is not.
fn place(options: &Run, name: &str, seed: u64, round: u32) -> Option<PathBuf> {
    if options.no_store {
        return None;
    }
    let engine = match options.engine {
        EngineName::Sim => "sim",
        EngineName::Live => "live",
    };
    Some(match &options.out {
        Some(folder) if options.repeat > 1 => folder.join(format!("run-{round:03}")),
        Some(folder) => folder.clone(),
        None => input::fresh_folder(&format!("{name}-{engine}-s{seed}")),
    })
}

fn show(
    run: &FinishedRun,
    cpu_s: f64,
    options: &Run,
    place: Option<PathBuf>,
    printer: &Printer,
) -> Result<Status, Trouble> {
    let document = run_report(&run.meta, &run.summary, &run.rows);
    let mut page = None;
    if let Some(folder) = &place {
        store::write(folder, &run.meta, &run.summary, &run.rows)?;
        let path = folder.join("report.html");
        input::write(&path, &html(&document))?;
        page = Some(path);
    }
    if options.format == Format::Json {
        let delivered: u64 = run.summary.streams.iter().map(|stream| stream.delivered + stream.late).sum();
        printer.data(&serde_json::to_string_pretty(&json!({
            "schema_version": 1,
            "scenario": run.meta.name,
            "engine": run.meta.engine.name(),
            "seed": run.meta.seed,
            "fingerprint": run.meta.fingerprint,
            "interrupted": run.meta.interrupted,
            "held": document.verdict.held,
            "verdict": document.verdict.text,
            "frames_delivered": delivered,
            "cpu_s": cpu_s,
            "frames_per_cpu_s": delivered as f64 / cpu_s,
            "summary": run.summary,
            "warnings": run.meta.warnings,
            "results": place,
        }))?);
    } else {
        printer.document(&document, options.format);
    }
    if let (Some(folder), Some(page)) = (&place, &page) {
        printer.hint(&format!("results: {}  report: {}  seed: {}", folder.display(), page.display(), run.meta.seed));
    }
    Ok(if document.verdict.held == Held::Yes { Status::Held } else { Status::Failed })
}
