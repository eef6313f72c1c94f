//! One check after the other.

use super::ResultCode;
use super::check::{CheckKind, Outcome, SkipReason, Stopwatch, Verdict};

/// Times and notes one check after the other.
pub(super) struct Progress<'s, S> {
    pub(super) verdict: Verdict,
    pub(super) stopwatch: &'s mut S,
}

impl<S: Stopwatch> Progress<'_, S> {
    /// Does a check; none if it failed.
    pub(super) fn check<T>(
        &mut self,
        kind: CheckKind,
        check: impl FnOnce(&mut Verdict) -> Result<(T, Outcome), ResultCode>,
    ) -> Option<T> {
        let start_ns = self.stopwatch.now_ns();
        let result = check(&mut self.verdict);
        let took_ns = u32::try_from(self.stopwatch.now_ns().saturating_sub(start_ns)).unwrap_or(u32::MAX);
        match result {
            Ok((value, outcome)) => {
                self.verdict.set(kind, outcome, took_ns);
                Some(value)
            }
            Err(code) => {
                self.verdict.set(kind, Outcome::Failed(code), took_ns);
                None
            }
        }
    }
}

/// A check that passed and found out nothing else.
pub(super) const PASSED: ((), Outcome) = ((), Outcome::Passed);

/// A check that was not done.
pub(super) fn skipped<T: Default>(reason: SkipReason) -> (T, Outcome) {
    (T::default(), Outcome::Skipped(reason))
}
