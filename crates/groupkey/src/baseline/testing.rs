//! Nodes of a baseline on a bus without loss, and the contract that each of them keeps.

use chronoseal_core::{Event, LocalTime, Node};
use chronoseal_core_testing::{Conduct, Contract, Script, bus, record};

/// Starts the nodes and runs them until `until`. Their events, each with its node's index, and how many frames there
/// were.
pub(super) fn run(nodes: &mut [Box<dyn Node>], until: LocalTime) -> (Vec<(usize, Event)>, u64) {
    let recorded = on_a_bus(nodes, until);
    let frames = recorded.iter().map(|(_, conduct)| conduct.frames().count() as u64).sum();
    let events =
        recorded.iter().enumerate().flat_map(|(node, (_, conduct))| conduct.events().map(move |event| (node, *event)));
    (events.collect(), frames)
}

/// Every node keeps its contract with the frames that it hears of the others until `until`.
pub(super) fn check(
    make: impl Fn() -> Vec<Box<dyn Node>>,
    until: LocalTime,
    silent: &'static [chronoseal_core::Operation],
) {
    for (number, (script, conduct)) in on_a_bus(&mut make(), until).into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || make().swap_remove(number)).silent(silent).check();
        assert_eq!(checked, conduct, "node {number} alone does what it did on the bus");
        assert!(checked.events().count() > 0, "node {number} has come to a key");
    }
}

fn on_a_bus(nodes: &mut [Box<dyn Node>], until: LocalTime) -> Vec<(Script, Conduct)> {
    let count = nodes.len();
    let mut nodes: Vec<&mut dyn Node> = nodes.iter_mut().map(|node| &mut **node as &mut dyn Node).collect();
    record(&mut nodes, bus(count), until)
}
