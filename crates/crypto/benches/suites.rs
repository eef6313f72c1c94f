//! The operations of every suite, through the seam. With the feature `aws-lc` also AWS-LC's P-256, the suite's and its
//! own signing, which draws a random nonce.
//!
//! A share is timed with the making of its secret, since some libraries compute it there. What every operation gives is
//! checked once before the clock starts.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop at the first surprise and is nobody's API")]

use std::hint::black_box;

#[cfg(feature = "aws-lc")]
use chronoseal_crypto::suite::aws_lc;
use chronoseal_crypto::suite::{FourQ, P256, Suite, X25519Ed25519};
use criterion::{Criterion, criterion_group, criterion_main};

const MESSAGE: &[u8] = &[0x5a; 64];

fn suite<S: Suite>(criterion: &mut Criterion, library: &str) {
    let (one, other) = ([0x11; 32], [0x22; 32]);
    let secret = S::secret(&one);
    let peer = S::share(&S::secret(&other));
    let at_peer = S::agree(&S::secret(&other), S::share(&secret).as_bytes()).unwrap();
    assert_eq!(S::agree(&secret, peer.as_bytes()).unwrap().expose(), at_peer.expose());
    let key = S::signing_key(&one);
    let verifying = S::verifying_key(S::public_key(&key).as_bytes()).unwrap();
    let signature = S::sign(&key, MESSAGE);
    S::verify(&verifying, MESSAGE, &signature).unwrap();

    let mut group = criterion.benchmark_group(format!("{} {library}", S::NAME));
    group.bench_function("share", |bench| bench.iter(|| S::share(&S::secret(black_box(&one)))));
    group.bench_function("agree", |bench| bench.iter(|| S::agree(&secret, black_box(peer.as_bytes())).unwrap()));
    group.bench_function("generate", |bench| bench.iter(|| S::public_key(&S::signing_key(black_box(&one)))));
    group.bench_function("sign", |bench| bench.iter(|| S::sign(&key, black_box(MESSAGE))));
    group.bench_function("verify", |bench| {
        bench.iter(|| S::verify(&verifying, black_box(MESSAGE), &signature).unwrap())
    });
    group.finish();
}

fn suites(criterion: &mut Criterion) {
    suite::<FourQ>(criterion, "chronoseal-fourq");
    suite::<P256>(criterion, "p256");
    suite::<X25519Ed25519>(criterion, "dalek");
    #[cfg(feature = "aws-lc")]
    {
        suite::<aws_lc::P256>(criterion, "aws-lc");
        signing_by_aws_lc_alone(criterion);
    }
}

#[cfg(feature = "aws-lc")]
fn signing_by_aws_lc_alone(criterion: &mut Criterion) {
    use aws_lc_rs::{
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
    };
    let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let random = SystemRandom::new();
    criterion.bench_function("p-256 aws-lc/sign with a random nonce", |bench| {
        bench.iter(|| key.sign(&random, black_box(MESSAGE)).unwrap());
    });
}

criterion_group!(benches, suites);
criterion_main!(benches);
