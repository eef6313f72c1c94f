//! Times and corrections, on the wire and as picoseconds.

use core::ops::{Add, Sub};

use chronoseal_core::Duration;

const PS_IN_NS: i128 = 1_000;
const PS_IN_S: i128 = 1_000_000_000_000;
/// The largest that 48 bits of seconds and nine digits of nanoseconds hold, in picoseconds.
const WIRE_MAX_PS: i128 = ((1 << 48) - 1) * PS_IN_S + 999_999_999_000;

/// A time of the protocol in picoseconds since the epoch, which is that of TAI if the grandmaster knows it.
///
/// 48 bits of seconds are nine million years: more than a [`chronoseal_core::LocalTime`] holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PtpTime(i128);

impl PtpTime {
    /// The epoch.
    pub const EPOCH: Self = Self(0);

    /// So many picoseconds after the epoch.
    pub const fn from_ps(ps: i128) -> Self {
        Self(ps)
    }

    /// So many seconds after the epoch.
    pub const fn from_s(s: u32) -> Self {
        Self(s as i128 * PS_IN_S)
    }

    /// Picoseconds after the epoch.
    pub const fn as_ps(self) -> i128 {
        self.0
    }

    /// Whole nanoseconds, as a body carries them, and the part of a nanosecond that the correction field carries. Times that the
    /// wire cannot hold become the nearest that it can.
    pub fn split(self) -> (Self, Duration) {
        let held = self.0.clamp(0, WIRE_MAX_PS);
        let fraction = held % PS_IN_NS;
        // Below 1000.
        (Self(held - fraction), Duration::from_ps(fraction as i64))
    }

    pub(super) fn from_wire(seconds: u64, nanoseconds: u32) -> Self {
        Self(i128::from(seconds) * PS_IN_S + i128::from(nanoseconds) * PS_IN_NS)
    }

    /// Ten bytes. The part of a nanosecond is lost; see [`Self::split`].
    pub(super) fn to_wire(self) -> [u8; 10] {
        let held = self.0.clamp(0, WIRE_MAX_PS);
        let seconds = ((held / PS_IN_S) as u64).to_be_bytes();
        let nanoseconds = ((held % PS_IN_S / PS_IN_NS) as u32).to_be_bytes();
        let mut wire = [0; 10];
        wire[..6].copy_from_slice(&seconds[2..]);
        wire[6..].copy_from_slice(&nanoseconds);
        wire
    }
}

impl Add<Duration> for PtpTime {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i128::from(span.as_ps())))
    }
}

impl Sub<Duration> for PtpTime {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i128::from(span.as_ps())))
    }
}

/// The span between two times; the longest that a [`Duration`] holds if they are further apart.
impl Sub for PtpTime {
    type Output = Duration;
    fn sub(self, other: Self) -> Duration {
        let ps = self.0.saturating_sub(other.0).clamp(i128::from(-i64::MAX), i128::from(i64::MAX));
        // Held within the type just above.
        Duration::from_ps(ps as i64)
    }
}

/// 8192 units of 2^-16 ns are 125 ps.
const UNITS: i128 = 8192;
const UNITS_PS: i128 = 125;

/// To the nearest unit; spans beyond the field, 39 hours, become its end.
pub(super) fn correction_to_wire(correction: Duration) -> i64 {
    let units = (i128::from(correction.as_ps()) * UNITS + UNITS_PS / 2).div_euclid(UNITS_PS);
    units.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// To the nearest picosecond.
pub(super) fn correction_from_wire(units: i64) -> Duration {
    // A 65th of the range of i64 at most.
    Duration::from_ps((i128::from(units) * UNITS_PS + UNITS / 2).div_euclid(UNITS) as i64)
}
