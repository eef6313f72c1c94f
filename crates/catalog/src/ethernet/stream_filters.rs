//! What the switches of a segment do with the streams that come in.

use std::collections::BTreeMap;

use chronoseal_core::NodeId;
use chronoseal_media::ethernet::{Ends, Link};
use chronoseal_media::psfp::{PsfpConfig, StreamFilterConfig};
use chronoseal_plan::{Ethernet, FilterPlan, Neighbour};

/// The filters of each switch that has some. `nodes` are those at the links of stations, which come first.
pub(super) fn of(view: Ethernet<'_>, links: &[Link], nodes: &[NodeId]) -> BTreeMap<usize, PsfpConfig> {
    let tables = &view.segment.stream_filters;
    let mut found = BTreeMap::new();
    for (number, switch) in (0..view.segment.wiring.switches).zip(view.switches()) {
        let here = tables.filters.iter().filter(|filter| filter.is_at(number));
        let name = view.plan.node_name(switch);
        let filters: Vec<_> =
            here.map(|filter| config(view, &name, filter, &neighbours(links, nodes, number))).collect();
        if filters.is_empty() {
            continue;
        }
        let gates = tables.gates.iter().map(|(_, gate)| gate.clone()).collect();
        let meters = tables.meters.iter().map(|(_, meter)| *meter).collect();
        found.insert(usize::from(number), PsfpConfig { filters, gates, meters });
    }
    found
}

/// Who is at the other end of each line that leads into a switch.
fn neighbours(links: &[Link], nodes: &[NodeId], switch: u16) -> Vec<(usize, Neighbour)> {
    let mut found = Vec::new();
    for (link, Link { ends, .. }) in links.iter().enumerate() {
        match *ends {
            Ends::Station { switch: other, .. } if other == usize::from(switch) => {
                found.push((2 * link, Neighbour::Station(nodes[link])));
            }
            Ends::Switches([one, other]) if other == usize::from(switch) => {
                found.push((2 * link, Neighbour::Switch(one as u16)));
            }
            Ends::Switches([one, other]) if one == usize::from(switch) => {
                found.push((2 * link + 1, Neighbour::Switch(other as u16)));
            }
            _ => {}
        }
    }
    found
}

fn config(
    view: Ethernet<'_>,
    switch: &str,
    filter: &FilterPlan,
    neighbours: &[(usize, Neighbour)],
) -> StreamFilterConfig {
    let is_of = |entry: usize| view.streams().filter(move |stream| stream.entry == Some(entry));
    let is_from = |from: &Vec<Neighbour>| {
        let here = neighbours.iter().filter(|(_, neighbour)| from.contains(neighbour));
        here.map(|(line, _)| *line).collect()
    };
    StreamFilterConfig {
        name: format!("{switch}, filter {}", filter.name),
        streams: filter.entry.map(|entry| is_of(entry).map(|stream| view.known_as(&stream)).collect()),
        priority: filter.priority,
        lines: filter.from.as_ref().map(is_from),
        max_sdu: filter.max_sdu,
        blocks_after_oversize: filter.blocks_on_oversize,
        gate: filter.gate,
        meter: filter.meter,
    }
}
