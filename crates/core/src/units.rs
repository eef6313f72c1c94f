//! Quantities with units: what a scenario writes as `"125us"`, `"1500B"`, `"100Mbit/s"`, `"100ppm"`.

use core::fmt;

use crate::Duration;

/// A length of data `[byte]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

/// A data rate `[bit/s]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rate(pub u64);

/// A relative deviation `[10^-9]`, written in parts per million.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ppm(pub i64);

/// A part of a whole `[10^-4]`, written in percent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Percent(pub u64);

/// Why a text is no quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum QuantityError {
    /// There is a number, but no unit.
    MissingUnit(&'static [&'static str]),
    /// There is a unit, but not one of this quantity.
    UnknownUnit(&'static [&'static str]),
    /// There is no number.
    NotANumber,
    /// The number has more digits than the quantity can hold exactly.
    TooFine,
    /// The number is larger than the quantity can hold.
    TooLarge,
    /// The quantity cannot be below zero.
    Negative,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, units: &[&str]| {
            for (i, unit) in units.iter().enumerate() {
                write!(f, "{}{unit}", if i == 0 { "" } else { ", " })?;
            }
            Ok(())
        };
        match self {
            Self::MissingUnit(units) => {
                f.write_str("the unit is missing; write one of ")?;
                list(f, units)
            }
            Self::UnknownUnit(units) => {
                f.write_str("the unit is not known here; write one of ")?;
                list(f, units)
            }
            Self::NotANumber => f.write_str("a number followed by a unit is expected"),
            Self::TooFine => f.write_str("the number has more decimals than can be held exactly"),
            Self::TooLarge => f.write_str("the number is too large"),
            Self::Negative => f.write_str("the quantity cannot be negative"),
        }
    }
}
impl core::error::Error for QuantityError {}

/// A unit and how many of the quantity's smallest steps it holds.
type Unit = (&'static str, i128);

const TIME_UNITS: &[Unit] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
const TIME_NAMES: &[&str] = &["ps", "ns", "us", "ms", "s"];
const BYTE_UNITS: &[Unit] = &[("B", 1), ("kB", 1_000), ("MB", 1_000_000)];
const BYTE_NAMES: &[&str] = &["B", "kB", "MB"];
const RATE_UNITS: &[Unit] = &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
const RATE_NAMES: &[&str] = &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"];
const PPM_UNITS: &[Unit] = &[("ppb", 1), ("ppm", 1_000)];
const PPM_NAMES: &[&str] = &["ppb", "ppm"];
const PERCENT_UNITS: &[Unit] = &[("%", 100)];
const PERCENT_NAMES: &[&str] = &["%"];

fn parse(text: &str, units: &'static [Unit], names: &'static [&'static str]) -> Result<i64, QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(QuantityError::NotANumber);
    }
    let unit = match unit.trim() {
        "" => return Err(QuantityError::MissingUnit(names)),
        // Both micro signs of Unicode.
        "\u{b5}s" | "\u{3bc}s" => "us",
        other => other,
    };
    let scale = units
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(QuantityError::UnknownUnit(names))
        .map(|(_, scale)| *scale)?;

    let (mut value, mut scale, mut after_point) = (0i128, scale, false);
    for c in digits.chars() {
        match c {
            '_' => {}
            '.' if !after_point => after_point = true,
            '0'..='9' => {
                let digit = i128::from(c as u8 - b'0');
                if after_point {
                    if scale % 10 != 0 {
                        if digit != 0 {
                            return Err(QuantityError::TooFine);
                        }
                        continue;
                    }
                    scale /= 10;
                    value += digit * scale;
                } else {
                    value = value.checked_mul(10).ok_or(QuantityError::TooLarge)? + digit * scale;
                }
            }
            _ => return Err(QuantityError::NotANumber),
        }
        if value > i128::from(i64::MAX) {
            return Err(QuantityError::TooLarge);
        }
    }
    let value = if number.starts_with('-') { -value } else { value };
    i64::try_from(value).map_err(|_| QuantityError::TooLarge)
}

impl core::str::FromStr for Duration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, TIME_UNITS, TIME_NAMES).map(Self::from_ps)
    }
}
impl core::str::FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        u64::try_from(parse(text, BYTE_UNITS, BYTE_NAMES)?).map(Self).map_err(|_| QuantityError::Negative)
    }
}
impl core::str::FromStr for Rate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        u64::try_from(parse(text, RATE_UNITS, RATE_NAMES)?).map(Self).map_err(|_| QuantityError::Negative)
    }
}
impl core::str::FromStr for Ppm {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, PPM_UNITS, PPM_NAMES).map(Self)
    }
}
impl core::str::FromStr for Percent {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        u64::try_from(parse(text, PERCENT_UNITS, PERCENT_NAMES)?).map(Self).map_err(|_| QuantityError::Negative)
    }
}

/// What one byte takes at 1 bit/s `[ps]`.
const BYTE_PS: u64 = 8_000_000_000_000;

impl Rate {
    /// How long `bytes` take at this rate, rounded up to a whole picosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    #[inline]
    pub const fn time_of(self, bytes: u64) -> Duration {
        assert!(self.0 > 0, "a rate of zero carries nothing");
        match BYTE_PS.checked_mul(bytes) {
            // Any frame: 64 bits hold up to 2.3 million bytes, and are divided several times faster than 128.
            Some(scaled) => Duration::from_ps(scaled.div_ceil(self.0) as i64),
            None => Duration::from_ps((BYTE_PS as u128 * bytes as u128).div_ceil(self.0 as u128) as i64),
        }
    }
}

fn show(f: &mut fmt::Formatter<'_>, value: u64, units: &[Unit]) -> fmt::Result {
    let (unit, scale) =
        units.iter().rev().find(|(_, scale)| value != 0 && i128::from(value) % scale == 0).unwrap_or(&units[0]);
    write!(f, "{}{unit}", i128::from(value) / scale)
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, RATE_UNITS)
    }
}
impl fmt::Display for Ppm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        show(f, self.0.unsigned_abs(), PPM_UNITS)
    }
}
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 / 100)?;
        match self.0 % 100 {
            0 => {}
            hundredths if hundredths % 10 == 0 => write!(f, ".{}", hundredths / 10)?,
            hundredths => write!(f, ".{hundredths:02}")?,
        }
        f.write_str("%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_a_scenario_writes() {
        assert_eq!("125us".parse(), Ok(Duration::from_us(125)));
        assert_eq!("0.2 ms".parse(), Ok(Duration::from_us(200)));
        assert_eq!("-5ms".parse(), Ok(Duration::from_ms(-5)));
        assert_eq!("1.5\u{b5}s".parse(), Ok(Duration::from_ns(1500)));
        assert_eq!("1500B".parse(), Ok(Bytes(1500)));
        assert_eq!("100Mbit/s".parse(), Ok(Rate(100_000_000)));
        assert_eq!("12.5ppm".parse(), Ok(Ppm(12_500)));
        for text in ["80%", "87.5%", "0.05%"] {
            assert_eq!(text.parse::<Percent>().map(|percent| percent.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn refuses_and_says_why() {
        assert_eq!("125".parse::<Duration>(), Err(QuantityError::MissingUnit(TIME_NAMES)));
        assert_eq!("125m".parse::<Duration>(), Err(QuantityError::UnknownUnit(TIME_NAMES)));
        assert_eq!("us".parse::<Duration>(), Err(QuantityError::NotANumber));
        assert_eq!("1.2.3us".parse::<Duration>(), Err(QuantityError::NotANumber));
        assert_eq!("0.1ps".parse::<Duration>(), Err(QuantityError::TooFine));
        assert_eq!("999999999s".parse::<Duration>(), Err(QuantityError::TooLarge));
        assert_eq!("99999999999999999999999999999999999999999s".parse::<Duration>(), Err(QuantityError::TooLarge));
        assert_eq!("-1B".parse::<Bytes>(), Err(QuantityError::Negative));
        assert_eq!("".parse::<Bytes>(), Err(QuantityError::NotANumber));
    }

    #[test]
    fn frame_time_is_exact() {
        assert_eq!(Rate(100_000_000).time_of(60), Duration::from_ns(4800));
        assert_eq!(Rate(1_000_000_000).time_of(1538), Duration::from_ns(12304));
    }

    proptest! {
        #[test]
        fn frame_time_is_the_same_in_64_bits_as_in_128(bytes in 0u64..5_000_000, rate in 1_000u64..10_000_000_000) {
            let plain = (8_000_000_000_000u128 * u128::from(bytes)).div_ceil(u128::from(rate));
            prop_assert_eq!(Rate(rate).time_of(bytes).as_ps() as u128, plain);
        }
        #[test]
        fn a_shown_duration_reads_back(ps in any::<i64>()) {
            prop_assume!(ps != i64::MIN);
            let span = Duration::from_ps(ps);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
        #[test]
        fn never_panics(text in ".{0,40}") {
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Ppm>();
        }
    }
}
