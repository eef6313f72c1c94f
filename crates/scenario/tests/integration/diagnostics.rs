//! What a person sees for each kind of problem. The pictures are in `snapshots/`.

use std::collections::BTreeSet;

use chronoseal_scenario::{Code, FileError, Files, Problems, load};

use crate::WHOLE;

/// One recording that is too long for a payload of 46 bytes, and one that is broken.
struct Recordings;

impl Files for Recordings {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "long.csv" => Ok(format!("time_us,can_id,data\n0,1,{}\n", "00".repeat(40)).into_bytes()),
            "broken.csv" => Ok(b"time_us,name,value\n0,speed,fast\n".to_vec()),
            _ => Err(FileError::Unknown),
        }
    }
}

fn problems(text: &[u8]) -> Problems {
    load("whole.toml", text, &[], &Recordings).expect_err("something is wrong")
}

/// The changes that bring about one kind of problem each: name, code, old text, new text.
const CASES: &[(&str, Code, &str, &str)] = &[
    ("syntax", Code::Syntax, "duration = \"1s\"", "duration = 1s"),
    ("syntax_duplicate_key", Code::Syntax, "duration = \"1s\"", "duration = \"1s\"\nduration = \"2s\""),
    ("schema_version", Code::OutOfRange, "schema_version = 2", "schema_version = 3"),
    ("unknown_key", Code::UnknownKey, "guard_period", "gaurd_period"),
    ("unknown_key_far_off", Code::UnknownKey, "integration_cycle", "frobnicate"),
    ("unknown_key_of_the_top", Code::UnknownKey, "guard_period = \"200us\"", "seed = 4"),
    ("missing_key", Code::MissingKey, "period = \"7ms\"\n", ""),
    ("missing_network", Code::MissingKey, "[segments.network.ethernet]", "[segmnts.network.ethernet]"),
    ("wrong_type", Code::WrongType, "to = [\"b\"]", "to = \"b\""),
    ("wrong_type_details", Code::WrongType, "class = { best_effort = { priority = 3 } }", "class = \"best_effort\""),
    ("wrong_type_no_details", Code::WrongType, "kind = \"tamper\"", "kind = { tamper = 1 }"),
    ("unknown_value", Code::UnknownValue, "\"sha-1\"", "\"sha1\""),
    ("missing_unit", Code::MissingUnit, "cluster_cycle = \"10ms\"", "cluster_cycle = \"10\""),
    ("missing_unit_number", Code::MissingUnit, "cluster_cycle = \"10ms\"", "cluster_cycle = 10"),
    ("bad_quantity", Code::BadQuantity, "rate = \"100Mbit/s\"", "rate = \"100Mbps\""),
    ("zero_rate", Code::OutOfRange, "rate = \"100Mbit/s\"", "rate = \"0bit/s\""),
    ("zero_cycle", Code::OutOfRange, "cluster_cycle = \"10ms\"", "cluster_cycle = \"0s\""),
    ("absurd_duration", Code::OutOfRange, "duration = \"1s\"", "duration = \"1000000s\""),
    ("absurd_count", Code::OutOfRange, "count = 3", "count = 1000000000"),
    ("too_many_streams", Code::TooMany, "network = { class", "count = 9999\nnetwork = { class"),
    ("bad_name", Code::BadName, "name = \"whole\"", "name = \"../whole\""),
    ("duplicate_name", Code::DuplicateName, "name = \"b\"", "name = \"a\""),
    ("duplicate_stream_by_count", Code::DuplicateName, "name = \"log\"", "name = \"speed.1\""),
    ("unknown_node", Code::UnknownName, "to = [\"b\"]", "to = [\"bb\"]"),
    ("unknown_protection", Code::UnknownName, "protection = \"tagged\"", "protection = \"taged\""),
    ("unknown_stream", Code::UnknownName, "stream = \"speed.0\"", "stream = \"speed\""),
    ("unknown_candidate", Code::UnknownName, "[\"none\", \"tagged\"]", "[\"none\", \"macsec\"]"),
    ("unknown_builtin", Code::UnknownName, "\"car-frames\"", "\"car-frame\""),
    ("choose_one", Code::ChooseOne, "hmac = {", "none = {}\nhmac = {"),
    ("choose_one_of_a_choice", Code::ChooseOne, "clock = { fixed", "clock = { seeded = {}, fixed"),
    ("period_not_dividing", Code::PeriodNotDividing, "count = 3\nperiod = \"10ms\"", "count = 3\nperiod = \"3ms\""),
    ("task_period_not_dividing", Code::PeriodNotDividing, "period = \"5ms\", wcet", "period = \"20ms\", wcet"),
    (
        "integration_cycle",
        Code::IntegrationCycleNotDividing,
        "integration_cycle = \"5ms\"",
        "integration_cycle = \"4ms\"",
    ),
    ("jitter_order", Code::JitterOrder, "mean = \"2us\"", "mean = \"20us\""),
    (
        "integration_without_waiting_switches",
        Code::BadIntegration,
        "guard_period = \"200us\"",
        "integration_policy = \"shuffling\"\ndispatch = \"immediate\"",
    ),
    (
        "preemption_without_a_gap",
        Code::BadIntegration,
        "guard_period = \"200us\"",
        "integration_policy = \"preemption\"\naccounting = \"as-published\"",
    ),
    ("bad_marker", Code::BadMarker, "guard_period = \"200us\"", "ct_marker = \"02:04:05:06\""),
    ("tag_longer_than_hash", Code::TagLength, "tag = \"16B\"", "tag = \"32B\""),
    ("tag_too_short", Code::TagLength, "tag = \"16B\"", "tag = \"3B\""),
    ("freshness_length", Code::FreshnessLength, "truncated = \"2B\"", "truncated = \"9B\""),
    (
        "freshness_without_slot",
        Code::FreshnessWithoutSlot,
        "freshness = { truncated = \"2B\" }",
        "freshness = \"cycle-counter\"",
    ),
    ("bad_key", Code::BadKey, "replay_window = 8", "key = \"00ff\""),
    ("frame_too_long", Code::FrameTooLong, "length = \"46B\"", "length = \"65500B\""),
    ("frame_too_long_alone", Code::FrameTooLong, "length = \"486B\"", "length = \"70kB\""),
    (
        "recording_too_long",
        Code::RecordingTooLong,
        "builtin = \"car-frames\", can_id = \"0x116\"",
        "file = \"long.csv\"",
    ),
    (
        "recording_broken",
        Code::BadRecording,
        "frames = { builtin = \"car-frames\", can_id = \"0x116\" }",
        "signal = { file = \"broken.csv\", name = \"speed\" }",
    ),
    (
        "recording_unreadable",
        Code::BadRecording,
        "builtin = \"car-frames\", can_id = \"0x116\"",
        "file = \"absent.csv\"",
    ),
    ("recording_without_that_frame", Code::BadRecording, "0x116", "0x7ff"),
    ("no_receivers", Code::NoReceivers, "to = [\"b\"]", "to = []"),
    ("sender_receives", Code::SenderReceives, "to = [\"b\"]", "to = [\"b\", \"a\"]"),
    ("offset_of_many", Code::OffsetOfMany, "count = 3\nperiod", "count = 3\noffset = \"1ms\"\nperiod"),
    ("ct_id_of_the_beacon", Code::BadCtId, "count = 3\nperiod", "count = 3\nnetwork = { ct_id = 4042 }\nperiod"),
    ("too_many_slots", Code::TooManySlots, "count = 3\nperiod = \"10ms\"", "count = 1000\nperiod = \"1us\""),
    ("too_many_frames", Code::TooManyFrames, "duration = \"1s\"", "duration = \"86400s\"\n#"),
    ("threat_place", Code::ThreatPlace, "at = { link = \"a\" }", "at = { link = \"b\" }"),
    ("tamper_from_own_port", Code::ThreatPlace, "at = { link = \"a\" }", "at = { segment = \"network\" }"),
    (
        "threat_without_slot",
        Code::ThreatWithoutSlot,
        "kind = \"tamper\"\nstream = \"speed.0\"\nat = { link = \"a\" }",
        "kind = \"spoof\"\nstream = \"log\"\nat = { segment = \"network\" }",
    ),
    ("threat_at_timing", Code::ThreatAtTiming, "duration = \"1s\"", "duration = \"1s\"\nfidelity = \"timing\""),
    ("threat_too_late", Code::ThreatTooLate, "start = \"100ms\"", "start = \"1500ms\""),
    ("threat_too_often", Code::ThreatTooLate, "count = 50", "count = 500"),
];

#[test]
fn the_unchanged_scenario_is_right() {
    let plan = load("whole.toml", WHOLE.as_bytes(), &[], &Recordings)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan.streams.len(), 4);
}

#[test]
fn each_problem_is_found_and_shown() {
    for (name, code, old, new) in CASES {
        assert!(WHOLE.contains(old), "{name}: `{old}` is not in the scenario");
        let mut text = WHOLE.replacen(old, new, 1);
        if *name == "freshness_without_slot" {
            text = text.replace("length = \"486B\"", "length = \"486B\"\nprotection = \"tagged\"");
        }
        if *name == "too_many_frames" {
            text = text.replace("period = \"7ms\"", "period = \"1us\"");
        }
        let problems = problems(text.as_bytes());
        assert!(problems.list().iter().any(|problem| problem.code == *code), "{name}: {}", problems.render());
        assert!(problems.list().iter().all(|problem| !problem.labels.is_empty()), "{name}: {}", problems.render());
        assert!(problems.list().iter().all(|problem| problem.help.is_some()), "{name}: {}", problems.render());
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn every_code_but_those_of_whole_files_is_shown() {
    let of_the_bus = crate::bus::CASES.iter().chain(crate::bus::COUNTED_CASES).map(|(_, code, ..)| *code);
    let of_segments = crate::segments::CASES.iter().map(|(_, code, ..)| *code);
    let of_switches = crate::switches::CASES.iter().map(|(_, code, ..)| *code);
    let of_ports = crate::ports::CASES.iter().map(|(_, code, ..)| *code);
    let of_clusters = crate::clusters::CASES.iter().map(|(_, code, ..)| *code);
    let of_stream_filters = crate::stream_filters::CASES.iter().map(|(_, code, ..)| *code);
    let of_virtual_links = crate::virtual_links::CASES.iter().map(|(_, code, ..)| *code);
    let of_networks = crate::networks::CASES.iter().map(|(_, code, ..)| *code);
    let of_replication = crate::replication::CASES.iter().map(|(_, code, ..)| *code);
    let here_shown = of_the_bus.chain(of_segments).chain(of_switches);
    let elsewhere_shown = here_shown
        .chain(of_ports)
        .chain(of_clusters)
        .chain(of_virtual_links)
        .chain(of_stream_filters)
        .chain(of_networks)
        .chain(of_replication);
    let shown: BTreeSet<Code> = CASES.iter().map(|(_, code, ..)| *code).chain(elsewhere_shown).collect();
    let elsewhere = [
        Code::FileTooLong,
        Code::NotUtf8,
        Code::Truncated,
        Code::Override,
        Code::OldVersion,
        Code::DoesNotFit,
        Code::ImportCsv,
        Code::ImportCapture,
        Code::ImportRecording,
        Code::ImportDatabase,
        Code::ImportFormat,
    ];
    for code in Code::ALL {
        assert!(shown.contains(code) != elsewhere.contains(code), "{code}");
    }
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_text() {
    let mut text = WHOLE.to_owned();
    for (old, new) in [
        ("to = [\"b\"]", "to = [\"c\"]"),
        ("tag = \"16B\"", "tag = \"64B\""),
        ("integration_cycle = \"5ms\"", "integration_cycle = \"4ms\""),
        ("link = \"a\"", "link = \"nobody\""),
        ("count = 3\nperiod = \"10ms\"", "count = 3\nperiod = \"6ms\""),
    ] {
        text = text.replacen(old, new, 1);
    }
    let problems = problems(text.as_bytes());
    let codes: Vec<&str> = problems.list().iter().map(|problem| problem.code.text()).collect();
    assert_eq!(
        codes,
        [
            "scenario::integration-cycle-not-dividing",
            "scenario::tag-length",
            "scenario::unknown-name",
            "scenario::period-not-dividing",
            "scenario::unknown-name",
        ]
    );
    insta::assert_snapshot!("several", problems.render());
    insta::assert_snapshot!("several_json", format!("{:#}", problems.to_json()));
}

#[test]
fn all_problems_of_shape_come_at_once() {
    let text = WHOLE
        .replace("duration = \"1s\"", "duration = 1")
        .replace("guard_period", "guard")
        .replace("\"sha-1\"", "\"md5\"")
        .replace("period = \"7ms\"", "period = \"7\"")
        .replace("name = \"b\"\n", "");
    let codes: Vec<&str> = problems(text.as_bytes()).list().iter().map(|problem| problem.code.text()).collect();
    assert_eq!(
        codes,
        [
            "scenario::missing-unit",
            "scenario::unknown-key",
            "scenario::unknown-value",
            "scenario::missing-key",
            "scenario::missing-unit"
        ]
    );
}

#[test]
fn a_file_that_is_no_text_says_where() {
    let mut bytes = WHOLE.as_bytes().to_vec();
    bytes[40] = 0xff;
    let problems = problems(&bytes);
    assert_eq!(problems.list()[0].code, Code::NotUtf8);
    assert!(problems.list()[0].message.contains("byte 40"), "{}", problems.render());
    insta::assert_snapshot!("not_utf8", problems.render());
}

#[test]
fn a_file_that_was_cut_off_says_so() {
    for (name, end) in [
        ("in_a_text", "name = \"wh"),
        ("in_a_list", "clock = { fixed = { offset = \"5ms\","),
        ("after_equals", "length ="),
    ] {
        let at = WHOLE.find(end.trim_end_matches('"')).expect("in the scenario") + end.len();
        let problems = problems(&WHOLE.as_bytes()[..at]);
        assert_eq!(problems.list()[0].code, Code::Truncated, "{name}: {}", problems.render());
        insta::assert_snapshot!(format!("truncated_{name}"), problems.render());
    }
    let problems = problems("name = \"\u{e9}".as_bytes().split_last().expect("not empty").1);
    assert_eq!(problems.list()[0].code, Code::Truncated);
}

/// Everything behind a bracket that is never closed is read as a part of it: one problem, which names the bracket.
#[test]
fn a_bracket_that_is_never_closed_is_one_problem_and_says_which() {
    for (whole, open) in [("clock = { fixed = { offset = \"5ms\"", '{'), ("to = [", '[')] {
        let at = WHOLE.find(whole).expect("in the scenario") + whole.find(open).expect("there is one");
        let closing = if open == '{' { '}' } else { ']' };
        let closed_at = at + WHOLE[at..].find(closing).expect("it is closed");
        let text = WHOLE[..closed_at].to_owned() + &WHOLE[closed_at + 1..];
        let problems = problems(text.as_bytes());
        let [problem] = problems.list() else { panic!("one problem, not\n{}", problems.render()) };
        assert_eq!(problem.message, format!("this is no TOML: `{open}` is never closed"));
        assert_eq!(problem.labels.first().map(|(span, _)| span.clone()), Some(at..at + 1), "{}", problems.render());
    }
}

#[test]
fn a_stream_without_a_way_is_one_problem_wherever_its_name_stands() {
    let text = r#"schema_version = 2
name = "apart"
duration = "1s"
[segments.body.can]
bit_rate = "500kbit/s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
switches = ["front"]
classes = [{ streams = ["door"], class = { vlan = { pcp = 4 } } }]
[[nodes]]
name = "handle"
on = ["body"]
[[nodes]]
name = "panel"
on = ["backbone"]
[[streams]]
name = "door"
from = "handle"
to = ["panel"]
period = "50ms"
length = "8B"
body = { id = "0x100" }
"#;
    let found = problems(text.as_bytes());
    assert_eq!(found.list()[0].code, Code::NoWay, "{}", found.render());
    let other = problems(text.replace("[\"door\"]", "[\"dor\"]").as_bytes());
    assert!(other.list().iter().any(|problem| problem.message.contains("named `dor`")), "{}", other.render());
}

#[test]
fn a_file_beyond_any_size_is_refused() {
    let bytes = vec![b'#'; chronoseal_scenario::limits::FILE_LEN_MAX + 1];
    assert_eq!(problems(&bytes).list()[0].code, Code::FileTooLong);
    let fits = vec![b'#'; chronoseal_scenario::limits::FILE_LEN_MAX];
    assert_eq!(problems(&fits).list()[0].code, Code::MissingKey);
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow() {
    for text in ["a = ".to_owned() + &"[".repeat(100_000), "a.".repeat(100_000) + "a = 1", "[a.".repeat(50_000)] {
        assert!(matches!(problems(text.as_bytes()).list()[0].code, Code::Syntax | Code::Truncated));
    }
    let json = "{\"a\":".repeat(100_000);
    assert!(matches!(problems(json.as_bytes()).list()[0].code, Code::Syntax | Code::Truncated));
}

#[test]
fn problems_beyond_the_hundredth_are_counted() {
    let unknown: String = (0..250).map(|i| format!("zz{i} = 1\n")).collect();
    let problems = problems((unknown + WHOLE).as_bytes());
    assert_eq!(problems.list().len(), Problems::KEPT_MAX);
    assert_eq!(problems.count(), 250);
    assert!(problems.to_string().contains("250 problems, the first 100 shown"), "{problems}");
}

/// What is wrong with the shape of a text hides nothing that is wrong with its meaning.
#[test]
fn problems_of_shape_and_of_meaning_come_together() {
    let text = WHOLE
        .replacen("duration = \"1s\"", "duration = \"1\"\nsed = 4", 1)
        .replacen("to = [\"b\"]", "to = [\"c\"]", 1)
        .replacen("tag = \"16B\"", "tag = \"33B\"", 1);
    let codes: BTreeSet<Code> = problems(text.as_bytes()).list().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, BTreeSet::from([Code::UnknownKey, Code::MissingUnit, Code::TagLength, Code::UnknownName]));
}

/// A name that was lost with an unusable entry is not held against those who use it.
#[test]
fn what_is_made_up_to_read_on_is_not_reported() {
    for (old, new) in [
        ("name = \"b\"", "nmae = \"b\""),
        ("name = \"b\"", "name = 7"),
        ("cluster_cycle = \"10ms\"", "cluster_cycle = \"10\""),
        ("cluster_cycle = \"10ms\"", ""),
        ("hash = \"sha-1\"", "hash = \"sha-2\""),
    ] {
        let problems = problems(WHOLE.replacen(old, new, 1).as_bytes());
        let shape = [Code::UnknownKey, Code::MissingKey, Code::WrongType, Code::MissingUnit, Code::UnknownValue];
        assert!(problems.list().iter().all(|problem| shape.contains(&problem.code)), "{}", problems.render());
    }
}
