//! `schedule`: made, written in every form, read again, and refused with a reason.

use crate::integration::support::Bench;

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
    assert_eq!(run["word"], "held", "{}", run["verdict"]);
    // 516 and 1016 bytes on two links of 1 Gbit/s without the gap of 12 bytes behind a frame, 2 us in the bridge: and never later.
    for (stream, ns) in run["summary"]["streams"].as_array().unwrap().iter().zip([10_064, 18_064]) {
        let counted = ["late", "missing", "not_sent"].map(|name| stream[name].as_u64());
        assert_eq!(counted, [Some(0); 3], "{stream}");
        let seen = &stream["end_to_end"]["all"];
        assert_eq!([&seen["min_ns"], &seen["max_ns"]], [ns, ns], "{stream}");
    }
    // On paper each frame is where it is in the run. Without an offset nobody knows which comes when, and that is no reason to call it
    // broken.
    let verdicts = |file: &str| -> Vec<String> {
        let check = bench.json(&["check", file]);
        let ends = check["judged"].as_array().unwrap().iter();
        ends.map(|end| format!("{} {}", end["word"].as_str().unwrap(), end["no_bound"])).collect()
    };
    assert_eq!(verdicts("made/scenario.toml"), ["held null", "held null"]);
    let text = std::fs::read_to_string(bench.path("made/scenario.toml")).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("offset")).collect();
    bench.write("without.toml", without.join("\n"));
    for word in verdicts("without.toml") {
        assert!(word.starts_with("not-proven") && word.contains("long enough together"), "{word}");
    }
    // Frames of these sizes are none of Ethernet, and it is said which stream has them.
    bench.write("task.csv", STREAMS.replace("500,", "60,"));
    let refused = bench.say(&words(&["make"], &["--gates", "scenario", "--out", "none"]));
    refused.assert_refused(&["stream `0`: its frames take 60 bytes on the wire", "help: write a size"]);
    assert!(!bench.path("none").exists(), "a refusal writes nothing");
}

const SCENARIO: &str = r#"
schema_version = 2
name = "car"
duration = "20ms"

[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "4ms"
sync = "ideal"
switches = ["S0", "S1"]
links = [
  { between = ["n0", "S0"] },
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
name = "brake" # first of all
from = "n0"
to = ["n1"]
period = "1ms"
length = "46B"
deadline = "1ms"
backbone = { class = { vlan = { pcp = 7 } } }

[[streams]]
name = "steer"
from = "n0"
to = ["n1"]
period = "2ms"
length = "200B"
deadline = "1ms"
backbone = { class = { vlan = { pcp = 7 } } }

[[streams]]
name = "map"
from = "n0"
to = ["n1"]
period = "900us"
length = "1000B"
deadline = "5ms"
backbone = { class = { vlan = { pcp = 0 } } }
"#;

const HORN: &str = r#"
[[streams]]
name = "horn"
from = "n0"
to = ["n1"]
period = "4ms"
length = "100B"
deadline = "2ms"
backbone = { class = { vlan = { pcp = 7 } } }
"#;

#[test]
fn a_stream_is_added_to_a_schedule_and_taken_out_again() {
    let bench = Bench::new();
    bench.write("car.toml", SCENARIO);
    bench.say(&["schedule", "make", "car.toml", "--out", "made"]).assert_code(0);
    let read = |file: &str| std::fs::read_to_string(bench.path(file)).unwrap();
    let made = read("made/scenario.toml");
    bench.write("more.toml", format!("{made}{HORN}"));
    bench.say(&["schedule", "add", "more.toml", "--stream", "horn", "--out", "added"]).assert_code(0);
    let added = read("added/scenario.toml");
    let offsets = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("offset")).map(str::to_owned).collect()
    };
    assert_eq!(offsets(&added)[..2], offsets(&made)[..], "the others stay where they are");
    let ends = |file: &str| -> Vec<(String, String, i64)> {
        let check = bench.json(&["check", file]);
        let ends = check["judged"].as_array().unwrap().iter();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        ends.map(|end| (text(&end["stream"]), text(&end["word"]), end["bound_ns"].as_f64().unwrap() as i64)).collect()
    };
    let with = ends("added/scenario.toml");
    assert!(with.len() == 4 && with.iter().all(|(_, word, _)| word == "held"), "{with:?}");
    let run = bench.json(&["run", "added/scenario.toml", "--no-store"]);
    assert_eq!(run["word"], "held", "{}", run["verdict"]);

    // Taken out again, all is as it was, and no bound is higher.
    bench.say(&["schedule", "remove", "added/scenario.toml", "--stream", "horn", "--out", "removed"]).assert_code(0);
    assert_eq!(read("removed/scenario.toml").trim_end(), made.trim_end());
    bench.say(&["schedule", "remove", "made/scenario.toml", "--stream", "steer", "--out", "one"]).assert_code(0);
    for (stream, word, max) in ends("one/scenario.toml") {
        let before = with.iter().find(|(other, ..)| *other == stream).unwrap().2;
        assert!(word == "held" && max <= before, "{stream}: {max} after {before}");
    }
    // The last one leaves no gates behind.
    bench.say(&["schedule", "remove", "one/scenario.toml", "--stream", "brake", "--out", "none"]).assert_code(0);
    assert!(!read("none/scenario.toml").contains("gates"), "{}", read("none/scenario.toml"));

    let moved =
        |offset: &str| format!("{}{HORN}", made.replacen("offset = \"0s\"", &format!("offset = \"{offset}\""), 1));
    for (text, stream, said) in [
        (made.clone(), "horn", "there is no stream `horn` in traffic class 7 of `backbone`"),
        (made.clone(), "map", "name one of these with --stream: `brake`, `steer`"),
        (format!("{made}{}", HORN.replace("horn", "bell") + HORN), "horn", "stream `bell` has no `offset`"),
        (SCENARIO.to_owned(), "steer", "stream `brake` has no `offset`"),
        (moved("1us"), "horn", "the offsets of the scenario are no schedule"),
        (moved("500us"), "horn", "are not those of a schedule"),
    ] {
        bench.write("bad.toml", text);
        let refused = bench.say(&["schedule", "add", "bad.toml", "--stream", stream, "--out", "nothing"]);
        assert!(refused.assert_code(2).err.contains(said), "{said}: {}", refused.err);
        assert!(!bench.path("nothing").exists(), "a refusal writes nothing");
    }
    // Where all is taken, nothing is moved.
    let full = HORN.replace("4ms", "10us").replace("100B", "46B");
    bench.write("full.toml", format!("{made}{full}"));
    let full = bench.say(&["schedule", "add", "full.toml", "--stream", "horn", "--out", "nothing"]);
    assert!(
        full.assert_code(1).err.contains("stream `horn` finds no place among the others where they are"),
        "{}",
        full.err
    );
}

#[test]
fn a_frame_that_ends_when_its_gate_closes_makes_no_scheduled_frame_later() {
    let bench = bench();
    bench.write("topo.csv", NETWORK.replace(",8,1,", ",8,10,"));
    bench.write("task.csv", STREAMS.replace("1000,200000,200000", "1000,400000,400000"));
    bench.say(&words(&["make"], &["--gates", "scenario", "--out", "made"])).assert_code(0);
    // Frames back to back, of which with 75 bytes one ends in the 12 bytes before its gate closes.
    let other = "\n[[streams]]\nname = \"other\"\nfrom = \"1\"\nto = [\"3\"]\nperiod = \"9320ns\"\nlength = \"75B\"\n\
                 network = { class = { vlan = { pcp = 1 } } }\n";
    let made = std::fs::read_to_string(bench.path("made/scenario.toml")).unwrap();
    bench.write("mixed.toml", format!("{made}{other}"));
    let run = bench.json(&["run", "mixed.toml", "--no-store"]);
    for (stream, ns) in run["summary"]["streams"].as_array().unwrap().iter().zip([80_080, 160_080]) {
        let seen = &stream["end_to_end"]["all"];
        assert_eq!([&seen["min_ns"], &seen["max_ns"]], [ns, ns], "{stream}");
    }
}

#[test]
fn the_gates_of_a_scenario_are_exported_as_they_run() {
    let bench = Bench::new();
    bench.write("car.toml", SCENARIO);
    bench.say(&["schedule", "make", "car.toml", "--out", "made"]).assert_code(0);
    let read = |file: &str| std::fs::read_to_string(bench.path(file)).unwrap();
    let export =
        |file: &str, gates: &str, out: &str| bench.say(&["schedule", "export", file, "--gates", gates, "--out", out]);
    let made = export("made/scenario.toml", "taprio", "lines");
    assert!(made.assert_code(0).out.contains("the gates of 3 ports"), "{}", made.out);
    let script = read("lines/taprio.sh");
    // A line for each port that sends something scheduled, and the cycle is the sum of its entries.
    for (node, to) in [("n0", "S0"), ("S0", "S1"), ("S1", "n1")] {
        let case = script.split(&format!("'{node}')")).nth(1).unwrap().split(";;").next().unwrap();
        assert!(case.contains(&format!("to_{to}:?")) && case.contains("clockid CLOCK_TAI"), "{script}");
        let entries = case.lines().filter_map(|line| line.trim().strip_prefix("sched-entry S "));
        let sum: u64 = entries.map(|entry| entry.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!(sum, 2_000_000, "{case}");
    }
    let wrong = std::process::Command::new("sh").arg(bench.path("lines/taprio.sh")).arg("nobody").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("S0 S1 n0"), "{wrong:?}");
    // Without the name of an interface nothing is set.
    let unnamed = std::process::Command::new("sh").arg(bench.path("lines/taprio.sh")).arg("n0").output().unwrap();
    assert!(String::from_utf8_lossy(&unnamed.stderr).contains("name the interface that leads to S0"), "{unnamed:?}");

    // The same lists, in the module of bridges for bridges and in that of interfaces for stations.
    export("made/scenario.toml", "yang-json", "json").assert_code(0);
    let json: serde_json::Value = serde_json::from_str(&read("json/gates.json")).unwrap();
    let interfaces = json["ietf-interfaces:interfaces"]["interface"].as_array().unwrap();
    assert_eq!(interfaces.len(), 3);
    for interface in interfaces {
        let is_station = interface["name"].as_str().unwrap().starts_with("n0");
        let table = match is_station {
            true => &interface["ieee802-dot1dc-sched-if:gate-parameter-table"],
            false => &interface["ieee802-dot1q-bridge:bridge-port"]["ieee802-dot1q-sched-bridge:gate-parameter-table"],
        };
        assert_eq!(table["admin-cycle-time"]["numerator"], 2_000_000, "{interface}");
    }
    export("made/scenario.toml", "yang-xml", "xml").assert_code(0);
    assert!(read("xml/gates.xml").contains("ieee802-dot1dc-sched-if"));

    let slots = "schema_version = 2\nname = \"slots\"\nduration = \"1s\"\n[segments.network.ethernet]\nrate = \"100Mbit/s\"\n\
                 cluster_cycle = \"10ms\"\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n[[streams]]\nname = \"s\"\n\
                 from = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"46B\"\n";
    let written = |gates: &str| {
        SCENARIO.replace("sync = \"ideal\"", &format!("sync = \"ideal\"\nbridge_ports = {{ gates = {gates} }}"))
    };
    let list = "{ cycle = \"1ms\", entries = [{ open = [7], lasts = \"400us\" }, { open = [5], lasts = \"LASTS\" }, \
                { open = [0, 1], lasts = \"100us\" }] }";
    for (text, said) in [
        (SCENARIO.to_owned(), "no port of `backbone` has gates, so there is no schedule to write"),
        (slots.to_owned(), "its schedule is one of slots"),
        (
            written(&list.replace("LASTS", "1us")),
            "taprio takes none in which 60 bytes have no room, which take 4800 ns",
        ),
        (written(&list.replace("LASTS", "100500ps")), "the file holds whole nanoseconds"),
    ] {
        bench.write("bad.toml", text);
        export("bad.toml", "taprio", "none").assert_refused(&[said, "help:"]);
        assert!(!bench.path("none").exists(), "a refusal writes nothing");
    }
    // Of a list by hand the last entry lasts until the end of the cycle.
    bench.write("hand.toml", written(&list.replace("LASTS", "200us")));
    export("hand.toml", "taprio", "hand").assert_code(0);
    let hand = read("hand/taprio.sh");
    assert!(["S 80 400000", "S 20 200000", "S 03 400000"].iter().all(|entry| hand.contains(entry)), "{hand}");
    assert!(hand.contains("num_tc 8 map 1 0 2 3 4 5 6 7 1"), "code point 0 is in class 1 (table 8-5): {hand}");
}
