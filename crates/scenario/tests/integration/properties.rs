//! Whatever comes in: problems or a plan within the limits, never a panic.

use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, Plan};
use chronoseal_scenario::{NoFiles, limits, load, upgrade};
use proptest::prelude::*;

use crate::WHOLE;

const VEHICLE: &str = include_str!("vehicle.toml");

/// Loads and renders; a plan that comes out keeps what the rest of the bench relies on.
fn holds(text: &[u8]) {
    match load("any", text, &[], &NoFiles) {
        Ok(plan) => check(&plan),
        Err(problems) => {
            assert!(problems.count() > 0);
            problems.render();
            problems.to_json();
        }
    }
}

fn check(plan: &Plan) {
    let ethernet = Ethernet::first(plan).expect("it has such a segment");
    let network = ethernet.segment;
    assert!(network.rate.0 > 0 && network.cluster_cycle > Duration::ZERO);
    assert_eq!(network.cluster_cycle.rem_floor(network.integration_cycle), Duration::ZERO);
    assert!(plan.streams.len() <= limits::STREAMS_MAX as usize && !plan.streams.is_empty());
    for stream in &plan.streams {
        assert!(stream.sender.index() < plan.nodes.len() && !stream.receivers.is_empty());
        assert!(!stream.receivers.contains(&stream.sender));
        assert!((60..=1514).contains(&plan.secured_len(stream, &stream.hops[0])));
        assert!(stream.offset.is_none_or(|offset| offset >= Duration::ZERO && offset < stream.period));
    }
    for threat in &plan.threats {
        let last = threat.start + threat.every * i64::from(threat.count - 1);
        assert!(last < plan.duration && threat.kind.target().is_some_and(|target| target.index() < plan.streams.len()));
    }
}

const WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "18446744073709551616",
    "\"\"",
    "\"0s\"",
    "\"1ps\"",
    "\"106000000s\"",
    "\"-5ms\"",
    "\"9e9B\"",
    "\"1B\"",
    "\"60B\"",
    "\"1514B\"",
    "\"0bit/s\"",
    "[]",
    "{}",
    "[[streams]]",
    "true",
    "nan",
    "\"a\"",
    "\"b\"",
    "\"speed.0\"",
    "\"best_effort\"",
    "\u{b5}",
    "\n",
    "=",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'''",
    "#",
    ".",
    ",",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        holds(&bytes);
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        holds(text.as_bytes());
    }

    #[test]
    fn cut_off_anywhere(end in 0..WHOLE.len()) {
        holds(&WHOLE.as_bytes()[..end]);
    }

    #[test]
    fn bytes_changed(changes in proptest::collection::vec((0..WHOLE.len(), any::<u8>()), 1..6)) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        holds(&bytes);
    }

    #[test]
    fn lines_dropped_doubled_and_moved(changes in proptest::collection::vec((0..60usize, 0..60usize, 0..3u8), 1..6)) {
        let mut lines: Vec<&str> = WHOLE.lines().collect();
        for (from, to, how) in changes {
            let (from, to) = (from % lines.len(), to % lines.len());
            match how {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from]),
                _ => lines.swap(from, to),
            }
        }
        holds(lines.join("\n").as_bytes());
    }

    #[test]
    fn several_segments_with_lines_dropped_doubled_and_moved(
        changes in proptest::collection::vec((0..110usize, 0..110usize, 0..3u8), 1..6),
        words in proptest::collection::vec((0..110usize, 0..WORDS.len()), 0..3),
    ) {
        let mut lines: Vec<String> = VEHICLE.lines().map(str::to_owned).collect();
        for (from, to, how) in changes {
            let (from, to) = (from % lines.len(), to % lines.len());
            match how {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from].clone()),
                _ => lines.swap(from, to),
            }
        }
        for (line, word) in words {
            let line = line % lines.len();
            let key = lines[line].split('=').next().unwrap_or("").to_owned();
            lines[line] = format!("{key}= {}", WORDS[word]);
        }
        match load("any", lines.join("\n").as_bytes(), &[], &NoFiles) {
            Ok(plan) => for stream in &plan.streams {
                for (index, hop) in stream.hops.iter().enumerate() {
                    prop_assert!(hop.previous.is_none_or(|previous| usize::from(previous) < index));
                    prop_assert!(plan.nodes[hop.from.index()].interfaces.contains(&hop.segment));
                }
            },
            Err(problems) => drop(problems.render()),
        }
    }

    #[test]
    fn any_old_scenario_with_changes_is_upgraded_or_refused(
        which in 0..41usize,
        changes in proptest::collection::vec((0..200usize, 0..200usize, 0..3u8), 0..5),
        words in proptest::collection::vec((0..200usize, 0..WORDS.len()), 0..3),
    ) {
        let scenarios = crate::version_1::scenarios();
        let (_, text) = &scenarios[which % scenarios.len()];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (from, to, how) in changes {
            let (from, to) = (from % lines.len(), to % lines.len());
            match how {
                0 if lines.len() > 1 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from].clone()),
                _ => lines.swap(from, to),
            }
        }
        for (line, word) in words {
            let line = line % lines.len();
            let key = lines[line].split('=').next().unwrap_or("").to_owned();
            lines[line] = format!("{key}= {}", WORDS[word]);
        }
        if let Ok(new) = upgrade("any", &lines.join("\n")) {
            let again = upgrade("any", &new.text).expect("what it writes is TOML of a version");
            prop_assert_eq!(again.text, new.text);
        }
    }

    #[test]
    fn values_replaced(changes in proptest::collection::vec((0..60usize, 0..WORDS.len()), 1..5)) {
        let mut lines: Vec<String> = WHOLE.lines().map(str::to_owned).collect();
        for (line, word) in changes {
            let line = line % lines.len();
            let key = lines[line].split('=').next().unwrap_or("").to_owned();
            lines[line] = format!("{key}= {}", WORDS[word]);
        }
        holds(lines.join("\n").as_bytes());
    }

    #[test]
    fn any_override(path in "[a-z0-9._]{0,30}", value in "\\PC{0,20}") {
        let _ = load("any", WHOLE.as_bytes(), &[(path, value)], &NoFiles);
    }

    #[test]
    fn any_override_of_a_real_key(
        path in proptest::sample::select(vec![
            "duration", "seed", "candidates", "segments.network.ethernet.cluster_cycle", "streams.speed.count",
            "streams.log.period", "streams", "threats.0.count", "nodes.a.clock", "protections.tagged.hmac.tag",
        ]),
        word in 0..WORDS.len(),
    ) {
        if let Ok(plan) = load("any", WHOLE.as_bytes(), &[(path.into(), WORDS[word].into())], &NoFiles) {
            check(&plan);
        }
    }
}
