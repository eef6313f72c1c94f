//! An eavesdropper that hears a part of the road.

use super::Heard;
use crate::road::State;

/// Where somebody listens: the plane in squares, of which a share has an ear, evenly spread.
///
/// A square's number is the sum of its column and its row, so a road along an axis has its ears in even turns, and so
/// has a plane along either axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coverage {
    /// Side of a square `[m]`.
    pub square_m: f64,
    /// Share of the squares with an ear, 0 to 1.
    pub share: f64,
}

impl Coverage {
    /// Squares of 500 m: what one receiver beside a road covers well.
    pub const fn of(share: f64) -> Self {
        Self { square_m: 500.0, share }
    }

    /// True if a message sent there is heard.
    pub fn hears(&self, state: &State) -> bool {
        let index = |metres: f64| libm::floor(metres / self.square_m);
        let number = index(state.x_m) + index(state.y_m);
        // The n-th square has an ear if the count of ears rises there; the constant is for shares that are no binary number.
        let ears = |squares: f64| libm::floor(squares * self.share + 1e-9);
        ears(number + 1.0) > ears(number)
    }

    /// What is heard of all that is on the air.
    pub fn of_all(&self, heard: &[Heard]) -> Vec<Heard> {
        heard.iter().filter(|one| self.hears(&one.observation.state)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ears(share: f64) -> Vec<usize> {
        let hears = |square: &usize| {
            let state = State { x_m: *square as f64 * 500.0 + 250.0, y_m: 20.0, ..State::default() };
            Coverage::of(share).hears(&state)
        };
        (0..10).filter(hears).collect()
    }

    #[test]
    fn a_share_of_the_squares_has_an_ear() {
        assert_eq!(ears(1.0), (0..10).collect::<Vec<_>>());
        assert_eq!(ears(0.5), [1, 3, 5, 7, 9]);
        assert_eq!(ears(0.2), [4, 9]);
        assert_eq!(ears(0.7).len(), 7);
        assert_eq!(ears(0.0), []);
    }

    #[test]
    fn west_and_south_of_the_origin_are_squares_too() {
        let hears = |x_m, y_m| Coverage::of(0.5).hears(&State { x_m, y_m, ..State::default() });
        assert!(hears(-250.0, 100.0) && !hears(-750.0, 100.0));
        assert!(!hears(250.0, 100.0) && hears(250.0, 600.0));
    }
}
