//! The others, one signature after the other, keys parsed beforehand where the library lets one. aws-lc-rs and ring
//! hash the message themselves: 32 bytes, 0.1 us.

use aws_lc_rs::{rand::SystemRandom, signature as aws};
use chronoseal_ecdsa_lanes::Curve;
use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::nid::Nid;
use ring::signature as ring_signature;

use crate::Operation;
use crate::data::{self, COUNT, Sample};

pub fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut push = |name, library, run| operations.push(Operation { name, library, count: COUNT as u32, run });
    aws_lc(&mut push);
    ring(&mut push);
    for (curve, nid, verify, sign) in [
        (Curve::NistP256, Nid::X9_62_PRIME256V1, data::VERIFY, data::SIGN),
        (Curve::BrainpoolP256r1, Nid::BRAINPOOL_P256R1, data::VERIFY_BRAINPOOL, data::SIGN_BRAINPOOL),
    ] {
        openssl_of(&mut push, curve, nid, verify, sign);
    }
    openssl_new(&mut push);
    operations
}

type Push<'a> = &'a mut dyn FnMut(&'static str, &'static str, Box<dyn FnMut()>);

fn p256_samples() -> Vec<Sample> {
    data::samples(Curve::NistP256)
}

fn aws_lc(push: Push<'_>) {
    let algorithm = &aws::ECDSA_P256_SHA256_FIXED;
    let keys: Vec<_> = p256_samples()
        .into_iter()
        .map(|sample| {
            (aws::ParsedPublicKey::new(algorithm, sample.uncompressed()).expect("a key"), sample.fixed(), sample)
        })
        .collect();
    push(
        data::VERIFY,
        "aws-lc-rs",
        Box::new(move || {
            for (key, signature, sample) in &keys {
                key.verify_sig(&sample.message, signature).expect("valid");
            }
        }),
    );
    let samples = p256_samples();
    push(
        data::VERIFY_NEW,
        "aws-lc-rs",
        Box::new(move || {
            for sample in &samples {
                let key = aws::ParsedPublicKey::new(algorithm, sample.compressed()).expect("a key");
                key.verify_sig(&sample.message, &sample.fixed()).expect("valid");
                key.verify_sig(&sample.message, &sample.fixed()).expect("valid");
            }
        }),
    );
    let pairs: Vec<_> = p256_samples()
        .into_iter()
        .map(|sample| {
            let algorithm = &aws::ECDSA_P256_SHA256_FIXED_SIGNING;
            let pair =
                aws::EcdsaKeyPair::from_private_key_and_public_key(algorithm, &sample.secret, &sample.uncompressed());
            (pair.expect("a pair"), sample)
        })
        .collect();
    let random = SystemRandom::new();
    push(
        data::SIGN,
        "aws-lc-rs",
        Box::new(move || {
            for (pair, sample) in &pairs {
                pair.sign(&random, &sample.message).expect("signs");
            }
        }),
    );
}

fn ring(push: Push<'_>) {
    let samples = p256_samples();
    push(
        data::VERIFY,
        "ring",
        Box::new(move || {
            for sample in &samples {
                let algorithm = &ring_signature::ECDSA_P256_SHA256_FIXED;
                let key = ring_signature::UnparsedPublicKey::new(algorithm, sample.uncompressed());
                key.verify(&sample.message, &sample.fixed()).expect("valid");
            }
        }),
    );
    let random = ring::rand::SystemRandom::new();
    let pairs: Vec<_> = p256_samples()
        .into_iter()
        .map(|sample| {
            let algorithm = &ring_signature::ECDSA_P256_SHA256_FIXED_SIGNING;
            let pair = ring_signature::EcdsaKeyPair::from_private_key_and_public_key(
                algorithm,
                &sample.secret,
                &sample.uncompressed(),
                &random,
            );
            (pair.expect("a pair"), sample)
        })
        .collect();
    push(
        data::SIGN,
        "ring",
        Box::new(move || {
            for (pair, sample) in &pairs {
                pair.sign(&random, &sample.message).expect("signs");
            }
        }),
    );
}

fn openssl_of(push: Push<'_>, curve: Curve, nid: Nid, verify: &'static str, sign: &'static str) {
    let group = EcGroup::from_curve_name(nid).expect("known");
    let number = |bytes: &[u8; 32]| BigNum::from_slice(bytes).expect("memory");
    let keys: Vec<_> = data::samples(curve)
        .into_iter()
        .map(|sample| {
            let key = EcKey::from_public_key_affine_coordinates(&group, &number(&sample.x), &number(&sample.y));
            let signature = EcdsaSig::from_private_components(number(&sample.signature.r), number(&sample.signature.s));
            (key.expect("a key"), signature.expect("memory"), sample)
        })
        .collect();
    push(
        verify,
        "OpenSSL",
        Box::new(move || {
            for (key, signature, sample) in &keys {
                assert!(signature.verify(&sample.digest, key).expect("memory"));
            }
        }),
    );
    let pairs: Vec<_> = data::samples(curve)
        .into_iter()
        .map(|sample| {
            let mut context = BigNumContext::new().expect("memory");
            let point = EcPoint::from_bytes(&group, &sample.uncompressed(), &mut context).expect("a point");
            (EcKey::from_private_components(&group, &number(&sample.secret), &point).expect("a pair"), sample)
        })
        .collect();
    push(
        sign,
        "OpenSSL",
        Box::new(move || {
            for (pair, sample) in &pairs {
                EcdsaSig::sign(&sample.digest, pair).expect("signs");
            }
        }),
    );
}

fn openssl_new(push: Push<'_>) {
    for (name, times) in [(data::VERIFY_NEW, 2), (data::DECOMPRESS, 0)] {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("known");
        let samples = p256_samples();
        let number = |bytes: &[u8; 32]| BigNum::from_slice(bytes).expect("memory");
        push(
            name,
            "OpenSSL",
            Box::new(move || {
                let mut context = BigNumContext::new().expect("memory");
                for sample in &samples {
                    let point = EcPoint::from_bytes(&group, &sample.compressed(), &mut context).expect("a point");
                    if times == 0 {
                        continue;
                    }
                    let key = EcKey::from_public_key(&group, &point).expect("a key");
                    let signature =
                        EcdsaSig::from_private_components(number(&sample.signature.r), number(&sample.signature.s));
                    let signature = signature.expect("memory");
                    for _ in 0..times {
                        assert!(signature.verify(&sample.digest, &key).expect("memory"));
                    }
                }
            }),
        );
    }
}
