//! What all libraries work on: 32 keys, a message of 32 bytes each, and its signature.

use aws_lc_rs::digest::{SHA256, digest};
use chronoseal_ecdsa_lanes::{Curve, Engine, Signature, Signing};
use ecdsa::elliptic_curve::sec1::ToSec1Point;

pub const COUNT: usize = 32;

/// Names of the table's groups.
pub const VERIFY: &str = "verify P-256";
pub const VERIFY_BRAINPOOL: &str = "verify brainpoolP256r1";
pub const VERIFY_NEW: &str = "new signer P-256: decompress, verify twice";
pub const SIGN: &str = "sign P-256";
pub const SIGN_BRAINPOOL: &str = "sign brainpoolP256r1";
pub const DECOMPRESS: &str = "decompress P-256";

#[derive(Clone)]
pub struct Sample {
    pub secret: [u8; 32],
    pub x: [u8; 32],
    pub y: [u8; 32],
    pub message: [u8; 32],
    pub digest: [u8; 32],
    pub signature: Signature,
}

impl Sample {
    /// r and s, one after the other.
    pub fn fixed(&self) -> [u8; 64] {
        let mut out = [0; 64];
        out[..32].copy_from_slice(&self.signature.r);
        out[32..].copy_from_slice(&self.signature.s);
        out
    }

    /// The public key as SEC 1 has it.
    pub fn uncompressed(&self) -> [u8; 65] {
        let mut out = [4; 65];
        out[1..33].copy_from_slice(&self.x);
        out[33..].copy_from_slice(&self.y);
        out
    }

    /// The same, compressed.
    pub fn compressed(&self) -> [u8; 33] {
        let mut out = [2 + (self.y[31] & 1); 33];
        out[1..].copy_from_slice(&self.x);
        out
    }
}

pub fn samples(curve: Curve) -> Vec<Sample> {
    (0..COUNT as u8)
        .map(|at| {
            // Numbers from a hash: below 2^255, in range of both curves.
            let hash = |of: &[u8]| -> [u8; 32] { digest(&SHA256, of).as_ref().try_into().expect("32 bytes") };
            let (mut secret, message) = (hash(&[at, 1]), hash(&[at, 2]));
            secret[0] &= 0x7f;
            let digest = hash(&message);
            let mut signature = [None];
            Engine::Scalar
                .sign_batch(&[Signing { curve, digest: &digest, secret: &secret, entropy: &[] }], &mut signature);
            let public = match curve {
                Curve::NistP256 => p256::SecretKey::from_slice(&secret)
                    .expect("in range")
                    .public_key()
                    .to_sec1_point(false)
                    .as_bytes()
                    .to_vec(),
                Curve::BrainpoolP256r1 => bp256::r1::SecretKey::from_slice(&secret)
                    .expect("in range")
                    .public_key()
                    .to_sec1_point(false)
                    .as_bytes()
                    .to_vec(),
            };
            Sample {
                secret,
                x: public[1..33].try_into().expect("32 bytes"),
                y: public[33..].try_into().expect("32 bytes"),
                message,
                digest,
                signature: signature[0].expect("in range"),
            }
        })
        .collect()
}
