//! What the text formats share: numbered lines, hexadecimal data, decimal times.

use std::borrow::Cow;

use chronoseal_wire::can::CanId;

use crate::error::Place;

/// A line of a text recording.
pub(crate) struct Line<'a> {
    pub(crate) place: Place,
    /// Without white space at its ends. Bytes that are no UTF-8, which only names and comments hold, are replaced.
    pub(crate) text: Cow<'a, str>,
    /// True if nothing follows and not even a line end: the file may have been cut here.
    pub(crate) is_open: bool,
}

/// The lines of `bytes` that are not blank.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    bytes.split_inclusive(|byte| *byte == b'\n').zip(1..).filter_map(|(line, number)| {
        let is_open = !line.ends_with(b"\n");
        let text = match String::from_utf8_lossy(line) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        (!text.is_empty()).then_some(Line { place: Place::Line(number), text, is_open })
    })
}

/// Decimal seconds with at most nine digits behind the point that count `[ns]`.
pub(crate) fn seconds_ns(text: &str) -> Option<u64> {
    decimal(text, 9)
}

/// Decimal milliseconds `[ns]`.
pub(crate) fn milliseconds_ns(text: &str) -> Option<u64> {
    decimal(text, 6)
}

/// `text` times 10^`decimals`; what is finer is cut off.
fn decimal(text: &str, decimals: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value: u64 = whole.parse().ok()?;
    let mut digits = fraction.bytes();
    for _ in 0..decimals {
        value = value.checked_mul(10)?.checked_add(u64::from(digits.next().unwrap_or(b'0') - b'0'))?;
    }
    Some(value)
}

/// Pairs of hexadecimal digits without anything between them.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks(2)
        .map(|pair| hex_number(str::from_utf8(pair).ok()?))
        .map(|byte| byte.map(|byte| byte as u8))
        .collect()
}

/// Hexadecimal digits and nothing else; at most eight.
pub(crate) fn hex_number(text: &str) -> Option<u32> {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex && text.len() <= 8).then(|| u32::from_str_radix(text, 16).ok())?
}

/// A number in the given base and nothing else, no sign.
pub(crate) fn number(text: &str, base: u32) -> Option<u32> {
    let is_number = !text.is_empty() && text.chars().all(|c| c.is_digit(base));
    is_number.then(|| u32::from_str_radix(text, base).ok())?
}

/// An identifier, if `raw` is in its range.
pub(crate) fn can_id(raw: u32, extended: bool) -> Option<CanId> {
    if extended { CanId::extended(raw).ok() } else { CanId::standard(u16::try_from(raw).ok()?).ok() }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar from then on; `None` if it is none.
pub(crate) fn days_since_1970(year: u32, month: u32, day: u32) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let is_leap = |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days_of = |month: u32| match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=days_of(month)).contains(&day) {
        return None;
    }
    // Leap years before `year`, less those before 1970.
    let leaps = |year: u32| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let days = (year - 1970) * 365 + leaps(year) - leaps(1970) + (1..month).map(days_of).sum::<u32>() + day - 1;
    Some(u64::from(days))
}
