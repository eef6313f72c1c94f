//! Butterfly keys on NIST P-256, IEEE 1609.2.1 clause 9.3: from one seed key, an authority makes many public keys whose
//! private halves only the holder of the seed can make.
//!
//! The j-th key of period i is the seed plus f(x), where x names the kind of key, i and j, and f encrypts x + 1 to x + 3
//! with an AES key, adds each block to its input bit by bit, and takes the 48 octets modulo the curve's order.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use p256::elliptic_curve::Group;
use p256::elliptic_curve::bigint::U256;
use p256::elliptic_curve::ops::Reduce;
use p256::{ProjectivePoint, Scalar};
use zeroize::Zeroizing;

use super::ecqv::{from_projective, from_scalar, to_projective, to_scalar};
use super::{KeyError, PublicPoint, SoftwareKey};

/// What a butterfly key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ButterflyUse {
    /// Signing under a certificate: x begins with zeros.
    Certificate,
    /// Encrypting the certificate on its way to the holder: x begins with ones.
    Encryption,
}

/// f of the j-th key of period i.
fn expansion(key: &[u8; 16], usage: ButterflyUse, i: u32, j: u32) -> Zeroizing<Scalar> {
    let head = if usage == ButterflyUse::Encryption { u32::MAX } else { 0 };
    let x = u128::from(head) << 96 | u128::from(i) << 64 | u128::from(j) << 32;
    let cipher = Aes128::new(key.into());
    let mut octets = Zeroizing::new([0; 48]);
    for (counter, block) in (1..).zip(octets.chunks_exact_mut(16)) {
        let input = x.wrapping_add(counter).to_be_bytes();
        let mut output = input.into();
        cipher.encrypt_block(&mut output);
        block.iter_mut().zip(output).zip(input).for_each(|((to, output), input)| *to = output ^ input);
    }
    // 48 octets modulo the order: the first 16 times 2^256, plus the other 32.
    let (high, low) = octets.split_at(16);
    let mut wide = Zeroizing::new([0; 32]);
    wide[16..].copy_from_slice(high);
    let two_to_128 = Scalar::reduce(&(U256::ONE << 128));
    let high = Scalar::reduce(&U256::from_be_slice(&wide[..]));
    Zeroizing::new(high * two_to_128 * two_to_128 + Scalar::reduce(&U256::from_be_slice(low)))
}

/// The public key that stems from `seed`.
///
/// # Errors
/// [`KeyError::CurveMismatch`] for a seed of another curve, [`KeyError::NotAPoint`] for the one in 2^256 at infinity.
pub fn expand_public(
    seed: &PublicPoint,
    key: &[u8; 16],
    usage: ButterflyUse,
    i: u32,
    j: u32,
) -> Result<PublicPoint, KeyError> {
    let seed = to_projective(seed)?;
    from_projective(&(seed + ProjectivePoint::mul_by_generator(&*expansion(key, usage, i, j))))
}

/// The private key that stems from `seed`.
///
/// # Errors
/// [`KeyError::CurveMismatch`] for a seed of another curve, [`KeyError::InvalidScalar`] for the one in 2^256 that is 0.
pub fn expand_private(
    seed: &SoftwareKey,
    key: &[u8; 16],
    usage: ButterflyUse,
    i: u32,
    j: u32,
) -> Result<SoftwareKey, KeyError> {
    let sum = Zeroizing::new(*to_scalar(seed)? + *expansion(key, usage, i, j));
    from_scalar(&sum)
}
