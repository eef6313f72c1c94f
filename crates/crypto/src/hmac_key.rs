//! HMAC (FIPS 198-1, RFC 2104) with its key absorbed once.

use core::fmt;

use hmac::{
    KeyInit,
    block_api::HmacCore,
    digest::{
        Digest, FixedOutput, Output, Update,
        block_api::{Buffer, EagerHash, FixedOutputCore, UpdateCore},
    },
};
use sha1::Sha1;
use sha2::Sha256;
use sha3::Sha3_256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{HashAlgorithm, Mac, TagLenError};

/// An HMAC key, ready for use: the blocks `K xor ipad` and `K xor opad` have gone through the hash already.
///
/// What is kept is not the key but the two hash states after those blocks, which are as secret as the key: whoever
/// has them can make tags. Keys of any length are taken; one longer than the hash's block is hashed first.
///
/// # What is wiped
/// Both states, and every copy of them made for one message, are wiped when dropped (the `zeroize` feature of `hmac`,
/// `sha1`, `sha2` and `sha3` is on). Not wiped: the padded key that `hmac` 0.13 builds on the stack in its constructor
/// for SHA-1 and SHA-256, the hashes' own working variables, and whatever a move of this value leaves behind. A
/// program that must clear those too runs the constructor on a stack that it wipes afterwards.
#[derive(Clone)]
pub struct HmacKey(State);

#[expect(clippy::large_enum_variant, reason = "SHA-3 has the wider state; without an allocator it cannot be boxed")]
#[derive(Clone)]
enum State {
    Sha1(HmacCore<Sha1>),
    Sha256(HmacCore<Sha256>),
    Sha3_256(Sha3Hmac),
}

impl HmacKey {
    /// Absorbs `key`, of any length, for use with HMAC over `algorithm`.
    #[expect(clippy::missing_panics_doc, reason = "HMAC is defined for keys of every length")]
    pub fn new(algorithm: HashAlgorithm, key: &[u8]) -> Self {
        const ANY_LEN: &str = "HMAC is defined for keys of every length";
        Self(match algorithm {
            HashAlgorithm::Sha1 => State::Sha1(HmacCore::new_from_slice(key).expect(ANY_LEN)),
            HashAlgorithm::Sha256 => State::Sha256(HmacCore::new_from_slice(key).expect(ANY_LEN)),
            HashAlgorithm::Sha3_256 => State::Sha3_256(Sha3Hmac::new(key)),
        })
    }

    /// Hands the untruncated tag of the message to `use_tag`, from where the library put it.
    #[inline(always)]
    fn with_full_tag<T>(&self, parts: &[&[u8]], use_tag: impl FnOnce(&[u8]) -> T) -> T {
        match &self.0 {
            State::Sha1(keyed) => use_tag(&finish(keyed, parts)),
            State::Sha256(keyed) => use_tag(&finish(keyed, parts)),
            State::Sha3_256(keyed) => use_tag(&keyed.finish(parts)),
        }
    }
}

/// The tag of one message under a state of the library, which stays as it is.
///
/// The state is the library's without its block buffer: an empty buffer made here is cheaper than a copy of one, which
/// shows with the shortest frames. State and buffer are wiped when they go out of scope.
#[inline(always)]
fn finish<D: EagerHash>(keyed: &HmacCore<D>, parts: &[&[u8]]) -> Output<HmacCore<D>> {
    let (mut running, mut buffer) = (keyed.clone(), Buffer::<HmacCore<D>>::default());
    for part in parts {
        buffer.digest_blocks(part, |blocks| running.update_blocks(blocks));
    }
    let mut tag = Output::<HmacCore<D>>::default();
    running.finalize_fixed_core(&mut buffer, &mut tag);
    tag
}

/// HMAC over SHA3-256 with both key blocks absorbed.
///
/// `hmac` 0.13 offers only its simple form for hashes without a block interface, which `sha3` 0.12 is: that form
/// absorbs the outer key block again for every message, one more Keccak permutation, and does not wipe it. This one
/// keeps the outer state instead.
#[derive(Clone)]
struct Sha3Hmac {
    inner: Sha3_256,
    outer: Sha3_256,
}

impl Sha3Hmac {
    const BLOCK_LEN: usize = HashAlgorithm::Sha3_256.block_len();

    fn new(key: &[u8]) -> Self {
        // [FIPS 198-1 §4] steps 1 to 3: a key of up to one block is padded with zeros, a longer one is hashed first.
        let mut block = Zeroizing::new([0; Self::BLOCK_LEN]);
        if key.len() <= Self::BLOCK_LEN {
            block[..key.len()].copy_from_slice(key);
        } else {
            let mut digest = Sha3_256::digest(key);
            block[..digest.len()].copy_from_slice(&digest);
            zeroize::Zeroize::zeroize(&mut digest[..]);
        }
        let absorb = |pad: u8| {
            let padded = Zeroizing::new(block.map(|byte| byte ^ pad));
            let mut state = Sha3_256::default();
            Update::update(&mut state, &padded[..]);
            state
        };
        Self { inner: absorb(0x36), outer: absorb(0x5c) }
    }

    #[inline(always)]
    fn finish(&self, parts: &[&[u8]]) -> Output<Sha3_256> {
        let mut inner = self.inner.clone();
        for part in parts {
            Update::update(&mut inner, part);
        }
        let mut outer = self.outer.clone();
        Update::update(&mut outer, &inner.finalize_fixed());
        outer.finalize_fixed()
    }
}

impl Mac for HmacKey {
    fn algorithm(&self) -> HashAlgorithm {
        match self.0 {
            State::Sha1(_) => HashAlgorithm::Sha1,
            State::Sha256(_) => HashAlgorithm::Sha256,
            State::Sha3_256(_) => HashAlgorithm::Sha3_256,
        }
    }

    fn compute(&self, parts: &[&[u8]], tag: &mut [u8]) -> Result<(), TagLenError> {
        TagLenError::check(self.algorithm(), tag.len())?;
        self.with_full_tag(parts, |full| tag.copy_from_slice(&full[..tag.len()]));
        Ok(())
    }

    fn verify(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        TagLenError::check(self.algorithm(), tag.len()).is_ok()
            && self.with_full_tag(parts, |full| full[..tag.len()].ct_eq(tag).into())
    }
}

impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HmacKey({}, state hidden)", self.algorithm())
    }
}
