//! AES: [`Aes128Ctr`] hides, [`CmacAes128`] and [`Gmac`] authenticate, [`AesGcm`] does both.
//!
//! All expand their key once. The round keys are wiped when dropped. AES instructions are used where the processor
//! has them, found out at run time; elsewhere `aes` computes in constant time without tables.

mod cmac;
mod ctr;
mod gcm;
mod gmac;
mod key;

pub use cmac::{BlockMac, CmacAes128};
pub use ctr::Aes128Ctr;
pub use gcm::AesGcm;
pub use gmac::Gmac;
pub use key::Key128;

/// Length of the block of AES, of an initial counter block and of a full CMAC `[byte]`.
pub const BLOCK_LEN: usize = 16;
