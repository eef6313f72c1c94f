//! A quantity as a scenario writes it: a string with its unit.

use std::fmt;
use std::str::FromStr;

use chronoseal_core::{Angle, Bytes, Duration, Flow, Gain, Length, Percent, Ppm, QuantityError, Rate, Speed};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A quantity written with its unit, such as `"125us"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Quantity<T>(pub T);

/// What a scenario can write with a unit.
pub trait Measured: FromStr<Err = QuantityError> + fmt::Display {
    /// Its name in schema and messages.
    const NAME: &'static str;
    /// A value as a person would write it.
    const EXAMPLE: &'static str;
    /// Its units, as a regular expression.
    const UNITS: &'static str;
}

/// A number of frames.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Frames(pub u32);

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames", self.0)
    }
}

impl FromStr for Frames {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        const UNITS: &[&str] = &[" frames"];
        let (number, unit) = whole_number(text)?;
        match unit {
            "" => Err(QuantityError::MissingUnit(UNITS)),
            "frames" | "frame" => number.map(Self),
            _ => Err(QuantityError::UnknownUnit(UNITS)),
        }
    }
}

/// A length in bits, as tags and freshness values have: whole bytes, or bits `[bit]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bits(pub u32);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bits if bits.is_multiple_of(8) => write!(f, "{}B", bits / 8),
            bits => write!(f, "{bits}bit"),
        }
    }
}

impl FromStr for Bits {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        const UNITS: &[&str] = &["B", "bit"];
        let (number, unit) = whole_number(text)?;
        match unit {
            "" => Err(QuantityError::MissingUnit(UNITS)),
            "B" => number.and_then(|bytes| bytes.checked_mul(8).map(Self).ok_or(QuantityError::TooLarge)),
            "bit" => number.map(Self),
            _ => Err(QuantityError::UnknownUnit(UNITS)),
        }
    }
}

/// A whole number, and the unit behind it.
fn whole_number(text: &str) -> Result<(Result<u32, QuantityError>, &str), QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return Err(QuantityError::NotANumber);
    }
    let digits = number.strip_prefix('+').unwrap_or(number).replace('_', "");
    let value = match number.starts_with('-') {
        true => Err(QuantityError::Negative),
        false => digits.parse().map_err(|_| QuantityError::TooLarge),
    };
    Ok((value, unit.trim()))
}

impl Measured for Frames {
    const NAME: &'static str = "number of frames";
    const EXAMPLE: &'static str = "64 frames";
    const UNITS: &'static str = "frames?";
}
impl Measured for Bits {
    const NAME: &'static str = "length in bits";
    const EXAMPLE: &'static str = "8B";
    const UNITS: &'static str = "(B|bit)";
}
impl Measured for Duration {
    const NAME: &'static str = "duration";
    const EXAMPLE: &'static str = "125us";
    const UNITS: &'static str = "(ps|ns|us|\u{b5}s|\u{3bc}s|ms|s)";
}
impl Measured for Bytes {
    const NAME: &'static str = "size";
    const EXAMPLE: &'static str = "60B";
    const UNITS: &'static str = "(B|kB|MB)";
}
impl Measured for Rate {
    const NAME: &'static str = "rate";
    const EXAMPLE: &'static str = "100Mbit/s";
    const UNITS: &'static str = "(bit/s|kbit/s|Mbit/s|Gbit/s)";
}
impl Measured for Ppm {
    const NAME: &'static str = "deviation";
    const EXAMPLE: &'static str = "100ppm";
    const UNITS: &'static str = "(ppb|ppm)";
}
impl Measured for Percent {
    const NAME: &'static str = "part";
    const EXAMPLE: &'static str = "80%";
    const UNITS: &'static str = "%";
}
impl Measured for Length {
    const NAME: &'static str = "length";
    const EXAMPLE: &'static str = "2km";
    const UNITS: &'static str = "(mm|m|km)";
}
impl Measured for Speed {
    const NAME: &'static str = "speed";
    const EXAMPLE: &'static str = "120km/h";
    const UNITS: &'static str = "(m/s|km/h)";
}
impl Measured for Flow {
    const NAME: &'static str = "flow";
    const EXAMPLE: &'static str = "1000/h";
    const UNITS: &'static str = "(/h|/min)";
}
impl Measured for Angle {
    const NAME: &'static str = "angle";
    const EXAMPLE: &'static str = "90deg";
    const UNITS: &'static str = "deg";
}
impl Measured for Gain {
    const NAME: &'static str = "ratio of powers";
    const EXAMPLE: &'static str = "10dB";
    const UNITS: &'static str = "(dB|dBm)";
}

/// Checks `text` as the quantity that a schema calls `name` and gives an example of it.
pub(crate) fn check(name: &str, text: &str) -> (Result<(), QuantityError>, &'static str) {
    fn one<T: Measured>(text: &str) -> (Result<(), QuantityError>, &'static str) {
        (text.parse::<T>().map(|_| ()), T::EXAMPLE)
    }
    match name {
        Rate::NAME => one::<Rate>(text),
        Bytes::NAME => one::<Bytes>(text),
        Ppm::NAME => one::<Ppm>(text),
        Percent::NAME => one::<Percent>(text),
        Frames::NAME => one::<Frames>(text),
        Bits::NAME => one::<Bits>(text),
        Length::NAME => one::<Length>(text),
        Speed::NAME => one::<Speed>(text),
        Flow::NAME => one::<Flow>(text),
        Angle::NAME => one::<Angle>(text),
        Gain::NAME => one::<Gain>(text),
        _ => one::<Duration>(text),
    }
}

impl<T: fmt::Display> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: Measured> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}

impl<T: Measured> JsonSchema for Quantity<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!(r"^\s*[-+]?[0-9][0-9_]*(\.[0-9_]*)?\s*{}\s*$", T::UNITS),
            "examples": [T::EXAMPLE],
            "x-quantity": T::NAME,
        })
    }
}
