use chronoseal_ecdsa_lanes::{Curve, Engine};

use crate::samples::{CURVES, Sample, random, verify};

fn order(curve: Curve) -> [u8; 32] {
    hex(match curve {
        Curve::NistP256 => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        Curve::BrainpoolP256r1 => "a9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7",
    })
}

fn prime(curve: Curve) -> [u8; 32] {
    hex(match curve {
        Curve::NistP256 => "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        Curve::BrainpoolP256r1 => "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
    })
}

fn hex(digits: &str) -> [u8; 32] {
    core::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("hexadecimal"))
}

/// Big-endian `value + step`, for a step that does not carry far.
fn step(mut value: [u8; 32], step: i16) -> [u8; 32] {
    let mut carry = step;
    for byte in value.iter_mut().rev() {
        let sum = i16::from(*byte) + carry;
        *byte = sum.rem_euclid(256) as u8;
        carry = sum.div_euclid(256);
    }
    value
}

#[test]
fn refuses_r_and_s_out_of_range() {
    for curve in CURVES {
        let good = Sample::new(curve, &mut random(10));
        let n = order(curve);
        let mut samples = Vec::new();
        for bad in [[0; 32], n, step(n, 1), [0xff; 32]] {
            let mut sample = good.clone();
            sample.signature.r = bad;
            samples.push(sample);
            let mut sample = good.clone();
            sample.signature.s = bad;
            samples.push(sample);
        }
        for engine in Engine::available() {
            assert_eq!(verify(*engine, &samples), vec![false; samples.len()], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn takes_the_high_s_that_belongs_to_a_low_one() {
    for curve in CURVES {
        let mut sample = Sample::new(curve, &mut random(11));
        // n - s, byte by byte.
        let (n, s) = (order(curve), sample.signature.s);
        let mut borrow = 0;
        for at in (0..32).rev() {
            let difference = i16::from(n[at]) - i16::from(s[at]) - borrow;
            sample.signature.s[at] = difference.rem_euclid(256) as u8;
            borrow = i16::from(difference < 0);
        }
        for engine in Engine::available() {
            assert_eq!(verify(*engine, &[sample.clone()]), [true], "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn a_key_off_the_curve_is_refused_and_does_not_disturb_its_neighbours() {
    for curve in CURVES {
        let mut random = random(12);
        let good: Vec<_> = (0..32).map(|_| Sample::new(curve, &mut random)).collect();
        let p = prime(curve);
        let x = good[0].public[0];
        // The point of order two of another curve, the origin, coordinates at and above the prime, and a y that is off.
        let bad = [[x, [0; 32]], [[0; 32]; 2], [p, p], [x, p], [[0xff; 32]; 2], [x, step(good[0].public[1], 1)]];
        for engine in Engine::available() {
            for (at, public) in bad.iter().enumerate() {
                let mut samples = good.clone();
                samples[3 * at].public = *public;
                let expected: Vec<_> = (0..32).map(|lane| lane != 3 * at).collect();
                assert_eq!(verify(*engine, &samples), expected, "{engine:?} {curve:?} {at}");
            }
        }
    }
}

#[test]
fn a_batch_of_nothing_but_nonsense_is_refused() {
    for curve in CURVES {
        let mut samples = vec![Sample::new(curve, &mut random(13)); 9];
        for (at, sample) in samples.iter_mut().enumerate() {
            let fill = [0, 0xff, 0x55][at % 3];
            sample.digest = [fill; 32];
            sample.signature.r = [fill; 32];
            sample.signature.s = [fill; 32];
            sample.public = [[fill; 32]; 2];
        }
        for engine in Engine::available() {
            assert_eq!(verify(*engine, &samples), [false; 9], "{engine:?} {curve:?}");
        }
    }
}

#[test]
#[should_panic(expected = "one result for each job")]
fn fewer_results_than_jobs_is_the_callers_error() {
    let sample = Sample::new(Curve::NistP256, &mut random(14));
    chronoseal_ecdsa_lanes::verify_batch(&[sample.job()], &mut []);
}
