//! Signatures alone, by the libraries, keys parsed beforehand where the library lets one. ring hashes 32 octets besides,
//! 0.1 us.

use std::hint::black_box;

use aws_lc_rs::digest::{Digest, SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature as aws;
use chronoseal_ecdsa_lanes::{Curve, Engine, Signature, Signing};
use chronoseal_v2x::crypto as v2x;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::nid::Nid;
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use ring::signature as ring_signature;

use crate::path::{SIGN, VERIFY, VERIFY_BRAINPOOL, VERIFY_NEW};
use crate::{Row, timed};

/// What the goals are multiples of.
pub const AWS_LC: &str = "aws-lc-rs";
/// Keys, each with a message of 32 octets and its signature.
const COUNT: usize = 64;

#[derive(Clone)]
pub struct Sample {
    pub secret: [u8; 32],
    pub point: v2x::PublicPoint,
    pub message: [u8; 32],
    pub digest: [u8; 32],
    pub signature: Signature,
}

impl Sample {
    fn fixed(&self) -> [u8; 64] {
        let mut out = [0; 64];
        out[..32].copy_from_slice(&self.signature.r);
        out[32..].copy_from_slice(&self.signature.s);
        out
    }
}

pub fn samples(curve: Curve, count: usize) -> Vec<Sample> {
    let on = match curve {
        Curve::NistP256 => v2x::Curve::NistP256,
        Curve::BrainpoolP256r1 => v2x::Curve::BrainpoolP256r1,
    };
    (0..count as u64)
        .map(|at| {
            // Numbers from a hash, below 2^255: in range of both curves.
            let hash = |of: &[u8]| -> [u8; 32] { digest(&SHA256, of).as_ref().try_into().expect("32 octets") };
            let (mut secret, message) = (hash(&at.to_le_bytes()), hash(&at.to_be_bytes()));
            secret[0] &= 0x7f;
            let digest = hash(&message);
            let mut signature = [None];
            let job = Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
            Engine::Scalar.sign_batch(&[job], &mut signature);
            let point = v2x::SoftwareKey::from_scalar(on, &secret).expect("in range").public_point();
            Sample { secret, point, message, digest, signature: signature[0].expect("in range") }
        })
        .collect()
}

fn row(group: &'static str, name: &'static str, mut work: impl FnMut() + 'static) -> Row {
    Row { group, name, count: COUNT, run: Box::new(move || timed(&mut work)) }
}

pub fn rows() -> Vec<Row> {
    let mut rows = aws_lc();
    rows.extend(ring());
    rows.extend(openssl());
    rows.extend(rust_crypto());
    rows
}

fn verify_digest(key: &aws::ParsedPublicKey, sample: &Sample) {
    let digest = Digest::import_less_safe(black_box(&sample.digest), &SHA256).expect("32 octets");
    key.verify_digest_sig(&digest, &sample.fixed()).expect("valid");
}

fn aws_lc() -> Vec<Row> {
    let parse = |octets: &[u8]| aws::ParsedPublicKey::new(&aws::ECDSA_P256_SHA256_FIXED, octets).expect("a key");
    let all = samples(Curve::NistP256, COUNT);
    let keys: Vec<_> = all.iter().map(|sample| (parse(&sample.point.to_sec1_uncompressed()), sample.clone())).collect();
    let pair = |sample: &Sample| {
        let algorithm = &aws::ECDSA_P256_SHA256_FIXED_SIGNING;
        aws::EcdsaKeyPair::from_private_key_and_public_key(
            algorithm,
            &sample.secret,
            &sample.point.to_sec1_uncompressed(),
        )
        .expect("a pair")
    };
    let pairs: Vec<_> = all.iter().map(|sample| (pair(sample), sample.message)).collect();
    let random = SystemRandom::new();
    vec![
        row(VERIFY, AWS_LC, move || keys.iter().for_each(|(key, sample)| verify_digest(key, sample))),
        row(VERIFY_NEW, AWS_LC, move || {
            for sample in &all {
                let key = parse(&sample.point.to_sec1_compressed());
                verify_digest(&key, sample);
                verify_digest(&key, sample);
            }
        }),
        row(SIGN, AWS_LC, move || {
            for (pair, message) in &pairs {
                pair.sign(&random, message).expect("signs");
            }
        }),
    ]
}

fn ring() -> Vec<Row> {
    let all = samples(Curve::NistP256, COUNT);
    let random = ring::rand::SystemRandom::new();
    let pair = |sample: &Sample| {
        let algorithm = &ring_signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let public = sample.point.to_sec1_uncompressed();
        ring_signature::EcdsaKeyPair::from_private_key_and_public_key(algorithm, &sample.secret, &public, &random)
            .expect("a pair")
    };
    let pairs: Vec<_> = all.iter().map(|sample| (pair(sample), sample.message)).collect();
    vec![
        row(VERIFY, "ring", move || {
            for sample in &all {
                let algorithm = &ring_signature::ECDSA_P256_SHA256_FIXED;
                let key = ring_signature::UnparsedPublicKey::new(algorithm, sample.point.to_sec1_uncompressed());
                key.verify(&sample.message, &sample.fixed()).expect("valid");
            }
        }),
        row(SIGN, "ring", move || {
            let random = ring::rand::SystemRandom::new();
            for (pair, message) in &pairs {
                pair.sign(&random, message).expect("signs");
            }
        }),
    ]
}

fn openssl() -> Vec<Row> {
    let number = |octets: &[u8]| BigNum::from_slice(octets).expect("memory");
    let mut rows = Vec::new();
    for (curve, nid, name) in [
        (Curve::NistP256, Nid::X9_62_PRIME256V1, VERIFY),
        (Curve::BrainpoolP256r1, Nid::BRAINPOOL_P256R1, VERIFY_BRAINPOOL),
    ] {
        let group = EcGroup::from_curve_name(nid).expect("known");
        let keys: Vec<_> = samples(curve, COUNT)
            .into_iter()
            .map(|sample| {
                let (x, y) = (number(sample.point.x()), number(sample.point.y()));
                let key = EcKey::from_public_key_affine_coordinates(&group, &x, &y).expect("a key");
                let (r, s) = (number(&sample.signature.r), number(&sample.signature.s));
                (key, EcdsaSig::from_private_components(r, s).expect("memory"), sample.digest)
            })
            .collect();
        rows.push(row(name, "OpenSSL", move || {
            for (key, signature, digest) in &keys {
                assert!(signature.verify(black_box(digest), key).expect("memory"));
            }
        }));
    }
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("known");
    let pairs: Vec<_> = samples(Curve::NistP256, COUNT)
        .into_iter()
        .map(|sample| {
            let mut context = openssl::bn::BigNumContext::new().expect("memory");
            let point = EcPoint::from_bytes(&group, &sample.point.to_sec1_uncompressed(), &mut context);
            let pair = EcKey::from_private_components(&group, &number(&sample.secret), &point.expect("a point"));
            (pair.expect("a pair"), sample.digest)
        })
        .collect();
    rows.push(row(SIGN, "OpenSSL", move || {
        for (pair, digest) in &pairs {
            EcdsaSig::sign(digest, pair).expect("signs");
        }
    }));
    rows
}

fn rust_crypto() -> Vec<Row> {
    let keys: Vec<_> = samples(Curve::NistP256, COUNT)
        .into_iter()
        .map(|sample| {
            let key = p256::ecdsa::SigningKey::from_slice(&sample.secret).expect("a key");
            (key, p256::ecdsa::Signature::from_slice(&sample.fixed()).expect("in range"), sample.digest)
        })
        .collect();
    let pairs = keys.clone();
    vec![
        row(VERIFY, "p256", move || {
            for (key, signature, digest) in &keys {
                key.verifying_key().verify_prehash(black_box(digest), signature).expect("valid");
            }
        }),
        row(SIGN, "p256", move || {
            for (pair, _, digest) in &pairs {
                let _: p256::ecdsa::Signature = pair.sign_prehash(digest).expect("signs");
            }
        }),
    ]
}
