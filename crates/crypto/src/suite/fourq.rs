//! FourQ: key agreement and SchnorrQ signatures, over `chronoseal-fourq`.

use chronoseal_core::Operation;
use chronoseal_fourq::{Error, ecdh, schnorrq};
use sha2::{Digest, Sha256};

use super::{
    AgreedSecret, AgreementError, BadSignature, PublicKey, PublicKeyError, SECRET_LEN, Share, Signature, Suite,
    SuiteOperations,
};

/// The fastest of the suites: share, signature key and secret are 32 bytes, so an exchange fits CAN-FD frames.
///
/// What is refused, and why, stands in the documentation of `chronoseal-fourq`: encodings that are not canonical, orders
/// that divide the cofactor 392, signatures whose second half is not reduced.
///
/// The private number of a key agreement is the SHA-256 of its seed. Multiples of the group order, zero among them,
/// would give the identity as share; nobody knows a seed for one. Do not use one seed for both a [`Suite::secret`] and
/// a [`Suite::signing_key`].
#[derive(Clone, Copy, Debug)]
pub struct FourQ;

const LEN: usize = 32;

impl Suite for FourQ {
    const NAME: &'static str = "fourq";
    const SHARE_LEN: usize = LEN;
    const PUBLIC_KEY_LEN: usize = LEN;
    const OPERATIONS: SuiteOperations = SuiteOperations {
        share: Operation("fourq-share"),
        agree: Operation("fourq-agree"),
        generate: Operation("fourq-generate"),
        sign: Operation("fourq-sign"),
        verify: Operation("fourq-verify"),
    };

    type Secret = ecdh::SecretKey;
    type SigningKey = schnorrq::SigningKey;
    type VerifyingKey = schnorrq::VerifyingKey;

    fn secret(seed: &[u8; SECRET_LEN]) -> ecdh::SecretKey {
        ecdh::SecretKey::from_bytes(Sha256::digest(seed).into())
    }

    fn share(secret: &ecdh::SecretKey) -> Share {
        Share::new(&secret.public()).expect("32 bytes are not longer than the longest share")
    }

    fn agree(secret: &ecdh::SecretKey, peer: &[u8]) -> Result<AgreedSecret, AgreementError> {
        let peer = peer.try_into().map_err(|_| AgreementError::WrongLength { found: peer.len(), expected: LEN })?;
        let peer = ecdh::PublicKey::from_bytes(peer).map_err(|error| match error {
            Error::SmallOrder => AgreementError::SmallOrder,
            _ => AgreementError::NotAPoint,
        })?;
        let shared = secret.agree(&peer).map_err(|_| AgreementError::SmallOrder)?;
        Ok(AgreedSecret::from_array(*shared.as_bytes()))
    }

    fn signing_key(seed: &[u8; SECRET_LEN]) -> schnorrq::SigningKey {
        schnorrq::SigningKey::from_seed(*seed)
    }

    fn public_key(key: &schnorrq::SigningKey) -> PublicKey {
        PublicKey::new(&key.public()).expect("32 bytes are not longer than the longest public key")
    }

    fn verifying_key(bytes: &[u8]) -> Result<schnorrq::VerifyingKey, PublicKeyError> {
        let bytes = bytes.try_into().map_err(|_| PublicKeyError::WrongLength { found: bytes.len(), expected: LEN })?;
        schnorrq::VerifyingKey::from_bytes(bytes).map_err(|error| match error {
            Error::SmallOrder => PublicKeyError::SmallOrder,
            _ => PublicKeyError::NotAPoint,
        })
    }

    fn sign(key: &schnorrq::SigningKey, message: &[u8]) -> Signature {
        key.sign(message).to_bytes()
    }

    fn verify(key: &schnorrq::VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        key.verify(message, &schnorrq::Signature::from_bytes(signature)).map_err(|_| BadSignature)
    }
}
