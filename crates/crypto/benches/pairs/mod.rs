//! What both benches time: one tag through `MacKey`, and the same tag from the library, key state precomputed in both.

use std::hint::black_box;

use chronoseal_crypto::{HashAlgorithm, KeyBytes, MacKey, OUTPUT_LEN_MAX};
use hmac::{
    Hmac, KeyInit, Mac as _,
    digest::{FixedOutput, Update},
};
use sha1::Sha1;
use sha2::Sha256;
use sha3::Sha3_256;

/// The smallest and largest frames of the source's figure 3, and one between `[byte]`.
pub(crate) const MESSAGE_LENS: [usize; 3] = [60, 256, 1514];

pub(crate) type Tag = [u8; OUTPUT_LEN_MAX];

pub(crate) struct Pair {
    pub(crate) algorithm: HashAlgorithm,
    seam: Box<MacKey>,
    library: Library,
}

/// The library's own precomputed state. `hmac` 0.13 has none for SHA-3 (its simple form absorbs the outer key block
/// again for every message), so the stricter baseline is used there: two hash states kept by hand.
#[expect(clippy::large_enum_variant, reason = "boxing one side of a comparison would bias it")]
enum Library {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha3_256 { inner: Sha3_256, outer: Sha3_256 },
}

pub(crate) fn all() -> [Pair; 3] {
    HashAlgorithm::ALL.map(Pair::new)
}

pub(crate) fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7) as u8).collect()
}

impl Pair {
    fn new(algorithm: HashAlgorithm) -> Self {
        let key = KeyBytes::from_array(std::array::from_fn(|i| i as u8));
        let library = match algorithm {
            HashAlgorithm::Sha1 => Library::Sha1(Hmac::new_from_slice(key.expose()).unwrap()),
            HashAlgorithm::Sha256 => Library::Sha256(Hmac::new_from_slice(key.expose()).unwrap()),
            HashAlgorithm::Sha3_256 => {
                let absorb = |pad: u8| {
                    let mut block = [pad; 136];
                    block.iter_mut().zip(key.expose()).for_each(|(byte, key)| *byte ^= key);
                    let mut state = Sha3_256::default();
                    Update::update(&mut state, &block);
                    state
                };
                Library::Sha3_256 { inner: absorb(0x36), outer: absorb(0x5c) }
            }
        };
        let pair = Self { algorithm, seam: Box::new(MacKey::new(algorithm.mac(), key.expose()).unwrap()), library };
        for len in MESSAGE_LENS {
            assert_eq!(pair.seam(&message(len)), pair.library(&message(len)), "both sides make the same tag");
        }
        pair
    }

    #[inline(never)]
    pub(crate) fn seam(&self, message: &[u8]) -> Tag {
        let mut tag = [0; OUTPUT_LEN_MAX];
        let seam = black_box(&*self.seam);
        seam.compute(0, &[black_box(message)], &mut tag[..self.algorithm.output_len()]).unwrap();
        tag
    }

    #[inline(never)]
    pub(crate) fn library(&self, message: &[u8]) -> Tag {
        let mut tag = [0; OUTPUT_LEN_MAX];
        let message = black_box(message);
        match black_box(&self.library) {
            Library::Sha1(keyed) => {
                let mut running = keyed.clone();
                hmac::Mac::update(&mut running, message);
                tag[..20].copy_from_slice(&running.finalize().into_bytes());
            }
            Library::Sha256(keyed) => {
                let mut running = keyed.clone();
                hmac::Mac::update(&mut running, message);
                tag[..32].copy_from_slice(&running.finalize().into_bytes());
            }
            Library::Sha3_256 { inner, outer } => {
                let (mut inner, mut outer) = (inner.clone(), outer.clone());
                Update::update(&mut inner, message);
                Update::update(&mut outer, &inner.finalize_fixed());
                tag[..32].copy_from_slice(&outer.finalize_fixed());
            }
        }
        tag
    }
}
