//! The hashes an HMAC can be built on.

use core::{fmt, str::FromStr};

use chronoseal_core::Operation;

/// A hash function under HMAC (FIPS 198-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HashAlgorithm {
    /// SHA-1 (FIPS 180-4). Kept for comparison only, see [`HashAlgorithm::kept_for_comparison`].
    Sha1,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA3-256 (FIPS 202).
    Sha3_256,
}

impl HashAlgorithm {
    /// Every algorithm, in the order reports show them.
    pub const ALL: [Self; 3] = [Self::Sha1, Self::Sha256, Self::Sha3_256];

    /// As written in a scenario and shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha-1",
            Self::Sha256 => "sha-256",
            Self::Sha3_256 => "sha3-256",
        }
    }

    /// Length of the untruncated tag [byte].
    pub const fn output_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 | Self::Sha3_256 => 32,
        }
    }

    /// Length of the block that HMAC pads the key to, the hash's rate for SHA-3 [byte].
    pub const fn block_len(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha256 => 64,
            Self::Sha3_256 => 136,
        }
    }

    /// What one HMAC with this hash is charged as.
    pub const fn operation(self) -> Operation {
        Operation(match self {
            Self::Sha1 => "hmac-sha-1",
            Self::Sha256 => "hmac-sha-256",
            Self::Sha3_256 => "hmac-sha3-256",
        })
    }

    /// Whether the hash is here only so that published figures can be set beside ours.
    ///
    /// True for SHA-1. Its collision resistance is broken (Stevens et al., "The first collision for full SHA-1",
    /// CRYPTO 2017) and NIST withdraws it for every use by the end of 2030. HMAC does not rest on collision
    /// resistance and no practical forgery of HMAC-SHA-1 is known, so its figures are honest; a new design still has
    /// no reason to choose it.
    pub const fn kept_for_comparison(self) -> bool {
        matches!(self, Self::Sha1)
    }
}

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for HashAlgorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == text).ok_or(UnknownAlgorithm)
    }
}

/// The text names no [`HashAlgorithm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the hash is not known here; write one of sha-1, sha-256, sha3-256")]
pub struct UnknownAlgorithm;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for algorithm in HashAlgorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.operation().0.strip_prefix("hmac-"), Some(algorithm.name()));
        }
    }

    #[test]
    fn refuses_other_names_and_lists_its_own() {
        for text in ["", "sha1", "SHA-256", "sha-256 ", "md5"] {
            assert_eq!(text.parse::<HashAlgorithm>(), Err(UnknownAlgorithm));
        }
        for algorithm in HashAlgorithm::ALL {
            assert!(UnknownAlgorithm.to_string().contains(algorithm.name()));
        }
    }
}
