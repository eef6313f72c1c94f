//! Values of draft-ladd-cfrg-4q's reference implementation (github.com/bifurcation/fourq, impl/curve4q.py), which are
//! also those of FourQlib's tests/ecc_tests.c.

use crate::decomposition::{COLUMNS, Digits, decompose};
use crate::endomorphism::{phi, psi};
use crate::field::Field;
use crate::fixed_base::multiply_generator;
use crate::fp2::Fp2;
use crate::point::{Affine, Extended};
use crate::scalar::Scalar;
use crate::tests::{sum, with_each_field};
use crate::variable_base::multiply;

const ROUNDS: usize = 1000;

fn generator() -> Extended {
    Affine::GENERATOR.to_extended()
}

fn point(x: (u128, u128), y: (u128, u128)) -> Affine {
    Affine { x: Fp2::new(x.0, x.1), y: Fp2::new(y.0, y.1) }
}

fn thousand_doublings() -> Affine {
    point(
        (0x2C3FD8822C82270FC9099C54855859D6, 0x4DA5B9E83AA7A1B2A7B3F6E2043E8E68),
        (0x2001EB3A576883963EE089F0EB49AA14, 0x0FFDB0D761421F501FEE5617A7E954CD),
    )
}

#[test]
fn generator_is_on_the_curve() {
    assert!(bool::from(Affine::GENERATOR.is_on_curve()));
    assert!(bool::from(Affine::IDENTITY.is_on_curve()));
}

#[test]
fn thousand_doublings_of_the_generator() {
    fn run<F: Field>(field: F) {
        let mut multiple = generator();
        multiple.double_times(ROUNDS as u32, field);
        assert_eq!(multiple.to_affine(field), thousand_doublings());
    }
    with_each_field!(run);
}

#[test]
fn thousand_additions_of_a_point_to_itself() {
    fn run<F: Field>(field: F) {
        let multiple = (0..ROUNDS).fold(generator(), |multiple, _| sum(&multiple, &multiple.to_cached(field), field));
        assert_eq!(multiple.to_affine(field), thousand_doublings());
    }
    with_each_field!(run);
}

#[test]
fn thousand_additions_of_the_generator() {
    fn run<F: Field>(field: F) {
        let expected = point(
            (0x3E243958590C4D906480B1EF0A151DB0, 0x5327AF7D84238CD0AA270F644A65D473),
            (0x3EF69A49CB7E02375E06003D73C43EB1, 0x293EB1E26DD23B4E4E752648AC2EF0AB),
        );
        let (cached, affine) = (generator().to_cached(field), Affine::GENERATOR.to_cached());
        let mut multiple = generator();
        multiple.double(field);
        let mut other = multiple;
        for _ in 0..ROUNDS {
            multiple.add(&cached, field);
            other.add_affine(&affine, field);
        }
        assert_eq!(multiple.to_affine(field), expected);
        assert_eq!(other.to_affine(field), expected);
    }
    with_each_field!(run);
}

#[test]
fn identity_is_neutral_on_both_sides() {
    fn run<F: Field>(field: F) {
        let mut on_the_left = generator();
        on_the_left.add(&Extended::IDENTITY.to_cached(field), field);
        assert_eq!(on_the_left, generator());
        let mut on_the_right = Extended::IDENTITY;
        on_the_right.add(&generator().to_cached(field), field);
        assert_eq!(on_the_right, generator());
    }
    with_each_field!(run);
}

#[test]
fn thousand_times_phi() {
    fn run<F: Field>(field: F) {
        let image = (0..ROUNDS).fold(generator(), |point, _| phi(&point, field));
        let expected = point(
            (0x5550AAB9E7A620EED5B5A3061287DB16, 0x3E61EBB9A1CB0210EC321E6CF33610FC),
            (0x5474BF8EC55603AE7E2851D5A8E83FB9, 0x5476093DBF8BF6BFA5077613491788D5),
        );
        assert_eq!(image.to_affine(field), expected);
    }
    with_each_field!(run);
}

#[test]
fn thousand_times_psi() {
    fn run<F: Field>(field: F) {
        let image = (0..ROUNDS).fold(generator(), |point, _| psi(&point, field));
        let expected = point(
            (0x75AF54EDB41A2B93D8F3C8C24A2BC7E2, 0x065249F9EDE0C7984DE2466701F009A9),
            (0x06DBB85BFFB7C21E1C6E119ADD608104, 0x060A30903424BF13FD234D6C4CFA3EC1),
        );
        assert_eq!(image.to_affine(field), expected);
    }
    with_each_field!(run);
}

#[test]
fn thousand_scalar_multiplications() {
    fn run<F: Field>(field: F) {
        let mut scalar = [0x3AD457AB55456230, 0x3A8B3C2C6FD86E0C, 0x7E38F7C9CFBB9166, 0x0028FD6CBDA458F0u64];
        let mut sum = generator();
        for _ in 0..ROUNDS {
            scalar[1] = scalar[2];
            scalar[2] = scalar[2].wrapping_add(scalar[0]);
            sum = multiply(&scalar, &sum, field);
            sum = sum.to_affine(field).to_extended();
        }
        let expected = point(
            (0x257C122BBFC94A1BDFD2B477BD494BEF, 0x469BF80CB5B11F01769593547237C459),
            (0x0901B3817C0E936C281C5067996F3344, 0x570B948EACACE2104FE8C429915F1245),
        );
        assert_eq!(sum.to_affine(field), expected);
    }
    with_each_field!(run);
}

#[test]
fn decompositions() {
    let cases: [([u64; 4], [u64; 4]); 5] = [
        (
            [0xfed8c8822ad9f1a7, 0x47b3e28c55984d43, 0x052d112f54981117, 0x92990788d66bf558],
            [0xa8ea3f673f711e51, 0xa08d1eae0b9e071d, 0x55c8df690050276f, 0x6396739dda88830f],
        ),
        (
            [0xe5230df341623348, 0x4b0c61edc8d1305f, 0xa214b88481393502, 0x48e5ca2a675ab49c],
            [0xa53ec4631945b875, 0x521c0ba1261c1934, 0x5c50ce912909185c, 0x93b3c70960b44bad],
        ),
        (
            [0xe58a15c4b0f1c5e9, 0x05a1e8f7f6394d9b, 0xe4d9f3d5a5edfed3, 0xae20e251c36cfa5b],
            [0xa621ada9b3499c9f, 0x7cd17e0095e7aae6, 0x6e8d23b5bd10bb43, 0x7f18c69f3025234c],
        ),
        (
            [0x34ff616d9806e10c, 0xb7e95036fd191ea1, 0x2cc00f1e3ac38f81, 0xb2c950abc87a5544],
            [0x9b30a872ebea83af, 0x8f6c73350447c9c3, 0x72fdc76e3456d087, 0x6ba39ba159b0c13d],
        ),
        (
            [0xdd4f4ce2b5f6b2de, 0x61f21fcebd67889f, 0x62340e9797788e00, 0x8e2958a1475ed707],
            [0xbe8f3583a0934333, 0xab45bf6d1bf80b37, 0x4a19fc5cffe97809, 0x5ea3baf1a1206442],
        ),
    ];
    for (scalar, expected) in cases {
        assert_eq!(decompose(&scalar), expected, "{scalar:x?}");
    }
}

#[test]
fn digits_add_up_to_the_decomposition() {
    let mut scalar = [1u64, 2, 3, 4];
    for _ in 0..ROUNDS {
        scalar = scalar.map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0x5851_f42d_4c95_7f2d);
        let parts = decompose(&scalar);
        let digits = Digits::recode(parts);
        let mut sums = [0i128; 4];
        for column in (0..COLUMNS).rev() {
            let (negative, index) = digits.column(column);
            let sign = if negative == 0 { 1 } else { -1 };
            let bits = [1, index & 1, index >> 1 & 1, index >> 2 & 1];
            sums = std::array::from_fn(|i| 2 * sums[i] + sign * i128::from(bits[i]));
        }
        assert_eq!(sums, parts.map(i128::from));
    }
}

#[test]
fn comb_agrees_with_four_dimensions() {
    fn run<F: Field>(field: F) {
        let agree = |scalar: &Scalar, case: &str| {
            let comb = multiply_generator(scalar, field).to_affine(field);
            assert_eq!(comb, multiply(scalar.words(), &generator(), field).to_affine(field), "{case}");
        };
        let mut bytes = [7u8; 32];
        for round in 0..ROUNDS as u32 {
            bytes[round as usize % 32] ^= (round.wrapping_mul(2_654_435_761) >> 24) as u8;
            agree(&Scalar::from_bytes_mod_order(&bytes), "random");
        }
        for small in 0..40 {
            let scalar = Scalar::from_u128(small);
            agree(&scalar, &format!("{small}"));
            agree(&scalar.neg(), &format!("-{small}"));
        }
    }
    with_each_field!(run);
}
