//! Messages and the texts that are signed, as bounded byte strings.

use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::frame_count::FRESHNESS_LEN;
use crate::membership::Membership;
use crate::profile::Profile;

/// Longest message and longest signed text `[byte]`.
pub(crate) const TEXT_LEN_MAX: usize = 128;

/// A short byte string, wiped when dropped: some hold what is going to be encrypted.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Text {
    bytes: [u8; TEXT_LEN_MAX],
    len: u8,
}

impl Text {
    pub(crate) const EMPTY: Self = Self { bytes: [0; TEXT_LEN_MAX], len: 0 };

    /// The parts one after the other. All texts of this crate are shorter than the limit.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut text = Self::EMPTY;
        for part in parts {
            text.push(part);
        }
        text
    }

    pub(crate) fn push(&mut self, part: &[u8]) {
        let start = usize::from(self.len);
        self.bytes[start..start + part.len()].copy_from_slice(part);
        self.len += part.len() as u8;
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    pub(crate) fn as_mut_bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.len)]
    }

    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    /// The `N` bytes from `start` on, if there are so many.
    pub(crate) fn array<const N: usize>(&self, start: usize) -> Option<[u8; N]> {
        self.as_bytes().get(start..start + N)?.try_into().ok()
    }

    /// Appends as much of `piece` as belongs to a message of `len` bytes.
    pub(crate) fn append(&mut self, piece: &[u8], len: usize) {
        let room = len.min(TEXT_LEN_MAX) - self.len();
        self.push(&piece[..piece.len().min(room)]);
    }
}

/// When the orchestrator asked for something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Stamp {
    /// Increases with every run and every repetition. As published it is the timestamp itself: the number of the
    /// granule of common time; it is signed but not sent. The hardened profile sends it.
    pub epoch: u32,
    /// Common time of signing, of the hardened profile `[ms]`, modulo 2^32.
    pub time_ms: u32,
}

impl Stamp {
    /// As sent in the hardened profile.
    pub(crate) fn to_bytes(self) -> [u8; FRESHNESS_LEN] {
        (u64::from(self.epoch) << 32 | u64::from(self.time_ms)).to_be_bytes()
    }

    /// Epoch and time, as sent.
    pub(crate) const fn parts(self) -> [[u8; 4]; 2] {
        [self.epoch.to_be_bytes(), self.time_ms.to_be_bytes()]
    }

    pub(crate) fn from_bytes(bytes: [u8; FRESHNESS_LEN]) -> Self {
        let value = u64::from_be_bytes(bytes);
        Self { epoch: (value >> 32) as u32, time_ms: value as u32 }
    }
}

/// Who is in the group, as a request says it; as published none does.
pub(crate) fn membership_of(profile: Profile, request: &Text) -> Option<Membership> {
    match profile {
        Profile::AsPublished => None,
        Profile::Hardened => request.array(FRESHNESS_LEN).map(Membership::from_bytes),
    }
}

/// SHA-256 of a label and parts, each with its length before it.
pub(crate) fn digest<'a>(label: &'a [u8], parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in core::iter::once(label).chain(parts) {
        hash.update([part.len() as u8]);
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_digest_do_not_run_into_each_other() {
        assert_ne!(digest(b"label", [&b"ab"[..], b"c"]), digest(b"label", [&b"a"[..], b"bc"]));
        assert_ne!(digest(b"label", [&b"abc"[..]]), digest(b"labe", [&b"labc"[..]]));
    }

    #[test]
    fn a_text_is_wiped_when_it_is_dropped() {
        const fn is_wiped<T: ZeroizeOnDrop>(_: &T) -> bool {
            true
        }
        let mut text = Text::of(&[b"secret"]);
        assert!(is_wiped(&text));
        text.zeroize();
        assert!(text == Text::EMPTY, "so that is what becomes of it");
    }

    #[test]
    fn a_text_takes_no_more_than_belongs_to_its_message() {
        let mut text = Text::of(&[&[1; 100]]);
        text.append(&[2; 64], 110);
        assert_eq!((text.len(), text.array::<1>(109), text.array::<1>(110)), (110, Some([2]), None));
    }
}
