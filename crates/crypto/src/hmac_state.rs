//! HMAC (FIPS 198-1, RFC 2104) with its key absorbed once.

use hmac::{
    KeyInit,
    block_api::HmacCore,
    digest::{
        Digest, FixedOutput, Output, Update,
        block_api::{Buffer, EagerHash, FixedOutputCore, UpdateCore},
    },
};
use sha3::Sha3_256;
use zeroize::Zeroizing;

/// Absorbs a key of any length; one longer than the hash's block is hashed first.
pub(crate) fn absorb<D: EagerHash>(key: &[u8]) -> HmacCore<D> {
    HmacCore::new_from_slice(key).expect("HMAC is defined for keys of every length")
}

/// The tag of one message under a state of the library, which stays as it is.
///
/// The state is the library's without its block buffer: an empty buffer made here is cheaper than a copy of one, which
/// shows with the shortest frames. State and buffer are wiped when they go out of scope.
#[inline(always)]
pub(crate) fn finish<D: EagerHash>(keyed: &HmacCore<D>, parts: &[&[u8]]) -> Output<HmacCore<D>> {
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
pub(crate) struct Sha3Hmac {
    inner: Sha3_256,
    outer: Sha3_256,
}

impl Sha3Hmac {
    /// The rate of SHA3-256, to which HMAC pads the key `[byte]`.
    const BLOCK_LEN: usize = 136;

    pub(crate) fn new(key: &[u8]) -> Self {
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
    pub(crate) fn finish(&self, parts: &[&[u8]]) -> Output<Sha3_256> {
        let mut inner = self.inner.clone();
        for part in parts {
            Update::update(&mut inner, part);
        }
        let mut outer = self.outer.clone();
        Update::update(&mut outer, &inner.finalize_fixed());
        outer.finalize_fixed()
    }
}
