//! X25519 (RFC 7748) and Ed25519 (RFC 8032), over `x25519-dalek` and `ed25519-dalek`.

use chronoseal_core::Operation;
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use x25519_dalek::{PublicKey as Point, StaticSecret};

use super::{
    AgreedSecret, AgreementError, BadSignature, PublicKey, PublicKeyError, SECRET_LEN, Share, Signature, Suite,
    SuiteOperations,
};

/// The curve most readers expect, for comparison: key agreement on its Montgomery form, signatures on its Edwards form.
///
/// - A share is refused unless it is the canonical encoding of its u coordinate: below p = 2^255 - 19, the highest bit
///   clear. RFC 7748, 5 lets a receiver take the others and reduce them; no honest sender makes them, and here one
///   share has one encoding.
/// - A share of small order is refused: it would give everybody the same secret, all zeros (RFC 7748, 6.1).
/// - Verification is the strict one: s below the group order, R and key not of small order, no cofactor multiplied in.
/// - A public key has to be canonical and in the group of prime order, which costs one multiplication at provisioning.
#[derive(Clone, Copy, Debug)]
pub struct X25519Ed25519;

const LEN: usize = 32;

impl Suite for X25519Ed25519 {
    const NAME: &'static str = "x25519-ed25519";
    const SHARE_LEN: usize = LEN;
    const PUBLIC_KEY_LEN: usize = LEN;
    const OPERATIONS: SuiteOperations = SuiteOperations {
        share: Operation("x25519-share"),
        agree: Operation("x25519-agree"),
        generate: Operation("ed25519-generate"),
        sign: Operation("ed25519-sign"),
        verify: Operation("ed25519-verify"),
    };

    type Secret = StaticSecret;
    type SigningKey = SigningKey;
    type VerifyingKey = VerifyingKey;

    fn secret(seed: &[u8; SECRET_LEN]) -> StaticSecret {
        StaticSecret::from(*seed)
    }

    fn share(secret: &StaticSecret) -> Share {
        Share::new(Point::from(secret).as_bytes()).expect("32 bytes are not longer than the longest share")
    }

    fn agree(secret: &StaticSecret, peer: &[u8]) -> Result<AgreedSecret, AgreementError> {
        let peer: [u8; LEN] =
            peer.try_into().map_err(|_| AgreementError::WrongLength { found: peer.len(), expected: LEN })?;
        if !is_canonical(&peer) {
            return Err(AgreementError::NotAPoint);
        }
        let shared = secret.diffie_hellman(&Point::from(peer));
        if !shared.was_contributory() {
            return Err(AgreementError::SmallOrder);
        }
        Ok(AgreedSecret::from_array(shared.to_bytes()))
    }

    fn signing_key(seed: &[u8; SECRET_LEN]) -> SigningKey {
        SigningKey::from_bytes(seed)
    }

    fn public_key(key: &SigningKey) -> PublicKey {
        PublicKey::new(key.verifying_key().as_bytes()).expect("32 bytes are not longer than the longest public key")
    }

    fn verifying_key(bytes: &[u8]) -> Result<VerifyingKey, PublicKeyError> {
        let bytes: &[u8; LEN] =
            bytes.try_into().map_err(|_| PublicKeyError::WrongLength { found: bytes.len(), expected: LEN })?;
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| PublicKeyError::NotAPoint)?;
        // The library takes y >= p and reduces it.
        let point = key.to_edwards();
        if point.compress().as_bytes() != bytes {
            return Err(PublicKeyError::NotAPoint);
        }
        if point.is_small_order() {
            return Err(PublicKeyError::SmallOrder);
        }
        if !point.is_torsion_free() {
            return Err(PublicKeyError::MixedOrder);
        }
        Ok(key)
    }

    fn sign(key: &SigningKey, message: &[u8]) -> Signature {
        key.sign(message).to_bytes()
    }

    fn verify(key: &VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).map_err(|_| BadSignature)
    }
}

/// Whether 32 bytes, little-endian, are below p = 2^255 - 19. They are public.
fn is_canonical(u: &[u8; LEN]) -> bool {
    let top = u[31];
    top < 0x7f || top == 0x7f && (u[1..31].iter().any(|byte| *byte != 0xff) || u[0] < 0xed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_ends_below_the_prime() {
        let mut u = [0xff; LEN];
        u[31] = 0x7f;
        for (lowest, canonical) in [(0xec, true), (0xed, false), (0xff, false)] {
            u[0] = lowest;
            assert_eq!(is_canonical(&u), canonical, "{lowest:x}");
        }
        u[17] = 0xfe;
        assert!(is_canonical(&u), "far below p");
        u[31] = 0x80;
        assert!(!is_canonical(&u), "the highest bit is set");
        assert!(is_canonical(&[0; LEN]));
    }
}
