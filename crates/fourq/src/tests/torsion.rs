//! Points whose order divides the cofactor 392 = 2^3 * 7^2.

use crate::ecdh::PublicKey;
use crate::error::Error;
use crate::field::Portable;
use crate::point::{Affine, Extended};
use crate::scalar::N;
use crate::schnorrq::VerifyingKey;
use crate::tests::sum;

/// `k` times `point` by doubling and adding, which holds for points of any order.
fn times(k: &[u64; 4], point: &Extended) -> Extended {
    let cached = point.to_cached(Portable);
    let mut sum = Extended::IDENTITY;
    for bit in (0..256).rev() {
        sum.double(Portable);
        if k[bit / 64] >> (bit % 64) & 1 == 1 {
            sum.add(&cached, Portable);
        }
    }
    sum
}

fn small(k: u64, point: &Extended) -> Extended {
    times(&[k, 0, 0, 0], point)
}

/// All 392 of them: N times other points, and their sums.
pub(super) fn torsion() -> Vec<Affine> {
    let mut group = vec![Affine::IDENTITY];
    for y in 2..100 {
        let mut bytes = [0; 32];
        (bytes[0], bytes[16]) = (y, 3);
        let Ok(point) = Affine::decode_vartime(&bytes, Portable) else { continue };
        let step = times(&N, &point.to_extended());
        if group.contains(&step.to_affine(Portable)) {
            continue;
        }
        let known = group.clone();
        for multiple in (1..392).map(|k| small(k, &step)) {
            for other in &known {
                let sum = sum(&multiple, &other.to_extended().to_cached(Portable), Portable).to_affine(Portable);
                if !group.contains(&sum) {
                    group.push(sum);
                }
            }
        }
    }
    group
}

fn order(point: &Affine) -> u64 {
    let point = point.to_extended();
    (1..=392).find(|&k| bool::from(small(k, &point).is_identity())).unwrap()
}

#[test]
fn every_point_of_small_order_is_refused() {
    let torsion = torsion();
    assert_eq!(torsion.len(), 392);
    for point in &torsion {
        let bytes = point.encode();
        assert_eq!(PublicKey::from_bytes_by(&bytes, Portable).err(), Some(Error::SmallOrder));
        assert_eq!(VerifyingKey::from_bytes_by(&bytes, Portable).err(), Some(Error::SmallOrder));
        assert_eq!(PublicKey::from_bytes(&bytes).err(), Some(Error::SmallOrder));
        assert_eq!(VerifyingKey::from_bytes(&bytes).err(), Some(Error::SmallOrder));
    }
}

#[test]
fn small_orders_are_those_of_cyclic_groups_of_8_7_and_7() {
    let mut orders: Vec<u64> = torsion().iter().map(order).collect();
    orders.sort_unstable();
    orders.dedup();
    assert_eq!(orders, [1, 2, 4, 7, 8, 14, 28, 56]);
}

#[test]
fn multiples_of_the_base_point_have_order_n() {
    assert!(bool::from(times(&N, &Affine::GENERATOR.to_extended()).is_identity()));
}
