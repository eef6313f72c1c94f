//! `chronoseal schedule make SCENARIO`

use std::path::Path;

use chronoseal_analysis::synthesis::gated_network;
use chronoseal_core::Duration;
use chronoseal_scenario::{PortGates, with_gates};
use chronoseal_schedule::exchange::scenario::gate_table;

use super::{Make, made, synthesized};
use crate::arguments::{Format, ScenarioFile};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

/// Schedules the streams of one class of a scenario, and writes the scenario with their offsets and the gates of its ports.
pub(super) fn make(options: &Make, file: &Path, printer: &Printer) -> Result<Status, Trouble> {
    let given = ScenarioFile { file: file.to_owned(), sets: options.sets.clone() };
    let scenario = input::scenario(&given, &[], Format::Human)?;
    let gated = gated_network(&scenario.plan, options.segment.as_deref(), options.class)?;
    let mut network = gated.network;
    if let Some(entries_max) = options.gate_entries {
        network = network.with_gate_entries(entries_max);
    }
    let streams = gated.streams.iter().map(|one| one.stream.clone()).collect();
    let schedule = match synthesized(network, streams, options, printer)? {
        Ok(schedule) => schedule,
        Err(status) => return Ok(status),
    };
    let lists = schedule.gates(options.class);
    let network = schedule.network();
    let ports: Vec<PortGates> = lists
        .iter()
        .filter_map(|list| {
            let port = gated.ports.iter().find(|port| port.link == list.link)?;
            let link = &network.links()[list.link];
            let name = |node: usize| network.nodes()[node].name.clone();
            let gates = gate_table(list, network.granularity);
            let (is_station, class_of) = (port.is_station, port.class_of);
            Some(PortGates { from: name(link.from), to: name(link.to), is_station, class_of, gates })
        })
        .collect();
    let offsets: Vec<(String, Duration)> = gated
        .streams
        .iter()
        .filter_map(|one| {
            // A frame is due when its sealing begins.
            let start = *schedule.planned(&one.stream.name)?.starts.first()?;
            Some((one.stream.name.clone(), (start - one.seal).rem_floor(one.stream.period)))
        })
        .collect();
    let source = file.display().to_string();
    let text = with_gates(&source, &input::read(file)?, &options.sets, &gated.segment, &ports, &offsets)
        .map_err(|problems| Trouble(problems.render()))?;
    let scheduled = input::checked(&text, file)?;
    input::claim(&options.out)?;
    input::write(&options.out.join("scenario.toml"), &text)?;
    made(&schedule, &lists, options, printer);
    if !scheduled.plan.recordings.is_empty() {
        printer.hint(&format!("help: copy scenario.toml beside {source}, since it refers to files there"));
    }
    Ok(Status::Held)
}
