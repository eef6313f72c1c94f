//! What the ports of a segment do, with the schedulers of its streams.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_media::ethernet::{Ends, Link, Route, RouteHop};
use chronoseal_media::port::{GateControlList, PortConfig, SchedulerConfig, Selection};
use chronoseal_plan::{Ethernet, EthernetStream, PortEnd, StreamClass};

/// The ports that do more than a line by itself, by line. `nodes` are those at the links of stations, which come first.
pub(super) fn of(
    view: Ethernet<'_>,
    links: &[Link],
    nodes: &[NodeId],
    routes: &[Route],
) -> BTreeMap<usize, PortConfig> {
    let ports = &view.segment.ports;
    if ports.is_plain() {
        return BTreeMap::new();
    }
    let mut found = BTreeMap::new();
    for line in 0..2 * links.len() {
        let is_back = !line.is_multiple_of(2);
        let end = match links[line / 2].ends {
            Ends::Station { .. } if is_back => PortEnd::ToStation(nodes[line / 2]),
            Ends::Station { .. } => PortEnd::Station(nodes[line / 2]),
            Ends::Switches([one, other]) if is_back => PortEnd::Between(other as u16, one as u16),
            Ends::Switches([one, other]) => PortEnd::Between(one as u16, other as u16),
        };
        // An attacker's port of its own is no port of the scenario: it sends as fast as it can.
        let is_attacker = |node: NodeId| node.index() >= view.plan.nodes.len();
        if matches!(end, PortEnd::Station(node) if is_attacker(node)) {
            continue;
        }
        let Some(port) = ports.of(end) else { continue };
        let mut port = port.clone();
        operational_slopes(&mut port);
        port.schedulers = schedulers(view, line, &port, routes);
        found.insert(line, port);
    }
    found
}

/// IEEE 802.1Q-2022 §8.6.8.2: a class whose gate is not always open earns in the time it is open what it is to have of all, and that is
/// another slope where another list is in force.
fn operational_slopes(port: &mut PortConfig) {
    let Some(gates) = &port.gates else { return };
    let then = gates.changed();
    for (class, config) in port.classes.iter_mut().enumerate() {
        let Selection::CreditBased { idle_slope, changed } = &mut config.selection else { continue };
        *changed = then.as_ref().map(|then| operational_slope(*idle_slope, then, class));
        *idle_slope = operational_slope(*idle_slope, gates, class);
    }
}

/// The administrative slope times cycle over open time, in whole bits a second; as it is for a gate that never opens, whose class earns
/// nothing anyway.
fn operational_slope(administrative: Rate, gates: &GateControlList, class: usize) -> Rate {
    let open = open_in_cycle(gates, class);
    if open == Duration::ZERO {
        return administrative;
    }
    let slope = i128::from(administrative.0) * i128::from(gates.cycle.as_ps()) / i128::from(open.as_ps());
    Rate(u64::try_from(slope).unwrap_or(u64::MAX))
}

fn open_in_cycle(gates: &GateControlList, class: usize) -> Duration {
    let (mut open, mut rest) = (Duration::ZERO, gates.cycle);
    for (index, entry) in gates.entries.iter().enumerate() {
        let lasts = if index + 1 == gates.entries.len() { rest } else { entry.lasts.min(rest) };
        rest -= lasts;
        open += if entry.open >> class & 1 == 1 { lasts } else { Duration::ZERO };
    }
    open
}

/// The schedulers of the streams that leave by a line in a class that is shaped asynchronously. Frames of one class that come by
/// one line are one group.
fn schedulers(view: Ethernet<'_>, line: usize, port: &PortConfig, routes: &[Route]) -> Vec<SchedulerConfig> {
    let mut groups: Vec<(usize, u8)> = Vec::new();
    let mut found = Vec::new();
    for stream in view.streams() {
        let StreamClass::BestEffort { priority } = stream.class else { continue };
        let class = port.class_of[usize::from(priority.min(7))];
        if port.classes[usize::from(class)].selection != Selection::Asynchronous {
            continue;
        }
        let route = &routes[stream.id.index()];
        let leaves = |hop: &&RouteHop| hop.egress.contains(&line);
        // The first hop of a stream is the one at its sender's switch; before it is the sender's own port.
        let came_by = match route.hops.iter().find(leaves) {
            Some(hop) => hop.ingress,
            None if route.hops.first().is_some_and(|hop| hop.ingress == line) => line,
            None => continue,
        };
        let place = groups.iter().position(|known| *known == (came_by, class)).unwrap_or_else(|| {
            groups.push((came_by, class));
            groups.len() - 1
        });
        found.push(scheduler(view, &stream, place as u16));
    }
    found
}

fn scheduler(view: Ethernet<'_>, stream: &EthernetStream<'_>, group: u16) -> SchedulerConfig {
    let committed = view.committed_of(stream);
    SchedulerConfig {
        stream: stream.id,
        committed_rate: committed.rate,
        committed_burst: committed.burst,
        max_residence: None,
        group,
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_media::port::{GateEntry, ListChange};

    use super::*;

    #[test]
    fn a_class_earns_by_the_list_that_is_in_force_what_it_is_to_have_of_all_time() {
        let us = Duration::from_us;
        let entries = |all: &[(u8, i64)]| -> Vec<GateEntry> {
            all.iter().map(|(open, lasts)| GateEntry { open: *open, hold: false, lasts: us(*lasts) }).collect()
        };
        let slopes = |changes: bool| {
            // The second entry of the second list lasts until the end of its cycle.
            let entries_then = entries(&[(0b0011, 10), (0b0100, 20)]);
            let (requested_at, extension) = (Duration::ZERO, us(5));
            let change =
                ListChange { requested_at, extension, base_time: us(90), cycle: us(70), entries: entries_then };
            let list = GateControlList {
                base_time: Duration::ZERO,
                cycle: us(40),
                entries: entries(&[(0b1001, 20), (0b1100, 20)]),
                hold_advance: Duration::ZERO,
                change: changes.then(|| Box::new(change)),
            };
            let mut port = PortConfig { gates: Some(list), ..PortConfig::default() };
            for class in 0..5 {
                port.classes[class].selection = Selection::CreditBased { idle_slope: Rate(30_000_001), changed: None };
            }
            operational_slopes(&mut port);
            port.classes.map(|class| match class.selection {
                Selection::CreditBased { idle_slope, changed } => (idle_slope.0, changed.map(|rate| rate.0)),
                Selection::Strict | Selection::Asynchronous => (0, None),
            })
        };
        // Half of the time, never, half, always and never; then a seventh, a seventh, six sevenths, and never.
        let old = [60_000_002, 30_000_001, 60_000_002, 30_000_001, 30_000_001, 0, 0, 0];
        let new = [210_000_007, 210_000_007, 35_000_001, 30_000_001, 30_000_001].map(Some);
        assert_eq!(slopes(true).map(|(before, _)| before), old);
        assert_eq!(slopes(true).map(|(_, then)| then)[..5], new);
        assert_eq!(slopes(false), old.map(|before| (before, None)), "nothing replaces it");
    }
}
