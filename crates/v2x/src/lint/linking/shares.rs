//! How often a value is in the tickets of one vehicle and in those of others, and when that is more than chance.

/// In how many tickets a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Of this vehicle.
    pub(super) own: usize,
    /// Tickets of this vehicle.
    pub(super) of_own: usize,
    /// Of others.
    pub(super) strange: usize,
    /// Tickets of others.
    pub(super) of_strange: usize,
}

/// How often a batch may be named whose tickets are drawn as those of others are.
pub(super) const FALSE_ALARMS: f64 = 0.01;

impl Shares {
    /// True if every ticket has it.
    pub(super) fn is_everywhere(self) -> bool {
        self.own == self.of_own && self.strange == self.of_strange
    }

    /// True if two tickets of this vehicle have it, and none of others.
    pub(super) fn is_unique(self) -> bool {
        self.own > 1 && self.strange == 0
    }

    /// Of two tickets that have the value, one of which is of this vehicle: how probable it is that both are, if a coin decided which
    /// vehicle the other one is of. One half is chance.
    pub(super) fn posterior(self) -> f64 {
        let part = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        let within = part(self.own.saturating_sub(1), self.of_own.saturating_sub(1));
        let across = part(self.strange, self.of_strange);
        within / (within + across)
    }

    /// How probable it is that at least so many of all tickets with the value are in this batch if vehicles are dealt them at random:
    /// the upper tail of the hypergeometric distribution, Fisher's exact test.
    pub(super) fn chance(self) -> f64 {
        let (all, with) = (self.of_own + self.of_strange, self.own + self.strange);
        let ways = |own: usize| ln_choose(with, own) + ln_choose(all - with, self.of_own.saturating_sub(own));
        let possible = (self.own..=with.min(self.of_own)).filter(|own| self.of_own - own <= all - with);
        possible.map(|own| (ways(own) - ln_choose(all, self.of_own)).exp()).sum::<f64>().min(1.0)
    }
}

/// How probable it is that no more than `between` of `others` lie between the first and the last of `own` places in one order, if the
/// order is random.
pub(super) fn chance_of_span(own: usize, others: usize, between: usize) -> f64 {
    if own < 2 {
        return 1.0;
    }
    let all = ln_choose(own + others, own);
    let ways = |inside: usize| ln_choose(own - 2 + inside, inside) + ((others - inside + 1) as f64).ln() - all;
    (0..=between.min(others)).map(|inside| ways(inside).exp()).sum::<f64>().min(1.0)
}

/// The logarithm of the number of ways to take `part` of `all`.
fn ln_choose(all: usize, part: usize) -> f64 {
    (0..part.min(all - part)).map(|index| ((all - index) as f64).ln() - ((index + 1) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(own: usize, of_own: usize, strange: usize, of_strange: usize) -> Shares {
        Shares { own, of_own, strange, of_strange }
    }

    #[test]
    fn chance_is_the_part_of_all_deals() {
        let is = |chance: f64, expected: f64| assert!((chance - expected).abs() < 1e-9, "{chance}, not {expected}");
        // Both of two are among 6 of 16: 15 of 120 pairs.
        is(shares(2, 6, 0, 10).chance(), 15.0 / 120.0);
        // All have it.
        is(shares(6, 6, 10, 10).chance(), 1.0);
        // At least two of three in two of five: one deal of ten has no ticket without it, as counted by hand: C(3,2) of C(5,2).
        is(shares(2, 2, 1, 3).chance(), 3.0 / 10.0);
        is(shares(0, 6, 4, 10).chance(), 1.0);
        // Two neighbours among ten places in a row: nine of 45 pairs.
        is(chance_of_span(2, 8, 0), 9.0 / 45.0);
        is(chance_of_span(4, 20, 20), 1.0);
        is(chance_of_span(1, 20, 0), 1.0);
    }

    #[test]
    fn a_posterior_is_above_chance_where_a_value_is_more_frequent_within() {
        assert!(shares(2, 6, 0, 10).posterior() > 0.5);
        assert!(shares(4, 6, 10, 10).posterior() < 0.5);
        assert!((shares(20, 20, 100, 400).posterior() - 0.8).abs() < 1e-9);
        assert!(
            shares(2, 20, 0, 10).is_unique() && !shares(1, 6, 0, 10).is_unique() && !shares(6, 6, 1, 10).is_unique()
        );
    }
}
