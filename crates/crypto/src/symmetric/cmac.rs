//! CMAC with AES-128 (NIST SP 800-38B, RFC 4493).

use core::fmt;

use aes::{Aes128, cipher::KeyInit};
use chronoseal_core::Operation;
use cmac::{
    block_api::CmacCore,
    digest::{
        Output,
        block_api::{Buffer, FixedOutputCore, UpdateCore},
        common::InnerInit,
    },
};
use subtle::ConstantTimeEq;

use super::{BLOCK_LEN, Key128};

/// A MAC over a block cipher with blocks of 16 bytes, its key absorbed once.
///
/// A message is the concatenation of its `parts`: how it is cut makes no difference to the tag. Truncation is the
/// caller's matter, since some protocols cut tags within a byte.
pub trait BlockMac {
    /// What one tag is charged as.
    const OPERATION: Operation;

    /// The whole tag of the message.
    #[must_use]
    fn tag(&self, parts: &[&[u8]]) -> [u8; BLOCK_LEN];

    /// Whether `tag` is the whole tag of the message, compared in constant time.
    #[must_use]
    fn verify(&self, parts: &[&[u8]], tag: &[u8; BLOCK_LEN]) -> bool {
        self.tag(parts).ct_eq(tag).into()
    }
}

/// AES-128-CMAC with its key expanded.
#[derive(Clone)]
pub struct CmacAes128(Aes128);

impl CmacAes128 {
    /// Expands the key.
    pub fn new(key: &Key128) -> Self {
        Self(Aes128::new(key.expose().into()))
    }
}

impl BlockMac for CmacAes128 {
    const OPERATION: Operation = Operation("cmac-aes-128");

    #[inline]
    fn tag(&self, parts: &[&[u8]]) -> [u8; BLOCK_LEN] {
        // Borrowing the cipher spares a copy of the round keys, and its wiping, for every message.
        let mut running = CmacCore::inner_init(&self.0);
        let mut buffer = Buffer::<CmacCore<&Aes128>>::default();
        for part in parts {
            buffer.digest_blocks(part, |blocks| running.update_blocks(blocks));
        }
        let mut tag = Output::<CmacCore<&Aes128>>::default();
        running.finalize_fixed_core(&mut buffer, &mut tag);
        tag.into()
    }
}

impl fmt::Debug for CmacAes128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CmacAes128(round keys hidden)")
    }
}
