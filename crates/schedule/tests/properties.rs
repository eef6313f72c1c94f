//! Every schedule that is made is replayed, and what is said of sets without one is held against their parts.

use crate::testing::{Draw, grid, problem, ring, streams};
use chronoseal_core::Duration;
use chronoseal_schedule::gates::SCHEDULED_CLASS;
use chronoseal_schedule::{Infeasible, Network, Options, Problem, Schedule, Security, Stream, prove, synthesize};
use proptest::prelude::*;

const US: fn(i64) -> Duration = Duration::from_us;
const OPTIONS: Options = Options { routes: 3, steps: 300_000, seed: 1 };

/// A network and streams with a bit of everything.
fn drawn(seed: u64, count: usize, tight: bool) -> Problem {
    let mut draw = Draw::new(seed);
    let mut network = if draw.of(&[0, 1]).eq(&0) { ring(5) } else { grid(3) };
    network.guard = Duration::from_ns(draw.of(&[0, 0, 300]));
    network.granularity = Duration::from_ns(draw.of(&[1, 10, 100]));
    let periods = draw.of(&[&[100, 200, 400][..], &[250, 500, 1_250], &[60, 90, 150], &[200, 300]]);
    let periods: Vec<_> = periods.iter().map(|period| US(*period)).collect();
    let lens: &[u32] = if tight { &[700, 1_000, 1_500] } else { &[50, 100, 500, 1_500] };
    let mut streams = streams(&network, count, lens, &periods, seed + 1);
    let stations = network.nodes().len() / 2;
    for stream in &mut streams {
        if draw.below(4) == 0 {
            let more: Vec<usize> = (0..draw.below(3))
                .map(|_| network.node(&format!("e{:03}", draw.below(stations))).expect("a station"))
                .collect();
            stream.to.extend(more.into_iter().filter(|node| *node != stream.from));
            stream.to.sort_unstable();
            stream.to.dedup();
        }
        stream.jitter = Duration::from_ns(draw.of(&[0, 0, 0, 3_000]));
        if draw.below(3) == 0 {
            let times = [0, 500, 4_000].map(Duration::from_ns);
            stream.security = Security {
                bytes: draw.of(&[0, 16, 32]),
                seal: draw.of(&times),
                open: draw.of(&times),
                per_hop: draw.of(&times),
            };
        }
        if draw.below(12) == 0 {
            stream.offset = Some(Duration::from_us(draw.below(50) as i64));
        }
        stream.deadline = draw.of(&[stream.period, stream.period, US(60), stream.period * 2]);
    }
    problem(network, streams)
}

fn assert_replays(schedule: &Schedule) {
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

/// The set fails, and each set with one left out does not: then no proper part of it fails.
fn assert_irreducible(problem: &Problem, infeasible: &Infeasible) {
    let part = |without: Option<&String>| {
        problem.with(|stream| infeasible.conflict.contains(&stream.name) && Some(&stream.name) != without)
    };
    assert!(synthesize(&part(None), OPTIONS).is_err());
    for name in &infeasible.conflict {
        let schedule =
            synthesize(&part(Some(name)), OPTIONS).unwrap_or_else(|infeasible| panic!("without {name}: {infeasible}"));
        assert_replays(&schedule);
    }
}

fn outcome(problem: &Problem) -> String {
    match synthesize(problem, OPTIONS) {
        Ok(schedule) => {
            format!("{:?}", schedule.streams().map(|stream| schedule.planned(&stream.name)).collect::<Vec<_>>())
        }
        Err(infeasible) => infeasible.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 2_000 }))]

    #[test]
    fn every_schedule_replays_without_a_violation(seed in any::<u64>(), count in 1usize..40) {
        match synthesize(&drawn(seed, count, false), OPTIONS) {
            Ok(schedule) => assert_replays(&schedule),
            Err(infeasible) => prop_assert!(!infeasible.conflict.is_empty()),
        }
    }

    #[test]
    fn no_stream_of_a_conflict_can_be_left_out(seed in any::<u64>(), count in 4usize..16) {
        let problem = drawn(seed, count, true);
        if let Err(infeasible) = synthesize(&problem, OPTIONS) && infeasible.is_minimal {
            assert_irreducible(&problem, &infeasible);
        }
    }

    #[test]
    fn the_order_of_entries_changes_nothing(seed in any::<u64>(), count in 1usize..25) {
        let problem = drawn(seed, count, seed % 2 == 0);
        let mut draw = Draw::new(seed);
        let mut streams = problem.streams().to_vec();
        for at in (1..streams.len()).rev() {
            streams.swap(at, draw.below(at + 1));
        }
        let (mut nodes, mut links) = (problem.network().nodes().to_vec(), problem.network().links().to_vec());
        // Nodes back to front, so that every index is another one.
        let last = nodes.len() - 1;
        nodes.reverse();
        links.iter_mut().for_each(|link| (link.from, link.to) = (last - link.from, last - link.to));
        for at in (1..links.len()).rev() {
            links.swap(at, draw.below(at + 1));
        }
        let other = Network::new(nodes, links).unwrap();
        prop_assert_eq!(other.links(), problem.network().links());
        let other = Problem::new(problem.network().clone(), streams).unwrap();
        prop_assert_eq!(outcome(&other), outcome(&problem));
    }

    #[test]
    fn what_was_proven_infeasible_stays_so_with_longer_frames_or_more_streams(seed in any::<u64>(), count in 2usize..40) {
        let small = drawn(seed, count, true);
        if prove(&small).is_some() {
            prop_assert!(synthesize(&small, OPTIONS).is_err());
            let longer = small.streams().iter().cloned().map(|stream| Stream { len: stream.len + 32, ..stream });
            let longer = problem(small.network().clone(), longer.collect());
            prop_assert!(prove(&longer).is_some());
        }
        for stream in small.streams() {
            let part = small.with(|other| other.name != stream.name);
            prop_assert!(prove(&part).is_none() || prove(&small).is_some());
        }
    }

    #[test]
    fn taking_a_stream_out_leaves_the_others_where_they_are(seed in any::<u64>(), count in 2usize..25) {
        let problem = drawn(seed, count, false);
        let Ok(mut schedule) = synthesize(&problem, OPTIONS) else { return Ok(()) };
        let mut draw = Draw::new(seed);
        let out = problem.streams()[draw.below(count)].clone();
        let others = |schedule: &Schedule| {
            let names = problem.streams().iter().filter(|stream| stream.name != out.name);
            names.map(|stream| schedule.planned(&stream.name)).collect::<Vec<_>>()
        };
        let before = others(&schedule);
        prop_assert!(schedule.remove(&out.name) && !schedule.remove(&out.name));
        prop_assert_eq!(others(&schedule), before.clone());
        assert_replays(&schedule);
        // Where it was there is room for it.
        prop_assert_eq!(schedule.add(out.clone()), Ok(()));
        prop_assert_eq!(others(&schedule), before);
        assert_replays(&schedule);
    }

    #[test]
    fn streams_added_one_by_one_replay(seed in any::<u64>(), count in 1usize..20) {
        let problem = drawn(seed, count, false);
        let mut schedule = Schedule::empty(problem.network().clone(), OPTIONS);
        for stream in problem.streams() {
            let before: Vec<_> = schedule.streams().map(|stream| stream.name.clone()).collect();
            let firsts = |schedule: &Schedule| before.iter().map(|name| schedule.planned(name).unwrap().starts[0]).collect::<Vec<_>>();
            let starts = firsts(&schedule);
            let _ = schedule.add(stream.clone());
            prop_assert_eq!(firsts(&schedule), starts);
        }
        assert_replays(&schedule);
    }
}
