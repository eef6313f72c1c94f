//! AES-128-CCM as IEEE 1609.2 uses it: 12-byte nonce, 16-byte tag, no associated data.

use aes::Aes128;
use ccm::aead::{Aead, KeyInit};
use ccm::consts::{U12, U16};

use crate::hsm::{HsmError, NONCE_LEN, PLAINTEXT_LEN_MAX, TAG_LEN};

type Ccm = ccm::Ccm<Aes128, U16, U12>;

pub(crate) fn encrypt(key: &[u8; 16], nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
    check_plaintext(plaintext)?;
    // Only lengths beyond what the 3-byte counter of a 12-byte nonce can say fail, and those are refused above.
    Ccm::new(key.into()).encrypt(nonce.into(), plaintext).map_err(|_| too_long())
}

pub(crate) fn decrypt(key: &[u8; 16], nonce: &[u8; NONCE_LEN], ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
    check_ciphertext(ciphertext)?;
    Ccm::new(key.into()).decrypt(nonce.into(), ciphertext).map_err(|_| HsmError::NotAuthentic)
}

pub(crate) fn check_plaintext(plaintext: &[u8]) -> Result<(), HsmError> {
    if plaintext.len() > PLAINTEXT_LEN_MAX { Err(too_long()) } else { Ok(()) }
}

/// Too short for a tag is not authentic; too long is not looked at.
pub(crate) fn check_ciphertext(ciphertext: &[u8]) -> Result<(), HsmError> {
    match ciphertext.len() {
        0..TAG_LEN => Err(HsmError::NotAuthentic),
        len if len > PLAINTEXT_LEN_MAX + TAG_LEN => Err(too_long()),
        _ => Ok(()),
    }
}

fn too_long() -> HsmError {
    HsmError::InvalidArgument(format!("at most {PLAINTEXT_LEN_MAX} bytes are encrypted at once"))
}
