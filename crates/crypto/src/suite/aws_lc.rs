//! P-256 with the field arithmetic of AWS-LC: the same bytes as [`super::P256`], several times faster.

use aws_lc_rs::{
    agreement::{self, ECDH_P256, PrivateKey, UnparsedPublicKey},
    signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey},
};
use p256::{
    FieldBytes, NistP256, NonZeroScalar, Scalar,
    elliptic_curve::{
        Curve,
        bigint::U256,
        ops::{Invert, Reduce},
    },
};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    AgreedSecret, AgreementError, BadSignature, PublicKey, PublicKeyError, SECRET_LEN, Share, Signature, Suite,
    SuiteOperations,
    p256::{OPERATIONS, POINT_LEN, scalar_of_seed},
};

/// [`super::P256`] by AWS-LC, for programs with the standard library.
///
/// Shares, secrets and signatures are the same to the byte, refusals too, so a simulation gives the same result with
/// either. AWS-LC itself signs with a random nonce. Here the nonce is RFC 6979's, its multiple of the base point comes
/// from AWS-LC, and the two lines of arithmetic modulo the order from RustCrypto.
///
/// AWS-LC knows no private key without its public one, so [`Suite::secret`] does the work of [`Suite::share`].
#[derive(Clone, Copy, Debug)]
pub struct P256;

/// A private key-agreement key; AWS-LC wipes it when it is freed.
#[derive(Debug)]
pub struct Secret(PrivateKey);

impl ZeroizeOnDrop for Secret {}

/// A private signature key.
pub struct SigningKey {
    scalar: NonZeroScalar,
    public: [u8; POINT_LEN],
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        self.scalar.zeroize();
    }
}

impl ZeroizeOnDrop for SigningKey {}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SigningKey(hidden)")
    }
}

/// A public signature key that has passed every check, decompressed.
#[derive(Clone, Debug)]
pub struct VerifyingKey(Arc<ParsedPublicKey>);

impl Suite for P256 {
    const NAME: &'static str = super::P256::NAME;
    const SHARE_LEN: usize = POINT_LEN;
    const PUBLIC_KEY_LEN: usize = POINT_LEN;
    const OPERATIONS: SuiteOperations = OPERATIONS;

    type Secret = Secret;
    type SigningKey = SigningKey;
    type VerifyingKey = VerifyingKey;

    fn secret(seed: &[u8; SECRET_LEN]) -> Secret {
        Secret(private_key(&scalar_of_seed(seed)))
    }

    fn share(secret: &Secret) -> Share {
        Share::new(&compressed_public(&secret.0)).expect("a compressed point is the longest share")
    }

    fn agree(secret: &Secret, peer: &[u8]) -> Result<AgreedSecret, AgreementError> {
        if peer.len() != POINT_LEN {
            return Err(AgreementError::WrongLength { found: peer.len(), expected: POINT_LEN });
        }
        if !matches!(peer, [2 | 3, ..]) {
            return Err(AgreementError::NotAPoint);
        }
        agreement::agree(&secret.0, UnparsedPublicKey::new(&ECDH_P256, peer), AgreementError::NotAPoint, |x| {
            Ok(AgreedSecret::from_array(x.try_into().expect("the x coordinate has 32 bytes")))
        })
    }

    fn signing_key(seed: &[u8; SECRET_LEN]) -> SigningKey {
        let scalar = scalar_of_seed(seed);
        SigningKey { public: compressed_public(&private_key(&scalar)), scalar }
    }

    fn public_key(key: &SigningKey) -> PublicKey {
        PublicKey::new(&key.public).expect("a compressed point is the longest public key")
    }

    fn verifying_key(bytes: &[u8]) -> Result<VerifyingKey, PublicKeyError> {
        if bytes.len() != POINT_LEN {
            return Err(PublicKeyError::WrongLength { found: bytes.len(), expected: POINT_LEN });
        }
        if !matches!(bytes, [2 | 3, ..]) {
            return Err(PublicKeyError::NotAPoint);
        }
        let key = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes).map_err(|_| PublicKeyError::NotAPoint)?;
        Ok(VerifyingKey(Arc::new(key)))
    }

    fn sign(key: &SigningKey, message: &[u8]) -> Signature {
        let digest = Sha256::digest(message);
        // [FIPS 186-5 §6.4.1] z is the digest as a number; it has exactly as many bits as the order.
        let z = Scalar::reduce(&U256::from_be_slice(&digest));
        let private = Zeroizing::new(<[u8; 32]>::from(key.scalar.to_bytes()));
        let order = NistP256::ORDER;
        let mut nonces = rfc6979::KGenerator::<Sha256, U256>::new(&private[..], &digest, b"", &order);
        let mut nonce = Zeroizing::new([0; 32]);
        loop {
            nonces.fill_next_k(&mut nonce[..]);
            let k = Zeroizing::new(NonZeroScalar::from_repr((*nonce).into()).expect("RFC 6979 gives numbers in 1..n"));
            let point = compressed_public(&private_key(&k));
            let r = Scalar::reduce(&U256::from_be_slice(&point[1..]));
            let s = *Invert::invert(&*k) * (z + r * *key.scalar);
            // [FIPS 186-5 §6.4.1] Neither is zero but for one nonce in 2^256.
            let Ok(signature) = p256::ecdsa::Signature::from_scalars(FieldBytes::from(r), FieldBytes::from(s)) else {
                continue;
            };
            return signature.normalize_s().to_bytes().into();
        }
    }

    fn verify(key: &VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        let canonical = p256::ecdsa::Signature::from_bytes(signature.into()).map_err(|_| BadSignature)?;
        if canonical.normalize_s() != canonical {
            return Err(BadSignature);
        }
        key.0.verify_sig(message, signature).map_err(|_| BadSignature)
    }
}

fn private_key(scalar: &NonZeroScalar) -> PrivateKey {
    let bytes = Zeroizing::new(<[u8; 32]>::from(scalar.to_bytes()));
    PrivateKey::from_private_key(&ECDH_P256, &bytes[..]).expect("a number in 1..n is a private key")
}

/// The compressed public point of a private key.
fn compressed_public(private: &PrivateKey) -> [u8; POINT_LEN] {
    let public = private.compute_public_key().expect("AWS-LC made the public key along with the private one");
    let uncompressed: &[u8; 65] = public.as_ref().try_into().expect("an uncompressed point has 65 bytes");
    let mut point = [0; POINT_LEN];
    // [SEC 1 §2.3.3] The lowest bit of y is in the tag.
    point[0] = 2 | uncompressed[64] & 1;
    point[1..].copy_from_slice(&uncompressed[1..33]);
    point
}
