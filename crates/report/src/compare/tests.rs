use chronoseal_core::random::{Purpose, Rng, stream};
use chronoseal_results::{Distribution, Engine, RunMeta, RunRows, Spread, summarise};

use super::*;

/// A run whose stream has this median and 99th percentile `[ns]`, and this many lost frames of 1 000.
fn run(p50_ns: i64, p99_ns: i64, lost: u64) -> RunSummary {
    let mut summary = summarise(&RunMeta::new("x", Engine::Live, 1), &RunRows::default());
    let latency = Distribution {
        n: 1000,
        min_ns: p50_ns / 2,
        mean_ns: p50_ns as f64,
        p50_ns: Some(p50_ns),
        p90_ns: Some(p99_ns),
        p99_ns: Some(p99_ns),
        p999_ns: None,
        max_ns: p99_ns * 2,
    };
    summary.streams.push(StreamSummary {
        name: "s".into(),
        class: "time-triggered".into(),
        is_judged: true,
        ready_ns: 0,
        way: Vec::new(),
        due: 1000,
        sent: 1000,
        delivered: 1000 - lost,
        late: 0,
        overdue: 0,
        missing: lost,
        unaccounted: 0,
        in_flight: 0,
        startup: 0,
        replaced: 0,
        not_sent: 0,
        is_lossy: false,
        allowances: Vec::new(),
        receivers: Vec::new(),
        discarded: Default::default(),
        end_to_end: Spread { all: Some(latency), stall_free: None },
        residence: Spread::default(),
        tx: Spread::default(),
        rx: Spread::default(),
    });
    summary
}

/// About normal, from twelve uniform numbers.
fn noise(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| rng.next_u64() as f64 / 2f64.powi(64)).sum::<f64>() - 6.0
}

/// Ten runs around a median of 100 us (spread 8 %) with a heavy tail at p99, as shared hosts have it, and rare losses.
fn runs(rng: &mut impl Rng, factor: f64) -> Vec<RunSummary> {
    (0..10)
        .map(|_| {
            let p50 = 100_000.0 * factor * (1.0 + 0.08 * noise(rng));
            let p99 = p50 * (1.5 + (0.7 * noise(rng)).exp());
            let lost = if rng.next_u64().is_multiple_of(3) { rng.next_u64() % 20 } else { 0 };
            run(p50 as i64, p99 as i64, lost)
        })
        .collect()
}

#[test]
fn identical_sources_raise_few_false_alarms() {
    let mut rng = stream(20, Purpose::Medium, 0);
    let pairs = 400;
    let alarms = (0..pairs)
        .filter(|_| {
            matches!(compare(&runs(&mut rng, 1.0), &runs(&mut rng, 1.0)).verdict, Change::Better | Change::Worse)
        })
        .count();
    println!("{alarms} false alarms in {pairs} pairs");
    assert!(alarms * 100 <= 7 * pairs, "{alarms} of {pairs}");
    // A test that never speaks would pass the line above.
    let found =
        (0..100).filter(|_| compare(&runs(&mut rng, 1.0), &runs(&mut rng, 1.2)).verdict == Change::Worse).count();
    assert!(found >= 90, "a shift of 20 % was found {found} times in 100");
}

#[test]
fn fewer_than_ten_runs_a_side_are_insufficient() {
    let (few, many) = (vec![run(100_000, 200_000, 0); 9], vec![run(900_000, 990_000, 0); 10]);
    assert_eq!(compare(&few, &many).verdict, Change::Insufficient);
    assert_eq!(compare(&many, &few).verdict, Change::Insufficient);
    assert_eq!(compare(&[], &[]).verdict, Change::Insufficient);
}

#[test]
fn a_significant_difference_below_five_percent_is_the_same() {
    let side = |base: i64| (0..12).map(|i| run(base + i, 2 * base + i, 0)).collect::<Vec<_>>();
    let report = compare(&side(100_000), &side(104_000));
    assert_eq!(report.verdict, Change::Same);
    assert!(report.metrics[0].p.unwrap() < 0.001);
    assert_eq!(compare(&side(100_000), &side(106_000)).verdict, Change::Worse);
    assert_eq!(compare(&side(106_000), &side(100_000)).verdict, Change::Better);
}

#[test]
fn lost_frames_alone_make_a_side_worse() {
    let side = |lost: u64| (0..10).map(|i| run(100_000 + i, 200_000 + i, lost + i as u64 % 3)).collect::<Vec<_>>();
    assert_eq!(compare(&side(0), &side(20)).verdict, Change::Worse);
}
