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

    /// The date of the calendar and the time of day, UTC: `2026-11-22 16:30:05`. A leap second is shown as the second after it.
    pub fn date(self) -> String {
        let unix_s = self.to_unix_us() / 1_000_000;
        let (mut days, second) = (unix_s / 86_400, unix_s % 86_400);
        // Eras of 400 years from 0000-03-01 on, so that the leap day is the last of its year.
        days += 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year + u64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let date = |unix_s: u64| Time64::from_unix_us(unix_s * 1_000_000).date();
        // `date -u -d @N` of GNU coreutils.
        assert_eq!(date(1_072_915_200), "2004-01-01 00:00:00");
        assert_eq!(date(1_078_012_799), "2004-02-28 23:59:59");
        assert_eq!(date(1_078_012_800), "2004-02-29 00:00:00");
        assert_eq!(date(1_078_099_200), "2004-03-01 00:00:00");
        assert_eq!(date(1_483_228_799), "2016-12-31 23:59:59");
        assert_eq!(date(1_795_365_005), "2026-11-22 16:30:05");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00:00");
    }
}
