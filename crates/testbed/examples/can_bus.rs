//! A CAN FD bus at 500 kbit/s and 2 Mbit/s for clients of python-can, in a network namespace of its own.
//!
//! `cargo run -p chronoseal-testbed --example can_bus -- CLIENTS SECONDS PROGRAM [ARGUMENT...]` opens a bus for CLIENTS
//! clients (ports 43113 and up), runs PROGRAM beside it, and says afterwards what was on the bus, in candump's format,
//! and how exactly frames were released.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::{Command, ExitCode};

use chronoseal_core::{Duration, Rate, SimTime};
use chronoseal_results::{Direction, distribution::Distribution};
use chronoseal_testbed::can::{
    CanServerConfig, GuestKind, LISTENER, MulticastGroup, enter_private_loopback, serve_bus,
};
use chronoseal_testbed::interrupt;
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [clients, seconds, program, rest @ ..] = &arguments[..] else {
        return Err("usage: can_bus CLIENTS SECONDS PROGRAM [ARGUMENT...]".into());
    };
    let config = CanServerConfig {
        timing: BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000)))?,
        carries_fd: true,
        guests: (0..clients.parse()?).map(|index| GuestKind::Multicast(MulticastGroup::of_client(index))).collect(),
        duration: Duration::from_s(seconds.parse()?),
        capture: true,
        fifo: true,
    };
    enter_private_loopback()?;
    // It inherits the namespace; it may find the bus a moment later.
    let mut client = Command::new(program).args(rest).spawn()?;
    let outcome = serve_bus(&config, interrupt::flag())?;
    client.kill()?;
    client.wait()?;
    let seen_by_bus =
        outcome.rows.captures.iter().filter(|row| row.node == LISTENER && row.direction == Direction::Departure);
    for row in seen_by_bus {
        let frame = CanFrame::parse(&row.bytes)?;
        println!(
            "({:.6}) bus {:x} {:02x?}",
            (row.time - SimTime::ZERO).as_us_f64() / 1e6,
            frame.id().raw(),
            frame.data()
        );
    }
    let mut errors: Vec<i64> = outcome.rows.releases.iter().map(|row| row.error.as_ns()).collect();
    println!("release error: {:?}", Distribution::of(&mut errors));
    println!("{:?} {:?}", outcome.host, outcome.warnings);
    Ok(())
}
