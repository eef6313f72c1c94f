//! Who becomes the grandmaster, and what happens when it goes.

use chronoseal_clocksync::gptp::PortRole;
use chronoseal_core::{Duration, SimTime};

use crate::gptp::network::{Network, identity};

/// Three announce intervals of a second.
const ANNOUNCE_TIMEOUT: Duration = Duration::from_s(3);

/// Two end stations at each of two bridges: 0 and 1 at 4, 2 and 3 at 5.
fn two_bridges(priorities: [u8; 6], seed: u64) -> Network {
    Network::new(&priorities, &[(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], seed)
}

fn all_follow(network: &Network, grandmaster: usize) -> bool {
    (0..network.len()).all(|node| network.system(node).grandmaster() == identity(grandmaster))
}

#[test]
fn the_lowest_priority_wins_wherever_it_is() {
    for best in 0..6 {
        let mut priorities = [200; 6];
        priorities[best] = 100;
        let mut network = two_bridges(priorities, best as u64);
        network.run_for(Duration::from_s(6));
        assert!(all_follow(&network, best), "{best}");
        assert_eq!(network.count(PortRole::Slave), 5);
        assert_eq!(network.count(PortRole::Master), 5);
    }
}

#[test]
fn among_equals_the_lowest_identity_wins() {
    let mut network = two_bridges([248; 6], 1);
    network.run_for(Duration::from_s(6));
    assert!(all_follow(&network, 0));
}

#[test]
fn a_clock_of_priority_255_never_becomes_grandmaster() {
    let mut network = two_bridges([255; 6], 1);
    network.run_for(Duration::from_s(6));
    for node in 0..6 {
        assert!(!network.system(node).is_grandmaster() && !network.system(node).is_synchronised(), "{node}");
    }
    assert_eq!(network.arrived.get("Sync"), None);
}

#[test]
fn the_next_best_takes_over_within_the_announce_timeout_and_no_clock_jumps() {
    for seed in 0..20 {
        let mut network = two_bridges([100, 246, 110, 246, 250, 250], seed);
        network.run_for(Duration::from_s(12));
        assert!(all_follow(&network, 0), "seed {seed}");
        let before: Vec<_> = (1..6).map(|node| network.time(node)).collect();
        let died = network.now();
        network.power_off(0);
        network.grandmasters.clear();
        network.run_for(Duration::from_s(10));
        let followers = (1..6).all(|node| network.system(node).grandmaster() == identity(2));
        assert!(followers, "seed {seed}");
        let last = network.grandmasters.iter().map(|(at, ..)| *at).max().unwrap();
        assert!(last - died <= ANNOUNCE_TIMEOUT, "seed {seed}: {}", last - died);
        // It goes on in time and rate where the last one left off.
        for (node, time) in (1..6).zip(before) {
            let jump = network.time(node) - time - Duration::from_s(10);
            // 100 ppm of ten seconds are the oscillators', the rest would be a jump.
            assert!(jump.abs() <= Duration::from_us(1_002), "seed {seed}, node {node}: {jump}");
        }
        network.take_errors();
        network.run_for(Duration::from_s(5));
        let worst = network.take_errors().into_iter().max().unwrap();
        assert!(worst < Duration::from_us(1), "seed {seed}: {worst}");
    }
}

#[test]
fn a_grandmaster_without_sync_is_given_up_after_the_sync_timeout() {
    // The bridge keeps its link and its neighbour; only the time-out of three Sync intervals can tell.
    let mut network = Network::new(&[100, 246, 246], &[(0, 1), (1, 2)], 7);
    network.run_for(Duration::from_s(10));
    let died = network.now();
    network.power_off(0);
    network.grandmasters.clear();
    network.run_for(Duration::from_s(1));
    let (at, node, clock) = network.grandmasters[0];
    assert_eq!((node, clock), (1, identity(1)));
    assert!(at - died <= Duration::from_ms(376), "{}", at - died);
    assert!(at - died >= Duration::from_ms(240), "{}", at - died);
}

#[test]
fn a_network_that_is_cut_has_two_grandmasters_until_it_heals() {
    let mut network = two_bridges([100, 246, 110, 246, 250, 250], 3);
    network.run_for(Duration::from_s(8));
    assert!(all_follow(&network, 0));
    network.set_link(2, false);
    network.run_for(Duration::from_s(5));
    for (node, grandmaster) in [(0, 0), (1, 0), (4, 0), (2, 2), (3, 2), (5, 2)] {
        assert_eq!(network.system(node).grandmaster(), identity(grandmaster), "{node}");
    }
    assert_eq!(network.system(4).role(3), Some(PortRole::Disabled));
    network.set_link(2, true);
    network.run_for(Duration::from_s(12));
    assert!(all_follow(&network, 0));
    network.take_errors();
    network.run_for(Duration::from_s(5));
    assert!(network.take_errors().into_iter().max().unwrap() < Duration::from_us(1));
}

#[test]
fn a_station_that_comes_late_and_is_better_takes_over() {
    let mut network = two_bridges([100, 50, 246, 246, 250, 250], 3);
    network.set_link(1, false);
    network.run_for(Duration::from_s(8));
    assert_eq!(network.system(3).grandmaster(), identity(0));
    network.set_link(1, true);
    network.run_for(Duration::from_s(6));
    assert!(all_follow(&network, 1));
    assert!(network.now() > SimTime::ZERO);
}

#[test]
fn bridges_pass_on_what_the_grandmaster_says_of_its_time() {
    let mut network = Network::with(&[100, 246, 246, 246], &[(0, 1), (1, 2), (2, 3)], 2, |node, (parameters, _)| {
        if node == 0 {
            (parameters.time_flags, parameters.current_utc_offset, parameters.time_source) = (0x35, 38, 0x20);
        }
    });
    network.run_for(Duration::from_s(6));
    assert_eq!(network.last_announce, Some((3, 0x35, 38, 0x20, vec![identity(0), identity(1), identity(2)])));
}
