//! What gateways carry from one channel to another.

use std::collections::BTreeSet;

use super::Route;
use super::channels::{Found, LeftOut};
use super::stations::Stations;
use super::tree::{Id, Tree};

pub(super) fn routes(tree: &Tree<'_>, stations: &Stations, found: &Found, left_out: &mut LeftOut) -> Vec<Route> {
    let (mut routes, mut known) = (Vec::new(), BTreeSet::new());
    for element in tree.all("GATEWAY") {
        let signals = tree.below(element, "I-SIGNAL-MAPPING").count();
        if signals > 0 {
            *left_out.entry("signals that gateways carry on by themselves were left out").or_default() += signals;
        }
        let mut leave_out = |count: usize| {
            *left_out.entry("routes were left out: what they refer to is not in the file").or_default() += count
        };
        let frames = tree.below(element, "FRAME-MAPPING").map(|mapping| {
            let end = |tag: &str| found.triggerings.get(&tree.target_of(mapping, tag)?).copied();
            (end("SOURCE-FRAME-REF"), end("TARGET-FRAME-REF"))
        });
        let pdus = tree.below(element, "I-PDU-MAPPING").map(|mapping| {
            let end = |reference: Option<Id>| of_pdu(tree, found, tree.target(reference?)?);
            let target = tree.below(mapping, "TARGET-I-PDU-REF").next();
            (end(tree.child(mapping, "SOURCE-I-PDU-REF")), end(target))
        });
        let ends: Vec<_> = frames.chain(pdus).collect();
        let Some(gateway) = tree.target_of(element, "ECU-REF").and_then(|ecu| stations.ecu(ecu)) else {
            leave_out(ends.len());
            continue;
        };
        for (from, to) in ends {
            match (from, to) {
                (Some(from), Some(to)) if from.0 != to.0 => {
                    if known.insert((gateway, from, to)) {
                        routes.push(Route { gateway, from, to });
                    }
                }
                // From one PDU to another of the same channel: nothing is carried on.
                (Some(_), Some(_)) => {}
                _ => leave_out(1),
            }
        }
    }
    routes
}

/// Channel and frame of a PDU by its triggering.
fn of_pdu(tree: &Tree<'_>, found: &Found, triggering: Id) -> Option<(usize, usize)> {
    let physical =
        ["CAN-PHYSICAL-CHANNEL", "ETHERNET-PHYSICAL-CHANNEL"].iter().find_map(|tag| tree.around(triggering, tag))?;
    let channel = *found.physical.get(&physical)?;
    let pdu = tree.target_of(triggering, "I-PDU-REF")?;
    Some((channel, *found.of_pdus.get(&(channel, pdu))?))
}
