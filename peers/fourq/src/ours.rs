//! This project's FourQ, as it chooses to compute on this processor, and in the other ways it could.

use std::hint::black_box;

use chronoseal_fourq::batch::{BatchItem, verify_batch_vartime};
use chronoseal_fourq::internals::{Field, Mulx, Portable, Vectors};
use chronoseal_fourq::{ecdh, schnorrq};

use crate::Operation;

/// Row of what a caller gets.
pub const LIBRARY: &str = "chronoseal-fourq";
/// Row of the assembly without vectors where it is not what a caller gets.
const ASSEMBLY: &str = "chronoseal-fourq, assembly";
/// Row of the portable code where it is not what a caller gets.
const PORTABLE: &str = "chronoseal-fourq, portable";
/// Signatures in a batch.
const BATCH_LEN: usize = 16;

/// All operations.
pub fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut name = [PORTABLE, ASSEMBLY, LIBRARY];
    if let Some(vectors) = Vectors::detect() {
        operations.extend(single(LIBRARY, vectors));
    } else {
        name = [PORTABLE, LIBRARY, LIBRARY];
    }
    if let Some(mulx) = Mulx::detect() {
        operations.extend(single(name[1], mulx));
    } else {
        name[0] = LIBRARY;
    }
    operations.extend(single(name[0], Portable));
    operations.push(batch());
    operations
}

/// The operations of one key, computed in `field`.
fn single<F: Field + 'static>(library: &'static str, field: F) -> Vec<Operation> {
    let secret = [7u8; 32];
    let peer = ecdh::SecretKey::from_bytes([9; 32]).public();
    let key = schnorrq::SigningKey::from_seed([11; 32]);
    let message = [0x5a; 64];
    let (public, signature) = (key.public(), key.sign(&message));
    let verifying = key.verifying_key();
    verifying.verify(&message, &signature).expect("verifies");
    assert_eq!(key.sign_by(&message, field), signature);

    let operation = |name, run| Operation { library, name, run };
    vec![
        operation(
            "keygen",
            Box::new(move || {
                black_box(ecdh::SecretKey::from_bytes(black_box(secret)).public_by(field));
            }),
        ),
        operation(
            "agree",
            Box::new(move || {
                let peer = ecdh::PublicKey::from_bytes_by(black_box(&peer), field).expect("a key");
                let shared = ecdh::SecretKey::from_bytes(black_box(secret)).agree_by(&peer, field);
                let _ = black_box(shared.into_option().expect("a share"));
            }),
        ),
        operation(
            "sign keygen",
            Box::new(move || {
                black_box(schnorrq::SigningKey::from_seed_by(black_box(secret), field));
            }),
        ),
        operation(
            "sign",
            Box::new(move || {
                black_box(key.sign_by(black_box(&message), field));
            }),
        ),
        operation(
            "verify",
            Box::new(move || {
                let key = schnorrq::VerifyingKey::from_bytes_by(black_box(&public), field).expect("a key");
                key.verify_by(black_box(&message), &signature, field).expect("verifies");
            }),
        ),
        operation(
            "verify, key decoded before",
            Box::new(move || {
                verifying.verify_by(black_box(&message), &signature, field).expect("verifies");
            }),
        ),
    ]
}

/// As many signatures as one equation takes.
fn batch() -> Operation {
    let message = [0x5a; 64];
    let keys: Vec<_> = (0..BATCH_LEN as u8).map(|i| schnorrq::SigningKey::from_seed([i; 32])).collect();
    let signed: Vec<_> = keys.iter().map(|key| (key.verifying_key(), key.sign(&message))).collect();
    Operation {
        library: LIBRARY,
        name: "verify batch of 16",
        run: Box::new(move || {
            let items: Vec<_> =
                signed.iter().map(|(key, signature)| BatchItem { key, message: &message, signature }).collect();
            verify_batch_vartime(&items, black_box([3; 32])).expect("verifies");
        }),
    }
}
