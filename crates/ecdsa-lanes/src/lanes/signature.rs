//! What of a signature needs no public key: range checks, the two scalars, and the comparison at the end.

use super::field::{Factor, Fe};
use super::input::{Column, LANES};
use super::point::Jacobian;
use super::recode::Digits;
use crate::bignum;
use crate::curve::{Modulus, Weierstrass};

/// Up to eight signatures.
pub(super) struct Signatures<C: Weierstrass> {
    /// Lanes whose numbers are in range.
    pub(super) sound: u8,
    /// Lanes where r plus the order is below the prime, and so may be the x coordinate too.
    r_may_wrap: u8,
    digest: Fe<C::Order>,
    r: Fe<C::Order>,
}

impl<C: Weierstrass> Signatures<C> {
    /// Of digests, r and s. Also returns s in Montgomery's form, one where the lane is idle or refused.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn load<'a>(signatures: impl Iterator<Item = [&'a [u8; 32]; 3]>) -> (Self, Factor<C::Order>) {
        let order = &<C::Order as Modulus>::WORDS;
        let wrap = bignum::subtract(&<C::Field as Modulus>::WORDS, order);
        let mut columns = [Column::ZERO; 3];
        let (mut sound, mut r_may_wrap) = (0, 0);
        for (lane, signature) in signatures.take(LANES).enumerate() {
            let [digest, r, s] = signature.map(bignum::from_be_bytes);
            if bignum::is_scalar(&r, order) && bignum::is_scalar(&s, order) {
                sound |= 1 << lane;
                r_may_wrap |= u8::from(bignum::less(&r, &wrap)) << lane;
                for (column, words) in columns.iter_mut().zip([digest, r, s]) {
                    column.set(lane, &words);
                }
            }
        }
        let [digest, r, s] = &columns;
        let s = Fe::one().factor().select(sound, &s.load::<C::Order>().to_montgomery());
        (Self { sound, r_may_wrap, digest: digest.load(), r: r.load() }, s)
    }

    /// Digits of what multiplies the key and the generator, r / s and digest / s, given 1 / s in Montgomery's form: the
    /// others are integers, and so are the products.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn scalars<const KEY: u32, const GENERATOR: u32>(
        &self,
        s_inverse: &Factor<C::Order>,
    ) -> (Digits<C::Order, KEY>, Digits<C::Order, GENERATOR>) {
        let key = Digits::new(&self.r.times(s_inverse).canonical());
        (key, Digits::new(&self.digest.times(s_inverse).canonical()))
    }

    /// Writes the verdict of each lane that is sound and among `sound`: whether the sum's x coordinate is r modulo the
    /// order, or what `decide` says where the formulas did not cover the lane.
    #[target_feature(enable = "avx512ifma")]
    pub(super) fn judge<J>(
        &self,
        sound: u8,
        sum: &Jacobian<C>,
        jobs: &[J],
        results: &mut [bool],
        decide: impl Fn(&J) -> bool,
    ) {
        let (valid, unclear) = (self.accept(sum), sum.z.clean().acc().zero_mask());
        for (lane, (job, result)) in jobs.iter().zip(results).enumerate() {
            let has = |mask: u8| mask >> lane & 1 == 1;
            *result = has(sound & self.sound) && if has(unclear) { decide(job) } else { has(valid) };
        }
    }

    /// Lanes where the sum's x coordinate is r modulo the order.
    #[target_feature(enable = "avx512ifma")]
    fn accept(&self, sum: &Jacobian<C>) -> u8 {
        let z_squared = sum.z.square();
        let equals = |x: Fe<C::Field>| {
            let mut x = x.to_montgomery();
            if let Some(twist) = C::TWIST {
                x = x.mul(&Fe::splat(&twist.x));
            }
            x.times(&z_squared).minus(&sum.x.acc()).plus_primes::<2>().zero_mask()
        };
        let r = Fe::<C::Field>::from_limbs(*self.r.limbs());
        let mut valid = equals(r);
        if self.r_may_wrap != 0 {
            let order = Fe::splat(&<C::Order as Modulus>::WORDS);
            valid |= equals(r.acc().plus(&order.acc()).carry()) & self.r_may_wrap;
        }
        valid
    }
}
