//! GMAC: AES-GCM that encrypts nothing (NIST SP 800-38D).

use core::fmt;

use aes::{
    Aes128, Aes256, Block,
    cipher::{BlockCipherEncrypt, KeyInit},
};
use chronoseal_core::Operation;
use ghash::{GHash, universal_hash::UniversalHash};
use zeroize::Zeroize;

use super::BLOCK_LEN;

/// GMAC with AES, a key of 128 or 256 bits and nonces of 96, its key expanded.
///
/// A nonce is used once under a key: from two messages under one nonce the key of the hash can be computed, and any message forged.
#[derive(Clone)]
pub struct Gmac {
    cipher: Cipher,
    /// With the hash of nothing.
    hash: GHash,
}

#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each stream, and without an allocator none can be boxed"
)]
enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl Cipher {
    fn encrypt(&self, block: &mut Block) {
        match self {
            Self::Aes128(cipher) => cipher.encrypt_block(block),
            Self::Aes256(cipher) => cipher.encrypt_block(block),
        }
    }
}

impl Gmac {
    /// Length of every nonce `[byte]`.
    pub const NONCE_LEN: usize = 12;

    /// Expands a key of 16 or 32 bytes; `None` for another length.
    pub fn new(key: &[u8]) -> Option<Self> {
        let aes128 = Aes128::new_from_slice(key).map(Cipher::Aes128);
        let cipher = aes128.or_else(|_| Aes256::new_from_slice(key).map(Cipher::Aes256)).ok()?;
        let mut hash_key = Block::default();
        cipher.encrypt(&mut hash_key);
        let hash = GHash::new(&hash_key);
        hash_key.zeroize();
        Some(Self { cipher, hash })
    }

    /// What one tag is charged as.
    pub const fn operation(&self) -> Operation {
        match self.cipher {
            Cipher::Aes128(_) => Operation("gmac-aes-128"),
            Cipher::Aes256(_) => Operation("gmac-aes-256"),
        }
    }

    /// The whole tag of the message that is the concatenation of `parts`.
    #[must_use]
    pub fn tag(&self, nonce: &[u8; Self::NONCE_LEN], parts: &[&[u8]]) -> [u8; BLOCK_LEN] {
        let mut hash = self.hash.clone();
        // What the blocks before leave over.
        let (mut open, mut filled, mut len) = ([0; BLOCK_LEN], 0, 0u64);
        for part in parts {
            len += part.len() as u64;
            let mut part = *part;
            if filled > 0 {
                let (front, rest) = part.split_at(part.len().min(BLOCK_LEN - filled));
                open[filled..filled + front.len()].copy_from_slice(front);
                (filled, part) = (filled + front.len(), rest);
                if filled < BLOCK_LEN {
                    continue;
                }
                hash.update(&[open.into()]);
            }
            let (blocks, rest) = part.as_chunks::<BLOCK_LEN>();
            hash.update(ghash::Block::cast_slice_from_core(blocks));
            open[..rest.len()].copy_from_slice(rest);
            filled = rest.len();
        }
        if filled > 0 {
            open[filled..].fill(0);
            hash.update(&[open.into()]);
        }
        let mut lengths = [0; BLOCK_LEN];
        lengths[..8].copy_from_slice(&(len * 8).to_be_bytes());
        hash.update(&[lengths.into()]);
        // [SP 800-38D 7.1] step 2: the block before the first counter.
        let mut mask = Block::default();
        mask[..Self::NONCE_LEN].copy_from_slice(nonce);
        mask[BLOCK_LEN - 1] = 1;
        self.cipher.encrypt(&mut mask);
        let hashed = hash.finalize();
        core::array::from_fn(|at| hashed[at] ^ mask[at])
    }
}

impl fmt::Debug for Gmac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gmac(round keys hidden)")
    }
}
