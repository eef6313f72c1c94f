//! Loops: the ports become a tree, and what a dead grandmaster said does not circle.

use chronoseal_clocksync::gptp::PortRole;
use chronoseal_core::Duration;

use crate::network::{Network, identity};

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
