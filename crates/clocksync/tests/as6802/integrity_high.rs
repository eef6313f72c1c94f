//! Clusters in which synchronisation masters check themselves.

use chronoseal_core::{Duration, SimTime};

use crate::as6802::network::{Network, Place, high, started};

#[test]
fn a_cluster_of_high_integrity_starts_within_the_bound_and_keeps_its_precision() {
    for (masters, compression_masters) in [(2, 1), (4, 2), (5, 3)] {
        for seed in 0..8 {
            let parameters = high(masters);
            let bound = parameters.startup_bound();
            let mut network = Network::new(parameters, compression_masters, 2, seed);
            let last = network.power_on_within(Duration::from_ms(1 + 10 * (seed as i64 % 3)));
            let stable = network.run_until_stable(last + bound);
            assert!(stable.is_some(), "{masters} masters, seed {seed}: {:?}", network.changes);
            network.changes.clear();
            network.take_spread();
            network.run_until(network.now() + Duration::from_ms(60));
            assert!(network.take_spread() <= network.parameters.cluster.precision);
            assert!(network.changes.is_empty(), "{:?}", network.changes);
        }
    }
}

/// A master of high integrity does not answer its own coldstart frame: alone it starts nothing.
#[test]
fn a_lone_master_of_high_integrity_starts_nothing() {
    let mut network = Network::new(high(1), 1, 1, 0);
    for place in network.places().collect::<Vec<_>>() {
        network.power_on(SimTime::ZERO, place);
    }
    network.run_until(SimTime::ZERO + Duration::from_ms(200));
    assert!(network.clocks().is_empty());
}

#[test]
fn masters_that_fall_silent_and_come_back_are_taken_in_again() {
    for seed in 0..6 {
        let mut network = started(high(4), 2, 1, seed);
        let (at, cycle, silent) = (network.now(), network.parameters.cluster.integration_cycle, Place::Master(3));
        network.power_off(at, silent);
        network.power_on(at + cycle * 10, silent);
        network.run_until(at + cycle * 10);
        assert!(network.run_until_stable(at + cycle * 15).is_some(), "seed {seed}: {:?}", network.changes);
        assert!(network.changes.iter().all(|(_, place, _)| *place == silent), "{:?}", network.changes);
        assert!(network.take_spread() <= network.parameters.cluster.precision);
    }
}
