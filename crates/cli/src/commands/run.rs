//! `chronoseal run`

mod counted;
mod over;
mod traced;

use chronoseal_console::{Format, PAGE, Printer, Status, Trouble, files, input, run_json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, NodeId, SimTime};
use chronoseal_plan::Fidelity;
use chronoseal_report::{Document, RunView, html, pair_report, run_report};
use chronoseal_results::disk::{Filling, sweep};
use chronoseal_results::{Engine, store};
use chronoseal_runner::{
    CanPlaceName, LiveOptions, MeasureError, Run as FinishedRun, Span, beyond_host, describe, measure, overloads,
    simulate_folded,
};
use chronoseal_scenario::Scenario;
use chronoseal_testbed::{AgentCommand, ClockStep, Placement, cost, interrupt};
use serde_json::{Value, json};

use self::counted::counted;
use self::over::Over;
pub(crate) use self::traced::WindowArgument;
use crate::arguments::{EngineName, PlacementName, Run};
use crate::other_program;

/// Folders of a run on both engines.
pub(super) const SIM: &str = "sim";
pub(super) const LIVE: &str = "live";

const CLOCK_STEP_OF_SIM: &str = "error: --clock-step lets the clock of a live station jump, and this run is simulated
help: add --engine live";

const REPEATED_BOTH: &str = "error: --engine both makes one pair of runs, and --repeat many of one kind to compare
help: leave --repeat away, or repeat --engine sim and --engine live each into a folder of its own";

const COUNT_OF_BOTH: &str =
    "error: --count counts frames of a simulated run, and --engine both sets two runs side by side
help: leave --count away, or write --engine sim";

const OUT_OF_TIMING: &str =
    "error: a run with fidelity = \"timing\" counts frames and keeps none, so --out has nothing to hold
help: leave --out away, or keep frames with --set fidelity=bytes";

pub(crate) fn run(options: &Run, printer: &Printer) -> Result<Status, Trouble> {
    let mut told = Vec::new();
    let result = rounds(options, printer, &mut told);
    // Programs read one value: of several runs, a list, also if one of them could not be run.
    match &told[..] {
        [] => {}
        [one] if options.repeat == 1 => printer.data(&serde_json::to_string_pretty(one)?),
        _ => printer.data(&serde_json::to_string_pretty(&told)?),
    }
    result
}

/// Every run that was asked for; with [`Format::Json`], what programs are told of each.
fn rounds(options: &Run, printer: &Printer, told: &mut Vec<Value>) -> Result<Status, Trouble> {
    let stop = interrupt::flag();
    let mut status = Status::Held;
    let mut shown_of: Vec<(u64, Status)> = Vec::new();
    if options.engine == EngineName::Both && options.repeat > 1 {
        return Err(Trouble(REPEATED_BOTH.into()));
    }
    for round in 0..options.repeat {
        let (scenario, over) = Over::of(scenario(options, round)?, options, printer)?;
        let prepared = input::prepare(&scenario, &options.scenario.file, options.format)?;
        let counts_only = options.count || scenario.plan.fidelity == Fidelity::Timing;
        traced::check(options, counts_only, scenario.plan.duration)?;
        let clock_steps = clock_steps(options, &prepared)?;
        if options.engine == EngineName::Sim && counts_only {
            // Millions of frames: counted, not kept.
            if options.out.is_some() {
                return Err(Trouble(OUT_OF_TIMING.into()));
            }
            told.extend(counted(&prepared, options, printer, stop)?);
            status = status.max(Status::Unproven);
            if stop.load(Ordering::Relaxed) {
                printer.note("interrupted: the counts are of what there was until then");
                return Ok(Status::Unproven);
            }
            continue;
        }
        if options.engine == EngineName::Both && counts_only {
            return Err(match options.count {
                true => Trouble(COUNT_OF_BOTH.into()),
                false => MeasureError::NoBytes.into(),
            });
        }
        // Before the run: nobody wants to hear after five minutes that there is no room for the results.
        if let Some(folder) =
            options.out.as_deref().filter(|folder| options.repeat > 1 && folder.join("manifest.json").is_file())
        {
            return Err(Trouble(format!(
                "error: {} holds one run, beside which others would not be seen; nothing was run\nhelp: choose another folder with --out",
                folder.display()
            )));
        }
        let place = place(options, &scenario.plan.name, scenario.plan.seed, round);
        place.as_deref().map(files::claim).transpose()?;
        for left in place.as_deref().into_iter().flat_map(sweep) {
            printer.hint(&format!("removed {}, which a run that was killed had left", left.display()));
        }
        // Of two runs, each is whole or not there; the folder of both is marked until both are and their report.
        let pair = place.as_deref().filter(|_| options.engine == EngineName::Both);
        let filling = pair.map(Filling::begin).transpose()?;
        let asked = (options, &clock_steps[..]);
        let ran = every_engine((&scenario, over.as_ref()), &prepared, asked, place.as_deref(), printer, stop);
        let ran = ran.inspect_err(|_| {
            place.as_deref().into_iter().for_each(files::release);
        })?;
        let shown = show(&ran, options, place.as_deref(), printer, told)?;
        filling.map(Filling::finish).transpose()?;
        status = status.max(shown);
        shown_of.push((scenario.plan.seed, shown));
        if stop.load(Ordering::Relaxed) {
            let kept = if options.no_store { "shown" } else { "kept" };
            printer.note(&format!("interrupted: what there was is {kept} and marked as such"));
            return Ok(status.max(Status::Unproven));
        }
    }
    if let Some(text) = all_of(&shown_of).filter(|_| options.repeat > 1) {
        printer.hint(&text);
    }
    Ok(status)
}

/// What several runs came to together.
fn all_of(runs: &[(u64, Status)]) -> Option<String> {
    let of = |status: Status, word: &str| {
        let seeds: Vec<String> =
            runs.iter().filter(|(_, own)| *own == status).map(|(seed, _)| seed.to_string()).collect();
        let which = match status {
            Status::Held => String::new(),
            _ => format!(" (seed {})", seeds.join(", ")),
        };
        (!seeds.is_empty()).then(|| format!("{} {word}{which}", seeds.len()))
    };
    let words = [of(Status::Held, "held"), of(Status::Unproven, "not checked"), of(Status::Failed, "failed")];
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| format!("of {} runs {}", runs.len(), words.join(", ")))
}

fn scenario(options: &Run, round: u32) -> Result<Scenario, Trouble> {
    let first = input::scenario(&options.scenario, &seed_set(options.seed), options.format)?;
    if round == 0 || options.engine != EngineName::Sim {
        return Ok(first);
    }
    let seed = first.plan.seed + u64::from(round);
    input::scenario(&options.scenario, &seed_set(Some(seed)), options.format)
}

fn seed_set(seed: Option<u64>) -> Vec<(String, String)> {
    seed.map(|seed| ("seed".to_owned(), seed.to_string())).into_iter().collect()
}

/// How to run, and the nodes whose clocks are to jump.
type Asked<'a> = (&'a Run, &'a [(NodeId, ClockStep)]);

/// The nodes whose clocks are to jump.
fn clock_steps(options: &Run, prepared: &Prepared<'_>) -> Result<Vec<(NodeId, ClockStep)>, Trouble> {
    if options.engine == EngineName::Sim && !options.clock_step.is_empty() {
        return Err(Trouble(CLOCK_STEP_OF_SIM.into()));
    }
    let plan = prepared.plan();
    let step = |(name, step): &(String, ClockStep)| {
        let mut stations = plan.node_ids().filter(|id| !prepared.attachments(*id).is_empty());
        match stations.find(|id| plan.node_name(*id) == *name) {
            Some(node) => Ok((node, *step)),
            None => Err(Trouble(format!("error: the scenario has no station `{name}`, whose clock could jump"))),
        }
    };
    options.clock_step.iter().map(step).collect()
}

/// A run, and where it is stored.
struct Ran {
    run: FinishedRun,
    /// Processor time of this process `[s]`.
    cpu_s: f64,
    folder: Option<PathBuf>,
}

impl Ran {
    fn view(&self) -> RunView<'_> {
        RunView { meta: &self.run.meta, summary: &self.run.summary, rows: &self.run.rows }
    }
}

/// Runs on each engine asked for, one after the other, and stores each run as soon as there is one.
fn every_engine(
    scenario: (&Scenario, Option<&Over>),
    prepared: &Prepared<'_>,
    (options, clock_steps): Asked<'_>,
    place: Option<&Path>,
    printer: &Printer,
    stop: &AtomicBool,
) -> Result<Vec<Ran>, Trouble> {
    let (engines, is_divided): (&[EngineName], bool) = match options.engine {
        EngineName::Sim => (&[EngineName::Sim], false),
        EngineName::Live => (&[EngineName::Live], false),
        EngineName::Both => (&[EngineName::Sim, EngineName::Live], true),
    };
    let mut all = Vec::new();
    for &engine in engines {
        let cpu_before = cost::process_cpu_ns();
        let part = if engine == EngineName::Live { LIVE } else { SIM };
        let folder = place.map(|place| if is_divided { place.join(part) } else { place.to_owned() });
        let asked = (options, clock_steps);
        let run = one(scenario, prepared, engine, (asked, folder.as_deref()), printer, stop)?;
        let cpu_s = (cost::process_cpu_ns() - cpu_before) as f64 * 1e-9;
        if let Some(folder) = folder.as_ref().filter(|_| is_divided) {
            files::write(&folder.join(PAGE), &html(&run_report(&run.meta, &run.summary, &run.rows)))?;
        }
        all.push(Ran { run, cpu_s, folder });
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(all)
}

/// One run, stored in a folder if there is one.
fn one(
    (scenario, over): (&Scenario, Option<&Over>),
    prepared: &Prepared<'_>,
    engine: EngineName,
    ((options, clock_steps), folder): (Asked<'_>, Option<&Path>),
    printer: &Printer,
    stop: &AtomicBool,
) -> Result<FinishedRun, Trouble> {
    let stored = |run: FinishedRun| -> Result<FinishedRun, Trouble> {
        folder.map(|folder| store::write(folder, &run.meta, &run.summary, &run.rows)).transpose()?;
        Ok(run)
    };
    if engine == EngineName::Live {
        let beyond = beyond_host(prepared, options.no_fifo);
        let warnings = overloads(&scenario.plan).into_iter().chain(beyond.clone());
        warnings.for_each(|text| printer.note(&format!("warning: {text}")));
        printer.hint(&format!("running live for {}", scenario.plan.duration));
        let mut live = live_options(options, other_program::stations(prepared)?);
        live.programs |= over.is_some();
        live.clock_steps = clock_steps.to_vec();
        live.warnings = beyond;
        let mut run = measure(prepared, scenario.texts(), &live, stop)?;
        over.into_iter().for_each(|over| over.told(&mut run.meta));
        return stored(run);
    }
    if let Some(file) = &options.trace {
        return stored(traced::traced(prepared, options, file, printer, stop)?);
    }
    let mut go_on = progress(scenario.plan.duration, "simulating", printer, stop);
    let span = Span::of(&scenario.plan);
    let Some(folder) = folder else {
        return Ok(simulate_folded(prepared, span, false, &mut (), &mut go_on)?);
    };
    let mut writer = store::Writer::begin(folder, &describe(prepared, Engine::Sim))?;
    // A disk that is full stays full: nobody wants to wait for the rest.
    let has_failed = writer.has_failed();
    let mut go_on = |at| !has_failed.load(Ordering::Relaxed) && go_on(at);
    let run = simulate_folded(prepared, span, options.capture, &mut writer, &mut go_on)?;
    writer.finish(&run.meta, &run.summary, &run.rows)?;
    Ok(run)
}

fn live_options(options: &Run, agent_command: Option<AgentCommand>) -> LiveOptions {
    let placement = options.placement.map(|placement| match placement {
        PlacementName::One => Placement::OneProcessor,
        PlacementName::Apart => Placement::Apart,
        PlacementName::Free => Placement::Free,
    });
    let can = match &options.can_interface {
        Some(interface) => CanPlaceName::Interface(interface.clone()),
        None => CanPlaceName::Bus { guests: options.can_guest.clone() },
    };
    LiveOptions {
        capture: options.capture,
        no_fifo: options.no_fifo,
        no_tun: options.no_tun,
        programs: options.programs,
        placement,
        agent_command,
        can,
        clock_steps: Vec::new(),
        warnings: Vec::new(),
    }
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

/// Where a run is stored; `None` if it is not.
fn place(options: &Run, name: &str, seed: u64, round: u32) -> Option<PathBuf> {
    if options.no_store {
        return None;
    }
    let engine = match options.engine {
        EngineName::Sim => SIM,
        EngineName::Live => LIVE,
        EngineName::Both => "both",
    };
    Some(match &options.out {
        Some(folder) if options.repeat > 1 => folder.join(format!("run-{round:03}")),
        Some(folder) => folder.clone(),
        None => files::fresh_folder(&format!("{name}-{engine}-s{seed}")),
    })
}

/// The report of what was run: of one run, or of both together.
fn document(ran: &[Ran]) -> Document {
    match ran {
        [first, second] => pair_report(first.view(), second.view()),
        _ => {
            let first = &ran[0].run;
            run_report(&first.meta, &first.summary, &first.rows)
        }
    }
}

fn show(
    ran: &[Ran],
    options: &Run,
    place: Option<&Path>,
    printer: &Printer,
    told: &mut Vec<Value>,
) -> Result<Status, Trouble> {
    let document = document(ran);
    let page = place.map(|folder| folder.join(PAGE));
    if let Some(page) = &page {
        files::write(page, &html(&document))?;
    }
    match options.format {
        Format::Json => told.push(as_json(ran, &document, place)),
        _ => printer.document(&document, options.format),
    }
    if let (Some(folder), Some(page)) = (place, &page) {
        let seed = ran[0].run.meta.seed;
        printer.hint(&format!("results: {}  report: {}  seed: {seed}", folder.display(), page.display()));
    }
    Ok(document.verdict.word.status())
}

/// For programs: the run, or what both together came to with each of them in `runs`.
fn as_json(ran: &[Ran], document: &Document, place: Option<&Path>) -> Value {
    let one = |ran: &Ran, document: &Document| run_json(&ran.view(), document, ran.cpu_s, ran.folder.as_deref());
    let [first, second] = ran else { return one(&ran[0], document) };
    let alone = |ran: &Ran| one(ran, &run_report(&ran.run.meta, &ran.run.summary, &ran.run.rows));
    json!({
        "schema_version": 2,
        "scenario": first.run.meta.name,
        "engine": "both",
        "seed": first.run.meta.seed,
        "word": document.verdict.word,
        "verdict": document.verdict.text,
        "runs": [alone(first), alone(second)],
        "results": place,
    })
}
