//! The wires of a segment, as its medium numbers them.

use chronoseal_core::{Duration, NodeId};
use chronoseal_media::ethernet::{Ends, NetworkConfig};

use crate::{Gates, Wire};

/// Both directions of every link, in the order of the medium's lines.
pub(super) fn of(config: &NetworkConfig) -> Vec<Wire> {
    let wire = |line: usize| {
        let link = &config.links[line / 2];
        let ends: [NodeId; 2] = match link.ends {
            Ends::Station { station, switch } => [station.node, config.switches[switch]],
            Ends::Switches(ends) => ends.map(|switch| config.switches[switch]),
        };
        let is_back = !line.is_multiple_of(2);
        let [from, to] = if is_back { [ends[1], ends[0]] } else { ends };
        let is_from_station = !is_back && matches!(link.ends, Ends::Station { .. });
        let failed = config.failures.iter().filter(|failure| failure.link == line / 2);
        let port = config.ports.get(&line);
        Wire {
            from,
            to,
            forwarding_delay: if is_from_station { Duration::ZERO } else { config.forwarding_delay },
            rate: link.speed.rate(),
            fails_at: failed.map(|failure| failure.at).min(),
            // Nobody knows before a run when gates open that go by clocks of their own.
            gates: port
                .filter(|_| !config.has_own_clocks())
                .and_then(|port| Some(Gates { list: port.gates.clone()?, class_of: port.class_of })),
        }
    };
    (0..2 * config.links.len()).map(wire).collect()
}
