//! Signing, stage by stage, with fixed values: which of them tells the values apart by its time, if any does?
//!
//! Four values, each in two places, are timed in random order. Whatever the class, the value is copied to one and the same buffer by
//! reading all eight places, and the stage has just run on a random value from that buffer. A time that depends on a value
//! separates values; what a place, the order or the host does separates places that hold the same value as well.
//!
//! The controls: nothing at all; a loop that goes round once more for odd seeds, which must be seen; and multiplications of registers
//! by registers, for which no instruction, branch or address depends on the value; and two stages for which all classes hold one
//! value. What is seen there is the processor's, or of how it is measured.
//!
//! `stages [SAMPLES [ROUNDS [PARTS]]]`: SAMPLES for each stage and round, 500,000 without it; ROUNDS, 2; parts of the names of the
//! stages that run, separated by commas. Without arguments it takes seven minutes of a processor.

use std::arch::asm;
use std::hint::black_box;
use std::mem::MaybeUninit;

use chronoseal_fourq::internals::{Extended, Field, Mulx, Portable, Scalar, Vectors, multiply_generator};
use chronoseal_fourq::schnorrq::SigningKey;
use fourq_ct::{LIMIT, Mean, ticks};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha512};

const VALUES: usize = 4;
/// Classes: value `class % VALUES` in place `class / VALUES`.
const CLASSES: usize = 2 * VALUES;
/// Classes drawn ahead of the clock.
const BATCH: usize = 1000;
/// Random values that run before.
const RANDOM: usize = 64;
/// Shares of the samples kept.
const KEPT: [f64; 5] = [1.0, 0.99, 0.95, 0.9, 0.5];
const MESSAGE: &[u8] = b"share of node 7";

/// What a signature is made of.
#[derive(Clone, Copy)]
struct Secrets {
    prefix: [u8; 32],
    public: [u8; 32],
    secret: Scalar,
}

/// What a signature passes through.
#[derive(Clone)]
struct Parts {
    seed: [u8; 32],
    secrets: Secrets,
    digest: [u8; 64],
    nonce: Scalar,
    point: Extended,
    /// Commitment and public key.
    public: [[u8; 32]; 2],
    /// Secret, challenge, nonce.
    scalars: [Scalar; 3],
    key: SigningKey,
}

impl Parts {
    fn of(seed: [u8; 32]) -> Self {
        let half = |digest: &[u8; 64], at: usize| -> [u8; 32] { digest[at..at + 32].try_into().expect("32 bytes") };
        let of_seed = hash(&[&seed]);
        let prefix = half(&of_seed, 32);
        let digest = hash(&[&prefix, MESSAGE]);
        let [secret, nonce] = [&of_seed, &digest].map(|digest| Scalar::from_bytes_mod_order(&half(digest, 0)));
        let key = SigningKey::from_seed(seed);
        let point = multiply_generator(&nonce, Portable);
        let public = [point.to_affine(Portable).encode(), key.public()];
        let challenge = Scalar::from_bytes_mod_order(&half(&hash(&[&public[0], &public[1], MESSAGE]), 0));
        // What is timed is what signing does.
        let response = nonce.sub(&secret.mul(&challenge)).to_bytes();
        assert_eq!(key.sign(MESSAGE).to_bytes(), [public[0], response].concat()[..]);
        let secrets = Secrets { prefix, public: public[1], secret };
        Self { seed, secrets, digest, nonce, point, public, scalars: [secret, challenge, nonce], key }
    }
}

fn hash(parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// The bytes of a value; none of those used here has padding.
fn bytes<T>(value: &T) -> &[u8] {
    // SAFETY: all bytes of the value are initialised, and live as long as it does.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// A value in the buffer, whichever was copied to it; never dropped.
struct Buffer<T>(Box<MaybeUninit<T>>);

impl<T> Buffer<T> {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the buffer has so many bytes; who calls writes all of them, from values of this type.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of::<T>()) }
    }

    fn copy(&mut self, value: &T) {
        self.bytes().copy_from_slice(bytes(value));
    }

    /// Copies the value of a class, reading those of all classes.
    #[inline(never)]
    fn select(&mut self, values: &[T; CLASSES], class: u8) {
        let masks: [u8; CLASSES] = std::array::from_fn(|at| {
            let other = black_box(at as u8 ^ class);
            black_box(other.wrapping_sub(1) >> 7).wrapping_neg()
        });
        let out = self.bytes();
        out.fill(0);
        for (value, mask) in values.iter().zip(masks) {
            out.iter_mut().zip(bytes(value)).for_each(|(out, byte)| *out |= byte & mask);
        }
    }

    fn value(&self) -> &T {
        // SAFETY: `copy` came first.
        unsafe { self.0.assume_init_ref() }
    }
}

struct Bench {
    samples: usize,
    round: u64,
    wanted: Vec<String>,
    random: Vec<Parts>,
    fixed: [Parts; VALUES],
}

impl Bench {
    fn stage<T: Clone>(&self, code: &str, stage: &str, input: impl Fn(&Parts) -> T, run: impl FnMut(&T)) {
        let fixed = std::array::from_fn(|at| input(&self.fixed[at]));
        self.values(code, stage, &fixed, &self.random.iter().map(input).collect::<Vec<_>>(), run);
    }

    /// A control: all classes hold the first value, so that whatever is seen is not the value's.
    fn one_value<T: Clone>(&self, code: &str, stage: &str, input: impl Fn(&Parts) -> T, run: impl FnMut(&T)) {
        let fixed = std::array::from_fn(|_| input(&self.fixed[0]));
        self.values(code, stage, &fixed, &self.random.iter().map(input).collect::<Vec<_>>(), run);
    }

    fn values<T: Clone>(&self, code: &str, stage: &str, fixed: &[T; VALUES], random: &[T], mut run: impl FnMut(&T)) {
        let name = format!("{code} | {stage}");
        if !self.wanted.is_empty() && !self.wanted.iter().any(|part| name.contains(part)) {
            return;
        }
        let values: Box<[T; CLASSES]> = Box::new(std::array::from_fn(|class| fixed[class % VALUES].clone()));
        let mut buffer = Buffer(Box::new(MaybeUninit::uninit()));
        let mut rng = ChaCha20Rng::seed_from_u64(self.round);
        let mut drawn = [(0_u8, 0_usize); BATCH];
        let mut samples = Vec::with_capacity(self.samples + BATCH);
        // The first batch warms up.
        for batch in 0..=self.samples.div_ceil(BATCH) {
            for (class, before) in &mut drawn {
                let number = rng.next_u32();
                (*class, *before) = ((number % CLASSES as u32) as u8, (number >> 16) as usize % random.len());
            }
            for (class, before) in drawn {
                buffer.copy(&random[before]);
                run(black_box(buffer.value()));
                buffer.select(&values, class);
                let value = black_box(buffer.value());
                let start = ticks();
                run(value);
                let elapsed = ticks() - start;
                if batch > 0 {
                    samples.push((elapsed, class));
                }
            }
        }
        print(&name, self.round, &mut samples);
    }
}

/// A row of the table.
fn print(name: &str, round: u64, samples: &mut [(u64, u8)]) {
    samples.sort_unstable_by_key(|(ticks, _)| *ticks);
    let of = |share: f64, is_it: &dyn Fn(usize) -> bool| {
        let kept = &samples[..(share * samples.len() as f64) as usize];
        Mean::of(kept.iter().filter(|(_, class)| is_it(usize::from(*class))).map(|(ticks, _)| *ticks))
    };
    let (mut of_values, mut of_places) = (0.0_f64, 0.0_f64);
    for share in KEPT {
        let values: [_; VALUES] = std::array::from_fn(|at| of(share, &|class| class % VALUES == at));
        let places: [_; CLASSES] = std::array::from_fn(|at| of(share, &|class| class == at));
        for (at, value) in values.iter().enumerate() {
            values[..at].iter().for_each(|other| of_values = of_values.max(value.t(*other).abs()));
            of_places = of_places.max(places[at].t(places[at + VALUES]).abs());
        }
    }
    let kept: Vec<_> = (0..VALUES).map(|at| of(0.9, &|class| class % VALUES == at).mean).collect();
    let apart: Vec<_> = kept[1..].iter().map(|mean| format!("{:+.2}", mean - kept[0])).collect();
    let seen = if of_values < LIMIT { "" } else { " seen" };
    println!(
        "| {name} | {round} | {} | {of_values:.2}{seen} | {} | {of_places:.2} |",
        samples[samples.len() / 2].0,
        apart.join(", ")
    );
}

fn half(digest: &[u8; 64]) -> [u8; 32] {
    std::array::from_fn(|at| digest[at])
}

/// The first `STAGES` stages of signing, one behind the other.
#[inline(never)]
fn first_stages<const STAGES: usize, F: Field>(secrets: &Secrets, field: F) {
    let nonce = Scalar::from_bytes_mod_order(&half(&hash(&[&secrets.prefix, MESSAGE])));
    if STAGES == 1 {
        black_box(nonce);
        return;
    }
    let point = multiply_generator(&nonce, field);
    if STAGES == 2 {
        black_box(point);
        return;
    }
    let commitment = point.to_affine(field).encode();
    if STAGES == 3 {
        black_box(commitment);
        return;
    }
    let challenge = Scalar::from_bytes_mod_order(&half(&hash(&[&commitment, &secrets.public, MESSAGE])));
    if STAGES == 4 {
        black_box(challenge);
        return;
    }
    black_box((commitment, nonce.sub(&secrets.secret.mul(&challenge)).to_bytes()));
}

/// The stages of signing, computed in `field`.
fn signing<F: Field>(bench: &Bench, code: &str, field: F) {
    bench.stage(
        code,
        "hash of prefix and message",
        |parts| parts.secrets.prefix,
        |prefix| {
            black_box(hash(&[prefix, MESSAGE]));
        },
    );
    bench.stage(
        code,
        "16 reductions",
        |parts| parts.digest,
        |digest| {
            for _ in 0..16 {
                black_box(Scalar::from_bytes_mod_order(&half(black_box(digest))));
            }
        },
    );
    bench.stage(
        code,
        "comb",
        |parts| parts.nonce,
        |nonce| {
            black_box(multiply_generator(nonce, field));
        },
    );
    bench.stage(
        code,
        "to affine, encoding",
        |parts| parts.point,
        |point| {
            black_box(point.to_affine(field).encode());
        },
    );
    bench.stage(
        code,
        "challenge",
        |parts| parts.public,
        |[commitment, public]| {
            black_box(Scalar::from_bytes_mod_order(&half(&hash(&[commitment, public, MESSAGE]))));
        },
    );
    bench.one_value(
        code,
        "challenge, of one value in all classes",
        |parts| parts.public,
        |[commitment, public]| {
            black_box(Scalar::from_bytes_mod_order(&half(&hash(&[commitment, public, MESSAGE]))));
        },
    );
    bench.stage(
        code,
        "16 products and differences",
        |parts| parts.scalars,
        |scalars| {
            for _ in 0..16 {
                let [secret, challenge, nonce] = black_box(scalars);
                black_box(nonce.sub(&secret.mul(challenge)).to_bytes());
            }
        },
    );
    bench.stage(code, "up to the nonce", |parts| parts.secrets, |secrets| first_stages::<1, F>(secrets, field));
    bench.stage(code, "up to the comb", |parts| parts.secrets, |secrets| first_stages::<2, F>(secrets, field));
    bench.stage(code, "up to the encoding", |parts| parts.secrets, |secrets| first_stages::<3, F>(secrets, field));
    bench.stage(code, "up to the challenge", |parts| parts.secrets, |secrets| first_stages::<4, F>(secrets, field));
    bench.stage(code, "up to the response", |parts| parts.secrets, |secrets| first_stages::<5, F>(secrets, field));
    bench.one_value(
        code,
        "up to the response, of one value in all classes",
        |parts| parts.secrets,
        |secrets| first_stages::<5, F>(secrets, field),
    );
    bench.stage(
        code,
        "making the key",
        |parts| parts.seed,
        |seed| {
            black_box(SigningKey::from_seed_by(*seed, field));
        },
    );
    bench.stage(
        code,
        "signing",
        |parts| parts.key.clone(),
        |key| {
            black_box(key.sign_by(MESSAGE, field));
        },
    );
    bench.stage(
        code,
        "key and signing",
        |parts| parts.seed,
        |seed| {
            black_box(SigningKey::from_seed_by(*seed, field).sign_by(MESSAGE, field));
        },
    );
}

/// 64,000 products of registers, in pairs: the first two and the last two.
fn multiply_registers(words: &[u64; 4]) {
    // SAFETY: only registers change.
    unsafe {
        asm!(
            "2:",
            "mov {x}, {a}", "imul {x}, {b}", "mov {y}, {c}", "imul {y}, {d}",
            "mov {x}, {a}", "imul {x}, {b}", "mov {y}, {c}", "imul {y}, {d}",
            "dec {count}",
            "jnz 2b",
            a = in(reg) words[0], b = in(reg) words[1], c = in(reg) words[2], d = in(reg) words[3],
            x = out(reg) _, y = out(reg) _, count = inout(reg) 16_000_u64 => _,
            options(nomem, nostack),
        );
    }
}

/// The same in registers of four: 256,000 products of 32 bits.
fn multiply_vectors(words: &[u64; 4]) {
    // SAFETY: only registers change; whoever calls asked for AVX2.
    unsafe {
        asm!(
            "vmovq xmm0, {a}", "vpbroadcastq ymm0, xmm0", "vmovq xmm1, {b}", "vpbroadcastq ymm1, xmm1",
            "vmovq xmm2, {c}", "vpbroadcastq ymm2, xmm2", "vmovq xmm3, {d}", "vpbroadcastq ymm3, xmm3",
            "2:",
            "vpmuludq ymm4, ymm0, ymm1", "vpmuludq ymm5, ymm2, ymm3",
            "vpmuludq ymm4, ymm0, ymm1", "vpmuludq ymm5, ymm2, ymm3",
            "dec {count}",
            "jnz 2b",
            "vzeroupper",
            a = in(reg) words[0], b = in(reg) words[1], c = in(reg) words[2], d = in(reg) words[3],
            count = inout(reg) 16_000_u64 => _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
            options(nomem, nostack),
        );
    }
}

fn controls(bench: &Bench) {
    bench.stage("control", "nothing", |parts| parts.seed, |_| ());
    bench.stage(
        "control",
        "one round more for odd seeds",
        |parts| parts.seed,
        |seed| {
            for _ in 0..64 + (seed[0] & 1) {
                black_box(seed);
            }
        },
    );
    // No bit set, all set and none in turns, and what the first two seeds are made of.
    let fixed = [[0; 4], [!0, !0, 0, 0], [0x2a2a_2a2a_2a2a_2a2a; 4], [0x9393_9393_9393_9393; 4]];
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let random: Vec<[u64; 4]> = (0..RANDOM).map(|_| std::array::from_fn(|_| rng.next_u64())).collect();
    bench.values("control", "registers multiplied", &fixed, &random, multiply_registers);
    if is_x86_feature_detected!("avx2") {
        bench.values("control", "vectors multiplied", &fixed, &random, multiply_vectors);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default| arguments.next().map_or(default, |text| text.parse().expect("SAMPLES and ROUNDS are numbers"));
    let (samples, rounds) = (number(500_000), number(2) as u64);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut seed = || -> [u8; 32] {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        seed
    };
    let mut bench = Bench {
        samples,
        round: 0,
        wanted: arguments.next().map_or(Vec::new(), |parts| parts.split(',').map(str::to_owned).collect()),
        fixed: [[0x2a; 32], [0x93; 32], seed(), seed()].map(Parts::of),
        random: (0..RANDOM).map(|_| Parts::of(seed())).collect(),
    };
    println!(
        "{samples} samples for each stage and round; |t| over the cuts, the largest of all pairs; limit {LIMIT}\n"
    );
    println!(
        "| code | stage | round | median, ticks | values, t | second to fourth value less the first, ticks | places, t |"
    );
    println!("|---|---|---|---|---|---|---|");
    while bench.round < rounds {
        bench.round += 1;
        controls(&bench);
        signing(&bench, "portable", Portable);
        if let Some(mulx) = Mulx::detect() {
            signing(&bench, "assembly", mulx);
        }
        if let Some(vectors) = Vectors::detect() {
            signing(&bench, "vectors", vectors);
        }
    }
}
