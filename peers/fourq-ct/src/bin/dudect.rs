//! Two classes of secrets, most often one fixed and one random, timed in random order: do the times differ?
//!
//! Welch's t for all samples and for those below several quantiles, where the tail is cut that the operating system makes.
//! `SAMPLES` samples for each operation, or for those alone whose names contain the argument; exits with 1 if any |t| reaches 4.5.
//!
//! Source: Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", DATE 2017.

use std::hint::black_box;
use std::process::ExitCode;

use chronoseal_fourq::internals::{Field, Mulx, Portable, Vectors};
use chronoseal_fourq::{ecdh, internals, schnorrq};
use fourq_ct::{LIMIT, Mean, ticks};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const SAMPLES: usize = 1_000_000;
/// Secrets drawn ahead of the clock.
const BATCH: usize = 1000;
/// Shares of the samples kept.
const KEPT: [f64; 6] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5];

/// Largest |t| over the cuts.
fn largest_t(samples: &mut [(u64, bool)]) -> f64 {
    samples.sort_unstable_by_key(|(ticks, _)| *ticks);
    let t = |share: &f64| {
        let kept = &samples[..(share * samples.len() as f64) as usize];
        mean(kept, false).t(mean(kept, true)).abs()
    };
    KEPT.iter().map(t).fold(0.0, f64::max)
}

/// Those of a class.
fn mean(samples: &[(u64, bool)], class: bool) -> Mean {
    Mean::of(samples.iter().filter(move |(_, other)| *other == class).map(|(ticks, _)| *ticks))
}

/// What the two classes of secrets hold.
#[derive(Clone, Copy)]
enum Classes {
    /// One secret, and random ones: the test of the paper.
    FixedAndRandom,
    /// One secret, and another one: a time that depends on the value shows here as well, a trace of the repetition does not.
    TwoFixed,
    /// Random ones twice: what the harness itself adds to t.
    BothRandom,
}

impl Classes {
    /// The secret of a class, of which `random` is one if the class is random.
    fn secret<const LEN: usize>(self, is_first: bool, random: [u8; LEN]) -> [u8; LEN] {
        match (self, is_first) {
            (Self::FixedAndRandom | Self::TwoFixed, true) => [0x2a; LEN],
            (Self::TwoFixed, false) => [0x93; LEN],
            (Self::FixedAndRandom, false) | (Self::BothRandom, _) => random,
        }
    }
}

/// Times `run` on secrets of `LEN` bytes and prints the result; whether it stays below the limit.
///
/// Secrets are drawn and put into classes a batch ahead of the clock, as the paper's own program does: drawing between
/// two timings leaves the branch predictor and the caches in a state that depends on the class, worth 0.2 ticks.
fn measure<const LEN: usize>(name: &str, classes: Classes, run: impl FnMut(&[u8; LEN])) -> bool {
    measure_behind(name, classes, false, run)
}

/// [`measure`]; behind the same on a random secret that is not timed, if `is_behind`: what the processor keeps of a secret that was there
/// before is then that of a random one in both classes.
fn measure_behind<const LEN: usize>(
    name: &str,
    classes: Classes,
    is_behind: bool,
    mut run: impl FnMut(&[u8; LEN]),
) -> bool {
    // The argument, if there is one, is a part of the names of what is wanted; the control is always measured.
    if std::env::args().nth(1).is_some_and(|wanted| !name.contains(&wanted) && !name.starts_with("control")) {
        return true;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(LEN as u64);
    let mut batch = vec![([0; LEN], false); BATCH];
    let mut others = vec![[0; LEN]; BATCH];
    let mut samples = Vec::with_capacity(SAMPLES);
    for number in 0..=SAMPLES / BATCH {
        for (secret, is_first) in &mut batch {
            rng.fill_bytes(secret);
            *is_first = rng.next_u32() & 1 == 1;
            *secret = classes.secret(*is_first, *secret);
        }
        others.iter_mut().for_each(|other| rng.fill_bytes(other));
        for ((secret, is_first), other) in batch.iter().zip(&others) {
            let secret = black_box(*secret);
            if is_behind {
                run(black_box(other));
            }
            let start = ticks();
            run(&secret);
            let elapsed = ticks() - start;
            // The first batch warms up.
            if number > 0 {
                samples.push((elapsed, *is_first));
            }
        }
    }
    let t = largest_t(&mut samples);
    let middle = &samples[..SAMPLES / 2];
    println!(
        "{name}: |t| = {t:.2}, median {} ticks, the faster halves {:.2} ticks apart, {SAMPLES} samples",
        samples[SAMPLES / 2].0,
        mean(middle, false).mean - mean(middle, true).mean
    );
    t < LIMIT
}

/// Whether every operation, computed in `field`, stays below the limit.
fn measure_all<F: Field>(code: &str, field: F) -> bool {
    let peer = ecdh::SecretKey::from_bytes([9; 32]).public();
    let peer = ecdh::PublicKey::from_bytes(&peer).expect("a key");
    let element = |bytes: &[u8; 64], at: usize| {
        let number = |at: usize| u128::from_le_bytes(bytes[at..at + 16].try_into().expect("16 bytes")) >> 1;
        internals::Fp2::new(number(at), number(at + 16))
    };
    let multiply = |bytes: &[u8; 64]| {
        let (mut a, b) = (element(bytes, 0), element(bytes, 32));
        for _ in 0..16 {
            a = field.mul(&a, &b);
        }
        black_box(a);
    };
    let name = |operation: &str| format!("{code}, {operation}");
    let mut constant = measure(&name("16 field multiplications, both classes random"), Classes::BothRandom, multiply);
    constant &= measure(&name("16 field multiplications"), Classes::FixedAndRandom, multiply);
    constant &= measure(&name("field inversion"), Classes::FixedAndRandom, |bytes: &[u8; 64]| {
        black_box(element(bytes, 0).invert(field));
    });
    constant &= measure(&name("key generation"), Classes::FixedAndRandom, |bytes: &[u8; 32]| {
        black_box(ecdh::SecretKey::from_bytes(*bytes).public_by(field));
    });
    constant &= measure(&name("agreement"), Classes::FixedAndRandom, |bytes: &[u8; 32]| {
        black_box(ecdh::SecretKey::from_bytes(*bytes).agree_by(&peer, field));
    });
    let sign = |bytes: &[u8; 32]| {
        black_box(schnorrq::SigningKey::from_seed_by(*bytes, field).sign_by(b"share of node 7", field));
    };
    // The two halves of that, each with two fixed seeds.
    constant &= measure(&name("making a signing key, two fixed seeds"), Classes::TwoFixed, |bytes: &[u8; 32]| {
        black_box(schnorrq::SigningKey::from_seed_by(*bytes, field));
    });
    let keys = [0x2a, 0x93].map(|seed| schnorrq::SigningKey::from_seed_by([seed; 32], field));
    constant &= measure(&name("signing, key made before, two fixed seeds"), Classes::TwoFixed, |bytes: &[u8; 32]| {
        // Without a branch, but the two keys have addresses of their own.
        let key = &keys[usize::from(bytes[0] >> 7)];
        black_box(key.sign_by(b"share of node 7", field));
    });
    constant &= measure(&name("key generation, two fixed secrets"), Classes::TwoFixed, |bytes: &[u8; 32]| {
        black_box(ecdh::SecretKey::from_bytes(*bytes).public_by(field));
    });
    constant &= measure(&name("signing, key from seed, both classes random"), Classes::BothRandom, sign);
    constant &= measure(&name("signing, key from seed, two fixed seeds"), Classes::TwoFixed, sign);
    constant &=
        measure_behind(&name("signing, key from seed, each behind a random one"), Classes::FixedAndRandom, true, sign);
    constant & measure(&name("signing, key from seed"), Classes::FixedAndRandom, sign)
}

fn main() -> ExitCode {
    let mut constant = measure_all("portable", Portable);
    match Mulx::detect() {
        Some(mulx) => constant &= measure_all("assembly", mulx),
        None => println!("assembly: not run, this processor lacks BMI2 or AVX2"),
    }
    match Vectors::detect() {
        Some(vectors) => constant &= measure_all("vectors", vectors),
        None => println!("vectors: not run, this processor lacks AVX-512 IFMA"),
    }
    // What must be seen: sliding windows skip the zeros of the scalar.
    let generator = internals::Affine::GENERATOR.to_extended();
    let seen = !measure("control, variable time", Classes::FixedAndRandom, |bytes: &[u8; 32]| {
        let scalar = internals::Scalar::from_bytes_mod_order(bytes);
        black_box(internals::double_multiply_vartime(&scalar, &scalar, &generator, Portable));
    });
    ExitCode::from(u8::from(!(constant && seen)))
}
