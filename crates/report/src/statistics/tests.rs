use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../tests/vectors/statistics.json")).unwrap()
}
fn close(found: f64, expected: &Value) -> bool {
    let expected = expected.as_f64().unwrap();
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-12) + 1e-14
}

#[test]
fn ranks_and_shares_agree_with_scipy() {
    let vectors = vectors();
    for case in vectors["percentile_interval"].as_array().unwrap() {
        let found = percentile_ranks(case["n"].as_u64().unwrap(), case["quantile"].as_f64().unwrap());
        assert_eq!(found, (case["low"].as_u64(), case["high"].as_u64()), "{case}");
    }
    for case in vectors["wilson"].as_array().unwrap() {
        let found = Interval::of_share(case["k"].as_u64().unwrap(), case["n"].as_u64().unwrap()).unwrap();
        assert!(close(found.low, &case["low"]) && close(found.high, &case["high"]), "{found:?} of {case}");
    }
}

#[test]
fn a_bootstrap_repeats_with_its_seed_and_holds_the_mean() {
    let runs: Vec<f64> = (0..40).map(f64::from).collect();
    let mean = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
    let first = bootstrap(&runs, mean, 2_000, 0.95, 1).unwrap();
    assert_eq!(Some(first), bootstrap(&runs, mean, 2_000, 0.95, 1));
    assert_ne!(Some(first), bootstrap(&runs, mean, 2_000, 0.95, 2));
    // Standard error of the mean: sqrt((40^2 - 1) / 12 / 40) = 1.825.
    assert!((first.high - first.low - 2.0 * 1.96 * 1.825).abs() < 0.5, "{first:?}");
    assert_eq!(bootstrap(&[], mean, 10, 0.95, 1), None);
}

#[test]
fn empty_samples_have_no_statistics() {
    assert_eq!(Interval::of_share(0, 0), None);
    assert!(ecdf(&[], 10).is_empty());
}

proptest! {
    #[test]
    fn a_downsampled_curve_keeps_ends_and_extremes(ys in prop::collection::vec(-1e6f64..1e6, 0..3000), max in 8usize..600) {
        let points: Vec<(f64, f64)> = ys.iter().enumerate().map(|(i, y)| (i as f64, *y)).collect();
        let kept = downsample(&points, max);
        prop_assert!(kept.len() <= max);
        prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert_eq!(kept.first(), points.first());
        prop_assert_eq!(kept.last(), points.last());
        let top = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(f64::MIN, f64::max);
        prop_assert_eq!(top(&kept), top(&points));
    }

    #[test]
    fn a_cumulative_share_rises_from_zero_to_one(mut samples in prop::collection::vec(-50i32..50, 1..2000)) {
        samples.sort_unstable();
        let counted: Vec<(f64, u64)> =
            samples.chunk_by(|one, next| one == next).map(|alike| (f64::from(alike[0]), alike.len() as u64)).collect();
        let steps = ecdf(&counted, 64);
        prop_assert_eq!(steps[0], (f64::from(samples[0]), 0.0));
        prop_assert_eq!(*steps.last().unwrap(), (f64::from(*samples.last().unwrap()), 1.0));
        prop_assert!(steps.windows(2).all(|pair| pair[0].1 < pair[1].1));
    }
}
