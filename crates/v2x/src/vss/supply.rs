//! When a station asks for more pseudonyms, for which time, and when again if none have come.
//!
//! Pseudonyms end: those of an authority that confirms weeks all end in the same second. A station that asked only when
//! they had ended would be silent until an authority had answered, and so would every other station, all of them asking in that second.
//! So pseudonyms for the time after the end are asked for ahead of it, each station at a moment of its own.

use rand_core::Rng;

use super::backoff::Backoff;
use super::{KeyName, Pool, PoolConfig};
use crate::types::{Duration, Time32, Time64, ValidityPeriod};

/// Pseudonyms to ask an authorization authority for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudonymOrder {
    /// How many.
    pub count: usize,
    /// When they are to be valid; none: from now on, for as long as the authority chooses.
    pub period: Option<ValidityPeriod>,
}

/// An order on its way.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// How many have not come.
    left: usize,
    is_ahead: bool,
}

/// Keeps a pool filled, now and for the time ahead.
#[derive(Clone, Debug)]
pub struct Supply {
    config: PoolConfig,
    /// How long before a period ends the next one is asked for `[s]`.
    lead_s: u32,
    open: Option<Open>,
    /// An authority that refuses what is asked for ahead may still grant what is needed now: each waits by itself.
    now: Backoff,
    ahead: Backoff,
}

impl Supply {
    /// Nothing is on its way. How far ahead this station asks is drawn from the upper half of [`PoolConfig::ahead_s`].
    pub fn new(config: PoolConfig, rng: &mut impl Rng) -> Self {
        let half = config.ahead_s / 2;
        let asks_ahead = !config.never_asks && half > 0;
        let drawn = if asks_ahead { rng.next_u32() % half } else { 0 };
        let (now, ahead) = Default::default();
        Self { config, lead_s: config.ahead_s - drawn, open: None, now, ahead }
    }

    /// What to ask an authority for now, if anything. It counts as asked for from here on, and nothing else is asked for until
    /// all of it has come ([`Supply::came`]) or some of it will not ([`Supply::asked_in_vain`]).
    pub fn order<K: KeyName>(&mut self, pool: &Pool<K>, now: Time64) -> Option<PseudonymOrder> {
        if self.config.never_asks || self.open.is_some() {
            return None;
        }
        let order = self.missing(pool, now)?;
        self.open = Some(Open { left: order.count, is_ahead: order.period.is_some() });
        Some(order)
    }

    /// Too few for now, or else for the time after the first end of a period that is near enough.
    fn missing<K: KeyName>(&self, pool: &Pool<K>, now: Time64) -> Option<PseudonymOrder> {
        let PoolConfig { low_water, preload, .. } = self.config;
        let at = now.time32();
        let count = |held: usize| (held < low_water).then(|| preload.saturating_sub(held)).filter(|count| *count > 0);
        let unused = || pool.unused().filter(|one| one.valid_until > at);
        // The next end of a period of those that are held, and when one of them began.
        let next_end = |after: Time32| {
            let held = pool.in_use().into_iter().chain(pool.next()).chain(pool.unused());
            held.filter(|one| one.valid_until > after).map(|one| (one.valid_until, one.valid_from)).min()
        };
        let mut end = next_end(at);
        // One that begins a little later than now, by the authority's clock, is for now.
        let for_now = unused().filter(|one| end.is_none_or(|(end, _)| one.valid_from < end)).count();
        if self.now.is_over(now)
            && let Some(count) = count(for_now)
        {
            return Some(PseudonymOrder { count, period: None });
        }
        if !self.ahead.is_over(now) {
            return None;
        }
        let horizon = Time32(at.0.saturating_add(self.lead_s));
        while let Some((start, began)) = end.filter(|(end, _)| self.lead_s > 0 && *end <= horizon) {
            if let Some(count) = count(unused().filter(|one| one.valid_until > start).count()) {
                let hours = (start.0 - began.0).div_ceil(3600);
                let duration = Duration::Hours(u16::try_from(hours).unwrap_or(u16::MAX));
                return Some(PseudonymOrder { count, period: Some(ValidityPeriod { start, duration }) });
            }
            end = next_end(start);
        }
        None
    }

    /// One has come, asked for or not.
    pub fn came(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.left = open.left.saturating_sub(1);
        if open.left == 0 {
            *self.backoff() = Backoff::default();
            self.open = None;
        }
    }

    /// What has not come of the order will not come. The next order of its kind, for now or ahead, waits: a few seconds at
    /// first, at most [`super::RETRY_MAX_S`].
    pub fn asked_in_vain(&mut self, now: Time64, rng: &mut impl Rng) {
        if self.open.is_some() {
            self.backoff().fail(now, rng);
            self.open = None;
        }
    }

    /// That of the order on its way.
    fn backoff(&mut self) -> &mut Backoff {
        if self.open.is_some_and(|open| open.is_ahead) { &mut self.ahead } else { &mut self.now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::HashedId8;
    use crate::vss::{Pseudonym, RETRY_MAX_S};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    const WEEK_S: u32 = 7 * 86_400;
    const DAY_S: u32 = 86_400;
    const THURSDAY: u32 = 1_000 * WEEK_S;

    /// A pool, and the authority that fills it.
    struct Bench {
        pool: Pool<u32>,
        supply: Supply,
        rng: ChaCha8Rng,
        made: u32,
    }

    impl Bench {
        fn new(config: PoolConfig) -> Self {
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            Self { pool: Pool::new(config), supply: Supply::new(config, &mut rng), rng, made: 0 }
        }

        fn give(&mut self, count: usize, valid_from: u32, valid_until: u32) {
            for _ in 0..count {
                self.made += 1;
                let id = HashedId8(u64::from(self.made).to_be_bytes());
                let (valid_from, valid_until) = (Time32(valid_from), Time32(valid_until));
                self.pool.add(Pseudonym { id, key: self.made, valid_from, valid_until });
                self.supply.came();
            }
        }

        fn order(&mut self, at_s: u32) -> Option<(usize, Option<u32>)> {
            let order = self.supply.order(&self.pool, Time32(at_s).time64())?;
            if let Some(period) = order.period {
                assert_eq!(period.duration, Duration::Hours(168), "as long as the one that ends");
            }
            Some((order.count, order.period.map(|period| period.start.0)))
        }

        fn fail(&mut self, at_s: u32) {
            self.supply.asked_in_vain(Time32(at_s).time64(), &mut self.rng);
        }
    }

    #[test]
    fn asks_once_for_what_is_missing() {
        let mut bench = Bench::new(PoolConfig { ahead_s: 0, ..PoolConfig::default() });
        assert_eq!(bench.order(THURSDAY), Some((20, None)), "for now: it has none");
        assert_eq!(bench.order(THURSDAY), None, "they are on their way");
        bench.give(20, THURSDAY, THURSDAY + WEEK_S);
        assert_eq!(bench.order(THURSDAY), None);
        let change = |bench: &mut Bench| {
            bench.pool.begin_change(Time32(THURSDAY)).unwrap();
            bench.pool.commit_change().unwrap();
        };
        (0..15).for_each(|_| change(&mut bench));
        assert_eq!(bench.order(THURSDAY), None, "five are left");
        change(&mut bench);
        assert_eq!(bench.order(THURSDAY), Some((16, None)));
        assert_eq!(bench.order(THURSDAY + WEEK_S - 1), None, "nothing ahead, by configuration");
        let mut silent = Bench::new(PoolConfig { never_asks: true, ..PoolConfig::default() });
        assert_eq!(silent.order(THURSDAY), None);
    }

    #[test]
    fn those_of_the_next_week_are_asked_for_between_one_and_two_days_ahead() {
        let mut moments = Vec::new();
        for seed in 0..50 {
            let mut bench = Bench::new(PoolConfig::default());
            bench.supply = Supply::new(PoolConfig::default(), &mut ChaCha8Rng::seed_from_u64(seed));
            bench.give(20, THURSDAY, THURSDAY + WEEK_S);
            let end = THURSDAY + WEEK_S;
            let asks = (THURSDAY..end).step_by(60).find(|at| bench.order(*at).is_some_and(|of| of == (20, Some(end))));
            let asks = asks.expect("it asks before the week is over");
            assert!((end - 2 * DAY_S..=end - DAY_S).contains(&asks), "{} s ahead", end - asks);
            moments.push(asks);
            // They come, and neither more of them nor any of the week after are asked for.
            bench.give(20, end, end + WEEK_S);
            assert_eq!((asks..end).step_by(3600).find_map(|at| bench.order(at)), None);
        }
        moments.dedup();
        assert!(moments.len() > 40, "each station at a moment of its own: {moments:?}");
    }

    #[test]
    fn several_periods_are_held_if_so_configured_and_none_twice() {
        let mut bench =
            Bench::new(PoolConfig { ahead_s: 8 * WEEK_S, low_water: 2, preload: 2, ..PoolConfig::default() });
        bench.give(2, THURSDAY, THURSDAY + WEEK_S);
        for week in 1..4 {
            let start = THURSDAY + week * WEEK_S;
            assert_eq!(bench.order(THURSDAY), Some((2, Some(start))), "week {week}");
            bench.give(2, start, start + WEEK_S);
        }
    }

    #[test]
    fn an_authority_that_is_away_is_asked_again_less_and_less_often_and_of_each_kind_by_itself() {
        let mut bench = Bench::new(PoolConfig { ahead_s: 2 * DAY_S, ..PoolConfig::default() });
        bench.give(6, THURSDAY, THURSDAY + WEEK_S);
        let mut at = THURSDAY + WEEK_S - 80_000;
        let mut waits = Vec::new();
        for _ in 0..15 {
            assert_eq!(bench.order(at), Some((20, Some(THURSDAY + WEEK_S))));
            bench.fail(at);
            let again = (at..).find(|at| bench.supply.ahead.is_over(Time32(*at).time64())).unwrap();
            waits.push(u64::from(again - at));
            at = again;
        }
        assert!((3..=5).contains(&waits[0]), "{waits:?}");
        assert!(waits[2..].iter().all(|wait| (10..=RETRY_MAX_S).contains(wait)), "{waits:?}");
        assert!(waits[10..].iter().all(|wait| (RETRY_MAX_S / 2..=RETRY_MAX_S).contains(wait)), "{waits:?}");
        // What is missing now is asked for at once, whatever became of what is ahead.
        bench.order(at);
        bench.fail(at);
        for _ in 0..2 {
            bench.pool.begin_change(Time32(at)).unwrap();
            bench.pool.commit_change().unwrap();
        }
        assert_eq!(bench.order(at), Some((16, None)));
        bench.give(16, THURSDAY, THURSDAY + WEEK_S);
        // A clock that was set back does not make it wait for ever.
        assert!(bench.supply.ahead.is_over(Time32(at - WEEK_S).time64()));
    }

    #[test]
    fn what_begins_a_little_later_by_the_authority_s_clock_is_not_asked_for_again() {
        let mut bench = Bench::new(PoolConfig { ahead_s: 0, ..PoolConfig::default() });
        bench.order(THURSDAY);
        bench.give(20, THURSDAY + 3, THURSDAY + 3 + WEEK_S);
        assert_eq!(bench.order(THURSDAY), None);
    }
}
