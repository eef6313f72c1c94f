//! A Kalman filter of one vehicle: constant velocity, disturbed by random acceleration.
//!
//! State and measurement are both (x, y, vx, vy), since a message tells place, speed and direction. The disturbance is
//! white acceleration, stronger along the direction of travel than across it. Predicting over two spans is the same as
//! over their sum.
//!
//! # Source
//! Y. Bar-Shalom, X. R. Li, T. Kirubarajan, Estimation with Applications to Tracking and Navigation (2001), section 6.2.2.

/// A vector of the state: x, y [m], vx, vy [m/s].
pub(super) type Vector = [f64; 4];
type Matrix = [[f64; 4]; 4];

/// How vehicles move and how well messages tell it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Motion {
    /// Spectral density of the acceleration along the direction of travel [m^2/s^3].
    pub along_m2_s3: f64,
    /// Across it [m^2/s^3].
    pub across_m2_s3: f64,
    /// Standard deviation of a told place, each axis [m].
    pub position_m: f64,
    /// Of a told velocity, each axis [m/s].
    pub velocity_m_s: f64,
}

impl Default for Motion {
    /// Fits traffic on a highway: a speed wanders by 1 m/s within 1 s, across by 0.3 m/s.
    fn default() -> Self {
        Self { along_m2_s3: 1.0, across_m2_s3: 0.1, position_m: 0.5, velocity_m_s: 0.3 }
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
        Self { mean: measured, covariance: noise(motion) }
    }

    /// The same vehicle `span_s` later.
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
        let (t, t2, t3) = (span_s, span_s * span_s / 2.0, span_s * span_s * span_s / 3.0);
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

    /// How well a measurement fits; also its innovation's factor for the update. `None` only for figures that are none.
    pub(super) fn fit(&self, measured: Vector, motion: &Motion) -> Option<Fit> {
        let factor = cholesky(&sum(&self.covariance, &noise(motion)))?;
        let innovation = difference(measured, self.mean);
        let whitened = solve_lower(&factor, innovation);
        let distance_squared = whitened.iter().map(|value| value * value).sum();
        let log_determinant = 2.0 * (0..4).map(|index| libm::log(factor[index][index])).sum::<f64>();
        Some(Fit { distance_squared, log_determinant })
    }

    /// The estimate with a measurement taken in.
    pub(super) fn update(&self, measured: Vector, motion: &Motion) -> Option<Self> {
        let factor = cholesky(&sum(&self.covariance, &noise(motion)))?;
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

fn noise(motion: &Motion) -> Matrix {
    let mut noise = [[0.0; 4]; 4];
    for (index, row) in noise.iter_mut().enumerate() {
        let deviation = if index < 2 { motion.position_m } else { motion.velocity_m_s };
        row[index] = deviation * deviation;
    }
    noise
}

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
        let first = Estimate::first([10.0, 0.0, 0.0, 0.0], &still);
        let second = first.update([12.0, 0.0, 0.0, 0.0], &still).unwrap();
        assert!((second.mean[0] - 11.0).abs() < 1e-12);
        assert!((second.covariance[0][0] - 0.125).abs() < 1e-12);
    }

    #[test]
    fn uncertainty_grows_along_the_road_and_hardly_across() {
        let east = Estimate::first([0.0, 0.0, 30.0, 0.0], &motion()).predict(10.0, &motion());
        assert_eq!(east.mean, [300.0, 0.0, 30.0, 0.0]);
        // Variance: 0.25 + 0.09 * 100 + q * 1000 / 3.
        assert!((east.covariance[0][0] - (0.25 + 9.0 + 1000.0 / 3.0)).abs() < 1e-9);
        assert!((east.covariance[1][1] - (0.25 + 9.0 + 100.0 / 3.0)).abs() < 1e-9);
    }

    #[test]
    fn distances_of_true_measurements_are_chi_squared() {
        // Mean of the squared distance is the number of dimensions, whatever the deviations: checked with points at the
        // ends of the principal axes, one standard deviation off each.
        let estimate = Estimate::first([0.0; 4], &motion());
        let deviation = [0.5_f64, 0.5, 0.3, 0.3].map(|one| one * 2f64.sqrt());
        for axis in 0..4 {
            let mut measured = [0.0; 4];
            measured[axis] = deviation[axis];
            let fit = estimate.fit(measured, &motion()).unwrap();
            assert!((fit.distance_squared - 1.0).abs() < 1e-12);
        }
        let fit = estimate.fit(deviation, &motion()).unwrap();
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
