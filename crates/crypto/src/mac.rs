//! The seam: what any message authentication code offers to the protocols above.

use crate::HashAlgorithm;

/// The shortest tag computed or accepted [byte].
///
/// Four bytes leave a forger one chance in 2^32 a try. NIST SP 800-107 revision 1, 5.3.3 lets HMAC tags be this short
/// where the number of failed tries is limited; a schedule that gives each frame one slot a period is such a limit.
pub const TAG_LEN_MIN: usize = 4;

/// The longest tag of any algorithm here [byte].
pub const OUTPUT_LEN_MAX: usize = 32;

/// A keyed message authentication code, its key absorbed once.
///
/// A message is the concatenation of its `parts`: how it is cut makes no difference to the tag. A tag is the leftmost
/// bytes of the full output (FIPS 198-1, 5), [`TAG_LEN_MIN`] or more of them.
pub trait Mac {
    /// The hash underneath.
    fn algorithm(&self) -> HashAlgorithm;

    /// Length of the untruncated tag [byte].
    fn output_len(&self) -> usize {
        self.algorithm().output_len()
    }

    /// Writes the tag of the message, truncated to the length of `tag`.
    ///
    /// # Errors
    /// [`TagLenError`] if `tag` is shorter than [`TAG_LEN_MIN`] or longer than [`Self::output_len`]; it is left as it
    /// was.
    fn compute(&self, parts: &[&[u8]], tag: &mut [u8]) -> Result<(), TagLenError>;

    /// Whether `tag` is the message's tag, truncated to the length of `tag`.
    ///
    /// The comparison takes the same time wherever the first difference lies. A tag of a length that
    /// [`Self::compute`] refuses is never right.
    #[must_use]
    fn verify(&self, parts: &[&[u8]], tag: &[u8]) -> bool;
}

/// No tag of this length is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tag of {found} bytes is asked for; {algorithm} gives {TAG_LEN_MIN} to {}", algorithm.output_len())]
pub struct TagLenError {
    /// What was asked for [byte].
    pub found: usize,
    /// The hash underneath.
    pub algorithm: HashAlgorithm,
}

impl TagLenError {
    /// Checks a tag length against [`TAG_LEN_MIN`] and the algorithm's output.
    ///
    /// # Errors
    /// [`TagLenError`] if it is outside.
    #[inline]
    pub const fn check(algorithm: HashAlgorithm, tag_len: usize) -> Result<(), Self> {
        if tag_len < TAG_LEN_MIN || tag_len > algorithm.output_len() {
            return Err(Self { found: tag_len, algorithm });
        }
        Ok(())
    }
}
