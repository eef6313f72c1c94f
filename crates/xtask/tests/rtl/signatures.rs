//! Signatures made by the engine and judged by it.

use p256::ProjectivePoint;
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};

use crate::device::{Answer, Device, Number, request, status};
use crate::reference::{
    N, any_number, base, coordinates, inverse, near, number, public_key, random, scalar, scalar_bytes, small,
};

const SLOT: [u8; 1] = [8];

fn sign(device: &mut Device, digest: &Number, nonce: &Number) -> Answer {
    device.ask(request::SIGN, &[&SLOT, digest, nonce, &inverse(nonce)])
}

fn verify(device: &mut Device, digest: &Number, r: &Number, s: &Number, point: &[u8]) -> u8 {
    device.status(request::VERIFY, &[digest, r, &inverse(s), point])
}

fn halves(signature: &[u8]) -> (Number, Number) {
    (signature[..32].try_into().unwrap(), signature[32..].try_into().unwrap())
}

#[test]
#[ignore = "needs the simulator"]
fn makes_the_signatures_of_rfc_6979() {
    // RFC 6979 A.2.5, P-256, SHA-256, messages "sample" and "test": digest, k, r, s.
    const CASES: [[&str; 4]; 2] = [
        [
            "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf",
            "a6e3c57dd01abe90086538398355dd4c3b17aa873382b0f24d6129493d8aad60",
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716",
            "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
        ],
        [
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "d16b6ae827f17175e040871a1c7ec3500192c4c92677336ec2537acaee0008e0",
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367",
            "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083",
        ],
    ];
    let mut device = Device::start();
    let key = number("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    device.result(request::IMPORT, &[&SLOT, &key]);
    let point = number("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
    assert_eq!(device.result(request::PUBLIC, &[&SLOT])[..32], point);
    for [digest, nonce, r, s] in CASES {
        let answer = sign(&mut device, &number(digest), &number(nonce));
        assert_eq!(answer.result, [number(r), number(s)].concat());
    }
}

#[test]
#[ignore = "needs the simulator"]
fn its_signatures_hold_for_p256_and_the_other_way_round() {
    let (mut device, mut random) = (Device::start(), random(20));
    let key = any_number(&mut random);
    device.result(request::IMPORT, &[&SLOT, &key]);
    let signing = SigningKey::from_slice(&key).unwrap();
    let point = device.result(request::PUBLIC, &[&SLOT]);
    assert_eq!(point, coordinates(&public_key(&key).to_projective()));

    let digests = [[0; 32], number(N), near(number(N), 1), [0xff; 32], small(1)];
    let some = (0..15).map(|_| any_number(&mut random)).collect::<Vec<_>>();
    for digest in digests.into_iter().chain(some) {
        let nonce = any_number(&mut random);
        let ours = sign(&mut device, &digest, &nonce).result;
        let as_p256 = Signature::from_slice(&ours).unwrap();
        VerifyingKey::from(public_key(&key)).verify_prehash(&digest, &as_p256).unwrap();
        // s = (e + r d) / k.
        let (r, s) = halves(&ours);
        assert_eq!(scalar(&s) * scalar(&nonce), scalar(&digest) + scalar(&r) * scalar(&key));

        let theirs: Signature = signing.sign_prehash(&digest).unwrap();
        for signature in [ours, theirs.to_bytes().to_vec()] {
            let (r, s) = halves(&signature);
            assert_eq!(verify(&mut device, &digest, &r, &s, &point), status::OK);
        }
    }
}

#[test]
#[ignore = "needs the simulator"]
fn a_signature_that_was_touched_does_not_hold() {
    let (mut device, mut random) = (Device::start(), random(21));
    let (key, digest, nonce) = (any_number(&mut random), any_number(&mut random), any_number(&mut random));
    device.result(request::IMPORT, &[&SLOT, &key]);
    let point = device.result(request::PUBLIC, &[&SLOT]);
    let (r, s) = halves(&sign(&mut device, &digest, &nonce).result);
    assert_eq!(verify(&mut device, &digest, &r, &s, &point), status::OK);
    // n - s is the other s that holds.
    let other_s = scalar_bytes(&-scalar(&s));
    assert_eq!(verify(&mut device, &digest, &r, &other_s, &point), status::OK);
    for bit in [0, 7, 100, 255] {
        let flip = |mut number: Number| {
            number[bit / 8] ^= 1 << (bit % 8);
            number
        };
        assert_eq!(verify(&mut device, &flip(digest), &r, &s, &point), status::MISMATCH);
        assert_eq!(verify(&mut device, &digest, &flip(r), &s, &point), status::MISMATCH);
        assert_eq!(verify(&mut device, &digest, &r, &flip(s), &point), status::MISMATCH);
    }
    let stranger = coordinates(&base(&any_number(&mut random)));
    assert_eq!(verify(&mut device, &digest, &r, &s, &stranger), status::MISMATCH);
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_an_r_that_cannot_be_one() {
    let mut device = Device::start();
    let point = coordinates(&base(&small(3)));
    let n = number(N);
    for r in [[0; 32], n, near(n, 1), [0xff; 32]] {
        let refused = device.status(request::VERIFY, &[&small(1), &r, &small(1), &point]);
        assert_eq!(refused, status::SCALAR_OUT_OF_RANGE);
    }
    for r in [small(1), near(n, -1)] {
        assert_eq!(device.status(request::VERIFY, &[&small(1), &r, &small(1), &point]), status::MISMATCH);
    }
}

#[test]
#[ignore = "needs the simulator"]
fn a_sum_at_infinity_is_no_signature() {
    // e = 1, r = 1, w = 1: the point is G + Q, at infinity for Q = -G.
    let mut device = Device::start();
    let opposite = coordinates(&base(&near(number(N), -1)));
    let verdict = device.status(request::VERIFY, &[&small(1), &small(1), &small(1), &opposite]);
    assert_eq!(verdict, status::MISMATCH);
}

#[test]
#[ignore = "needs the simulator"]
fn an_r_above_n_is_taken_modulo_n() {
    // The x of the point is compared modulo n (FIPS 186-5 6.4.2). Here x = r + n, below p as p - n has 127 bits.
    let mut device = Device::start();
    let (x, point) = point_from(number(N));
    let r = crate::reference::reduce(x, number(N));
    assert_ne!(r, x);
    assert_eq!(verify_at(&mut device, &point, &r), status::OK);
}

#[test]
#[ignore = "needs the simulator"]
fn an_r_at_the_other_end_is_another() {
    // x - r + n is small but not 0.
    let mut device = Device::start();
    let (_, point) = point_from(small(1));
    for difference in 1..4 {
        assert_eq!(verify_at(&mut device, &point, &near(number(N), -difference)), status::MISMATCH);
    }
}

/// The first point whose x is above `start`, and that x.
fn point_from(start: Number) -> (Number, ProjectivePoint) {
    let mut candidates = (1..).map(|difference| near(start, difference));
    let point = |x: Number| p256::PublicKey::from_sec1_bytes(&[&[2], &x[..]].concat());
    candidates.find_map(|x| Some((x, point(x).ok()?.to_projective()))).unwrap()
}

#[test]
#[ignore = "needs the simulator"]
fn an_r_that_differs_in_one_word_is_another() {
    let (mut device, mut random) = (Device::start(), random(23));
    let point = base(&any_number(&mut random));
    let x = scalar(&coordinates(&point)[..32].try_into().unwrap());
    assert_eq!(verify_at(&mut device, &point, &scalar_bytes(&x)), status::OK);
    for word in 0..4 {
        let mut difference = [0; 32];
        difference[31 - 8 * word] = 1;
        for r in [x + scalar(&difference), x - scalar(&difference)] {
            assert_eq!(verify_at(&mut device, &point, &scalar_bytes(&r)), status::MISMATCH, "word {word}");
        }
    }
}

/// Has a signature verified whose sum is `point` whatever its `r`: R = u1 G + u2 Q with u1 = 1 and u2 = r w = 1, so with
/// w = 1 / r, e = r and Q = R - G.
fn verify_at(device: &mut Device, point: &ProjectivePoint, r: &Number) -> u8 {
    let q = *point - base(&small(1));
    device.status(request::VERIFY, &[r, r, &inverse(r), &coordinates(&q)])
}

#[test]
#[ignore = "needs the simulator"]
fn a_nonce_that_is_zero_makes_no_signature() {
    let mut device = Device::start();
    device.result(request::IMPORT, &[&SLOT, &small(7)]);
    for nonce in [[0; 32], number(N)] {
        assert_eq!(device.status(request::SIGN, &[&SLOT, &small(1), &nonce, &small(1)]), status::INFINITY);
    }
    // s = 0: e = -r d.
    let nonce = small(9);
    let r = coordinates(&base(&nonce))[..32].try_into().unwrap();
    let e = scalar_bytes(&-(scalar(&r) * scalar(&small(7))));
    let refused = device.status(request::SIGN, &[&SLOT, &e, &nonce, &inverse(&nonce)]);
    assert_eq!(refused, status::SCALAR_OUT_OF_RANGE);
}

#[test]
#[ignore = "needs the simulator"]
fn signing_takes_one_time_whatever_key_nonce_and_digest() {
    let (mut device, mut random) = (Device::start(), random(22));
    let mut cycles = vec![];
    for key in [small(1), near(number(N), -1), any_number(&mut random), any_number(&mut random)] {
        device.result(request::IMPORT, &[&SLOT, &key]);
        for nonce in [small(1), small(2), near(number(N), -2), any_number(&mut random)] {
            cycles.push(sign(&mut device, &any_number(&mut random), &nonce).cycles);
        }
        device.result(request::ERASE, &[&SLOT]);
    }
    cycles.dedup();
    assert_eq!(cycles.len(), 1, "{cycles:?}");
}
