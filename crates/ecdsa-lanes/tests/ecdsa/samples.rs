//! Keys and signatures made from a seed, by the RustCrypto crates where the lanes are what is tested.

use chronoseal_ecdsa_lanes::{Curve, Engine, Signature, Signing, Verification};
use ecdsa::elliptic_curve::sec1::ToSec1Point;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

pub(crate) const CURVES: [Curve; 2] = [Curve::NistP256, Curve::BrainpoolP256r1];

pub(crate) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn bytes(random: &mut ChaCha8Rng) -> [u8; 32] {
    let mut bytes = [0; 32];
    random.fill_bytes(&mut bytes);
    bytes
}

/// A private key below 2^255 and not zero, hence in range of both curves.
pub(crate) fn secret(random: &mut ChaCha8Rng) -> [u8; 32] {
    let mut secret = bytes(random);
    secret[0] &= 0x7f;
    secret[31] |= 1;
    secret
}

pub(crate) fn public(curve: Curve, secret: &[u8; 32]) -> [[u8; 32]; 2] {
    let encoded = match curve {
        Curve::NistP256 => {
            let key = p256::SecretKey::from_slice(secret).expect("in range");
            key.public_key().to_sec1_point(false).as_bytes().to_vec()
        }
        Curve::BrainpoolP256r1 => {
            let key = bp256::r1::SecretKey::from_slice(secret).expect("in range");
            key.public_key().to_sec1_point(false).as_bytes().to_vec()
        }
    };
    [encoded[1..33].try_into().expect("32 bytes"), encoded[33..].try_into().expect("32 bytes")]
}

/// All that a verification names.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) curve: Curve,
    pub(crate) digest: [u8; 32],
    pub(crate) signature: Signature,
    pub(crate) public: [[u8; 32]; 2],
}

impl Sample {
    pub(crate) fn new(curve: Curve, random: &mut ChaCha8Rng) -> Self {
        let (secret, digest) = (secret(random), bytes(random));
        let mut signature = [None];
        Engine::Scalar.sign_batch(&[Signing { curve, digest: &digest, secret: &secret, entropy: &[] }], &mut signature);
        Self { curve, digest, signature: signature[0].expect("in range"), public: public(curve, &secret) }
    }

    pub(crate) fn job(&self) -> Verification<'_> {
        Verification {
            curve: self.curve,
            digest: &self.digest,
            r: &self.signature.r,
            s: &self.signature.s,
            public_x: &self.public[0],
            public_y: &self.public[1],
        }
    }
}

/// Together, and each by itself, which the lanes do in another way.
pub(crate) fn verify(engine: Engine, samples: &[Sample]) -> Vec<bool> {
    let jobs: Vec<_> = samples.iter().map(Sample::job).collect();
    let mut results = vec![false; jobs.len()];
    engine.verify_batch(&jobs, &mut results);
    if engine == Engine::Avx512Ifma {
        for (at, job) in jobs.iter().enumerate() {
            let mut alone = [!results[at]];
            engine.verify_batch(&[*job], &mut alone);
            assert_eq!(alone, [results[at]], "number {at} of {} alone, {:?}", jobs.len(), job.curve);
        }
    }
    results
}
