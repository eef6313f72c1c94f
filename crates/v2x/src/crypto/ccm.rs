//! AES-128 in CCM mode with a nonce of 12 octets and a tag of 16, IEEE 1609.2 clause 5.3.8.

use aes::Aes128;
use ccm::aead::AeadInOut;
use ccm::aead::consts::{U12, U16};
use ccm::{Ccm, KeyInit};

type Aes128Ccm = Ccm<Aes128, U16, U12>;

/// Octets of the tag.
pub const CCM_TAG_LEN: usize = 16;

/// Encrypts: ciphertext, then tag. Never twice with one key and nonce.
///
/// # Errors
/// [`crate::message::EncryptError::TooLong`] from 2^24 octets on.
pub fn ccm_seal(key: &[u8; 16], nonce: &[u8; 12], plaintext: &[u8]) -> Result<Vec<u8>, crate::message::EncryptError> {
    let mut octets = Vec::with_capacity(plaintext.len() + CCM_TAG_LEN);
    octets.extend_from_slice(plaintext);
    Aes128Ccm::new(key.into())
        .encrypt_in_place(nonce.into(), b"", &mut octets)
        .map_err(|_| crate::message::EncryptError::TooLong)?;
    Ok(octets)
}

/// What was encrypted; none if anything was changed.
pub fn ccm_open(key: &[u8; 16], nonce: &[u8; 12], ciphertext: &[u8]) -> Option<Vec<u8>> {
    let mut octets = ciphertext.to_vec();
    Aes128Ccm::new(key.into()).decrypt_in_place(nonce.into(), b"", &mut octets).ok()?;
    Some(octets)
}
