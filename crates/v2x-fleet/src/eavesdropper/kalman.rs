//! A Kalman filter of one vehicle: constant velocity, disturbed by random acceleration.
//!
//! State and measurement are both (x, y, vx, vy), since a message tells place, speed and direction. The disturbance is
//! white acceleration, stronger along the direction of travel than across it. Predicting over two spans is the same as
//! over their sum.
//!
//! # Source
//! Y. Bar-Shalom, X. R. Li, T. Kirubarajan, Estimation with Applications to Tracking and Navigation (2001), section 6.2.2.

use crate::accuracy::Accuracy;

/// A vector of the state: x, y `[m]`, vx, vy `[m/s]`.
pub(super) type Vector = [f64; 4];
type Matrix = [[f64; 4]; 4];

/// How vehicles move and how well messages tell it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Motion {
    /// Spectral density of the acceleration along the direction of travel `[m^2/s^3]`.
    pub along_m2_s3: f64,
    /// Across it `[m^2/s^3]`.
    pub across_m2_s3: f64,
    /// How well a message tells place, speed and direction.
    pub accuracy: Accuracy,
}

impl Default for Motion {
    /// A speed that wanders by 1 m/s within 1 s, across by 0.3 m/s, and messages of the usual accuracy.
    fn default() -> Self {
        Self { along_m2_s3: 1.0, across_m2_s3: 0.1, accuracy: Accuracy::default() }
    }
}

/// Estimate and covariance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Estimate {
    pub(super) mean: Vector,
    covariance: Matrix,
}

/// How a measurement fits an estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fit {
    /// Squared Mahalanobis distance; chi-squared with four degrees of freedom if it is the same vehicle.
    pub(super) distance_squared: f64,
    /// Logarithm of the determinant of the innovation's covariance.
    pub(super) log_determinant: f64,
}

impl Estimate {
    /// What the first message of a vehicle tells.
    pub(super) fn first(measured: Vector, motion: &Motion) -> Self {
        Self { mean: measured, covariance: noise(measured, motion) }
    }

    /// The same vehicle `span_s` later, or earlier if that is negative.
    pub(super) fn predict(&self, span_s: f64, motion: &Motion) -> Self {
        let [x, y, vx, vy] = self.mean;
        let mean = [x + vx * span_s, y + vy * span_s, vx, vy];
        // F P F' with F = [[1, t], [0, 1]] for each axis.
        let mut covariance = self.covariance;
        let (places, velocities) = covariance.split_at_mut(2);
        for (row, velocity) in places.iter_mut().zip(velocities.iter()) {
            for (value, rate) in row.iter_mut().zip(velocity) {
                *value += span_s * rate;
            }
        }
        for row in &mut covariance {
            for column in 0..2 {
                row[column] += span_s * row[column + 2];
            }
        }
        let density = density(vx, vy, motion);
        // Backwards an acceleration of the meantime moves place and velocity to opposite sides.
        let t = libm::fabs(span_s);
        let (t2, t3) = (span_s * t / 2.0, t * t * t / 3.0);
        for row in 0..2 {
            for column in 0..2 {
                let q = density[row][column];
                covariance[row][column] += q * t3;
                covariance[row][column + 2] += q * t2;
                covariance[row + 2][column] += q * t2;
                covariance[row + 2][column + 2] += q * t;
            }
        }
        Self { mean, covariance }
    }

    /// How well a measurement fits. `None` only for figures that are none.
    pub(super) fn fit(&self, measured: Vector, motion: &Motion) -> Option<Fit> {
        self.against(&Self::first(measured, motion))
    }

    /// How well two estimates of one moment, made of different messages, fit together.
    pub(super) fn against(&self, other: &Self) -> Option<Fit> {
        let factor = cholesky(&sum(&self.covariance, &other.covariance))?;
        let whitened = solve_lower(&factor, difference(other.mean, self.mean));
        let distance_squared = whitened.iter().map(|value| value * value).sum();
        let log_determinant = 2.0 * (0..4).map(|index| libm::log(factor[index][index])).sum::<f64>();
        Some(Fit { distance_squared, log_determinant })
    }

    /// Not more than the squared distance of [`Self::against`], and much quicker: no direction has more variance than all
    /// together.
    pub(super) fn distance_squared_least(&self, other: &Self) -> f64 {
        let [dx, dy, ..] = difference(other.mean, self.mean);
        let variance: f64 = (0..2).map(|axis| self.covariance[axis][axis] + other.covariance[axis][axis]).sum();
        (dx * dx + dy * dy) / variance
    }

    /// How much further apart two estimates of one moment are than their errors explain, squared, along and across the
    /// direction of this one's velocity; zero on average if nothing but errors parts them `[m^2]`.
    pub(super) fn excess(&self, other: &Self) -> [f64; 2] {
        let [dx, dy, ..] = difference(other.mean, self.mean);
        let [_, _, vx, vy] = self.mean;
        let speed = libm::hypot(vx, vy);
        let (ux, uy) = if speed > 0.0 { (vx / speed, vy / speed) } else { (1.0, 0.0) };
        let covariance = sum(&self.covariance, &other.covariance);
        [(ux, uy), (-uy, ux)].map(|(ex, ey)| {
            let apart = dx * ex + dy * ey;
            let [[xx, xy, ..], [_, yy, ..], ..] = covariance;
            apart * apart - (ex * ex * xx + 2.0 * ex * ey * xy + ey * ey * yy)
        })
    }

    /// The estimate with a measurement taken in.
    pub(super) fn update(&self, measured: Vector, motion: &Motion) -> Option<Self> {
        let factor = cholesky(&sum(&self.covariance, &noise(measured, motion)))?;
        // Gain K = P S^-1; with H = I each row of K solves S k = p.
        let gain = self.covariance.map(|row| solve_upper(&factor, solve_lower(&factor, row)));
        let innovation = difference(measured, self.mean);
        let mut mean = self.mean;
        let mut covariance = self.covariance;
        for row in 0..4 {
            mean[row] += dot(&gain[row], &innovation);
            for (column, value) in covariance[row].iter_mut().enumerate() {
                *value -= (0..4).map(|k| gain[row][k] * self.covariance[k][column]).sum::<f64>();
            }
        }
        Some(Self { mean, covariance })
    }
}

/// Spectral density of the acceleration in x and y: along and across the direction of travel.
fn density(vx: f64, vy: f64, motion: &Motion) -> [[f64; 2]; 2] {
    let speed = libm::hypot(vx, vy);
    let (a, c) = (motion.along_m2_s3, motion.across_m2_s3);
    // A vehicle that stands may start in any direction.
    if speed < 0.5 {
        return [[a, 0.0], [0.0, a]];
    }
    let (ux, uy) = (vx / speed, vy / speed);
    let mixed = (a - c) * ux * uy;
    [[a * ux * ux + c * uy * uy, mixed], [mixed, a * uy * uy + c * ux * ux]]
}

/// Covariance of what a message tells: speed and direction err along and across the velocity.
fn noise([_, _, vx, vy]: Vector, motion: &Motion) -> Matrix {
    let Accuracy { position_m, speed_m_s, heading_deg } = motion.accuracy;
    let speed = libm::hypot(vx, vy);
    let along = speed_m_s * speed_m_s;
    let turn_m_s = speed * heading_deg.to_radians();
    // Of one that stands the direction says nothing, and matters little.
    let across = (turn_m_s * turn_m_s).max(along);
    let (ux, uy) = if speed > 0.0 { (vx / speed, vy / speed) } else { (1.0, 0.0) };
    let mut noise = [[0.0; 4]; 4];
    for (axis, row) in noise.iter_mut().take(2).enumerate() {
        row[axis] = (position_m * position_m).max(ROUNDING_M2);
    }
    let mixed = (along - across) * ux * uy;
    noise[2][2..].copy_from_slice(&[along * ux * ux + across * uy * uy + ROUNDING_M2, mixed]);
    noise[3][2..].copy_from_slice(&[mixed, along * uy * uy + across * ux * ux + ROUNDING_M2]);
    noise
}

/// Messages count tenths of a microdegree and centimetres a second; keeps matrices regular where nothing else errs `[m^2]`.
const ROUNDING_M2: f64 = 1e-4;

fn sum(one: &Matrix, other: &Matrix) -> Matrix {
    let mut sum = *one;
    for (row, added) in sum.iter_mut().zip(other) {
        for (value, more) in row.iter_mut().zip(added) {
            *value += more;
        }
    }
    sum
}

fn difference(one: Vector, other: Vector) -> Vector {
    core::array::from_fn(|index| one[index] - other[index])
}

fn dot(one: &Vector, other: &Vector) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Lower factor of a positive definite matrix.
fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let mut lower = [[0.0; 4]; 4];
    for row in 0..4 {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            let rest = matrix[row][column] - known;
            if row == column {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                lower[row][row] = libm::sqrt(rest);
            } else {
                lower[row][column] = rest / lower[column][column];
            }
        }
    }
    Some(lower)
}

fn solve_lower(lower: &Matrix, right: Vector) -> Vector {
    let mut solved = [0.0; 4];
    for row in 0..4 {
        let known: f64 = (0..row).map(|k| lower[row][k] * solved[k]).sum();
        solved[row] = (right[row] - known) / lower[row][row];
    }
    solved
}

/// Solves with the transposed factor.
fn solve_upper(lower: &Matrix, right: Vector) -> Vector {
    let mut solved = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4).map(|k| lower[k][row] * solved[k]).sum();
        solved[row] = (right[row] - known) / lower[row][row];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn motion() -> Motion {
        Motion::default()
    }

    fn near(one: &Estimate, other: &Estimate) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
        let means = one.mean.iter().zip(&other.mean).all(|(a, b)| close(*a, *b));
        means && one.covariance.iter().flatten().zip(other.covariance.iter().flatten()).all(|(a, b)| close(*a, *b))
    }

    #[test]
    fn with_one_axis_and_no_noise_of_motion_it_is_the_mean() {
        // Two measurements of a vehicle at rest in a world without acceleration: mean of both, half the variance.
        let still = Motion { along_m2_s3: 0.0, across_m2_s3: 0.0, ..motion() };
        let variance = still.accuracy.position_m.powi(2);
        let first = Estimate::first([10.0, 0.0, 0.0, 0.0], &still);
        let second = first.update([12.0, 0.0, 0.0, 0.0], &still).unwrap();
        assert!((second.mean[0] - 11.0).abs() < 1e-12);
        assert!((second.covariance[0][0] - variance / 2.0).abs() < 1e-12);
    }

    #[test]
    fn uncertainty_grows_along_the_road_and_hardly_across() {
        let east = Estimate::first([0.0, 0.0, 30.0, 0.0], &motion()).predict(10.0, &motion());
        assert_eq!(east.mean, [300.0, 0.0, 30.0, 0.0]);
        // Variance: of the place, of the speed or the direction times the span, and q * 1000 / 3.
        let turn_m_s = 30.0 * 2f64.to_radians();
        let along = 2.25 + 0.28 * 0.28 * 100.0 + 1000.0 / 3.0;
        let across = 2.25 + turn_m_s * turn_m_s * 100.0 + 100.0 / 3.0;
        assert!((east.covariance[0][0] - along).abs() < 0.02, "{} for {along}", east.covariance[0][0]);
        assert!((east.covariance[1][1] - across).abs() < 0.02, "{} for {across}", east.covariance[1][1]);
    }

    #[test]
    fn a_direction_errs_across_the_velocity_whichever_way_it_points() {
        let along_and_across = |vx: f64, vy: f64| {
            let [[a, b], [_, d]] = [2, 3].map(|row| {
                let row = Estimate::first([0.0, 0.0, vx, vy], &motion()).covariance[row];
                [row[2], row[3]]
            });
            let (ux, uy) = (vx / vx.hypot(vy), vy / vx.hypot(vy));
            (a * ux * ux + 2.0 * b * ux * uy + d * uy * uy, a * uy * uy - 2.0 * b * ux * uy + d * ux * ux)
        };
        for (vx, vy) in [(30.0, 0.0), (0.0, -30.0), (18.0, 24.0)] {
            let (along, across) = along_and_across(vx, vy);
            assert!((along.sqrt() - 0.28).abs() < 1e-3, "{along}");
            assert!((across.sqrt() - 30.0 * 2f64.to_radians()).abs() < 1e-3, "{across}");
        }
    }

    #[test]
    fn distances_of_true_measurements_are_chi_squared() {
        // Mean of the squared distance is the number of dimensions, whatever the deviations: checked with points at the
        // ends of the principal axes, one standard deviation off each.
        let estimate = Estimate::first([0.0; 4], &motion());
        let deviation: [f64; 4] = core::array::from_fn(|axis| (2.0 * estimate.covariance[axis][axis]).sqrt());
        for axis in 0..4 {
            let mut measured = [0.0; 4];
            measured[axis] = deviation[axis];
            // The same errors as at rest, so that axes stay principal ones.
            let measured = Estimate { mean: measured, ..estimate };
            let fit = estimate.against(&measured).unwrap();
            assert!((fit.distance_squared - 1.0).abs() < 1e-12);
            assert!(estimate.distance_squared_least(&measured) <= fit.distance_squared);
        }
        let fit = estimate.against(&Estimate { mean: deviation, ..estimate }).unwrap();
        assert!((fit.distance_squared - 4.0).abs() < 1e-12);
        assert!((fit.log_determinant - 2.0 * deviation.iter().map(|one| one.ln()).sum::<f64>()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn two_predictions_are_one(a in 0.0..20.0, b in 0.0..20.0, vx in -40.0..40.0, vy in -40.0..40.0) {
            let first = Estimate::first([3.0, 4.0, vx, vy], &motion());
            let stepwise = first.predict(a, &motion()).predict(b, &motion());
            prop_assert!(near(&stepwise, &first.predict(a + b, &motion())));
        }

        #[test]
        fn there_and_back_is_more_uncertain_and_nowhere_else(span in 0.1..20.0, vx in -40.0..40.0) {
            let first = Estimate::first([3.0, 4.0, vx, 1.0], &motion());
            let back = first.predict(span, &motion()).predict(-span, &motion());
            for axis in 0..4 {
                prop_assert!((back.mean[axis] - first.mean[axis]).abs() < 1e-9);
                prop_assert!(back.covariance[axis][axis] > first.covariance[axis][axis]);
            }
            prop_assert!(back.fit(first.mean, &motion()).is_some(), "still positive definite");
        }

        #[test]
        fn a_bound_is_never_above_the_distance(span in 0.0..15.0, x in -100.0..100.0, y in -50.0..50.0, vx in -40.0..40.0) {
            let one = Estimate::first([0.0, 0.0, vx, 1.0], &motion()).predict(span, &motion());
            let other = Estimate::first([x, y, vx, -1.0], &motion());
            let fit = one.against(&other).unwrap();
            prop_assert!(one.distance_squared_least(&other) <= fit.distance_squared * (1.0 + 1e-12));
        }

        #[test]
        fn an_update_never_makes_less_certain(span in 0.0..30.0, x in -100.0..100.0, vx in -40.0..40.0) {
            let before = Estimate::first([0.0, 0.0, vx, 1.0], &motion()).predict(span, &motion());
            let after = before.update([x, 0.0, vx, 1.0], &motion()).unwrap();
            for axis in 0..4 {
                prop_assert!(after.covariance[axis][axis] <= before.covariance[axis][axis]);
                prop_assert!(after.covariance[axis][axis] > 0.0);
            }
        }
    }
}
