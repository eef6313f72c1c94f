//! FourQlib over its C interface.

use std::ffi::c_uint;
use std::hint::black_box;

use chronoseal_fourq::{ecdh, schnorrq};

use crate::Operation;

/// ECCRYPTO_SUCCESS.
const SUCCESS: c_uint = 1;

unsafe extern "C" {
    fn CompressedPublicKeyGeneration(secret: *const u8, public: *mut u8) -> c_uint;
    fn CompressedSecretAgreement(secret: *const u8, public: *const u8, shared: *mut u8) -> c_uint;
    fn SchnorrQ_KeyGeneration(secret: *const u8, public: *mut u8) -> c_uint;
    fn SchnorrQ_Sign(
        secret: *const u8,
        public: *const u8,
        message: *const u8,
        len: c_uint,
        signature: *mut u8,
    ) -> c_uint;
    fn SchnorrQ_Verify(
        public: *const u8,
        message: *const u8,
        len: c_uint,
        signature: *const u8,
        valid: *mut c_uint,
    ) -> c_uint;
}

/// FourQlib reads and writes its arguments as 64-bit words.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Words<const LEN: usize>([u8; LEN]);

fn public_key(secret: &Words<32>) -> Words<32> {
    let mut public = Words([0; 32]);
    // SAFETY: both are aligned and of the length the function reads and writes.
    let status = unsafe { CompressedPublicKeyGeneration(secret.0.as_ptr(), public.0.as_mut_ptr()) };
    assert_eq!(status, SUCCESS);
    public
}

fn agree(secret: &Words<32>, public: &Words<32>) -> Words<32> {
    let mut shared = Words([0; 32]);
    // SAFETY: all are aligned and of the length the function reads and writes.
    let status = unsafe { CompressedSecretAgreement(secret.0.as_ptr(), public.0.as_ptr(), shared.0.as_mut_ptr()) };
    assert_eq!(status, SUCCESS);
    shared
}

fn signing_public(seed: &Words<32>) -> Words<32> {
    let mut public = Words([0; 32]);
    // SAFETY: both are aligned and of the length the function reads and writes.
    let status = unsafe { SchnorrQ_KeyGeneration(seed.0.as_ptr(), public.0.as_mut_ptr()) };
    assert_eq!(status, SUCCESS);
    public
}

fn sign(seed: &Words<32>, public: &Words<32>, message: &Words<64>) -> Words<64> {
    let mut signature = Words([0; 64]);
    // SAFETY: all are aligned and of the length the function reads and writes.
    let status =
        unsafe { SchnorrQ_Sign(seed.0.as_ptr(), public.0.as_ptr(), message.0.as_ptr(), 64, signature.0.as_mut_ptr()) };
    assert_eq!(status, SUCCESS);
    signature
}

fn verify(public: &Words<32>, message: &Words<64>, signature: &Words<64>) {
    let mut valid = 0;
    // SAFETY: all are aligned and of the length the function reads.
    let status =
        unsafe { SchnorrQ_Verify(public.0.as_ptr(), message.0.as_ptr(), 64, signature.0.as_ptr(), &raw mut valid) };
    assert_eq!(status, SUCCESS);
}

/// All operations, after a comparison with ours.
pub fn operations() -> Vec<Operation> {
    let (secret, peer_secret, seed) = (Words([7; 32]), Words([9; 32]), Words([11; 32]));
    let message = Words([0x5a; 64]);
    let peer = public_key(&peer_secret);
    let ours = ecdh::SecretKey::from_bytes(secret.0);
    assert_eq!(public_key(&secret).0, ours.public());
    let shared = ours.agree(&ecdh::PublicKey::from_bytes(&peer.0).expect("a key")).expect("agrees");
    assert_eq!(agree(&secret, &peer).0, *shared.as_bytes());
    let key = schnorrq::SigningKey::from_seed(seed.0);
    let public = signing_public(&seed);
    assert_eq!(public.0, key.public());
    let signature = sign(&seed, &public, &message);
    assert_eq!(signature.0, key.sign(&message.0).to_bytes());

    let operation = |name, run| Operation { library: "FourQlib", name, run };
    vec![
        operation(
            "keygen",
            Box::new(move || {
                black_box(public_key(black_box(&secret)).0);
            }),
        ),
        operation(
            "agree",
            Box::new(move || {
                black_box(agree(black_box(&secret), black_box(&peer)).0);
            }),
        ),
        operation(
            "sign keygen",
            Box::new(move || {
                black_box(signing_public(black_box(&seed)).0);
            }),
        ),
        operation(
            "sign",
            Box::new(move || {
                black_box(sign(black_box(&seed), &public, &message).0);
            }),
        ),
        operation("verify", Box::new(move || verify(black_box(&public), &message, &signature))),
    ]
}
