//! ECIES as IEEE 1609.2 clause 5.3.5 has it: IEEE 1363a ECIES with KDF2 and MAC1 of SHA-256, encrypting a key of 16 octets.

use hmac::{Hmac, KeyInit, Mac};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{AgreementKey, KeyError, PublicPoint, SharedX, SoftwareKey};
use crate::types::EciesP256EncryptedKey;

/// Octets of a mask for the key, and after it of the key for the tag.
const MASK_LEN: usize = 16;
const MAC_KEY_LEN: usize = 32;

/// KDF2 of IEEE 1363a with SHA-256: fills `output` from a shared secret and `p1`.
///
/// # Panics
/// If `output` is longer than 32 (2^32 - 1) octets.
pub fn kdf2(secret: &[u8], p1: &[u8], output: &mut [u8]) {
    for (counter, block) in (1_u64..).zip(output.chunks_mut(32)) {
        let counter = u32::try_from(counter).expect("outputs are short");
        let hash = Zeroizing::new(<[u8; 32]>::from(
            Sha256::new().chain_update(secret).chain_update(counter.to_be_bytes()).chain_update(p1).finalize(),
        ));
        block.copy_from_slice(&hash[..block.len()]);
    }
}

/// MAC1 of IEEE 1363a with SHA-256, its first 16 octets.
#[allow(clippy::missing_panics_doc, reason = "HMAC takes a key of any length")]
pub fn mac1(key: &[u8], message: &[u8]) -> [u8; 16] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(message);
    *mac.finalize().into_bytes().first_chunk().expect("SHA-256 has 32 octets")
}

fn derive(shared: &SharedX, p1: &[u8]) -> Zeroizing<[u8; MASK_LEN + MAC_KEY_LEN]> {
    let mut keys = Zeroizing::new([0; MASK_LEN + MAC_KEY_LEN]);
    kdf2(shared.as_bytes(), p1, &mut keys[..]);
    keys
}

fn mask(keys: &[u8], octets: &[u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| octets[i] ^ keys[i])
}

/// Encrypts `key` to `recipient`. `p1` is the hash that ties it to what the recipient's key was found in.
///
/// # Errors
/// [`KeyError::CurveMismatch`] for curves of 384 bits.
pub fn encrypt_key(
    recipient: &PublicPoint,
    p1: &[u8],
    key: &[u8; 16],
    rng: &mut impl CryptoRng,
) -> Result<EciesP256EncryptedKey, KeyError> {
    let mut ephemeral = SoftwareKey::generate(recipient.curve(), rng);
    encrypt_key_with(&mut ephemeral, recipient, p1, key)
}

/// As [`encrypt_key`] with an ephemeral key of the caller's, which is to be used once.
///
/// # Errors
/// [`KeyError::CurveMismatch`] for different curves, or curves of 384 bits.
pub fn encrypt_key_with(
    ephemeral: &mut impl AgreementKey,
    recipient: &PublicPoint,
    p1: &[u8],
    key: &[u8; 16],
) -> Result<EciesP256EncryptedKey, KeyError> {
    let v = ephemeral.public_point().to_p256_curve_point()?;
    let keys = derive(&ephemeral.agree(recipient)?, p1);
    let c = mask(&keys[..MASK_LEN], key);
    Ok(EciesP256EncryptedKey { v, c, t: mac1(&keys[MASK_LEN..], &c) })
}

/// Decrypts a key; none if its tag is wrong.
///
/// # Errors
/// [`KeyError`] for a point that is none, or of the device that holds `recipient`.
pub fn decrypt_key(
    recipient: &mut (impl AgreementKey + ?Sized),
    p1: &[u8],
    encrypted: &EciesP256EncryptedKey,
) -> Result<Option<Zeroizing<[u8; 16]>>, KeyError> {
    let v = PublicPoint::from_curve_point(recipient.curve(), &encrypted.v)?;
    let keys = derive(&recipient.agree(&v)?, p1);
    let tag = mac1(&keys[MASK_LEN..], &encrypted.c);
    let is_right = bool::from(tag.ct_eq(&encrypted.t));
    Ok(is_right.then(|| Zeroizing::new(mask(&keys[..MASK_LEN], &encrypted.c))))
}
