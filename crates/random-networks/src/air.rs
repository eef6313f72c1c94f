//! Messages from a street, which a roadside station passes on to a bus or an Ethernet.

use super::chance::Chance;
use super::{Kind, Network};

/// Adds a radio segment and a station that is also on the first segment, to which it passes on what it hears.
pub(super) fn air(chance: &mut Chance, network: &mut Network) {
    let segment = &network.segments[0];
    let Some(receiver) = network.nodes.iter().position(|node| node.on == [0]) else { return };
    // A node of its own would need a link of its own.
    if segment.table.contains("links = [") {
        return;
    }
    let own = match segment.kind {
        Kind::Can { fd } => format!("s0 = {{ id = \"0x6F0\", format = \"{}\"", if fd { "fd-brs" } else { "classical" }),
        Kind::Ethernet => "s0 = { class = { best_effort = { priority = 1 } }".to_owned(),
    };
    // A message is longer than a frame of a bus.
    let own = match segment.kind {
        Kind::Can { .. } => own + ", segmented = { flow_control = \"0x6F1\" } }",
        Kind::Ethernet => own + " }",
    };
    // Candidates are not compared there.
    network.head.clear();
    network.is_timing = false;
    let (vehicles, delay) = (chance.range(2, 6), chance.range(0, 80));
    network.head_tables += &format!(
        "[segments.air.radio]\nroad = {{ highway = {{ length = \"300m\", vehicles = {vehicles} }} }}\n\
         [[nodes]]\nname = \"roadside\"\non = [\"s0\", \"air\"]\nstation = {{ x = \"150m\", y = \"10m\" }}\nclock = \"ideal\"\n\
         gateway = {{ delay = \"{delay}us\" }}\n"
    );
    network.threats.push(format!(
        "[[streams]]\nname = \"awareness\"\nfrom = \"air\"\nto = [\"n{receiver}\"]\nair = {{ message = \"cam\" }}\n{own}\n"
    ));
}
