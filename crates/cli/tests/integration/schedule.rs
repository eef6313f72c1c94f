//! `schedule`: made, written in every form, read again, and refused with a reason.

use crate::support::Bench;

const NETWORK: &str = "link,q_num,rate,t_proc,t_prop\n\"(0, 2)\",8,1,2000,0\n\"(2, 0)\",8,1,2000,0\n\"(1, 2)\",8,1,2000,0\n\
                       \"(2, 1)\",8,1,2000,0\n\"(2, 3)\",8,1,2000,0\n\"(3, 2)\",8,1,2000,0\n";
const STREAMS: &str =
    "stream,src,dst,size,period,deadline,jitter\n0,0,[3],500,400000,400000,0\n1,1,[3],1000,200000,200000,0\n";
const FILES: [&str; 4] = ["--network", "topo.csv", "--streams", "task.csv"];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("topo.csv", NETWORK);
    bench.write("task.csv", STREAMS);
    bench
}

fn words<'w>(first: &[&'w str], rest: &[&'w str]) -> Vec<&'w str> {
    [&["schedule"], first, &FILES, rest].concat()
}

#[test]
fn what_is_made_replays_in_every_form() {
    let bench = bench();
    for (gates, file) in [("yang-json", "gates.json"), ("yang-xml", "gates.xml")] {
        let made = bench.say(&words(&["make"], &["--gates", gates, "--out", gates]));
        assert!(made.assert_code(0).out.contains("2 streams on 3 ports, a cycle of 400us"), "{}", made.out);
        assert!(made.err.contains("seed: 1"), "{}", made.err);
        let replayed = bench.say(&words(&["replay"], &["--from", gates]));
        assert!(replayed.assert_code(0).out.contains("of 2 streams replayed without a violation"), "{}", replayed.out);
        let list = format!("{gates}/{file}");
        bench.say(&words(&["replay"], &["--from", gates, "--gates", &list])).assert_code(0);
    }
    let twice = bench.say(&words(&["make"], &["--out", "yang-xml"]));
    assert!(twice.assert_code(2).err.contains("yang-xml"), "nothing is overwritten: {}", twice.err);
}

#[test]
fn a_tag_and_the_time_it_takes_are_part_of_the_schedule() {
    let bench = bench();
    let costs = ["--tag", "32", "--per-hop", "1us", "--seal", "10us", "--open", "20us", "--out", "secured"];
    bench.say(&words(&["make"], &costs)).assert_code(0);
    bench.say(&words(&["make"], &["--out", "plain"])).assert_code(0);
    // A schedule without room for the tag is found out.
    bench.say(&words(&["replay"], &["--from", "secured", "--tag", "32", "--per-hop", "1us"])).assert_code(0);
    let without_room = bench.say(&words(&["replay"], &["--from", "plain", "--tag", "32"]));
    assert!(without_room.assert_code(1).err.contains("BROKEN"), "{}", without_room.err);
    // What seals for longer than a period has no schedule, and the streams in question are named.
    let infeasible = bench.say(&words(&["make"], &["--seal", "150us", "--open", "150us", "--out", "none"]));
    assert!(infeasible.assert_code(1).err.contains("INFEASIBLE"), "{}", infeasible.err);
    assert!(!bench.path("none").exists());
    for (time, said) in [("-1us", "has to be from 0s to 1s"), ("2s", "has to be from 0s to 1s"), ("5", "5")] {
        let option = format!("--seal={time}");
        let refused = bench.say(&words(&["make"], &[&option, "--out", "none"]));
        assert!(refused.assert_code(2).err.contains(said), "{time}: {}", refused.err);
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    let bench = bench();
    bench.say(&words(&["make"], &["--gates", "yang-json", "--out", "good"])).assert_code(0);
    bench.write("task.csv", STREAMS.replace("200000,200000", "soon,200000"));
    let refused = bench.say(&words(&["make"], &["--out", "none"]));
    assert!(refused.assert_code(2).err.contains("task.csv") && refused.err.contains('3'), "{}", refused.err);
    bench.write("task.csv", STREAMS);
    let gates = std::fs::read_to_string(bench.path("good/gates.json")).unwrap();
    for (old, new, said) in [
        ("\"numerator\": 400000", "\"numerator\": 4000", "ends"),
        ("\"gate-states-value\": 128", "\"gate-states-value\": 256", "whole number from 0 to 255"),
        ("\"name\": \"", "\"name\": \"no-", "no port"),
        ("{", "[", "no JSON"),
    ] {
        assert!(gates.contains(old), "{old}");
        bench.write("gates.json", gates.replace(old, new));
        let refused = bench.say(&words(&["replay"], &["--from", "good", "--gates", "gates.json"]));
        assert!(refused.assert_code(2).err.contains(said), "{new}: {}", refused.err);
    }
}

#[test]
fn what_is_made_as_a_scenario_runs_without_a_violation() {
    let bench = bench();
    bench.say(&words(&["make"], &["--gates", "scenario", "--tag", "16", "--out", "made"])).assert_code(0);
    let run = bench.json(&["run", "made/scenario.toml", "--no-store"]);
    assert_eq!(run["held"], "yes", "{}", run["verdict"]);
    // 516 and 1016 bytes on two links of 1 Gbit/s, 2 us in the bridge, without the gap behind a frame: and never later.
    for (stream, ns) in run["summary"]["streams"].as_array().unwrap().iter().zip([10_160, 18_160]) {
        let counted = ["late", "missing", "not_sent"].map(|name| stream[name].as_u64());
        assert_eq!(counted, [Some(0); 3], "{stream}");
        let seen = &stream["end_to_end"]["all"];
        assert_eq!([&seen["min_ns"], &seen["max_ns"]], [ns, ns], "{stream}");
    }
    // The windows are as long as the frames, and on paper nobody knows which comes when: that is no reason to call it broken.
    let check = bench.json(&["check", "made/scenario.toml"]);
    for end in check["end_to_end"]["ends"].as_array().unwrap() {
        assert_eq!(end["word"], "not-bounded", "{end}");
        assert!(end["no_bound"].as_str().unwrap().contains("long enough together"), "{end}");
    }
    // Frames of these sizes are none of Ethernet, and it is said which stream has them.
    bench.write("task.csv", STREAMS.replace("500,", "60,"));
    let refused = bench.say(&words(&["make"], &["--gates", "scenario", "--out", "none"]));
    refused.assert_refused(&["stream `0`: its frames take 60 bytes on the wire", "help: write a size"]);
    assert!(!bench.path("none").exists(), "a refusal writes nothing");
}
