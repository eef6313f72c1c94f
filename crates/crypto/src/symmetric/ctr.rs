//! AES-128 in counter mode (NIST SP 800-38A, 6.5).

use core::fmt;

use aes::{
    Aes128,
    cipher::{InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper},
};
use chronoseal_core::Operation;
use ctr::{CtrCore, flavors::Ctr128BE};

use super::{BLOCK_LEN, Key128};

/// AES-128-CTR with its key expanded.
///
/// It hides and authenticates nothing: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two
/// messages under one key whose counter blocks meet give away their difference, so every pair of key and initial
/// counter block is used once.
#[derive(Clone)]
pub struct Aes128Ctr(Aes128);

impl Aes128Ctr {
    /// What one message is charged as.
    pub const OPERATION: Operation = Operation("aes-128-ctr");

    /// Expands the key.
    pub fn new(key: &Key128) -> Self {
        Self(Aes128::new(key.expose().into()))
    }

    /// Encrypts or decrypts `data`, which is the same: the key stream from `counter` on is added to it.
    ///
    /// `counter` is the first counter block; it counts up as a whole, big-endian, and wraps.
    pub fn apply_keystream(&self, counter: &[u8; BLOCK_LEN], data: &mut [u8]) {
        // Borrowing the cipher spares a copy of the round keys, and its wiping, for every message.
        let core = CtrCore::<_, Ctr128BE>::inner_iv_init(&self.0, counter.into());
        StreamCipherCoreWrapper::from_core(core).apply_keystream(data);
    }
}

impl fmt::Debug for Aes128Ctr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes128Ctr(round keys hidden)")
    }
}
