//! What both programs of times share: the processor's counter, and Welch's t.
//!
//! Source: Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", DATE 2017.

use std::arch::x86_64::{__rdtscp, _mm_lfence};

/// Two classes differ from here on.
pub const LIMIT: f64 = 4.5;

/// Ticks of the processor's counter.
#[must_use]
pub fn ticks() -> u64 {
    let mut core = 0;
    // SAFETY: every x86-64 processor has both instructions; the counter's core is written to `core`.
    unsafe {
        _mm_lfence();
        let ticks = __rdtscp(&raw mut core);
        _mm_lfence();
        ticks
    }
}

/// Mean of some times, and the variance of that mean.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    /// Ticks.
    pub mean: f64,
    /// Ticks squared.
    pub variance: f64,
}

impl Mean {
    /// Of these times.
    pub fn of(times: impl Iterator<Item = u64> + Clone) -> Self {
        let count = times.clone().count() as f64;
        let mean = times.clone().map(|ticks| ticks as f64).sum::<f64>() / count;
        let squares: f64 = times.map(|ticks| (ticks as f64 - mean) * (ticks as f64 - mean)).sum();
        Self { mean, variance: squares / (count - 1.0) / count }
    }

    /// Welch's t of the difference from another one.
    #[must_use]
    pub fn t(self, other: Self) -> f64 {
        (self.mean - other.mean) / (self.variance + other.variance).sqrt()
    }
}
