//! Numbers with units: `10`, `"10"`, `"2kB"`, `"10kbps"`, `"1ms"`.

use super::super::rational::{Rational, whole};

/// A number has so many digits at most, and stands so many places before or behind the point.
const DIGITS_MAX: usize = 40;
const EXPONENT_MAX: i64 = 30;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// In seconds.
    Time,
    /// In bits.
    Data,
    /// In bits a second.
    Rate,
}

impl Quantity {
    /// What a file may say, for a message.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Time => "a time such as 10, \"10us\" or \"1ms\", from 0",
            Self::Data => "an amount of data such as 50, \"50B\" or \"2kB\", from 0",
            Self::Rate => "a rate such as 4, \"4Mbps\" or \"10kbps\", from 0",
        }
    }

    /// How much one of a unit is, in seconds, bits or bits a second; `None` if it is no unit of this.
    pub(super) fn unit(self, text: &str) -> Option<Rational> {
        let (multiplier, rest) = match self {
            Self::Time | Self::Data => split_last(text, 1)?,
            Self::Rate => split_last(text, 3)?,
        };
        let base = match self {
            Self::Time => time(rest)?,
            Self::Data => data(rest)?,
            Self::Rate => {
                let (of, per) = rest.split_once('p')?;
                data(of)? / time(per)?
            }
        };
        let factor = power_of_ten(multiplier)?;
        // There is no part of a bit.
        (self != Self::Data || factor >= whole(1)).then(|| base * factor)
    }

    /// A number with its unit, or in units of `default` without one; `None` if it is neither, or below zero.
    pub(super) fn parse(self, text: &str, default: &Rational) -> Option<Rational> {
        let text = text.trim();
        if let Some(number) = decimal(text) {
            return (!number.is_negative()).then(|| number * default);
        }
        // The unit is what is left behind the longest number, so that `1E3b` is a thousand bits and `1Eb` an exabit.
        let ends = text.char_indices().map(|(at, _)| at).rev();
        let (number, unit) = ends.map(|at| text.split_at(at)).find_map(|(number, unit)| {
            let unit = self.unit(unit)?;
            Some((decimal(number)?, unit))
        })?;
        (!number.is_negative()).then(|| number * unit)
    }
}

/// The last `count` bytes, and what stands before them: nothing or one letter.
fn split_last(text: &str, count: usize) -> Option<(&str, &str)> {
    let at = text.len().checked_sub(count)?;
    let (multiplier, rest) = (text.get(..at)?, text.get(at..)?);
    (multiplier.chars().count() <= 1).then_some((multiplier, rest))
}

fn time(text: &str) -> Option<Rational> {
    match text {
        "s" => Some(whole(1)),
        "m" => Some(whole(60)),
        "h" => Some(whole(3600)),
        _ => None,
    }
}

fn data(text: &str) -> Option<Rational> {
    match text {
        "b" => Some(whole(1)),
        "B" => Some(whole(8)),
        _ => None,
    }
}

fn power_of_ten(multiplier: &str) -> Option<Rational> {
    let exponent = match multiplier {
        "a" => -18,
        "f" => -15,
        "p" => -12,
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => return None,
    };
    Some(whole(10).pow(exponent))
}

/// A decimal number as it stands there, with an exponent or without.
pub(super) fn decimal(text: &str) -> Option<Rational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{before}{behind}");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || digits.len() > DIGITS_MAX || !(-EXPONENT_MAX..=EXPONENT_MAX).contains(&exponent) {
        return None;
    }
    let places = i32::try_from(exponent - behind.len() as i64).ok()?;
    let number: Rational = digits.parse().ok()?;
    Some(if number.is_zero() { number } else { number * whole(sign) * whole(10).pow(places) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::ratio;

    #[test]
    fn numbers_are_taken_with_their_units_and_others_in_the_default_one() {
        use Quantity::{Data, Rate, Time};
        let of = |quantity: Quantity, text: &str, unit: &str| quantity.parse(text, &quantity.unit(unit).unwrap());
        for (quantity, text, unit, expected) in [
            (Time, "10", "us", ratio(1, 100_000)),
            (Time, "1e-2", "s", ratio(1, 100)),
            (Time, " 1ms", "us", ratio(1, 1000)),
            (Time, "3m", "us", whole(180)),
            (Time, "0.5h", "us", whole(1800)),
            (Data, "10", "B", whole(80)),
            (Data, "2kB", "b", whole(16_000)),
            (Data, "1E3b", "b", whole(1000)),
            (Data, "1Eb", "b", whole(10).pow(18)),
            (Rate, "0.5", "kbps", whole(500)),
            (Rate, "100Gbps", "bps", whole(10).pow(11)),
            (Rate, "6Bpm", "bps", ratio(4, 5)),
        ] {
            assert_eq!(of(quantity, text, unit), Some(expected), "{text} in {unit}");
        }
        for (quantity, text) in [
            (Time, "-1us"),
            (Time, "1xs"),
            (Time, "1kps"),
            (Time, ""),
            (Time, "s"),
            (Time, "1 2"),
            (Time, "1e31"),
            (Time, "NaN"),
            (Data, "1mb"),
            (Data, "4Mbps"),
            (Rate, "4Mb"),
            (Rate, "4Mbpß"),
            (Rate, "-0.5"),
        ] {
            assert_eq!(quantity.parse(text, &whole(1)), None, "{text}");
        }
    }
}
