//! What one party of a station-to-station exchange computes, as one operation: the request's signature verified, a share
//! made, the secret agreed on, both shares signed, the peer's signature verified.
//!
//! Keys that are provisioned are decoded before; shares, which come from the bus, are decoded each time. Encryption of
//! the signature and the derivation of keys are the same for every curve and left out.

use std::hint::black_box;

use aws_lc_rs::agreement::{self, ECDH_P256, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, ParsedPublicKey,
};
use chronoseal_fourq::{ecdh, schnorrq};

use crate::Operation;

const NAME: &str = "station-to-station";
const REQUEST: [u8; 32] = [0x5a; 32];

/// FourQ here and P-256 of aws-lc-rs.
pub fn operations() -> Vec<Operation> {
    vec![
        Operation { library: "chronoseal-fourq", name: NAME, run: fourq() },
        Operation { library: "aws-lc-rs P-256", name: NAME, run: p256() },
    ]
}

fn fourq() -> Box<dyn FnMut()> {
    let [orchestrator, own, peer] = [1, 2, 3].map(|seed| schnorrq::SigningKey::from_seed([seed; 32]));
    let peer_share = ecdh::SecretKey::from_bytes([4; 32]).public();
    let request = orchestrator.sign(&REQUEST);
    let orchestrator = orchestrator.verifying_key();
    // The peer signs both shares; ours is the same in every run, as its seed is.
    let own_seed = [5; 32];
    let shares = both(&ecdh::SecretKey::from_bytes(own_seed).public(), &peer_share);
    let confirmation = peer.sign(&shares);
    let peer = peer.verifying_key();
    Box::new(move || {
        orchestrator.verify(black_box(&REQUEST), &request).expect("verifies");
        let secret = ecdh::SecretKey::from_bytes(black_box(own_seed));
        let share = secret.public();
        let theirs = ecdh::PublicKey::from_bytes(black_box(&peer_share)).expect("a share");
        black_box(secret.agree(&theirs).expect("agrees"));
        let shares = both(&share, &peer_share);
        black_box(own.sign(&shares));
        peer.verify(&shares, black_box(&confirmation)).expect("verifies");
    })
}

fn p256() -> Box<dyn FnMut()> {
    let random = SystemRandom::new();
    let [orchestrator, own, peer] =
        [(); 3].map(|()| EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("random numbers"));
    let parsed =
        |key: &EcdsaKeyPair| ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key().as_ref()).expect("a key");
    let (orchestrator_public, peer_public) = (parsed(&orchestrator), parsed(&peer));
    let request = orchestrator.sign(&random, &REQUEST).expect("signs").as_ref().to_vec();
    let peer_share = PrivateKey::generate(&ECDH_P256).expect("random numbers").compute_public_key().expect("a key");
    let peer_share = peer_share.as_ref().to_vec();
    // aws-lc-rs draws its secrets itself, so that the shares are new in every run: what the peer signs is fixed instead,
    // and as long as two shares.
    let signed = vec![0x5a; 2 * peer_share.len()];
    let confirmation = peer.sign(&random, &signed).expect("signs").as_ref().to_vec();
    Box::new(move || {
        orchestrator_public.verify_sig(black_box(&REQUEST), &request).expect("verifies");
        let secret = PrivateKey::generate(&ECDH_P256).expect("random numbers");
        let share = secret.compute_public_key().expect("a key");
        let theirs = UnparsedPublicKey::new(&ECDH_P256, black_box(&peer_share));
        agreement::agree(&secret, &theirs, (), |shared| {
            black_box(shared[0]);
            Ok(())
        })
        .expect("agrees");
        let shares = [share.as_ref(), &peer_share].concat();
        black_box(own.sign(&random, &shares).expect("signs"));
        peer_public.verify_sig(&signed, black_box(&confirmation)).expect("verifies");
    })
}

fn both(one: &[u8; 32], other: &[u8; 32]) -> [u8; 64] {
    let mut both = [0; 64];
    both[..32].copy_from_slice(one);
    both[32..].copy_from_slice(other);
    both
}
