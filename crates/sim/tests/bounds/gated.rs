//! Scenarios whose streams of one class are scheduled: what is written back runs, and no scheduled frame is later than the
//! schedule says by a picosecond, with its protection, whatever else is sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chronoseal_analysis::segment::{BOUNDS, Bounds, EndBound, StreamBounds, bounds};
use chronoseal_analysis::synthesis::{GatedNetwork, Written, gated_network};
use chronoseal_catalog::Prepared;
use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{PortGates, with_gates, without_stream};
use chronoseal_schedule::exchange::scenario::gate_table;
use chronoseal_schedule::{Infeasible, Options, Problem, Schedule, prove, synthesize};

use super::from_environment;
use super::secured::secured;
use super::switched::{below, one_of, plan_of};
use super::watch::Watch;

/// So many scenarios are scheduled.
const SCENARIOS: u64 = 24;
const CLASS: u8 = 7;

/// Switches in a row with stations, scheduled streams with protections of different cost, and others.
pub(super) fn scenario(seed: u64, streams: usize, period_us: [u32; 3]) -> String {
    let rng = &mut random::stream(seed, Purpose::Medium, 9);
    let switches = 1 + below(rng, 4);
    let stations = switches.max(2) + below(rng, 3);
    let names: Vec<String> = (0..switches).map(|n| format!("\"S{n}\"")).collect();
    let is_written = switches > 1 || below(rng, 2) == 0;
    let ports = one_of(
        rng,
        &[
            "",
            "",
            "bridge_ports = { classes = [{ class = 3, shaper = { credit_based = { idle_slope = \"5Mbit/s\" } } }] }\n",
        ],
    );
    let mut text = format!(
        "schema_version = 2\nname = \"gated\"\nseed = {seed}\nduration = \"20ms\"\n\
         [segments.network.ethernet]\nrate = \"{}Mbit/s\"\ncluster_cycle = \"10ms\"\nsync = \"ideal\"\n\
         propagation_delay = \"50ns\"\nforwarding_delay = \"{}us\"\nclass = {{ vlan = {{ pcp = {CLASS} }} }}\n{ports}\
         switches = [{}]\n",
        one_of(rng, &[100, 1000]),
        one_of(rng, &[0, 2, 7]),
        names.join(", "),
    );
    if is_written {
        text += "links = [\n";
        for n in 1..switches {
            let _ = writeln!(text, "  {{ between = [\"S{}\", \"S{n}\"], rate = \"1Gbit/s\" }},", n - 1);
        }
        for n in 0..stations {
            let _ = writeln!(text, "  {{ between = [\"n{n}\", \"S{}\"] }},", n % switches);
        }
        text += "]\n";
    }
    text += "[[platforms]]\nname = \"ecu\"\ncosts = [{ operation = \"hmac-sha-256\", base = \"4us\", per_byte = \"12ns\" }]\n\
             [[protections]]\nname = \"tagged\"\nhmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }\n";
    for n in 0..stations {
        let _ = writeln!(text, "[[nodes]]\nname = \"n{n}\"\nplatform = \"ecu\"\nclock = \"ideal\"");
    }
    let pair = |rng: &mut _| {
        let from = below(rng, stations);
        (from, (from + 1 + below(rng, stations - 1)) % stations)
    };
    for n in 0..streams {
        let (from, to) = pair(rng);
        let period = one_of(rng, &period_us);
        let length = one_of(rng, &[46, 200, 700]);
        let protection = one_of(rng, &["", "protection = \"tagged\"\n"]);
        let _ = writeln!(
            text,
            "[[streams]]\nname = \"f{n:02}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"{period}us\"\n\
             length = \"{length}B\"\n{protection}"
        );
    }
    for n in 0..3 {
        let (from, to) = pair(rng);
        let (length, pcp) = (one_of(rng, &[46, 333, 1400]), one_of(rng, &[0, 3]));
        // Periods that have nothing to do with the cycle, so that one ends at the very instant at which its gate closes.
        let period = one_of(rng, &[131_072, 700_000, 233_111]);
        let _ = writeln!(
            text,
            "[[streams]]\nname = \"other{n}\"\nfrom = \"n{from}\"\nto = [\"n{to}\"]\nperiod = \"{period}ns\"\nlength = \"{length}B\"\n\
             network = {{ class = {{ vlan = {{ pcp = {pcp} }} }} }}\n",
        );
    }
    secured(text, seed)
}

/// The scenario with offsets and gates.
fn written(text: &str, gated: &GatedNetwork, schedule: &Schedule) -> String {
    let network = schedule.network();
    let ports = schedule.gates(CLASS).into_iter().map(|list| {
        let port = gated.ports.iter().find(|port| port.link == list.link).expect("it is a port of the segment");
        let [from, to] = [network.links()[list.link].from, network.links()[list.link].to];
        let [from, to] = [from, to].map(|node| network.nodes()[node].name.clone());
        let gates = Some(gate_table(&list, network.granularity));
        PortGates { from, to, is_station: port.is_station, class_of: port.class_of, gates }
    });
    let offsets = gated.streams.iter().filter_map(|one| {
        let start = schedule.planned(&one.stream.name)?.starts[0];
        Some((one.stream.name.clone(), (start - one.seal).rem_floor(one.stream.period)))
    });
    let (ports, offsets): (Vec<_>, Vec<_>) = (ports.collect(), offsets.collect());
    with_gates("any.toml", text.as_bytes(), &[], "network", &ports, &offsets)
        .unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn problem(text: &str) -> (GatedNetwork, Problem) {
    let gated = gated_network(&plan_of(text), None, CLASS, Written::Nothing)
        .unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    let streams = gated.streams.iter().map(|one| one.stream.clone()).collect();
    let problem = Problem::new(gated.network.clone(), streams).expect("the streams are sound");
    (gated, problem)
}

/// `GATED_SEED=17` tries that scenario alone, `GATED_SCENARIOS=2000` more of them.
#[test]
fn a_scenario_with_its_schedule_written_in_has_no_frame_later_than_planned() {
    let wanted = from_environment("GATED_SCENARIOS").unwrap_or(SCENARIOS);
    let only = from_environment("GATED_SEED");
    let (mut ends, mut secured) = (0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let text = scenario(seed, 3 + (seed % 12) as usize, [500, 1_000, 2_000]);
        let (gated, problem) = problem(&text);
        let Ok(schedule) = synthesize(&problem, Options::default()) else { continue };
        assert_eq!(schedule.replay(CLASS), [], "seed {seed}\n{text}");
        let text = written(&text, &gated, &schedule);
        let plan = plan_of(&text);
        let prepared = Prepared::new(&plan).expect("nothing has slots");
        let finished =
            chronoseal_sim::run(&prepared, Watch::new(&prepared), &mut |_| true).expect("every part can be built");
        let network = schedule.network();
        for id in plan.stream_ids() {
            let name = &plan.streams[id.index()].name;
            let Some(one) = problem.streams().iter().find(|one| one.name == *name) else { continue };
            let planned = schedule.planned(name).expect("it was placed");
            for (to, receiver) in one.to.iter().zip(&plan.streams[id.index()].receivers) {
                let place = planned.route.iter().position(|link| network.links()[*link].to == *to);
                let place = place.expect("it is reached");
                let link = &network.links()[planned.route[place]];
                // The last bit: preamble and checksum are part of it, the gap is not.
                let (added, len) = (link.protection, one.secured_len());
                let last = link.rate.time_of(u64::from(len + added.bytes) + 12) + link.propagation;
                let last = last + added.base + added.per_byte * i64::from(len);
                let expected = one.security.seal + planned.hops[place] + last + one.security.open;
                let seen = finished.observer.seen(id, *receiver);
                let seen = seen.unwrap_or_else(|| panic!("seed {seed}: no frame of {name} came\n{text}"));
                assert_eq!((seen.min, seen.max), (expected, expected), "seed {seed}: {name}\n{text}");
                assert!(expected <= one.deadline, "seed {seed}: {name} is late");
                ends += 1;
                secured += usize::from(one.security.seal > Duration::ZERO);
            }
        }
    }
    println!("{ends} ends of scheduled streams, {secured} of them secured");
    assert!(only.is_some() || (ends > 80 && secured > 30), "{ends} ends, {secured} secured");
}

/// What the analysis says of a scenario whose schedule was written in, and what the simulator shows.
pub(super) fn compared(text: &str) -> (Plan, Bounds, Watch) {
    let plan = plan_of(text);
    let prepared = Prepared::new(&plan).expect("nothing has slots");
    let table = |segment| {
        let view = Ethernet::of(&plan, segment).expect("it is an Ethernet");
        Some(chronoseal_analysis::synthesize(view).expect("nothing has slots"))
    };
    let found = bounds(&plan, &plan.segment_ids().map(table).collect::<Vec<_>>(), BOUNDS);
    let watch = chronoseal_sim::run(&prepared, Watch::new(&prepared), &mut |_| true).expect("every part can be built");
    (plan, found, watch.observer)
}

/// A written scenario in which something is not as the schedule has it: a frame that is due at another time, a driver that takes its
/// time, longer windows, a gate that is open for others too, other work for the processors.
fn damaged(text: &str, rng: &mut ChaCha8Rng) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    let (offset, open) = (below(rng, count("offset = ").max(1)), below(rng, count("open = [7]").max(1)));
    let (damage, moved) = (below(rng, 6), one_of(rng, &[-3_000, -96, 1, 250, 4_000, 90_000]));
    let (mut offsets, mut opens) = (0, 0);
    let mut written = String::new();
    for line in lines {
        let mut line = line.to_owned();
        if line.starts_with("offset = ") {
            offsets += 1;
            if damage == 0 && offsets == offset + 1 {
                let later = below(rng, 200_000) as i64 + moved;
                line = format!("offset = \"{}ns\"", later.max(0));
            }
        }
        if line.contains("open = [7]") {
            opens += 1;
            if damage == 1 && opens == open + 1 {
                line = line.replacen("open = [7]", "open = [0, 7]", 1);
            }
            if damage == 2 && opens == open + 1 {
                line = line.replacen("open = [0, 1, 2, 3, 4, 5, 6]", "open = [0, 3]", 1);
            }
        }
        if damage == 3 && line == "clock = \"ideal\"" && below(rng, 3) == 0 {
            line += "\ndriver = { min = \"0us\", mean = \"1us\", max = \"3us\" }";
        }
        if damage == 5 && line.starts_with("network = ") {
            line = format!("protection = \"tagged\"\n{line}");
        }
        if damage == 4 && line.starts_with("forwarding_delay = ") {
            line += "\nforwarding_jitter = { min = \"0us\", mean = \"100ns\", max = \"400ns\" }";
        }
        written += &line;
        written.push('\n');
    }
    written
}

/// `WINDOWS_SEED=17` tries that scenario alone, `WINDOWS_SCENARIOS=2000` more of them.
#[test]
fn a_schedule_that_was_made_is_bounded_and_nothing_is_later_than_its_bound() {
    let wanted = from_environment("WINDOWS_SCENARIOS").unwrap_or(SCENARIOS);
    let only = from_environment("WINDOWS_SEED");
    let (mut exact, mut others, mut bounded) = (0, 0, 0);
    for seed in only.map_or(0..wanted, |seed| seed..seed + 1) {
        let rng = &mut random::stream(seed, Purpose::Medium, 13);
        let text = scenario(seed, 2 + (seed % 9) as usize, [500, 1_000, 2_000]);
        let (gated, problem) = problem(&text);
        let Ok(schedule) = synthesize(&problem, Options::default()) else { continue };
        let text = written(&text, &gated, &schedule);
        for is_damaged in [false, true] {
            let text = if is_damaged { damaged(&text, rng) } else { text.clone() };
            let (plan, found, watch) = compared(&text);
            // What others fill a queue with that they share is no matter of windows.
            let is_all_bounded = found.streams.iter().flat_map(|stream| &stream.ends).all(|end| end.latency.is_ok());
            for stream in &found.streams {
                let name = &plan.streams[stream.stream.index()].name;
                let is_scheduled = problem.streams().iter().any(|one| one.name == *name);
                let at_risk = found.risks.iter().any(|risk| risk.stream == Some(stream.stream));
                for end in &stream.ends {
                    let seen = watch.seen(stream.stream, end.receiver);
                    let bound = match end.latency {
                        Ok(bound) => bound,
                        Err(missing) => {
                            let why = missing.why.text(&plan);
                            assert!(is_damaged || !is_scheduled, "seed {seed}: {name} has no bound: {why}\n{text}");
                            continue;
                        }
                    };
                    if let Some(seen) = seen {
                        let holds = bound.min <= seen.min && seen.max <= bound.max;
                        let seen = format!("{}..{}", seen.min, seen.max);
                        assert!(holds, "seed {seed}: {name}: {seen} for {}..{}\n{text}", bound.min, bound.max);
                    }
                    let is_lost = watch.lost().any(|(lost, _)| lost == stream.stream);
                    assert!(at_risk || !is_lost, "seed {seed}: {name} loses frames\n{text}");
                    if is_damaged {
                        bounded += usize::from(is_scheduled);
                        continue;
                    }
                    others += usize::from(!is_scheduled);
                    if is_scheduled {
                        assert!(
                            !at_risk || !is_all_bounded,
                            "seed {seed}: {name} is at risk: {:?}\n{text}",
                            found.risks
                        );
                        let seen = seen.map(|seen| (seen.min, seen.max));
                        assert_eq!(seen, Some((bound.min, bound.max)), "seed {seed}: {name}\n{text}");
                        exact += 1;
                    }
                }
            }
        }
    }
    println!(
        "{exact} ends of scheduled streams, {others} of others, {bounded} of scheduled ones where something is wrong"
    );
    assert!(only.is_some() || (exact > 60 && others > 20 && bounded > 20), "{exact} {others} {bounded}");
}

/// With schedule and routes kept, taking a stream out raises no bound, of scheduled streams or of others.
#[test]
fn taking_a_stream_out_of_a_schedule_raises_no_bound() {
    let wanted = from_environment("WINDOWS_SCENARIOS").unwrap_or(SCENARIOS);
    let mut ends = 0;
    let by_end = |text: &str| -> BTreeMap<(String, NodeId), Option<Duration>> {
        let (plan, found, _) = compared(text);
        let name = |stream: StreamId| plan.streams[stream.index()].name.clone();
        let of_stream = |stream: &StreamBounds| {
            let name = name(stream.stream);
            let end = |end: &EndBound| ((name.clone(), end.receiver), end.latency.ok().map(|bound| bound.max));
            stream.ends.iter().map(end).collect::<Vec<_>>()
        };
        found.streams.iter().flat_map(of_stream).collect()
    };
    for seed in 0..wanted {
        let text = scenario(seed, 2 + (seed % 9) as usize, [500, 1_000, 2_000]);
        let (gated, problem) = problem(&text);
        let Ok(mut schedule) = synthesize(&problem, Options::default()) else { continue };
        let before = by_end(&written(&text, &gated, &schedule));
        let gone = problem.streams()[seed as usize % problem.streams().len()].name.clone();
        assert!(schedule.remove(&gone));
        let text = without_stream("any.toml", text.as_bytes(), &gone).expect("it has an entry of its own");
        let text = written(&text, &gated, &schedule);
        for (end, after) in by_end(&text) {
            let before = before[&end];
            let is_lower = before.is_none() || after.is_some_and(|after| before.is_some_and(|before| after <= before));
            assert!(is_lower, "seed {seed}: {end:?}: {after:?} after {before:?} without {gone}\n{text}");
            ends += 1;
        }
    }
    assert!(ends as u64 > wanted * 3, "{ends} ends");
}

/// A set that does not fit, and fits whenever one is left out; and what is proven stays so with longer frames.
#[test]
fn of_a_scenario_that_does_not_fit_no_named_stream_can_be_left_out() {
    let options = Options { steps: 100_000, ..Options::default() };
    let wanted = from_environment("GATED_SCENARIOS").unwrap_or(SCENARIOS);
    let (mut minimal, mut proven, mut protected_too) = (0, 0, 0);
    for seed in 0..wanted {
        let text = scenario(seed + 10_000, 12 + (seed % 20) as usize, [50, 60, 125]);
        let (_, problem) = problem(&text);
        let Err(infeasible) = synthesize(&problem, options) else { continue };
        let Infeasible { conflict, is_minimal, .. } = *infeasible;
        let part = |without: Option<&String>| {
            problem.with(|stream| conflict.contains(&stream.name) && Some(&stream.name) != without)
        };
        assert!(synthesize(&part(None), options).is_err(), "seed {seed}: the named streams fit\n{text}");
        if is_minimal {
            minimal += 1;
            for name in &conflict {
                assert!(synthesize(&part(Some(name)), options).is_ok(), "seed {seed}: {name} can be left out\n{text}");
            }
        }
        if prove(&problem).is_some() {
            proven += 1;
            let longer = problem.streams().iter().cloned().map(|mut stream| {
                stream.len += 32;
                stream
            });
            let longer = Problem::new(problem.network().clone(), longer.collect()).expect("the streams are sound");
            assert!(prove(&longer).is_some() && synthesize(&longer, options).is_err(), "seed {seed}\n{text}");
            if !text.contains("macsec") {
                let (_, protected) = self::problem(&text.replacen("\nrate = ", "\nmacsec = {}\nrate = ", 1));
                assert!(prove(&protected).is_some() && synthesize(&protected, options).is_err(), "seed {seed}\n{text}");
                protected_too += 1;
            }
        }
    }
    println!("{minimal} minimal sets, {proven} proven, {protected_too} of them with MACsec too");
    assert!(minimal > 10 && proven > 5 && protected_too > 2, "{minimal} minimal sets, {proven} proven");
}

/// Two switches, a scheduled stream and another one.
const SMALL: &str = r#"
schema_version = 2
name = "small"
duration = "10ms"

[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
sync = "ideal"
class = { vlan = { pcp = 7 } }
switches = ["S0", "S1"]
links = [
  { between = ["n0", "S0"] }, # of the talker
  { between = ["S0", "S1"] },
  { between = ["n1", "S1"] },
]

[[nodes]]
name = "n0"
clock = "ideal"

[[nodes]]
name = "n1"
clock = "ideal"

[[streams]]
name = "brake"
from = "n0"
to = ["n1"]
period = "1ms"
length = "46B"
"#;

#[test]
fn what_would_move_a_scheduled_frame_is_refused_with_what_to_change() {
    let both = "clock = \"ideal\"\n\n[[nodes]]\nname = \"n1\"";
    let class = "period = \"1ms\"\nlength = \"46B\"\n";
    let count = format!("{class}count = 2\n");
    for (from, to, message, help) in [
        ("sync = \"ideal\"", "sync = \"beacon\"", "kept together by frames", "write `sync = \"ideal\"`"),
        (
            "switches = ",
            "forwarding_jitter = { min = \"0us\", mean = \"1us\", max = \"6us\" }\nswitches = ",
            "up to 6us more",
            "`forwarding_delay`",
        ),
        (
            both,
            &both.replacen("ideal", "seeded", 1).replacen(
                "\"seeded\"",
                "{ fixed = { offset = \"0s\", drift = \"10ppm\" } }",
                1,
            ),
            "clock of its own",
            "clock = \"ideal\"",
        ),
        (
            both,
            &format!("driver = {{ min = \"2us\", mean = \"5us\", max = \"60us\" }}\n{both}"),
            "a driver",
            "leave `driver`",
        ),
        (
            both,
            &format!("tasks = [{{ name = \"control\", period = \"5ms\", wcet = \"500us\" }}]\n{both}"),
            "the task `control`",
            "leave the task out",
        ),
        ("pcp = 7", "pcp = 3", "no stream is in traffic class 7", "--class"),
        (
            "switches = ",
            "bridge_ports = { gates = { cycle = \"1ms\", entries = [{ open = [7], lasts = \"1ms\" }] } }\nswitches = ",
            "has gates already",
            "leave its `gates` out",
        ),
        (
            "switches = ",
            "bridge_ports = { classes = [{ class = 7, preemptable = true }] }\nswitches = ",
            "shapes or interrupts class 7",
            "leave `shaper` and `preemptable` out",
        ),
        (
            "switches = ",
            "bridge_ports = { priorities = [0, 1, 2, 3, 4, 5, 6, 6] }\nstation_ports = { priorities = [0, 1, 2, 3, 4, 5, 6, 7] }\nswitches = ",
            "puts stream `brake` into another class",
            "same `priorities`",
        ),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL, "{from}");
        let refused = gated_network(&plan_of(&text), None, CLASS, Written::Nothing).expect_err(message).to_string();
        assert!(refused.contains(message) && refused.contains(help), "{refused}");
    }
    let refused = gated_network(&plan_of(SMALL), Some("backbone"), CLASS, Written::Nothing).unwrap_err().to_string();
    assert!(refused.contains("no Ethernet segment `backbone`") && refused.contains("network"), "{refused}");

    // Each of several streams of one entry would need an offset of its own.
    let text = SMALL.replacen(class, &count, 1);
    let names = ["brake.0", "brake.1"].map(|name| (name.to_owned(), Duration::ZERO));
    let refused = with_gates("any.toml", text.as_bytes(), &[], "network", &[], &names).unwrap_err().render();
    assert!(refused.contains("`brake.0` has no entry of its own") && refused.contains("without `count`"), "{refused}");
}

#[test]
fn a_schedule_leaves_the_rest_of_a_text_as_it_is() {
    let (gated, problem) = problem(SMALL);
    let schedule = synthesize(&problem, Options::default()).expect("one stream fits");
    let text = written(SMALL, &gated, &schedule);
    let is_new = |line: &&str| !SMALL.lines().any(|old| old == *line);
    let new: Vec<&str> = text.lines().filter(is_new).collect();
    // A port at each link, and the offset.
    assert_eq!(new.len(), 4, "{text}");
    // A queue for each class is what there is without saying so.
    assert!(new[0].contains("n0 = { gates") && !text.contains("priorities"), "{text}");
    assert!(text.contains("# of the talker") && text.contains("offset = \"0s\""), "{text}");
    // What is there already is not made a second time.
    let refused = gated_network(&plan_of(&text), None, CLASS, Written::Nothing).unwrap_err().to_string();
    assert!(refused.contains("has gates already"), "{refused}");
}
