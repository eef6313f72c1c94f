//! Half a minute of signed traffic, and what checking it would take elsewhere:
//! `cargo run --release -p chronoseal-v2x-fleet --example signed`.

#![allow(clippy::print_stdout, reason = "it is a table for people")]

use chronoseal_core::Duration;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::vss::Preset;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, Platform, run};
use chronoseal_v2x_fleet::tickets::Tickets;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let road = Highway { length_m: 1_500.0, duration: Duration::from_s(30), ..Highway::default() };
    let mut config = FleetConfig::new(road.drive()?, Preset::Source.into());
    // Signatures and checks a second as PRESERVE D3.1.1 measured them.
    config.platforms =
        [("Atom N270", 69.4, 12.0), ("MPC5200", 15.2, 2.66), ("ARM11", 9.28, 1.62), ("FPGA", 11.3, 13.2)]
            .map(|(name, signs_per_s, checks_per_s)| {
                let time = |per_s: f64| Duration::from_us((1e6 / per_s) as i64);
                let (sign, verify) = (time(signs_per_s), time(checks_per_s));
                Platform { name: name.into(), sign, verify, backlog_max: Duration::from_ms(100) }
            })
            .to_vec();
    let mut tickets = Tickets::new(Curve::NistP256, config.starts_at_us, config.seed)?;
    let fleet = run(&config, Some(&mut tickets), &mut ())?;
    for (kind, count) in [("with certificate", fleet.with_certificate), ("with digest", fleet.with_digest)] {
        let mean = count.psdu_bytes.checked_div(count.messages).unwrap_or(0);
        let rate = config.rate;
        println!("{kind:16} {:6} messages, {mean} bytes on the air, {}", count.messages, rate.airtime(mean));
    }
    println!("{:?}, {} checks done, {} tickets", fleet.reception, fleet.checks, tickets.issued());
    for load in &fleet.processors {
        let dropped = 100.0 * load.dropped as f64 / (load.dropped + load.verified).max(1) as f64;
        println!("{:10} drops {dropped:5.1} % of the messages, signs up to {} late", load.platform, load.sign_wait_max);
    }
    Ok(())
}
