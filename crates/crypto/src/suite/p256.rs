//! NIST P-256: ECDH (SP 800-56A revision 3, 5.7.1.2) and ECDSA with SHA-256 (FIPS 186-5), over RustCrypto's `p256`.

use p256::{
    NonZeroScalar, PublicKey as Point, Sec1Point,
    ecdsa::{
        self,
        signature::{Signer, Verifier},
    },
    elliptic_curve::{
        scalar::IsHigh,
        sec1::{FromSec1Point, ToSec1Point},
    },
};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    AgreedSecret, AgreementError, BadSignature, PublicKey, PublicKeyError, SECRET_LEN, Share, Signature, Suite,
    SuiteOperations,
};
use chronoseal_core::Operation;

/// What the operations on this curve are charged as, whichever library computes them.
pub const OPERATIONS: SuiteOperations = SuiteOperations {
    share: Operation("p256-share"),
    agree: Operation("p256-agree"),
    generate: Operation("p256-generate"),
    sign: Operation("p256-sign"),
    verify: Operation("p256-verify"),
};

/// Length of a compressed point (SEC 1, 2.3.3): one byte for the sign of y, then x `[byte]`.
pub const POINT_LEN: usize = 33;

/// P-256 without the standard library.
///
/// - A share and a public key are compressed points of 33 bytes. Sending x alone would save the byte that keeps a
///   share out of a 32-byte CAN-FD frame. It is an option not taken: a point has to be a signature key too, and one
///   form for both means one parser.
/// - The agreed secret is the x coordinate, as NIST and SEC 1 have it.
/// - The nonce of a signature is RFC 6979's, so signing draws no randomness.
/// - **Low s**: of the two values s and n - s, which are both right, only the lower is made and taken. A signature
///   therefore cannot be turned into another one of the same message. ECDSA at large has no such rule: half of what
///   another implementation signs is refused here until its s is brought to the lower value.
///
/// A seed is the private scalar itself, big-endian, if it is in 1..n; else (one seed in 2^32) it is replaced by its
/// SHA-256, again until it is. Do not use one seed for both a [`Suite::secret`] and a [`Suite::signing_key`].
#[derive(Clone, Copy, Debug)]
pub struct P256;

/// A private key-agreement key.
pub struct Secret(NonZeroScalar);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Suite for P256 {
    const NAME: &'static str = "p-256";
    const SHARE_LEN: usize = POINT_LEN;
    const PUBLIC_KEY_LEN: usize = POINT_LEN;
    const OPERATIONS: SuiteOperations = OPERATIONS;

    type Secret = Secret;
    type SigningKey = ecdsa::SigningKey;
    type VerifyingKey = ecdsa::VerifyingKey;

    fn secret(seed: &[u8; SECRET_LEN]) -> Secret {
        Secret(scalar_of_seed(seed))
    }

    fn share(secret: &Secret) -> Share {
        let point = Point::from_secret_scalar(&secret.0);
        Share::new(point.to_sec1_point(true).as_bytes()).expect("a compressed point is the longest share")
    }

    fn agree(secret: &Secret, peer: &[u8]) -> Result<AgreedSecret, AgreementError> {
        if peer.len() != POINT_LEN {
            return Err(AgreementError::WrongLength { found: peer.len(), expected: POINT_LEN });
        }
        // The group has prime order: a point of the curve that is not the identity gives no secret of small order.
        let point = decode(peer).ok_or(AgreementError::NotAPoint)?;
        let shared = p256::ecdh::diffie_hellman(&secret.0, point.as_affine());
        Ok(AgreedSecret::from_array((*shared.raw_secret_bytes()).into()))
    }

    fn signing_key(seed: &[u8; SECRET_LEN]) -> ecdsa::SigningKey {
        ecdsa::SigningKey::from(scalar_of_seed(seed))
    }

    fn public_key(key: &ecdsa::SigningKey) -> PublicKey {
        let point = key.verifying_key().to_sec1_point(true);
        PublicKey::new(point.as_bytes()).expect("a compressed point is the longest public key")
    }

    fn verifying_key(bytes: &[u8]) -> Result<ecdsa::VerifyingKey, PublicKeyError> {
        if bytes.len() != POINT_LEN {
            return Err(PublicKeyError::WrongLength { found: bytes.len(), expected: POINT_LEN });
        }
        decode(bytes).map(ecdsa::VerifyingKey::from).ok_or(PublicKeyError::NotAPoint)
    }

    fn sign(key: &ecdsa::SigningKey, message: &[u8]) -> Signature {
        let signature: ecdsa::Signature = key.sign(message);
        signature.normalize_s().to_bytes().into()
    }

    fn verify(key: &ecdsa::VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        let signature = ecdsa::Signature::from_bytes(signature.into()).map_err(|_| BadSignature)?;
        if signature.s().is_high().into() {
            return Err(BadSignature);
        }
        key.verify(message, &signature).map_err(|_| BadSignature)
    }
}

/// The scalar a seed stands for, by the rule in the docs of [`P256`].
pub(super) fn scalar_of_seed(seed: &[u8; SECRET_LEN]) -> NonZeroScalar {
    let mut candidate = Zeroizing::new(*seed);
    loop {
        // A candidate thrown away says nothing about the one taken, so the number of tries may show.
        if let Some(scalar) = NonZeroScalar::from_repr((*candidate).into()).into_option() {
            return scalar;
        }
        *candidate = Sha256::digest(&candidate[..]).into();
    }
}

/// The point of 33 bytes, if they are its compressed form.
pub(super) fn decode(bytes: &[u8]) -> Option<Point> {
    // The library also takes the compact form, tag 5, which leaves the sign of y out.
    if !matches!(bytes, [2 | 3, ..]) {
        return None;
    }
    Point::from_sec1_point(&Sec1Point::from_bytes(bytes).ok()?).into_option()
}
