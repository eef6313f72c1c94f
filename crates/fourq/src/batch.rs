//! Many signatures checked as one equation.
//!
//! With random numbers z of 128 bits, `sum of z (S G + h A - R) = 0` holds for valid signatures, and for others with a
//! chance of 2^-128. The equation is multiplied by the cofactor 392, which the endomorphisms need.
//!
//! Source: Bernstein, Duif, Lange, Schwabe, Yang, "High-speed high-security signatures", CHES 2011, section 5; on what
//! differs from single verification: Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", SSR 2020.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::decomposition::decompose;
use crate::double_base::{BASE_WIDTH, DIGITS, POINT_ENTRIES, POINT_WIDTH, WindowDigits, odd_multiples, point_tables};
use crate::error::Error;
use crate::generated::windows::WINDOWS;
use crate::point::{Affine, Cached, CachedAffine, Extended};
use crate::scalar::Scalar;
use crate::schnorrq::{Signature, VerifyingKey, challenge};

/// Signatures in one equation: their tables lie on the stack, 3.3 KiB each.
const CHUNK_LEN: usize = 16;
/// Digits of a 128-bit number.
const COMMITMENT_DIGITS: usize = 130;
/// Odd multiples of a commitment.
const COMMITMENT_ENTRIES: usize = 8;
/// Width of the commitments' windows [bit].
const COMMITMENT_WIDTH: u32 = 5;

/// What is to be verified: who is said to have signed what, and the signature.
#[derive(Clone, Copy, Debug)]
pub struct BatchItem<'a> {
    /// The key.
    pub key: &'a VerifyingKey,
    /// The message.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a Signature,
}

/// One signature's share of the equation.
struct Term {
    commitment_digits: WindowDigits<COMMITMENT_DIGITS>,
    commitment_table: [Cached; COMMITMENT_ENTRIES],
    key_digits: [WindowDigits; 4],
    key_tables: [[Cached; POINT_ENTRIES]; 4],
}

/// Whether every signature verifies, in less time than one by one. Variable time.
///
/// `seed` must be new for each call and unknown to the signers.
///
/// A signer can make signatures that pass here and fail [`VerifyingKey::verify`], by adding a point of small order to the
/// commitment or having one in the key; nobody else can. An empty batch verifies.
///
/// # Errors
/// [`Error::ScalarRange`] or [`Error::Commitment`] for the first signature that cannot be one, [`Error::Signature`] if
/// at least one does not verify: verify one by one to learn which.
pub fn verify_batch_vartime(items: &[BatchItem<'_>], seed: [u8; 32]) -> Result<(), Error> {
    let mut rng = ChaCha20Rng::from_seed(seed);
    for chunk in items.chunks(CHUNK_LEN) {
        verify_chunk_vartime(chunk, &mut rng)?;
    }
    Ok(())
}

fn verify_chunk_vartime(items: &[BatchItem<'_>], rng: &mut ChaCha20Rng) -> Result<(), Error> {
    let mut generator_factor = Scalar::ZERO;
    let mut terms: [Option<Term>; CHUNK_LEN] = [const { None }; CHUNK_LEN];
    for (item, term) in items.iter().zip(&mut terms) {
        let response = item.signature.response_vartime()?;
        let commitment = Affine::decode_vartime(&item.signature.commitment).map_err(Error::Commitment)?;
        let challenge = challenge(&item.signature.commitment, &item.key.bytes, item.message);
        let z = u128::from(rng.next_u64()) | u128::from(rng.next_u64()) << 64;
        let factor = Scalar::from_u128(z);
        generator_factor = generator_factor.add(&factor.mul(&response));
        // Negative commitments, so that all terms are added.
        let negative = Affine { x: commitment.x.neg(), y: commitment.y };
        *term = Some(Term {
            commitment_digits: WindowDigits::of_u128(z, COMMITMENT_WIDTH),
            commitment_table: odd_multiples(&negative.to_extended().clear_cofactor()),
            key_digits: decompose(factor.mul(&challenge).words()).map(|part| WindowDigits::new(part, POINT_WIDTH)),
            key_tables: point_tables(&item.key.cleared),
        });
    }
    let generator_factor = generator_factor.mul(&Scalar::from_u128(392));
    let generator_digits = decompose(generator_factor.words()).map(|part| WindowDigits::new(part, BASE_WIDTH));

    let mut sum = Extended::IDENTITY;
    for place in (0..COMMITMENT_DIGITS).rev() {
        sum = sum.double();
        for term in terms.iter().flatten() {
            add_digit(&mut sum, &term.commitment_digits, &term.commitment_table, place);
            if place < DIGITS {
                for (digits, table) in term.key_digits.iter().zip(&term.key_tables) {
                    add_digit(&mut sum, digits, table, place);
                }
            }
        }
        if place < DIGITS {
            for (digits, table) in generator_digits.iter().zip(&WINDOWS) {
                if let Some((index, negative)) = digits.at(place) {
                    let entry = CachedAffine::from_words(&table[index]);
                    sum = sum.add_affine(&if negative { entry.neg() } else { entry });
                }
            }
        }
    }
    if sum.is_identity().into() { Ok(()) } else { Err(Error::Signature) }
}

fn add_digit<const LEN: usize>(sum: &mut Extended, digits: &WindowDigits<LEN>, table: &[Cached], place: usize) {
    if let Some((index, negative)) = digits.at(place) {
        let entry = &table[index];
        *sum = sum.add(&if negative { entry.neg() } else { *entry });
    }
}
