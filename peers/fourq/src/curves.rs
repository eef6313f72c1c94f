//! X25519, Ed25519 and P-256 of aws-lc-rs, P-256 of RustCrypto.
//!
//! aws-lc-rs draws its secrets itself, so its key generation includes random numbers.

use std::hint::black_box;

use aws_lc_rs::agreement::{Algorithm, ECDH_P256, PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self, ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
};
use p256::ecdsa::signature::{Signer, Verifier};

use crate::Operation;

const MESSAGE: [u8; 64] = [0x5a; 64];

/// All operations.
pub fn operations() -> Vec<Operation> {
    [
        agreement("aws-lc-rs X25519/Ed25519", &X25519),
        ed25519("aws-lc-rs X25519/Ed25519"),
        agreement("aws-lc-rs P-256", &ECDH_P256),
        ecdsa("aws-lc-rs P-256"),
        rustcrypto("RustCrypto P-256"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn agreement(library: &'static str, algorithm: &'static Algorithm) -> Vec<Operation> {
    let secret = PrivateKey::generate(algorithm).expect("random numbers");
    let peer = PrivateKey::generate(algorithm).expect("random numbers").compute_public_key().expect("a key");
    let peer = peer.as_ref().to_vec();
    vec![
        Operation {
            library,
            name: "keygen",
            run: Box::new(move || {
                let secret = PrivateKey::generate(algorithm).expect("random numbers");
                black_box(secret.compute_public_key().expect("a key"));
            }),
        },
        Operation {
            library,
            name: "agree",
            run: Box::new(move || {
                let peer = UnparsedPublicKey::new(algorithm, black_box(&peer));
                agree(&secret, &peer, (), |shared| {
                    black_box(shared[0]);
                    Ok(())
                })
                .expect("agrees");
            }),
        },
    ]
}

fn ed25519(library: &'static str) -> Vec<Operation> {
    let key = Ed25519KeyPair::from_seed_unchecked(&[11; 32]).expect("a seed");
    let public = key.public_key().as_ref().to_vec();
    let signed = key.sign(&MESSAGE).as_ref().to_vec();
    vec![
        Operation {
            library,
            name: "sign keygen",
            run: Box::new(|| {
                black_box(Ed25519KeyPair::from_seed_unchecked(black_box(&[11; 32])).expect("a seed"));
            }),
        },
        Operation {
            library,
            name: "sign",
            run: Box::new(move || {
                black_box(key.sign(black_box(&MESSAGE)));
            }),
        },
        Operation {
            library,
            name: "verify",
            run: Box::new(move || {
                let key = signature::UnparsedPublicKey::new(&ED25519, &public);
                key.verify(black_box(&MESSAGE), &signed).expect("verifies");
            }),
        },
    ]
}

fn ecdsa(library: &'static str) -> Vec<Operation> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("random numbers");
    let public = key.public_key().as_ref().to_vec();
    let signed = key.sign(&random, &MESSAGE).expect("signs").as_ref().to_vec();
    vec![
        Operation {
            library,
            name: "sign",
            run: Box::new(move || {
                black_box(key.sign(&random, black_box(&MESSAGE)).expect("signs"));
            }),
        },
        Operation {
            library,
            name: "verify",
            run: Box::new(move || {
                let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &public);
                key.verify(black_box(&MESSAGE), &signed).expect("verifies");
            }),
        },
    ]
}

fn rustcrypto(library: &'static str) -> Vec<Operation> {
    let secret = p256::SecretKey::from_slice(&[7; 32]).expect("in range");
    let peer = p256::SecretKey::from_slice(&[9; 32]).expect("in range").public_key().to_sec1_bytes();
    let key = p256::ecdsa::SigningKey::from_slice(&[11; 32]).expect("in range");
    let public = key.verifying_key().to_sec1_bytes();
    let signed: p256::ecdsa::Signature = key.sign(&MESSAGE);
    let keygen = secret.clone();
    vec![
        Operation {
            library,
            name: "keygen",
            run: Box::new(move || {
                black_box(black_box(&keygen).public_key());
            }),
        },
        Operation {
            library,
            name: "agree",
            run: Box::new(move || {
                let peer = p256::PublicKey::from_sec1_bytes(black_box(&peer)).expect("a key");
                black_box(p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), peer.as_affine()));
            }),
        },
        Operation {
            library,
            name: "sign",
            run: Box::new(move || {
                let signed: p256::ecdsa::Signature = key.sign(black_box(&MESSAGE));
                black_box(signed);
            }),
        },
        Operation {
            library,
            name: "verify",
            run: Box::new(move || {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(black_box(&public)).expect("a key");
                key.verify(&MESSAGE, &signed).expect("verifies");
            }),
        },
    ]
}
