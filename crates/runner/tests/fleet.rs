//! The fleet on the engine against the driver it had of its own.

use chronoseal_core::Duration;
use chronoseal_runner::{drive_fleet, drive_fleet_watched};
use chronoseal_sim::Fingerprint;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x_fleet::eavesdropper::Tracker;
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, FleetOutcome, run};

fn road(length_m: f64, seconds: i64) -> Highway {
    Highway {
        length_m,
        is_two_way: false,
        flow_per_lane_per_h: 1_500.0,
        duration: Duration::from_s(seconds),
        warm_up: Duration::from_s(40),
        ..Highway::default()
    }
}

fn old(config: &FleetConfig) -> FleetOutcome {
    run(config, None, &mut ()).expect("a fleet that can drive")
}

#[test]
fn the_engine_gives_what_the_old_driver_gave() {
    let trips = std::sync::Arc::new(road(1_000.0, 130).drive().expect("a road"));
    for policy in Policy::presets(&[[500.0, 0.0, 150.0]]) {
        let name = policy.name.clone();
        let config = FleetConfig::new(std::sync::Arc::clone(&trips), policy);
        let old = old(&config);
        let new = drive_fleet(&config).expect("a fleet that can drive");
        let agree = new.heard == old.heard;
        println!(
            "{name}: {agree} heard {} {} | {:?} {:?} | {:?} {:?}",
            new.heard.len(),
            old.heard.len(),
            new.safety,
            old.safety,
            new.score(&Tracker::default()),
            old.score(&Tracker::default()),
        );
        let asks = matches!(name.as_str(), "density" | "vehicle-centric" | "swap" | "together");
        if !asks {
            assert_eq!(new.heard, old.heard, "{name}");
            assert_eq!(new.safety, old.safety, "{name}");
            assert_eq!(new.reception, old.reception, "{name}");
            assert_eq!(new.radio, old.radio, "{name}");
            assert_eq!(new.pseudonyms, old.pseudonyms, "{name}");
            assert_eq!((new.with_certificate, new.with_digest), (old.with_certificate, old.with_digest), "{name}");
        }
    }
}

#[test]
fn sharing_verification_changes_nothing() {
    let trips = road(700.0, 4).drive().expect("a road");
    let mut config = FleetConfig::new(trips, Policy::swap());
    config.signs = Some(Curve::NistP256);
    config.asks_for_certificates = true;
    config.costs =
        ["p256-sign", "p256-verify"].map(|name| (name.to_owned(), Duration::from_us(300), Duration::ZERO)).to_vec();
    let mut go = |shares| {
        config.shares_verification = shares;
        let began = std::time::Instant::now();
        let (outcome, fingerprint) = drive_fleet_watched(&config, Fingerprint::of_bytes()).expect("a fleet");
        (fingerprint.finish(), outcome, began.elapsed())
    };
    let (shared, outcome, shared_took) = go(true);
    let (alone, without, alone_took) = go(false);
    println!("{} stations, {:?}", config.trips.trips.len(), outcome.reception);
    println!(
        "{shared_took:?} with, {alone_took:?} without: {:.1} times",
        alone_took.as_secs_f64() / shared_took.as_secs_f64()
    );
    assert_eq!(shared, alone);
    assert_eq!(outcome.reception, without.reception);
}
