use chronoseal_core::NodeId;
use chronoseal_frameauth::{Freshness, HashAlgorithm, Profile};
use chronoseal_plan::{Accounting, Identity, KeySource, ProtectionId};

use super::*;
use crate::testing::{best_effort, equal_frames, network};

fn hmac(plan: &mut Plan, name: &str, hash: HashAlgorithm, tag_len: u8, freshness: Freshness) -> ProtectionId {
    let profile = Profile::new(hash.mac(), 8 * u16::from(tag_len), freshness, 1).unwrap();
    let kind = ProtectionKind::Secured { profile, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: name.into(), kind });
    ProtectionId(plan.protections.len() as u16 - 1)
}

/// The candidates of the source and a few more, on `frames` frames of 60 bytes.
fn with_candidates(frames: u64) -> Plan {
    let mut plan = equal_frames(4, frames, 60);
    hmac(&mut plan, "sha-1", HashAlgorithm::Sha1, 20, Freshness::CycleCounter);
    hmac(&mut plan, "sha-256-replayable", HashAlgorithm::Sha256, 4, Freshness::None);
    hmac(&mut plan, "sha-256", HashAlgorithm::Sha256, 32, Freshness::CycleCounter);
    hmac(&mut plan, "sha-256-16", HashAlgorithm::Sha256, 16, Freshness::Truncated { bits: 16 });
    plan.protections.push(ProtectionPlan { name: "macsec".into(), kind: ProtectionKind::SizeOnly { overhead: 32 } });
    plan
}

fn costs(plan: &Plan) -> Vec<SlotCosts> {
    plan.protections.iter().map(|protection| slot_costs(plan, protection).unwrap()).collect()
}

#[test]
fn tags_of_32_bytes_cost_a_frame_on_the_wire_only() {
    let mut plan = with_candidates(40);
    let lost = |plan: &Plan| costs(plan).iter().map(|one| one.frames_lost).collect::<Vec<_>>();
    assert_eq!(lost(&plan), [0, 0, 0, 0, 0, 0]);
    network(&mut plan).accounting = Accounting::OnWire;
    assert_eq!(lost(&plan), [0, 0, 0, 1, 0, 1]);
}

#[test]
fn slots_hold_up_to_all_of_the_deadline() {
    let mut plan = equal_frames(4, 4, 60);
    let view = |plan: &Plan| Ethernet::first(plan).map(crate::slots_hold);
    let table = crate::synthesize(Ethernet::first(&plan).unwrap()).unwrap();
    let bound = crate::bounds(Ethernet::first(&plan).unwrap(), &table)[0].latency_max.expect("every stream has a slot");
    for (deadline, holds) in [(bound, true), (bound - Duration::from_ps(1), false)] {
        plan.streams[0].deadline = Some(deadline);
        assert_eq!(view(&plan), Some(holds), "a deadline of {deadline}");
    }
    plan.streams[0].deadline = None;
    network(&mut plan).cluster_cycle = Duration::from_us(100);
    plan.streams.iter_mut().for_each(|stream| stream.period = Duration::from_us(100));
    assert_eq!(view(&plan), Some(false), "there is no schedule");
}

#[test]
fn a_forger_needs_half_of_all_tags_at_one_guess_a_period() {
    let mut plan = with_candidates(40);
    let of = |plan: &Plan, at: usize| forgery(plan, &plan.protections[at]);
    let four = plan.protections.iter().position(|one| one.name == "sha-256-replayable").unwrap();
    plan.streams.iter_mut().for_each(|stream| stream.protection = ProtectionId(four as u16));
    let (one, all) = of(&plan, four);
    // 2^31 guesses at one in 10 ms; forty streams make forty guesses in that time.
    assert_eq!((one.expected_s, one.text.as_str()), (Some(2f64.powi(31) / 100.0), "249 days"));
    assert!((all.expected_s.unwrap() * 40.0 / one.expected_s.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!((of(&plan, 0).0.text.as_str(), of(&plan, 5).0.text.as_str()), ("immediately", "n/a"));
    assert!(of(&plan, 3).0.text.starts_with("10^"), "of a protection that no stream has, all streams count");
}

#[test]
fn a_plan_without_slots_has_none_to_lose() {
    let mut plan = crate::testing::cluster(1);
    assert_eq!(slot_costs(&plan, &plan.protections[0]), None);
    plan = equal_frames(2, 1, 60);
    best_effort(&mut plan.streams[0], 0);
    assert_eq!(slot_costs(&plan, &plan.protections[0]), None);
}

#[test]
fn a_tag_takes_the_time_of_its_bytes_on_a_wire() {
    let plan = with_candidates(4);
    let overheads = plan.protections.iter().map(ProtectionPlan::overhead_bytes);
    let times: Vec<_> = overheads.zip(costs(&plan)).map(|(bytes, one)| (bytes, one.overhead_time_ns)).collect();
    // 80 ns for a byte at 100 Mbit/s. A freshness value of 16 bits is two bytes more.
    let expected = [0, 20, 4, 32, 18, 32].map(|bytes| (bytes, f64::from(bytes) * 80.0));
    assert_eq!(times, expected);
}

#[test]
fn slack_is_what_the_slots_of_the_cluster_or_of_its_busiest_link_leave() {
    let mut plan = equal_frames(4, 3, 60);
    let cycle = network(&mut plan).cluster_cycle;
    plan.streams[1].period = cycle / 2;
    best_effort(&mut plan.streams[2], 0);
    let pitch = slot_pitch(Ethernet::first(&plan).unwrap(), &Ethernet::first(&plan).unwrap().streams().next().unwrap());
    // One slot for the first stream, two for the second; best effort has none.
    let slack = |plan: &Plan| slot_costs(plan, &plan.protections[0]).unwrap().slack_ns;
    assert_eq!(slack(&plan), ns(cycle - pitch * 3));
    // From 0 to 1 and from 1 to 2: the links of 1 and 2 carry the two slots of the second.
    network(&mut plan).access = Access::PerLink;
    assert_eq!(slack(&plan), ns(cycle - pitch * 2));
    // Both streams go to 2, over a link of its own.
    crate::testing::send(&mut plan.streams[0], NodeId(0), NodeId(2));
    assert_eq!(slack(&plan), ns(cycle - pitch * 3));
    // Both come from 1.
    crate::testing::send(&mut plan.streams[0], NodeId(1), NodeId(3));
    assert_eq!(slack(&plan), ns(cycle - pitch * 3));
}

#[test]
fn a_long_time_is_told_in_the_largest_unit_of_which_there_are_two() {
    const DAY: f64 = 86_400.0;
    const YEAR: f64 = 365.25 * DAY;
    for (seconds, told) in [
        (0.25, "0.2 s"),
        (119.9, "119.9 s"),
        (120.0, "2 min"),
        (7_199.0, "120 min"),
        (7_200.0, "2 h"),
        (2.0 * DAY - 1.0, "48 h"),
        (2.0 * DAY, "2 days"),
        (2.0 * YEAR - 1.0, "730 days"),
        (2.0 * YEAR, "2 years"),
        (99_999.0 * YEAR, "99999 years"),
        (1e5 * YEAR, "10^5 years"),
        (2e30 * YEAR, "10^30 years"),
    ] {
        assert_eq!(long_time(seconds), told, "{seconds} s");
    }
}
