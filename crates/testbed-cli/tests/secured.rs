//! Streams over TLS and QUIC on one host: what they carry, what can be read on the wire, and what is refused.

use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_core::StreamId;
use chronoseal_results::rows::{FrameRow, Outcome};
use chronoseal_results::{Account, store};
use chronoseal_runner::{LiveOptions, Run, measure};
use chronoseal_scenario::{NoFiles, Scenario};
use chronoseal_testbed::AgentCommand;

use crate::Test;
use crate::network::{Network, SCENARIO};

pub(crate) const TESTS: &[Test] = &[
    ("nothing_is_lost_over_tls_and_quic", nothing_is_lost_over_tls_and_quic),
    ("messages_are_sent_again_on_links_that_lose_packets", messages_are_sent_again_on_links_that_lose_packets),
    (
        "over_quic_a_message_does_not_wait_for_a_lost_packet_of_another",
        over_quic_a_message_does_not_wait_for_a_lost_packet_of_another,
    ),
    ("payload_is_on_the_wire_only_over_tcp", payload_is_on_the_wire_only_over_tcp),
    ("hosts_have_no_tls", hosts_have_no_tls),
];

/// A stream of 100 Hz and images, over one transport each.
fn scenario(laws: &str, [laser, image]: [&str; 2]) -> String {
    format!(
        r#"
schema_version = 2
name = "secured"
duration = "2s"
[segments.air.link]
{laws}
[[nodes]]
name = "robot"
clock = "ideal"
[[nodes]]
name = "station"
clock = "ideal"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "10ms"
offset = "1ms"
length = "1472B"
air = {{ transport = "{laser}" }}
[[streams]]
name = "image"
from = "robot"
to = ["station"]
period = "200ms"
offset = "1ms"
length = "1400kB"
air = {{ transport = "{image}" }}
"#
    )
}

fn run(text: &str, capture: bool) -> Run {
    let scenario = Scenario::load("secured.toml", text.as_bytes(), &[], &NoFiles).unwrap();
    let prepared = Prepared::new(&scenario.plan).unwrap();
    let program = env!("CARGO_BIN_EXE_chronoseal-testbed").into();
    let agent_command = Some(AgentCommand { program, arguments: vec!["agent".into()] });
    let options = LiveOptions { agent_command, capture, ..LiveOptions::default() };
    measure(&prepared, scenario.texts(), &options, &AtomicBool::new(false)).unwrap()
}

/// Every message that was due has one end.
fn account<'r>(run: &'r Run, name: &str) -> &'r Account {
    let stream = run.summary.streams.iter().find(|stream| stream.name == name).unwrap();
    let account = &stream.receivers[0];
    assert_eq!(account.balance(), 0, "{name}: {account:?}");
    assert_eq!(account.unaccounted, 0, "{name}: {account:?}");
    account
}

fn nothing_is_lost_over_tls_and_quic(_: &Network) {
    for over in ["tls", "quic"] {
        let run = run(&scenario("", [over; 2]), false);
        for (name, due) in [("laser", 200), ("image", 10)] {
            let account = account(&run, name);
            // On a busy machine the last ones are under way when the run ends, and a station may stop some messages late.
            assert_eq!(account.in_time + account.in_flight, account.due, "{over} {name}: {account:?}");
            assert!(account.due >= due && account.in_time >= due * 8 / 10, "{over} {name}: {account:?}");
        }
        assert_eq!(run.meta.streams[0].class, over);
        assert!(run.meta.streams[0].authenticated);
        let secured = format!("{} of laser to station", over.to_uppercase());
        let how = run.meta.host.iter().find(|(name, _)| *name == secured).unwrap();
        assert!(how.1.starts_with("secured ") && how.1.ends_with("after it was dialled"), "{how:?}");
        assert!(!run.meta.warnings.iter().any(|warning| warning.contains("broke")), "{:?}", run.meta.warnings);
    }
}

/// Two of the profiles of the guide. On `wifi` 1.4 MB five times a second is more than the link carries, so there the image is out of the way.
fn messages_are_sent_again_on_links_that_lose_packets(_: &Network) {
    let gigabit = "profile = \"gigabit-ethernet\"\norder = \"strict\"\nloss = { independent = \"0.1%\" }\nqueue = \"5000 frames\"";
    let wifi = "profile = \"wifi\"\norder = \"strict\"";
    for over in ["tls", "quic"] {
        for (laws, slow) in [(gigabit, false), (wifi, true)] {
            let text = scenario(laws, [over; 2]);
            let text = if slow { text.replace("\"200ms\"", "\"1s\"").replace("1400kB", "140kB") } else { text };
            let run = run(&text, false);
            for (name, least) in [("laser", if slow { 100 } else { 190 }), ("image", 1)] {
                let account = account(&run, name);
                // What is not there yet when the run ends is under way, and nothing is lost.
                assert_eq!(account.missing, 0, "{over} {laws} {name}: {account:?}");
                assert!(account.in_time >= least, "{over} {laws} {name}: {account:?}");
            }
        }
    }
}

/// On one connection of QUIC a message that lost a packet does not hold up the next ones; over TLS it does.
fn over_quic_a_message_does_not_wait_for_a_lost_packet_of_another(_: &Network) {
    // Every tenth packet is lost, and sent again after a way of 20 ms there and back.
    let laws = "delay = { constant = \"10ms\" }\nloss = { independent = \"10%\" }";
    let overtaken = |over: &str| {
        let run = run(&scenario(laws, [over, "udp"]).replace("1400kB", "64B"), false);
        assert_eq!(account(&run, "laser").missing, 0);
        let came = |row: &&FrameRow| row.stream == StreamId(0) && row.outcome == Outcome::Delivered;
        let mut rows: Vec<&FrameRow> = run.rows.frames.iter().filter(came).collect();
        rows.sort_by_key(|row| row.sequence);
        rows.windows(2).filter(|pair| pair[0].received_at > pair[1].received_at).count()
    };
    assert_eq!(overtaken("tls"), 0);
    assert!(overtaken("quic") > 3);
}

fn payload_is_on_the_wire_only_over_tcp(_: &Network) {
    // A datagram shows it; the same seed fills the messages of all these runs.
    let payload = payload_of_first_stream();
    for (over, is_plain) in [("tcp", true), ("tls", false), ("quic", false)] {
        let run = run(&scenario("", [over, "udp"]).replace("1400kB", "64B").replace("\"2s\"", "\"300ms\""), true);
        let packets: Vec<&[u8]> = run.rows.captures.iter().map(|row| &row.bytes[..]).collect();
        let seen = packets.iter().filter(|bytes| bytes.windows(payload.len()).any(|part| part == payload)).count();
        assert!(packets.len() > 60, "{over}: {} packets", packets.len());
        assert_eq!(seen > 0, is_plain, "{over}: in {seen} of {} packets", packets.len());
        assert!(account(&run, "laser").in_time > 25);
    }
}

/// Some bytes behind the numbers that every message of the first stream carries.
fn payload_of_first_stream() -> Vec<u8> {
    let run = run(&scenario("", ["udp", "udp"]).replace("1400kB", "64B").replace("\"2s\"", "\"100ms\""), true);
    let long = run.rows.captures.iter().find(|row| row.bytes.len() > 1_400).unwrap();
    long.bytes[200..232].to_vec()
}

fn hosts_have_no_tls(network: &Network) {
    let agents = network.agents();
    for (over, title) in [("tls", "TLS"), ("quic", "QUIC")] {
        let output = network.controller(&SCENARIO.replace("\"tcp\"", &format!("\"{over}\"")), over, &[]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(&format!("stream image goes over {title}")), "{error}");
        assert!(error.contains("chronoseal run FILE --engine live"), "{error}");
        assert!(store::read(&network.path(over)).is_err(), "nothing was stored");
    }
    drop(agents);
}
