//! Multiples of points, and points that are none.

use p256::ProjectivePoint;
use p256::elliptic_curve::Group;

use crate::device::{Device, Number, request, status};
use crate::reference::{N, P, any_number, base, coordinates, inverse, near, number, random, scalar, small};

/// Most cycles of a multiple of G, of any other, and of two together.
const BASE_CYCLES_MAX: u64 = 150_000;
const POINT_CYCLES_MAX: u64 = 290_000;

/// Scalars with something special about them, none of them 0 mod n, and random ones.
fn scalars(seed: u64) -> Vec<Number> {
    let n = number(N);
    let powers = [0, 1, 63, 64, 127, 128, 129, 191, 192, 255].map(|bit| {
        let mut power = [0; 32];
        power[31 - bit / 8] = 1 << (bit % 8);
        power
    });
    let mut scalars = powers.to_vec();
    scalars.extend(powers.map(|power| near(power, -1)).into_iter().filter(|scalar| *scalar != [0; 32]));
    scalars.extend([-2, -1, 1, 2].map(|difference| near(n, difference)));
    scalars.extend([small(3), number(P), near(number(P), 1), [0xff; 32]]);
    let mut random = random(seed);
    scalars.extend(std::iter::repeat_with(|| any_number(&mut random)).take(20));
    scalars
}

/// What is no point, and why.
fn refused_points() -> Vec<(Vec<u8>, u8)> {
    let good = coordinates(&base(&small(2)));
    let (x, y) = good.split_at(32);
    let p = number(P);
    // (0, sqrt b) is a point, so (p, sqrt b) satisfies the equation and is refused for its range alone.
    let root_of_b = number("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
    vec![
        ([&p[..], y].concat(), status::COORDINATE_OUT_OF_RANGE),
        ([x, &p[..]].concat(), status::COORDINATE_OUT_OF_RANGE),
        ([&p[..], &root_of_b].concat(), status::COORDINATE_OUT_OF_RANGE),
        ([&[0xff; 32], y].concat(), status::COORDINATE_OUT_OF_RANGE),
        ([x, &[0xff; 32]].concat(), status::COORDINATE_OUT_OF_RANGE),
        (vec![0; 64], status::NOT_ON_CURVE),
        ([&near(p, -1)[..], y].concat(), status::NOT_ON_CURVE),
        ([y, x].concat(), status::NOT_ON_CURVE),
        ([x, &near(y.try_into().unwrap(), 1)].concat(), status::NOT_ON_CURVE),
        ([&near(x.try_into().unwrap(), 1), y].concat(), status::NOT_ON_CURVE),
    ]
}

#[test]
#[ignore = "needs the simulator"]
fn multiples_of_the_base_point_agree_with_p256() {
    let mut device = Device::start();
    for k in scalars(10) {
        assert_eq!(device.result(request::MULTIPLY_BASE, &[&k]), coordinates(&base(&k)), "{k:02x?}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn multiples_of_any_point_agree_with_p256() {
    let (mut device, mut random) = (Device::start(), random(11));
    for k in scalars(12) {
        let point = base(&any_number(&mut random));
        let product = device.result(request::MULTIPLY_POINT, &[&k, &coordinates(&point)]);
        assert_eq!(product, coordinates(&(point * scalar(&k))), "{k:02x?}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn sums_of_two_multiples_agree_with_p256() {
    let (mut device, mut random) = (Device::start(), random(13));
    let mut cases = vec![];
    for _ in 0..20 {
        cases.push([any_number(&mut random), any_number(&mut random), any_number(&mut random)]);
    }
    // The other point is G, -G, 2 G, -2 G; one scalar is 0; scalars are equal.
    let n = number(N);
    for d in [small(1), near(n, -1), small(2), near(n, -2)] {
        let (a, b) = (any_number(&mut random), any_number(&mut random));
        cases.extend([
            [a, b, d],
            [a, a, d],
            [a, [0; 32], d],
            [n, b, d],
            [small(1), small(1), d],
            [small(2), small(1), d],
        ]);
    }
    for [u1, u2, d] in cases {
        let q = base(&d);
        let sum = base(&u1) + q * scalar(&u2);
        let answer = device.ask(request::MULTIPLY_DUAL, &[&u1, &u2, &coordinates(&q)]);
        if bool::from(sum.is_identity()) {
            assert_eq!(answer.status, status::INFINITY);
        } else {
            assert_eq!((answer.status, answer.result), (status::OK, coordinates(&sum)), "{u1:02x?} {u2:02x?} {d:02x?}");
        }
    }
}

#[test]
#[ignore = "needs the simulator"]
fn says_when_a_result_is_at_infinity() {
    let (mut device, mut random) = (Device::start(), random(14));
    let d = any_number(&mut random);
    let q = coordinates(&base(&d));
    for k in [[0; 32], number(N)] {
        assert_eq!(device.status(request::MULTIPLY_BASE, &[&k]), status::INFINITY);
        assert_eq!(device.status(request::MULTIPLY_POINT, &[&k, &q]), status::INFINITY);
    }
    // 1 G + u2 Q = 0 for u2 = -1 / d.
    let u2: Number = (-scalar(&inverse(&d))).to_bytes().into();
    assert_eq!(device.status(request::MULTIPLY_DUAL, &[&small(1), &u2, &q]), status::INFINITY);
    assert_eq!(device.status(request::MULTIPLY_DUAL, &[&[0; 32], &[0; 32], &q]), status::INFINITY);
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_what_is_no_point_wherever_one_is_taken() {
    let mut device = Device::start();
    let k = small(5);
    let slot = [60];
    assert_eq!(device.status(request::IMPORT, &[&slot, &k]), status::OK);
    for (point, reason) in refused_points() {
        assert_eq!(device.status(request::CHECK, &[&point]), reason, "{point:02x?}");
        assert_eq!(device.status(request::MULTIPLY_POINT, &[&k, &point]), reason);
        assert_eq!(device.status(request::MULTIPLY_DUAL, &[&k, &k, &point]), reason);
        assert_eq!(device.status(request::AGREE, &[&slot, &point]), reason);
        assert_eq!(device.status(request::VERIFY, &[&k, &k, &k, &point]), reason);
    }
}

#[test]
#[ignore = "needs the simulator"]
fn takes_points_at_the_ends_of_their_range() {
    let mut device = Device::start();
    // x = 0, and both of its y.
    let root_of_b = number("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
    let other_root = crate::reference::sub_mod([0; 32], root_of_b, number(P));
    for y in [root_of_b, other_root] {
        assert_eq!(device.status(request::CHECK, &[&[0; 32], &y]), status::OK);
    }
    for k in scalars(15) {
        assert_eq!(device.status(request::CHECK, &[&coordinates(&base(&k))]), status::OK);
    }
}

#[test]
#[ignore = "needs the simulator"]
fn a_multiple_takes_one_time_whatever_the_scalar() {
    let mut device = Device::start();
    let q = coordinates(&ProjectivePoint::GENERATOR);
    let mut cycles = vec![];
    for k in scalars(16) {
        let base = device.ask(request::MULTIPLY_BASE, &[&k]).cycles;
        let point = device.ask(request::MULTIPLY_POINT, &[&k, &q]).cycles;
        let dual = device.ask(request::MULTIPLY_DUAL, &[&small(0), &k, &q]).cycles;
        cycles.push((base, point, dual));
    }
    cycles.dedup();
    let [(base, point, dual)] = cycles[..] else { panic!("{cycles:?}") };
    assert!(base <= BASE_CYCLES_MAX, "{base}");
    assert!(point <= POINT_CYCLES_MAX && dual <= POINT_CYCLES_MAX, "{point} {dual}");
}
