//! The precision at the end of a chain, against true time.

use chronoseal_clocksync::gptp::PortRole;
use chronoseal_core::{Duration, Ppm, oscillator::RateDeviation};

use crate::gptp::network::{Network, identity};

/// IEEE 802.1AS-2020 clause B.3 asks for 1 us between any two systems at most seven hops apart.
const PRECISION: Duration = Duration::from_us(1);

#[test]
fn clocks_agree_within_a_microsecond_over_chains_of_one_to_eight_bridges() {
    for bridges in 1..=8 {
        let mut worst = Duration::ZERO;
        for seed in 0..5 {
            let mut network = Network::chain(bridges, seed);
            // The window of the rate of the neighbours fills.
            network.run_for(Duration::from_s(12));
            network.take_errors();
            network.run_for(Duration::from_s(10));
            for node in 0..network.len() {
                assert_eq!(
                    network.system(node).grandmaster(),
                    identity(0),
                    "{bridges} bridges, seed {seed}, node {node}"
                );
                assert_eq!(usize::from(network.system(node).steps_removed()), node);
                assert!(network.system(node).is_synchronised());
            }
            worst = worst.max(network.take_errors().into_iter().max().unwrap());
        }
        println!("{} hops: {:.0} ns", bridges + 1, worst.as_us_f64() * 1e3);
        assert!(worst < PRECISION, "{bridges} bridges: {worst}");
        // Nothing is measured without stamps: a clock that never got a Sync would be seconds away.
        assert!(worst > Duration::ZERO);
    }
}

#[test]
fn link_delay_and_rates_are_measured() {
    let mut network = Network::chain(1, 3);
    network.run_for(Duration::from_s(15));
    let true_delay = network.links[0].delay[0];
    let (delay, there) = network.system(0).link(1);
    assert!((delay.unwrap() - true_delay).abs() <= Duration::from_ns(8), "{delay:?} {true_delay}");
    // The two ends of a link see opposite rates.
    let (_, back) = network.system(1).link(1);
    let sum = there.unwrap() + back.unwrap();
    assert!(sum.as_fixed().abs() <= RateDeviation::from_ppm(Ppm(50)).as_fixed(), "{sum:?}");
    assert!(there.unwrap().as_fixed().abs() > RateDeviation::from_ppm(Ppm(1_000)).as_fixed(), "{there:?}");
}

#[test]
fn the_end_of_a_chain_has_the_rate_of_the_grandmaster() {
    let mut network = Network::chain(6, 4);
    network.run_for(Duration::from_s(15));
    let (last, begin) = (network.len() - 1, network.now());
    let (gm, own) = (network.time(0), network.local(last));
    network.run_for(Duration::from_s(10));
    let true_rate =
        RateDeviation::from_gain((network.time(0) - gm) - (network.local(last) - own), network.local(last) - own);
    let error = network.system(last).rate() - true_rate;
    // Clause B.2.4: a rate ratio is right to 0.1 ppm.
    assert!(error.as_fixed().abs() <= RateDeviation::from_ppm(Ppm(100)).as_fixed(), "{error:?} {begin}");
}

#[test]
fn a_known_asymmetry_is_made_up_for_and_an_unknown_one_shifts_the_clock_by_half_of_it() {
    let more = Duration::from_ns(400);
    let shift = |known: bool| {
        let mut network = Network::with(&[100, 246], &[(0, 1)], 5, |node, (_, ports)| {
            if known && node == 1 {
                ports[0].delay_asymmetry = more / 2;
            }
        });
        network.links[0].delay = [Duration::from_ns(100) + more, Duration::from_ns(100)];
        network.run_for(Duration::from_s(15));
        network.time(1) - network.time(0)
    };
    let (unknown, known) = (shift(false), shift(true));
    assert!((unknown + more / 2).abs() <= Duration::from_ns(20), "{unknown}");
    assert!(known.abs() <= Duration::from_ns(20), "{known}");
}

#[test]
fn a_link_beyond_the_threshold_is_not_used() {
    for (ns, role) in [(780, PortRole::Slave), (820, PortRole::Disabled)] {
        let mut network = Network::chain(0, 1);
        network.links[0].delay = [Duration::from_ns(ns); 2];
        network.run_for(Duration::from_s(10));
        assert_eq!(network.system(1).role(1), Some(role), "{ns} ns");
        assert_eq!(network.system(1).as_capable(1), role == PortRole::Slave);
    }
}
