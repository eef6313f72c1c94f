//! Quantities with units: what a scenario writes as `"125us"`, `"1500B"`, `"100Mbit/s"`, `"100ppm"`, `"2km"`.

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

/// A distance or a place along an axis `[mm]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Length(pub i64);

/// A speed `[mm/h]`: both metres a second and kilometres an hour are whole numbers of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Speed(pub i64);

/// How many pass in an hour `[10^-3/h]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Flow(pub i64);

/// A direction or a place on a sphere `[10^-9 degree]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Angle(pub i64);

/// A ratio of two powers, or a power held against 1 mW `[10^-3 dB]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Gain(pub i64);

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
const LENGTH_UNITS: &[Unit] = &[("mm", 1), ("m", 1_000), ("km", 1_000_000)];
const LENGTH_NAMES: &[&str] = &["mm", "m", "km"];
const SPEED_UNITS: &[Unit] = &[("m/s", 3_600_000), ("km/h", 1_000_000)];
const SPEED_NAMES: &[&str] = &["m/s", "km/h"];
const FLOW_UNITS: &[Unit] = &[("/h", 1_000), ("/min", 60_000)];
const FLOW_NAMES: &[&str] = &["/h", "/min"];
const ANGLE_UNITS: &[Unit] = &[("deg", 1_000_000_000)];
const ANGLE_NAMES: &[&str] = &["deg"];
const GAIN_UNITS: &[Unit] = &[("dB", 1_000), ("dBm", 1_000)];
const GAIN_NAMES: &[&str] = &["dB", "dBm"];

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

impl core::str::FromStr for Length {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, LENGTH_UNITS, LENGTH_NAMES).map(Self)
    }
}
impl core::str::FromStr for Speed {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, SPEED_UNITS, SPEED_NAMES).map(Self)
    }
}
impl core::str::FromStr for Flow {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, FLOW_UNITS, FLOW_NAMES).map(Self)
    }
}
impl core::str::FromStr for Angle {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, ANGLE_UNITS, ANGLE_NAMES).map(Self)
    }
}
impl core::str::FromStr for Gain {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, GAIN_UNITS, GAIN_NAMES).map(Self)
    }
}

impl Length {
    /// `[m]`
    pub const fn as_m(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}
impl Speed {
    /// `[m/s]`
    pub const fn as_m_s(self) -> f64 {
        self.0 as f64 / 3_600_000.0
    }
}
impl Flow {
    /// `[1/h]`
    pub const fn per_h(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}
impl Angle {
    /// `[degree]`
    pub const fn as_deg(self) -> f64 {
        self.0 as f64 / 1e9
    }
}
impl Gain {
    /// `[dB]`
    pub const fn as_db(self) -> f64 {
        self.0 as f64 / 1_000.0
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
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_signed(f, self.0, LENGTH_UNITS)
    }
}
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 3_600_000 {
            0 => write!(f, "{}m/s", self.0 / 3_600_000),
            _ => show_decimal(f, self.0, 6, "km/h"),
        }
    }
}
impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_decimal(f, self.0, 3, "/h")
    }
}
impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_decimal(f, self.0, 9, "deg")
    }
}
impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_decimal(f, self.0, 3, "dB")
    }
}

fn show_signed(f: &mut fmt::Formatter<'_>, value: i64, units: &[Unit]) -> fmt::Result {
    if value < 0 {
        f.write_str("-")?;
    }
    show(f, value.unsigned_abs(), units)
}

/// A number of 10^-`decimals` of a unit, without zeros at its end.
fn show_decimal(f: &mut fmt::Formatter<'_>, value: i64, decimals: u32, unit: &str) -> fmt::Result {
    let (scale, mut decimals) = (10u64.pow(decimals), decimals as usize);
    let mut rest = value.unsigned_abs() % scale;
    write!(f, "{}{}", if value < 0 { "-" } else { "" }, value.unsigned_abs() / scale)?;
    while rest != 0 && rest.is_multiple_of(10) {
        (rest, decimals) = (rest / 10, decimals - 1);
    }
    if rest != 0 {
        write!(f, ".{rest:0decimals$}")?;
    }
    f.write_str(unit)
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
    fn what_describes_a_road_reads_back_as_it_is_shown() {
        for (text, mm) in [("2km", 2_000_000), ("-2.5m", -2_500), ("0mm", 0)] {
            assert_eq!(text.parse(), Ok(Length(mm)));
        }
        assert_eq!(("-2.5m".parse::<Length>().unwrap().to_string(), Length(2_000_000).as_m()), ("-2500mm".into(), 2e3));
        for text in ["33m/s", "100km/h", "-0.5km/h"] {
            assert_eq!(text.parse::<Speed>().map(|speed| speed.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("33m/s".parse::<Speed>().map(Speed::as_m_s), Ok(33.0));
        assert_eq!("1000/h".parse::<Flow>().map(|flow| (flow.per_h(), flow.to_string())), Ok((1e3, "1000/h".into())));
        assert_eq!("2/min".parse(), Ok(Flow(120_000)));
        assert_eq!(
            "48.77deg".parse::<Angle>().map(|angle| (angle.as_deg(), angle.to_string())),
            Ok((48.77, "48.77deg".into()))
        );
        assert_eq!(
            "-8.05dB".parse::<Gain>().map(|gain| (gain.as_db(), gain.to_string())),
            Ok((-8.05, "-8.05dB".into()))
        );
        assert_eq!("33".parse::<Speed>(), Err(QuantityError::MissingUnit(SPEED_NAMES)));
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
