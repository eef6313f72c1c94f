//! From the bits of a count that were sent to the whole of it.

/// Half the span of a value truncated to `bits` bits: how far from the next expected value a PDU may be `[values]`.
///
/// `bits` is 1..=63.
pub(crate) const fn half_span(bits: u8) -> u64 {
    1 << (bits - 1)
}

/// The value nearest to `next` whose low `bits` bits are `low`; of two equally near, the one before.
///
/// `bits` is 1..=63. Below zero and above 2^64 - 1 there are no values, so near the ends the nearest one may lie further
/// than [`half_span`] away.
///
/// # Source
/// RFC 3711 (SRTP), 3.3.1 and appendix A, which completes a 16-bit sequence number with its rollover counter this way.
pub(crate) const fn reconstruct(low: u64, bits: u8, next: u64) -> u64 {
    let half = half_span(bits);
    let span = half << 1;
    // How far `low` lies ahead of `next`, counted round the truncated circle: 0..span.
    let ahead = low.wrapping_sub(next) & (span - 1);
    let behind = span - ahead;
    let fits_ahead = u64::MAX - next >= ahead;
    let fits_behind = next >= behind;
    if fits_ahead && (ahead < half || !fits_behind) { next + ahead } else { next - behind }
}

/// The part of a count that was sent.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) count: u64,
    /// After so many counts the part repeats; a power of two.
    pub(crate) span: u64,
}

impl Sent {
    /// The smallest count above `count` that has this part.
    pub(crate) fn first_above(self, count: u64) -> Option<u64> {
        let next = count.checked_add(1)?;
        next.checked_add(self.count.wrapping_sub(next) & (self.span - 1))
    }

    /// The largest count up to `count` that has this part.
    pub(crate) fn last_up_to(self, count: u64) -> Option<u64> {
        count.checked_sub(count.wrapping_sub(self.count) & (self.span - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn completes_across_a_wrap_of_the_truncated_part() {
        assert_eq!(reconstruct(0x00, 8, 0x1ff), 0x200);
        assert_eq!(reconstruct(0xff, 8, 0x200), 0x1ff);
        assert_eq!(reconstruct(0x7f, 8, 0x200), 0x27f);
        assert_eq!(reconstruct(0x80, 8, 0x200), 0x180, "of two equally near, the one before");
    }

    #[test]
    fn completes_at_both_ends_of_the_range() {
        assert_eq!(reconstruct(0xff, 8, 0), 0xff, "there is nothing below zero");
        assert_eq!(reconstruct(0x00, 8, u64::MAX), u64::MAX - 0xff, "nor above the last value");
        assert_eq!(reconstruct(0xff, 8, u64::MAX), u64::MAX);
        assert_eq!(reconstruct(0, 63, 1 << 62), 0, "of two equally near, the one before");
        assert_eq!(reconstruct(5, 63, u64::MAX - 3), (1 << 63) + 5);
    }

    proptest! {
        #[test]
        fn agrees_with_trying_every_candidate(low in any::<u64>(), bits in 1u8..=63, next in any::<u64>(), near_end in 0u8..3) {
            let next = match near_end { 0 => next % 70_000, 1 => u64::MAX - next % 70_000, _ => next };
            let span = 1i128 << bits;
            let low = i128::from(low) % span;
            let base = i128::from(next) / span * span + low;
            let nearest = (-2..=2)
                .map(|k| base + k * span)
                .filter(|candidate| u64::try_from(*candidate).is_ok())
                .min_by_key(|candidate| ((candidate - i128::from(next)).abs(), *candidate))
                .expect("five neighbouring candidates are not all outside the range");
            prop_assert_eq!(i128::from(reconstruct(low as u64, bits, next)), nearest);
        }

        #[test]
        fn finds_the_nearest_count_on_either_side(count in 0u64..10_000, low in 0u64..256, bits in 0u32..9) {
            let sent = Sent { count: low % (1 << bits), span: 1 << bits };
            let has_part = |candidate: &u64| candidate % sent.span == sent.count;
            prop_assert_eq!(sent.first_above(count), (count + 1..).find(has_part));
            prop_assert_eq!(sent.last_up_to(count), (0..=count).rev().find(has_part));
        }
    }

    #[test]
    fn there_is_no_count_beyond_the_ends() {
        let sent = Sent { count: 3, span: 256 };
        assert_eq!(sent.first_above(u64::MAX), None);
        assert_eq!(sent.first_above(u64::MAX - 250), None);
        assert_eq!(sent.last_up_to(2), None);
    }
}
