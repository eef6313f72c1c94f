//! Radio segments of scenarios, live: vehicles that share a process, stations and attackers with one of their own, and the air
//! of the simulator between them, driven by the wall clock.

use std::collections::BTreeSet;

use chronoseal_core::{AttackKind, DiscardReason, Duration, EventKind};
use chronoseal_results::Outcome;
use chronoseal_runner::Run;
use chronoseal_scenario::{NoFiles, Scenario};

use crate::engines::{Engine, load, run};
use crate::street::{STREET, beyond_the_street};

/// Tries a shared machine gets where it may not be late.
const TRIES: usize = 3;

pub(crate) fn run_all() {
    stations_hear_each_other_as_they_do_in_the_simulator();
    attackers_are_refused_for_the_same_reasons();
    a_warning_goes_on_over_ethernet_and_can();
    vehicles_agree_on_changes_in_the_process_they_share();
    twenty_vehicles_drive_so_fast_that_every_look_is_a_message();
}

fn scenario(text: &str) -> Scenario {
    load(text, &NoFiles)
}

fn simulated(scenario: &Scenario) -> Run {
    run(Engine::Sim, scenario).expect("simulated")
}

/// Runs a scenario live; `None` where the host refuses.
fn live(scenario: &Scenario) -> Option<Run> {
    run(Engine::Live, scenario)
}

/// The air and its chances are those of the simulator, so nearly all that is heard there is heard here.
fn stations_hear_each_other_as_they_do_in_the_simulator() {
    let street = scenario(STREET);
    let of_sim = simulated(&street);
    let mut late = 0;
    for _ in 0..TRIES {
        let Some(run) = live(&street) else { return };
        let ([cam, denm], [cam_sim, denm_sim]) = (&run.summary.streams[..], &of_sim.summary.streams[..]) else {
            panic!("two streams")
        };
        println!("live {cam:?}\nsimulated {cam_sim:?}");
        assert!(
            10 * cam.sent.abs_diff(cam_sim.sent) <= cam_sim.sent,
            "{} messages, {} simulated",
            cam.sent,
            cam_sim.sent
        );
        assert!(10 * cam.delivered >= 9 * cam_sim.delivered, "{} of {}", cam.delivered, cam_sim.delivered);
        assert_eq!(cam.discarded.keys().collect::<Vec<_>>(), ["unknown-signer"], "who is new knows nobody");
        assert_eq!(denm.sent, denm_sim.sent);
        // Whoever is in the shared process has no processor of its own; the unit at the roadside has.
        let busy: BTreeSet<String> = run.rows.work.iter().map(|row| run.meta.node_name(row.node.0)).collect();
        assert_eq!(busy.into_iter().collect::<Vec<_>>(), ["roadside"]);
        let shared = run.meta.host.iter().find(|(name, _)| name == "in one process").unwrap();
        assert!(shared.1.contains("street-0 to street-"), "{}", shared.1);
        // A warning is for the unit; all others hear it as well and have no rows of it.
        let of_denm = run.rows.frames.iter().filter(|row| row.stream.0 == 1);
        assert!(of_denm.clone().all(|row| run.meta.node_name(row.at.0) == "roadside"), "{} rows", of_denm.count());
        // Each frame is captured once, when it was on the air.
        let carried = run.rows.segments.iter().find(|series| series.name == "frames").unwrap().values[0] as usize;
        assert_eq!(run.rows.captures.len(), carried);
        assert!(run.rows.captures.iter().all(|row| row.bytes[12..14] == [0x89, 0x47]), "GeoNetworking");
        late = denm.sent - denm.delivered;
        if late == 0 {
            let airtime_ns = 400_000;
            assert!(denm.end_to_end.all.unwrap().min_ns > airtime_ns);
            return;
        }
    }
    println!("{late} warnings late on this host in the last of {TRIES} tries");
}

fn attackers_are_refused_for_the_same_reasons() {
    let threats = "
[[threats]]
name = \"echo\"
kind = \"replay\"
stream = \"awareness\"
start = \"1500ms\"
every = \"100ms\"
count = 4
[[threats]]
name = \"ghost\"
kind = \"spoof\"
stream = \"awareness\"
start = \"2s\"
every = \"200ms\"
count = 3
";
    let Some(run) = live(&scenario(&(STREET.to_owned() + threats))) else { return };
    let reasons = |attack: AttackKind| -> Vec<Outcome> {
        run.rows.frames.iter().filter(|row| row.attack == Some(attack)).map(|row| row.outcome).collect()
    };
    let (replayed, forged) = (reasons(AttackKind::Replay), reasons(AttackKind::Spoof));
    println!("{} copies and {} forgeries heard", replayed.len(), forged.len());
    assert!(replayed.len() >= 4 * 4 && forged.len() >= 3 * 4);
    let known = replayed.iter().filter(|outcome| **outcome == Outcome::Discarded(DiscardReason::Replayed)).count();
    assert!(4 * known > 3 * replayed.len(), "only who knew nobody yet says another reason: {replayed:?}");
    let refused = [DiscardReason::IncompleteChain, DiscardReason::UnknownSigner].map(Outcome::Discarded);
    assert!(forged.iter().all(|outcome| refused.contains(outcome)) && forged.contains(&refused[0]), "{forged:?}");
    assert!(run.summary.attacks.iter().all(|attack| attack.accepted == 0), "{:?}", run.summary.attacks);
}

fn a_warning_goes_on_over_ethernet_and_can() {
    // Live clocks have to be told the time.
    let text = beyond_the_street().replacen("sync = \"ideal\"\n", "", 1);
    let Some(run) = live(&scenario(&text)) else { return };
    let rows: Vec<_> = run.rows.frames.iter().filter(|row| row.stream.0 == 1).collect();
    let came_to = |name: &str| rows.iter().filter(|row| run.meta.node_name(row.at.0) == name).count();
    println!("{} at the cluster, {} at the lamps", came_to("cluster"), came_to("lamps"));
    assert!(came_to("cluster") >= 3 && came_to("lamps") >= 3 && came_to("roadside") == 0);
    for row in rows {
        let taken = row.received_at.unwrap() - row.sent_at.unwrap();
        assert!(taken > Duration::from_us(400) && matches!(row.outcome, Outcome::Delivered | Outcome::Late), "{row:?}");
    }
    let hops = run.rows.hops.iter().filter(|hop| hop.stream.0 == 1 && !hop.origins.is_empty());
    assert_eq!(hops.map(|hop| hop.segment).collect::<BTreeSet<_>>(), BTreeSet::from([1, 2]), "both come from the air");
}

/// By this policy two neighbours fall silent together: one by its own will, the other under an order of the oracle.
fn vehicles_agree_on_changes_in_the_process_they_share() {
    let text = STREET.replacen("platform = \"unit\"", "pseudonyms = { policy = \"swap\" }", 1).replacen(
        "length = \"300m\", lanes = 2, vehicles = 8",
        "length = \"600m\", lanes = 2, vehicles = 20",
        1,
    );
    let street = scenario(&text).with(&[("seed", "23")]).unwrap();
    let changes = |run: &Run| {
        let changes = run.rows.events.iter().filter(|row| row.event.kind == EventKind::PseudonymChanged);
        changes.count()
    };
    let of_sim = changes(&simulated(&street));
    let Some(run) = live(&street) else { return };
    let of_live = changes(&run);
    println!("{of_live} changes, {of_sim} simulated");
    // Who agrees with nobody changes nothing by this policy.
    assert!(of_sim >= 4 && of_live >= 2);
    assert!(run.meta.segments[0].properties.iter().any(|(name, _)| *name == "oracle"));
}

/// Each as often as it may and as its processor lets it.
fn twenty_vehicles_drive_so_fast_that_every_look_is_a_message() {
    let text = STREET.replacen(
        "length = \"300m\", lanes = 2, vehicles = 8",
        "length = \"1km\", lanes = 2, vehicles = 20, speed = \"60m/s\", trucks = \"0%\"",
        1,
    );
    let fast = scenario(&text.replacen("platform = \"unit\"\n[[platforms]]", "\n[[platforms]]", 1));
    let of_sim = &simulated(&fast).summary.streams[0];
    assert!(of_sim.sent >= 3 * 180, "{} simulated in 3 s", of_sim.sent);
    for _ in 0..TRIES {
        let Some(run) = live(&fast) else { return };
        let cam = &run.summary.streams[0];
        println!(
            "{} messages and {} receptions, {} and {} simulated",
            cam.sent, cam.delivered, of_sim.sent, of_sim.delivered
        );
        // Whatever the host could not carry is counted.
        let lost = run.meta.warnings.iter().filter(|warning| warning.contains("frames")).count();
        assert_eq!(lost, 0, "{:?}", run.meta.warnings);
        // It needs a processor nearly of its own: a vehicle that is held up misses the turn of a message.
        if 10 * cam.sent >= 9 * of_sim.sent && 10 * cam.delivered >= 9 * of_sim.delivered {
            return;
        }
    }
    panic!("held up too often in each of {TRIES} tries");
}
