//! Every operation against that of `BigRational`, with terms around all limits of this crate's own form.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use chronoseal_rational::{NotAnInteger, Rational};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Pow, Signed, ToPrimitive, Zero};
use proptest::prelude::*;

/// Whole numbers of every length, more of them near the limits of 64 and 128 bits and around zero.
fn term() -> impl Strategy<Value = i128> {
    let near = |limit: i128| (-3_i128..=3).prop_map(move |apart| limit.saturating_add(apart));
    prop_oneof![
        4 => -20_i128..=20,
        2 => (0_u32..127, any::<i128>()).prop_map(|(shift, bits)| bits >> shift),
        1 => near(i128::MAX),
        1 => near(i128::MIN),
        1 => near(i128::from(i64::MAX)),
        1 => near(i128::from(i64::MIN)),
        1 => near(i128::from(u64::MAX)),
        1 => near(i128::MAX / 2),
        // Many common factors.
        1 => (0_u32..60, 0_u32..20, 0_u32..8).prop_map(|(a, b, c)| (1_i128 << a) * 3_i128.pow(b) * 7_i128.pow(c)),
        1 => (0_u32..38).prop_map(|digits| 10_i128.pow(digits)),
    ]
}

/// One in eight is longer than this crate's own form.
fn number() -> impl Strategy<Value = BigRational> {
    let denominator = || term().prop_filter("not zero", |term| *term != 0);
    let fraction = (term(), denominator()).prop_map(|(a, b)| BigRational::new(a.into(), b.into()));
    let long = (term(), term(), denominator(), denominator())
        .prop_map(|(a, b, c, d)| BigRational::new(BigInt::from(a) * b, BigInt::from(c) * d));
    prop_oneof![7 => fraction, 1 => long]
}

fn ours(number: &BigRational) -> Rational {
    number.clone().into()
}

fn big(number: Rational) -> BigRational {
    number.into()
}

fn hash(number: &Rational) -> u64 {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

/// What came of an operation is the number, and has the form that every other way to it gives.
fn is(found: Rational, expected: &BigRational) -> Result<(), TestCaseError> {
    let direct = ours(expected);
    prop_assert_eq!(&found, &direct);
    prop_assert_eq!(hash(&found), hash(&direct));
    prop_assert_eq!(found.cmp(&direct), std::cmp::Ordering::Equal);
    prop_assert_eq!(&big(found), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_sum_and_a_difference_are_exact(a in number(), b in number()) {
        let (x, y) = (ours(&a), ours(&b));
        is(&x + &y, &(&a + &b))?;
        is(x.clone() + &y, &(&a + &b))?;
        is(&x - &y, &(&a - &b))?;
        is(&x - y.clone(), &(&a - &b))?;
        let mut both = x.clone();
        both += &y;
        both -= x;
        is(both, &b)?;
        is([&a, &b, &a].map(ours).iter().sum(), &(&a + &b + &a))?;
        is([&a, &b].map(ours).into_iter().sum(), &(&a + &b))?;
    }

    #[test]
    fn a_product_and_a_quotient_are_exact(a in number(), b in number()) {
        let (x, y) = (ours(&a), ours(&b));
        is(&x * &y, &(&a * &b))?;
        is(x.clone() * y.clone(), &(&a * &b))?;
        if !b.is_zero() {
            is(&x / &y, &(&a / &b))?;
            let mut back = x;
            back *= &y;
            back /= y;
            is(back, &a)?;
        }
    }

    #[test]
    fn a_sum_of_multiples_of_one_unit_is_exact(a in term(), b in term(), c in term(), unit in number()) {
        let of = |term: i128| (&unit * BigRational::from_integer(term.into()), ours(&unit) * Rational::from(term));
        let ((a, x), (b, y), (c, z)) = (of(a), of(b), of(c));
        is(x + y - z, &(a + b - c))?;
    }

    #[test]
    fn order_is_that_of_the_numbers(a in number(), b in number(), apart in term()) {
        prop_assert_eq!(ours(&a).cmp(&ours(&b)), a.cmp(&b));
        prop_assert_eq!(ours(&a) == ours(&b), a == b);
        prop_assert_eq!(hash(&ours(&a)) == hash(&ours(&b)), a == b);
        // A neighbour, which only the last bits tell from it.
        if apart != 0 {
            let near = &a + BigRational::new(1.into(), apart.into());
            prop_assert_eq!(ours(&a).cmp(&ours(&near)), a.cmp(&near));
        }
    }

    #[test]
    fn of_one_number_the_rest_agrees_too(a in number(), power in -5_i32..=5) {
        let x = ours(&a);
        is(x.floor(), &a.floor())?;
        is(x.ceil(), &a.ceil())?;
        is(-&x, &-&a)?;
        is(-x.clone(), &-&a)?;
        if !a.is_zero() || power >= 0 {
            is(x.pow(power), &Pow::pow(&a, power))?;
        }
        prop_assert_eq!(x.is_zero(), a.is_zero());
        prop_assert_eq!(x.is_positive(), a.is_positive());
        prop_assert_eq!(x.is_negative(), a.is_negative());
        prop_assert_eq!(x.to_f64().to_bits(), a.to_f64().unwrap_or(f64::NAN).to_bits());
        prop_assert_eq!(x.to_string(), a.to_string());
        prop_assert_eq!(x.to_string().parse(), Ok(x.clone()));
        let whole = a.is_integer().then(|| a.to_integer());
        prop_assert_eq!(i128::try_from(x.clone()).ok(), whole.as_ref().and_then(BigInt::to_i128));
        prop_assert_eq!(i64::try_from(x.clone()).ok(), whole.as_ref().and_then(BigInt::to_i64));
        prop_assert_eq!(u64::try_from(x).ok(), whole.as_ref().and_then(BigInt::to_u64));
    }

    #[test]
    fn any_terms_become_the_lowest(a in term(), b in term()) {
        if b != 0 {
            is(Rational::new(a, b), &BigRational::new(a.into(), b.into()))?;
        }
        is(Rational::from(a), &BigRational::from_integer(a.into()))?;
        is(Rational::from(a as i64), &BigRational::from_integer((a as i64).into()))?;
    }
}

#[test]
fn terms_at_the_limits_are_exact() {
    let terms =
        [i128::MIN, i128::MIN + 1, -1, 1, 2, 3, i128::MAX - 1, i128::MAX, 1 << 64, (1 << 64) - 1, i64::MIN.into()];
    let fractions = terms.iter().flat_map(|a| terms.map(|b| (*a, b)));
    let all: Vec<BigRational> = fractions.map(|(a, b)| BigRational::new(a.into(), b.into())).collect();
    for a in &all {
        for b in &all {
            let (x, y) = (ours(a), ours(b));
            assert_eq!(big(&x + &y), a + b, "{a} + {b}");
            assert_eq!(big(&x - &y), a - b, "{a} - {b}");
            assert_eq!(big(&x * &y), a * b, "{a} * {b}");
            assert_eq!(big(&x / &y), a / b, "{a} / {b}");
            assert_eq!(x.cmp(&y), a.cmp(b), "{a} and {b}");
            assert_eq!(x.clone() + &y - &y, x, "{a} and back over {b}");
        }
    }
}

#[test]
fn a_number_takes_32_bytes() {
    assert_eq!(size_of::<Rational>(), 32);
}

#[test]
fn what_is_no_number_is_refused() {
    for text in ["", "1/0", "one", "1.5", "1/2/3", "/2"] {
        assert!(text.parse::<Rational>().is_err(), "{text}");
    }
    assert_eq!(i64::try_from(Rational::new(1, 2)), Err(NotAnInteger));
    assert_eq!(i64::try_from(Rational::from(i128::from(i64::MAX) + 1)), Err(NotAnInteger));
    assert_eq!(u64::try_from(Rational::from(-1_i64)), Err(NotAnInteger));
    assert_eq!(i128::try_from(Rational::from(i128::MIN)), Ok(i128::MIN));
}

#[test]
#[should_panic(expected = "divided by zero")]
fn nothing_is_divided_by_zero() {
    let _ = Rational::from(1_i64) / Rational::zero();
}

#[test]
#[should_panic(expected = "not zero")]
fn a_denominator_of_zero_is_refused() {
    let _ = Rational::new(1, 0);
}
