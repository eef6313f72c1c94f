//! How one stream is protected: checked once, used by its sender and its receivers.

use core::fmt;

use chronoseal_core::Work;
use chronoseal_crypto::MacAlgorithm;

use crate::{DataId, Freshness};

/// The largest replay window `[freshness values]`.
pub const REPLAY_WINDOW_MAX: u8 = 64;

/// A tag of fewer bits is guessed in hours at the latest, so nobody is advised to take one, and it counts as no protection against a
/// forger: the fewest that AUTOSAR's SecOC has in its profiles `[bit]`.
pub const TAG_BITS_ADVISED: u16 = 24;

/// Algorithm, tag length, freshness and replay window of a stream; every combination it can hold is a legal one.
///
/// It says nothing of a wire. AUTOSAR's profiles are in [`crate::secoc`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Profile {
    mac: MacAlgorithm,
    tag_bits: u16,
    freshness: Freshness,
    replay_window: u8,
}

impl Profile {
    /// Checks the parts against each other.
    ///
    /// `tag_bits` is [`MacAlgorithm::tag_bits_min`]`..=`[`MacAlgorithm::tag_bits_max`] `[bit]`. `replay_window` is
    /// 1..=[`REPLAY_WINDOW_MAX`] `[freshness values]`: 1 accepts only values above all before. It has no effect without
    /// freshness, nor where only rising values are taken anyway ([`Freshness::Rising`], [`Freshness::TripReset`]), but
    /// must be legal all the same.
    ///
    /// # Errors
    /// [`ProfileError`], the first that applies.
    pub const fn new(
        mac: MacAlgorithm,
        tag_bits: u16,
        freshness: Freshness,
        replay_window: u8,
    ) -> Result<Self, ProfileError> {
        if !mac.takes_tag_bits(tag_bits) {
            return Err(ProfileError::TagBits { found: tag_bits, mac });
        }
        if let Err(error) = freshness.check() {
            return Err(error);
        }
        if mac.needs_nonce() && freshness.is_replayable() {
            return Err(ProfileError::NonceWithoutFreshness { mac });
        }
        if mac.needs_nonce() && !freshness.is_nonce() {
            return Err(ProfileError::NonceOfACluster { mac });
        }
        if replay_window == 0 || replay_window > REPLAY_WINDOW_MAX {
            return Err(ProfileError::ReplayWindow { found: replay_window });
        }
        Ok(Self { mac, tag_bits, freshness, replay_window })
    }

    /// The algorithm of the tag.
    pub const fn mac(&self) -> MacAlgorithm {
        self.mac
    }

    /// How much of the tag is on the wire: its highest bits `[bit]`.
    pub const fn tag_bits(&self) -> u16 {
        self.tag_bits
    }

    /// How the freshness value travels.
    pub const fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// How many values, from the highest accepted downwards, are remembered one by one.
    pub const fn replay_window(&self) -> u8 {
        self.replay_window
    }

    /// Whether a recorded PDU passes again. Say so wherever the profile is shown.
    pub const fn is_replayable(&self) -> bool {
        self.freshness.is_replayable()
    }

    /// Bytes a sealed PDU is longer than its payload, whatever the payload's length: freshness value, tag, and zeros up
    /// to a whole byte.
    pub const fn overhead(&self) -> usize {
        (self.freshness.sent_bits() as usize + self.tag_bits as usize).div_ceil(8)
    }

    /// Length of a sealed PDU with a payload of `payload_len` bytes `[byte]`.
    pub const fn secured_len(&self, payload_len: usize) -> usize {
        payload_len.saturating_add(self.overhead())
    }

    /// Length of the payload in a sealed PDU of `pdu_len` bytes, or `None` if it cannot be one.
    pub const fn payload_len(&self, pdu_len: usize) -> Option<usize> {
        pdu_len.checked_sub(self.overhead())
    }

    /// The longest tag with which a payload of `payload_len` bytes still fits in `room` bytes, all else being equal
    /// `[bit]`; `None` if not even the shortest tag of the algorithm fits, or one of 24 bits, the fewest that AUTOSAR has in its profiles. For
    /// a message that says what to write instead.
    pub const fn tag_bits_that_fit(&self, room: usize, payload_len: usize) -> Option<u16> {
        let trailer_bits = room.saturating_sub(payload_len).saturating_mul(8);
        let tag_bits = trailer_bits.saturating_sub(self.freshness.sent_bits() as usize);
        if tag_bits < self.mac.tag_bits_min() as usize || tag_bits < TAG_BITS_ADVISED as usize {
            None
        } else if tag_bits > self.mac.tag_bits_max() as usize {
            Some(self.mac.tag_bits_max())
        } else {
            Some(tag_bits as u16 / self.mac.tag_bits_step() * self.mac.tag_bits_step())
        }
    }

    /// Bytes the tag covers for a payload of `payload_len` bytes: identity of the stream, payload, whole freshness value.
    pub const fn mac_input_len(&self, data_id: &DataId, payload_len: usize) -> usize {
        data_id.covered_len().saturating_add(payload_len).saturating_add(self.freshness.complete_len())
    }

    /// What sealing, or opening, a payload of `payload_len` bytes is charged as.
    pub fn work(&self, data_id: &DataId, payload_len: usize) -> Work {
        let len = self.mac_input_len(data_id, payload_len);
        Work::of(self.mac.operation(), u32::try_from(len).unwrap_or(u32::MAX))
    }

    /// Whether every part of a trailer is a whole number of bytes.
    pub(crate) const fn is_in_bytes(&self) -> bool {
        self.freshness.sent_bits().is_multiple_of(8) && self.tag_bits.is_multiple_of(8)
    }
}

impl fmt::Display for Profile {
    /// Algorithm, tag and freshness: `hmac-sha-256, tag 128 bit, truncated-2B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tag {} bit, {}", self.mac, self.tag_bits, self.freshness)
    }
}

/// Why a combination is no [`Profile`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The tag is shorter than any is accepted, or longer than the algorithm gives.
    #[error("a tag of {found} bits does not go with {mac}; write {} to {}{}", mac.tag_bits_min(), mac.tag_bits_max(), if mac.tag_bits_step() == 8 { " in whole bytes" } else { "" })]
    TagBits {
        /// What was asked for `[bit]`.
        found: u16,
        /// With which algorithm.
        mac: MacAlgorithm,
    },
    /// A truncated freshness value has nothing, or everything, left.
    #[error("a freshness value cannot be truncated to {found} bits; write 1 to 63")]
    TruncatedBits {
        /// What was asked for `[bit]`.
        found: u8,
    },
    /// A counter of 0 or more than 64 bits.
    #[error("a freshness counter has 1 to 64 bits, not {found}")]
    CounterWidth {
        /// What was asked for `[bit]`.
        found: u8,
    },
    /// A counter of trips, resets or messages that is too narrow or too wide, or all together more than 64 bits.
    #[error(
        "trip {trip_bits}, reset {reset_bits} and message counter {message_bits} bit: 1..=24, 2..=24 and 1..=48 are \
         possible, together with the 2 bits of the reset flag 64 at most"
    )]
    CounterBits {
        /// Width of the trip counter `[bit]`.
        trip_bits: u8,
        /// Width of the reset counter `[bit]`.
        reset_bits: u8,
        /// Width of the message counter `[bit]`.
        message_bits: u8,
    },
    /// More of the freshness value is sent than there is, or less than the receiver needs.
    #[error("{found} bits of the freshness value are to be sent; {least} to {most} are possible")]
    SentBits {
        /// What was asked for `[bit]`.
        found: u8,
        /// The fewest possible `[bit]`.
        least: u8,
        /// The most possible `[bit]`.
        most: u8,
    },
    /// The algorithm needs a nonce, and there is no freshness value to take for one.
    #[error("{mac} needs a nonce for each message and takes the freshness value for it; choose a freshness")]
    NonceWithoutFreshness {
        /// Which algorithm.
        mac: MacAlgorithm,
    },
    /// The algorithm needs a nonce, and the freshness value can come twice.
    #[error(
        "{mac} needs a nonce that never comes twice under a key, and the cycle counter begins anew when the cluster does; \
         choose another freshness"
    )]
    NonceOfACluster {
        /// Which algorithm.
        mac: MacAlgorithm,
    },
    /// The replay window cannot be kept.
    #[error("a replay window of {found} freshness values cannot be kept; write 1 to {REPLAY_WINDOW_MAX}")]
    ReplayWindow {
        /// What was asked for `[freshness values]`.
        found: u8,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: DataId = DataId::number(1);

    #[test]
    fn accepts_every_tag_length_the_algorithm_gives_and_no_other() {
        for mac in MacAlgorithm::ALL {
            for tag_bits in (0..=1024).chain([u16::MAX]) {
                let legal = (mac.tag_bits_min()..=mac.tag_bits_max()).contains(&tag_bits)
                    && (!mac.needs_nonce() || tag_bits % 8 == 0);
                let expected = if legal { None } else { Some(ProfileError::TagBits { found: tag_bits, mac }) };
                assert_eq!(Profile::new(mac, tag_bits, Freshness::Full, 1).err(), expected);
            }
        }
    }

    #[test]
    fn refuses_a_truncation_that_keeps_nothing_or_all() {
        for bits in [0, 64, 65, 255] {
            let made = Profile::new(MacAlgorithm::HmacSha256, 128, Freshness::Truncated { bits }, 1);
            assert_eq!(made, Err(ProfileError::TruncatedBits { found: bits }));
        }
        for bits in [1, 63] {
            assert!(Profile::new(MacAlgorithm::HmacSha256, 128, Freshness::Truncated { bits }, 1).is_ok());
        }
    }

    #[test]
    fn refuses_a_window_it_cannot_keep() {
        for window in 0..=u8::MAX {
            let made = Profile::new(MacAlgorithm::HmacSha256, 128, Freshness::Full, window);
            assert_eq!(made.is_ok(), (1..=64).contains(&window), "{window}");
        }
    }

    #[test]
    fn refuses_a_nonce_without_freshness() {
        for mac in MacAlgorithm::ALL {
            let made = Profile::new(mac, mac.tag_bits_max(), Freshness::None, 1);
            assert_eq!(made.err(), mac.needs_nonce().then_some(ProfileError::NonceWithoutFreshness { mac }));
            let made = Profile::new(mac, mac.tag_bits_max(), Freshness::CycleCounter, 1);
            assert_eq!(made.err(), mac.needs_nonce().then_some(ProfileError::NonceOfACluster { mac }));
        }
    }

    #[test]
    fn overhead_is_freshness_bytes_and_tag() {
        for (freshness, overhead, covered) in [
            (Freshness::None, 16, 102),
            (Freshness::Full, 24, 110),
            (Freshness::Truncated { bits: 16 }, 18, 110),
            (Freshness::Truncated { bits: 4 }, 17, 110),
            (Freshness::CycleCounter, 16, 110),
            (Freshness::Rising { bits: 32, sent_bits: 8 }, 17, 106),
        ] {
            let profile = Profile::new(MacAlgorithm::HmacSha1, 128, freshness, 1).unwrap();
            assert_eq!(profile.overhead(), overhead);
            assert_eq!(profile.work(&ID, 100).len, covered);
            assert_eq!(profile.secured_len(100), 100 + overhead);
            assert_eq!(profile.payload_len(overhead), Some(0));
            assert_eq!(profile.payload_len(overhead - 1), None);
        }
    }

    #[test]
    fn says_the_longest_tag_that_fits_and_none_that_does_not() {
        let profile = Profile::new(MacAlgorithm::HmacSha256, 128, Freshness::Truncated { bits: 4 }, 1).unwrap();
        for (room, payload_len, expected) in [
            (8, 3, Some(36)),
            (8, 4, None),
            (8, 9, None),
            (64, 31, Some(256)),
            (64, 60, None),
            (usize::MAX, 0, Some(256)),
            (0, usize::MAX, None),
        ] {
            assert_eq!(profile.tag_bits_that_fit(room, payload_len), expected, "{room} {payload_len}");
            let Some(tag_bits) = expected else { continue };
            let fitting = Profile::new(profile.mac(), tag_bits, profile.freshness(), 1).unwrap();
            assert!(fitting.secured_len(payload_len) <= room);
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = Profile::new(MacAlgorithm::HmacSha1, 256, Freshness::Full, 1).unwrap_err();
        assert_eq!(error.to_string(), "a tag of 256 bits does not go with hmac-sha-1; write 32 to 160");
    }
}
