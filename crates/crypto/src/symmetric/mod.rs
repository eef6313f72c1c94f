//! AES with 128-bit keys: [`Aes128Ctr`] hides, [`CmacAes128`] authenticates.
//!
//! Both expand a [`Key128`] once. The round keys are wiped when dropped. AES instructions are used where the processor
//! has them, found out at run time; elsewhere `aes` computes in constant time without tables.

mod cmac;
mod ctr;
mod key;

pub use cmac::{BlockMac, CmacAes128};
pub use ctr::Aes128Ctr;
pub use key::Key128;

/// Length of the block of AES, of an initial counter block and of a full CMAC `[byte]`.
pub const BLOCK_LEN: usize = 16;
