//! From cold to stable.

use chronoseal_clocksync::as6802::Parameters;
use chronoseal_core::{Duration, SimTime};

use crate::as6802::network::{Condition, DRIFT_PPB, Network, Place, cluster, running};

/// From the last power-on to stable, for a seed.
fn time_to_stable(masters: u8, compression_masters: usize, within: Duration, seed: u64) -> (Duration, Duration) {
    let parameters = Parameters::of(&cluster(masters)).unwrap();
    let bound = parameters.startup_bound();
    let mut network = Network::new(parameters, compression_masters, 3, seed);
    let last = network.power_on_within(within);
    let stable = network.run_until_stable(last + bound + bound);
    (stable.unwrap_or_else(|| panic!("seed {seed}: never stable: {:?}", network.changes)) - last, bound)
}

/// The figure of the project: listen time-out, coldstart time-out and three integration cycles after the last power-on.
#[test]
fn four_masters_and_two_compression_masters_go_from_cold_to_stable_within_the_bound() {
    let mut worst = Duration::ZERO;
    for seed in 0..60 {
        // All at once, one after the other, and so far apart that some are at work when others come.
        let within = [Duration::from_us(1), Duration::from_ms(5), Duration::from_ms(40)][seed as usize % 3];
        let (took, bound) = time_to_stable(4, 2, within, seed);
        assert!(took <= bound, "seed {seed}: {took} after the last power-on, the bound is {bound}");
        worst = worst.max(took);
    }
    let parameters = Parameters::of(&cluster(4)).unwrap();
    let cycle = parameters.cluster.integration_cycle;
    println!(
        "listen time-out {} + coldstart time-out {} + 3 integration cycles {} = {}; the worst of 60 starts took {worst}",
        parameters.sm_listen_timeout,
        parameters.sm_coldstart_timeout,
        cycle * 3,
        parameters.startup_bound(),
    );
    assert!(worst > parameters.sm_listen_timeout, "the first coldstart frame waits for the listen time-out");
}

#[test]
fn clusters_of_other_sizes_start_within_the_bound_too() {
    for (masters, compression_masters) in [(1, 1), (2, 1), (3, 2), (5, 2), (7, 3), (32, 2)] {
        for seed in 0..4 {
            let (took, bound) = time_to_stable(masters, compression_masters, Duration::from_ms(20), seed);
            assert!(took <= bound, "{masters} masters, seed {seed}: {took}, the bound is {bound}");
        }
    }
}

#[test]
fn clocks_that_run_stay_within_the_precision_their_oscillators_need() {
    for seed in 0..10 {
        let mut network = running(4, 2, 3, seed);
        network.run_until(network.now() + Duration::from_ms(400));
        let spread = network.take_spread();
        let needed = network.parameters.precision_needed(DRIFT_PPB, 2);
        assert!(spread <= needed, "seed {seed}: {spread}, and {needed} was worked out");
        assert!(needed < network.parameters.cluster.precision);
        assert!(spread > Duration::ZERO, "oscillators drift");
        assert!(network.changes.is_empty(), "nobody leaves: {:?}", network.changes);
        assert_eq!(network.refused, 0);
    }
}

#[test]
fn too_few_masters_start_nothing_and_the_missing_one_completes_the_cluster() {
    let parameters = Parameters::of(&cluster(4)).unwrap();
    let bound = parameters.startup_bound();
    let mut network = Network::new(parameters, 2, 1, 5);
    let late = SimTime::ZERO + Duration::from_ms(100);
    for place in network.places().collect::<Vec<_>>() {
        let is_missing = matches!(place, Place::Master(2 | 3));
        network.power_on(if is_missing { late } else { SimTime::ZERO }, place);
    }
    network.run_until(late);
    assert!(network.changes.iter().all(|(_, _, to)| *to == Condition::Starting), "{:?}", network.changes);
    let stable = network.run_until_stable(late + bound).expect("four masters are enough");
    assert!(stable - late <= bound);
}

#[test]
fn a_late_master_joins_a_running_cluster_and_moves_nobody() {
    let mut network = running(4, 2, 1, 9);
    let at = network.now();
    network.power_off(at, Place::Master(1));
    network.run_until(at + Duration::from_ms(50));
    network.power_on(at + Duration::from_ms(50), Place::Master(1));
    let joined = network.run_until_stable(at + Duration::from_ms(50) + network.parameters.startup_bound());
    assert!(joined.is_some());
    let others = |place: &Place| *place != Place::Master(1);
    assert!(network.changes.iter().all(|(_, place, _)| !others(place)), "{:?}", network.changes);
    assert!(network.take_spread() <= network.parameters.cluster.precision);
}
