//! What bounds on paper rely on where nothing is lost and messages keep their order: a system changes its mind only for the better, and
//! at each port it says so no more often than there are ways from better clocks that do not end at that port.

use chronoseal_core::{Duration, SimTime};
use proptest::prelude::*;

use crate::gptp::network::{Network, Node, identity};
use crate::gptp::properties::random_network;

const ANNOUNCE: Duration = Duration::from_s(1);
const SYNC: Duration = Duration::from_ms(125);
/// A message waits for 123 us and less than that on its link, twice with its follow-up.
const HOP: Duration = Duration::from_us(124);

/// The ways without a circle from one system to another: their lengths, and the last link of each.
fn ways(links: &[(Node, Node)], from: Node, to: Node) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = vec![(vec![from], usize::MAX)];
    while let Some((way, last)) = at.pop() {
        let here = way[way.len() - 1];
        if here == to {
            found.push((way.len() - 1, last));
            continue;
        }
        for (link, (a, b)) in links.iter().enumerate() {
            let next = if *a == here { *b } else { *a };
            if (*a == here || *b == here) && !way.contains(&next) {
                at.push(([way.as_slice(), &[next]].concat(), link));
            }
        }
    }
    found
}

/// At most so often a change to a way of the same length may bring a Sync twice, or take one.
fn alike(links: &[(Node, Node)], systems: usize) -> i64 {
    let of = |from: Node| {
        let repeated = |to: Node| {
            let mut lengths: Vec<usize> = ways(links, from, to).iter().map(|(len, _)| *len).collect();
            lengths.sort_unstable();
            lengths.windows(2).filter(|pair| pair[0] == pair[1]).count() as i64
        };
        (0..systems).filter(|to| *to != from).map(repeated).sum()
    };
    (0..systems).map(of).max().unwrap_or(0)
}

fn check(systems: usize, more: usize, seed: u64) -> Result<(), TestCaseError> {
    let (priorities, links) = random_network(systems, more, seed);
    let better = |one: Node, other: Node| (priorities[one], one) < (priorities[other], other);
    let alike = alike(&links, systems);
    // A way of the same length takes Sync messages away; so many may be missed.
    let timeout = u8::try_from(3 + alike).unwrap_or(u8::MAX);
    let mut network = Network::with(&priorities, &links, seed, |_, of| of.0.sync_receipt_timeout = timeout);
    network.is_in_order = true;
    network.run_for(Duration::from_s(7));
    for node in 0..systems {
        let followed = network.grandmasters.iter().filter(|(_, at, _)| *at == node).map(|(.., clock)| *clock);
        let followed: Vec<Node> =
            followed.map(|clock| (0..systems).find(|node| identity(*node) == clock).unwrap()).collect();
        let all = [&[node], followed.as_slice()].concat();
        prop_assert!(all.windows(2).all(|pair| better(pair[1], pair[0])), "{} followed {:?}", node, all);
    }
    // As ports are numbered there.
    let mut ports = vec![0; systems];
    for (link, (a, b)) in links.iter().enumerate() {
        for node in [*a, *b] {
            ports[node] += 1;
            let not_back = |other: Node| ways(&links, other, node).iter().filter(|(_, last)| *last != link).count();
            let phases = 1 + (0..systems).filter(|other| better(*other, node)).map(not_back).sum::<usize>() as i64;
            let sent = |wanted: &str| -> Vec<SimTime> {
                let is_it = |(_, from, port, kind): &&(SimTime, Node, u16, &str)| {
                    *from == node && *port == ports[node] && *kind == wanted
                };
                network.sent.iter().filter(is_it).map(|(at, ..)| *at).collect()
            };
            let late = HOP * (2 * (systems as i64 + 1));
            for (kind, every, times, late) in [
                ("Announce", ANNOUNCE, phases, Duration::ZERO),
                ("Sync", SYNC, phases + alike, late),
                ("Follow_Up", SYNC, phases + alike, late + HOP),
            ] {
                let (all, every) = (sent(kind), every - every / 5_000);
                for (first, from) in all.iter().enumerate() {
                    for (last, until) in all.iter().enumerate().skip(first) {
                        let most = (*until - *from + late * times).div_floor(every) + times;
                        let came = (last - first + 1) as i64;
                        prop_assert!(
                            came <= most,
                            "{} {} from {} to link {}, {} counted",
                            came,
                            kind,
                            node,
                            link,
                            most
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nobody_changes_its_mind_but_for_the_better(systems in 2usize..7, more in 0usize..3, seed: u64) {
        check(systems, more, seed)?;
    }
}
