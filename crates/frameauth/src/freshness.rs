//! Where the freshness value of a frame comes from, and how much of it travels.

use core::fmt;

/// How the receiver learns the freshness value a frame was sealed with.
///
/// The freshness value is 64 bits wide and always enters the tag whole (except for [`Freshness::None`]); what differs
/// is how much of it is on the wire. "Freshness value" is the AUTOSAR SecOC term for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Freshness {
    /// There is none, as in the ISRCS 2014 study. **Replayable**: a frame heard once is authentic for ever.
    None,
    /// All 8 bytes are sent.
    Full,
    /// The low 1..=7 bytes are sent; the receiver completes them from the highest value it has accepted.
    Truncated(u8),
    /// Nothing is sent: sender and receiver both take the number of the cycle from their synchronised clocks.
    CycleCounter,
}

impl Freshness {
    /// Bytes on the wire.
    pub const fn wire_len(self) -> usize {
        match self {
            Self::None | Self::CycleCounter => 0,
            Self::Full => 8,
            Self::Truncated(len) => len as usize,
        }
    }

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Full => "full",
            Self::Truncated(_) => "truncated",
            Self::CycleCounter => "cycle-counter",
        }
    }

    /// Whether a recorded frame passes again. Say so wherever this mode is shown.
    pub const fn is_replayable(self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Display for Freshness {
    /// The name, and for a truncated value its length: `truncated-2B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(len) => write!(f, "{}-{len}B", self.name()),
            other => f.pad(other.name()),
        }
    }
}

/// Half the span of a value truncated to `len` bytes: how far from the next expected value a frame may be [values].
///
/// `len` is 1..=7.
pub(crate) const fn half_span(len: u8) -> u64 {
    1 << (8 * len as u32 - 1)
}

/// The value nearest to `next` whose low `len` bytes are `low`; of two equally near, the one before.
///
/// `len` is 1..=7. Below zero and above 2^64 - 1 there are no values, so near the ends the nearest one may lie further
/// than [`half_span`] away.
///
/// # Source
/// RFC 3711 (SRTP), 3.3.1 and appendix A, which completes a 16-bit sequence number with its rollover counter this way.
pub(crate) const fn reconstruct(low: u64, len: u8, next: u64) -> u64 {
    let half = half_span(len);
    let span = half << 1;
    // How far `low` lies ahead of `next`, counted round the truncated circle: 0..span.
    let ahead = low.wrapping_sub(next) & (span - 1);
    let behind = span - ahead;
    let fits_ahead = u64::MAX - next >= ahead;
    let fits_behind = next >= behind;
    if fits_ahead && (ahead < half || !fits_behind) { next + ahead } else { next - behind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wire_length_counts_only_what_is_sent() {
        assert_eq!(Freshness::None.wire_len(), 0);
        assert_eq!(Freshness::CycleCounter.wire_len(), 0);
        assert_eq!(Freshness::Full.wire_len(), 8);
        for len in 1..=7 {
            assert_eq!(Freshness::Truncated(len).wire_len(), usize::from(len));
        }
    }

    #[test]
    fn only_the_mode_without_freshness_is_replayable() {
        assert!(Freshness::None.is_replayable());
        for mode in [Freshness::Full, Freshness::Truncated(1), Freshness::CycleCounter] {
            assert!(!mode.is_replayable());
        }
    }

    #[test]
    fn completes_across_a_wrap_of_the_truncated_part() {
        assert_eq!(reconstruct(0x00, 1, 0x1ff), 0x200);
        assert_eq!(reconstruct(0xff, 1, 0x200), 0x1ff);
        assert_eq!(reconstruct(0x7f, 1, 0x200), 0x27f);
        assert_eq!(reconstruct(0x80, 1, 0x200), 0x180, "of two equally near, the one before");
    }

    #[test]
    fn completes_at_both_ends_of_the_range() {
        assert_eq!(reconstruct(0xff, 1, 0), 0xff, "there is nothing below zero");
        assert_eq!(reconstruct(0x00, 1, u64::MAX), u64::MAX - 0xff, "nor above the last value");
        assert_eq!(reconstruct(0xff, 1, u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn agrees_with_trying_every_candidate(low in any::<u64>(), len in 1u8..=2, next in any::<u64>(), near_end in 0u8..3) {
            let next = match near_end { 0 => next % 70_000, 1 => u64::MAX - next % 70_000, _ => next };
            let span = 1i128 << (8 * len);
            let low = i128::from(low) % span;
            let base = i128::from(next) / span * span + low;
            let nearest = (-2..=2)
                .map(|k| base + k * span)
                .filter(|candidate| u64::try_from(*candidate).is_ok())
                .min_by_key(|candidate| ((candidate - i128::from(next)).abs(), *candidate))
                .expect("five neighbouring candidates are not all outside the range");
            prop_assert_eq!(i128::from(reconstruct(low as u64, len, next)), nearest);
        }
    }
}
