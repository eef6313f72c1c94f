//! Hashes.

use core::fmt;

use sha2::{Digest as _, Sha256, Sha384};

use super::KeyError;
use crate::types::{HashAlgorithm, HashedId3, HashedId8, HashedId10, HashedId32};

/// A hash of 32 or 48 octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashValue {
    octets: [u8; 48],
    len: u8,
}

impl HashValue {
    /// The octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }

    /// Its end of 3 octets.
    pub fn hashed_id3(&self) -> HashedId3 {
        HashedId3::of_hash(self.as_bytes())
    }

    /// Its end of 8 octets.
    pub fn hashed_id8(&self) -> HashedId8 {
        HashedId8::of_hash(self.as_bytes())
    }

    /// Its end of 10 octets.
    pub fn hashed_id10(&self) -> HashedId10 {
        HashedId10::of_hash(self.as_bytes())
    }

    /// SHA-256 of `data`.
    pub fn sha256(data: &[u8]) -> Self {
        Self::from_octets(&Sha256::digest(data))
    }

    /// SHA-384 of `data`.
    pub fn sha384(data: &[u8]) -> Self {
        Self::from_octets(&Sha384::digest(data))
    }

    /// The hash as the structure that holds 32 octets; its beginning, if it is longer.
    pub fn hashed_id32(&self) -> HashedId32 {
        let mut octets = [0; 32];
        octets.copy_from_slice(&self.octets[..32]);
        HashedId32(octets)
    }

    fn from_octets(hash: &[u8]) -> Self {
        let mut octets = [0; 48];
        octets[..hash.len()].copy_from_slice(hash);
        Self { octets, len: hash.len().to_le_bytes()[0] }
    }
}

impl fmt::Debug for HashValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Hashes `parts` as if they were one.
///
/// # Errors
/// [`KeyError::Unsupported`] for SM3.
pub fn hash(algorithm: HashAlgorithm, parts: &[&[u8]]) -> Result<HashValue, KeyError> {
    fn of<D: sha2::Digest>(parts: &[&[u8]]) -> HashValue {
        let mut hash = D::new();
        parts.iter().for_each(|part| hash.update(part));
        HashValue::from_octets(&hash.finalize())
    }
    match algorithm {
        HashAlgorithm::Sha256 => Ok(of::<Sha256>(parts)),
        HashAlgorithm::Sha384 => Ok(of::<Sha384>(parts)),
        HashAlgorithm::Sm3 => Err(KeyError::Unsupported("SM3")),
    }
}
