//! Many figures of two sets of runs, tested together: which of them changed, if one false alarm among all of them is to be as
//! rare as one alone?
//!
//! If nothing changed, a run could as well have been one of the other side. So the runs of the two sides are exchanged in every
//! way, or in many ways drawn at random, and each exchange shows what chance alone makes of all figures at once. A figure changed if
//! few exchanges show any figure that stands out as much. Runs are exchanged with all their figures, so figures that rise and
//! fall together count as what they are, and figures that hardly vary, or whose differences are never worth reporting, cost the others
//! nothing.
//!
//! # Source
//! P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing, Wiley 1993, section 2.6 (step-down, largest statistic); the
//! constant in the denominator as in V. G. Tusher, R. Tibshirani, G. Chu, PNAS 98 (2001) 5116-5121.

use rand_core::{Rng, SeedableRng};

/// Exchanges that are drawn where there are too many to make all.
const DRAWN: usize = 1_000;
/// All orders of so many pairs are tried; of more, [`DRAWN`] are drawn.
const PAIRS_ALL: usize = 10;
/// Seeds the draw, so that the same runs give the same answer.
const SEED: u64 = 0x5eed;

/// One figure of each run, `None` where a run has none.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// Of the first side's runs.
    pub(crate) a: Vec<Option<f64>>,
    /// Of the second side's.
    pub(crate) b: Vec<Option<f64>>,
    /// A smaller difference of the two sides' means does not stand out, however certain it is.
    pub(crate) least: f64,
    /// Added to the standard error of each difference, which may be zero. Must be above zero.
    pub(crate) blur: f64,
}

/// How probable it is that runs of one source differ as much, adjusted for all figures; one-sided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Chance {
    /// That some figure of the second side stands out as far above that of the first.
    pub(crate) rise: f64,
    /// That some does as far below.
    pub(crate) fall: f64,
}

/// Tests `figures` together. With `is_paired`, run `i` of one side belongs to run `i` of the other and is exchanged with it alone.
/// Every figure needs a value or `None` for each of the same runs.
pub(crate) fn exchange(figures: &[Sides], is_paired: bool) -> Vec<Chance> {
    let Some(first) = figures.first() else { return Vec::new() };
    let (m, n) = (first.a.len(), first.b.len());
    debug_assert!(
        figures.iter().all(|sides| sides.a.len() == m && sides.b.len() == n),
        "all figures are of the same runs"
    );
    debug_assert!(!is_paired || m == n, "each run has its partner");
    let lines: Vec<Line> = figures.iter().map(|sides| Line::new(sides, is_paired)).collect();
    // What is chosen is the second side's, or keeps its order if it is a pair. First, as it was seen.
    let mut places: Vec<usize> = if is_paired { (0..n).collect() } else { (m..m + n).chain(0..m).collect() };
    let observed: Vec<f64> = lines.iter().map(|line| line.statistic(&places[..n])).collect();
    let (mut rise, mut fall) = (Steps::new(observed.clone()), Steps::new(observed.iter().map(|t| -t).collect()));
    let mut shown = vec![0.0; lines.len()];
    let mut count = |chosen: &[usize]| {
        for (value, line) in shown.iter_mut().zip(&lines) {
            *value = line.statistic(chosen);
        }
        rise.count(&shown, 1.0);
        fall.count(&shown, -1.0);
    };
    count(&places[..n]);
    let mut made = 1;
    if is_paired && n <= PAIRS_ALL {
        made = 1 << n;
        for keeps in 0..made - 1 {
            count(&(0..n).filter(|pair| keeps >> pair & 1 == 1).collect::<Vec<_>>());
        }
    } else {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(SEED);
        for _ in 0..DRAWN {
            if is_paired {
                count(&(0..n).filter(|_| rng.next_u64() & 1 == 1).collect::<Vec<_>>());
            } else {
                shuffle(&mut places, &mut rng);
                count(&places[..n]);
            }
            made += 1;
        }
    }
    rise.shares(made).into_iter().zip(fall.shares(made)).map(|(rise, fall)| Chance { rise, fall }).collect()
}

fn shuffle(places: &mut [usize], rng: &mut impl Rng) {
    for last in (1..places.len()).rev() {
        let other = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        places.swap(last, other as usize);
    }
}

/// How many values, their sum, and that of their squares.
type Sums = (f64, f64, f64);

/// A figure, ready to be exchanged.
struct Line {
    /// Each value by itself.
    places: Vec<Sums>,
    all: Sums,
    is_paired: bool,
    least: f64,
    blur: f64,
}

impl Line {
    fn new(sides: &Sides, is_paired: bool) -> Self {
        let values: Vec<Option<f64>> = if is_paired {
            sides.a.iter().zip(&sides.b).map(|(a, b)| Some((*b)? - (*a)?)).collect()
        } else {
            sides.a.iter().chain(&sides.b).copied().collect()
        };
        let known = values.iter().flatten().count().max(1) as f64;
        // Differences of pairs keep their zero; of two sides only the distance matters, and near zero sums are exact.
        let middle = if is_paired { 0.0 } else { values.iter().flatten().sum::<f64>() / known };
        let place =
            |value: Option<f64>| value.map_or((0.0, 0.0, 0.0), |x| (1.0, x - middle, (x - middle) * (x - middle)));
        let places: Vec<Sums> = values.into_iter().map(place).collect();
        Self { all: sums(places.iter()), places, is_paired, least: sides.least, blur: sides.blur }
    }

    /// How far the second side lies above the first, in standard errors; zero if it is not worth reporting.
    fn statistic(&self, chosen: &[usize]) -> f64 {
        let second = sums(chosen.iter().map(|place| &self.places[*place]));
        let (n, sum, squares) = self.all;
        let difference = if self.is_paired {
            mean_and_variance((n, 2.0 * second.1 - sum, squares))
        } else {
            let first = (n - second.0, sum - second.1, squares - second.2);
            mean_and_variance(first).zip(mean_and_variance(second)).map(|((a, of_a), (b, of_b))| (b - a, of_a + of_b))
        };
        match difference {
            Some((difference, variance)) if difference.abs() >= self.least => {
                difference / (variance.sqrt() + self.blur)
            }
            _ => 0.0,
        }
    }
}

fn sums<'s>(places: impl Iterator<Item = &'s Sums>) -> Sums {
    places.fold((0.0, 0.0, 0.0), |(n, sum, squares), place| (n + place.0, sum + place.1, squares + place.2))
}

/// Of values: their mean, and its variance.
fn mean_and_variance((n, sum, squares): Sums) -> Option<(f64, f64)> {
    let mean = sum / n;
    (n >= 2.0).then(|| (mean, ((squares - n * mean * mean) / (n - 1.0)).max(0.0) / n))
}

/// Counts, figure by figure, the exchanges in which any figure that stands out no more than it does stands out as much.
struct Steps {
    observed: Vec<f64>,
    /// Figures, what stands out most first.
    order: Vec<usize>,
    hits: Vec<usize>,
}

impl Steps {
    fn new(observed: Vec<f64>) -> Self {
        let mut order: Vec<usize> = (0..observed.len()).collect();
        order.sort_by(|&i, &j| observed[j].total_cmp(&observed[i]));
        Self { hits: vec![0; observed.len()], observed, order }
    }

    fn count(&mut self, shown: &[f64], sign: f64) {
        let mut most = f64::NEG_INFINITY;
        for &i in self.order.iter().rev() {
            most = most.max(sign * shown[i]);
            // Sums of the same values in another order differ in their last bits.
            let least = self.observed[i] - 1e-9 * self.observed[i].abs();
            self.hits[i] += usize::from(most >= least);
        }
    }

    fn shares(&self, made: usize) -> Vec<f64> {
        let (mut shares, mut top) = (vec![1.0; self.observed.len()], 0.0f64);
        for &i in &self.order {
            top = top.max(self.hits[i] as f64 / made as f64);
            shares[i] = if self.observed[i] > 0.0 { top } else { 1.0 };
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    fn sides(a: &[f64], b: &[f64]) -> Sides {
        Sides { a: known(a), b: known(b), least: 0.01, blur: 0.001 }
    }

    #[test]
    fn ten_pairs_that_all_rise_are_one_sign_pattern_of_1024() {
        let a: Vec<f64> = (0..10).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|x| x + 0.5).collect();
        let found = exchange(&[sides(&a, &b)], true)[0];
        assert_eq!(found, Chance { rise: 1.0 / 1024.0, fall: 1.0 });
        assert_eq!(exchange(&[sides(&b, &a)], true)[0], Chance { rise: 1.0, fall: 1.0 / 1024.0 });
    }

    #[test]
    fn what_is_equal_did_not_change() {
        let a = [3.0; 10];
        for is_paired in [true, false] {
            assert_eq!(exchange(&[sides(&a, &a)], is_paired)[0], Chance { rise: 1.0, fall: 1.0 });
        }
    }

    #[test]
    fn a_constant_rise_of_one_figure_stands_out_among_hundreds_that_vary() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut noise = |scale: f64| (rng.next_u64() as f64 / 2f64.powi(64) - 0.5) * scale;
        let mut figures: Vec<Sides> = (0..500)
            .map(|_| {
                let mut draw = || (0..10).map(|_| noise(0.1)).collect::<Vec<_>>();
                sides(&draw(), &draw())
            })
            .collect();
        figures.push(sides(&[0.0; 10], &[0.1; 10]));
        for is_paired in [true, false] {
            let found = exchange(&figures, is_paired);
            assert!(found[500].rise <= 0.005, "{:?}", found[500]);
            let others = found[..500].iter().filter(|chance| chance.rise < 0.05).count();
            assert_eq!(others, 0, "{is_paired}");
        }
    }

    #[test]
    fn a_difference_that_is_too_small_does_not_stand_out_however_certain_it_is() {
        let a = [1.0; 10];
        for is_paired in [true, false] {
            assert_eq!(exchange(&[sides(&a, &a.map(|x| x + 0.009))], is_paired)[0].rise, 1.0);
            assert!(exchange(&[sides(&a, &a.map(|x| x + 0.011))], is_paired)[0].rise < 0.005);
        }
    }

    #[test]
    fn values_that_are_missing_are_left_out() {
        let (mut a, mut b) = (known(&[0.0; 12]), known(&[1.0; 12]));
        (a[0], b[3]) = (None, None);
        let gaps = Sides { a, b, least: 0.01, blur: 0.001 };
        for is_paired in [true, false] {
            assert!(exchange(std::slice::from_ref(&gaps), is_paired)[0].rise < 0.005);
        }
        let nothing = Sides { a: vec![None; 12], b: known(&[1.0; 12]), least: 0.01, blur: 0.001 };
        assert_eq!(exchange(&[nothing], false)[0].rise, 1.0);
        assert!(exchange(&[], true).is_empty());
    }

    #[test]
    fn one_figure_alone_is_as_improbable_as_counting_says() {
        // Of five against five, 1 of 252 ways to divide them puts the five largest on the second side.
        let found = exchange(&[sides(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0])], false)[0].rise;
        assert!((found - 1.0 / 252.0).abs() < 0.004, "{found}");
    }
}
