//! `chronoseal schedule add` and `chronoseal schedule remove`

use chronoseal_analysis::synthesis::{GatedNetwork, Written, gated_network};
use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_scenario::{PortGates, Scenario, with_gates, without_stream};
use chronoseal_schedule::{Options, Problem, Schedule, Stream, synthesize};

use super::from_scenario::{offsets, ports, written};
use super::{Alter, made, report, troubles};
use chronoseal_console::input;
use chronoseal_console::input::ScenarioFile;

/// Puts one more stream of a scenario into its schedule.
pub(super) fn add(options: &Alter, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = scenario(options)?;
    let gated = gated(&scenario, options)?;
    let is_new = |stream: &Stream| stream.name == options.stream;
    let (coming, there): (Vec<Stream>, Vec<Stream>) = streams(&gated).partition(is_new);
    let mut schedule = there_already(&gated, there, options)?;
    for stream in coming {
        if let Err(why) = schedule.add(stream) {
            printer.note(&format!("INFEASIBLE\n{why}"));
            printer.hint("help: `schedule make` may find a schedule in which others have another place");
            return Ok(Status::Failed);
        }
    }
    let violations = schedule.replay(options.class);
    if !violations.is_empty() {
        return Ok(report(&violations, printer));
    }
    let lists = schedule.gates(options.class);
    let mut offsets = offsets(&gated, &schedule);
    offsets.retain(|(name, _)| *name == options.stream);
    let (source, bytes) = (options.scenario.display().to_string(), files::read(&options.scenario)?);
    let text = with_gates(&source, &bytes, &[], &gated.segment, &ports(&gated, &lists), &offsets)
        .map_err(|problems| Trouble(problems.render()))?;
    written(&text, &options.scenario, &options.out, printer)?;
    made(&schedule, &lists, &options.out, printer);
    Ok(Status::Held)
}

/// Takes a stream out of a scenario and of its schedule.
pub(super) fn remove(options: &Alter, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = scenario(options)?;
    let gated = gated(&scenario, options)?;
    let before = there_already(&gated, streams(&gated).collect(), options)?;
    let before = ports(&gated, &before.gates(options.class));
    // All of them have their offsets, so they stay where they are; the cycle may be a shorter one.
    let schedule = placed(&gated, streams(&gated).filter(|stream| stream.name != options.stream).collect())?;
    let lists = schedule.gates(options.class);
    let mut after = ports(&gated, &lists);
    let is_left = |port: &PortGates| after.iter().any(|kept| (&kept.from, &kept.to) == (&port.from, &port.to));
    // What nothing scheduled leaves by any more is open to all.
    let emptied: Vec<PortGates> = before.into_iter().filter(|port| !is_left(port)).collect();
    after.extend(emptied.into_iter().map(|port| PortGates { gates: None, ..port }));
    let (source, bytes) = (options.scenario.display().to_string(), files::read(&options.scenario)?);
    let text = with_gates(&source, &bytes, &[], &gated.segment, &after, &[])
        .and_then(|text| without_stream(&source, text.as_bytes(), &options.stream))
        .map_err(|problems| Trouble(problems.render()))?;
    written(&text, &options.scenario, &options.out, printer)?;
    made(&schedule, &lists, &options.out, printer);
    Ok(Status::Held)
}

fn scenario(options: &Alter) -> Result<Scenario, Trouble> {
    let given = ScenarioFile { file: options.scenario.clone(), sets: Vec::new() };
    input::scenario(&given, &[], Format::Human)
}

/// The network of the class with the stream in question.
fn gated(scenario: &Scenario, options: &Alter) -> Result<GatedNetwork, Trouble> {
    let gated = gated_network(&scenario.plan, options.segment.as_deref(), options.class, Written::Schedule)?;
    if streams(&gated).any(|stream| stream.name == options.stream) {
        return Ok(gated);
    }
    let names: Vec<String> = streams(&gated).map(|stream| format!("`{}`", stream.name)).collect();
    Err(Trouble(format!(
        "error: there is no stream `{}` in traffic class {} of `{}`\nhelp: name one of these with --stream: {}",
        options.stream,
        options.class,
        gated.segment,
        names.join(", ")
    )))
}

fn streams(gated: &GatedNetwork) -> impl Iterator<Item = Stream> {
    gated.streams.iter().map(|one| one.stream.clone())
}

/// What to do about a schedule that is none.
const ANEW: &str = "help: leave the `gates` out and make the schedule anew with `schedule make`";

/// A schedule of streams that have an offset.
fn placed(gated: &GatedNetwork, streams: Vec<Stream>) -> Result<Schedule, Trouble> {
    let problem = Problem::new(gated.network.clone(), streams).map_err(|faults| troubles(&faults))?;
    synthesize(&problem, Options::default())
        .map_err(|why| Trouble(format!("error: the offsets of the scenario are no schedule: {why}\n{ANEW}")))
}

/// The schedule of streams that have an offset, if the gates of the scenario are those of it.
fn there_already(gated: &GatedNetwork, streams: Vec<Stream>, options: &Alter) -> Result<Schedule, Trouble> {
    if let Some(stream) = streams.iter().find(|stream| stream.offset.is_none()) {
        return Err(Trouble(format!(
            "error: stream `{}` has no `offset`, so that it is in no schedule\nhelp: add it first, or make a schedule of all \
             with `schedule make`",
            stream.name
        )));
    }
    let schedule = placed(gated, streams)?;
    match gated.differs(&schedule.gates(options.class), options.class) {
        None => Ok(schedule),
        Some(link) => Err(Trouble(format!(
            "error: the gates of the port of {link} are not those of a schedule of the streams in traffic class {}\n{ANEW}",
            options.class
        ))),
    }
}
