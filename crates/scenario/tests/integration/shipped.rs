//! The scenarios of the project resolve, and mean what their comments say.

use chronoseal_core::{AttackKind, Bytes, Duration};
use chronoseal_plan::{AttackPlace, Ethernet, Fidelity, PayloadPlan, Plan, StreamClass};
use chronoseal_scenario::{NoFiles, load};

const SHIPPED: [(&str, &str); 8] = [
    ("babbler.toml", include_str!("../../../../scenarios/babbler.toml")),
    ("first.toml", include_str!("../../../../scenarios/first.toml")),
    ("brake-by-wire.toml", include_str!("../../../../scenarios/brake-by-wire.toml")),
    ("forger.toml", include_str!("../../../../scenarios/forger.toml")),
    ("group-key.toml", include_str!("../../../../scenarios/group-key.toml")),
    ("star.toml", include_str!("../../../../scenarios/star.toml")),
    ("star-tsn.toml", include_str!("../../../../scenarios/star-tsn.toml")),
    ("star-hmac.toml", include_str!("../../../../scenarios/star-hmac.toml")),
];

fn plan(name: &str) -> Plan {
    let (_, text) = SHIPPED.iter().find(|(file, _)| *file == name).expect("a shipped scenario");
    load(name, text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

#[test]
fn every_shipped_scenario_resolves_under_its_own_name() {
    for (file, _) in SHIPPED {
        assert_eq!(format!("{}.toml", plan(file).name), file);
    }
}

#[test]
fn brake_by_wire_replays_recordings_and_compares_protections() {
    let plan = plan("brake-by-wire.toml");
    assert_eq!(plan.nodes.len(), 4);
    assert_eq!(plan.candidates.len(), 7);
    let recorded = |stream: &&chronoseal_plan::StreamPlan| matches!(stream.payload, PayloadPlan::Recorded { .. });
    assert_eq!(plan.streams.iter().filter(recorded).count(), 4);
    for recording in &plan.recordings {
        assert!(recording.samples.len() > 100, "{} has {} samples", recording.name, recording.samples.len());
        assert!(recording.source.contains("MIT"), "{}", recording.source);
        assert!(recording.samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
        assert!(recording.length > recording.samples.last().unwrap().at);
    }
    let heading = plan.recordings.iter().find(|recording| recording.name == "heading").unwrap();
    assert_eq!(heading.unit, "rad");
    assert_eq!(heading.samples[0].value, Some(1.9844));
    assert_eq!(heading.samples[0].bytes, 1.9844f64.to_be_bytes());
    let names: Vec<&str> = plan.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert!(names.contains(&"brake-command.0") && names.contains(&"brake-command.3"));
}

#[test]
fn the_forger_tries_all_three_attacks_from_both_places() {
    let plan = plan("forger.toml");
    for kind in [AttackKind::Spoof, AttackKind::Tamper, AttackKind::Replay] {
        assert!(plan.threats.iter().any(|threat| threat.kind.attack() == kind));
    }
    assert!(plan.attackers.iter().any(|attacker| matches!(attacker.place, AttackPlace::OnSegment(_))));
    assert!(plan.attackers.iter().any(|attacker| matches!(attacker.place, AttackPlace::OnLink(..))));
}

#[test]
fn the_star_carries_178_000_frames_a_second_and_fills_two_links_to_80_percent() {
    for (file, fidelity) in [("star.toml", Fidelity::Timing), ("star-hmac.toml", Fidelity::Bytes)] {
        let plan = plan(file);
        assert_eq!(plan.fidelity, fidelity);
        let network = Ethernet::first(&plan).expect("it is one");
        let streams: Vec<_> = network.streams().collect();
        assert!(streams.iter().all(|stream| matches!(stream.class, StreamClass::BestEffort { .. })));
        let second = Duration::from_s(1);
        let frames: i64 = plan.streams.iter().map(|stream| second.div_floor(stream.period)).sum();
        assert_eq!(frames, 12 * 4_000 + 2 * 65_019);
        for flood in &streams[12..] {
            let load = network.frame_time_of(flood).as_secs_f64() / flood.stream.period.as_secs_f64();
            assert!((load - 0.8).abs() < 1e-4, "{load}");
        }
        assert_eq!(network.secured_len(&streams[0]), 106);
        assert!(network.segment.queue_len_max >= Bytes(1_000_000).0);
    }
}
