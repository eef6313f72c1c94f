//! Nonces of RFC 6979 with SHA-256, by a generator that keeps what each HMAC key makes of its two padded blocks: two
//! thirds of the compressions of one that starts over for each message, and a nonce costs as much as a share of the
//! lanes. The scalar code takes its nonces from the RustCrypto crates, so that signatures of both agree only if this is
//! right.

use sha2::block_api::compress256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::bignum::{self, Words};
use crate::job::Signing;

/// Writes the first nonce for a job whose key is in range, 1 to `order - 1`. The order is above 2^255.
pub(crate) fn nonce(job: &Signing<'_>, order: &Words, out: &mut [u8; 32]) {
    // [RFC 6979 §2.3.4] bits2octets: the digest modulo the order. The digest is no secret.
    let digest = bignum::from_be_bytes(job.digest);
    let digest = if bignum::less(&digest, order) { digest } else { bignum::subtract(&digest, order) };
    let seed = [job.secret.as_slice(), &bignum::to_be_bytes(&digest), job.entropy];

    // [RFC 6979 §3.2 b-h]
    let mut generator = Generator::new();
    generator.rekey(&[&[0], seed[0], seed[1], seed[2]]);
    generator.rekey(&[&[1], seed[0], seed[1], seed[2]]);
    loop {
        generator.step();
        // A branch on a candidate tells no more than that it was not taken.
        if bignum::is_scalar(&bignum::from_be_bytes(&generator.value), order) {
            *out = generator.value;
            return;
        }
        generator.rekey(&[&[0]]);
    }
}

/// State of SHA-256 before its first block (FIPS 180-4 §5.3.3).
const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// HMAC_DRBG, with all that is secret in one place, so that it is overwritten once.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Generator {
    /// V.
    value: [u8; 32],
    /// K, as the states of SHA-256 after the inner and the outer padding block.
    inner: [u32; 8],
    outer: [u32; 8],
    block: [u8; 64],
    state: [u32; 8],
}

impl Generator {
    fn new() -> Self {
        let mut out = Self { value: [1; 32], inner: START, outer: START, block: [0; 64], state: START };
        out.set_key(&[0; 32]);
        out
    }

    /// K = HMAC_K(V || parts), V = HMAC_K(V).
    fn rekey(&mut self, parts: &[&[u8]]) {
        let mut key = [0; 32];
        self.mac(parts, &mut key);
        self.set_key(&key);
        key.zeroize();
        self.step();
    }

    /// V = HMAC_K(V).
    fn step(&mut self) {
        let mut value = [0; 32];
        self.mac(&[], &mut value);
        self.value = value;
    }

    fn set_key(&mut self, key: &[u8; 32]) {
        for (state, padding) in [(&mut self.inner, 0x36), (&mut self.outer, 0x5c)] {
            self.block.fill(padding);
            for (byte, key) in self.block.iter_mut().zip(key) {
                *byte ^= key;
            }
            *state = START;
            compress256(state, &[self.block]);
        }
    }

    /// HMAC_K(V || parts).
    fn mac(&mut self, parts: &[&[u8]], out: &mut [u8; 32]) {
        self.state = self.inner;
        self.block[..32].copy_from_slice(&self.value);
        let (mut used, mut len) = (32, 96);
        for part in parts {
            len += part.len() as u64;
            let mut rest = *part;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(64 - used));
                self.block[used..used + now.len()].copy_from_slice(now);
                used += now.len();
                rest = later;
                if used == 64 {
                    compress256(&mut self.state, &[self.block]);
                    used = 0;
                }
            }
        }
        self.finish(used, len);
        let inner = self.state;
        store(&inner, &mut self.block[..32]);
        self.state = self.outer;
        self.finish(32, 96);
        store(&self.state, out);
    }

    /// Pads a message of `len` bytes, the last `used` of them in the block (FIPS 180-4 §5.1.1).
    fn finish(&mut self, used: usize, len: u64) {
        self.block[used..].fill(0);
        self.block[used] = 0x80;
        if used + 9 > 64 {
            compress256(&mut self.state, &[self.block]);
            self.block.fill(0);
        }
        self.block[56..].copy_from_slice(&(8 * len).to_be_bytes());
        compress256(&mut self.state, &[self.block]);
    }
}

fn store(state: &[u32; 8], out: &mut [u8]) {
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}
