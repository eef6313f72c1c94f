//! Where the freshness value of a PDU comes from, and how much of it travels.

use core::fmt;

use crate::{
    ProfileError, TripResetLayout,
    bits::padding_bits,
    trip_reset::{RESET_FLAG_BITS, mask},
};

/// The most of a [`Freshness::Rising`] or [`Freshness::TripReset`] value that may be sent `[bit]`.
pub const SENT_BITS_MAX: u8 = 63;

/// How the receiver learns the freshness value a PDU was sealed with.
///
/// The value always enters the tag whole (except for [`Freshness::None`]); what differs is how much of it is on the
/// wire, and how a receiver comes to the rest. "Freshness value" is the AUTOSAR SecOC term for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Freshness {
    /// There is none, as in the ISRCS 2014 study. **Replayable**: a PDU heard once is authentic for ever.
    None,
    /// A count of 64 bits, sent whole.
    Full,
    /// A count of 64 bits, of which the low bits are sent. The receiver completes them to the value nearest to the one
    /// after the highest it has accepted, so that PDUs may overtake each other within the replay window.
    Truncated {
        /// How many are sent, 1..=63 `[bit]`. With 1 a receiver follows no loss at all.
        bits: u8,
    },
    /// Nothing is sent: sender and receiver both take the number of the cycle from their synchronised clocks.
    CycleCounter,
    /// A count of PDUs of `bits` bits, of which the low ones are sent. The receiver completes them to a value above the
    /// last one accepted and takes nothing else. AUTOSAR's single freshness counter.
    Rising {
        /// Width of the count, 1..=64; in the input of the tag zeros behind it fill up the last byte `[bit]`.
        bits: u8,
        /// How much of it is sent, 0..=[`SENT_BITS_MAX`] and no more than there is `[bit]`.
        sent_bits: u8,
    },
    /// Counters of trips, resets and messages, the first two kept alike in the whole network by a master. The receiver
    /// completes the message counter as with [`Freshness::Rising`].
    TripReset {
        /// Widths of the counters.
        layout: TripResetLayout,
        /// How much of the value is sent, 2 (the reset flag) ..=[`SENT_BITS_MAX`] `[bit]`.
        sent_bits: u8,
    },
}

impl Freshness {
    /// How much of the value is on the wire: its lowest bits `[bit]`.
    pub const fn sent_bits(self) -> u8 {
        match self {
            Self::None | Self::CycleCounter => 0,
            Self::Full => 64,
            Self::Truncated { bits } => bits,
            Self::Rising { sent_bits, .. } | Self::TripReset { sent_bits, .. } => sent_bits,
        }
    }

    /// Length of the whole value in the input of the tag `[byte]`.
    pub const fn complete_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Full | Self::Truncated { .. } | Self::CycleCounter => 8,
            Self::Rising { bits, .. } => bits.div_ceil(8) as usize,
            Self::TripReset { layout, .. } => layout.complete_len(),
        }
    }

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Full => "full",
            Self::Truncated { .. } => "truncated",
            Self::CycleCounter => "cycle-counter",
            Self::Rising { .. } => "rising",
            Self::TripReset { .. } => "trip-reset",
        }
    }

    /// Whether a recorded PDU passes again. Say so wherever this mode is shown.
    pub const fn is_replayable(self) -> bool {
        matches!(self, Self::None)
    }

    /// Whether a master has to tell trip and reset counters.
    pub const fn needs_master(self) -> bool {
        matches!(self, Self::TripReset { .. })
    }

    /// Whether sender and receiver take the value from a clock that both are synchronised to.
    pub const fn needs_clock(self) -> bool {
        matches!(self, Self::CycleCounter)
    }

    /// Whether no value of a stream comes twice as long as its sender keeps its count, so that a MAC may take it for a nonce.
    pub const fn is_nonce(self) -> bool {
        !self.is_replayable() && !self.needs_clock()
    }

    /// Whether receivers keep a window of the values just below the highest accepted.
    pub(crate) const fn has_window(self) -> bool {
        matches!(self, Self::Full | Self::Truncated { .. } | Self::CycleCounter)
    }

    /// The highest count of PDUs: of those since a reset with trip and reset counters, of all else.
    pub(crate) const fn count_max(self) -> u64 {
        match self {
            Self::None | Self::Full | Self::Truncated { .. } | Self::CycleCounter => u64::MAX,
            Self::Rising { bits, .. } => u64::MAX >> (64 - bits as u32),
            Self::TripReset { layout, .. } => mask(layout.message_bits),
        }
    }

    /// The bytes of a value as the tag covers them are the last [`Self::complete_len`] of these.
    pub(crate) const fn aligned(self, value: u64) -> [u8; 8] {
        match self {
            Self::TripReset { layout, .. } => (value << layout.padding_bits()).to_be_bytes(),
            Self::Rising { bits, .. } => (value << padding_bits(0, bits as u32)).to_be_bytes(),
            _ => value.to_be_bytes(),
        }
    }

    pub(crate) const fn check(self) -> Result<(), ProfileError> {
        let (found, least, most) = match self {
            Self::None | Self::Full | Self::CycleCounter => return Ok(()),
            Self::Truncated { bits: 1..=63 } => return Ok(()),
            Self::Truncated { bits } => return Err(ProfileError::TruncatedBits { found: bits }),
            Self::Rising { bits: bits @ (0 | 65..), .. } => return Err(ProfileError::CounterWidth { found: bits }),
            Self::Rising { bits, sent_bits } => (sent_bits, 0, bits),
            Self::TripReset { layout, sent_bits } => match layout.check() {
                Ok(()) => (sent_bits, RESET_FLAG_BITS, RESET_FLAG_BITS + layout.message_bits),
                Err(error) => return Err(error),
            },
        };
        let most = if most > SENT_BITS_MAX { SENT_BITS_MAX } else { most };
        if found < least || found > most {
            return Err(ProfileError::SentBits { found, least, most });
        }
        Ok(())
    }
}

impl fmt::Display for Freshness {
    /// The name, and for a truncated value its length: `truncated-2B`, `truncated-12b` if it is no whole byte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { bits } if bits.is_multiple_of(8) => write!(f, "{}-{}B", self.name(), bits / 8),
            Self::Truncated { bits } => write!(f, "{}-{bits}b", self.name()),
            other => f.pad(other.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sent_counts_on_the_wire() {
        assert_eq!(Freshness::None.sent_bits(), 0);
        assert_eq!(Freshness::CycleCounter.sent_bits(), 0);
        assert_eq!(Freshness::Full.sent_bits(), 64);
        for bits in 1..=63 {
            assert_eq!(Freshness::Truncated { bits }.sent_bits(), bits);
        }
    }

    #[test]
    fn only_the_mode_without_freshness_is_replayable() {
        assert!(Freshness::None.is_replayable());
        let rising = Freshness::Rising { bits: 64, sent_bits: 8 };
        for mode in [Freshness::Full, Freshness::Truncated { bits: 8 }, Freshness::CycleCounter, rising] {
            assert!(!mode.is_replayable());
        }
    }

    #[test]
    fn shows_a_truncated_value_with_its_length() {
        assert_eq!(Freshness::Truncated { bits: 16 }.to_string(), "truncated-2B");
        assert_eq!(Freshness::Truncated { bits: 12 }.to_string(), "truncated-12b");
        assert_eq!(Freshness::CycleCounter.to_string(), "cycle-counter");
    }
}
