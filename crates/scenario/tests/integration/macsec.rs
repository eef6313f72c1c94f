//! MACsec on the links of an Ethernet segment: what it becomes, and what is refused.

use crate::support::{changed, plan, refused};
use chronoseal_core::Duration;
use chronoseal_frameauth::macsec::{CipherSuite, Confidentiality};
use chronoseal_plan::Ethernet;
use chronoseal_scenario::Code;

const TWO_SWITCHES: &str = r#"
schema_version = 2
name = "protected"
duration = "1s"
[segments.network.ethernet]
rate = "1Gbit/s"
cluster_cycle = "10ms"
class = { best_effort = {} }
switches = ["left", "right"]
macsec = { protect = { base = "1us" } }
links = [
  { between = ["left", "right"] },
  { between = ["a", "left"], rate = "100Mbit/s" },
  { between = ["b", "right"], macsec = false },
]
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "picture"
from = "a"
to = ["b"]
period = "10ms"
length = "1500B"
"#;

const KEY: &str = "macsec = { protect = { base = \"1us\" } }";

/// The changes that bring about one kind of problem each: name, code, old text, new text.
const CASES: &[(&str, Code, &str, &str)] = &[
    ("macsec_unknown_cipher_suite", Code::UnknownValue, KEY, "macsec = { cipher_suite = \"gcm-aes-xpn-128\" }"),
    ("macsec_unknown_offset", Code::UnknownValue, KEY, "macsec = { confidentiality = \"offset-20\" }"),
    ("macsec_replay_window", Code::OutOfRange, KEY, "macsec = { replay_window = -1 }"),
    ("macsec_protect_base", Code::OutOfRange, KEY, "macsec = { protect = { base = \"2s\" } }"),
    ("macsec_check_per_byte", Code::OutOfRange, KEY, "macsec = { check = { per_byte = \"-1ns\" } }"),
    (
        "macsec_slower_than_the_link",
        Code::BadLink,
        KEY,
        "macsec = { protect = { per_byte = \"200ps\" }, check = { per_byte = \"300ps\" } }",
    ),
    (
        "macsec_of_a_link_alone",
        Code::BadLink,
        "macsec = { protect = { base = \"1us\" } }\nlinks = [\n  { between = [\"left\", \"right\"]",
        "links = [\n  { between = [\"left\", \"right\"], macsec = true",
    ),
    (
        "macsec_babbling_and_attacked",
        Code::NotYet,
        "[[streams]]",
        "[[threats]]\nname = \"mallory\"\nkind = \"spoof\"\nstream = \"picture\"\nat = { link = \"a\" }\n\
         [[threats]]\nname = \"broken\"\nkind = \"babble\"\nstream = \"picture\"\nat = { link = \"a\" }\n[[streams]]",
    ),
];

#[test]
fn every_problem_of_macsec_is_shown_with_its_place() {
    for (name, code, old, new) in CASES {
        let mut text = changed(name, TWO_SWITCHES, old, new);
        if *name == "macsec_babbling_and_attacked" {
            text = text.replacen("1500B", "100B", 1);
        }
        let problems = refused(name, "macsec.toml", &text, *code);
        insta::assert_snapshot!(*name, problems.render());
    }
}

#[test]
fn links_have_what_their_segment_has_unless_they_say_no() {
    let plan = plan(TWO_SWITCHES);
    let segment = Ethernet::first(&plan).expect("it is one").segment;
    let macsec = segment.macsec.expect("it has some");
    assert_eq!((macsec.cipher_suite, macsec.confidentiality), (CipherSuite::GcmAes128, Confidentiality::From(0)));
    assert_eq!((macsec.added_bytes(), macsec.replay_window), (32, 0));
    let stations: Vec<_> = segment.wiring.stations.iter().map(|link| link.parameters.macsec).collect();
    assert_eq!((segment.wiring.trunks[0].parameters.macsec, stations), (Some(macsec), vec![Some(macsec), None]));
    // Frame, preamble, checksum, gap and MACsec at 100 Mbit/s; the delay keeps no link.
    let [first, last] = [0, 1].map(|link| segment.wiring.stations[link].parameters);
    assert_eq!(segment.frame_time_over(first, 60), Duration::from_ns(80) * (60 + 24 + 32));
    assert_eq!((first.delay(60), last.delay(60)), (Duration::from_us(1), Duration::ZERO));
    assert_eq!(segment.counted_bytes(), 24 + 32, "what a bucket counts is the same on every link");
}

#[test]
fn everything_of_it_can_be_written() {
    let all = "macsec = { cipher_suite = \"gcm-aes-256\", include_sci = false, confidentiality = \"none\", replay_window = 5, \
               protect = { base = \"3us\", per_byte = \"100ps\" }, check = { base = \"2us\", per_byte = \"200ps\" } }";
    let plan = plan(&TWO_SWITCHES.replacen(KEY, all, 1));
    let macsec = Ethernet::first(&plan).and_then(|view| view.segment.macsec).expect("it has some");
    assert_eq!((macsec.cipher_suite, macsec.confidentiality), (CipherSuite::GcmAes256, Confidentiality::None));
    assert_eq!((macsec.includes_sci, macsec.added_bytes(), macsec.replay_window), (false, 24, 5));
    let protection = macsec.line_protection();
    assert_eq!(protection.delay(1_000), Duration::from_us(5) + Duration::from_ns(300));
}

/// The longest frame of Ethernet has room: envelope frames have up to 2000 bytes (IEEE 802.3-2022 §3.2.7).
#[test]
fn the_longest_frame_can_be_protected() {
    let plan = plan(&TWO_SWITCHES.replacen("class = { best_effort = {} }", "class = { vlan = { pcp = 3 } }", 1));
    let view = Ethernet::first(&plan).expect("it is one");
    let longest = view.streams().map(|stream| view.secured_len(&stream)).max();
    assert_eq!(longest, Some(1518));
}
