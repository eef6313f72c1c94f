//! A CAN FD bus at 500 kbit/s and 2 Mbit/s for clients of python-can, in a network namespace of its own.
//!
//! `cargo run -p chronoseal-testbed --example can_bus -- CLIENTS SECONDS PROGRAM [ARGUMENT...]` opens a bus for CLIENTS
//! clients (ports 43113 and up) until PROGRAM ends, for SECONDS at most, and says afterwards what was on the bus and how
//! late frames were released.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use chronoseal_core::{Duration, Rate};
use chronoseal_results::{Direction, Distribution};
use chronoseal_testbed::can::{
    CanServerConfig, GuestKind, LISTENER, MulticastGroup, enter_private_loopback, serve_bus,
};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
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
    let is_over = AtomicBool::new(false);
    let (outcome, status) = thread::scope(|scope| {
        let bus = scope.spawn(|| serve_bus(&config, &is_over));
        while !bus.is_finished() && matches!(client.try_wait(), Ok(None)) {
            thread::sleep(std::time::Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        let outcome = bus.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Where the bus ended first, the client has to end too.
        let _ = client.kill();
        (outcome, client.wait())
    });
    let (outcome, status) = (outcome?, status?);
    let carried = outcome.rows.frames.iter().filter(|row| row.at == LISTENER).count();
    println!("the bus carried {carried} frames; the first of them:");
    let captures = &outcome.rows.captures;
    let seen_by_bus = captures.iter().filter(|row| row.node == LISTENER && row.direction == Direction::Departure);
    for row in seen_by_bus.take(5) {
        let frame = CanFrame::parse(&row.bytes)?;
        println!(
            "  {:>12} {:3x} {:?} {} bytes",
            row.time.to_string(),
            frame.id().raw(),
            frame.kind(),
            frame.data().len()
        );
    }
    let mut errors: Vec<i64> = outcome.rows.releases.iter().map(|row| row.error.as_ns()).collect();
    match Distribution::of(&mut errors) {
        None => println!("no frame was released"),
        Some(error) => println!(
            "{} copies released: median {} us late, 99 % {} us, at most {:.1} us",
            error.n,
            in_us(error.p50_ns),
            in_us(error.p99_ns),
            error.max_ns as f64 / 1e3
        ),
    }
    for warning in &outcome.warnings {
        println!("warning: {warning}");
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// "n/a" where there are too few samples.
fn in_us(time_ns: Option<i64>) -> String {
    time_ns.map_or("n/a".into(), |time_ns| format!("{:.1}", time_ns as f64 / 1e3))
}
