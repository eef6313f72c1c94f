//! What sender and receiver share: the key, the exact bytes the tag covers, and where its bits are.

use chronoseal_core::Work;
use chronoseal_crypto::{KeyLenError, Label, MacAlgorithm, MacKey, OUTPUT_LEN_MAX, Secret, SymmetricKey};
use subtle::ConstantTimeEq;

use crate::{
    DataId, Profile, SealError,
    bits::{cut, head, pack, pack_short, padding_bits},
};

/// The longest trailer: 64 bits of freshness value and a whole tag `[byte]`.
const TRAILER_LEN_MAX: usize = 8 + OUTPUT_LEN_MAX;
/// Tags up to here are put in place as one number `[bit]`.
const SHORT_TAG_BITS: u16 = 64;

/// Profile, key and identity of one stream: the same at its sender and its receivers.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    profile: Profile,
    mac: MacKey,
    data_id: DataId,
}

/// A sealed PDU taken apart, nothing of it checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) payload: &'a [u8],
    /// The part of the freshness value that was sent.
    pub(crate) sent: u64,
    trailer: &'a [u8],
}

impl Authenticator {
    pub(crate) fn new(profile: Profile, key: &impl Secret, data_id: DataId) -> Result<Self, KeyLenError> {
        Ok(Self { profile, mac: absorb(profile.mac(), key, &data_id)?, data_id })
    }

    pub(crate) const fn profile(&self) -> &Profile {
        &self.profile
    }

    pub(crate) const fn data_id(&self) -> &DataId {
        &self.data_id
    }

    pub(crate) fn work(&self, payload_len: usize) -> Work {
        self.profile.work(&self.data_id, payload_len)
    }

    /// Writes the trailer of the payload in the first `payload_len` bytes of `pdu` right behind it.
    #[inline]
    pub(crate) fn seal(&self, pdu: &mut [u8], payload_len: usize, freshness: u64) -> Result<usize, SealError> {
        let needed = self.profile.secured_len(payload_len);
        if needed > pdu.len() {
            return Err(SealError::BufferTooSmall { needed, found: pdu.len() });
        }
        let (payload, trailer) = pdu[..needed].split_at_mut(payload_len);
        if self.profile.is_in_bytes() {
            let (sent, tag) = trailer.split_at_mut(usize::from(self.profile.freshness().sent_bits() / 8));
            let value = freshness.to_be_bytes();
            sent.copy_from_slice(&value[value.len() - sent.len()..]);
            self.compute(payload, freshness, tag);
        } else if self.profile.tag_bits() <= SHORT_TAG_BITS {
            let bytes = self.short_trailer(payload, freshness, freshness).to_be_bytes();
            trailer.copy_from_slice(&bytes[..trailer.len()]);
        } else {
            self.write_bits(payload, freshness, freshness, trailer);
        }
        Ok(needed)
    }

    /// Writes the trailer of a payload that lies in two pieces: what [`Self::seal`] writes behind one that does not. False if the parts of the
    /// trailer are no whole bytes, or not of this length.
    pub(crate) fn seal_apart(&self, payload: [&[u8]; 2], freshness: u64, trailer: &mut [u8]) -> bool {
        let format = self.profile.freshness();
        let sent_len = usize::from(format.sent_bits() / 8);
        if !self.profile.is_in_bytes() || trailer.len() != self.profile.overhead() {
            return false;
        }
        let (sent, tag) = trailer.split_at_mut(sent_len);
        let value = freshness.to_be_bytes();
        sent.copy_from_slice(&value[value.len() - sent_len..]);
        let complete = format.aligned(freshness);
        let complete: &[u8] =
            if format.is_replayable() { &[] } else { &complete[complete.len() - format.complete_len()..] };
        let [front, rest] = payload;
        self.mac.compute(freshness, &[self.data_id.covered(), front, rest, complete], tag).is_ok()
    }

    /// Takes a PDU apart, or gives `None` if it is too short or the bits left over are not zero.
    #[inline]
    pub(crate) fn take_apart<'a>(&self, pdu: &'a [u8]) -> Option<Parts<'a>> {
        let (payload, trailer) = pdu.split_at(self.profile.payload_len(pdu.len())?);
        let sent_bits = u32::from(self.profile.freshness().sent_bits());
        let padding = padding_bits(sent_bits, u32::from(self.profile.tag_bits()));
        if trailer.last().is_some_and(|last| last & ((1 << padding) - 1) != 0) {
            return None;
        }
        Some(Parts { payload, sent: head(trailer, sent_bits), trailer })
    }

    /// Whether the tag fits payload and freshness value, compared in constant time.
    #[inline]
    pub(crate) fn fits(&self, parts: Parts<'_>, freshness: u64) -> bool {
        let Parts { payload, sent, trailer } = parts;
        if self.profile.is_in_bytes() {
            let tag = &trailer[usize::from(self.profile.freshness().sent_bits() / 8)..];
            return self.covering(payload, freshness, |parts| self.mac.verify(freshness, parts, tag));
        }
        if self.profile.tag_bits() <= SHORT_TAG_BITS {
            let mut found = [0; 16];
            found[..trailer.len()].copy_from_slice(trailer);
            return self.short_trailer(payload, freshness, sent).ct_eq(&u128::from_be_bytes(found)).into();
        }
        let mut expected = [0; TRAILER_LEN_MAX];
        let expected = &mut expected[..trailer.len()];
        self.write_bits(payload, freshness, sent, expected);
        expected.ct_eq(trailer).into()
    }

    /// The trailer of a profile whose tag has [`SHORT_TAG_BITS`] at most, in the highest bits of a number.
    #[inline]
    fn short_trailer(&self, payload: &[u8], freshness: u64, sent: u64) -> u128 {
        let tag = self.covering(payload, freshness, |parts| self.mac.leading_bits(freshness, parts));
        pack_short(sent, u32::from(self.profile.freshness().sent_bits()), tag, u32::from(self.profile.tag_bits()))
    }

    /// The trailer of a profile with a long tag whose parts are no whole bytes.
    fn write_bits(&self, payload: &[u8], freshness: u64, sent: u64, trailer: &mut [u8]) {
        let tag_bits = u32::from(self.profile.tag_bits());
        let mut tag = [0; OUTPUT_LEN_MAX];
        let tag = &mut tag[..tag_bits.div_ceil(8) as usize];
        self.compute(payload, freshness, tag);
        cut(tag, tag_bits);
        pack(sent, u32::from(self.profile.freshness().sent_bits()), tag, trailer);
    }

    fn compute(&self, payload: &[u8], freshness: u64, tag: &mut [u8]) {
        self.covering(payload, freshness, |parts| self.mac.compute(freshness, parts, tag))
            .expect("a profile holds only tag lengths that its algorithm gives");
    }

    #[inline]
    fn covering<T>(&self, payload: &[u8], freshness: u64, use_parts: impl FnOnce(&[&[u8]]) -> T) -> T {
        let format = self.profile.freshness();
        if format.is_replayable() {
            return use_parts(&[self.data_id.covered(), payload]);
        }
        let complete = format.aligned(freshness);
        use_parts(&[self.data_id.covered(), payload, &complete[complete.len() - format.complete_len()..]])
    }
}

/// Absorbs the key of a stream.
///
/// A MAC that needs a nonce gets a key derived for the stream, since freshness values are unique in their stream only.
pub(crate) fn absorb(mac: MacAlgorithm, key: &impl Secret, data_id: &DataId) -> Result<MacKey, KeyLenError> {
    let key = key.secret();
    if !mac.needs_nonce() {
        return MacKey::new(mac, key);
    }
    let derived = stream_key(key, data_id).ok_or(KeyLenError { found: key.len(), algorithm: mac })?;
    MacKey::new(mac, derived.expose())
}

/// A key as long as `key` that no other stream has; `None` if that is no length of a key.
fn stream_key(key: &[u8], data_id: &DataId) -> Option<SymmetricKey> {
    const STREAM_KEY: Label = Label::new("chronoseal frameauth stream key");
    SymmetricKey::derive(key.len(), key, b"", &STREAM_KEY, &[data_id.covered()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_has_a_key_of_its_own_and_of_the_same_length() {
        let ids = [DataId::number(1), DataId::number(2), DataId::name(b"a").unwrap(), DataId::name(b"b").unwrap()];
        for len in [16, 32, 64] {
            let keys = ids.map(|id| stream_key(&vec![7; len], &id).unwrap());
            for (index, key) in keys.iter().enumerate() {
                assert_eq!(key.expose().len(), len);
                assert_ne!(key.expose(), vec![7; len]);
                assert!(keys[index + 1..].iter().all(|other| other != key));
                assert_eq!(stream_key(&vec![7; len], &ids[index]).as_ref(), Some(key), "the same at both ends");
            }
        }
        assert_eq!(stream_key(&[7; 65], &ids[0]), None);
    }
}
