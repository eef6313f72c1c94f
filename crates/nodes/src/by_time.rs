//! What is due first, of few things as of thousands.

use std::collections::BTreeSet;

use chronoseal_core::LocalTime;

/// When each of some things, known by their numbers, is due.
#[derive(Debug, Default)]
pub(crate) struct ByTime {
    due: Vec<Option<LocalTime>>,
    in_order: BTreeSet<(LocalTime, usize)>,
}

impl ByTime {
    /// Says when a thing is due from now on, or that it never is.
    pub(crate) fn set(&mut self, number: usize, at: Option<LocalTime>) {
        if self.due.len() <= number {
            self.due.resize(number + 1, None);
        }
        if self.due[number] == at {
            return;
        }
        if let Some(before) = std::mem::replace(&mut self.due[number], at) {
            self.in_order.remove(&(before, number));
        }
        self.in_order.extend(at.map(|at| (at, number)));
    }

    /// When the first of them is due.
    pub(crate) fn earliest(&self) -> Option<LocalTime> {
        self.in_order.first().map(|(at, _)| *at)
    }

    /// The first that is due by now, of those due at one time the one with the lowest number.
    pub(crate) fn first_due(&self, now: LocalTime) -> Option<usize> {
        self.in_order.first().filter(|(at, _)| *at <= now).map(|(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Duration;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_are_those_of_a_plain_list(
            changes in proptest::collection::vec((0usize..40, proptest::option::of(0i64..100), 0i64..100), 0..200),
        ) {
            let mut times = ByTime::default();
            let mut plain: Vec<Option<LocalTime>> = vec![None; 40];
            let at = |ps: i64| LocalTime::ZERO + Duration::from_ps(ps);
            for (number, due, now) in changes {
                plain[number] = due.map(at);
                times.set(number, plain[number]);
                let first = (0..).zip(&plain).filter_map(|(number, due)| Some(((*due)?, number))).min();
                prop_assert_eq!(times.earliest(), first.map(|(due, _)| due));
                prop_assert_eq!(times.first_due(at(now)), first.filter(|(due, _)| *due <= at(now)).map(|(_, number)| number));
            }
        }
    }
}
