//! Spans of time that recur, each with its own period, and whether any two of them ever meet.

use chronoseal_core::Duration;
use chronoseal_schedule::network::gcd;

/// A span of time that recurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Recurring {
    /// When it begins in one of its periods.
    pub(super) from: Duration,
    /// How long it is; an instant that something takes no time at if zero.
    pub(super) len: Duration,
    /// From one to the next.
    pub(super) period: Duration,
}

impl Recurring {
    /// True if some recurrence of one begins before a recurrence of the other that began earlier is over. Two instants meet nowhere.
    ///
    /// The distances of their beginnings are those of one period of each, and all multiples of what divides both periods.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let common = Duration::from_ps(gcd(self.period.as_ps(), other.period.as_ps()));
        if common <= Duration::ZERO {
            return true;
        }
        let after = (other.from - self.from).rem_floor(common);
        let before = (self.from - other.from).rem_floor(common);
        after < self.len || before < other.len
    }

    /// True if it is not over when it recurs.
    pub(super) fn meets_itself(&self) -> bool {
        self.len > self.period
    }
}

/// The owners of spans that meet another one, or themselves.
pub(super) fn meeting<T: Copy>(spans: &[(T, Recurring)]) -> Vec<T> {
    let meets = |(index, (_, one)): (usize, &(T, Recurring))| {
        let others = || spans.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, (_, other))| other);
        one.meets_itself() || others().any(|other| one.meets(other))
    };
    spans.iter().enumerate().filter(|found| meets(*found)).map(|(_, (owner, _))| *owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against all recurrences within the common multiple of the periods.
        #[test]
        fn spans_meet_if_any_two_recurrences_do(
            one in (0i64..40, 0i64..9, 1i64..13), other in (0i64..40, 0i64..9, 1i64..13),
        ) {
            let span = |(from, len, period): (i64, i64, i64)| {
                let ps = Duration::from_ps;
                Recurring { from: ps(from), len: ps(len), period: ps(period) }
            };
            let at = |(from, len, period): (i64, i64, i64)| {
                (-300i64..600).map(move |k| from + k * period).map(move |from| (from, from + len))
            };
            let near = |(from, _): &(i64, i64)| (0..156).contains(from);
            let mut meets = false;
            for (from, until) in at(one).filter(near) {
                for (begins, ends) in at(other) {
                    meets |= (from <= begins && begins < until) || (begins <= from && from < ends);
                }
            }
            prop_assert_eq!(span(one).meets(&span(other)), meets);
            prop_assert_eq!(span(other).meets(&span(one)), meets);
        }
    }
}
