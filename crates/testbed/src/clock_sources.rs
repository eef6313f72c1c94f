//! What reading each clock of this host takes, how fine it is, and how far apart processors see it.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use nix::time::{ClockId, clock_getres, clock_gettime};
use serde::Serialize;

use crate::clock::monotonic_ns;
use crate::sys;

/// A clock of this host, read many times.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct ClockSource {
    /// Its name: that of its constant, or of its instruction.
    pub name: String,
    /// What reading it takes; `None` if there is no such clock.
    pub reading: Option<Reading>,
    /// Why there is none; empty if there is.
    pub missing: String,
}

/// What reading a clock takes `[ns]`.
#[derive(Clone, Copy, PartialEq, Serialize, Debug)]
pub struct Reading {
    /// Readings.
    pub n: usize,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Median.
    pub median_ns: f64,
    /// Standard deviation of the sample.
    pub deviation_ns: f64,
    /// Least.
    pub min_ns: f64,
    /// Greatest.
    pub max_ns: f64,
    /// As the kernel states it; `None` for a counter, which is as fine as its ticks.
    pub resolution_ns: Option<i64>,
}

/// How far `CLOCK_MONOTONIC` of one processor can be from that of the first, by messages between them.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct Skew {
    /// Processor.
    pub processor: usize,
    /// It is at least so far ahead `[ns]`.
    pub from_ns: i64,
    /// It is at most so far ahead `[ns]`.
    pub to_ns: i64,
}

/// Reads every clock `n` times.
pub fn clock_sources(n: usize) -> Vec<ClockSource> {
    // On one processor, or what is measured is how it moves.
    let all = sys::allowed_cpus();
    let first = all.first().copied().unwrap_or(0);
    thread::scope(|scope| scope.spawn(|| on_processor(first, || every_source(n))).join()).unwrap_or_default()
}

fn every_source(n: usize) -> Vec<ClockSource> {
    let clocks = [
        ("CLOCK_MONOTONIC", ClockId::CLOCK_MONOTONIC),
        ("CLOCK_MONOTONIC_RAW", ClockId::CLOCK_MONOTONIC_RAW),
        ("CLOCK_REALTIME", ClockId::CLOCK_REALTIME),
        ("CLOCK_TAI", ClockId::CLOCK_TAI),
    ];
    let mut found: Vec<ClockSource> = clocks
        .into_iter()
        .map(|(name, clock)| {
            let resolution = clock_getres(clock).ok().map(|step| step.tv_sec() * 1_000_000_000 + step.tv_nsec());
            present(name, read_often(n, resolution, || clock_gettime(clock)))
        })
        .collect();
    found.push(match sys::counter() {
        Some(_) => present("RDTSC", read_often(n, None, sys::counter)),
        None => absent("RDTSC", "this processor has no counter that a program may read"),
    });
    found.push(match sys::hardware_clock() {
        Ok(clock) => present("/dev/ptp0", read_often(n.min(10_000), None, || clock.read())),
        Err(_) => absent("/dev/ptp0", "no network interface of this host has a clock of its own that it may read"),
    });
    found
}

fn present(name: &str, reading: Reading) -> ClockSource {
    ClockSource { name: name.into(), reading: Some(reading), missing: String::new() }
}

fn absent(name: &str, why: &str) -> ClockSource {
    ClockSource { name: name.into(), reading: None, missing: why.into() }
}

/// What `read` takes, by the counter where there is one, which is the finest; what reading that takes is left out.
fn read_often<T>(n: usize, resolution_ns: Option<i64>, read: impl Fn() -> T) -> Reading {
    let now = || sys::counter().map_or_else(monotonic_ns, |ticks| ticks as i64);
    let (ticks, ns) = (now(), monotonic_ns());
    let own = (0..1_000).map(|_| -now() + now()).min().unwrap_or(0);
    let mut taken: Vec<i64> = (0..n.max(2))
        .map(|_| {
            let before = now();
            std::hint::black_box(read());
            now() - before - own
        })
        .collect();
    // All of this has taken long enough to tell how long a tick is.
    let tick_ns = (monotonic_ns() - ns) as f64 / (now() - ticks).max(1) as f64;
    taken.sort_unstable();
    let count = taken.len() as f64;
    let mean = taken.iter().sum::<i64>() as f64 / count;
    let squares: f64 = taken.iter().map(|&one| (one as f64 - mean).powi(2)).sum();
    let at = |place: usize| (taken[place].max(0)) as f64 * tick_ns;
    Reading {
        n: taken.len(),
        mean_ns: mean * tick_ns,
        median_ns: at(taken.len() / 2),
        deviation_ns: (squares / (count - 1.0)).sqrt() * tick_ns,
        min_ns: at(0),
        max_ns: at(taken.len() - 1),
        resolution_ns,
    }
}

/// Rounds of messages between two processors.
const ROUNDS: usize = 2_000;
/// Nobody waits longer than this for an answer `[ns]`.
const PATIENCE_NS: i64 = 2_000_000_000;

/// How far apart the processors of this host see `CLOCK_MONOTONIC`; of those that did not answer in time there is none.
pub fn clock_skew() -> Vec<Skew> {
    let all = sys::allowed_cpus();
    let Some((&first, others)) = all.split_first() else { return Vec::new() };
    others.iter().filter_map(|&other| skew_between(first, other)).collect()
}

/// Each message says when it was sent, so the other clock is ahead by no more than what it shows on arrival, and no less than
/// what it shows when the answer is back.
fn skew_between(first: usize, other: usize) -> Option<Skew> {
    const NOTHING: i64 = i64::MIN;
    let (asked, answered) = (AtomicI64::new(NOTHING), AtomicI64::new(NOTHING));
    let until = monotonic_ns() + PATIENCE_NS;
    let take = |from: &AtomicI64| loop {
        let value = from.swap(NOTHING, Ordering::AcqRel);
        if value != NOTHING {
            return Some(value);
        }
        if monotonic_ns() > until {
            return None;
        }
        spin_loop();
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            on_processor(other, || {
                for _ in 0..ROUNDS {
                    if take(&asked).is_none() {
                        break;
                    }
                    answered.store(monotonic_ns(), Ordering::Release);
                }
            });
        });
        let ends = scope.spawn(|| {
            on_processor(first, || {
                let (mut from_ns, mut to_ns) = (i64::MIN, i64::MAX);
                for _ in 0..ROUNDS {
                    let before = monotonic_ns();
                    asked.store(before, Ordering::Release);
                    let Some(there) = take(&answered) else { break };
                    let after = monotonic_ns();
                    from_ns = from_ns.max(there - after);
                    to_ns = to_ns.min(there - before);
                }
                (from_ns, to_ns)
            })
        });
        let (from_ns, to_ns) = ends.join().ok()?;
        (from_ns > i64::MIN).then_some(Skew { processor: other, from_ns, to_ns })
    })
}

/// Runs this on one processor; on any if the kernel refuses that.
fn on_processor<T>(processor: usize, run: impl FnOnce() -> T) -> T {
    let _ = sys::pin_to(processor);
    run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_is_read_and_none_takes_negative_time() {
        let sources = clock_sources(2_000);
        assert!(sources.iter().any(|source| source.name == "CLOCK_MONOTONIC" && source.reading.is_some()));
        for source in &sources {
            assert_eq!(source.reading.is_none(), !source.missing.is_empty(), "{source:?}");
            let Some(reading) = source.reading else { continue };
            assert!(reading.min_ns >= 0.0 && reading.min_ns <= reading.median_ns, "{source:?}");
            assert!(reading.median_ns <= reading.max_ns && reading.median_ns < 1e6, "{source:?}");
        }
    }

    #[test]
    fn the_skew_of_processors_is_an_interval() {
        for skew in clock_skew() {
            assert!(skew.from_ns <= skew.to_ns, "{skew:?}: the clock runs backwards between processors");
        }
    }
}
