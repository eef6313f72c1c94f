//! What each policy is worth on the built-in highway: `cargo run --release -p chronoseal-v2x-fleet --example policies`.

#![allow(clippy::print_stdout, reason = "it is a table for people")]

use chronoseal_core::Duration;
use chronoseal_v2x_fleet::eavesdropper::Tracker;
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let road = Highway { length_m: 3_000.0, duration: Duration::from_s(180), ..Highway::default() };
    let trips = road.drive()?;
    println!(
        "{:16} {:>5} {:>7} {:>8} {:>8} {:>9} {:>8} {:>9} {:>8}",
        "policy", "trips", "changes", "linked %", "trips %", "followed%", "wrong", "unaware%", "around %"
    );
    for tells_dimensions in [false, true] {
        println!("sizes {}", if tells_dimensions { "told" } else { "not told" });
        for policy in Policy::presets(&[[1_500.0, 0.0, 200.0]]) {
            let name = policy.name;
            let mut config = FleetConfig::new(trips.clone(), policy);
            config.tells_dimensions = tells_dimensions;
            let fleet = run(&config, None, &mut ())?;
            let score = fleet.score(&Tracker::default());
            let percent = |ppm: Option<u64>| ppm.map_or_else(String::new, |ppm| format!("{:.1}", ppm as f64 / 1e4));
            println!(
                "{name:16} {:5} {:7} {:>8} {:>8} {:>9} {:8} {:>9} {:>8}",
                score.trips,
                score.changes,
                percent(score.changes_linked_ppm()),
                percent(Some(score.trips_linked_ppm())),
                percent(Some(score.followed_ppm)),
                score.links_wrong,
                percent(Some(fleet.safety.unaware_ppm())),
                percent(fleet.safety.unaware_around_change_ppm()),
            );
        }
    }
    Ok(())
}
