//! Seeded randomness. Every user of chance gets a stream of its own, so that adding one moves no other.

use crate::Duration;
pub use rand_chacha::ChaCha8Rng;
pub use rand_core::Rng;
use rand_core::SeedableRng;

/// What a stream of random numbers is for; part of its seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Offset and drift of a node's oscillator.
    Clock = 1,
    /// Phase of a stream or a task.
    Phase = 2,
    /// Bytes of a synthetic payload.
    Payload = 3,
    /// Choices of an attacker.
    Attack = 4,
    /// Time in a network driver or on a lossy link.
    Medium = 5,
    /// A secret key of a scenario; test material by nature.
    Key = 6,
    /// When the value of a stream changes.
    Change = 7,
    /// What a program takes of a message.
    Program = 8,
}

/// The stream for `purpose` of the thing numbered `index`, in a run seeded with `seed`.
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    let mut bytes = [0u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    bytes[16..24].copy_from_slice(&index.to_le_bytes());
    ChaCha8Rng::from_seed(bytes)
}

/// A number in `low..=high`, from 64 random bits by multiplication (bias below 2^-32 for spans under 2^32).
///
/// # Panics
/// If `low > high`.
pub fn uniform_i64(rng: &mut impl Rng, low: i64, high: i64) -> i64 {
    assert!(low <= high, "an empty range has no numbers");
    let span = (high as i128 - low as i128 + 1) as u128;
    (low as i128 + ((u128::from(rng.next_u64()) * span) >> 64) as i128) as i64
}

/// A random time: never below `min`, exponential above it, cut at `max`. Always `min` if `mean` is not above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jitter {
    /// At least.
    pub min: Duration,
    /// On average, before the cut at `max`.
    pub mean: Duration,
    /// At most.
    pub max: Duration,
}

impl Jitter {
    /// True if every draw is zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// One draw.
    pub fn sample(&self, rng: &mut impl Rng) -> Duration {
        let scale = (self.mean - self.min).as_ps();
        if scale <= 0 {
            return self.min;
        }
        // Inverse of the exponential law, in fixed point, so that every platform draws the same picoseconds.
        let excess = (i128::from(scale) * i128::from(minus_ln(rng.next_u64()))) >> 32;
        (self.min + Duration::from_ps(excess as i64)).min(self.max)
    }
}

/// -ln of `bits / 2^64` (taken as at least 2^-64), as a fixed-point number with 32 fractional bits.
///
/// The integer part of the binary logarithm is the number of leading zeros; each fractional bit comes from squaring
/// (Knuth, The Art of Computer Programming, vol. 1, exercise 1.2.2-25).
fn minus_ln(bits: u64) -> u64 {
    const LN_2: u128 = 2_977_044_472; // round(ln 2 * 2^32)
    let bits = bits.max(1);
    let zeros = bits.leading_zeros();
    let mut mantissa = bits << zeros; // in [2^63, 2^64): 1.x with 63 fractional bits
    let mut fraction = 0u64;
    for _ in 0..32 {
        let square = u128::from(mantissa) * u128::from(mantissa);
        fraction <<= 1;
        if square >> 127 == 1 {
            fraction |= 1;
            mantissa = (square >> 64) as u64;
        } else {
            mantissa = (square >> 63) as u64;
        }
    }
    // log2(bits / 2^64) = -(zeros + 1) + fraction
    let minus_log2 = (u64::from(zeros + 1) << 32) - fraction;
    ((u128::from(minus_log2) * LN_2) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_agrees_with_the_library() {
        for bits in [1, 2, 3, 1 << 20, 0x1234_5678_9abc_def0, 1 << 63, u64::MAX] {
            let expected = -(bits as f64 / 18_446_744_073_709_551_616.0).ln();
            let found = minus_ln(bits) as f64 / 4_294_967_296.0;
            assert!((expected - found).abs() < 1e-8, "{bits}: {expected} {found}");
        }
    }

    #[test]
    fn jitter_has_its_mean_and_its_bounds() {
        let jitter = Jitter { min: Duration::from_us(10), mean: Duration::from_us(30), max: Duration::from_ms(1) };
        let mut rng = stream(1, Purpose::Medium, 0);
        let draws: Vec<_> = (0..20_000).map(|_| jitter.sample(&mut rng)).collect();
        let mean = draws.iter().copied().sum::<Duration>().as_us_f64() / draws.len() as f64;
        assert!((29.5..30.5).contains(&mean), "{mean}");
        assert!(draws.iter().all(|d| *d >= jitter.min && *d <= jitter.max));
    }

    #[test]
    fn streams_of_one_seed_differ_by_purpose_and_index() {
        let first = |purpose, index| stream(7, purpose, index).next_u64();
        assert_eq!(first(Purpose::Clock, 0), first(Purpose::Clock, 0));
        assert_ne!(first(Purpose::Clock, 0), first(Purpose::Clock, 1));
        assert_ne!(first(Purpose::Clock, 0), first(Purpose::Phase, 0));
    }

    #[test]
    fn uniform_numbers_reach_both_ends() {
        let mut rng = stream(1, Purpose::Phase, 0);
        let draws: Vec<_> = (0..1000).map(|_| uniform_i64(&mut rng, -2, 2)).collect();
        assert!((-2..=2).all(|n| draws.contains(&n)));
        assert!(draws.iter().all(|n| (-2..=2).contains(n)));
        assert_eq!(uniform_i64(&mut rng, i64::MIN, i64::MIN), i64::MIN);
    }
}
