//! What a message authentication code can be asked for, and what is refused.

use crate::{KeyLen, MacAlgorithm};

/// No tag of this length is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a tag of {found} bytes is asked for; {algorithm} gives {} to {}",
    algorithm.tag_bits_min().div_ceil(8), algorithm.output_len()
)]
pub struct TagLenError {
    /// What was asked for `[byte]`.
    pub found: usize,
    /// Of which algorithm.
    pub algorithm: MacAlgorithm,
}

impl TagLenError {
    /// Checks a tag length against the shortest and the longest tag of an algorithm.
    ///
    /// # Errors
    /// [`TagLenError`] if it is outside.
    #[inline]
    pub const fn check(algorithm: MacAlgorithm, tag_len: usize) -> Result<(), Self> {
        if tag_len > algorithm.output_len() || !algorithm.takes_tag_bits(8 * tag_len as u16) {
            return Err(Self { found: tag_len, algorithm });
        }
        Ok(())
    }
}

/// No key of this length is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a key of {found} bytes does not go with {algorithm}, which takes {}", expected(*algorithm))]
pub struct KeyLenError {
    /// Its length `[byte]`.
    pub found: usize,
    /// By which algorithm.
    pub algorithm: MacAlgorithm,
}

impl KeyLenError {
    /// Checks the length of a key against what an algorithm takes.
    ///
    /// # Errors
    /// [`KeyLenError`] if it takes no such key.
    pub const fn check(algorithm: MacAlgorithm, key_len: usize) -> Result<(), Self> {
        if algorithm.takes_key_len(key_len) { Ok(()) } else { Err(Self { found: key_len, algorithm }) }
    }
}

/// A length for an error's text `[byte]`.
fn expected(algorithm: MacAlgorithm) -> &'static str {
    match algorithm.key_len() {
        KeyLen::Any => "any",
        KeyLen::Exactly(16) => "16",
        KeyLen::Exactly(32) => "32",
        KeyLen::Exactly(_) => "another length",
    }
}
