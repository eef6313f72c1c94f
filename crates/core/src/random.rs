//! Seeded randomness. Every user of chance gets a stream of its own, so that adding one moves no other.

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
