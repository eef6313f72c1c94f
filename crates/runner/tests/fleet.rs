//! Fleets on the engine: small ones, whole runs.

use std::sync::Arc;

use chronoseal_catalog::BuildError;
use chronoseal_core::Duration;
use chronoseal_media::radio::{LogDistance, Position, Propagation};
use chronoseal_plan::{OperationCost, Plan, PlatformPlan};
use chronoseal_runner::{drive_fleet, drive_plan};
use chronoseal_sim::Fingerprint;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::TicketPeriods;
use chronoseal_v2x::vss::{ChangePolicy, Condition, Preset, Spread};
use chronoseal_v2x_fleet::eavesdropper::{Field, Fields, Tracker};
use chronoseal_v2x_fleet::evaluation::{Control, Trial};
use chronoseal_v2x_fleet::policy::{Cooperation, Policy};
use chronoseal_v2x_fleet::road::Trips;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, FleetError, FleetOutcome, WatchConfig};
use chronoseal_v2x_fleet::station::Kept;

fn highway(lanes: usize) -> Highway {
    Highway {
        length_m: 1_000.0,
        is_two_way: false,
        lanes,
        flow_per_lane_per_h: 1_500.0,
        warm_up: Duration::from_s(40),
        ..Highway::default()
    }
}

fn road(lanes: usize, duration: Duration) -> Trips {
    Highway { duration, ..highway(lanes) }.drive().expect("a road")
}

fn outcome_on(trips: &Arc<Trips>, policy: Policy, change: impl FnOnce(&mut FleetConfig)) -> FleetOutcome {
    let mut config = FleetConfig::new(Arc::clone(trips), policy);
    change(&mut config);
    drive_fleet(&config).expect("a fleet that can drive")
}

fn outcome(policy: Policy, change: impl FnOnce(&mut FleetConfig)) -> FleetOutcome {
    outcome_on(&Arc::new(road(2, Duration::from_s(16))), policy, change)
}

fn every(seconds: u64, silence_s: u64) -> Policy {
    let later = vec![Condition { time_s: Some(Spread::exactly(seconds)), ..Condition::default() }];
    let silence_ms = (silence_s > 0).then_some(Spread::exactly(silence_s * 1_000));
    let change = ChangePolicy { later, silence_ms, ..Preset::None.policy() };
    Policy { name: "often".into(), change, cooperation: Cooperation::Alone }
}

#[test]
fn without_changes_every_trip_is_linked() {
    let outcome = outcome(Preset::None.into(), |_| ());
    let score = outcome.score(&Tracker::default());
    assert!(score.trips > 25, "{score:?}");
    assert_eq!((score.trips_linked_ppm(), score.changes), (1_000_000, 0));
    assert_eq!(outcome.safety.changes, 0);
    assert_eq!(outcome.pseudonyms, score.trips);
}

#[test]
fn changes_without_silence_hide_hardly_anybody_and_cost_nothing() {
    let outcome = outcome(every(5, 0), |_| ());
    let score = outcome.score(&Tracker::default());
    assert!(score.changes > 40, "{score:?}");
    assert!(score.changes_linked_ppm() > Some(980_000), "{score:?}");
    assert_eq!((outcome.safety.silence, outcome.safety.messages_withheld), (Duration::ZERO, 0));
}

#[test]
fn silence_costs_awareness_and_does_not_help_the_eavesdropper() {
    // Those there at the start change together and are silent for long.
    let trips = Arc::new(road(3, Duration::from_s(18)));
    let [open, silent] = [0, 8].map(|silence_s| outcome_on(&trips, every(9, silence_s), |_| ()));
    let scores = [&open, &silent].map(|outcome| outcome.score(&Tracker::default()));
    assert!(scores[1].changes > 10, "{scores:?}");
    assert!(scores[1].changes_linked_ppm() <= scores[0].changes_linked_ppm(), "{scores:?}");
    let (open, silent) = (&open.safety, &silent.safety);
    assert!(silent.messages_withheld > 500 && open.messages_withheld == 0);
    let unaware = [open, silent].map(|safety| safety.unaware_around_change_ppm().expect("changes"));
    assert!(unaware[1] > 400_000 && unaware[0] < 50_000, "{unaware:?}");
    assert!(silent.unaware_ppm() > open.unaware_ppm());
}

/// All change at the same moments.
fn at_once(seconds: i64, silence_ms: u64) -> Policy {
    let period = Duration::from_s(seconds);
    Policy { cooperation: Cooperation::AtOnce { period }, ..Preset::None.into() }
        .with_silence(Spread::exactly(silence_ms))
}

#[test]
fn places_dealt_out_at_random_leave_chance() {
    let trips = road(2, Duration::from_s(17));
    let mut control = Control::default();
    let mut config = FleetConfig::new(trips, at_once(5, 1_000));
    config.tells_dimensions = false;
    let honest = drive_fleet(&config).expect("a fleet that can drive");
    for seed in 0..10 {
        control.add(&FleetConfig { seed, ..config.clone() }, &honest);
    }
    let score = Trial::of(&config, &honest, None).score;
    assert!(score.changes > 60 && score.changes_linked_ppm() > Some(900_000), "{score:?}");
    assert!(control.is_chance(), "{:?}", control.changes_linked());
    // All ends of one moment could go on as any of its beginnings, so a random pairing of n finds one: on paper the same
    // as who picks for each itself. Vehicles that leave or appear meanwhile move the figure a little.
    let hits: u64 = control.dealt.iter().map(|score| score.changes_linked).sum();
    let by_chance = 10.0 * score.linked_by_chance;
    assert!((hits as f64 - by_chance).abs() < 4.0 * by_chance.sqrt(), "{hits} for {by_chance}");
    assert!(score.linked_by_chance < 0.1 * score.changes as f64, "chance is poor");
}

#[test]
fn learned_motion_keeps_true_pairs_within_the_gate() {
    // The gate is meant to lose one true pair in 10,000; drivers are not as the filter's model, so it may lose a few.
    let config = FleetConfig::new(road(2, Duration::from_s(26)), at_once(12, 5_000));
    let outcome = drive_fleet(&config).expect("a fleet that can drive");
    let tracker = Tracker::against(&config.policy, true);
    let [gated, open] = [tracker, Tracker { gate: Some(1e6), ..tracker }].map(|tracker| outcome.score(&tracker));
    assert!(gated.changes > 20, "{gated:?}");
    assert!(gated.changes_linked * 100 >= open.changes_linked * 95, "{gated:?} and without a gate {open:?}");
}

/// Changes, and those linked by places and these fields, of vehicles that sign, change at once and are silent for 10 s.
fn linked_by(change: fn(&mut FleetConfig), fields: &[Fields]) -> (u64, Vec<u64>) {
    let mut config = FleetConfig::new(road(3, Duration::from_s(30)), at_once(14, 10_000));
    signed(&mut config);
    config.tells_dimensions = false;
    // Nobody but the eavesdropper hears anything: what others verify would take a minute and tell it nothing.
    let Propagation::LogDistance(model) = config.propagation else { panic!("the default has a path loss") };
    config.propagation = Propagation::LogDistance(LogDistance { tx_power_dbm: -100.0, ..model });
    change(&mut config);
    let outcome = drive_fleet(&config).expect("a fleet that can drive");
    assert_eq!(outcome.reception.received, 0);
    assert!(outcome.heard.iter().all(|one| one.observation.trace.is_some_and(|trace| trace.power_db.is_some())));
    let scores: Vec<_> = fields.iter().map(|fields| Trial::by_fields(&config, &outcome, *fields).score).collect();
    assert!(scores.iter().all(|score| score.changes == scores[0].changes));
    (scores[0].changes, scores.iter().map(|score| score.changes_linked).collect())
}

#[test]
fn what_stations_keep_links_them_and_what_they_renew_says_nothing() {
    let only = |field| Fields::NONE.with(field);
    let looked_at = [
        Fields::NONE,
        only(Field::LinkAddress),
        only(Field::Beat),
        only(Field::Ticket),
        only(Field::FrameLength),
        Fields::ALL.without(Field::Power),
    ];
    let (changes, renewed) = linked_by(|_| (), &looked_at);
    println!("renewed: {renewed:?} of {changes}");
    let places = renewed[0];
    assert!(changes > 20 && places < changes, "places alone leave a doubt: {places} of {changes}");
    for linked in &renewed[1..] {
        assert!(linked.abs_diff(places) <= 2, "{linked} of {changes}, {places} by places");
    }
    let (changes, kept) = linked_by(
        |config| {
            config.keeps = Kept { link_address: true, packet_number: true, beat: true };
            config.ticket_periods = TicketPeriods::AsAsked;
        },
        &looked_at,
    );
    println!("kept: {kept:?} of {changes}");
    for index in [1, 2, 3, 5] {
        assert_eq!(kept[index], changes, "field {index}");
    }
    assert!(kept[4].abs_diff(kept[0]) <= 1, "frames are as long as others'");
}

#[test]
fn every_preset_drives() {
    for policy in Policy::presets(&[[500.0, 0.0, 150.0]]) {
        let name = policy.name.clone();
        let outcome = outcome(policy, |_| ());
        assert!(outcome.reception.accepted > 500, "{name}");
        assert_eq!(outcome.reception.refused, 0, "{name}");
        let is_silent = outcome.safety.silence > Duration::ZERO;
        assert_eq!(is_silent, outcome.safety.messages_withheld > 0, "{name}");
        match name.as_str() {
            "none" | "at-once" => assert_eq!(outcome.safety.changes, 0, "{name}: not within 30 s"),
            "source" => assert!(outcome.safety.changes > 3, "{name}"),
            "mix-zone" => assert!(is_silent, "{name}"),
            _ => {}
        }
    }
}

#[test]
fn swapped_pseudonyms_stay_as_many() {
    let swap = Policy { cooperation: Cooperation::Swap, ..every(5, 0) };
    let outcome = outcome(swap, |config| config.tells_dimensions = false);
    assert!(outcome.safety.changes > 10);
    assert_eq!(outcome.pseudonyms, outcome.score(&Tracker::default()).trips, "no new one is taken up");
    // A tracker that knows the policy sees pseudonyms jump, unless two vehicles are nearer than messages are accurate.
    let score = outcome.score(&Tracker { pseudonyms_move: true, ..Tracker::default() });
    assert!(score.changes > 5 && score.changes_linked_ppm() > Some(700_000), "{score:?}");
    // One that does not know takes what is sent under a pseudonym for one vehicle's.
    assert_eq!(outcome.score(&Tracker::default()).changes_linked, 0);
}

#[test]
fn posts_hear_what_is_near_them_and_each_frame_once() {
    let everything = outcome(Preset::None.into(), |_| ());
    let near = outcome(Preset::None.into(), |config| {
        config.propagation = Propagation::Disc { range_mm: 200_000 };
        config.posts = vec![Position::from_m(500, 20), Position::from_m(510, 20)];
    });
    assert!(near.heard.len() < everything.heard.len() * 2 / 3);
    assert!(near.heard.iter().all(|one| (295.0..715.0).contains(&one.observation.state.x_m)));
    for pair in near.heard.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn same_seed_same_run() {
    let with_seed = |seed| outcome(every(5, 1), |config| config.seed = seed);
    assert_eq!(with_seed(1), with_seed(1));
    assert_ne!(with_seed(1), with_seed(2));
}

/// Vehicles whose processors take so long for each signature made or verified.
fn on_processors(config: &FleetConfig, each: Duration) -> Plan {
    let cost = |name: &str| OperationCost { operation: name.into(), base: each, per_byte: Duration::ZERO };
    let costs = ["p256-sign", "p256-verify"].map(cost).to_vec();
    Plan::of_fleet(Arc::new(config.clone()), PlatformPlan { name: "slow".into(), costs })
}

fn signed(config: &mut FleetConfig) {
    config.signs = Some(Curve::NistP256);
}

#[test]
fn signed_messages_are_taken_apart_once_and_accepted_by_whoever_has_the_certificate() {
    let trips = Arc::new(road(1, Duration::from_s(3)));
    let go = |asks| {
        outcome_on(&trips, every(1, 0), |config| {
            signed(config);
            config.asks_for_certificates = asks;
        })
    };
    let outcome = go(false);
    let messages = outcome.with_certificate.messages + outcome.with_digest.messages;
    assert!(outcome.checks <= messages, "{} for {messages}", outcome.checks);
    assert!(outcome.with_digest.messages > outcome.with_certificate.messages);
    assert!(outcome.with_certificate.psdu_len_max > outcome.with_digest.psdu_len_max + 100);
    assert_eq!(outcome.reception.refused, 0);
    assert_eq!(outcome.reception.received, outcome.reception.accepted + outcome.reception.unknown_signer);
    assert!(outcome.reception.accepted > 2 * outcome.reception.unknown_signer);
    // Who asks gets certificates earlier, for longer messages.
    let asked = go(true);
    assert!(asked.reception.unknown_signer < outcome.reception.unknown_signer, "{:?}", asked.reception);
    assert!(asked.with_certificate.messages > outcome.with_certificate.messages);
    // Signed or not, the same vehicles change and speak as often; only their frames are longer.
    let unsigned = outcome_on(&trips, every(1, 0), |_| ());
    assert_eq!((unsigned.pseudonyms, unsigned.safety.changes), (outcome.pseudonyms, outcome.safety.changes));
    assert_eq!(unsigned.with_digest.messages, messages);
}

#[test]
fn slow_processors_drop_and_fast_ones_do_not() {
    let trips = Arc::new(road(2, Duration::from_s(4)));
    let go = |each| {
        let mut config = FleetConfig::new(Arc::clone(&trips), Preset::None.into());
        signed(&mut config);
        drive_plan(&on_processors(&config, each), &WatchConfig::default(), ()).expect("a fleet").0
    };
    let (slow, fast) = (go(Duration::from_ms(83)), go(Duration::from_us(36)));
    assert!(slow.processing.dropped > slow.reception.accepted, "12 checks a second are too few: {slow:?}");
    assert!(slow.processing.delay_max > Duration::from_ms(83));
    assert_eq!(fast.processing.dropped, 0);
    assert!(fast.processing.delay_max < Duration::from_ms(10), "{:?}", fast.processing);
    let each = fast.processing.operations as i64;
    assert_eq!(fast.processing.busy, Duration::from_us(36) * each);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it prints how much time sharing saves")]
fn sharing_verification_changes_nothing_but_the_time_it_takes() {
    let road = Highway { length_m: 900.0, duration: Duration::from_s(4), ..highway(2) };
    for (policy, each) in [(Policy::swap(), Duration::from_us(300)), (every(1, 0), Duration::ZERO)] {
        let mut config = FleetConfig::new(road.drive().expect("a road"), policy);
        signed(&mut config);
        config.asks_for_certificates = true;
        let mut go = |shares| {
            config.shares_verification = shares;
            let began = std::time::Instant::now();
            let plan = on_processors(&config, each);
            let (outcome, fingerprint) =
                drive_plan(&plan, &WatchConfig::default(), Fingerprint::of_bytes()).expect("a fleet");
            (fingerprint.finish(), outcome, began.elapsed().as_secs_f64())
        };
        let (shared, outcome, shared_s) = go(true);
        let (alone, without, alone_s) = go(false);
        println!("{} stations, {:?}", config.trips.trips.len(), outcome.reception);
        println!("{shared_s:.2} s with the table, {alone_s:.2} s without: {:.1} times", alone_s / shared_s);
        assert!(config.trips.trips.len() > 25 && outcome.reception.accepted > 4_000);
        assert_eq!(shared, alone);
        assert_eq!(outcome.heard, without.heard);
        assert!(without.checks > 10 * outcome.checks);
    }
}

#[test]
fn refuses_figures_out_of_range() {
    let refused = |change: fn(&mut FleetConfig)| {
        let mut config = FleetConfig::new(road(1, Duration::from_s(2)), Preset::None.into());
        change(&mut config);
        match drive_fleet(&config).expect_err("it cannot drive") {
            BuildError::Fleet(error) => error,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(|config| config.accuracy.position_m = f64::NAN), FleetError::OutOfRange("accuracy.position_m"));
    let seldom = refused(|config| config.cam_interval_min = Duration::from_s(2));
    assert_eq!(seldom, FleetError::OutOfRange("cam_interval_min"));
    let plan = Plan::of_fleet(
        Arc::new(FleetConfig::new(road(1, Duration::from_s(2)), Preset::None.into())),
        PlatformPlan::free(),
    );
    let watch = WatchConfig { look_interval: Duration::ZERO, ..WatchConfig::default() };
    let blind = drive_plan(&plan, &watch, ()).map(|_| ()).expect_err("nobody can look without a pause");
    assert_eq!(blind, BuildError::Fleet(FleetError::OutOfRange("look_interval")));
    let beyond = refused(|config| config.origin.latitude_deg = 95.0);
    assert_eq!(beyond, FleetError::OutOfRange("origin.latitude_deg"));
    let many = refused(|config| config.posts = vec![Position::default(); 70_000]);
    assert!(matches!(many, FleetError::TooManyStations(_)));
    let propagation = refused(|config| config.capture_db = Some(-1.0));
    assert!(matches!(propagation, FleetError::Radio(_)));
}

#[test]
fn who_is_not_there_hears_nothing() {
    // Vehicles enter and leave all the time; nobody may be heard beyond the ends of the road.
    let outcome = outcome(Preset::None.into(), |config| config.propagation = Propagation::Disc { range_mm: 100_000 });
    let others = outcome.reception.received / outcome.radio.sent;
    assert!(others < 30, "100 m of two lanes hold fewer: {others}");
}
