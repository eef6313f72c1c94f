//! Intel's crypto_mb: eight lanes in C intrinsics, the same instructions. Its nonces are given, not derived; its keys
//! are words, least significant first.

use std::ffi::c_void;
use std::ptr;

use chronoseal_ecdsa_lanes::Curve;

use crate::Operation;
use crate::data::{self, COUNT, Sample};

unsafe extern "C" {
    // Symbols of the AVX-512 build; a status of three zero bits a lane is success.
    fn mbx_nistp256_ecdsa_verify_mb8(
        r: *const *const u8,
        s: *const *const u8,
        digest: *const *const u8,
        x: *const *const u64,
        y: *const *const u64,
        z: *const *const u64,
        buffer: *mut c_void,
    ) -> u32;
    fn mbx_nistp256_ecdsa_sign_mb8(
        r: *const *mut u8,
        s: *const *mut u8,
        digest: *const *const u8,
        nonce: *const *const u64,
        secret: *const *const u64,
        buffer: *mut c_void,
    ) -> u32;
}

pub fn operations() -> Vec<Operation> {
    let samples = data::samples(Curve::NistP256);
    let keys: Vec<_> = samples.iter().map(|sample| (words(&sample.x), words(&sample.y))).collect();
    let verify = move || {
        for (samples, keys) in samples.chunks_exact(8).zip(keys.chunks_exact(8)) {
            let pick = |of: fn(&Sample) -> &[u8; 32]| -> [*const u8; 8] {
                std::array::from_fn(|lane| of(&samples[lane]).as_ptr())
            };
            let (r, s) = (pick(|sample| &sample.signature.r), pick(|sample| &sample.signature.s));
            let digest = pick(|sample| &sample.digest);
            let x: [*const u64; 8] = std::array::from_fn(|lane| keys[lane].0.as_ptr());
            let y: [*const u64; 8] = std::array::from_fn(|lane| keys[lane].1.as_ptr());
            // SAFETY: every array has eight pointers to 32 bytes that live through the call; no z means affine keys.
            let status = unsafe {
                mbx_nistp256_ecdsa_verify_mb8(
                    r.as_ptr(),
                    s.as_ptr(),
                    digest.as_ptr(),
                    x.as_ptr(),
                    y.as_ptr(),
                    ptr::null(),
                    ptr::null_mut(),
                )
            };
            assert_eq!(status, 0);
        }
    };
    let samples = data::samples(Curve::NistP256);
    let keys: Vec<_> = samples.iter().map(|sample| (words(&sample.secret), words(&sample.message))).collect();
    let sign = move || {
        for (samples, keys) in samples.chunks_exact(8).zip(keys.chunks_exact(8)) {
            let mut out = [[[0u8; 32]; 8]; 2];
            let [r, s] = out.each_mut().map(|half| half.each_mut().map(|number| number.as_mut_ptr()));
            let digest: [*const u8; 8] = std::array::from_fn(|lane| samples[lane].digest.as_ptr());
            let secret: [*const u64; 8] = std::array::from_fn(|lane| keys[lane].0.as_ptr());
            let nonce: [*const u64; 8] = std::array::from_fn(|lane| keys[lane].1.as_ptr());
            // SAFETY: every array has eight pointers to 32 bytes that live through the call.
            let status = unsafe {
                mbx_nistp256_ecdsa_sign_mb8(
                    r.as_ptr(),
                    s.as_ptr(),
                    digest.as_ptr(),
                    nonce.as_ptr(),
                    secret.as_ptr(),
                    ptr::null_mut(),
                )
            };
            assert_eq!(status, 0);
        }
    };
    let library = "crypto_mb";
    vec![
        Operation { name: data::VERIFY, library, count: COUNT as u32, run: Box::new(verify) },
        Operation { name: data::SIGN, library, count: COUNT as u32, run: Box::new(sign) },
    ]
}

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    std::array::from_fn(|at| u64::from_be_bytes(bytes[24 - 8 * at..32 - 8 * at].try_into().expect("8 bytes")))
}
