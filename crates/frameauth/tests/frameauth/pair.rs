//! A sender and a receiver of one stream.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::{Freshness, HashAlgorithm, KeyBytes, Opened, Opener, Profile, Sealer};
use proptest::prelude::*;

pub(crate) const DATA_ID: u16 = 0x0fcb;

pub(crate) fn key() -> KeyBytes {
    KeyBytes::from_array(core::array::from_fn(|i| i as u8 ^ 0xa5))
}

pub(crate) struct Pair {
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

impl Pair {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { sealer: Sealer::new(profile, &key(), DATA_ID), opener: Opener::new(profile, &key(), DATA_ID) }
    }

    /// Tags of 8 bytes: see `refusal` for why no shorter ones.
    pub(crate) fn with(freshness: Freshness, replay_window: u8) -> Self {
        Self::new(Profile::new(HashAlgorithm::Sha256, 8, freshness, replay_window).unwrap())
    }

    pub(crate) fn seal(&self, payload: &[u8], freshness: u64) -> Vec<u8> {
        seal(&self.sealer, payload, freshness)
    }

    /// Seals at the sender and opens at the receiver, both in cycle `freshness`.
    pub(crate) fn pass(&mut self, freshness: u64) -> Result<Option<u64>, DiscardReason> {
        let pdu = self.seal(b"payload", freshness);
        let Opened { payload, freshness } = self.opener.open(&pdu, Some(freshness))?;
        assert_eq!(payload, b"payload");
        Ok(freshness)
    }
}

pub(crate) fn seal(sealer: &Sealer, payload: &[u8], freshness: u64) -> Vec<u8> {
    let mut pdu = payload.to_vec();
    pdu.resize(payload.len() + sealer.profile().overhead(), 0xcc);
    let len = sealer.seal(&mut pdu, payload.len(), freshness).unwrap();
    assert_eq!(len, pdu.len());
    pdu
}

pub(crate) fn any_hash() -> impl Strategy<Value = HashAlgorithm> {
    prop::sample::select(&HashAlgorithm::ALL[..])
}

pub(crate) fn any_freshness() -> impl Strategy<Value = Freshness> {
    prop_oneof![
        Just(Freshness::None),
        Just(Freshness::Full),
        (1u8..=7).prop_map(Freshness::Truncated),
        Just(Freshness::CycleCounter),
    ]
}

/// Any profile with a tag of at least `tag_len_min` bytes.
pub(crate) fn any_profile(tag_len_min: u8) -> impl Strategy<Value = Profile> {
    (any_hash(), any_freshness(), any::<prop::sample::Index>(), 1u8..=64).prop_map(
        move |(hash, freshness, pick, window)| {
            let lens = usize::from(tag_len_min)..=hash.output_len();
            let tag_len = lens.start() + pick.index(lens.clone().count());
            Profile::new(hash, tag_len as u8, freshness, window).unwrap()
        },
    )
}
