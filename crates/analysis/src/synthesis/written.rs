//! The gates that the ports of a scenario have, for files of other tools.

use chronoseal_media::port::{GateControlList, priority_of};
use chronoseal_plan::{Plan, PortEnd};
use chronoseal_schedule::Network;
use chronoseal_schedule::exchange::Refusal;
use chronoseal_schedule::gates::{GateEntry, GateList};

use super::gated::{OWN_CLASSES, all_ports, chosen, link_between, refuse, wires};

/// A port that has gates.
#[derive(Clone, Debug)]
pub struct WrittenPort {
    /// Its gates; the last entry lasts until the end of the cycle.
    pub list: GateList,
    /// True for a port of a station.
    pub is_station: bool,
    /// The traffic class of each priority code point.
    pub class_of: [u8; 8],
}

/// The links of a segment, and its ports that have gates, in the order of their links.
///
/// # Errors
/// A segment without gates, and what the files of other tools have no place for, with what to change.
pub fn written_gates(plan: &Plan, segment: Option<&str>) -> Result<(Network, Vec<WrittenPort>), Refusal> {
    let view = chosen(plan, segment)?;
    let name = &plan.segments[view.id.index()].name;
    if !view.segment.wiring.second.is_empty() {
        return Err(refuse(
            format!("`{name}` has networks A and B, and a file has the ports of one network"),
            "leave `networks` out",
        ));
    }
    let ports = all_ports(view);
    let network = wires(view, &ports)?;
    let mut written = Vec::new();
    for port in &ports {
        let config = view.segment.ports.of(port.end);
        let Some(gates) = config.and_then(|config| config.gates.as_ref()) else { continue };
        // It was made of the same ports.
        let Some(link) = link_between(view, &network, port.ends) else { continue };
        let class_of = config.map_or(OWN_CLASSES, |config| config.class_of);
        let of_code_point = |code_point: usize| class_of[usize::from(priority_of(code_point as u8).0)];
        written.push(WrittenPort {
            list: list(gates, link, &network)?,
            is_station: matches!(port.end, PortEnd::Station(_)),
            class_of: std::array::from_fn(of_code_point),
        });
    }
    written.sort_by_key(|port| port.list.link);
    if !written.is_empty() {
        return Ok((network, written));
    }
    let has_slots = view.streams().any(|stream| stream.class.is_time_triggered());
    Err(match has_slots {
        true => refuse(
            format!(
                "no port of `{name}` has gates: its schedule is one of slots (SAE AS6802), for which these files have no place"
            ),
            "give the streams a `class` with a VLAN tag, and let `chronoseal schedule make` make gates for them",
        ),
        false => refuse(
            format!("no port of `{name}` has gates, so there is no schedule to write"),
            "write `gates` for its ports, or let `chronoseal schedule make` make them",
        ),
    })
}

fn list(gates: &GateControlList, link: usize, network: &Network) -> Result<GateList, Refusal> {
    let own = |what: &str, help: &str| Err(refuse(format!("the port of `{}` {what}", network.link_name(link)), help));
    if gates.change.is_some() {
        return own(
            "has an `admin` list",
            "write the lists of one schedule, without `admin`, and export each by itself",
        );
    }
    if gates.entries.iter().any(|entry| entry.hold) {
        return own(
            "holds preemptable frames, and what is written here opens and closes gates alone",
            "leave `hold` out",
        );
    }
    let mut entries: Vec<GateEntry> =
        gates.entries.iter().map(|entry| GateEntry { gates: entry.open, interval: entry.lasts }).collect();
    let sum = entries.iter().map(|entry| entry.interval).sum();
    if let Some(last) = entries.last_mut() {
        last.interval += gates.cycle - sum;
    }
    Ok(GateList { link, base: gates.base_time, cycle: gates.cycle, entries })
}
