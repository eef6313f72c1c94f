//! A suite without any security that is fast in unoptimised builds: for tests of the protocol, not of cryptography.

use chronoseal_core::Operation;
use chronoseal_crypto::suite::{
    AgreedSecret, AgreementError, BadSignature, PublicKey, PublicKeyError, Share, Signature, Suite, SuiteOperations,
};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Diffie-Hellman modulo the Mersenne prime 2^61 - 1; "signatures" that everybody who can verify can also make.
pub struct Swift;

/// A share of the element of order two.
pub const SMALL_ORDER_SHARE: [u8; 32] = small_order();

const PRIME: u128 = (1 << 61) - 1;
const GENERATOR: u128 = 37;

const fn small_order() -> [u8; 32] {
    let mut share = [0; 32];
    let minus_one = (PRIME as u64 - 1).to_be_bytes();
    let mut index = 0;
    while index < 8 {
        share[24 + index] = minus_one[index];
        index += 1;
    }
    share
}

pub struct Exponent(u64);
impl Drop for Exponent {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
impl ZeroizeOnDrop for Exponent {}

pub struct Key([u8; 32]);
impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
impl ZeroizeOnDrop for Key {}

fn power(base: u128, exponent: u64) -> u64 {
    let mut result = 1;
    for bit in (0..64).rev() {
        result = result * result % PRIME;
        if exponent >> bit & 1 == 1 {
            result = result * base % PRIME;
        }
    }
    result as u64
}

fn bytes(element: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&element.to_be_bytes());
    bytes
}

impl Suite for Swift {
    const NAME: &'static str = "swift-test-only";
    const SHARE_LEN: usize = 32;
    const PUBLIC_KEY_LEN: usize = 32;
    const OPERATIONS: SuiteOperations = SuiteOperations {
        share: Operation("share"),
        agree: Operation("agree"),
        generate: Operation("generate"),
        sign: Operation("sign"),
        verify: Operation("verify"),
    };

    type Secret = Exponent;
    type SigningKey = Key;
    type VerifyingKey = [u8; 32];

    fn secret(seed: &[u8; 32]) -> Exponent {
        Exponent(u64::from_be_bytes(seed[..8].try_into().unwrap()) | 1)
    }

    fn share(secret: &Exponent) -> Share {
        Share::new(&bytes(power(GENERATOR, secret.0))).unwrap()
    }

    fn agree(secret: &Exponent, peer: &[u8]) -> Result<AgreedSecret, AgreementError> {
        if peer.len() != 32 {
            return Err(AgreementError::WrongLength { found: peer.len(), expected: 32 });
        }
        let element = u128::from(u64::from_be_bytes(peer[24..].try_into().unwrap()));
        if peer[..24] != [0; 24] || element == 0 || element >= PRIME {
            return Err(AgreementError::NotAPoint);
        }
        if element == 1 || element == PRIME - 1 {
            return Err(AgreementError::SmallOrder);
        }
        Ok(AgreedSecret::from_array(bytes(power(element, secret.0))))
    }

    fn signing_key(seed: &[u8; 32]) -> Key {
        Key(Sha256::digest(seed).into())
    }

    fn public_key(key: &Key) -> PublicKey {
        PublicKey::new(&key.0).unwrap()
    }

    fn verifying_key(bytes: &[u8]) -> Result<[u8; 32], PublicKeyError> {
        let key = bytes.try_into().map_err(|_| PublicKeyError::WrongLength { found: bytes.len(), expected: 32 })?;
        if key == [0; 32] { Err(PublicKeyError::SmallOrder) } else { Ok(key) }
    }

    fn sign(key: &Key, message: &[u8]) -> Signature {
        signature(&key.0, message)
    }

    fn verify(key: &[u8; 32], message: &[u8], found: &Signature) -> Result<(), BadSignature> {
        if *found == signature(key, message) { Ok(()) } else { Err(BadSignature) }
    }
}

fn signature(key: &[u8; 32], message: &[u8]) -> Signature {
    let mut signature = [0; 64];
    for (number, half) in signature.chunks_exact_mut(32).enumerate() {
        half.copy_from_slice(
            &Sha256::new().chain_update([number as u8]).chain_update(key).chain_update(message).finalize(),
        );
    }
    signature
}
