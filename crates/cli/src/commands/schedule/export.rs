//! `chronoseal schedule export`, and the files that lists are written to.

use chronoseal_analysis::synthesis::written_gates;
use chronoseal_console::input::{self, ScenarioFile};
use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_schedule::Network;
use chronoseal_schedule::exchange::qcw::{self, Place};
use chronoseal_schedule::exchange::{Refusal, taprio};
use chronoseal_schedule::gates::GateList;

use super::{Export, Lists};

/// A port in a file.
pub(super) struct Port<'a> {
    pub(super) list: &'a GateList,
    pub(super) place: Place,
    /// The traffic class of each priority code point.
    pub(super) class_of: [u8; 8],
}

/// The file with the lists, with its name.
pub(super) fn file(form: Lists, network: &Network, ports: &[Port<'_>]) -> Result<(&'static str, String), Refusal> {
    let lists = || ports.iter().map(|port| (port.list, port.place));
    Ok(match form {
        Lists::YangJson => ("gates.json", qcw::write_json_of(network, lists())?),
        Lists::YangXml => ("gates.xml", qcw::write_xml_of(network, lists())?),
        Lists::Taprio => {
            let ports: Vec<_> =
                ports.iter().map(|port| taprio::Port { list: port.list, class_of: port.class_of }).collect();
            ("taprio.sh", taprio::write(network, &ports)?)
        }
    })
}

/// Writes the gates of a scenario.
pub(super) fn run(options: &Export, printer: &Printer) -> Result<Status, Trouble> {
    let given = ScenarioFile { file: options.scenario.clone(), sets: options.sets.clone() };
    let scenario = input::scenario(&given, &[], Format::Human)?;
    let (network, written) = written_gates(&scenario.plan, options.segment.as_deref())?;
    let ports = written.iter().map(|port| {
        // A station is no bridge, so it has no bridge ports.
        let place = if port.is_station { Place::Interface } else { Place::BridgePort };
        Port { list: &port.list, place, class_of: port.class_of }
    });
    let (name, text) = file(options.gates, &network, &ports.collect::<Vec<_>>())?;
    files::claim(&options.out)?;
    files::write(&options.out.join(name), &text)?;
    let longest = written.iter().map(|port| port.list.entries.len()).max().unwrap_or(0);
    printer.data(&format!("the gates of {} ports, at most {longest} entries in a list\n", written.len()));
    printer.hint(&format!("lists: {}", options.out.join(name).display()));
    Ok(Status::Held)
}
