//! This project's FourQ.

use std::hint::black_box;

use chronoseal_fourq::batch::{BatchItem, verify_batch_vartime};
use chronoseal_fourq::{ecdh, schnorrq};

use crate::Operation;

const LIBRARY: &str = "chronoseal-fourq";
/// Signatures in a batch.
pub const BATCH_LEN: usize = 16;

/// All operations.
pub fn operations() -> Vec<Operation> {
    let secret = [7u8; 32];
    let peer = ecdh::SecretKey::from_bytes([9; 32]).public();
    let key = schnorrq::SigningKey::from_seed([11; 32]);
    let message = [0x5a; 64];
    let (public, signature) = (key.public(), key.sign(&message));
    let verifying = key.verifying_key();
    verifying.verify(&message, &signature).expect("verifies");
    let decoded = verifying.clone();
    let signer = key.clone();

    let keys: Vec<_> = (0..BATCH_LEN as u8).map(|i| schnorrq::SigningKey::from_seed([i; 32])).collect();
    let signed: Vec<_> = keys.iter().map(|key| (key.verifying_key(), key.sign(&message))).collect();

    let operation = |name, run| Operation { library: LIBRARY, name, run };
    vec![
        operation(
            "keygen",
            Box::new(move || {
                black_box(ecdh::SecretKey::from_bytes(black_box(secret)).public());
            }),
        ),
        operation(
            "agree",
            Box::new(move || {
                let peer = ecdh::PublicKey::from_bytes(black_box(&peer)).expect("a key");
                let _ = black_box(ecdh::SecretKey::from_bytes(black_box(secret)).agree(&peer));
            }),
        ),
        operation(
            "sign keygen",
            Box::new(move || {
                black_box(schnorrq::SigningKey::from_seed(black_box(secret)));
            }),
        ),
        operation(
            "sign",
            Box::new(move || {
                black_box(signer.sign(black_box(&message)));
            }),
        ),
        operation(
            "verify",
            Box::new(move || {
                let key = schnorrq::VerifyingKey::from_bytes(black_box(&public)).expect("a key");
                key.verify(black_box(&message), &signature).expect("verifies");
            }),
        ),
        operation(
            "verify, key decoded before",
            Box::new(move || {
                decoded.verify(black_box(&message), &signature).expect("verifies");
            }),
        ),
        operation(
            "verify batch of 16",
            Box::new(move || {
                let items: Vec<_> =
                    signed.iter().map(|(key, signature)| BatchItem { key, message: &message, signature }).collect();
                verify_batch_vartime(&items, black_box([3; 32])).expect("verifies");
            }),
        ),
    ]
}
