//! A cluster that is cut in two, and what becomes of it when the cut heals.

use chronoseal_clocksync::as6802::{Parameters, Thresholds};
use chronoseal_core::{Duration, SimTime};

use crate::as6802::network::{Condition, Network, Place, cluster, started};

/// Masters 0 and 1 keep compression master 0, the others keep number 1.
fn cut_in_two(network: &mut Network, from: SimTime, until: SimTime) {
    for master in 0..4 {
        network.cut(from, until, Place::Master(master), if master < 2 { 1 } else { 0 });
    }
    network.cut(from, until, Place::Client(0), 1);
    network.cut(from, until, Place::Client(1), 0);
}

/// Half of the masters are no majority: everybody notices within a few cycles that the cluster is lost, and nobody goes on
/// with a clock that others do not share.
#[test]
fn halves_without_a_majority_notice_it_and_find_together_again() {
    for seed in 0..6 {
        let mut network = started(Parameters::of(&cluster(4)).unwrap(), 2, 2, seed);
        let (at, cycle) = (network.now(), network.parameters.cluster.integration_cycle);
        let heal = at + Duration::from_ms(100);
        cut_in_two(&mut network, at, heal);
        // One cycle may have begun, one is borne, the next is the last; clients follow their compression master.
        network.run_until(at + cycle * 4);
        for place in network.places().collect::<Vec<_>>() {
            assert_eq!(network.condition(place), Condition::Starting, "seed {seed}: {place:?}");
        }
        let until_lost = network.take_spread();
        assert!(until_lost <= network.parameters.cluster.precision, "seed {seed}: {until_lost}");
        network.run_until(heal);
        assert!(network.clocks().is_empty(), "seed {seed}: no half starts alone");
        let bound = network.parameters.startup_bound();
        assert!(network.run_until_stable(heal + bound).is_some(), "seed {seed}: {:?}", network.changes);
        assert!(network.take_spread() <= network.parameters.cluster.precision);
    }
}

/// With thresholds that half of the masters reach, two cliques go on and drift apart. When the cut heals, each hears the other
/// out of schedule, and one cluster comes of them.
#[test]
fn two_cliques_that_hear_each_other_become_one_cluster() {
    for seed in 0..6 {
        let mut parameters = Parameters::of(&cluster(4)).unwrap();
        parameters.thresholds = Thresholds::all(2);
        let mut network = started(parameters, 2, 2, seed);
        let (at, cycle) = (network.now(), network.parameters.cluster.integration_cycle);
        let heal = at + Duration::from_ms(400);
        cut_in_two(&mut network, at, heal);
        network.run_until(heal);
        let stable = network.places().filter(|place| network.condition(*place) == Condition::Stable).count();
        assert_eq!(stable, 8, "seed {seed}: each half is large enough");
        let apart = network.take_spread();
        let window = network.parameters.acceptance_window;
        // Unless the oscillators of the halves happen to run alike.
        if apart <= window {
            continue;
        }
        network.changes.clear();
        network.run_until(heal + cycle * 4);
        assert!(!network.changes.is_empty(), "seed {seed}: {apart} apart, and nobody noticed within four cycles");
        let bound = network.parameters.startup_bound();
        let together = network.run_until_stable(heal + cycle * 4 + bound);
        assert!(together.is_some(), "seed {seed}: {:?}", network.changes);
        network.take_spread();
        network.run_until(network.now() + cycle * 10);
        assert!(network.take_spread() <= network.parameters.cluster.precision, "seed {seed}");
    }
}
