//! Numbers as ARXML has them.

use chronoseal_core::Duration;

/// A whole number: decimal, or with `0x`, `0b` or a leading `0` for octal (AUTOSAR's primitive type Integer).
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = lower.strip_prefix("0b") {
        return u64::from_str_radix(digits, 2).ok();
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            u64::from_str_radix(digits, 8).ok()
        }
        _ => text.parse().ok(),
    }
}

/// A length above 0 and not above `max`.
pub(super) fn within(text: Option<&str>, max: u64) -> Option<u64> {
    integer(text?).filter(|number| (1..=max).contains(number))
}

/// Seconds above 0 and of no more than a day.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (1e-9..=86_400.0).contains(&seconds).then(|| Duration::from_ns((seconds * 1e9).round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_each_notation() {
        for (text, number) in [
            ("12", Some(12)),
            ("0x0a0B", Some(0x0a0b)),
            ("0b11", Some(3)),
            ("013", Some(11)),
            ("0", Some(0)),
            ("-1", None),
        ] {
            assert_eq!(integer(text), number, "{text}");
        }
        assert_eq!(seconds("0.1"), Some(Duration::from_ms(100)));
        assert_eq!([seconds("0"), seconds("-1"), seconds("nan"), seconds("1e9"), seconds("soon")], [None; 5]);
    }
}
