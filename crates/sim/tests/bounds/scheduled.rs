//! Gate control lists that were synthesized, in the ports of the simulated network: every scheduled frame is where the schedule
//! says at the picosecond, whatever else is sent.

use std::fmt::Write as _;

use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, Rate};
use chronoseal_schedule::exchange::scenario;
use chronoseal_schedule::{
    Link, LinkProtection, Network, Node, Options, Problem, Schedule, Security, Stream, synthesize,
};

use super::switched::{below, one_of, plan_of};
use super::watch::Watch;

/// So many schedules are played; `SCHEDULED_SEEDS=2000` plays more.
const SCHEDULES: u64 = 12;
/// The traffic class of scheduled frames.
pub(super) const CLASS: u8 = 7;

/// Bridges in a row, each with a station.
fn network(bridges: usize) -> Network {
    let bridge = |n| Node { name: format!("S{n}"), is_bridge: true };
    let station = |n| Node { name: format!("n{n}"), is_bridge: false };
    let nodes = (0..bridges).map(bridge).chain((0..bridges).map(station)).collect();
    let both = |from: usize, to: usize, rate: u64| {
        let link = Link {
            from,
            to,
            rate: Rate(rate),
            propagation: Duration::from_ns(50),
            // A station has what is at its end of the link, a bridge takes its time.
            processing: Duration::from_us(2),
            protection: LinkProtection::default(),
            gate_entries_max: None,
        };
        [link.clone(), Link { from: to, to: from, ..link }]
    };
    let trunks = (1..bridges).flat_map(|n| both(n - 1, n, 1_000_000_000));
    let stations = (0..bridges).flat_map(|n| both(n, bridges + n, 100_000_000));
    let mut network = Network::new(nodes, trunks.chain(stations).collect()).expect("the network is sound");
    network.granularity = Duration::from_ns(1);
    network
}

/// Bridges, and streams between their stations.
pub(super) fn problem(seed: u64) -> (Network, Vec<Stream>) {
    let rng = &mut random::stream(seed, Purpose::Medium, 3);
    let bridges = 2 + below(rng, 3);
    let network = network(bridges);
    let stream = |number: usize, rng: &mut _| {
        let from = below(rng, bridges);
        let mut to: Vec<usize> = (0..1 + below(rng, 2)).map(|_| below(rng, bridges)).filter(|to| *to != from).collect();
        to.sort_unstable();
        to.dedup();
        if to.is_empty() {
            to.push((from + 1) % bridges);
        }
        let node = |n: &usize| network.node(&format!("n{n}")).expect("it is there");
        let period = Duration::from_ms(one_of(rng, &[2, 4]));
        Stream {
            name: format!("scheduled{number}"),
            from: node(&from),
            to: to.iter().map(node).collect(),
            len: one_of(rng, &[64, 200, 700]),
            period,
            deadline: period,
            jitter: Duration::ZERO,
            offset: None,
            route: None,
            security: Security::default(),
        }
    };
    let streams = (0..3 + below(rng, 6)).map(|number| stream(number, rng)).collect();
    (network, streams)
}

fn schedule(seed: u64) -> Schedule {
    let (network, streams) = problem(seed);
    let problem = Problem::new(network, streams).expect("the streams are sound");
    synthesize(&problem, Options::default()).unwrap_or_else(|why| panic!("seed {seed}: {why}"))
}

/// The schedule as a scenario, with other traffic over all links.
fn scenario(schedule: &Schedule) -> String {
    let network = schedule.network();
    let mut text = scenario::write(schedule, CLASS).expect("a scenario has a place for all of it");
    let stations: Vec<&str> =
        network.nodes().iter().filter(|node| !node.is_bridge).map(|node| node.name.as_str()).collect();
    // Periods that have nothing to do with the cycle: sooner or later a frame ends when its gate closes.
    let kinds = [(500_000, 1_500, 0), (19_111, 46, 1), (90_007, 333, 2)];
    for (number, from) in stations.iter().enumerate() {
        let to = stations[(number + 1) % stations.len()];
        for (kind, (period, length, pcp)) in kinds.iter().enumerate() {
            write!(
                text,
                "\n[[streams]]\nname = \"other{number}-{kind}\"\nfrom = \"{from}\"\nto = [\"{to}\"]\nperiod = \"{period}ns\"\n\
                 length = \"{length}B\"\nnetwork = {{ class = {{ vlan = {{ pcp = {pcp} }} }} }}\n"
            )
            .expect("a text takes all");
        }
    }
    text
}

#[test]
fn a_synthesized_gate_list_keeps_every_scheduled_frame_to_its_time() {
    let (mut ends, mut others) = (0, 0);
    let wanted = super::from_environment("SCHEDULED_SEEDS").unwrap_or(SCHEDULES);
    for seed in 0..wanted {
        let schedule = schedule(seed);
        assert_eq!(schedule.replay(CLASS), [], "seed {seed}");
        let text = scenario(&schedule);
        let plan = plan_of(&text);
        let prepared = Prepared::new(&plan).expect("nothing has slots");
        let finished =
            chronoseal_sim::run(&prepared, Watch::new(&prepared), &mut |_| true).expect("every part can be built");
        let watch = &finished.observer;
        let network = schedule.network();
        for stream in plan.stream_ids() {
            let name = &plan.streams[stream.index()].name;
            let Some(one) = schedule.streams().find(|one| one.name == *name) else {
                others += 1;
                continue;
            };
            let planned = schedule.planned(name).expect("it was placed");
            for to in &one.to {
                let place =
                    planned.route.iter().position(|link| network.links()[*link].to == *to).expect("it is reached");
                let link = &network.links()[planned.route[place]];
                // The last bit: preamble and checksum are part of it, the gap is not.
                let last = link.rate.time_of(u64::from(one.len) + 12) + link.propagation;
                let expected = planned.hops[place] + last;
                let receiver = plan.nodes.iter().position(|node| node.name == network.nodes()[*to].name);
                let receiver = chronoseal_core::NodeId(receiver.expect("it is a node") as u16);
                let seen = watch
                    .seen(stream, receiver)
                    .unwrap_or_else(|| panic!("seed {seed}: no frame of {name} came\n{text}"));
                assert_eq!((seen.min, seen.max), (expected, expected), "seed {seed}: {name}\n{text}");
                ends += 1;
            }
        }
    }
    assert!(ends > 50 && others > 20, "{ends} ends of scheduled streams, {others} other streams");
}
