//! What a server is asked for, and how long it can be busy: a processor with its jobs, a line with its frames.
//!
//! A server that is never idle while something waits has finished whatever came to it when its busy period ends, in
//! whatever order it served. So the longest busy period bounds how long anything stays there:
//!
//! ```text
//! L = once + sum of (floor((L + J) / T) + 1) C over periodic demands + sum of D(L) over cyclic demands
//! ```
//!
//! is its least fixed point, both ends of it included: what takes no time can wait for what comes at the instant at which the server
//! would be idle (Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines", RTSS
//! 1990, with the release jitter of Tindell and Clark 1994). What comes by a table does not come all at once: `D` is the
//! most that the table asks for in any window of that length ([`Cyclic`]).

use chronoseal_core::{Duration, Ppm};

/// Steps towards a fixed point before a server counts as too near to overload.
const STEPS_MAX: u32 = 50_000;
/// A busy period that is longer has no end in sight.
const BUSY_MAX: Duration = Duration::from_s(100);
/// Parts of a load: `10^-18` each, so that rounding down loses nothing that matters.
const WHOLE: i128 = 1_000_000_000_000_000_000;

/// Something that comes again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Periodic {
    /// Least distance of two, by true time.
    pub(crate) period: Duration,
    /// Between the earliest and the latest instant at which one can come.
    pub(crate) jitter: Duration,
    /// What one takes.
    pub(crate) cost: Duration,
}

impl Periodic {
    /// How many can come in a window of this length, its end excluded.
    pub(crate) fn count(&self, window: Duration) -> i64 {
        let (span, period) = (window.as_ps().saturating_add(self.jitter.as_ps()), self.period.as_ps().max(1));
        span.div_euclid(period) + i64::from(span.rem_euclid(period) > 0)
    }

    fn demand(&self, window: Duration) -> i128 {
        i128::from(self.count(window)) * i128::from(self.cost.as_ps())
    }
}

/// One entry of a table that repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// When it comes at the earliest, from the start of the cycle.
    pub(crate) earliest: Duration,
    /// When it comes at the latest.
    pub(crate) latest: Duration,
    /// What it takes.
    pub(crate) cost: Duration,
}

/// What a table that repeats asks for: the most in any window of a length.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cyclic {
    cycle: Duration,
    /// All entries of a cycle together.
    total: Duration,
    /// From this length of a window on, it asks for this much; both grow.
    steps: Vec<(Duration, Duration)>,
}

impl Cyclic {
    /// The demand of these entries, which repeat after `cycle`.
    pub(crate) fn new(cycle: Duration, entries: &[Entry]) -> Self {
        let entries: Vec<Entry> = entries.iter().filter(|entry| entry.cost > Duration::ZERO).copied().collect();
        let total = entries.iter().map(|entry| entry.cost).sum();
        let mut steps = Vec::new();
        // The worst window begins when some entry comes at its latest. Of each other entry the occurrences from then on
        // count, the first of them as early as it can be.
        for first in &entries {
            let mut found = Vec::with_capacity(entries.len());
            for entry in &entries {
                let cycles = -(entry.latest - first.latest).div_floor(cycle);
                let mut span = entry.earliest - first.latest + cycle * cycles;
                // More than one may come at once if one can be later than the next one's earliest.
                while span < cycle {
                    found.push((span.max(Duration::ZERO), entry.cost));
                    span += cycle;
                }
            }
            found.sort_unstable();
            let mut sum = Duration::ZERO;
            for (span, cost) in found {
                sum += cost;
                steps.push((span, sum));
            }
        }
        steps.sort_unstable();
        let mut most = Duration::ZERO;
        steps.retain(|(_, sum)| {
            let grows = *sum > most;
            most = most.max(*sum);
            grows
        });
        Self { cycle, total, steps }
    }

    /// The most that is asked for in a window of this length, both ends included.
    pub(crate) fn demand(&self, window: Duration) -> Duration {
        if self.steps.is_empty() {
            return Duration::ZERO;
        }
        let (cycles, rest) = (window.div_floor(self.cycle), window.rem_floor(self.cycle));
        let step = self.steps.partition_point(|(span, _)| *span <= rest);
        let partial = step.checked_sub(1).map_or(Duration::ZERO, |last| self.steps[last].1);
        self.total.saturating_mul(cycles) + partial
    }
}

/// All that is asked of one server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    /// In its way when the busy period begins.
    pub(crate) once: Duration,
    /// What comes by itself.
    pub(crate) periodic: Vec<Periodic>,
    /// What comes by tables.
    pub(crate) cyclic: Vec<Cyclic>,
}

/// A server that is asked for more than it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Overload {
    /// More work than time.
    #[error(
        "it is overloaded: {} of its time is needed, {} too much; ask it for something less often, or for less",
        percent(*load_ppm),
        percent(load_ppm.saturating_sub(1_000_000))
    )]
    Load {
        /// Sum of cost over period `[10^-6]`, rounded up.
        load_ppm: u64,
    },
    /// Scheduled frames leave no time between them in which a best-effort frame fits.
    #[error("its slots leave no gap in which a frame fits")]
    NoRoom,
    /// So near to overload that a busy period has no end in sight.
    #[error("it is so near to overload that nothing says when it is idle again")]
    NoEndInSight,
}

/// A share of a million, in words, rounded up.
pub(crate) fn percent(ppm: u64) -> String {
    let tenths = ppm.div_ceil(1_000);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

impl Load {
    /// The longest time during which the server is never idle.
    ///
    /// # Errors
    /// [`Overload`] if nothing bounds it.
    pub(crate) fn busy_period(&self) -> Result<Duration, Overload> {
        let parts = self.parts();
        if parts > WHOLE {
            let load_ppm = u64::try_from(parts / (WHOLE / 1_000_000) + 1).unwrap_or(u64::MAX);
            return Err(Overload::Load { load_ppm });
        }
        let mut busy = self.demand(Duration::from_ps(1))?;
        for _ in 0..STEPS_MAX {
            let next = self.demand(busy + Duration::from_ps(1))?;
            if next == busy {
                return Ok(busy);
            }
            busy = next;
        }
        Err(Overload::NoEndInSight)
    }

    fn demand(&self, window: Duration) -> Result<Duration, Overload> {
        let periodic: i128 = self.periodic.iter().map(|one| one.demand(window)).sum();
        let cyclic: i128 = self.cyclic.iter().map(|one| i128::from(one.demand(window).as_ps())).sum();
        let all = i128::from(self.once.as_ps()) + periodic + cyclic;
        let all = i64::try_from(all).map(Duration::from_ps).ok();
        all.filter(|all| *all <= BUSY_MAX).ok_or(Overload::NoEndInSight)
    }

    /// Cost over period of all, each rounded down.
    fn parts(&self) -> i128 {
        let part =
            |cost: Duration, period: Duration| i128::from(cost.as_ps()) * WHOLE / i128::from(period.as_ps().max(1));
        let periodic = self.periodic.iter().map(|one| part(one.cost, one.period));
        periodic.chain(self.cyclic.iter().map(|one| part(one.total, one.cycle))).fold(0, i128::saturating_add)
    }
}

/// The least distance, by true time, of two instants that lie `period` apart by a clock of this drift.
pub(crate) fn true_period(period: Duration, drift: Ppm) -> Duration {
    const BILLION: i128 = 1_000_000_000;
    if drift == Ppm(0) {
        return period;
    }
    let shown = BILLION + i128::from(drift.0.abs());
    let least = (i128::from(period.as_ps()) * BILLION).div_euclid(shown);
    // An instant by a clock is the first whole picosecond at which it is reached: two of them can come nearer by one.
    Duration::from_ps((least as i64 - 2).max(1))
}

/// The longest time, by true time, in which a clock of this drift shows that `span` has passed.
pub(crate) fn longest_true(span: Duration, drift: Ppm) -> Duration {
    const BILLION: i128 = 1_000_000_000;
    if drift == Ppm(0) {
        return span;
    }
    let shown = BILLION - i128::from(drift.0.abs());
    let most = (i128::from(span.as_ps()) * BILLION).div_euclid(shown.max(1));
    Duration::from_ps(i64::try_from(most).unwrap_or(i64::MAX / 2) + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const US: fn(i64) -> Duration = Duration::from_us;

    fn periodic(period: i64, jitter: i64, cost: i64) -> Periodic {
        Periodic { period: US(period), jitter: US(jitter), cost: US(cost) }
    }

    fn at(earliest: i64, latest: i64, cost: i64) -> Entry {
        Entry { earliest: US(earliest), latest: US(latest), cost: US(cost) }
    }

    #[test]
    fn a_busy_period_holds_all_that_comes_while_it_lasts() {
        let load = |periodic: &[Periodic], once| Load { once: US(once), periodic: periodic.to_vec(), cyclic: vec![] };
        assert_eq!(load(&[], 0).busy_period(), Ok(Duration::ZERO));
        assert_eq!(load(&[periodic(10, 0, 4)], 0).busy_period(), Ok(US(4)));
        assert_eq!(load(&[periodic(10, 0, 4), periodic(20, 0, 8)], 0).busy_period(), Ok(US(16)));
        assert_eq!(load(&[periodic(10, 0, 4), periodic(20, 0, 8)], 3).busy_period(), Ok(US(19)));
        // The second of a stream comes so much earlier, and one more with it.
        assert_eq!(load(&[periodic(10, 7, 4)], 0).busy_period(), Ok(US(8)));
        // All of the time there is: what takes none may never have its turn.
        assert_eq!(load(&[periodic(10, 0, 10)], 0).busy_period(), Err(Overload::NoEndInSight));
        // Once it would be idle the next is there.
        assert_eq!(load(&[periodic(2, 0, 1), periodic(8, 0, 1)], 0).busy_period(), Ok(US(3)));
        let overload = load(&[periodic(10, 0, 6), periodic(20, 0, 9)], 0).busy_period();
        assert_eq!(overload, Err(Overload::Load { load_ppm: 1_050_001 }));
    }

    #[test]
    fn what_a_table_keeps_apart_does_not_come_at_once() {
        let apart = Cyclic::new(US(100), &[at(10, 10, 5), at(60, 60, 7)]);
        assert_eq!(apart.demand(Duration::ZERO), US(7));
        assert_eq!(apart.demand(US(49)), US(7));
        assert_eq!(apart.demand(US(50)), US(12));
        assert_eq!(apart.demand(US(100)), US(12 + 7));
        // Within its jitter one can be near the other.
        let jitter = Cyclic::new(US(100), &[at(0, 20, 5), at(30, 30, 7)]);
        assert_eq!(jitter.demand(US(9)), US(7));
        assert_eq!(jitter.demand(US(10)), US(12));
        let load = Load { once: Duration::ZERO, periodic: vec![], cyclic: vec![apart] };
        assert_eq!(load.busy_period(), Ok(US(7)));
    }

    #[test]
    fn a_fast_clock_shortens_a_period() {
        assert_eq!(true_period(US(10), Ppm(0)), US(10));
        let short = true_period(US(1_000_000), Ppm(1_000_000));
        assert!(short < US(1_000_000) - US(998) && short > US(1_000_000) - US(1_001), "{short}");
        assert_eq!(short, true_period(US(1_000_000), Ppm(-1_000_000)));
        assert_eq!(longest_true(US(10), Ppm(0)), US(10));
        let long = longest_true(US(1_000_000), Ppm(-1_000_000));
        assert!(long > US(1_000_000) + US(1_000) && long < US(1_000_000) + US(1_003), "{long}");
    }

    proptest! {
        /// Entries laid out one by one, each anywhere in its time, never ask for more.
        #[test]
        fn no_window_of_a_table_asks_for_more(
            entries in proptest::collection::vec((0i64..100, 0i64..60, 1i64..9, any::<u32>()), 1..6),
            from in 0i64..100, length in 0i64..250,
        ) {
            let table: Vec<_> = entries.iter().map(|(at, late, cost, _)| self::at(*at, at + late, *cost)).collect();
            let most = Cyclic::new(US(100), &table).demand(US(length));
            let mut sum = 0;
            for (at, late, cost, chance) in entries {
                for cycle in -3..8 {
                    let late = i64::from(chance.rotate_left(cycle as u32 & 31)) % (late + 1);
                    let comes = at + late + 100 * i64::from(cycle);
                    sum += if comes >= from && comes <= from + length { cost } else { 0 };
                }
            }
            prop_assert!(US(sum) <= most, "{sum} us in {length} us, at most {most}");
        }
    }
}
