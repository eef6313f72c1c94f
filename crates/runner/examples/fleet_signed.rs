//! Half a minute of signed traffic on processors of given speed:
//! `cargo run --release -p chronoseal-runner --example fleet_signed`.

#![allow(clippy::print_stdout, reason = "it is a table for people")]

use std::sync::Arc;

use chronoseal_core::Duration;
use chronoseal_plan::{OperationCost, Plan, PlatformPlan};
use chronoseal_runner::drive_plan;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::vss::Preset;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, WatchConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let road = Highway { length_m: 1_500.0, duration: Duration::from_s(30), ..Highway::default() };
    let trips = Arc::new(road.drive()?);
    // Signatures and checks a second as PRESERVE D3.1.1 measured them; the first costs nothing.
    let platforms = [
        ("free", f64::INFINITY, f64::INFINITY),
        ("Atom N270", 69.4, 12.0),
        ("MPC5200", 15.2, 2.66),
        ("ARM11", 9.28, 1.62),
        ("FPGA", 11.3, 13.2),
    ];
    for (name, signs_per_s, checks_per_s) in platforms {
        let mut config = FleetConfig::new(Arc::clone(&trips), Preset::Source.into());
        config.signs = Some(Curve::NistP256);
        let time = |per_s: f64| Duration::from_us((1e6 / per_s) as i64);
        let costs = [("p256-sign", signs_per_s), ("p256-verify", checks_per_s)].map(|(operation, per_s)| {
            OperationCost { operation: operation.to_owned(), base: time(per_s), per_byte: Duration::ZERO }
        });
        let rate = config.rate;
        let plan = Plan::of_fleet(Arc::new(config), PlatformPlan { name: name.to_owned(), costs: costs.to_vec() });
        let (fleet, ()) = drive_plan(&plan, &WatchConfig::default(), ())?;
        println!("{name}: {:?}\n  {:?}", fleet.reception, fleet.processing);
        for (kind, count) in [("with certificate", fleet.with_certificate), ("with digest", fleet.with_digest)] {
            let mean = count.psdu_bytes.checked_div(count.messages).unwrap_or(0);
            println!("  {kind:16} {:6} messages, {mean} bytes on the air, {}", count.messages, rate.airtime(mean));
        }
    }
    Ok(())
}
