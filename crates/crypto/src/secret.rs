//! Secret keys of different lengths, for whatever absorbs them.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{KeyBytes, Label, kdf, symmetric::Key128};

/// A secret key of some length.
pub trait Secret {
    /// The secret itself, for a MAC to absorb.
    fn secret(&self) -> &[u8];
}

impl Secret for KeyBytes {
    fn secret(&self) -> &[u8] {
        self.expose()
    }
}

impl Secret for Key128 {
    fn secret(&self) -> &[u8] {
        self.expose()
    }
}

impl Secret for SymmetricKey {
    fn secret(&self) -> &[u8] {
        self.expose()
    }
}

/// A key of up to [`Self::LEN_MAX`] bytes, wiped when dropped, shown by no formatter, and compared in constant time.
///
/// For places that hold the key of a stream without knowing which algorithm it is for.
#[derive(Clone)]
pub struct SymmetricKey {
    bytes: [u8; SymmetricKey::LEN_MAX],
    len: u8,
}

impl SymmetricKey {
    /// The longest key `[byte]`: that of [`KeyBytes`].
    pub const LEN_MAX: usize = KeyBytes::LEN;

    /// The key made of these bytes, or `None` if there are none or more than [`Self::LEN_MAX`].
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut key = Self { bytes: [0; Self::LEN_MAX], len: u8::try_from(bytes.len()).ok()? };
        key.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(key)
    }

    /// The key of `len` bytes that [`kdf::derive`] gives for these arguments, or `None` if that is no length of a key.
    pub fn derive(len: usize, secret: &[u8], salt: &[u8], label: &Label, context: &[&[u8]]) -> Option<Self> {
        let mut key = Self::from_slice([0; Self::LEN_MAX].get(..len)?)?;
        kdf::derive(secret, salt, label, context, &mut key.bytes[..len]);
        Some(key)
    }

    /// The secret itself, for a MAC to absorb.
    pub fn expose(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl From<&KeyBytes> for SymmetricKey {
    fn from(key: &KeyBytes) -> Self {
        Self { bytes: *key.expose(), len: KeyBytes::LEN as u8 }
    }
}

impl From<&Key128> for SymmetricKey {
    fn from(key: &Key128) -> Self {
        let mut bytes = [0; Self::LEN_MAX];
        bytes[..Key128::LEN].copy_from_slice(key.expose());
        Self { bytes, len: Key128::LEN as u8 }
    }
}

impl Drop for SymmetricKey {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl ZeroizeOnDrop for SymmetricKey {}

impl fmt::Debug for SymmetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SymmetricKey(hidden)")
    }
}

impl PartialEq for SymmetricKey {
    /// In constant time; only a difference in length is found out sooner.
    fn eq(&self, other: &Self) -> bool {
        self.expose().ct_eq(other.expose()).into()
    }
}

impl Eq for SymmetricKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_1_to_64_bytes_and_gives_them_back() {
        for len in 1..=64 {
            let bytes = vec![7; len];
            let key = SymmetricKey::from_slice(&bytes).expect("a length it takes");
            assert_eq!(key.expose(), bytes);
        }
        assert_eq!(SymmetricKey::from_slice(&[]), None);
        assert_eq!(SymmetricKey::from_slice(&[7; 65]), None);
        assert_eq!(SymmetricKey::from_slice(&[7; 256]), None);
    }

    #[test]
    fn is_the_key_it_was_made_from() {
        let (long, short) = (KeyBytes::from_array([3; 64]), Key128::from_array([4; 16]));
        assert_eq!(SymmetricKey::from(&long).secret(), long.secret());
        assert_eq!(SymmetricKey::from(&short).secret(), short.secret());
        assert_ne!(SymmetricKey::from(&long), SymmetricKey::from(&short));
    }

    #[test]
    fn derives_as_the_kdf_does() {
        const LABEL: Label = Label::new("test of a derived key");
        for len in [1, 16, 64] {
            let mut expected = vec![0; len];
            kdf::derive(b"secret", b"salt", &LABEL, &[b"context"], &mut expected);
            let key = SymmetricKey::derive(len, b"secret", b"salt", &LABEL, &[b"context"]);
            assert_eq!(key.as_ref().map(SymmetricKey::expose), Some(&expected[..]));
        }
        for len in [0, 65] {
            assert_eq!(SymmetricKey::derive(len, b"secret", b"", &LABEL, &[]), None);
        }
    }

    #[test]
    fn is_shown_by_no_formatter() {
        let key = SymmetricKey::from(&Key128::from_array([7; 16]));
        assert_eq!(format!("{key:?}"), "SymmetricKey(hidden)");
    }
}
