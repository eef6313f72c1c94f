//! How long to wait after a request that failed.

use rand_core::Rng;

use crate::types::Time64;

/// Time from the first request that failed to the next one, at most `[s]`.
const RETRY_FIRST_S: u64 = 5;
/// The longest time from one request that failed to the next one `[s]`.
pub const RETRY_MAX_S: u64 = 900;

const US: u64 = 1_000_000;

/// Doubles the wait with each failure; the wait is drawn from its upper half, so that stations that lost the same
/// authority do not come back to it together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    not_before_us: u64,
}

impl Backoff {
    pub(super) fn is_over(&self, now: Time64) -> bool {
        // A wait longer than any that is drawn is that of a clock that was set back.
        now.0 >= self.not_before_us || self.not_before_us - now.0 > RETRY_MAX_S * US
    }

    pub(super) fn fail(&mut self, now: Time64, rng: &mut impl Rng) {
        let wait_us = (RETRY_FIRST_S << self.failures.min(16)).min(RETRY_MAX_S) * US;
        self.failures += 1;
        self.not_before_us = now.0.saturating_add(wait_us / 2 + rng.next_u64() % (wait_us / 2));
    }
}
