//! Which freshness values have been accepted: the highest one, and a bitmap of those just below it.

use chronoseal_core::DiscardReason;

/// A sliding window over freshness values, as in RFC 4303 (ESP), appendix A2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReplayWindow {
    /// The highest value accepted, if any.
    highest: Option<u64>,
    /// Bit `i` is set if `highest - i` was accepted. All 64 are kept whatever the window's size; `size` only decides
    /// which are still asked for.
    accepted: u64,
}

impl ReplayWindow {
    /// A window that holds every value up to and including `highest` for accepted.
    pub(crate) const fn after(highest: u64) -> Self {
        Self { highest: Some(highest), accepted: u64::MAX }
    }

    /// The highest value accepted, if any.
    pub(crate) const fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// Takes `value` if it is new, and remembers it. `size` is 1..=64 `[freshness values]`.
    pub(crate) fn accept(&mut self, value: u64, size: u8) -> Result<(), DiscardReason> {
        let Some(highest) = self.highest else {
            *self = Self { highest: Some(value), accepted: 1 };
            return Ok(());
        };
        if value > highest {
            let step = value - highest;
            let older = if step < 64 { self.accepted << step } else { 0 };
            *self = Self { highest: Some(value), accepted: older | 1 };
            return Ok(());
        }
        let age = highest - value;
        if age >= u64::from(size) {
            return Err(DiscardReason::FreshnessTooOld);
        }
        let bit = 1 << age;
        if self.accepted & bit != 0 {
            return Err(DiscardReason::Replayed);
        }
        self.accepted |= bit;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    /// The same rules in plain words: a set of all values ever accepted.
    fn judge(seen: &BTreeSet<u64>, value: u64, size: u8) -> Result<(), DiscardReason> {
        match seen.last() {
            Some(highest) if highest.saturating_sub(value) >= u64::from(size) => Err(DiscardReason::FreshnessTooOld),
            _ if seen.contains(&value) => Err(DiscardReason::Replayed),
            _ => Ok(()),
        }
    }

    #[test]
    fn a_window_of_one_takes_only_rising_values() {
        let mut window = ReplayWindow::default();
        assert_eq!(window.accept(7, 1), Ok(()));
        assert_eq!(window.accept(7, 1), Err(DiscardReason::Replayed));
        assert_eq!(window.accept(6, 1), Err(DiscardReason::FreshnessTooOld));
        assert_eq!(window.accept(8, 1), Ok(()));
    }

    #[test]
    fn both_edges_of_the_largest_window() {
        let mut window = ReplayWindow::default();
        for value in [100, 37, 163] {
            assert_eq!(window.accept(value, 64), Ok(()), "{value}");
        }
        assert_eq!(window.accept(100, 64), Err(DiscardReason::Replayed), "63 below the highest is remembered");
        assert_eq!(window.accept(99, 64), Err(DiscardReason::FreshnessTooOld));
        assert_eq!(window.accept(101, 64), Ok(()));
    }

    #[test]
    fn after_takes_nothing_up_to_the_given_value() {
        let mut window = ReplayWindow::after(1000);
        for value in [0, 936, 937, 999, 1000] {
            assert!(window.accept(value, 64).is_err());
        }
        assert_eq!(window.accept(1001, 64), Ok(()));
        assert_eq!(window.accept(1000, 64), Err(DiscardReason::Replayed));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_all_values_ever_accepted(
            start in prop_oneof![Just(0u64), any::<u64>(), Just(u64::MAX)],
            offsets in prop::collection::vec(prop_oneof![4 => -80i64..80, 1 => any::<i64>()], 1..200),
            size in 1u8..=64,
        ) {
            let (mut window, mut seen) = (ReplayWindow::default(), BTreeSet::new());
            let mut value = start;
            for offset in offsets {
                value = value.saturating_add_signed(offset);
                let expected = judge(&seen, value, size);
                prop_assert_eq!(window.accept(value, size), expected);
                if expected.is_ok() {
                    seen.insert(value);
                }
                prop_assert_eq!(window.highest(), seen.last().copied());
            }
        }
    }
}
