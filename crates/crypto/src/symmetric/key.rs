//! A secret key of 128 bits.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Label, kdf};

/// A key of 16 bytes, wiped when dropped, shown by no formatter, and compared in constant time.
#[derive(Clone)]
pub struct Key128([u8; Key128::LEN]);

impl Key128 {
    /// Length of every key `[byte]`.
    pub const LEN: usize = 16;

    /// The key made of these bytes. The caller's own copy stays the caller's to wipe.
    pub const fn from_array(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The key made of these bytes, or `None` unless there are exactly [`Self::LEN`] of them.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The key that [`kdf::derive`] gives for these arguments.
    pub fn derive(secret: &[u8], salt: &[u8], label: &Label, context: &[&[u8]]) -> Self {
        let mut key = Self([0; Self::LEN]);
        kdf::derive(secret, salt, label, context, &mut key.0);
        key
    }

    /// The secret itself, for a cipher or a KDF to absorb.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl Drop for Key128 {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key128 {}

impl fmt::Debug for Key128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key128(hidden)")
    }
}

impl ConstantTimeEq for Key128 {
    fn ct_eq(&self, other: &Self) -> subtle::Choice {
        self.0.ct_eq(&other.0)
    }
}

impl PartialEq for Key128 {
    /// In constant time.
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Key128 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differs_if_any_byte_differs() {
        let key = Key128::from_array([7; 16]);
        for i in 0..16 {
            let mut other = [7; 16];
            other[i] ^= 0x80;
            assert_ne!(key, Key128::from_array(other));
        }
        assert_eq!(key, key.clone());
    }

    #[test]
    fn takes_16_bytes_only() {
        for len in [0, 15, 17, 32] {
            assert_eq!(Key128::from_slice(&[7; 32][..len]), None);
        }
        assert_eq!(Key128::from_slice(&[7; 16]), Some(Key128::from_array([7; 16])));
    }

    #[test]
    fn is_shown_by_no_formatter() {
        assert_eq!(format!("{:?}", Key128::from_array([7; 16])), "Key128(hidden)");
    }
}
