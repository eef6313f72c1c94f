//! The bits of a secured PDU under a given freshness value, without any memory of others.

use chronoseal_core::Work;
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128, Key128};
use subtle::ConstantTimeEq;

use super::{FreshnessFormat, SecOcProfile};
use crate::{SealError, profile::DATA_ID_LEN};

/// Profile, key and data identifier of one secured PDU: the same at its sender and its receivers.
///
/// Which freshness value is due is for [`super::Transmitter`] and [`super::Receiver`] to know.
#[derive(Clone, Debug)]
pub struct Protection {
    profile: SecOcProfile,
    cmac: CmacAes128,
    data_id: [u8; DATA_ID_LEN],
}

/// A secured PDU taken apart, nothing of it checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) payload: &'a [u8],
    /// The part of the freshness value that was sent.
    pub(crate) sent: u64,
    tag: u64,
}

impl Protection {
    /// For the PDU with identifier `data_id`. The key is expanded here, once.
    pub fn new(profile: SecOcProfile, key: &Key128, data_id: u16) -> Self {
        Self { profile, cmac: CmacAes128::new(key), data_id: data_id.to_be_bytes() }
    }

    /// How the PDU is secured.
    pub const fn profile(&self) -> &SecOcProfile {
        &self.profile
    }

    /// What one tag costs, at the sender as at each receiver, for a payload of `payload_len` bytes.
    pub fn work(&self, payload_len: usize) -> Work {
        let len = DATA_ID_LEN + payload_len + self.profile.freshness().complete_len();
        Work::of(CmacAes128::OPERATION, u32::try_from(len).unwrap_or(u32::MAX))
    }

    /// Secures the payload in the first `payload_len` bytes of `pdu` with the freshness value `freshness`: the bits sent
    /// of it and of the tag go right behind it. Returns the length of the secured PDU [byte].
    ///
    /// `freshness` is a count, of which as many bytes are used as the format has, or [`super::TripResetLayout::value`]; it
    /// is not used without a freshness value.
    ///
    /// # Errors
    /// [`SealError::BufferTooSmall`] if the secured PDU does not fit; `pdu` is left as it was.
    pub fn secure(&self, pdu: &mut [u8], payload_len: usize, freshness: u64) -> Result<usize, SealError> {
        let needed = payload_len.saturating_add(self.profile.overhead());
        if needed > pdu.len() {
            return Err(SealError::BufferTooSmall { needed, found: pdu.len() });
        }
        let (payload, trailer) = pdu[..needed].split_at_mut(payload_len);
        let sent = freshness & super::freshness::mask(self.profile.sent_bits());
        let bits = u128::from(sent) << self.profile.tag_bits() | u128::from(self.tag(payload, freshness));
        let bytes = (bits << self.padding_bits()).to_be_bytes();
        trailer.copy_from_slice(&bytes[bytes.len() - trailer.len()..]);
        Ok(needed)
    }

    /// Takes a PDU apart, or gives `None` if it is too short or the bits left over are not zero.
    pub(crate) fn take_apart<'a>(&self, pdu: &'a [u8]) -> Option<Parts<'a>> {
        let payload_len = pdu.len().checked_sub(self.profile.overhead())?;
        let (payload, trailer) = pdu.split_at(payload_len);
        let bits = trailer.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        let padding = self.padding_bits();
        if bits & ((1 << padding) - 1) != 0 {
            return None;
        }
        let bits = bits >> padding;
        // Both parts have 64 bits at most.
        let tag = (bits & ((1 << self.profile.tag_bits()) - 1)) as u64;
        Some(Parts { payload, sent: (bits >> self.profile.tag_bits()) as u64, tag })
    }

    /// Whether the tag fits payload and freshness value, compared in constant time.
    pub(crate) fn fits(&self, parts: Parts<'_>, freshness: u64) -> bool {
        self.tag(parts.payload, freshness).ct_eq(&parts.tag).into()
    }

    /// The highest bits of the tag, right-aligned.
    fn tag(&self, payload: &[u8], freshness: u64) -> u64 {
        let complete_len = self.profile.freshness().complete_len();
        let aligned = match self.profile.freshness() {
            FreshnessFormat::TripReset(layout) => freshness << layout.padding_bits(),
            FreshnessFormat::None | FreshnessFormat::Counter { .. } => freshness,
        };
        let freshness = aligned.to_be_bytes();
        let tag = self.cmac.tag(&[&self.data_id, payload, &freshness[freshness.len() - complete_len..]]);
        // At most 64 bits are left.
        (u128::from_be_bytes(tag) >> (128 - u32::from(self.profile.tag_bits()))) as u64
    }

    /// Zeros behind the tag, up to a whole byte [bit].
    fn padding_bits(&self) -> u32 {
        8 * self.profile.overhead() as u32 - u32::from(self.profile.sent_bits()) - u32::from(self.profile.tag_bits())
    }
}
