//! Bad input: exit status 2, nothing on standard output, every problem with its place and what to write instead.

use crate::integration::support::{Bench, SMALL, forty_frames};

/// A change that breaks [`SMALL`], and what has to be said about it: code, the line pointed at, the remedy.
type Case = (&'static str, &'static str, &'static str, [&'static str; 3]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("unknown key", "duration = ", "seeed = 4\nduration = ",
        ["scenario::unknown-key", "bad.toml:3:1", "did you mean `seed`?"]),
    ("unknown key in a table", "guard_period", "guard_perod",
        ["scenario::unknown-key", "bad.toml:8:1", "did you mean `guard_period`?"]),
    ("missing unit", "\"200us\"", "\"200\"",
        ["scenario::missing-unit", "bad.toml:8:16", "`\"200us\"`"]),
    ("bare number", "\"100Mbit/s\"", "100",
        ["scenario::missing-unit", "bad.toml:6:8", "\"100Mbit/s\""]),
    ("dangling sender", "from = \"sensor\"", "from = \"sensr\"",
        ["scenario::unknown-name", "bad.toml:22:8", "did you mean `sensor`?"]),
    ("dangling receiver", "[\"display\"]", "[\"dsplay\"]",
        ["scenario::unknown-name", "bad.toml:23:7", "did you mean `display`?"]),
    ("dangling protection", "protection = \"sha1-20\"", "protection = \"sha1-2O\"",
        ["scenario::unknown-name", "bad.toml:26:14", "did you mean `sha1-20`?"]),
    ("tag longer than the hash", "tag = \"20B\"", "tag = \"21B\"",
        ["scenario::tag-length", "bad.toml:12:17", "20B"]),
    ("tag too short to mean anything", "tag = \"20B\"", "tag = \"3B\"",
        ["scenario::tag-length", "bad.toml:12:32", "4B"]),
    ("period that does not divide the cycle", "period = \"10ms\"", "period = \"3ms\"",
        ["scenario::period-not-dividing", "bad.toml:24:10", "2.5ms"]),
    ("message over the limit of a datagram", "length = \"46B\"", "length = \"65508B\"",
        ["scenario::frame-too-long", "bad.toml:25:10", "65487B"]),
    ("message over the limit because of its tag", "length = \"46B\"", "length = \"65488B\"",
        ["scenario::frame-too-long", "bad.toml:25:10", "65487B"]),
    ("zero period", "period = \"10ms\"", "period = \"0s\"",
        ["scenario::out-of-range", "bad.toml:24:10", "from 1us"]),
    ("zero rate", "\"100Mbit/s\"", "\"0bit/s\"",
        ["scenario::out-of-range", "bad.toml:6:8", "from 1kbit/s"]),
    ("absurd size", "length = \"46B\"", "length = \"99999999999999999999MB\"",
        ["scenario::", "bad.toml:25:10", "write"]),
    ("absurd duration", "duration = \"100ms\"", "duration = \"99999999999s\"",
        ["scenario::", "bad.toml:3:12", "write"]),
    ("truncated in a text", "protection = \"sha1-20\"\n", "protection = \"sha1-",
        ["scenario::truncated", "bad.toml:26:", "get the whole file"]),
    ("truncated in a list", "[\"display\"]\nperiod = \"10ms\"\nlength = \"46B\"\nprotection = \"sha1-20\"\n", "[\"display\"",
        ["scenario::truncated", "bad.toml:23:", "get the whole file"]),
];

#[test]
fn every_way_to_break_a_scenario_is_refused_with_place_and_remedy() {
    let bench = Bench::new();
    for (what, from, to, words) in CASES {
        assert_eq!(SMALL.matches(from).count(), 1, "{what}: `{from}` is not there exactly once");
        bench.write("bad.toml", SMALL.replace(from, to));
        for command in ["check", "run"] {
            println!("{command}: {what}");
            bench.say(&[command, "bad.toml"]).assert_refused(words).assert_says(&["nothing was run"]);
        }
    }
    assert!(!bench.path("results").exists(), "a refused run left results");
}

#[test]
fn absurd_counts_are_refused_before_they_cost_memory() {
    let bench = Bench::new();
    for count in ["0", "10001", "4294967296", "9223372036854775807"] {
        bench.write("bad.toml", SMALL.replace("period = \"10ms\"", &format!("count = {count}\nperiod = \"10ms\"")));
        bench.say(&["check", "bad.toml"]).assert_refused(&["scenario::", "bad.toml:24:9"]);
    }
}

/// The shape of the text and its meaning are judged in one go: nobody mends a file in two rounds.
#[test]
fn all_problems_come_at_once() {
    let bench = Bench::new();
    let text = SMALL
        .replace("duration = ", "seeed = 4\nduration = ")
        .replace("\"200us\"", "\"200\"")
        .replace("tag = \"20B\"", "tag = \"21B\"")
        .replace("from = \"sensor\"", "from = \"sensr\"")
        .replace("period = \"10ms\"", "period = \"3ms\"")
        .replace("length = \"46B\"", "length = \"46\"");
    bench.write("bad.toml", text);
    let said = bench.say(&["check", "bad.toml"]);
    said.assert_refused(&[
        "scenario::unknown-key",
        "scenario::missing-unit",
        "scenario::tag-length",
        "scenario::unknown-name",
        "scenario::period-not-dividing",
        "`length` is no size",
        "error: 6 problems in bad.toml; nothing was run",
    ]);
}

#[test]
fn problems_are_data_too() {
    let bench = Bench::new();
    bench.write("bad.toml", SMALL.replace("\"200us\"", "\"200\"").replace("rate", "rte"));
    for command in ["check", "run"] {
        let said = bench.say(&[command, "bad.toml", "--format", "json"]);
        said.assert_refused(&[]);
        let problems: serde_json::Value = serde_json::from_str(&said.err).unwrap();
        assert_eq!(problems["source"], "bad.toml");
        assert_eq!(problems["count"], 3, "{problems}");
        let places: Vec<_> = problems["problems"].as_array().unwrap().iter().collect();
        let unit = places.iter().find(|problem| problem["code"] == "scenario::missing-unit").unwrap();
        assert_eq!((&unit["labels"][0]["line"], &unit["labels"][0]["column"]), (&8.into(), &16.into()));
        assert!(unit["help"].as_str().unwrap().contains("200us"));
    }
}

#[test]
fn what_is_no_text_is_refused_where_it_stops_being_text() {
    let bench = Bench::new();
    let (before, after) = SMALL.split_once("speed").unwrap();
    bench.write("bad.toml", [before.as_bytes(), b"sp\xffed", after.as_bytes()].concat());
    bench.say(&["check", "bad.toml"]).assert_refused(&[
        "scenario::not-utf-8",
        "bad.toml:21:11",
        "save the file as UTF-8",
    ]);

    bench.write("bad.toml", [before.as_bytes(), b"sp\xc3"].concat());
    bench.say(&["check", "bad.toml"]).assert_refused(&["scenario::truncated", "bad.toml:21:11", "cut off"]);

    bench.write("bad.toml", [0u8; 1000]);
    bench.say(&["check", "bad.toml"]).assert_refused(&["bad.toml:1:1"]);
    bench.write("bad.toml", "");
    bench.say(&["check", "bad.toml"]).assert_refused(&["scenario::missing-key", "`schema_version`"]);
}

#[test]
fn a_file_that_is_not_there_is_named_with_what_to_do() {
    let bench = Bench::new();
    for command in ["check", "run"] {
        bench.say(&[command, "nowhere.toml"]).assert_refused(&["nowhere.toml", "help:"]);
        bench.say(&[command, "."]).assert_refused(&["cannot read .", "help:"]);
    }
}

#[test]
fn a_bad_override_is_refused_like_a_bad_file() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["check", "small.toml", "--set", "duraton=1s"]).assert_refused(&["did you mean `duration`?"]);
    bench.say(&["check", "small.toml", "--set", "duration=5"]).assert_refused(&["scenario::missing-unit"]);
    bench.say(&["check", "small.toml", "--set", "streams.nobody.period=5ms"]).assert_refused(&["scenario::"]);
    bench.say(&["check", "small.toml", "--set", "duration"]).assert_refused(&["PATH=VALUE"]);
}

/// Forty frames of 60 bytes fit 10 ms with 0.2 ms free after each; 5 ms hold 24.
#[test]
fn a_schedule_that_does_not_fit_is_refused_and_says_how_many_do() {
    let bench = Bench::new();
    bench.write("forty.toml", forty_frames().replace("\"10ms\"", "\"5ms\""));
    let check = bench.say(&["check", "forty.toml"]);
    check.assert_code(2).assert_says(&["24 of 40 frames fit", "forty.toml:38:", "take out 16 of the frames"]);
    assert!(check.out.contains("24"), "the candidates show how many frames fit:\n{}", check.out);
    let run = bench.say(&["run", "forty.toml"]);
    run.assert_refused(&["24 of 40 frames fit", "forty.toml:38:", "take out 16 of the frames"]);

    // The same by the command line alone, as the guide shows.
    bench.write("forty.toml", forty_frames());
    let sets: Vec<String> = ["segments.network.ethernet.cluster_cycle".to_owned()]
        .into_iter()
        .chain((0..4).map(|stream| format!("streams.{stream}.period")))
        .map(|path| format!("--set={path}=5ms"))
        .collect();
    let arguments: Vec<&str> = ["run", "forty.toml"].into_iter().chain(sets.iter().map(String::as_str)).collect();
    bench.say(&arguments).assert_refused(&["24 of 40 frames fit"]);

    let report =
        bench.say(&["check", "forty.toml", "--format", "json", &sets[0], &sets[1], &sets[2], &sets[3], &sets[4]]);
    let json = report.assert_code(2).json();
    assert_eq!((&json["infeasible"]["fitted"], &json["infeasible"]["wanted"]), (&24.into(), &40.into()));
}
