//! The cost of the seam: HMAC through `MacKey` over HMAC straight from the library, as a ratio.
//!
//! Both sides run in turn, round by round, in one process on one pinned core, and change order every round, so that
//! drift and interruptions of the machine meet both alike. The rounds also go through different depths of stack: where
//! it happens to lie decides how stores and loads of the short tags meet, which moves either side by up to 6 % from one
//! start of the program to the next (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!",
//! ASPLOS 2009). Printed are the median time of each side over the rounds,
//! the median of the rounds' ratios, and its quartiles.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench shows figures and may stop at the first surprise"
)]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod pairs;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

const ROUNDS: usize = 2001;
const ROUND_LENGTH: Duration = Duration::from_micros(100);
/// Depths of stack the rounds go through.
const STACK_DEPTHS: usize = 64;
/// What the seam may cost.
const TARGET: f64 = 1.05;

fn main() {
    // `cargo test --benches` runs this too: one round is enough there, and no figure is worth printing.
    let timing = std::env::args().any(|argument| argument == "--bench");
    let rounds = if timing { ROUNDS } else { 1 };
    let core = pin_to_one_core();
    println!(
        "rounds {rounds}, each side about {ROUND_LENGTH:?} a round, core {}",
        core.as_deref().unwrap_or("not pinned")
    );
    println!(
        "{:<14} {:>6} {:>12} {:>12} {:>7} {:>15}",
        "operation", "B", "seam ns", "library ns", "ratio", "quartiles"
    );
    let mut held = true;
    for pair in pairs::all() {
        for len in pairs::MESSAGE_LENS {
            let message = pairs::message(len);
            let calls = calls_in(ROUND_LENGTH, || pair.library(&message));
            let (mut seam_ns, mut library_ns, mut ratios) = (vec![], vec![], vec![]);
            for round in 0..rounds {
                let seam = || time_ns(calls, || pair.seam(&message));
                let library = || time_ns(calls, || pair.library(&message));
                let (seam, library) = deeper(round / 2 % STACK_DEPTHS, || {
                    if round % 2 == 0 {
                        let seam = seam();
                        (seam, library())
                    } else {
                        let library = library();
                        (seam(), library)
                    }
                });
                seam_ns.push(seam);
                library_ns.push(library);
                ratios.push(seam / library);
            }
            let ratio = quantile(&mut ratios, 0.5);
            held &= ratio <= TARGET;
            println!(
                "{:<14} {len:>6} {:>12.1} {:>12.1} {ratio:>7.3} {:>7.3} {:>7.3}",
                pair.algorithm.operation().0,
                quantile(&mut seam_ns, 0.5),
                quantile(&mut library_ns, 0.5),
                quantile(&mut ratios, 0.25),
                quantile(&mut ratios, 0.75),
            );
        }
    }
    if timing {
        println!("target {TARGET}: {}", if held { "held everywhere" } else { "MISSED" });
    }
}

/// Keeps this process on the first core it may use; returns its number.
fn pin_to_one_core() -> Option<String> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).ok()?;
    // The last one: the first takes most interrupts.
    let core = (0..CpuSet::count()).rev().find(|core| allowed.is_set(*core).unwrap_or(false))?;
    let mut only = CpuSet::new();
    only.set(core).ok()?;
    sched_setaffinity(Pid::from_raw(0), &only).ok()?;
    Some(core.to_string())
}

/// Runs `body` with the stack `depth` steps of a few words deeper.
#[inline(never)]
fn deeper<T>(depth: usize, body: impl FnOnce() -> T) -> T {
    let step = black_box([depth; 1]);
    let result = if depth == 0 { body() } else { deeper(depth - 1, body) };
    black_box(step);
    result
}

/// How many calls fill about `length`.
fn calls_in<T>(length: Duration, mut call: impl FnMut() -> T) -> u32 {
    let mut calls = 1;
    loop {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call());
        }
        if start.elapsed() >= length / 2 {
            return calls * 2;
        }
        calls *= 2;
    }
}

/// Time of one call, averaged over `calls` `[ns]`.
fn time_ns<T>(calls: u32, mut call: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    chronoseal_core::statistics::nearest_rank(values, share).unwrap_or(f64::NAN)
}
