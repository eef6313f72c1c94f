//! Devices that fail: one master of four, or one compression master of two, and what the correct clocks show meanwhile.

use chronoseal_core::{Duration, SimTime};

use crate::as6802::network::{CYCLES_UNTIL_NOTICED, DRIFT_PPB, Network, Place, running, started};

const FAULTY: Place = Place::Master(0);

/// Lets a faulty master send random frames to random compression masters, as fast as the wire carries them or slower.
fn babble(network: &mut Network, from: SimTime, until: SimTime, own_bit_only: bool) {
    let mut at = from;
    while at < until {
        network.run_until(at);
        let bits = match own_bit_only {
            true => 1,
            false => network.draw(0, 31) as u32,
        };
        let frame = network.random_frame(bits);
        let to = Place::Compression(network.draw(0, 1) as usize);
        network.inject(at, FAULTY, to, &frame);
        at += Duration::from_us(network.draw(7, 60));
    }
    network.run_until(until);
}

/// The figure of the project: a babbling master never moves correct clocks by more than the precision.
#[test]
fn a_babbling_master_neither_moves_nor_stops_the_others() {
    for seed in 0..12 {
        let mut network = running(4, 2, 2, seed);
        let begin = network.now();
        network.fail(begin, FAULTY);
        babble(&mut network, begin, begin + Duration::from_ms(80), seed % 2 == 0);
        let spread = network.take_spread();
        let needed = network.parameters.precision_needed(DRIFT_PPB, 2);
        assert!(spread <= needed, "seed {seed}: {spread}, and {needed} was worked out");
        assert!(network.changes.iter().all(|(_, place, _)| *place == FAULTY), "seed {seed}: {:?}", network.changes);
        assert!(network.refused > 0, "the babble is noticed");
    }
}

/// The strongest single fault: right in everything, and two-faced in time.
#[test]
fn a_master_that_shows_each_compression_master_another_time_is_outvoted() {
    for seed in 0..12 {
        let mut network = running(4, 2, 2, seed);
        let precision = network.parameters.cluster.precision;
        let mut worst = Duration::ZERO;
        for _ in 0..30 {
            for compression_master in 0..2 {
                let by = Duration::from_ps(network.draw(0, precision.as_ps() * 3));
                network.lie(0, compression_master, by);
            }
            network.run_until(network.now() + network.parameters.cluster.integration_cycle);
            worst = worst.max(network.take_spread());
        }
        // Its own clock is correct: only what it sends is not.
        let needed = network.parameters.precision_needed(DRIFT_PPB, 2);
        assert!(worst <= needed, "seed {seed}: {worst}, and {needed} was worked out");
        assert!(network.changes.is_empty(), "seed {seed}: {:?}", network.changes);
    }
}

#[test]
fn a_silent_master_is_not_missed_and_a_restarted_one_comes_back() {
    for seed in 0..6 {
        let mut network = running(4, 2, 1, seed);
        let (at, cycle) = (network.now(), network.parameters.cluster.integration_cycle);
        network.power_off(at, FAULTY);
        let restart = at + cycle * 20;
        network.run_until(restart);
        assert!(network.changes.is_empty(), "seed {seed}: {:?}", network.changes);
        network.power_on(restart, FAULTY);
        let back = network.run_until_stable(restart + cycle * 5);
        // It hears the cluster within a cycle, is in it at once and stable two cycles later.
        assert!(back.is_some(), "seed {seed}: {:?}", network.changes);
        network.run_until(network.now() + cycle * 20);
        assert!(network.changes.iter().all(|(_, place, _)| *place == FAULTY), "{:?}", network.changes);
        assert!(network.take_spread() <= network.parameters.cluster.precision);
    }
}

#[test]
fn a_cluster_starts_beside_a_babbling_master() {
    for seed in 0..12 {
        let parameters = running(4, 2, 2, 0).parameters;
        let bound = parameters.startup_bound();
        let mut network = Network::new(parameters, 2, 2, seed);
        for place in network.places().filter(|place| *place != FAULTY).collect::<Vec<_>>() {
            network.power_on(SimTime::ZERO, place);
        }
        network.fail(SimTime::ZERO, FAULTY);
        babble(&mut network, SimTime::ZERO, SimTime::ZERO + bound * 4, true);
        assert!(network.run_until_stable(network.now() + bound).is_some(), "seed {seed}: {:?}", network.changes);
        // While the cluster starts, a compression master may follow a first cycle that the masters then begin anew.
        let noticed_within = network.parameters.cluster.integration_cycle * CYCLES_UNTIL_NOTICED;
        assert!(network.longest_stray <= noticed_within, "seed {seed}: {}", network.longest_stray);
        network.take_spread();
        let now = network.now();
        babble(&mut network, now, now + Duration::from_ms(40), true);
        let spread = network.take_spread();
        assert!(spread <= network.parameters.cluster.precision, "seed {seed}: {spread}");
    }
}

#[test]
fn one_compression_master_is_enough_and_the_other_comes_back() {
    for seed in 0..6 {
        let mut network = running(4, 2, 2, seed);
        let (at, cycle, failed) = (network.now(), network.parameters.cluster.integration_cycle, Place::Compression(1));
        network.power_off(at, failed);
        network.power_on(at + cycle * 20, failed);
        network.run_until(at + cycle * 20);
        let back = network.run_until_stable(at + cycle * 25);
        assert!(back.is_some(), "seed {seed}: {:?}", network.changes);
        assert!(network.changes.iter().all(|(_, place, _)| *place == failed), "{:?}", network.changes);
        assert!(network.take_spread() <= network.parameters.cluster.precision);
    }
}

/// A compression master at its worst leaves frames out, others for each receiver.
#[test]
fn frames_left_out_at_random_move_no_clock_beyond_the_precision() {
    for seed in 0..8 {
        let mut network = running(4, 2, 2, seed);
        let cycle = network.parameters.cluster.integration_cycle;
        for _ in 0..40 {
            let ends: Vec<Place> = network.places().filter(|place| !matches!(place, Place::Compression(_))).collect();
            let end = ends[network.draw(0, ends.len() as i64 - 1) as usize];
            // One of the two compression masters is faulty, always the same.
            network.cut(network.now(), network.now() + cycle, end, 1);
            network.run_until(network.now() + cycle);
        }
        let (spread, needed) = (network.take_spread(), network.parameters.precision_needed(DRIFT_PPB, 2));
        assert!(spread <= needed, "seed {seed}: {spread}, and {needed} was worked out");
        let left = network.changes.iter().filter(|(_, place, _)| *place != Place::Compression(1)).count();
        assert_eq!(left, 0, "seed {seed}: {:?}", network.changes);
    }
}

/// Two faults need six masters and wider windows.
#[test]
fn two_masters_that_lie_are_outvoted_by_four() {
    use chronoseal_clocksync::as6802::{Cluster, Parameters};
    for seed in 0..6 {
        let cluster = Cluster { faults_tolerated: 2, ..crate::as6802::network::cluster(6) };
        let mut network = started(Parameters::of(&cluster).unwrap(), 2, 1, seed);
        for _ in 0..30 {
            for (master, compression_master) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let by = Duration::from_ps(network.draw(0, cluster.precision.as_ps() * 4));
                network.lie(master, compression_master, by);
            }
            network.run_until(network.now() + cluster.integration_cycle);
        }
        let (spread, needed) = (network.take_spread(), network.parameters.precision_needed(DRIFT_PPB, 2));
        assert!(spread <= needed, "seed {seed}: {spread}, and {needed} was worked out");
        assert!(network.changes.is_empty(), "seed {seed}: {:?}", network.changes);
    }
}
