//! From one schedule to another while frames are on their way, in the ports of the simulated network: streams are added and
//! removed, no frame is lost, and none is later than its schedule says.

use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{Duration, NodeId};
use chronoseal_schedule::change::plan;
use chronoseal_schedule::exchange::scenario;
use chronoseal_schedule::replay::{Told, replay};
use chronoseal_schedule::{Network, Options, Problem, Schedule, Security, Stream, synthesize};

use super::from_environment;
use super::scheduled::{CLASS, problem};
use super::switched::{below, plan_of};
use super::watch::Watch;

/// So many changes are made.
const CHANGES: u64 = 24;

/// Two schedules: some streams, and the same without one of them and with others where there is room; or all of them with 32 bytes
/// of protection more on every frame, which moves most.
fn schedules(seed: u64) -> (Network, Schedule, Schedule) {
    let rng = &mut random::stream(seed, Purpose::Medium, 9);
    let (network, mut streams) = problem(seed);
    let comes = streams.split_off(streams.len() - 1 - below(rng, 2));
    let made = |streams: &[Stream]| {
        let problem = Problem::new(network.clone(), streams.to_vec()).expect("the streams are sound");
        synthesize(&problem, Options::default()).unwrap_or_else(|why| panic!("seed {seed}: {why}"))
    };
    let goes = below(rng, streams.len());
    // Where its frames are on their way when a cycle ends, what comes has to wait.
    if below(rng, 2) == 0 {
        streams[goes].offset = Some(streams[goes].period - Duration::from_us(5));
    }
    let old = made(&streams);
    if below(rng, 3) == 0 {
        let secured = |stream: &Stream| Stream {
            security: Security { bytes: 32, ..stream.security },
            offset: None,
            ..stream.clone()
        };
        let new = made(&streams.iter().map(secured).collect::<Vec<_>>());
        return (network, old, new);
    }
    let mut new = made(&streams);
    assert!(new.remove(&streams[goes].name));
    for stream in comes {
        new.add(stream).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    (network, old, new)
}

/// When the last bit of a frame is at a listener, after it left its talker: every link on its way without the gap, and every
/// bridge.
fn arrival(network: &Network, told: &Told, listener: usize) -> Duration {
    let links = network.links();
    let (mut at, mut node) = (Duration::ZERO, listener);
    while node != told.stream.from {
        let link = told.route.iter().find(|link| links[**link].to == node).expect("the way leads there");
        let link = &links[*link];
        let is_last = node == listener;
        let counted = network.overhead - 12;
        at += link.rate.time_of(u64::from(told.stream.secured_len() + counted)) + link.propagation;
        at += if is_last { Duration::ZERO } else { link.processing };
        node = link.from;
    }
    at
}

/// `CHANGED_SEED=17` tries that change alone, `CHANGED_SEEDS=2000` more of them.
#[test]
fn no_change_of_schedule_loses_a_frame_or_makes_one_late() {
    let only = from_environment("CHANGED_SEED");
    let wanted = from_environment("CHANGED_SEEDS").unwrap_or(CHANGES);
    let (mut frames, mut moved, mut waits) = (0, 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let (network, old, new) = schedules(seed);
        let change = plan(&old, &new, Duration::ZERO, CLASS).expect("both are for one network");
        assert_eq!(replay(&network, &change.told, &change.lists, CLASS), [], "seed {seed}");
        moved += change.gaps.len();
        waits += usize::from(change.begin > change.at);
        let text = scenario::write_change(&network, &change, CLASS).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let plan = plan_of(&text);
        let prepared = Prepared::new(&plan).expect("nothing has slots");
        let watch = Watch::new(&prepared);
        let finished = chronoseal_sim::run(&prepared, watch, &mut |_| true).expect("every part can be built");
        let watch = &finished.observer;
        assert_eq!(watch.lost().next(), None, "seed {seed}\n{text}");
        let sends = change.told.iter().flat_map(|told| told.sends.iter().map(move |_| told));
        for (stream, told) in plan.stream_ids().zip(sends) {
            assert!(plan.streams[stream.index()].name.starts_with(&told.stream.name), "the same order");
            for listener in &told.stream.to {
                let name = &network.nodes()[*listener].name;
                let receiver = plan.nodes.iter().position(|node| node.name == *name).expect("it is a node");
                let seen = watch.seen(stream, NodeId(receiver as u16));
                let seen =
                    seen.unwrap_or_else(|| panic!("seed {seed}: a frame of {} is lost\n{text}", told.stream.name));
                let planned = arrival(&network, told, *listener);
                assert!(
                    seen.max <= planned,
                    "seed {seed}: {} takes {}, and {planned} as planned",
                    told.stream.name,
                    seen.max
                );
                assert!(planned <= told.stream.deadline, "seed {seed}: {}", told.stream.name);
                frames += 1;
            }
        }
    }
    println!("{frames} frames around {wanted} changes; {moved} streams moved, {waits} times what comes had to wait");
    assert!(only.is_some() || (frames > 500 && moved > 10 && waits > 3), "too few to tell");
}
