use chronoseal_ecdsa_lanes::{Curve, KnownVerification, SignerTable, verify_known_batch};

use crate::samples::{CURVES, Sample, random, verify};

fn known(samples: &[Sample], curve: Curve) -> Vec<bool> {
    let keys: Vec<_> = samples.iter().map(|sample| [&sample.public[0], &sample.public[1]]).collect();
    let tables = SignerTable::build(curve, &keys);
    let jobs: Vec<_> = (samples.iter().zip(&tables))
        .map(|(sample, table)| KnownVerification {
            digest: &sample.digest,
            r: &sample.signature.r,
            s: &sample.signature.s,
            signer: table.as_ref().expect("a point"),
        })
        .collect();
    let mut results = vec![false; jobs.len()];
    verify_known_batch(&jobs, &mut results);
    results
}

#[test]
fn tables_give_the_verdicts_of_plain_verification() {
    for curve in CURVES {
        let mut random = random(40);
        let mut samples: Vec<_> = (0..77).map(|_| Sample::new(curve, &mut random)).collect();
        for (at, sample) in samples.iter_mut().enumerate() {
            match at % 7 {
                1 => sample.digest[at % 32] ^= 1,
                3 => sample.signature.r[at % 32] ^= 16,
                5 => sample.signature.s = [0; 32],
                _ => {}
            }
        }
        let expected = verify(chronoseal_ecdsa_lanes::engine(), &samples);
        assert_eq!(expected.iter().filter(|valid| **valid).count(), 44);
        assert_eq!(known(&samples, curve), expected, "{curve:?}");
    }
}

#[test]
fn small_multiples_of_the_generator_are_no_exception() {
    for curve in CURVES {
        for small in [1u8, 2, 3, 5, 16, 31] {
            let mut secret = [0; 32];
            secret[31] = small;
            let digest = secret;
            let mut signature = [None];
            let job = chronoseal_ecdsa_lanes::Signing { curve, digest: &digest, secret: &secret, entropy: &[] };
            chronoseal_ecdsa_lanes::sign_batch(&[job], &mut signature);
            let signature = signature[0].expect("in range");
            let sample = Sample { curve, digest, signature, public: crate::samples::public(curve, &secret) };
            assert_eq!(known(&[sample], curve), [true], "{curve:?} {small}");
        }
    }
}

#[test]
fn no_table_for_what_is_no_point() {
    for curve in CURVES {
        let sample = Sample::new(curve, &mut random(41));
        let [x, y] = &sample.public;
        let tables = SignerTable::build(curve, &[[x, y], [x, x], [&[0xff; 32], y], [x, y]]);
        let made: Vec<_> = tables.iter().map(|table| table.as_ref().map(SignerTable::public)).collect();
        assert_eq!(made, [Some(&sample.public), None, None, Some(&sample.public)], "{curve:?}");
    }
}
