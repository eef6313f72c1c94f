//! AES in Galois/counter mode (NIST SP 800-38D).

use core::fmt;

use aes_gcm::{
    Aes128Gcm, Aes256Gcm,
    aead::{AeadInOut, KeyInit},
};
use chronoseal_core::Operation;

use super::BLOCK_LEN;

/// AES-GCM with nonces of 96 bits and whole tags of 128, its key expanded.
///
/// A nonce is used once under a key: two messages under one nonce give away their difference and the key of the tag.
#[derive(Clone)]
pub struct AesGcm(Inner);

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one for each link, and without an allocator none can be boxed")]
enum Inner {
    Aes128(Aes128Gcm),
    Aes256(Aes256Gcm),
}

impl AesGcm {
    /// Length of every nonce `[byte]`.
    pub const NONCE_LEN: usize = 12;

    /// Expands a key of 16 or 32 bytes; `None` for another length.
    pub fn new(key: &[u8]) -> Option<Self> {
        let aes128 = Aes128Gcm::new_from_slice(key).map(Inner::Aes128);
        aes128.or_else(|_| Aes256Gcm::new_from_slice(key).map(Inner::Aes256)).ok().map(Self)
    }

    /// What one message is charged as.
    pub const fn operation(&self) -> Operation {
        match self.0 {
            Inner::Aes128(_) => Operation("aes-128-gcm"),
            Inner::Aes256(_) => Operation("aes-256-gcm"),
        }
    }

    /// Encrypts `data` in place, and gives the tag over it and `associated`, which stays as it is.
    ///
    /// # Panics
    /// If `data` are longer than 64 GiB, or `associated` longer than 2^61 bytes.
    #[must_use]
    pub fn seal(&self, nonce: &[u8; Self::NONCE_LEN], associated: &[u8], data: &mut [u8]) -> [u8; BLOCK_LEN] {
        let sealed = match &self.0 {
            Inner::Aes128(cipher) => cipher.encrypt_inout_detached(nonce.into(), associated, data.into()),
            Inner::Aes256(cipher) => cipher.encrypt_inout_detached(nonce.into(), associated, data.into()),
        };
        sealed.expect("a frame is shorter than 64 GiB").into()
    }

    /// Decrypts `data` in place if the tag fits them and `associated`, which is compared in constant time; else leaves them as
    /// they are and says `false`.
    #[must_use]
    pub fn open(
        &self,
        nonce: &[u8; Self::NONCE_LEN],
        associated: &[u8],
        data: &mut [u8],
        tag: &[u8; BLOCK_LEN],
    ) -> bool {
        let opened = match &self.0 {
            Inner::Aes128(cipher) => cipher.decrypt_inout_detached(nonce.into(), associated, data.into(), tag.into()),
            Inner::Aes256(cipher) => cipher.decrypt_inout_detached(nonce.into(), associated, data.into(), tag.into()),
        };
        opened.is_ok()
    }
}

impl fmt::Debug for AesGcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AesGcm(round keys hidden)")
    }
}
