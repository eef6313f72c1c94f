//! Loops: the ports become a tree, and what a dead grandmaster said does not circle.

use chronoseal_clocksync::gptp::PortRole;
use chronoseal_core::Duration;

use crate::gptp::network::{Network, identity};

/// A ring of bridges with an end station at each: stations 0.., bridges behind them.
fn ring(bridges: usize, seed: u64) -> Network {
    let mut priorities = vec![246; bridges];
    priorities[0] = 100;
    priorities[1] = 110;
    priorities.resize(2 * bridges, 250);
    let ring = (0..bridges).map(|bridge| (bridges + bridge, bridges + (bridge + 1) % bridges));
    let links: Vec<_> = ring.chain((0..bridges).map(|station| (station, bridges + station))).collect();
    Network::new(&priorities, &links, seed)
}

#[test]
fn a_ring_has_one_passive_port_and_every_link_carries_each_sync_once() {
    for bridges in 3..=7 {
        let mut network = ring(bridges, 1);
        network.run_for(Duration::from_s(8));
        assert_eq!(network.count(PortRole::Passive), 1, "{bridges} bridges");
        assert_eq!(network.count(PortRole::Slave), 2 * bridges - 1);
        network.arrived.clear();
        network.run_for(Duration::from_s(10));
        // Eight a second on each link; the rate of the grandmaster's oscillator may make it one more or less.
        let (links, arrived) = (2 * bridges as u64, network.arrived["Sync"]);
        assert!(arrived.abs_diff(80 * links) <= links, "{arrived} on {links} links");
        let announced = network.arrived["Announce"];
        assert!(announced.abs_diff(10 * links) <= 2 * links, "{announced} on {links} links");
    }
}

#[test]
fn what_a_dead_grandmaster_announced_dies_out_in_a_ring() {
    for seed in 0..10 {
        let mut network = ring(6, seed);
        network.run_for(Duration::from_s(10));
        let died = network.now();
        network.power_off(0);
        network.grandmasters.clear();
        network.run_for(Duration::from_s(20));
        for node in 1..network.len() {
            assert_eq!(network.system(node).grandmaster(), identity(1), "seed {seed}, node {node}");
        }
        let last = network.grandmasters.iter().map(|(at, ..)| *at).max().unwrap();
        println!("seed {seed}: the last system follows the next grandmaster after {}", last - died);
        assert!(last - died <= Duration::from_s(3), "seed {seed}: {}", last - died);
    }
}

#[test]
fn a_ring_that_is_cut_uses_the_other_way_and_heals() {
    let mut network = ring(5, 2);
    network.run_for(Duration::from_s(8));
    for link in [0, 2] {
        network.set_link(link, false);
        network.run_for(Duration::from_s(12));
        network.take_errors();
        network.run_for(Duration::from_s(4));
        assert_eq!(network.count(PortRole::Passive), 0, "link {link}");
        for node in 0..network.len() {
            assert_eq!(network.system(node).grandmaster(), identity(0), "link {link}, node {node}");
            assert!(network.system(node).is_synchronised());
        }
        assert!(network.take_errors().into_iter().max().unwrap() < Duration::from_us(1), "link {link}");
        network.set_link(link, true);
        network.run_for(Duration::from_s(8));
        assert_eq!(network.count(PortRole::Passive), 1, "link {link}");
    }
}

/// Two networks of two bridges each, and stations with a port to each of both; station 0 is the best clock.
fn two_networks(stations: usize, seed: u64) -> Network {
    let mut priorities = vec![250; stations];
    priorities[0] = 100;
    priorities.resize(stations + 4, 246);
    let [a, b] = [stations, stations + 2];
    let trunks = [(a, a + 1), (b, b + 1)].into_iter();
    let links =
        trunks.chain((0..stations).flat_map(|station| [(station, a + station % 2), (station, b + station % 2)]));
    Network::new(&priorities, &links.collect::<Vec<_>>(), seed)
}

#[test]
fn stations_on_two_networks_relay_between_them_when_a_part_of_one_is_cut_off() {
    for seed in 0..4 {
        let mut network = two_networks(4, seed);
        network.run_for(Duration::from_s(8));
        // Of ten links between eight systems seven make the tree.
        assert_eq!(network.count(PortRole::Slave), 7, "seed {seed}");
        assert_eq!(network.count(PortRole::Passive), 3, "seed {seed}");
        // The grandmaster loses its link to the first network, and then that network falls apart: only stations lead there.
        for link in [2, 0] {
            network.set_link(link, false);
            network.run_for(Duration::from_s(8));
            network.take_errors();
            network.run_for(Duration::from_s(4));
            for node in 0..network.len() {
                assert_eq!(network.system(node).grandmaster(), identity(0), "seed {seed}, link {link}, node {node}");
                assert!(network.system(node).is_synchronised(), "seed {seed}, link {link}, node {node}");
            }
            let largest = network.take_errors().into_iter().max().unwrap();
            assert!(largest < Duration::from_us(1), "seed {seed}, link {link}: {largest}");
        }
        // The bridges of the first network are behind a station each: three links from the grandmaster, or four.
        let steps = [4, 5].map(|bridge| network.system(bridge).steps_removed());
        assert!(steps.iter().all(|steps| (3..=4).contains(steps)), "seed {seed}: {steps:?}");
    }
}
