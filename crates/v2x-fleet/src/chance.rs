//! Draws of distributions.

use chronoseal_core::random::{ChaCha8Rng, Rng};

/// Evenly between 0 and 1, without the ends.
pub(crate) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
}

/// A draw of the normal distribution (G. E. P. Box and M. E. Muller, Ann. Math. Stat. 29 (1958) 610-611).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(uniform(rng)));
    radius * libm::cos(core::f64::consts::TAU * uniform(rng))
}
