//! The seam: a key of any message authentication code, absorbed once.

use core::fmt;

use hmac::block_api::HmacCore;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    KeyLenError, MacAlgorithm, TagLenError, hmac_state,
    symmetric::{BlockMac, CmacAes128, Gmac, Key128},
};

/// The key of a message authentication code, ready for use.
///
/// A message is the concatenation of its parts: how it is cut makes no difference to the tag. A tag is the leftmost bytes
/// of the full output.
///
/// What is kept is not the key but what was made of it: for an HMAC the two hash states after the blocks `K xor ipad`
/// and `K xor opad`, for a CMAC or a GMAC the round keys; BLAKE3 has nothing to absorb before a message. They are as secret as the key: whoever has them can make tags.
///
/// # Nonces
/// `nonce` has to differ from message to message under one key for algorithms with [`MacAlgorithm::needs_nonce`]; to all
/// others it makes no difference.
///
/// # What is wiped
/// The state, and every copy of it made for one message, is wiped when dropped (the `zeroize` feature of the libraries
/// underneath is on). Not wiped: the padded key that `hmac` 0.13 builds on the stack in its constructor for SHA-1 and
/// SHA-2, the libraries' own working variables, and whatever a move of this value leaves behind. A program that must
/// clear those too runs the constructor on a stack that it wipes afterwards.
#[derive(Clone)]
pub struct MacKey {
    algorithm: MacAlgorithm,
    state: State,
}

#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for each stream, and without an allocator none can be boxed"
)]
enum State {
    HmacSha1(HmacCore<Sha1>),
    HmacSha256(HmacCore<Sha256>),
    HmacSha512(HmacCore<Sha512>),
    HmacSha3_256(hmac_state::Sha3Hmac),
    CmacAes128(CmacAes128),
    Gmac(Gmac),
    Blake3(Zeroizing<[u8; blake3::KEY_LEN]>),
}

impl MacKey {
    /// Absorbs `key` for use with `algorithm`.
    ///
    /// # Errors
    /// [`KeyLenError`] if the algorithm takes no key of this length.
    pub fn new(algorithm: MacAlgorithm, key: &[u8]) -> Result<Self, KeyLenError> {
        KeyLenError::check(algorithm, key.len())?;
        let other_len = KeyLenError { found: key.len(), algorithm };
        let state = match algorithm {
            MacAlgorithm::HmacSha1 => State::HmacSha1(hmac_state::absorb(key)),
            MacAlgorithm::HmacSha256 => State::HmacSha256(hmac_state::absorb(key)),
            MacAlgorithm::HmacSha512 => State::HmacSha512(hmac_state::absorb(key)),
            MacAlgorithm::HmacSha3_256 => State::HmacSha3_256(hmac_state::Sha3Hmac::new(key)),
            MacAlgorithm::CmacAes128 => State::CmacAes128(CmacAes128::new(&Key128::from_slice(key).ok_or(other_len)?)),
            MacAlgorithm::GmacAes128 | MacAlgorithm::GmacAes256 => State::Gmac(Gmac::new(key).ok_or(other_len)?),
            MacAlgorithm::Blake3 => State::Blake3(Zeroizing::new(key.try_into().map_err(|_| other_len)?)),
        };
        Ok(Self { algorithm, state })
    }

    /// Of which algorithm it is a key.
    pub const fn algorithm(&self) -> MacAlgorithm {
        self.algorithm
    }

    /// Hands the untruncated tag of the message to `use_tag`, from where the library put it.
    #[inline(always)]
    fn with_full_tag<T>(&self, nonce: u64, parts: &[&[u8]], use_tag: impl FnOnce(&[u8]) -> T) -> T {
        match &self.state {
            State::HmacSha1(keyed) => use_tag(&hmac_state::finish(keyed, parts)),
            State::HmacSha256(keyed) => use_tag(&hmac_state::finish(keyed, parts)),
            State::HmacSha512(keyed) => use_tag(&hmac_state::finish(keyed, parts)),
            State::HmacSha3_256(keyed) => use_tag(&keyed.finish(parts)),
            State::CmacAes128(cipher) => use_tag(&cipher.tag(parts)),
            State::Gmac(gmac) => {
                // [SP 800-38D 8.2.1] A fixed field of 32 bits, which stands for the one sender that a key has, and a count.
                let mut whole = [0; Gmac::NONCE_LEN];
                whole[4..].copy_from_slice(&nonce.to_be_bytes());
                use_tag(&gmac.tag(&whole, parts))
            }
            State::Blake3(key) => {
                let mut hasher = blake3::Hasher::new_keyed(key);
                for part in parts {
                    hasher.update(part);
                }
                let tag = hasher.finalize();
                hasher.zeroize();
                use_tag(tag.as_bytes())
            }
        }
    }

    /// Writes the tag of the message, truncated to the length of `tag`.
    ///
    /// # Errors
    /// [`TagLenError`] if `tag` is shorter than [`MacAlgorithm::tag_bits_min`] or longer than
    /// [`MacAlgorithm::output_len`]; it is left as it was.
    pub fn compute(&self, nonce: u64, parts: &[&[u8]], tag: &mut [u8]) -> Result<(), TagLenError> {
        TagLenError::check(self.algorithm, tag.len())?;
        self.with_full_tag(nonce, parts, |full| tag.copy_from_slice(&full[..tag.len()]));
        Ok(())
    }

    /// The first 64 bits of the tag, for those who cut it within a byte.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "every algorithm of the table gives 8 bytes or more")]
    pub fn leading_bits(&self, nonce: u64, parts: &[&[u8]]) -> u64 {
        self.with_full_tag(nonce, parts, |full| {
            u64::from_be_bytes(*full.first_chunk().expect("every algorithm of the table gives 8 bytes or more"))
        })
    }

    /// Whether `tag` is the message's tag, truncated to the length of `tag`.
    ///
    /// The comparison takes the same time wherever the first difference lies. A tag of a length that
    /// [`Self::compute`] refuses is never right.
    #[must_use]
    pub fn verify(&self, nonce: u64, parts: &[&[u8]], tag: &[u8]) -> bool {
        TagLenError::check(self.algorithm, tag.len()).is_ok()
            && self.with_full_tag(nonce, parts, |full| full[..tag.len()].ct_eq(tag).into())
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MacKey({}, state hidden)", self.algorithm)
    }
}
