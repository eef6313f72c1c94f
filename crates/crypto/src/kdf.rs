//! Key derivation: HKDF with SHA-256 (RFC 5869), and keys kept apart by labels.

use chronoseal_core::Operation;
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// What one derivation is charged as.
pub const OPERATION: Operation = Operation("hkdf-sha-256");

/// The longest output of one derivation: 255 blocks of SHA-256 `[byte]`.
pub const OUTPUT_LEN_MAX: usize = 255 * 32;

/// What a derived key is for. Keys of one secret with different labels say nothing about each other.
///
/// A label is a constant of the protocol that uses it, so that a search finds every key there is:
///
/// ```
/// use chronoseal_crypto::kdf::{self, Label};
///
/// const CHANNEL_KEY: Label = Label::new("example channel key");
/// let mut key = [0; 16];
/// kdf::derive(b"an agreed secret", b"", &CHANNEL_KEY, &[b"initiator", b"responder"], &mut key);
/// # assert_ne!(key, [0; 16]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(&'static str);

impl Label {
    /// The label with this text.
    ///
    /// # Panics
    /// If the text is empty or longer than 255 bytes; for a constant, at compile time.
    pub const fn new(text: &'static str) -> Self {
        assert!(!text.is_empty() && text.len() <= 255, "a label has 1..=255 bytes");
        Self(text)
    }

    /// Its text.
    pub const fn text(self) -> &'static str {
        self.0
    }
}

/// Fills `out` with key material from a secret.
///
/// The same arguments give the same bytes; a difference in any of them, be it only where one part of the context ends
/// and the next begins, gives unrelated ones. `salt` may be empty and need not be secret. Two outputs of different
/// lengths share their beginning.
///
/// HKDF's `info` is, without separators: the length of the label `[1 byte]`, the label, and the SHA-256 of the context,
/// in which the length of each part `[4 bytes, big-endian]` goes before it. The hash lets a context have any number of
/// parts without an allocator.
///
/// # Panics
/// If `out` is longer than [`OUTPUT_LEN_MAX`]. Lengths of keys are constants of a program, not input.
pub fn derive(secret: &[u8], salt: &[u8], label: &Label, context: &[&[u8]], out: &mut [u8]) {
    let mut hash = Sha256::new();
    for part in context {
        let len = u32::try_from(part.len()).expect("a part of a context is shorter than 4 GiB");
        hash.update(len.to_be_bytes());
        hash.update(part);
    }
    let label_len = label.0.len() as u8; // at most 255, see `Label::new`
    let info: [&[u8]; 3] = [&[label_len], label.0.as_bytes(), &hash.finalize()];
    hkdf_sha256(secret, salt, &info, out).expect("the length of a key is far below OUTPUT_LEN_MAX");
}

/// HKDF-SHA-256 as RFC 5869 has it, extract then expand; `info` is the concatenation of its parts.
///
/// For peers that define their own `info`. Everything of this project goes through [`derive()`].
///
/// # Errors
/// [`OutputTooLong`] if `out` is longer than [`OUTPUT_LEN_MAX`]; it is left as it was.
pub fn hkdf_sha256(secret: &[u8], salt: &[u8], info: &[&[u8]], out: &mut [u8]) -> Result<(), OutputTooLong> {
    if out.len() > OUTPUT_LEN_MAX {
        return Err(OutputTooLong { found: out.len() });
    }
    // [RFC 5869 §2.2] No salt is a salt of zeros, to which HMAC pads the empty one.
    let (mut pseudorandom_key, hkdf) = Hkdf::<Sha256>::extract(Some(salt), secret);
    pseudorandom_key.zeroize();
    hkdf.expand_multi_info(info, out).map_err(|_| OutputTooLong { found: out.len() })
}

/// More is asked for than one derivation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{found} bytes are asked of one derivation; HKDF-SHA-256 gives up to {OUTPUT_LEN_MAX}")]
pub struct OutputTooLong {
    /// What was asked for `[byte]`.
    pub found: usize,
}
