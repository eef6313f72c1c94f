//! Times, IEEE 1609.2 clauses 6.3.11, 6.3.12 and 6.4.14 to 6.4.16: TAI since the beginning of 2004, UTC.

use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};

/// Seconds since 2004-01-01T00:00:00 UTC, leap seconds counted `[s]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time32(pub u32);

/// Microseconds since 2004-01-01T00:00:00 UTC, leap seconds counted `[us]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time64(pub u64);

/// Seconds between the Unix epoch and that of 1609.2.
const EPOCH_UNIX_S: u64 = 1_072_915_200;

/// Leap seconds inserted since 2004: ends of 2005, 2008, June 2012, June 2015, 2016 (IERS Bulletin C); by Unix time of
/// the first second after each. None was announced up to the end of 2026.
const LEAP_SECONDS_UNIX_S: [u64; 5] = [1_136_073_600, 1_230_768_000, 1_341_100_800, 1_435_708_800, 1_483_228_800];

impl Time64 {
    /// The time of a Unix clock, which does not count leap seconds `[us]`. Before 2004: the beginning of 2004.
    pub fn from_unix_us(unix_us: u64) -> Self {
        let leap_s = LEAP_SECONDS_UNIX_S.iter().filter(|after| unix_us >= **after * 1_000_000).count() as u64;
        Self((unix_us + leap_s * 1_000_000).saturating_sub(EPOCH_UNIX_S * 1_000_000))
    }

    /// The time as a Unix clock shows it `[us]`.
    pub fn to_unix_us(self) -> u64 {
        let with_leaps = self.0.saturating_add(EPOCH_UNIX_S * 1_000_000);
        let leap_s = (0_u64..)
            .zip(LEAP_SECONDS_UNIX_S)
            .filter(|(earlier, after)| with_leaps >= (after + earlier + 1) * 1_000_000)
            .count() as u64;
        with_leaps - leap_s * 1_000_000
    }

    /// Whole seconds.
    pub fn time32(self) -> Time32 {
        Time32(u32::try_from(self.0 / 1_000_000).unwrap_or(u32::MAX))
    }

    /// This much later.
    #[must_use]
    pub fn plus_us(self, us: u64) -> Self {
        Self(self.0.saturating_add(us))
    }
}

impl Time32 {
    /// The same instant in microseconds.
    pub fn time64(self) -> Time64 {
        Time64(u64::from(self.0) * 1_000_000)
    }
}

impl<'a> Decode<'a> for Time32 {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.u32().map(Self)
    }
}

impl Encode for Time32 {
    fn encode(&self, writer: &mut Writer) {
        writer.u32(self.0);
    }
}

impl<'a> Decode<'a> for Time64 {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.u64().map(Self)
    }
}

impl Encode for Time64 {
    fn encode(&self, writer: &mut Writer) {
        writer.u64(self.0);
    }
}

/// How long a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum Duration {
    Microseconds(u16),
    Milliseconds(u16),
    Seconds(u16),
    Minutes(u16),
    Hours(u16),
    SixtyHours(u16),
    /// A year is 31,556,952 s, the mean Gregorian one, IEEE 1609.2 clause 6.4.16.
    Years(u16),
}

impl Duration {
    /// Length `[us]`.
    pub fn us(self) -> u64 {
        let (count, unit_us) = match self {
            Self::Microseconds(count) => (count, 1),
            Self::Milliseconds(count) => (count, 1_000),
            Self::Seconds(count) => (count, 1_000_000),
            Self::Minutes(count) => (count, 60_000_000),
            Self::Hours(count) => (count, 3_600_000_000),
            Self::SixtyHours(count) => (count, 216_000_000_000),
            Self::Years(count) => (count, 31_556_952_000_000),
        };
        u64::from(count) * unit_us
    }
}

impl<'a> Decode<'a> for Duration {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Microseconds(reader.u16()?),
            1 => Self::Milliseconds(reader.u16()?),
            2 => Self::Seconds(reader.u16()?),
            3 => Self::Minutes(reader.u16()?),
            4 => Self::Hours(reader.u16()?),
            5 => Self::SixtyHours(reader.u16()?),
            6 => Self::Years(reader.u16()?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for Duration {
    fn encode(&self, writer: &mut Writer) {
        let (number, count) = match *self {
            Self::Microseconds(count) => (0, count),
            Self::Milliseconds(count) => (1, count),
            Self::Seconds(count) => (2, count),
            Self::Minutes(count) => (3, count),
            Self::Hours(count) => (4, count),
            Self::SixtyHours(count) => (5, count),
            Self::Years(count) => (6, count),
        };
        writer.tag(number);
        writer.u16(count);
    }
}

/// When a certificate is valid: from `start`, for `duration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValidityPeriod {
    /// First second of validity.
    pub start: Time32,
    /// How long from there.
    pub duration: Duration,
}

impl ValidityPeriod {
    /// First instant at which it is over.
    pub fn end(&self) -> Time64 {
        self.start.time64().plus_us(self.duration.us())
    }

    /// Whether `time` lies in it.
    pub fn contains(&self, time: Time64) -> bool {
        self.start.time64() <= time && time < self.end()
    }

    /// Whether all of `inner` lies in it.
    pub fn covers(&self, inner: &Self) -> bool {
        self.start <= inner.start && inner.end() <= self.end()
    }
}

impl<'a> Decode<'a> for ValidityPeriod {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { start: reader.component("start")?, duration: reader.component("duration")? })
    }
}

impl Encode for ValidityPeriod {
    fn encode(&self, writer: &mut Writer) {
        self.start.encode(writer);
        self.duration.encode(writer);
    }
}
