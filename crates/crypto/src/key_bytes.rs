//! A secret key of the length the source uses.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A key of 64 bytes, the length used in the ISRCS 2014 study of HMAC on time-triggered Ethernet.
///
/// It is wiped when dropped, shown by no formatter, and compared in constant time. 64 bytes is exactly one block of
/// SHA-1 and SHA-256 and less than one of SHA3-256, so HMAC pads the key and never hashes it.
#[derive(Clone)]
pub struct KeyBytes([u8; KeyBytes::LEN]);

impl KeyBytes {
    /// Length of every key `[byte]`.
    pub const LEN: usize = 64;

    /// The key made of these bytes. The caller's own copy stays the caller's to wipe.
    pub const fn from_array(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The key made of these bytes.
    ///
    /// # Errors
    /// [`KeyError::WrongLength`] unless there are exactly [`Self::LEN`] of them.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, KeyError> {
        match bytes.try_into() {
            Ok(array) => Ok(Self(array)),
            Err(_) => Err(KeyError::WrongLength { found: bytes.len() }),
        }
    }

    /// The key written as 128 hexadecimal digits of either case, without separators.
    ///
    /// # Errors
    /// [`KeyError::NotHexadecimal`] at the first other character, else [`KeyError::WrongLength`] (half a byte counts
    /// as one). Neither error shows any of the text.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        if let Some(position) = text.bytes().position(|digit| !digit.is_ascii_hexdigit()) {
            return Err(KeyError::NotHexadecimal { position });
        }
        if text.len() != 2 * Self::LEN {
            return Err(KeyError::WrongLength { found: text.len().div_ceil(2) });
        }
        let mut key = Self([0; Self::LEN]);
        for (byte, pair) in key.0.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
        }
        Ok(key)
    }

    /// The secret itself, for a MAC to absorb.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

/// Value of one hexadecimal digit; the caller has checked that it is one.
const fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

impl Drop for KeyBytes {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for KeyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyBytes(hidden)")
    }
}

impl ConstantTimeEq for KeyBytes {
    fn ct_eq(&self, other: &Self) -> subtle::Choice {
        self.0.ct_eq(&other.0)
    }
}

impl PartialEq for KeyBytes {
    /// In constant time.
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for KeyBytes {}

/// Why bytes or a text are no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not [`KeyBytes::LEN`] bytes.
    #[error("a key has 64 bytes (128 hexadecimal digits), not {found}")]
    WrongLength {
        /// How many there are `[byte]`.
        found: usize,
    },
    /// A character that is no hexadecimal digit.
    #[error("the character at byte {position} of the key is no hexadecimal digit")]
    NotHexadecimal {
        /// Where in the text, from 0 `[byte]`.
        position: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting() -> [u8; 64] {
        core::array::from_fn(|i| (i * 5) as u8)
    }

    #[test]
    fn reads_hexadecimal_of_either_case() {
        let lower: String = counting().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(KeyBytes::from_hex(&lower).as_ref().map(KeyBytes::expose), Ok(&counting()));
        assert_eq!(KeyBytes::from_hex(&lower.to_uppercase()), KeyBytes::from_hex(&lower));
    }

    #[test]
    fn refuses_other_lengths() {
        for len in [0, 1, 20, 63, 65, 128] {
            let bytes = vec![7; len];
            assert_eq!(KeyBytes::from_slice(&bytes), Err(KeyError::WrongLength { found: len }));
            assert_eq!(KeyBytes::from_hex(&"0f".repeat(len)), Err(KeyError::WrongLength { found: len }));
        }
        assert_eq!(KeyBytes::from_hex(&"0".repeat(127)), Err(KeyError::WrongLength { found: 64 }));
        assert!(KeyBytes::from_slice(&counting()).is_ok());
    }

    #[test]
    fn refuses_what_is_no_hexadecimal_and_says_where() {
        for (text, position) in [("0x00", 1), ("00 11", 2), ("zz", 0), ("00\u{e9}", 2)] {
            assert_eq!(KeyBytes::from_hex(text), Err(KeyError::NotHexadecimal { position }));
        }
        let mut text = "00".repeat(64);
        text.replace_range(127.., "g");
        assert_eq!(KeyBytes::from_hex(&text), Err(KeyError::NotHexadecimal { position: 127 }));
    }

    #[test]
    fn differs_if_any_byte_differs() {
        let key = KeyBytes::from_array(counting());
        for i in 0..64 {
            let mut other = counting();
            other[i] ^= 1;
            assert_ne!(key, KeyBytes::from_array(other));
        }
        assert_eq!(key, key.clone());
    }

    #[test]
    fn is_shown_by_no_formatter() {
        assert_eq!(format!("{:?}", KeyBytes::from_array(counting())), "KeyBytes(hidden)");
    }
}
