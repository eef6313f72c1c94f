//! The curves of IEEE 1609.2 and TS 103 097.

use core::fmt;

use crate::types::HashAlgorithm;

/// An elliptic curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Curve {
    /// P-256, FIPS 186-5.
    NistP256,
    /// P-384, FIPS 186-5.
    NistP384,
    /// RFC 5639 clause 3.4.
    BrainpoolP256r1,
    /// RFC 5639 clause 3.6.
    BrainpoolP384r1,
}

impl Curve {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NistP256, Self::NistP384, Self::BrainpoolP256r1, Self::BrainpoolP384r1];

    /// Octets of a coordinate and of a scalar.
    pub fn coordinate_len(self) -> usize {
        match self {
            Self::NistP256 | Self::BrainpoolP256r1 => 32,
            Self::NistP384 | Self::BrainpoolP384r1 => 48,
        }
    }

    /// The hash that goes with it, IEEE 1609.2 clause 5.3.3.
    pub fn hash(self) -> HashAlgorithm {
        match self {
            Self::NistP256 | Self::BrainpoolP256r1 => HashAlgorithm::Sha256,
            Self::NistP384 | Self::BrainpoolP384r1 => HashAlgorithm::Sha384,
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NistP256 => "NIST P-256",
            Self::NistP384 => "NIST P-384",
            Self::BrainpoolP256r1 => "brainpoolP256r1",
            Self::BrainpoolP384r1 => "brainpoolP384r1",
        })
    }
}

/// Runs `$body` with `$C` and `$D` standing for the curve's type and its hash's.
macro_rules! with_curve {
    ($curve:expr, $C:ident, $D:ident => $body:expr) => {
        match $curve {
            $crate::crypto::Curve::NistP256 => {
                #[allow(dead_code, reason = "not every body hashes")]
                type $D = sha2::Sha256;
                type $C = p256::NistP256;
                $body
            }
            $crate::crypto::Curve::NistP384 => {
                #[allow(dead_code, reason = "not every body hashes")]
                type $D = sha2::Sha384;
                type $C = p384::NistP384;
                $body
            }
            $crate::crypto::Curve::BrainpoolP256r1 => {
                #[allow(dead_code, reason = "not every body hashes")]
                type $D = sha2::Sha256;
                type $C = bp256::BrainpoolP256r1;
                $body
            }
            $crate::crypto::Curve::BrainpoolP384r1 => {
                #[allow(dead_code, reason = "not every body hashes")]
                type $D = sha2::Sha384;
                type $C = bp384::BrainpoolP384r1;
                $body
            }
        }
    };
}
pub(crate) use with_curve;
