use chronoseal_ecdsa_lanes::{CompressedPoint, Engine};

use crate::samples::{CURVES, bytes, public, random, secret};

#[test]
fn recovers_y_of_public_keys() {
    for curve in CURVES {
        let mut random = random(20);
        let keys: Vec<_> = (0..19).map(|_| public(curve, &secret(&mut random))).collect();
        let points: Vec<_> = keys.iter().map(|[x, y]| CompressedPoint { curve, x, y_is_odd: y[31] & 1 == 1 }).collect();
        for engine in Engine::available() {
            let mut ys = vec![None; points.len()];
            engine.decompress_batch(&points, &mut ys);
            let expected: Vec<_> = keys.iter().map(|[_, y]| Some(*y)).collect();
            assert_eq!(ys, expected, "{engine:?} {curve:?}");
        }
    }
}

#[test]
fn agrees_with_the_scalar_code_on_any_x() {
    for curve in CURVES {
        let mut random = random(21);
        let mut xs: Vec<_> = (0..200).map(|_| bytes(&mut random)).collect();
        xs.extend([[0; 32], [0xff; 32]]);
        let points: Vec<_> =
            (xs.iter().enumerate()).map(|(at, x)| CompressedPoint { curve, x, y_is_odd: at % 2 == 0 }).collect();
        let mut expected = vec![None; points.len()];
        Engine::Scalar.decompress_batch(&points, &mut expected);
        let count = expected.iter().flatten().count();
        assert!((40..160).contains(&count), "half of all x have a point, {count} here");
        for engine in Engine::available() {
            let mut ys = vec![None; points.len()];
            engine.decompress_batch(&points, &mut ys);
            assert_eq!(ys, expected, "{engine:?} {curve:?}");
        }
    }
}
