//! Lossy links: what holds, what nobody can promise, and what certainly does not hold.

use chronoseal_report::Block;
use chronoseal_scenario::{FileError, Files};
use chronoseal_wire::{ipv4, udp};

use crate::{changed, checked, verdict, verdicts_with};

const LINK: &str = r#"
schema_version = 2
name = "link"
duration = "1s"
[segments.air.link]
rate = "54Mbit/s"
delay = { uniform = { min = "1ms", max = "3ms" } }
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "10ms"
length = "9kB"
deadline = "10ms"
"#;

#[test]
fn a_link_holds_with_a_bound_and_not_with_more_than_it_carries() {
    let cases = [
        ("as it is", "rate", "rate", "held", "every deadline holds"),
        ("late", "deadline = \"10ms\"", "deadline = \"4ms\"", "not proven", "laser"),
        ("losses", "delay", "loss = { independent = \"1%\" }\ndelay", "not proven", "loses packets"),
        (
            "endless",
            "{ uniform = { min = \"1ms\", max = \"3ms\" } }",
            "{ normal = { mean = \"1ms\", deviation = \"1ms\" } }",
            "not proven",
            "without an end",
        ),
        ("queue", "rate", "queue = \"6 frames\"\nrate", "broken", "never arrives whole"),
        (
            "given up",
            "period = \"10ms\"",
            "period = \"10ms\"\nair = { reassembly_timeout = \"3ms\" }",
            "not proven",
            "a message up 3ms after",
        ),
        ("all lost", "delay", "loss = { independent = \"100%\" }\ndelay", "broken", "no message ever comes"),
        ("all altered", "delay", "corrupt = \"100%\"\ndelay", "broken", "no message ever comes"),
        ("overload", "period = \"10ms\"", "period = \"1ms\"", "broken", "overloaded"),
    ];
    for (name, from, to, word, said) in cases {
        let (found, text) = verdict(&changed(LINK, from, to));
        assert_eq!(found.replace('-', " "), word, "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
}

#[test]
fn a_link_without_an_end_has_percentiles_of_its_law() {
    // Six packets of 1,514 bytes and one of 182, each with a delay of its own: exact figures, not a run's.
    let normal = "{ normal = { mean = \"13ms\", deviation = \"22ms\" } }";
    let text = changed(LINK, "{ uniform = { min = \"1ms\", max = \"3ms\" } }", normal);
    let sections = checked(&text).document.sections;
    let tables = sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let law = |table: &&chronoseal_report::Table| table.caption.contains("the link alone");
    let table = tables.clone().find(law).expect("the page of a link has it");
    let found: Vec<f64> = table.rows[0][1..].iter().filter_map(|cell| cell.number).collect();
    assert_eq!(found.len(), 5, "mean, deviation and three percentiles: {found:?}");
    for (found, expected) in found.iter().zip([43.637, 13.773, 42.816, 79.485, 93.709]) {
        assert!((found - expected).abs() < 0.01, "{found}, {expected}");
    }
}

/// A link without a rate on which messages of 1 ms overtake each other, with this end of its stream.
fn disordered(spread: &str, stream: &str) -> String {
    let text = changed(LINK, "rate = \"54Mbit/s\"", "queue = \"100000 frames\"");
    let text = changed(&text, "min = \"1ms\", max = \"3ms\"", &format!("min = \"0ms\", max = \"{spread}\""));
    changed(&text, "period = \"10ms\"\nlength = \"9kB\"\ndeadline = \"10ms\"", stream)
}

#[test]
fn a_message_given_up_for_its_time_at_the_rate_is_broken_and_has_no_percentiles() {
    let text = changed(
        LINK,
        "rate = \"54Mbit/s\"\ndelay = { uniform = { min = \"1ms\", max = \"3ms\" } }",
        "rate = \"1Mbit/s\"",
    );
    let text = changed(&text, "period = \"10ms\"", "period = \"200ms\"\nair = { reassembly_timeout = \"10ms\" }");
    let text = changed(&text, "deadline = \"10ms\"", "deadline = \"150ms\"");
    let (word, said) = verdict(&text);
    assert_eq!(word, "broken", "{said}");
    assert!(said.contains("gives it up after 10ms"), "{said}");
    let rendered = format!("{:?}", checked(&text).document.sections);
    assert!(rendered.contains("reassembly_timeout") && !rendered.contains("100.00"), "{rendered}");
    let (word, said) = verdict(&changed(&text, "reassembly_timeout = \"10ms\"", "reassembly_timeout = \"1s\""));
    assert_eq!(word, "held", "{said}");
}

#[test]
fn what_overtakes_a_sealed_message_is_held_against_its_freshness() {
    let full = |window: u8| format!("freshness = \"full\", replay_window = {window}");
    let truncated = |sent: &str| format!("freshness = {{ truncated = \"{sent}\" }}, replay_window = 64");
    let rising = "freshness = { rising = { sent = \"1B\" } }".to_owned();
    let cases = [
        (full(10), "10ms", "", "not-proven"),
        (full(11), "10ms", "", "held"),
        (full(8), "100ms", "", "not-proven"),
        (truncated("4bit"), "10ms", "", "not-proven"),
        (truncated("1B"), "10ms", "", "held"),
        (rising.clone(), "10ms", "", "not-proven"),
        (rising, "10ms", "order = \"strict\"", "held"),
    ];
    for (freshness, spread, order, word) in cases {
        let stream = "period = \"1ms\"\nlength = \"100B\"\nprotection = \"g\"\ndeadline = \"200ms\"";
        let text = disordered(spread, stream);
        let text = changed(&text, "queue =", &format!("{order}\nqueue ="));
        let text = format!(
            "{text}\n[[protections]]\nname = \"g\"\nmac = {{ algorithm = \"gmac-aes-128\", tag = \"16B\", {freshness} }}\n"
        );
        let (found, said) = verdict(&text);
        assert_eq!(found.replace(' ', "-"), word, "{freshness} {spread} {order}: {said}");
        assert!(word == "held" || said.contains("can overtake one"), "{freshness}: {said}");
    }
}

#[test]
fn more_messages_in_part_than_a_receiver_keeps_are_not_proven() {
    let cases = [
        ("200ms", "1ms", "9000B", "held", ""),
        ("900ms", "1ms", "9000B", "not-proven", "a receiver keeps 256"),
        ("900ms", "100ms", "10MB", "not-proven", "a receiver keeps 6"),
        ("900ms", "10us", "100B", "not-proven", "for a copy"),
    ];
    for (spread, period, length, word, part) in cases {
        let stream = format!("period = \"{period}\"\nlength = \"{length}\"\ndeadline = \"1s\"");
        let (found, said) = verdict(&disordered(spread, &stream));
        assert_eq!(found.replace(' ', "-"), word, "{spread} {period} {length}: {said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_station_that_has_to_answer_more_than_fits_is_broken() {
    let text = changed(LINK, "rate = \"54Mbit/s\"", "rate = \"10Mbit/s\"");
    let text = changed(&text, "length = \"9kB\"", "length = \"1000B\"");
    let echo = "[[streams]]\nname = \"echo\"\nfrom = \"station\"\nanswers = \"laser\"\nlength = \"20kB\"\ndeadline = \"100ms\"\n";
    let (word, said) = verdict(&format!("{text}\n{echo}"));
    assert_eq!(word, "broken", "{said}");
    let lossy = changed(&text, "rate =", "loss = { independent = \"1%\" }\nrate =");
    assert_eq!(verdict(&format!("{lossy}\n{echo}")).0.replace(' ', "-"), "not-proven");
}

/// Two datagrams, 10 ms apart.
struct Lidar;

impl Files for Lidar {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileError> {
        let mut frame = vec![0; 142];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[42..].fill(7);
        udp::emit(&mut frame[34..]);
        let ends = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let header =
            ipv4::Header { source: ends.0, destination: ends.1, identification: 1, protocol: ipv4::PROTOCOL_UDP };
        header.emit((0, 108), false, &mut frame[14..]);
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let packet = |at_us: u32| [words(&[0, at_us, 142, 142]), frame.clone()].concat();
        Ok([words(&[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 1]), packet(0), packet(10_000)].concat())
    }
}

#[test]
fn a_stream_beside_a_recording_is_called_what_it_is() {
    let recording =
        "[[recordings]]\nname = \"lidar\"\ntraffic = { file = \"lidar.pcap\" }\nfrom = \"robot\"\nto = [\"station\"]\n";
    let judged = verdicts_with(&format!("{LINK}{recording}"), &Lidar);
    let of = |name: &str| judged.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {judged:?}"));
    let [_, kind, word, why] = of("laser");
    assert_eq!((kind.as_str(), word.as_str()), ("stream", "not-proven"), "{why}");
    assert!(why.contains("its sender replays a recording beside it"), "{why}");
    let [_, kind, word, why] = of("lidar");
    assert_eq!((kind.as_str(), word.as_str()), ("recording", "not-checked"), "{why}");
    assert!(why.contains("has no period of its own"), "{why}");
}
