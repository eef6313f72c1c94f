//! AUTOSAR SecOC: its profiles 1, 2 and 3 as presets of [`Profile`], and what becomes of losses and restarts.
//!
//! # Profiles
//! | profile | tag sent `[bit]` | freshness value sent `[bit]` | complete value | bytes more | a replayed PDU |
//! |---|---:|---:|---|---:|---|
//! | 1, "24Bit-CMAC-8Bit-FV" | 24 | 8 | open: [`FreshnessFormat::Counter`] or [`FreshnessFormat::TripReset`] | 4 | is refused |
//! | 2, "24Bit-CMAC-No-FV" | 24 | 0 | none | 3 | **passes** |
//! | 3, "JASPAR" | 28 | 4 | 64 bit: trip, reset, message counter, reset flag | 4 | is refused |
//!
//! The MAC is AES-128-CMAC (NIST SP 800-38B). Source: AUTOSAR document 969 (PRS SecOcProtocol) for the profiles,
//! document 654 (SWS SecureOnboardCommunication), chapter 11, for trips and resets. The bits are those of the layout in
//! the crate's documentation; PDUs are sealed by [`crate::Sealer::seal_next`].
//!
//! # What becomes of losses and restarts
//! | what happened | counter | trip and reset counters |
//! |---|---|---|
//! | PDUs lost, fewer than the sent bits count | nothing is noticed | nothing is noticed |
//! | as many or more | bridged up to [`crate::Opener::with_attempts`] spans, else [`crate::Opener::resume_after`] | the same, or until the next reset |
//! | a synchronisation message lost at one node | | reset counters up to two apart are tried |
//! | more than two lost | | `tag-mismatch` until the next message is heard |
//! | the receiver restarts | [`crate::Opener::resume_after`] | [`crate::SyncSlave::resume_after`], then the next reset |
//! | the sender restarts | [`crate::Sealer::resume_after`] | [`crate::Sealer::resume_after_epoch`], then the next reset |
//! | the master restarts | | the next trip |
//! | a counter is at its end | a new key | the next reset, trip, or a new key |
//!
//! # Example
//! Profile 3, one classical frame of synchronisation and one of data:
//!
//! ```
//! use chronoseal_core::DiscardReason;
//! use chronoseal_crypto::{MacAlgorithm, symmetric::Key128};
//! use chronoseal_frameauth::{Opener, Sealer, SyncMaster, SyncProtection, SyncSlave, secoc};
//!
//! let key = Key128::from_array(std::array::from_fn(|i| i as u8));
//! let sync = SyncProtection::new(secoc::JASPAR, MacAlgorithm::CmacAes128, 28, &key, 0x000f)?;
//! let (mut master, mut slave) = (SyncMaster::start(sync.clone(), 41)?, SyncSlave::new(sync));
//! let mut frame = [0; 8];
//! master.write_message(&mut frame)?;
//! slave.handle_message(&frame).expect("authentic and later than what is known");
//!
//! let mut sender = Sealer::new(secoc::profile_3(), &key, 0x0123)?;
//! let mut receiver = Opener::new(secoc::profile_3(), &key, 0x0123)?;
//! let mut pdu = [1, 2, 3, 4, /* room for the trailer: */ 0, 0, 0, 0];
//! assert_eq!(sender.seal_next(&mut pdu, 4, Some(master.current()))?, 8);
//! assert_eq!(pdu[4] >> 4, 0b01_01, "message counter 1, reset flag 1");
//! assert_eq!(receiver.open(&pdu, slave.current()).expect("authentic and fresh").payload, [1, 2, 3, 4]);
//! assert_eq!(receiver.open(&pdu, slave.current()), Err(DiscardReason::Replayed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use chronoseal_crypto::MacAlgorithm;

use crate::{Freshness, Profile, ProfileError, TripResetLayout};

/// The longest tag of a SecOC profile of its own here, and of a synchronisation message `[bit]`. The shortest is that of its MAC.
pub const TAG_BITS_MAX: u16 = 64;

/// The 64 bits of profile 3: trip 16, reset 20, message 26, reset flag 2.
///
/// The split is ours, since the profile names only the sum. With it the synchronisation message, trip and reset
/// counter and 28 bits of tag, fills the 8 bytes of one classical CAN frame.
pub const JASPAR: TripResetLayout = TripResetLayout { trip_bits: 16, reset_bits: 20, message_bits: 26 };

/// What the complete freshness value is made of, where a profile leaves it open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreshnessFormat {
    /// There is none. **Replayable.**
    None,
    /// One counter of 1..=64 bits, counted up by the sender for every PDU.
    Counter {
        /// Its width `[bit]`.
        bits: u8,
    },
    /// Counters of trips, resets and messages, the first two kept alike in the whole network by a master.
    TripReset(TripResetLayout),
}

/// Profile 1, "24Bit-CMAC-8Bit-FV": the lowest 8 bits of the freshness value and the highest 24 of the tag.
///
/// The profile leaves the format of the freshness value open.
///
/// # Errors
/// [`SecOcProfileError`] if `format` is [`FreshnessFormat::None`] or no 8 bits of it can be sent.
pub const fn profile_1(format: FreshnessFormat) -> Result<Profile, SecOcProfileError> {
    profile(format, 8, 24)
}

/// Profile 2, "24Bit-CMAC-No-FV": the highest 24 bits of the tag and no freshness value. **Replayable.**
pub const fn profile_2() -> Profile {
    PROFILE_2
}

/// Profile 3, "JASPAR": the lowest 4 bits of a freshness value of 64 bits, [`JASPAR`], and the highest 28 of the tag.
pub const fn profile_3() -> Profile {
    PROFILE_3
}

const PROFILE_2: Profile = checked(FreshnessFormat::None, 0, 24);
const PROFILE_3: Profile = checked(FreshnessFormat::TripReset(JASPAR), 4, 28);

const fn checked(format: FreshnessFormat, sent_bits: u8, tag_bits: u16) -> Profile {
    match profile(format, sent_bits, tag_bits) {
        Ok(profile) => profile,
        Err(_) => panic!("a profile of AUTOSAR's is possible"),
    }
}

/// A profile of its own, with AES-128-CMAC as all of AUTOSAR's have.
///
/// `tag_bits` is 1..=[`TAG_BITS_MAX`]; what fewer than 24 are worth, see the MAC. `sent_bits` is 0 without a freshness value, else up to
/// [`crate::SENT_BITS_MAX`] and no more than the value has; with a reset flag at least the flag is sent.
///
/// # Errors
/// [`SecOcProfileError`], the first that applies.
pub const fn profile(format: FreshnessFormat, sent_bits: u8, tag_bits: u16) -> Result<Profile, SecOcProfileError> {
    let freshness = match format {
        FreshnessFormat::None if sent_bits > 0 => {
            let error = ProfileError::SentBits { found: sent_bits, least: 0, most: 0 };
            return Err(SecOcProfileError::Profile(error));
        }
        FreshnessFormat::None => Freshness::None,
        FreshnessFormat::Counter { bits } => Freshness::Rising { bits, sent_bits },
        FreshnessFormat::TripReset(layout) => Freshness::TripReset { layout, sent_bits },
    };
    if let Err(error) = freshness.check() {
        return Err(SecOcProfileError::Profile(error));
    }
    if tag_bits < MacAlgorithm::CmacAes128.tag_bits_min() || tag_bits > TAG_BITS_MAX {
        return Err(SecOcProfileError::TagBits { found: tag_bits });
    }
    match Profile::new(MacAlgorithm::CmacAes128, tag_bits, freshness, 1) {
        Ok(profile) => Ok(profile),
        Err(error) => Err(SecOcProfileError::Profile(error)),
    }
}

/// What a profile is called that AUTOSAR has no name for.
pub const CUSTOM: &str = "custom";

/// The name AUTOSAR gives to a profile's numbers of bits, or [`CUSTOM`].
pub const fn name(profile: &Profile) -> &'static str {
    if !matches!(profile.mac(), MacAlgorithm::CmacAes128) {
        return CUSTOM;
    }
    match (profile.freshness(), profile.tag_bits()) {
        (Freshness::Rising { sent_bits: 8, .. } | Freshness::TripReset { sent_bits: 8, .. }, 24) => {
            "24Bit-CMAC-8Bit-FV"
        }
        (Freshness::None, 24) => "24Bit-CMAC-No-FV",
        (Freshness::TripReset { sent_bits: 4, .. }, 28) => "JASPAR",
        _ => CUSTOM,
    }
}

/// Why parts make no SecOC profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecOcProfileError {
    /// They make no profile at all.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A tag outside 1..=[`TAG_BITS_MAX`].
    #[error("a tag of {found} bits; 1 to {TAG_BITS_MAX} are possible")]
    TagBits {
        /// What was asked for `[bit]`.
        found: u16,
    },
}
