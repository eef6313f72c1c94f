//! Time in integer picoseconds: one picosecond divides every bit time from 1 Mbit/s to 10 Gbit/s exactly.

use core::fmt;
use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A signed span of time `[ps]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span, 106 days.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `ps` picoseconds.
    pub const fn from_ps(ps: i64) -> Self {
        Self(ps)
    }
    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns * 1_000)
    }
    /// A span of `us` microseconds.
    pub const fn from_us(us: i64) -> Self {
        Self(us * 1_000_000)
    }
    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms * 1_000_000_000)
    }
    /// A span of `s` seconds.
    pub const fn from_s(s: i64) -> Self {
        Self(s * 1_000_000_000_000)
    }
    /// The span `[ps]`.
    pub const fn as_ps(self) -> i64 {
        self.0
    }
    /// The span, rounded towards zero `[ns]`.
    pub const fn as_ns(self) -> i64 {
        self.0 / 1_000
    }
    /// The span `[s]`; for people, never for arithmetic on time.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The span `[us]`; for people, never for arithmetic on time.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }
    /// The span `[ms]`; for people, never for arithmetic on time.
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
    /// The distance from zero.
    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }
    /// True below zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
    /// This span `count` times, or `None` if it does not fit.
    pub const fn checked_mul(self, count: i64) -> Option<Self> {
        match self.0.checked_mul(count) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }
    /// This span `count` times, held at the longest span.
    pub const fn saturating_mul(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }
    /// How many whole `other` fit, rounded down (also below zero). `other` must be positive.
    pub const fn div_floor(self, other: Self) -> i64 {
        self.0.div_euclid(other.0)
    }
    /// What remains after [`Self::div_floor`], never negative. `other` must be positive.
    pub const fn rem_floor(self, other: Self) -> Self {
        Self(self.0.rem_euclid(other.0))
    }
}

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(i64);

        impl $name {
            /// The clock's zero.
            pub const ZERO: Self = Self(0);
            /// The last instant this clock can name.
            pub const MAX: Self = Self(i64::MAX);
            /// The instant `ps` picoseconds after zero.
            pub const fn from_ps(ps: i64) -> Self {
                Self(ps)
            }
            /// Time since zero `[ps]`.
            pub const fn as_ps(self) -> i64 {
                self.0
            }
            /// Time since zero.
            pub const fn since_zero(self) -> Duration {
                Duration(self.0)
            }
        }
        impl Add<Duration> for $name {
            type Output = Self;
            fn add(self, span: Duration) -> Self {
                Self(self.0 + span.0)
            }
        }
        impl AddAssign<Duration> for $name {
            fn add_assign(&mut self, span: Duration) {
                self.0 += span.0;
            }
        }
        impl Sub<Duration> for $name {
            type Output = Self;
            fn sub(self, span: Duration) -> Self {
                Self(self.0 - span.0)
            }
        }
        impl Sub for $name {
            type Output = Duration;
            fn sub(self, earlier: Self) -> Duration {
                Duration(self.0 - earlier.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.since_zero(), f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

instant! {
    /// The run's own time since its start. Only a driver holds it: virtual in the simulator, wall clock in the emulator.
    SimTime
}
instant! {
    /// What one node's own oscillator shows, offset and drift included. The only time a node ever sees.
    LocalTime
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Neg for Duration {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl core::ops::Mul<i64> for Duration {
    type Output = Self;
    fn mul(self, count: i64) -> Self {
        Self(self.0 * count)
    }
}
impl core::ops::Div<i64> for Duration {
    type Output = Self;
    fn div(self, count: i64) -> Self {
        Self(self.0 / count)
    }
}
impl core::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Duration {
    /// The largest unit that leaves at least one whole; exact, without trailing zeros: `204.8us`, `10ms`. With a precision, as
    /// `{:.3}`, there are at most so many digits after the point, rounded away from zero, so that a bound stays one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ps = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let (unit_ps, digits, unit): (u64, usize, _) = match ps {
            0 => return f.write_str("0s"),
            1..=999 => (1, 0, "ps"),
            1_000..=999_999 => (1_000, 3, "ns"),
            1_000_000..=999_999_999 => (1_000_000, 6, "us"),
            1_000_000_000..=999_999_999_999 => (1_000_000_000, 9, "ms"),
            _ => (1_000_000_000_000, 12, "s"),
        };
        let shown = f.precision().map_or(digits, |shown| shown.min(digits));
        let step_ps = 10_u64.pow((digits - shown) as u32);
        // Not above the largest magnitude by more than a step, which a word has room for.
        let ps = ps.div_ceil(step_ps) * step_ps;
        let (whole, mut rest, mut digits) = (ps / unit_ps, ps % unit_ps, digits);
        if rest == 0 {
            return write!(f, "{sign}{whole}{unit}");
        }
        while rest % 10 == 0 {
            rest /= 10;
            digits -= 1;
        }
        write!(f, "{sign}{whole}.{rest:0digits$}{unit}")
    }
}
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_as_many_digits_as_asked_for_and_never_less_than_there_is() {
        for (ps, text) in [
            (52_564_499_953, "52.565ms"),
            (-52_564_499_953, "-52.565ms"),
            (52_564_000_001, "52.565ms"),
            (52_564_000_000, "52.564ms"),
            (204_800_000, "204.8us"),
            (999_999_999_999, "1000ms"),
            (7, "7ps"),
            (0, "0s"),
        ] {
            assert_eq!(format!("{:.3}", Duration::from_ps(ps)), text);
        }
        assert_eq!(format!("{:.0}", Duration::from_ps(1_500)), "2ns");
        assert_eq!(format!("{:.9}", Duration::from_ps(1_500)), "1.5ns");
        assert!(!format!("{:.0}", Duration::from_ps(i64::MIN)).is_empty());
    }

    #[test]
    fn shows_exact_values_in_the_largest_whole_unit() {
        for (ps, text) in [
            (0, "0s"),
            (80_000, "80ns"),
            (204_800_000, "204.8us"),
            (-1_500, "-1.5ns"),
            (10_000_000_000, "10ms"),
            (1_000_000_000_001, "1.000000000001s"),
        ] {
            assert_eq!(Duration::from_ps(ps).to_string(), text);
        }
    }

    #[test]
    fn division_rounds_down_below_zero() {
        assert_eq!(Duration::from_us(-1).div_floor(Duration::from_us(10)), -1);
        assert_eq!(Duration::from_us(-1).rem_floor(Duration::from_us(10)), Duration::from_us(9));
    }
}
