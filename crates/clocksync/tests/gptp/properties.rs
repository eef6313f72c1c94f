//! Random networks.

use chronoseal_clocksync::gptp::PortRole;
use chronoseal_core::Duration;
use chronoseal_core::random::{self, Purpose};
use proptest::prelude::*;

use crate::gptp::network::{Network, Node, identity};

/// A connected network of so many systems: a random tree and some links more.
pub(crate) fn random_network(systems: usize, more: usize, seed: u64) -> (Vec<u8>, Vec<(Node, Node)>) {
    let mut rng = random::stream(seed, Purpose::Phase, 0);
    let mut number = |below: usize| random::uniform_i64(&mut rng, 0, below as i64 - 1) as usize;
    let mut links: Vec<_> = (1..systems).map(|node| (number(node), node)).collect();
    for _ in 0..more {
        let (a, b) = (number(systems), number(systems));
        let is_new = a != b && !links.contains(&(a, b)) && !links.contains(&(b, a));
        if is_new {
            links.push((a, b));
        }
    }
    ((0..systems).map(|_| 100 + number(100) as u8).collect(), links)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_network_becomes_a_tree_under_its_best_clock(systems in 2usize..12, more in 0usize..6, seed: u64) {
        let (priorities, links) = random_network(systems, more, seed);
        let mut network = Network::new(&priorities, &links, seed);
        network.run_for(Duration::from_s(20));
        let best = (0..systems).min_by_key(|node| (priorities[*node], *node)).unwrap();
        for node in 0..systems {
            prop_assert_eq!(network.system(node).grandmaster(), identity(best));
            prop_assert!(network.system(node).is_synchronised());
        }
        prop_assert_eq!(network.count(PortRole::Slave), systems - 1);
        // Each link beyond the tree ends in one port that listens and one that speaks in vain.
        prop_assert_eq!(network.count(PortRole::Passive), links.len() - (systems - 1));
        prop_assert_eq!(network.count(PortRole::Disabled), 0);
        network.take_errors();
        network.run_for(Duration::from_s(3));
        let worst = network.take_errors().into_iter().max().unwrap();
        prop_assert!(worst < Duration::from_us(1), "{}", worst);
    }

    #[test]
    fn the_same_seed_gives_the_same_clocks(seed: u64) {
        let run = || {
            let (priorities, links) = random_network(6, 2, seed);
            let mut network = Network::new(&priorities, &links, seed);
            network.run_for(Duration::from_s(5));
            (0..6).map(|node| network.time(node)).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn what_is_refused_changes_nothing(
        bytes in proptest::collection::vec(any::<u8>(), 34..90),
        kind in 0u8..16,
        source in 0u8..4,
        sequence in 0u8..60,
        to in 1u16..3,
    ) {
        let mut network = Network::chain(1, 2);
        network.run_for(Duration::from_ms(3_400));
        let mut bytes = bytes;
        let len = bytes.len() as u8;
        bytes[..8].copy_from_slice(&[0x10 | kind, 2, 0, len, 0, 0, 2, 8]);
        bytes[20..28].copy_from_slice(&identity(usize::from(source)).0);
        bytes[28..32].copy_from_slice(&[0, 1, 0, sequence]);
        let before = network.system(1).clone();
        if network.inject(1, to, &bytes).is_err() {
            prop_assert_eq!(network.system(1), &before);
        }
    }
}
