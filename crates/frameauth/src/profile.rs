//! How one stream is protected: checked once, used by its sender and its receivers.

use chronoseal_core::Work;
use chronoseal_crypto::{HashAlgorithm, TAG_LEN_MIN};

use crate::Freshness;

/// Bytes of the data identifier at the front of what the tag covers; it is not sent.
pub(crate) const DATA_ID_LEN: usize = 2;
/// Bytes of the whole freshness value at the end of what the tag covers.
pub(crate) const FRESHNESS_LEN: usize = 8;

/// The largest replay window [freshness values].
pub const REPLAY_WINDOW_MAX: u8 = 64;

/// Hash, tag length, freshness and replay window of a stream; every combination it can hold is a legal one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    hash: HashAlgorithm,
    tag_len: u8,
    freshness: Freshness,
    replay_window: u8,
}

impl Profile {
    /// Checks the parts against each other.
    ///
    /// `tag_len` is [`TAG_LEN_MIN`]`..=`[`HashAlgorithm::output_len`] [byte]. `replay_window` is
    /// 1..=[`REPLAY_WINDOW_MAX`] [freshness values]: 1 accepts only values above all before; it has no effect with
    /// [`Freshness::None`] but must be legal all the same.
    ///
    /// # Errors
    /// [`ProfileError`], the first that applies.
    pub const fn new(
        hash: HashAlgorithm,
        tag_len: u8,
        freshness: Freshness,
        replay_window: u8,
    ) -> Result<Self, ProfileError> {
        if (tag_len as usize) < TAG_LEN_MIN || tag_len as usize > hash.output_len() {
            return Err(ProfileError::TagLen { found: tag_len, hash });
        }
        if let Freshness::Truncated(len) = freshness
            && !(1 <= len && len <= 7)
        {
            return Err(ProfileError::TruncatedLen { found: len });
        }
        if replay_window == 0 || replay_window > REPLAY_WINDOW_MAX {
            return Err(ProfileError::ReplayWindow { found: replay_window });
        }
        Ok(Self { hash, tag_len, freshness, replay_window })
    }

    /// The hash under the tag.
    pub const fn hash(&self) -> HashAlgorithm {
        self.hash
    }

    /// Length of the tag on the wire [byte].
    pub const fn tag_len(&self) -> usize {
        self.tag_len as usize
    }

    /// How the freshness value travels.
    pub const fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// How many values, from the highest accepted downwards, are remembered one by one.
    pub const fn replay_window(&self) -> u8 {
        self.replay_window
    }

    /// Bytes a sealed PDU is longer than its payload: freshness value and tag.
    pub const fn overhead(&self) -> usize {
        self.freshness.wire_len() + self.tag_len as usize
    }

    /// Length of the payload in a sealed PDU of `pdu_len` bytes, or `None` if it cannot be one.
    pub const fn payload_len(&self, pdu_len: usize) -> Option<usize> {
        pdu_len.checked_sub(self.overhead())
    }

    /// Bytes the tag covers for a payload of `payload_len` bytes: data identifier, payload, whole freshness value.
    pub const fn mac_input_len(&self, payload_len: usize) -> usize {
        let freshness_len = if self.freshness.is_replayable() { 0 } else { FRESHNESS_LEN };
        DATA_ID_LEN.saturating_add(payload_len).saturating_add(freshness_len)
    }

    /// What sealing, or opening, a payload of `payload_len` bytes is charged as.
    pub fn work(&self, payload_len: usize) -> Work {
        let len = self.mac_input_len(payload_len);
        Work::of(self.hash.operation(), u32::try_from(len).unwrap_or(u32::MAX))
    }
}

/// Why a combination is no [`Profile`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The tag is shorter than any is accepted, or longer than the hash gives.
    #[error("a tag of {found} bytes does not go with {hash}; write {TAG_LEN_MIN} to {}", hash.output_len())]
    TagLen {
        /// What was asked for [byte].
        found: u8,
        /// With which hash.
        hash: HashAlgorithm,
    },
    /// A truncated freshness value has nothing, or everything, left.
    #[error("a freshness value cannot be truncated to {found} bytes; write 1 to 7")]
    TruncatedLen {
        /// What was asked for [byte].
        found: u8,
    },
    /// The replay window cannot be kept.
    #[error("a replay window of {found} freshness values cannot be kept; write 1 to {REPLAY_WINDOW_MAX}")]
    ReplayWindow {
        /// What was asked for [freshness values].
        found: u8,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_every_tag_length_the_hash_gives_and_no_other() {
        for hash in HashAlgorithm::ALL {
            for tag_len in 0..=u8::MAX {
                let legal = (TAG_LEN_MIN..=hash.output_len()).contains(&usize::from(tag_len));
                let expected = if legal { None } else { Some(ProfileError::TagLen { found: tag_len, hash }) };
                assert_eq!(Profile::new(hash, tag_len, Freshness::Full, 1).err(), expected);
            }
        }
    }

    #[test]
    fn refuses_a_truncation_that_keeps_nothing_or_all() {
        for len in [0, 8, 9, 255] {
            let made = Profile::new(HashAlgorithm::Sha256, 16, Freshness::Truncated(len), 1);
            assert_eq!(made, Err(ProfileError::TruncatedLen { found: len }));
        }
    }

    #[test]
    fn refuses_a_window_it_cannot_keep() {
        for window in 0..=u8::MAX {
            let made = Profile::new(HashAlgorithm::Sha256, 16, Freshness::None, window);
            assert_eq!(made.is_ok(), (1..=64).contains(&window), "{window}");
        }
    }

    #[test]
    fn overhead_is_freshness_bytes_and_tag() {
        for (freshness, overhead, covered) in [
            (Freshness::None, 16, 102),
            (Freshness::Full, 24, 110),
            (Freshness::Truncated(2), 18, 110),
            (Freshness::CycleCounter, 16, 110),
        ] {
            let profile = Profile::new(HashAlgorithm::Sha1, 16, freshness, 1).unwrap();
            assert_eq!(profile.overhead(), overhead);
            assert_eq!(profile.work(100).len, covered);
            assert_eq!(profile.payload_len(overhead), Some(0));
            assert_eq!(profile.payload_len(overhead - 1), None);
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = Profile::new(HashAlgorithm::Sha1, 32, Freshness::Full, 1).unwrap_err();
        assert_eq!(error.to_string(), "a tag of 32 bytes does not go with sha-1; write 4 to 20");
    }
}
