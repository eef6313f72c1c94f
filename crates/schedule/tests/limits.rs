//! Each limit on both sides, and that the replay sees what is wrong.

use std::collections::BTreeMap;

use crate::testing::{network, problem, ring, unicast};
use chronoseal_core::Duration;
use chronoseal_schedule::gates::{GateEntry, SCHEDULED_CLASS};
use chronoseal_schedule::replay::{PortLists, Violation, replay};
use chronoseal_schedule::{AddError, Fault, Network, Options, Problem, Reason, Schedule, Security, Stream, synthesize};

const US: fn(i64) -> Duration = Duration::from_us;
const NS: fn(i64) -> Duration = Duration::from_ns;

/// Two bridges with a station each: 3 links from one station to the other.
fn line() -> Network {
    network(2, &[(0, 1)])
}

/// 976 bytes, which are 8 us on the wire.
fn frame(network: &Network, name: &str, period: Duration) -> Stream {
    unicast(network, name.into(), 0, &[1], 976, period)
}

fn schedule(network: Network, streams: Vec<Stream>) -> Schedule {
    synthesize(&problem(network, streams), Options::default()).unwrap_or_else(|infeasible| panic!("{infeasible}"))
}

#[test]
fn a_frame_is_stored_whole_in_each_bridge_and_sealed_and_checked_at_the_ends() {
    let network = line();
    let mut stream = frame(&network, "f", US(100));
    stream.security = Security { bytes: 125, seal: US(3), open: US(4), per_hop: NS(500) };
    let schedule = schedule(network, vec![stream]);
    let planned = schedule.planned("f").unwrap();
    let names: Vec<_> = planned.route.iter().map(|link| schedule.network().link_name(*link)).collect();
    assert_eq!(names, ["e000->s000", "s000->s001", "s001->e001"]);
    // 9 us on the wire without the 96 ns of the gap, 50 ns on the way, 2 us and 0.5 us in each bridge.
    assert_eq!(planned.hops, [US(0), NS(11_454), NS(22_908)]);
    assert_eq!(planned.latency, US(3) + NS(22_908) + NS(8_904) + NS(50) + US(4));
    assert_eq!(planned.checks, [(1, vec![NS(31_862)])]);
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

#[test]
fn a_deadline_is_met_to_the_picosecond_and_no_closer() {
    let network = line();
    let needed = NS(3 * 7_904) + NS(4_150);
    for (deadline, fits) in [(needed, true), (needed - Duration::from_ps(1), false)] {
        let stream = Stream { deadline, ..frame(&network, "f", US(100)) };
        let outcome = synthesize(&problem(network.clone(), vec![stream]), Options::default());
        assert_eq!(outcome.is_ok(), fits);
        if let Err(infeasible) = outcome {
            assert!(infeasible.proof.as_ref().unwrap().contains("needs 27.862us even alone"), "{infeasible}");
            assert_eq!(infeasible.conflict, ["f"]);
        }
    }
}

#[test]
fn a_link_is_filled_to_the_last_picosecond_and_the_next_frame_is_named() {
    let network = line();
    let streams = |count: usize| (0..count).map(|n| frame(&network, &format!("f{n}"), US(32))).collect::<Vec<_>>();
    let full = schedule(network.clone(), streams(4));
    assert_eq!(full.replay(SCHEDULED_CLASS), []);
    let infeasible = synthesize(&problem(network.clone(), streams(5)), Options::default()).unwrap_err();
    assert_eq!((infeasible.fitted, infeasible.wanted, infeasible.is_minimal), (4, 5, true));
    assert_eq!(infeasible.conflict, ["f0", "f1", "f2", "f3", "f4"]);
    assert!(infeasible.to_string().contains("of the time of the link e000->s000"), "{infeasible}");
}

#[test]
fn periods_whose_common_divisor_is_shorter_than_two_frames_never_fit() {
    let network = line();
    for (other, fits) in [(US(48), true), (US(47), false)] {
        let streams = vec![frame(&network, "a", US(32)), frame(&network, "b", other)];
        let outcome = synthesize(&problem(network.clone(), streams), Options::default());
        assert_eq!(outcome.is_ok(), fits, "{other}");
        if let Err(infeasible) = outcome {
            assert!(infeasible.to_string().contains("greatest common divisor"), "{infeasible}");
        }
    }
    // With jitter each frame may go around the other.
    let streams = ["a", "b"].map(|name| frame(&network, name, if name == "a" { US(32) } else { US(47) }));
    let streams = streams.map(|stream| Stream { jitter: US(16), deadline: US(60), ..stream });
    assert_eq!(schedule(network, streams.to_vec()).replay(SCHEDULED_CLASS), []);
}

#[test]
fn another_route_is_taken_when_the_shortest_is_full() {
    // From 0 to 2 and from 1 to 3 the shortest ways share the link from s001 to s002, which carries four frames.
    let network = ring(6);
    let streams = (0..6)
        .map(|n| Stream { deadline: US(200), ..unicast(&network, format!("f{n}"), n % 2, &[2 + n % 2], 976, US(32)) });
    let schedule = schedule(network.clone(), streams.collect());
    let hops = schedule.streams().map(|stream| schedule.planned(&stream.name).unwrap().route.len());
    assert!((2..=3).contains(&hops.filter(|hops| *hops > 4).count()));
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

#[test]
fn a_given_route_is_kept_and_one_that_leads_nowhere_is_refused() {
    let network = ring(4);
    let link = |from: &str, to: &str| network.link(network.node(from).unwrap(), network.node(to).unwrap()).unwrap();
    let long =
        [link("e000", "s000"), link("s000", "s003"), link("s003", "s002"), link("s002", "s001"), link("s001", "e001")];
    let stream = |route: &[usize]| Stream { route: Some(route.to_vec()), ..frame(&network, "f", US(500)) };
    let schedule = schedule(network.clone(), vec![stream(&long)]);
    assert_eq!(schedule.planned("f").unwrap().route, long);
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
    let branch = [&long[..], &[link("s000", "e000")]].concat();
    for bad in [&long[1..], &long[..4], &branch, &[]] {
        let refused = Problem::new(network.clone(), vec![stream(bad)]).unwrap_err();
        assert_eq!(refused, [Fault::BadRoute { stream: "f".into() }]);
    }
}

#[test]
fn a_gate_list_is_as_long_as_its_port_holds_and_no_longer() {
    // Frames of 8 us whose periods let them stand apart; windows that touch are one entry.
    for (entries_max, fits) in [(3, true), (2, true), (1, false)] {
        let network = line();
        let links = network.links().iter().cloned().map(|mut link| {
            link.gate_entries_max = (network.nodes()[link.from].name == "s000").then_some(entries_max);
            link
        });
        let network = Network::new(network.nodes().to_vec(), links.collect()).unwrap();
        let streams: Vec<_> = (0..6).map(|n| frame(&network, &format!("f{n}"), US(1_000))).collect();
        let outcome = synthesize(&problem(network.clone(), streams), Options::default());
        assert_eq!(outcome.is_ok(), fits, "{entries_max}");
        match outcome {
            Ok(schedule) => {
                assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
                let bridge = network.link(network.node("s000").unwrap(), network.node("s001").unwrap());
                let list = schedule.gates(SCHEDULED_CLASS).into_iter().find(|list| Some(list.link) == bridge).unwrap();
                assert!(list.entries.len() <= entries_max);
            }
            Err(infeasible) => {
                assert_eq!(infeasible.reason, Reason::GateEntries { link: "s000->s001".into(), entries_max })
            }
        }
    }
}

#[test]
fn gates_open_and_close_at_whole_multiples_of_the_granularity() {
    let mut network = line();
    network.granularity = NS(320);
    let streams = (0..5).map(|n| Stream { len: 100 + n * 7, ..frame(&network, &format!("f{n}"), US(320)) }).collect();
    let schedule = schedule(network, streams);
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
    for list in schedule.gates(SCHEDULED_CLASS) {
        assert!(list.entries.iter().all(|entry| entry.interval.rem_floor(NS(320)) == Duration::ZERO));
    }
}

#[test]
fn a_multicast_frame_is_sent_once_on_each_link_of_its_tree() {
    let network = ring(5);
    let schedule = schedule(network.clone(), vec![unicast(&network, "f".into(), 0, &[1, 2, 4], 976, US(500))]);
    let route = schedule.planned("f").unwrap().route;
    // In, three bridges more, and out to each of three listeners.
    assert_eq!(route.len(), 7);
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

#[test]
fn a_stream_that_finds_no_place_among_the_others_leaves_them_alone() {
    let network = line();
    let mut schedule = schedule(network.clone(), (0..4).map(|n| frame(&network, &format!("f{n}"), US(32))).collect());
    let refused = schedule.add(frame(&network, "g", US(32)));
    assert_eq!(
        refused,
        Err(AddError::NoPlace { stream: "g".into(), reason: Reason::Link { link: "e000->s000".into() } })
    );
    assert_eq!(
        schedule.add(frame(&network, "f0", US(32))),
        Err(AddError::Fault(Fault::StreamTwice { stream: "f0".into() }))
    );
    assert!(schedule.remove("f2"));
    assert_eq!(schedule.add(frame(&network, "g", US(96))), Ok(()));
    assert_eq!(schedule.cycle(), US(96));
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

#[test]
fn the_replay_sees_frames_that_are_moved_and_gates_that_are_wrong() {
    let network = line();
    let mut secured = frame(&network, "g", US(64));
    secured.security = Security { bytes: 0, seal: US(1), open: US(2), per_hop: Duration::ZERO };
    let schedule = schedule(network.clone(), vec![frame(&network, "f", US(32)), secured]);
    let lists: PortLists =
        schedule.gates(7).into_iter().map(|list| (list.link, vec![(Duration::ZERO, list)])).collect();
    let told = schedule.told(3);
    assert_eq!(replay(&network, &told, &lists, 7), []);

    let mut moved = told.clone();
    moved[0].sends[1].1 += NS(1);
    assert!(replay(&network, &moved, &lists, 7).iter().any(|found| matches!(found, Violation::Jitter { .. })));
    let mut early = told.clone();
    early[1].checks[0].2 -= Duration::from_ps(1);
    assert!(matches!(replay(&network, &early, &lists, 7)[..], [Violation::Processor { .. }]));
    let mut tight = told.clone();
    tight[1].stream.deadline = schedule.planned("g").unwrap().latency - Duration::from_ps(1);
    assert!(matches!(replay(&network, &tight, &lists, 7)[0], Violation::Late { .. }));
    let mut same = told.clone();
    same[1].sends.iter_mut().for_each(|(number, at)| *at = told[0].sends[2 * *number as usize].1);
    assert!(replay(&network, &same, &lists, 7).iter().any(|found| matches!(found, Violation::Waits { .. })));
    let mut shut = lists.clone();
    let last = *shut.keys().last().unwrap();
    shut.get_mut(&last).unwrap()[0].1.entries = vec![GateEntry { gates: 0x7f, interval: US(64) }];
    assert!(replay(&network, &told, &shut, 7).iter().any(|found| matches!(found, Violation::Lost { .. })));
    assert!(replay(&network, &told, &BTreeMap::new(), 7).iter().all(|found| matches!(found, Violation::Lost { .. })));
    let mut guarded = network.clone();
    guarded.guard = US(10);
    assert!(replay(&guarded, &told, &lists, 7).iter().any(|found| matches!(found, Violation::NoGuard { .. })));
}
