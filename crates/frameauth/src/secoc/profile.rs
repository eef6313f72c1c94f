//! What a secured PDU consists of, in bits.

use core::fmt;

use super::FreshnessFormat;

/// The shortest tag a profile may have [bit]: that of profiles 1 and 2.
///
/// An attacker who may try as often as a classical bus at 500 kbit/s carries frames finds a tag of 24 bits in 78 min
/// and one of 28 bits in 21 h, on average.
pub const TAG_BITS_MIN: u8 = 24;
/// The longest tag a profile may have [bit].
pub const TAG_BITS_MAX: u8 = 64;
/// The most of a freshness value that may be sent [bit].
pub const SENT_BITS_MAX: u8 = 32;

/// How a PDU is secured: format of the freshness value, how many of its bits are sent, and how many of the tag.
///
/// AUTOSAR's profiles are [`Self::profile_1`], [`Self::profile_2`] and [`Self::profile_3`]; [`Self::new`] makes others.
/// The tag is always AES-128-CMAC's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecOcProfile {
    freshness: FreshnessFormat,
    sent_bits: u8,
    tag_bits: u8,
}

impl SecOcProfile {
    /// Profile 1, "24Bit-CMAC-8Bit-FV": the lowest 8 bits of the freshness value and the highest 24 of the tag.
    ///
    /// The profile leaves the format of the freshness value open.
    ///
    /// # Errors
    /// [`SecOcProfileError`] if `freshness` is [`FreshnessFormat::None`] or no 8 bits of it can be sent.
    pub const fn profile_1(freshness: FreshnessFormat) -> Result<Self, SecOcProfileError> {
        Self::new(freshness, 8, 24)
    }

    /// Profile 2, "24Bit-CMAC-No-FV": the highest 24 bits of the tag and no freshness value. **Replayable.**
    pub const fn profile_2() -> Self {
        Self { freshness: FreshnessFormat::None, sent_bits: 0, tag_bits: 24 }
    }

    /// Profile 3, "JASPAR": the lowest 4 bits of a freshness value of 64 bits and the highest 28 of the tag.
    ///
    /// The freshness value is [`FreshnessFormat::JASPAR`].
    pub const fn profile_3() -> Self {
        Self { freshness: FreshnessFormat::JASPAR, sent_bits: 4, tag_bits: 28 }
    }

    /// Checks the parts against each other.
    ///
    /// `tag_bits` is [`TAG_BITS_MIN`]`..=`[`TAG_BITS_MAX`]. `sent_bits` is 0 without a freshness value, else up to
    /// [`SENT_BITS_MAX`] and no more than the value has; with a reset flag at least the flag is sent.
    ///
    /// # Errors
    /// [`SecOcProfileError`], the first that applies.
    pub const fn new(freshness: FreshnessFormat, sent_bits: u8, tag_bits: u8) -> Result<Self, SecOcProfileError> {
        if let Err(error) = freshness.check() {
            return Err(error);
        }
        let (least, most) = freshness.sendable_bits();
        let most = if most > SENT_BITS_MAX { SENT_BITS_MAX } else { most };
        if sent_bits < least || sent_bits > most {
            return Err(SecOcProfileError::SentBits { found: sent_bits, least, most });
        }
        if tag_bits < TAG_BITS_MIN || tag_bits > TAG_BITS_MAX {
            return Err(SecOcProfileError::TagBits { found: tag_bits });
        }
        Ok(Self { freshness, sent_bits, tag_bits })
    }

    /// The complete freshness value.
    pub const fn freshness(&self) -> FreshnessFormat {
        self.freshness
    }

    /// How much of the freshness value is sent: its lowest bits [bit].
    pub const fn sent_bits(&self) -> u8 {
        self.sent_bits
    }

    /// How much of the tag is sent: its highest bits [bit].
    pub const fn tag_bits(&self) -> u8 {
        self.tag_bits
    }

    /// Bytes a secured PDU is longer than what it secures. Bits left over in the last byte are zero.
    pub const fn overhead(&self) -> usize {
        (self.sent_bits as usize + self.tag_bits as usize).div_ceil(8)
    }

    /// Whether a recorded PDU passes again. Say so wherever the profile is shown.
    pub const fn is_replayable(&self) -> bool {
        matches!(self.freshness, FreshnessFormat::None)
    }

    /// The name AUTOSAR gives to these numbers of bits, or `custom`.
    pub const fn name(&self) -> &'static str {
        match (self.sent_bits, self.tag_bits) {
            (8, 24) => "24Bit-CMAC-8Bit-FV",
            (0, 24) if self.is_replayable() => "24Bit-CMAC-No-FV",
            (4, 28) if matches!(self.freshness, FreshnessFormat::TripReset(_)) => "JASPAR",
            _ => "custom",
        }
    }
}

impl fmt::Display for SecOcProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why parts make no profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecOcProfileError {
    /// A counter of 0 or more than 8 bytes.
    #[error("a freshness counter has 1 to 8 bytes, not {found}")]
    CounterLen {
        /// What was asked for [byte].
        found: u8,
    },
    /// A counter of trips, resets or messages that is too narrow or too wide, or all together more than 64 bits.
    #[error(
        "trip {trip_bits}, reset {reset_bits} and message counter {message_bits} bit: 1..=24, 2..=24 and 1..=48 are \
         possible, together with the 2 bits of the reset flag 64 at most"
    )]
    CounterBits {
        /// Width of the trip counter [bit].
        trip_bits: u8,
        /// Width of the reset counter [bit].
        reset_bits: u8,
        /// Width of the message counter [bit].
        message_bits: u8,
    },
    /// More of the freshness value is sent than there is, or less than the receiver needs.
    #[error("{found} bits of the freshness value are to be sent; {least} to {most} are possible")]
    SentBits {
        /// What was asked for [bit].
        found: u8,
        /// The fewest possible [bit].
        least: u8,
        /// The most possible [bit].
        most: u8,
    },
    /// A tag outside [`TAG_BITS_MIN`]`..=`[`TAG_BITS_MAX`].
    #[error("a tag of {found} bits; {TAG_BITS_MIN} to {TAG_BITS_MAX} are possible")]
    TagBits {
        /// What was asked for [bit].
        found: u8,
    },
}
