//! Many signatures checked as one equation.
//!
//! With random numbers z of 128 bits, `sum of z (S G + h A - R) = 0` holds for valid signatures, and for others with a
//! chance of 2^-128. The sum is multiplied by the cofactor 392 at its end: the endomorphisms act on parts of small order
//! otherwise than the numbers they stand for, and there these parts vanish, whatever has become of them.
//!
//! Source: Bernstein, Duif, Lange, Schwabe, Yang, "High-speed high-security signatures", CHES 2011, section 5; on what
//! differs from single verification: Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", SSR 2020.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::accumulator::{Accumulator, Program};
use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::double_base::{BaseDigits, WindowDigits, signed};
use crate::error::Error;
use crate::field::{Field, with_field};
use crate::point::{Affine, Extended};
use crate::scalar::Scalar;
use crate::schnorrq::{Signature, VerifyingKey, challenge};
use crate::table::{CachedWords, Table};
use crate::variable_base::table;

/// Signatures in one equation: their tables lie on the stack, 2.3 KiB each.
const CHUNK_LEN: usize = 16;
/// Digits of a 128-bit number.
const COMMITMENT_COLUMNS: usize = 129;
/// Odd multiples of a commitment.
const COMMITMENT_ENTRIES: usize = 8;
/// Width of the commitments' windows `[bit]`.
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
    commitment_digits: WindowDigits<COMMITMENT_COLUMNS>,
    commitment_table: [CachedWords; COMMITMENT_ENTRIES],
    key_digits: Digits,
    key_table: Table<16, 8>,
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
        with_field!(field => verify_chunk_vartime(chunk, &mut rng, field))?;
    }
    Ok(())
}

fn verify_chunk_vartime<F: Field>(items: &[BatchItem<'_>], rng: &mut ChaCha20Rng, field: F) -> Result<(), Error> {
    let mut generator_factor = Scalar::ZERO;
    let mut terms: [Option<Term>; CHUNK_LEN] = [const { None }; CHUNK_LEN];
    for (item, term) in items.iter().zip(&mut terms) {
        let response = item.signature.response_vartime()?;
        let commitment = Affine::decode_vartime(&item.signature.commitment, field).map_err(Error::Commitment)?;
        let challenge = challenge(&item.signature.commitment, &item.key.bytes, item.message);
        let z = u128::from(rng.next_u64()) | u128::from(rng.next_u64()) << 64;
        let factor = Scalar::from_u128(z);
        generator_factor = generator_factor.add(&factor.mul(&response));
        // Negative commitments, so that all terms are added.
        let negative = Affine { x: commitment.x.neg(), y: commitment.y };
        *term = Some(Term {
            commitment_digits: WindowDigits::new(z, COMMITMENT_WIDTH),
            commitment_table: odd_multiples(&negative.to_extended(), field),
            key_digits: Digits::recode(decompose(factor.mul(&challenge).words())),
            key_table: table(&item.key.point, field),
        });
    }
    let equation = Equation { terms: &terms, base: &BaseDigits::new(&generator_factor) };
    let sum = field.sum(&Extended::IDENTITY, equation);
    if sum.clear_cofactor(field).is_identity().into() { Ok(()) } else { Err(Error::Signature) }
}

/// The left side of the equation.
struct Equation<'a> {
    terms: &'a [Option<Term>],
    base: &'a BaseDigits,
}

impl Program for Equation<'_> {
    #[inline(always)]
    fn run<A: Accumulator>(self, sum: &mut A) {
        for column in (0..COMMITMENT_COLUMNS).rev() {
            sum.double();
            for term in self.terms.iter().flatten() {
                if let Some((index, negative)) = term.commitment_digits.at(column) {
                    sum.add(&signed(&term.commitment_table[index], negative));
                }
                if column < COLUMNS {
                    let (negative, index) = term.key_digits.column(column);
                    sum.add(&signed(&term.key_table.0[index as usize], negative));
                }
            }
            if column < COLUMNS {
                self.base.add_column(sum, column);
            }
        }
    }
}

/// P, 3P, 5P, ...
fn odd_multiples<F: Field>(point: &Extended, field: F) -> [CachedWords; COMMITMENT_ENTRIES] {
    let mut twice = *point;
    twice.double(field);
    let twice = twice.to_sum(field);
    let mut multiple = point.to_cached(field);
    core::array::from_fn(|i| {
        if i > 0 {
            multiple = twice.add(&multiple, field).to_cached(field);
        }
        multiple.to_words()
    })
}
