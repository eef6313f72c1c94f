//! What a verdict takes when messages come at their own instants, and what is dropped when too many come.
//!
//! One thread offers and verifies, open loop: Poisson arrivals by seed, each message signed, everything verified.
//! Latency runs from the instant a message was due to its verdict. The receiver looks at the clock without sleeping, as on
//! a core of its own: pin it, and see that others stay away. Not by `chrt`: a real-time thread that never sleeps is
//! throttled by the kernel.
//!
//! ```text
//! nice -n -20 taskset -c 1 cargo bench -p chronoseal-v2x-load --bench v2x_latency [-- SECONDS]
//! ```

#![allow(missing_docs, clippy::print_stdout, reason = "a bench tells, and is nobody's API")]

use chronoseal_core::statistics::{median, nearest_rank};
use chronoseal_v2x::pipeline::{Class, Engine};
use chronoseal_v2x_load::{Load, LoadError, Outcome, STALL_NS, Town, capacity, offer};

/// Offered where the goals are `[messages/s]`.
const RATE_PER_S: f64 = 5_000.0;
const STATIONS: usize = 200;

fn main() -> Result<(), LoadError> {
    chronoseal_v2x_aws_lc::install();
    let seconds = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(20_u64);
    let mut town = Town::new(STATIONS, 1)?;
    // Not verified, and so not counted: pages, tables and the clock of the processor settle.
    offer(&mut town, &Load { offered_per_s: RATE_PER_S, duration_ms: 500, ..Load::default() }, Engine::fastest())?;
    let measured: Vec<_> = (0..7).map(|_| capacity(&mut town, Engine::fastest(), 4_096)).collect::<Result<_, _>>()?;
    let mut capacities: Vec<f64> = measured.iter().map(|one| one.per_s).collect();
    capacities.sort_by(f64::total_cmp);
    let capacity = median(&capacities).unwrap_or(f64::NAN);
    println!("verifies: {}", measured[0].engine.words());
    println!("capacity, median of 7, of 4,096 messages each: {capacity:.0}/s of processor time");
    println!("a step {} us longer than its like is a stall", STALL_NS / 1_000);
    println!(
        "\n| offered/s | wait at most us | class | n | p50 us | p99 us | p99.9 us | n stall-free | p50 us | p99 us | p99.9 us |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for wait_max_ns in [0, 50_000, 100_000] {
        let load = Load { offered_per_s: RATE_PER_S, duration_ms: 1_000 * seconds, wait_max_ns, ..Load::default() };
        let outcome = offer(&mut town, &load, Engine::fastest())?;
        rows(&load, &outcome);
        assert_eq!((outcome.refused, outcome.verified + outcome.dropped.total()), (0, outcome.offered));
    }
    let load = Load { offered_per_s: 2.0 * capacity, duration_ms: 500, ..Load::default() };
    let outcome = offer(&mut town, &load, Engine::fastest())?;
    rows(&load, &outcome);
    let [emergency, near, far] = outcome.dropped_by_class;
    println!(
        "\ntwice the capacity: {} offered in {:.3} s ({} emergencies), {} verified, {} refused; dropped and in the audit: {} \
         ({emergency} emergencies, {near} near, {far} far); {} stalls, {:.1} ms",
        outcome.offered,
        outcome.took_ns as f64 / 1e9,
        outcome.emergencies,
        outcome.verified,
        outcome.refused,
        outcome.dropped.total(),
        outcome.stalls.0,
        outcome.stalls.1 as f64 / 1e6,
    );
    Ok(())
}

fn rows(load: &Load, outcome: &Outcome) {
    for class in [None, Some(Class::Emergency), Some(Class::Near), Some(Class::Far)] {
        print!("| {:.0} | {} | {} ", load.offered_per_s, load.wait_max_ns / 1_000, class.map_or("all", Class::name));
        for is_stall_free in [false, true] {
            let latencies_ns = outcome.latencies_ns(class, is_stall_free);
            print!("| {} ", latencies_ns.len());
            for quantile in [0.5, 0.99, 0.999] {
                print!("| {:.0} ", nearest_rank(&latencies_ns, quantile).unwrap_or(0) as f64 / 1e3);
            }
        }
        println!("|");
    }
}
