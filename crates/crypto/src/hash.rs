//! The hashes that an HMAC can be named by.

use core::fmt;

use chronoseal_core::Operation;

use crate::MacAlgorithm;

/// A hash function under HMAC, where a choice is among HMACs only. What it says is what [`Self::mac`] says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HashAlgorithm {
    /// SHA-1 (FIPS 180-4). Kept for comparison only, see [`MacAlgorithm::kept_for_comparison`].
    Sha1,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA3-256 (FIPS 202).
    Sha3_256,
}

impl HashAlgorithm {
    /// Every hash, in the order reports show them.
    pub const ALL: [Self; 3] = [Self::Sha1, Self::Sha256, Self::Sha3_256];

    /// The HMAC with this hash.
    pub const fn mac(self) -> MacAlgorithm {
        match self {
            Self::Sha1 => MacAlgorithm::HmacSha1,
            Self::Sha256 => MacAlgorithm::HmacSha256,
            Self::Sha3_256 => MacAlgorithm::HmacSha3_256,
        }
    }

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha-1",
            Self::Sha256 => "sha-256",
            Self::Sha3_256 => "sha3-256",
        }
    }

    /// Length of the untruncated tag `[byte]`.
    pub const fn output_len(self) -> usize {
        self.mac().output_len()
    }

    /// What one HMAC with this hash is charged as.
    pub const fn operation(self) -> Operation {
        self.mac().operation()
    }

    /// Whether the hash is here only so that published figures can be set beside ours.
    pub const fn kept_for_comparison(self) -> bool {
        self.mac().kept_for_comparison()
    }
}

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_the_name_of_its_hmac() {
        for hash in HashAlgorithm::ALL {
            assert_eq!(hash.operation().0.strip_prefix("hmac-"), Some(hash.name()));
        }
    }
}
