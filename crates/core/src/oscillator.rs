//! A free-running clock with an offset and a rate, in integers: the same picoseconds on every machine.

use crate::{Duration, LocalTime, Ppm, SimTime};

/// A relative rate deviation as a fixed-point number with 40 fractional bits (a resolution of 10^-12).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RateDeviation(i64);

/// Fractional bits of [`RateDeviation`].
const SHIFT: u32 = 40;

impl RateDeviation {
    /// Exactly the nominal rate.
    pub const ZERO: Self = Self(0);

    /// From parts per million (held in units of 10^-9), rounded down.
    pub const fn from_ppm(ppm: Ppm) -> Self {
        Self((((ppm.0 as i128) << SHIFT) / 1_000_000_000) as i64)
    }

    /// The deviation that gains `gain` in each `interval`. `interval` must be positive.
    pub const fn from_gain(gain: Duration, interval: Duration) -> Self {
        Self((((gain.as_ps() as i128) << SHIFT) / interval.as_ps() as i128) as i64)
    }

    /// From a fixed-point number with 40 fractional bits.
    pub const fn from_fixed(bits: i64) -> Self {
        Self(bits)
    }

    /// How much faster than the first a third clock runs, if a second one deviates so from the first and the third so from the second.
    pub const fn together(self, other: Self) -> Self {
        Self(self.0 + other.0 + ((self.0 as i128 * other.0 as i128) >> SHIFT) as i64)
    }

    /// As a fixed-point number with 40 fractional bits.
    pub const fn as_fixed(self) -> i64 {
        self.0
    }

    /// What a clock with this deviation gains in `span`, rounded down.
    #[inline]
    pub const fn gain(self, span: Duration) -> Duration {
        if self.0 == 0 {
            return Duration::ZERO;
        }
        Duration::from_ps(((span.as_ps() as i128 * self.0 as i128) >> SHIFT) as i64)
    }
}

impl core::ops::Add for RateDeviation {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl core::ops::Sub for RateDeviation {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A node's own clock against the run's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Oscillator {
    offset: Duration,
    rate: RateDeviation,
}

impl Oscillator {
    /// Shows `offset` when the run starts and runs `drift` too fast.
    pub const fn new(offset: Duration, drift: Ppm) -> Self {
        Self { offset, rate: RateDeviation::from_ppm(drift) }
    }

    /// Shows `shown` at a time of the run and deviates so much from its rate.
    pub const fn through(at: SimTime, shown: LocalTime, rate: RateDeviation) -> Self {
        let elapsed = at.since_zero().as_ps();
        let gained = rate.gain(Duration::from_ps(elapsed)).as_ps();
        Self { offset: Duration::from_ps(shown.since_zero().as_ps() - elapsed - gained), rate }
    }

    /// How much faster it runs than the time of the run.
    pub const fn rate(&self) -> RateDeviation {
        self.rate
    }

    /// What it shows at a time of the run.
    #[inline]
    pub fn local(&self, at: SimTime) -> LocalTime {
        let elapsed = at.since_zero();
        LocalTime::ZERO + self.offset + elapsed + self.rate.gain(elapsed)
    }

    /// The first time of the run at which it shows at least `local`.
    #[inline]
    pub fn sim(&self, local: LocalTime) -> SimTime {
        let shown = local.since_zero() - self.offset;
        if self.rate == RateDeviation::ZERO {
            return SimTime::ZERO + shown;
        }
        // 1 / (1 + r) = 1 - r + r^2 - ...; steps of Newton remove what the series left out.
        let mut at = SimTime::ZERO + shown - self.rate.gain(shown);
        loop {
            let missing = local - self.local(at);
            if missing.abs() <= Duration::from_ps(2) {
                break;
            }
            at += missing;
        }
        while self.local(at) < local {
            at += Duration::from_ps(1);
        }
        while self.local(at - Duration::from_ps(1)) >= local {
            at = at - Duration::from_ps(1);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hundred_ppm_are_a_microsecond_in_ten_milliseconds() {
        let fast = Oscillator::new(Duration::from_ms(5), Ppm(100_000));
        let shown = fast.local(SimTime::ZERO + Duration::from_ms(10));
        let expected = LocalTime::ZERO + Duration::from_ms(15) + Duration::from_us(1);
        assert!((shown - expected).abs() <= Duration::from_ps(10), "{shown}");
    }

    #[test]
    fn a_deviation_is_a_number_with_forty_fractional_bits() {
        let two_to_the_minus_twenty = RateDeviation::from_fixed(1 << 20);
        assert_eq!(two_to_the_minus_twenty.gain(Duration::from_ps(3 << 20)), Duration::from_ps(3));
        assert_eq!(two_to_the_minus_twenty.as_fixed(), 1 << 20);
        let both = two_to_the_minus_twenty.together(two_to_the_minus_twenty);
        assert_eq!(both, RateDeviation::from_fixed((1 << 21) + 1), "one in two to the forty on top");
        assert_eq!(RateDeviation::ZERO - two_to_the_minus_twenty, RateDeviation::from_fixed(-(1 << 20)));
    }

    #[test]
    fn a_clock_goes_through_the_point_it_is_given() {
        let at = SimTime::ZERO + Duration::from_ms(333);
        let shown = LocalTime::ZERO + Duration::from_us(7);
        let clock = Oscillator::through(at, shown, RateDeviation::from_ppm(Ppm(100_000)));
        assert_eq!(clock.local(at), shown);
        let later = clock.local(at + Duration::from_ms(10)) - shown;
        assert!((later - Duration::from_us(10_001)).abs() <= Duration::from_ps(10), "{later}");
        assert_eq!(clock.rate(), RateDeviation::from_ppm(Ppm(100_000)));
    }

    proptest! {
        #[test]
        fn the_inverse_is_the_first_time_that_shows_it(
            local in -1_000_000_000_000i64..100_000_000_000_000,
            offset in -10_000_000_000i64..10_000_000_000,
            ppb in -1_000_000i64..1_000_000,
        ) {
            let clock = Oscillator::new(Duration::from_ps(offset), Ppm(ppb));
            let at = clock.sim(LocalTime::from_ps(local));
            prop_assert!(clock.local(at) >= LocalTime::from_ps(local));
            prop_assert!(clock.local(at - Duration::from_ps(1)) < LocalTime::from_ps(local));
        }
    }
}
