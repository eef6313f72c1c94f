//! Exact numbers, and the grid that keeps them short.

/// An exact number: a time, an amount of data, or a rate. The unit is the caller's, and the same in one network.
pub use chronoseal_rational::Rational;

/// A whole number.
pub fn whole(value: i64) -> Rational {
    Rational::from(value)
}

/// `numerator / denominator`.
///
/// # Panics
/// If the denominator is zero.
pub fn ratio(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator.into(), denominator.into())
}

/// The nearest number in floating point, for a figure that is shown.
pub fn float(value: &Rational) -> f64 {
    value.to_f64()
}

/// Steps to which times and amounts of data are rounded up between servers.
///
/// Exact numbers grow: each server that a flow passes multiplies denominators, and a sum over many flows has the product
/// of all of theirs. A later departure and a larger burst are still bounds, so rounding up keeps what is computed from them
/// a bound, and the denominators stay those of the grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    time: Rational,
    data: Rational,
}

impl Grid {
    /// A grid with these steps; `None` if one of them is not above zero.
    pub fn new(time: Rational, data: Rational) -> Option<Self> {
        (time.is_positive() && data.is_positive()).then_some(Self { time, data })
    }

    /// The next instant of the grid that is not before `time`.
    pub fn later(&self, time: &Rational) -> Rational {
        up(time, &self.time)
    }

    /// The next amount of the grid that is not below `data`.
    pub fn more(&self, data: &Rational) -> Rational {
        up(data, &self.data)
    }
}

fn up(value: &Rational, step: &Rational) -> Rational {
    if value.is_zero() { Rational::zero() } else { (value / step).ceil() * step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_rounds_up_and_keeps_what_lies_on_it() {
        let grid = Grid::new(ratio(1, 10), whole(5)).unwrap();
        assert_eq!(grid.later(&ratio(1, 3)), ratio(2, 5));
        assert_eq!(grid.later(&ratio(7, 10)), ratio(7, 10));
        assert_eq!(grid.more(&ratio(51, 10)), whole(10));
        assert_eq!(grid.more(&whole(0)), whole(0));
        assert_eq!(Grid::new(whole(0), whole(1)), None);
    }
}
