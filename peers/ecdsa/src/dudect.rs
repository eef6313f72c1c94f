//! Whether the time of signing tells keys apart: O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant
//! time?", DATE 2017. Batches of one key against batches of random keys, in random order, digests random in both;
//! Welch's t over samples below the 95th percentile. Beyond 4.5 the two differ.

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use chronoseal_ecdsa_lanes::{Curve, Engine, Signing};

const BATCH: usize = 8;

pub fn run(samples: usize) {
    println!("| operation | absolute t, {samples} samples |");
    println!("|---|---|");
    for (engine, curve) in [
        (Engine::Avx512Ifma, Curve::NistP256),
        (Engine::Avx512Ifma, Curve::BrainpoolP256r1),
        (Engine::Mulx, Curve::NistP256),
    ] {
        if !engine.is_available() {
            println!("| sign eight, {engine:?}, {curve:?} | not checked, because this processor lacks it |");
            continue;
        }
        let t = compare(samples, &mut |secrets, digests| {
            let jobs: Vec<_> = secrets
                .iter()
                .zip(digests)
                .map(|(secret, digest)| Signing { curve, digest, secret, entropy: &[] })
                .collect();
            let mut signatures = [None; BATCH];
            let start = ticks();
            engine.sign_batch(&jobs, &mut signatures);
            let end = ticks();
            assert!(signatures.iter().all(Option::is_some));
            end - start
        });
        println!("| sign eight, {engine:?}, {curve:?} | {:.2} |", t.abs());
    }
    // A sum that skips zero bits.
    let t = compare(samples, &mut |secrets, digests| {
        let start = ticks();
        let mut sum = 0u64;
        for (secret, digest) in secrets.iter().zip(digests) {
            for (bit, byte) in (0..256).map(|bit| (bit, secret[bit / 8])) {
                if byte >> (bit % 8) & 1 == 1 {
                    sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(u64::from(digest[bit / 8])));
                }
            }
        }
        std::hint::black_box(sum);
        ticks() - start
    });
    println!("| control that skips zero bits | {:.2} |", t.abs());
}

/// Welch's t of the two classes.
fn compare(samples: usize, measure: &mut dyn FnMut(&[[u8; 32]; BATCH], &[[u8; 32]; BATCH]) -> u64) -> f64 {
    let random = SystemRandom::new();
    let fill = |out: &mut [u8]| random.fill(out).expect("random bytes");
    // One bit set: as far from a random key as a key in range can be.
    let mut fixed = [0; 32];
    fixed[31] = 1;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..samples {
        let (mut class, mut secrets, mut digests) = ([0], [[0; 32]; BATCH], [[0; 32]; BATCH]);
        fill(&mut class);
        secrets.iter_mut().chain(&mut digests).for_each(|bytes| fill(bytes));
        let class = usize::from(class[0] & 1);
        for secret in &mut secrets {
            secret[0] &= 0x7f;
            // Both classes write the key, so that both leave the cache alike.
            let copy = *secret;
            *secret = if class == 0 { fixed } else { copy };
        }
        times[class].push(measure(&secrets, &digests) as f64);
    }
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let limit = all[all.len() * 95 / 100];
    let [a, b] = times.map(|times| {
        let kept: Vec<_> = times.into_iter().filter(|time| *time < limit).collect();
        let mean = kept.iter().sum::<f64>() / kept.len() as f64;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (kept.len() - 1) as f64;
        (mean, variance / kept.len() as f64)
    });
    (a.0 - b.0) / (a.1 + b.1).sqrt()
}

fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}
