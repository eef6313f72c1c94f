//! The sender's side: puts freshness value and tag behind a payload.

use chronoseal_crypto::{HmacKey, KeyBytes, Mac};

use crate::{Freshness, Profile};

/// Seals the PDUs of one stream.
#[derive(Clone, Debug)]
pub struct Sealer {
    profile: Profile,
    authenticator: Authenticator,
}

impl Sealer {
    /// A sealer for the stream with identifier `data_id`, in time-triggered Ethernet that of its virtual link.
    ///
    /// The key is absorbed and not kept; see [`HmacKey`] for what is wiped when the sealer is dropped.
    pub fn new(profile: Profile, key: &KeyBytes, data_id: u16) -> Self {
        Self { profile, authenticator: Authenticator::new(profile, key, data_id) }
    }

    /// How this stream is protected.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Seals the payload in the first `payload_len` bytes of `pdu`: freshness value and tag go right behind it.
    /// Returns the length of the sealed PDU [byte]; what lies behind that is left as it was.
    ///
    /// `freshness` must be above that of every frame sealed before with this key and identifier: the sender's count
    /// of frames, or for [`Freshness::CycleCounter`] the cycle the frame is sent in. It is not used with
    /// [`Freshness::None`].
    ///
    /// # Errors
    /// [`SealError::BufferTooSmall`] if the sealed PDU does not fit; `pdu` is left as it was.
    pub fn seal(&self, pdu: &mut [u8], payload_len: usize, freshness: u64) -> Result<usize, SealError> {
        let needed = payload_len.saturating_add(self.profile.overhead());
        if needed > pdu.len() {
            return Err(SealError::BufferTooSmall { needed, found: pdu.len() });
        }
        let (payload, trailer) = pdu[..needed].split_at_mut(payload_len);
        let (sent, tag) = trailer.split_at_mut(self.profile.freshness().wire_len());
        let value = freshness.to_be_bytes();
        sent.copy_from_slice(&value[value.len() - sent.len()..]);
        self.authenticator.compute(payload, freshness, tag);
        Ok(needed)
    }
}

/// Why a payload was not sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Payload, freshness value and tag are longer than the buffer.
    #[error("the sealed PDU needs {needed} bytes, the buffer has {found}")]
    BufferTooSmall {
        /// Payload, freshness value and tag [byte].
        needed: usize,
        /// The buffer [byte].
        found: usize,
    },
    /// Trip and reset counters are needed and not known, or older than those used before; [`crate::secoc`] only.
    #[error("the node does not know the trip and reset counters of now")]
    NotSynchronised,
    /// The counter is at its end, and a value is never used twice; [`crate::secoc`] only.
    #[error("the freshness counter is at its end")]
    FreshnessExhausted,
}

/// What sender and receiver share: the key and the exact bytes the tag covers.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    mac: HmacKey,
    data_id: [u8; 2],
    covers_freshness: bool,
}

impl Authenticator {
    pub(crate) fn new(profile: Profile, key: &KeyBytes, data_id: u16) -> Self {
        Self {
            mac: HmacKey::new(profile.hash(), key.expose()),
            data_id: data_id.to_be_bytes(),
            covers_freshness: profile.freshness() != Freshness::None,
        }
    }

    fn compute(&self, payload: &[u8], freshness: u64, tag: &mut [u8]) {
        self.with_parts(payload, freshness, |parts| self.mac.compute(parts, tag))
            .expect("a profile holds only tag lengths that its hash gives");
    }

    pub(crate) fn verify(&self, payload: &[u8], freshness: u64, tag: &[u8]) -> bool {
        self.with_parts(payload, freshness, |parts| self.mac.verify(parts, tag))
    }

    fn with_parts<T>(&self, payload: &[u8], freshness: u64, use_parts: impl FnOnce(&[&[u8]]) -> T) -> T {
        let freshness = freshness.to_be_bytes();
        if self.covers_freshness {
            use_parts(&[&self.data_id, payload, &freshness])
        } else {
            use_parts(&[&self.data_id, payload])
        }
    }
}
