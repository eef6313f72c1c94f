//! A sender and a receiver of one stream.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::KeyLen;
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Opened, Opener, Profile, Sealer, SymmetricKey};
use proptest::prelude::*;

pub(crate) const DATA_ID: u16 = 0x0fcb;

pub(crate) fn key() -> KeyBytes {
    KeyBytes::from_array(core::array::from_fn(|i| i as u8 ^ 0xa5))
}

/// A key of a length the algorithm takes; with HMAC it is [`key`].
pub(crate) fn key_for(mac: MacAlgorithm) -> SymmetricKey {
    let len = match mac.key_len() {
        KeyLen::Any => KeyBytes::LEN,
        KeyLen::Exactly(len) => len,
    };
    SymmetricKey::from_slice(&key().expose()[..len]).unwrap()
}

pub(crate) struct Pair {
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

impl Pair {
    pub(crate) fn new(profile: Profile) -> Self {
        let key = key_for(profile.mac());
        Self {
            sealer: Sealer::new(profile, &key, DATA_ID).unwrap(),
            opener: Opener::new(profile, &key, DATA_ID).unwrap(),
        }
    }

    /// Tags of 8 bytes: see `refusal` for why no shorter ones.
    pub(crate) fn with(freshness: Freshness, replay_window: u8) -> Self {
        Self::new(Profile::new(MacAlgorithm::HmacSha256, 64, freshness, replay_window).unwrap())
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

pub(crate) fn any_mac() -> impl Strategy<Value = MacAlgorithm> {
    prop::sample::select(&MacAlgorithm::ALL[..])
}

/// Every mode in which the caller gives the freshness value, in whole bytes.
pub(crate) fn any_freshness() -> impl Strategy<Value = Freshness> {
    prop_oneof![
        Just(Freshness::None),
        Just(Freshness::Full),
        (1u8..=7).prop_map(|len| Freshness::Truncated { bits: 8 * len }),
        Just(Freshness::CycleCounter),
    ]
}

/// Any profile in whole bytes with a tag of at least `tag_bits_min` bits.
pub(crate) fn any_profile(tag_bits_min: u16) -> impl Strategy<Value = Profile> {
    (any_mac(), any_freshness(), any::<prop::sample::Index>(), 1u8..=64)
        .prop_filter("a nonce needs freshness", |(mac, freshness, ..)| !mac.needs_nonce() || freshness.is_nonce())
        .prop_map(move |(mac, freshness, pick, window)| {
            let lens = tag_bits_min.max(mac.tag_bits_min()).div_ceil(8)..=mac.tag_bits_max() / 8;
            let tag_len = lens.start() + pick.index(lens.clone().count()) as u16;
            Profile::new(mac, 8 * tag_len, freshness, window).unwrap()
        })
}

/// Any profile counted in bits with a tag of at least `tag_bits_min` bits.
pub(crate) fn any_profile_in_bits(tag_bits_min: u16) -> impl Strategy<Value = Profile> {
    (any_profile(tag_bits_min), 1u8..=63, 0u16..8).prop_map(move |(profile, sent_bits, fewer)| {
        let freshness = match profile.freshness() {
            Freshness::Truncated { .. } => Freshness::Truncated { bits: sent_bits },
            other => other,
        };
        let fewer = fewer / profile.mac().tag_bits_step() * profile.mac().tag_bits_step();
        let tag_bits = (profile.tag_bits() - fewer).max(tag_bits_min).max(profile.mac().tag_bits_min());
        Profile::new(profile.mac(), tag_bits, freshness, profile.replay_window()).unwrap()
    })
}
