use chronoseal_frameauth::{Freshness, HashAlgorithm, Profile};
use chronoseal_plan::{Accounting, Identity, KeySource, OperationCost, TaskPlan};

use super::*;
use crate::testing::{best_effort, equal_frames, network};

/// Every plan here has an Ethernet segment.
fn check(plan: &Plan) -> CheckReport {
    super::check(plan).unwrap()
}

fn hmac(plan: &mut Plan, name: &str, hash: HashAlgorithm, tag_len: u8, freshness: Freshness) -> ProtectionId {
    let profile = Profile::new(hash.mac(), 8 * u16::from(tag_len), freshness, 1).unwrap();
    let kind = ProtectionKind::Secured { profile, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: name.into(), kind });
    ProtectionId(plan.protections.len() as u16 - 1)
}

/// The candidates of the source and a few more, on `frames` frames of 60 bytes.
fn with_candidates(frames: u64) -> Plan {
    let mut plan = equal_frames(4, frames, 60);
    plan.candidates = vec![
        ProtectionId(0),
        hmac(&mut plan, "sha-1", HashAlgorithm::Sha1, 20, Freshness::CycleCounter),
        hmac(&mut plan, "sha-256-replayable", HashAlgorithm::Sha256, 4, Freshness::None),
        hmac(&mut plan, "sha-256", HashAlgorithm::Sha256, 32, Freshness::CycleCounter),
        hmac(&mut plan, "sha-256-16", HashAlgorithm::Sha256, 16, Freshness::Truncated { bits: 16 }),
    ];
    plan.protections.push(ProtectionPlan { name: "macsec".into(), kind: ProtectionKind::SizeOnly { overhead: 32 } });
    plan.candidates.push(ProtectionId(plan.protections.len() as u16 - 1));
    plan
}

#[test]
fn tags_of_32_bytes_cost_a_frame_on_the_wire_only() {
    let mut plan = with_candidates(40);
    let lost = |plan: &Plan| check(plan).candidates.iter().map(|one| one.frames_lost).collect::<Vec<_>>();
    assert_eq!(lost(&plan), [0, 0, 0, 0, 0, 0]);
    network(&mut plan).accounting = Accounting::OnWire;
    assert_eq!(lost(&plan), [0, 0, 0, 1, 0, 1]);
}

#[test]
fn the_lightest_stops_forgery_and_replay_with_a_hash_for_new_designs() {
    let report = check(&with_candidates(40));
    assert_eq!(report.lightest.as_deref(), Some("sha-256-16"), "{}", report.lightest_reason);
    assert!(report.holds && report.feasible && report.infeasible.is_none());
}

#[test]
fn what_authenticates_nothing_is_lightest_only_when_alone() {
    let mut plan = with_candidates(40);
    let last = plan.candidates.len() - 1;
    let (none, replayable, macsec) = (plan.candidates[0], plan.candidates[2], plan.candidates[last]);
    plan.candidates = vec![none, replayable, macsec];
    let report = check(&plan);
    assert_eq!(report.lightest.as_deref(), Some("sha-256-replayable"));
    assert!(report.lightest_reason.contains("accepts replayed frames"));
    plan.candidates = vec![macsec, none];
    let report = check(&plan);
    assert_eq!(report.lightest.as_deref(), Some("none"));
    assert!(report.lightest_reason.contains("stops a forger"));
}

#[test]
fn a_candidate_that_does_not_fit_says_why_and_is_not_chosen() {
    let mut plan = with_candidates(48);
    network(&mut plan).accounting = Accounting::OnWire;
    let report = check(&plan);
    let long = report.candidates.iter().find(|one| one.protection == "sha-256").unwrap();
    assert!(!long.fits && long.slack_ns < 0.0);
    assert!(long.why_not.as_ref().unwrap().contains("47 of 48 frames fit"), "{:?}", long.why_not);
    assert!(report.candidates.iter().filter(|one| one.fits).all(|one| one.slack_ns >= 0.0));
    assert_eq!(report.lightest.as_deref(), Some("sha-256-16"));
}

#[test]
fn a_stream_may_take_all_of_its_deadline_and_no_longer() {
    let mut plan = equal_frames(4, 4, 60);
    let bound = check(&plan).streams[0].latency_max_ns.expect("every stream has a slot");
    let bound = Duration::from_ps((bound * 1e3).round() as i64);
    for (deadline, holds) in [(bound, true), (bound - Duration::from_ps(1), false)] {
        plan.streams[0].deadline = Some(deadline);
        let report = check(&plan);
        assert_eq!((report.streams[0].holds, report.holds), (Some(holds), holds), "a deadline of {deadline}");
        let verdict = if holds { "4 slots in a cluster cycle" } else { "1 streams can arrive after their deadline" };
        assert!(report.verdict.contains(verdict), "{}", report.verdict);
    }
}

#[test]
fn a_forger_needs_half_of_all_tags_at_one_guess_a_period() {
    let report = check(&with_candidates(40));
    let find = |name: &str| report.candidates.iter().find(|one| one.protection == name).unwrap();
    let four = find("sha-256-replayable");
    // 2^31 guesses at one in 10 ms; forty streams make forty guesses in that time.
    assert_eq!(four.forgery_one_stream.expected_s, Some(2f64.powi(31) / 100.0));
    assert_eq!(four.forgery_one_stream.text, "249 days");
    let all = four.forgery_all_streams.expected_s.unwrap();
    assert!((all * 40.0 / four.forgery_one_stream.expected_s.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(find("none").forgery_one_stream.text, "immediately");
    assert_eq!(find("macsec").forgery_one_stream.text, "n/a");
    assert!(find("sha-256").forgery_one_stream.text.starts_with("10^"));
    assert!(find("none").replayable && find("sha-256-replayable").replayable && !find("sha-256").replayable);
    assert!(find("sha-1").kept_for_comparison && !find("sha-256").kept_for_comparison);
}

#[test]
fn the_processor_share_counts_tasks_sealing_and_checks() {
    let mut plan = with_candidates(4);
    let operation = HashAlgorithm::Sha256.operation().0.to_owned();
    let (base, per_byte) = (Duration::from_us(4), Duration::from_us(1));
    plan.platforms[0].costs.push(OperationCost { operation, base, per_byte });
    plan.nodes[2].tasks.push(TaskPlan {
        name: "control".into(),
        period: Duration::from_ms(10),
        wcet: Duration::from_us(900),
    });
    let report = check(&plan);
    let find = |name: &str| report.candidates.iter().find(|one| one.protection == name).unwrap();
    // 46 bytes of payload, 2 of the stream's number and 8 of the freshness value: 60 us to seal one frame and 60 us to check another, in
    // 10 ms.
    assert!((find("sha-256").processor_share_max_percent - 10.2).abs() < 1e-9);
    assert!((find("none").processor_share_max_percent - 9.0).abs() < 1e-9);
    assert_eq!(find("none").busiest_node, "ecu2");
}

#[test]
fn without_candidates_the_protections_in_use_are_compared() {
    let mut plan = with_candidates(2);
    plan.candidates.clear();
    plan.streams[1].protection = ProtectionId(3);
    let names: Vec<_> = check(&plan).candidates.into_iter().map(|one| one.protection).collect();
    assert_eq!(names, ["none", "sha-256"]);
}

#[test]
fn an_infeasible_plan_is_reported_with_what_fits() {
    let mut plan = with_candidates(40);
    network(&mut plan).cluster_cycle = Duration::from_ms(5);
    plan.streams.iter_mut().for_each(|stream| stream.period = Duration::from_ms(5));
    let report = check(&plan);
    let infeasible = report.infeasible.unwrap();
    assert_eq!((infeasible.fitted, infeasible.wanted), (24, 40));
    assert!(!report.holds && report.verdict.contains("24 of 40 frames fit"));
    assert!(report.streams.iter().all(|stream| stream.latency_max_ns.is_none() && stream.unbounded.is_some()));
    assert_eq!(report.lightest, None);
}

#[test]
fn a_protection_that_counts_slots_does_not_fit_where_frames_have_none() {
    let mut plan = equal_frames(2, 2, 60);
    let counted = Profile::new(HashAlgorithm::Sha256.mac(), 128, Freshness::CycleCounter, 1).unwrap();
    let kind = ProtectionKind::Secured { profile: counted, key: KeySource::OfStream, identity: Identity::Number };
    plan.protections.push(ProtectionPlan { name: "counted".into(), kind });
    plan.candidates = vec![ProtectionId(plan.protections.len() as u16 - 1)];
    assert_eq!(check(&plan).lightest.as_deref(), Some("counted"));
    best_effort(&mut plan.streams[1], 0);
    let report = check(&plan);
    assert!(report.lightest.is_none() && !report.candidates[0].fits);
    assert!(report.candidates[0].why_not.as_ref().unwrap().contains("best-effort frames like those of `s.1`"));
}

#[test]
fn an_empty_plan_is_no_stumbling_block() {
    let plan = crate::testing::cluster(1);
    let report = check(&plan);
    assert!(report.holds && report.candidates.is_empty() && report.lightest.is_none());
}

#[test]
fn a_tag_takes_the_time_of_its_bytes_on_a_wire() {
    let report = check(&with_candidates(4));
    let times: Vec<_> = report.candidates.iter().map(|one| (one.overhead_bytes, one.overhead_time_ns)).collect();
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
    plan.candidates = vec![ProtectionId(0)];
    let pitch = slot_pitch(Ethernet::first(&plan).unwrap(), &Ethernet::first(&plan).unwrap().streams().next().unwrap());
    // One slot for the first stream, two for the second; best effort has none.
    let slack = |plan: &Plan| check(plan).candidates[0].slack_ns;
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
fn of_processors_that_are_equally_busy_the_first_is_named() {
    let mut plan = with_candidates(4);
    for node in [1, 3] {
        let (period, wcet) = (Duration::from_ms(10), Duration::from_us(900));
        plan.nodes[node].tasks.push(TaskPlan { name: "control".into(), period, wcet });
    }
    assert!(check(&plan).candidates.iter().all(|one| one.busiest_node == "ecu1"));
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
