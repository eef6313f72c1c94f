//! How a stream is protected at one of its ends, whatever wire it is on.

use chronoseal_crypto::{KeyLenError, symmetric::Key128};
use chronoseal_frameauth::{DataId, Freshness, MacAlgorithm, Profile, SymmetricKey, SyncProtectionError};

/// How a stream is protected at one of its ends.
#[derive(Clone, Debug)]
pub enum Protection {
    /// Not at all; `padding` bytes may be added to stand for a mechanism of that size.
    None {
        /// Bytes added `[byte]`.
        padding: usize,
    },
    /// By a tag.
    Secured {
        /// Algorithm, tag, freshness, window.
        profile: Profile,
        /// The key, or `None` if it is the group key.
        key: Option<SymmetricKey>,
        /// The identity under the tag: the same at every end, behind gateways too.
        data_id: DataId,
    },
}

/// Why a stream cannot be protected so at this station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtectionError {
    /// The cycle counter needs slots.
    #[error("a CAN bus has no slots that both ends count; choose another freshness than `{}`", Freshness::CycleCounter)]
    CycleCounterOnCan,
    /// Trip and reset counters need a master that tells them.
    #[error("a station on Ethernet hears no master of trip and reset counters; choose another freshness")]
    TripResetOnEthernet,
    /// The cycle counter needs slots.
    #[error(
        "a lossy link has no slots that both ends count; choose another freshness than `{}`",
        Freshness::CycleCounter
    )]
    CycleCounterOnLink,
    /// Trip and reset counters need a master that tells them.
    #[error("a station on a lossy link hears no master of trip and reset counters; choose another freshness")]
    TripResetOnLink,
    /// The group key needs an agent that comes to it.
    #[error("a station on a lossy link has no group key; give the stream a key of its own")]
    GroupKeyOnLink,
    /// The group key needs an agent that comes to it.
    #[error("a station on Ethernet has no group key; give the stream a key of its own")]
    GroupKeyOnEthernet,
    /// The algorithm takes no key of the length that the group key has.
    #[error("the group key has {} bytes, and {mac} takes no such key", Key128::LEN)]
    GroupKeyLen {
        /// Which algorithm.
        mac: MacAlgorithm,
    },
    /// The algorithm takes no key of the length given.
    #[error(transparent)]
    KeyLen(#[from] KeyLenError),
    /// The synchronisation message of trip and reset counters cannot be protected so.
    #[error("the synchronisation message cannot be protected: {0}")]
    Synchronisation(#[from] SyncProtectionError),
}

impl Protection {
    /// No protection and no padding.
    pub const NONE: Self = Self::None { padding: 0 };

    /// Bytes a PDU is longer than what it carries `[byte]`.
    pub const fn overhead(&self) -> usize {
        match self {
            Self::None { padding } => *padding,
            Self::Secured { profile, .. } => profile.overhead(),
        }
    }

    /// Whether a station of a CAN bus can do it.
    ///
    /// # Errors
    /// [`ProtectionError`], the first reason why not.
    pub fn check_on_can(&self) -> Result<(), ProtectionError> {
        let Self::Secured { profile, key, .. } = self else { return Ok(()) };
        if profile.freshness().needs_clock() {
            return Err(ProtectionError::CycleCounterOnCan);
        }
        match key {
            Some(key) => Ok(KeyLenError::check(profile.mac(), key.expose().len())?),
            None if profile.mac().takes_key_len(Key128::LEN) => Ok(()),
            None => Err(ProtectionError::GroupKeyLen { mac: profile.mac() }),
        }
    }

    /// Whether a station on a lossy link can do it.
    ///
    /// # Errors
    /// [`ProtectionError`], the first reason why not.
    pub fn check_on_link(&self) -> Result<(), ProtectionError> {
        let Self::Secured { profile, key, .. } = self else { return Ok(()) };
        if profile.freshness().needs_clock() {
            return Err(ProtectionError::CycleCounterOnLink);
        }
        if profile.freshness().needs_master() {
            return Err(ProtectionError::TripResetOnLink);
        }
        let key = key.as_ref().ok_or(ProtectionError::GroupKeyOnLink)?;
        Ok(KeyLenError::check(profile.mac(), key.expose().len())?)
    }

    /// Whether a station of a time-triggered Ethernet can do it.
    ///
    /// # Errors
    /// [`ProtectionError`], the first reason why not.
    pub fn check_on_ethernet(&self) -> Result<(), ProtectionError> {
        let Self::Secured { profile, key, .. } = self else { return Ok(()) };
        if profile.freshness().needs_master() {
            return Err(ProtectionError::TripResetOnEthernet);
        }
        let key = key.as_ref().ok_or(ProtectionError::GroupKeyOnEthernet)?;
        Ok(KeyLenError::check(profile.mac(), key.expose().len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_frameauth::secoc::{self, FreshnessFormat};

    fn secured(profile: Profile, key_len: Option<usize>) -> Protection {
        let key = key_len.and_then(|len| SymmetricKey::from_slice(&vec![7; len]));
        Protection::Secured { profile, key, data_id: DataId::number(7) }
    }

    fn hmac(freshness: Freshness) -> Profile {
        Profile::new(MacAlgorithm::HmacSha256, 64, freshness, 8).expect("a legal profile")
    }

    #[test]
    fn each_wire_refuses_what_it_lacks_and_says_so() {
        let secoc_1 = secoc::profile_1(FreshnessFormat::Counter { bits: 64 }).expect("8 bits can be sent");
        let short = KeyLenError { found: 16, algorithm: MacAlgorithm::CmacAes128 };
        let long = KeyLenError { found: 64, ..short };
        for (protection, on_can, on_ethernet, on_link) in [
            (Protection::NONE, Ok(()), Ok(()), Ok(())),
            (Protection::None { padding: 24 }, Ok(()), Ok(()), Ok(())),
            (secured(hmac(Freshness::Full), Some(64)), Ok(()), Ok(()), Ok(())),
            (secured(hmac(Freshness::None), Some(16)), Ok(()), Ok(()), Ok(())),
            (secured(secoc_1, Some(16)), Ok(()), Ok(()), Ok(())),
            (
                secured(hmac(Freshness::CycleCounter), Some(64)),
                Err(ProtectionError::CycleCounterOnCan),
                Ok(()),
                Err(ProtectionError::CycleCounterOnLink),
            ),
            (
                secured(secoc::profile_3(), Some(16)),
                Ok(()),
                Err(ProtectionError::TripResetOnEthernet),
                Err(ProtectionError::TripResetOnLink),
            ),
            (
                secured(hmac(Freshness::Full), None),
                Ok(()),
                Err(ProtectionError::GroupKeyOnEthernet),
                Err(ProtectionError::GroupKeyOnLink),
            ),
            (secured(secoc_1, Some(64)), Err(long.into()), Err(long.into()), Err(long.into())),
        ] {
            assert_eq!(protection.check_on_can(), on_can, "{protection:?}");
            assert_eq!(protection.check_on_ethernet(), on_ethernet, "{protection:?}");
            assert_eq!(protection.check_on_link(), on_link, "{protection:?}");
        }
    }

    #[test]
    fn shows_no_key() {
        let shown = format!("{:?}", secured(hmac(Freshness::Full), Some(64)));
        assert!(shown.contains("hidden") && !shown.contains("7, 7"), "{shown}");
    }
}
