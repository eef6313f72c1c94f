use chronoseal_ecdsa_lanes::{Curve, Engine, Signature, Signing, sign_with_multiple};

use crate::samples::{CURVES, Sample, bytes, public, random, secret, verify};

fn sign(engine: Engine, jobs: &[Signing<'_>]) -> Vec<Option<Signature>> {
    let mut signatures = vec![None; jobs.len()];
    engine.sign_batch(jobs, &mut signatures);
    signatures
}

#[test]
fn lanes_and_scalar_code_make_the_same_signatures_and_they_verify() {
    let count = if cfg!(debug_assertions) { 70 } else { 2000 };
    for curve in CURVES {
        let mut random = random(30);
        let parts: Vec<_> = (0..count).map(|_| (secret(&mut random), bytes(&mut random))).collect();
        let jobs: Vec<_> =
            parts.iter().map(|(secret, digest)| Signing { curve, digest, secret, entropy: &[] }).collect();
        let signatures = sign(Engine::Scalar, &jobs);
        for engine in Engine::available() {
            assert_eq!(sign(*engine, &jobs), signatures, "{engine:?} {curve:?}");
        }
        let samples: Vec<_> = (parts.iter().zip(&signatures))
            .map(|((secret, digest), signature)| Sample {
                curve,
                digest: *digest,
                signature: signature.expect("in range"),
                public: public(curve, secret),
            })
            .collect();
        assert_eq!(verify(chronoseal_ecdsa_lanes::engine(), &samples), vec![true; count]);
    }
}

#[test]
fn another_library_may_multiply_the_generator() {
    let mut random = random(34);
    for number in 0..if cfg!(debug_assertions) { 50 } else { 2000 } {
        let (secret, digest) = (secret(&mut random), bytes(&mut random));
        let curve = CURVES[usize::from(number % 8 == 0)];
        let job = Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
        let expected = sign(Engine::Scalar, &[job])[0];
        assert!(expected.is_some());
        let x = |nonce: &[u8; 32]| Some(public(Curve::NistP256, nonce)[0]);
        assert_eq!(sign_with_multiple(&job, x), expected, "{curve:?}");
        assert_eq!(sign_with_multiple(&job, |_| None), expected, "{curve:?}");
        assert_eq!(sign_with_multiple(&Signing { secret: &[0xff; 32], ..job }, x), None);
    }
}

#[test]
fn entropy_changes_the_nonce_and_only_the_nonce() {
    for curve in CURVES {
        let mut random = random(31);
        let (secret, digest) = (secret(&mut random), bytes(&mut random));
        let job = Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
        let jobs = [job, Signing { entropy: &[7; 32], ..job }];
        for engine in Engine::available() {
            let signatures = sign(*engine, &jobs);
            assert_ne!(signatures[0], signatures[1]);
            assert_eq!(signatures, sign(Engine::Scalar, &jobs));
            for signature in signatures {
                let public = public(curve, &secret);
                let sample = Sample { curve, digest, signature: signature.expect("in range"), public };
                assert_eq!(verify(*engine, &[sample]), [true]);
            }
        }
    }
}

#[test]
fn keys_out_of_range_are_refused_and_leave_their_neighbours_alone() {
    let digest = [9; 32];
    let mut good = [0; 32];
    good[31] = 1;
    for curve in CURVES {
        let job = |secret| Signing { curve, digest: &digest, secret, entropy: &[] };
        let jobs = [job(&[0; 32]), job(&good), job(&[0xff; 32]), job(&good)];
        for engine in Engine::available() {
            let signatures = sign(*engine, &jobs);
            assert!(signatures[0].is_none() && signatures[2].is_none(), "{engine:?} {curve:?}");
            assert!(signatures[1].is_some() && signatures[1] == signatures[3], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn curves_may_be_mixed() {
    let mut random = random(32);
    let parts: Vec<_> = (0..40).map(|_| (secret(&mut random), bytes(&mut random))).collect();
    let jobs: Vec<_> = (parts.iter().enumerate())
        .map(|(at, (secret, digest))| Signing { curve: CURVES[at % 2], digest, secret, entropy: &[] })
        .collect();
    for engine in Engine::available() {
        assert_eq!(sign(*engine, &jobs), sign(Engine::Scalar, &jobs), "{engine:?}");
    }
}

#[test]
fn debug_output_keeps_the_key_to_itself() {
    let job = Signing { curve: Curve::NistP256, digest: &[1; 32], secret: &[0xab; 32], entropy: &[] };
    assert!(!format!("{job:?}").contains("171"));
}
