//! `chronoseal schedule make SCENARIO`

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use std::path::Path;

use chronoseal_analysis::synthesis::{GatedNetwork, GatedStream, Written, gated_network};
use chronoseal_core::Duration;
use chronoseal_scenario::{PortGates, with_gates};
use chronoseal_schedule::Schedule;
use chronoseal_schedule::exchange::scenario::gate_table;
use chronoseal_schedule::gates::GateList;

use super::{Make, made, synthesized};
use chronoseal_console::input;
use chronoseal_console::input::ScenarioFile;

/// Schedules the streams of one class of a scenario, and writes the scenario with their offsets and the gates of its ports.
pub(super) fn make(options: &Make, file: &Path, printer: &Printer) -> Result<Status, Trouble> {
    let given = ScenarioFile { file: file.to_owned(), sets: options.sets.clone() };
    let scenario = input::scenario(&given, &[], Format::Human)?;
    let gated = gated_network(&scenario.plan, options.segment.as_deref(), options.class, Written::Nothing)?;
    let mut network = gated.network.clone();
    if let Some(entries_max) = options.gate_entries {
        network = network.with_gate_entries(entries_max);
    }
    let streams = gated.streams.iter().map(|one| one.stream.clone()).collect();
    let schedule = match synthesized(network, streams, options, printer)? {
        Ok(schedule) => schedule,
        Err(status) => return Ok(status),
    };
    let lists = schedule.gates(options.class);
    let offsets = offsets(&gated, &schedule);
    let source = file.display().to_string();
    let ports = ports(&gated, &lists);
    let text = with_gates(&source, &files::read(file)?, &options.sets, &gated.segment, &ports, &offsets)
        .map_err(|problems| Trouble(problems.render()))?;
    written(&text, file, &options.out, printer)?;
    made(&schedule, &lists, &options.out, printer);
    printer.hint(&format!("seed: {}", options.seed));
    Ok(Status::Held)
}

/// The gates of the ports that have a list.
pub(super) fn ports(gated: &GatedNetwork, lists: &[GateList]) -> Vec<PortGates> {
    let network = &gated.network;
    let port = |list: &GateList| {
        let port = gated.ports.iter().find(|port| port.link == list.link)?;
        let link = &network.links()[list.link];
        let name = |node: usize| network.nodes()[node].name.clone();
        let gates = Some(gate_table(list, network.granularity));
        let (is_station, class_of) = (port.is_station, port.class_of);
        Some(PortGates { from: name(link.from), to: name(link.to), is_station, class_of, gates })
    };
    lists.iter().filter_map(port).collect()
}

/// When the streams of a schedule are due. A frame is due when its sealing begins.
pub(super) fn offsets(gated: &GatedNetwork, schedule: &Schedule) -> Vec<(String, Duration)> {
    let offset = |one: &GatedStream| {
        let start = *schedule.planned(&one.stream.name)?.starts.first()?;
        Some((one.stream.name.clone(), (start - one.seal).rem_floor(one.stream.period)))
    };
    gated.streams.iter().filter_map(offset).collect()
}

/// Writes a scenario that was made of another one into a folder that is not there yet.
pub(super) fn written(text: &str, file: &Path, out: &Path, printer: &Printer) -> Result<(), Trouble> {
    let scheduled = input::checked(text, file)?;
    files::claim(out)?;
    files::write(&out.join("scenario.toml"), text)?;
    if !scheduled.plan.recordings.is_empty() {
        printer.hint(&format!("help: copy scenario.toml beside {}, since it refers to files there", file.display()));
    }
    Ok(())
}
