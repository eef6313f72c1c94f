use std::collections::BTreeMap;

use chronoseal_core::random::{Purpose, Rng, stream};
use chronoseal_results::{
    AttackSummary, BoundMeta, Distribution, GroupSummary, KeySummary, RunRows, SegmentSummary, SeriesSummary, Spread,
    StreamMeta, StreamSummary, summarise,
};

use super::*;
use crate::document::{Block, Verdict};

/// A stream with this median and 99th percentile `[us]`, and this many lost frames of 1 000, in a place that loses some.
fn stream_of(name: &str, p50_us: f64, p99_us: f64, lost: u64) -> StreamSummary {
    let ns = |us: f64| (us * 1e3) as i64;
    let latency = Distribution {
        n: 1000,
        min_ns: ns(p50_us) / 2,
        mean_ns: p50_us * 1e3,
        p50_ns: Some(ns(p50_us)),
        p90_ns: Some(ns(p99_us)),
        p99_ns: Some(ns(p99_us)),
        p999_ns: None,
        max_ns: ns(p99_us) * 2,
        is_rounded: false,
    };
    StreamSummary {
        name: name.into(),
        class: "time-triggered".into(),
        is_judged: false,
        ready_ns: 0,
        due: 1000,
        way: Vec::new(),
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
        held_up: 0,
        is_lossy: true,
        allowances: Vec::new(),
        receivers: Vec::new(),
        discarded: BTreeMap::new(),
        end_to_end: Spread { all: Some(latency), stall_free: None },
        residence: Spread::default(),
        tx: Spread::default(),
        rx: Spread::default(),
    }
}

fn run(seed: u64, streams: Vec<StreamSummary>) -> Run {
    let mut meta = RunMeta::new("x", Engine::Live, seed);
    meta.duration_ns = 1_000_000_000;
    let mut summary = summarise(&meta, &RunRows::default());
    summary.streams = streams;
    (meta, summary)
}

/// A run of one stream.
fn single(seed: u64, p50_us: f64, p99_us: f64, lost: u64) -> Run {
    run(seed, vec![stream_of("s", p50_us, p99_us, lost)])
}

fn attacked(mut run: Run, stream: &str, accepted: u64) -> Run {
    run.1.attacks.push(AttackSummary {
        attack: "replay".into(),
        attacker: "eve".into(),
        stream: stream.into(),
        authenticated: false,
        is_opened_on_way: false,
        replayable: true,
        guessed_bits: None,
        by_segment: false,
        attempts: accepted.max(1),
        stopped_by_format: 0,
        stopped_by_schedule: 0,
        stopped_by_tag: 0,
        stopped_by_freshness: 0,
        stopped_by_capacity: 0,
        in_flight: 0,
        accepted,
    });
    run
}

/// The stream's deadline holds, or does not for `late` frames.
fn judged(mut run: Run, late: u64) -> Run {
    for stream in &mut run.1.streams {
        (stream.is_judged, stream.is_lossy, stream.late) = (true, false, late);
    }
    run
}

fn loaded(mut run: Run, share: f64) -> Run {
    let load = SeriesSummary {
        name: "busy".into(),
        unit: "ns".into(),
        total: 0,
        window_ns: None,
        window_max: None,
        share: Some(share),
        share_max: None,
    };
    run.1.segments.push(SegmentSummary { name: "body".into(), series: vec![load], precision: None });
    run
}

fn bounded(mut run: Run, bound_us: Option<i64>) -> Run {
    let stream: StreamMeta = serde_json::from_value(serde_json::json!({
        "name": "s", "sender": 0, "receivers": [1], "segments": [], "class": "", "is_judged": true, "period_ns": 1, "frame_len": 60,
        "secured_len": 60, "protection": "none", "replayable": false, "authenticated": false, "deadline_ns": 1_000_000
    }))
    .unwrap();
    let bound = bound_us.map(|us| BoundMeta { total_ns: us * 1000, parts: Vec::new() });
    run.0.streams = vec![StreamMeta { bound, ..stream }];
    run
}

/// The first key of a group of two is there so long after its exchange began.
fn keyed(mut run: Run, after_us: i64) -> Run {
    run.0.group = Some(
        serde_json::from_value(serde_json::json!({
            "orchestrator": 0, "members": [1], "suite": "fourq", "scheme": "full-tree", "profile": "hardened", "start_ns": 0
        }))
        .unwrap(),
    );
    let installed_ns = [(0, 1), (1, after_us * 1000)].into();
    let key = KeySummary { epoch: 1, installed_ns };
    run.1.group = Some(GroupSummary {
        keys: vec![key],
        exchanges_done: 0,
        aborted: BTreeMap::new(),
        refused: BTreeMap::new(),
        withheld: 0,
        changes: Vec::new(),
    });
    run
}

fn side(runs: impl Fn(u64) -> Run) -> Vec<Run> {
    (1..=10).map(runs).collect()
}

/// About normal, from twelve uniform numbers.
fn noise(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| rng.next_u64() as f64 / 2f64.powi(64)).sum::<f64>() - 6.0
}

/// Ten runs of `streams` streams with medians around 100 us, of which each varies by `spread` from run to run, and all together
/// by as much; with a heavy tail at p99, as shared hosts have it, rare losses, and loads and processors that vary too.
fn runs(rng: &mut impl Rng, first_seed: u64, streams: usize, spread: f64, factor: f64) -> Vec<Run> {
    (0..10)
        .map(|index| {
            let host = 1.0 + spread * noise(rng);
            let mut one = |number: usize| {
                let p50 = 100.0 * factor * host * (1.0 + spread * noise(rng));
                let p99 = p50 * (1.5 + (0.7 * noise(rng)).exp());
                let lost = if rng.next_u64().is_multiple_of(3) { rng.next_u64() % 20 } else { 0 };
                stream_of(&format!("s{number}"), p50, p99, lost)
            };
            let streams = (0..streams).map(&mut one).collect();
            loaded(run(first_seed + index, streams), 0.3 * host)
        })
        .collect()
}

#[test]
fn identical_sources_raise_few_false_alarms() {
    let mut rng = stream(20, Purpose::Medium, 0);
    let pairs: usize = std::env::var("COMPARE_PAIRS").map_or(400, |count| count.parse().unwrap());
    for (streams, pairs) in [(1, pairs), (4, pairs / 2)] {
        let mut alarms = 0;
        for _ in 0..pairs {
            let (a, b) = (runs(&mut rng, 1, streams, 0.06, 1.0), runs(&mut rng, 101, streams, 0.06, 1.0));
            alarms += usize::from(compare(&a, &b).word == Word::Worse);
        }
        println!("{streams} streams: {alarms} false alarms in {pairs} pairs");
        assert!(alarms * 100 <= 7 * pairs, "{alarms} of {pairs}");
    }
}

#[test]
fn runs_paired_by_seed_raise_few_false_alarms() {
    let mut rng = stream(21, Purpose::Medium, 0);
    let alarms = (0..400)
        .filter(|_| {
            let (a, b) = (runs(&mut rng, 1, 3, 0.06, 1.0), runs(&mut rng, 1, 3, 0.06, 1.0));
            let report = compare(&a, &b);
            assert_eq!(report.pairs, Some(10));
            report.word == Word::Worse
        })
        .count();
    println!("{alarms} false alarms in 400 pairs");
    assert!(alarms * 100 <= 7 * 400, "{alarms}");
}

#[test]
fn ten_percent_more_are_found_in_eight_of_ten_comparisons() {
    let mut rng = stream(22, Purpose::Medium, 0);
    for (streams, spread, seed_b) in [(1, 0.04, 101), (1, 0.04, 1), (30, 0.04, 101), (30, 0.04, 1), (200, 0.02, 1)] {
        let rounds = if streams > 1 { 15 } else { 60 };
        let found = (0..rounds)
            .filter(|_| {
                let (a, b) = (runs(&mut rng, 1, streams, spread, 1.0), runs(&mut rng, seed_b, streams, spread, 1.1));
                compare(&a, &b).word == Word::Worse
            })
            .count();
        println!("{streams} streams that vary by {spread}, seeds from {seed_b}: found {found} of {rounds}");
        assert!(found * 10 >= 8 * rounds, "{streams} streams, {spread}: {found} of {rounds}");
    }
}

#[test]
fn one_stream_of_hundreds_that_is_slower_in_every_pair_is_found() {
    let mut rng = stream(23, Purpose::Medium, 0);
    let a = runs(&mut rng, 1, 200, 0.02, 1.0);
    let mut b = a.clone();
    for (_, summary) in &mut b {
        let slow = summary.streams[17].end_to_end.all.as_mut().unwrap();
        slow.p50_ns = slow.p50_ns.map(|ns| ns * 11 / 10);
    }
    let report = compare(&a, &b);
    let worse: Vec<_> = report.lines.iter().filter(|line| line.change == Change::Worse).collect();
    assert_eq!(worse.len(), 1, "{worse:?}");
    assert_eq!((worse[0].kind, worse[0].of.as_str()), (Kind::Median, "s17"));
    assert!(worse[0].p.unwrap() < 0.005 && (worse[0].shift.unwrap() - 0.1).abs() < 0.001, "{worse:?}");
    assert_eq!(report.word, Word::Worse);
}

#[test]
fn identical_runs_are_held_and_nothing_differs() {
    let a = side(|seed| judged(single(seed, 100.0, 200.0, 0), 0));
    let report = compare(&a, &a);
    assert_eq!((report.word, report.pairs), (Word::Held, Some(10)));
    assert!(report.lines.iter().all(|line| line.change == Change::Same), "{:?}", report.lines);
}

#[test]
fn a_constant_shift_is_a_difference_with_and_without_pairs() {
    for first_seed in [0, 100] {
        let a = side(|seed| single(seed, 100.0, 200.0, 0));
        let b = side(|seed| single(first_seed + seed, 110.0, 220.0, 0));
        let report = compare(&a, &b);
        assert_eq!((report.word, report.pairs.is_some()), (Word::Worse, first_seed == 0));
        assert_eq!(compare(&b, &a).word, Word::Held);
        assert!(compare(&b, &a).count(Change::Better) > 0);
    }
}

#[test]
fn a_certain_difference_below_five_percent_is_the_same() {
    let of = |base: f64| side(move |seed| single(seed, base + seed as f64 / 100.0, 2.0 * base, 0));
    let report = compare(&of(100.0), &of(104.0));
    assert_eq!(report.word, Word::Held);
    let line = report.lines.iter().find(|line| line.kind == Kind::Median).unwrap();
    assert!(line.change == Change::Same && line.interval.unwrap().0 > 0.035, "{line:?}");
    assert_eq!(compare(&of(100.0), &of(106.0)).word, Word::Worse);
}

#[test]
fn lost_frames_alone_make_a_side_worse() {
    let of = |lost: u64| side(move |seed| single(seed, 100.0, 200.0, lost + seed % 3));
    let report = compare(&of(0), &of(20));
    assert_eq!(report.word, Word::Worse);
    let first = &report.lines[0];
    assert_eq!((first.kind, first.detail.as_str()), (Kind::Losses, "missing"));
}

#[test]
fn forgeries_that_were_never_accepted_before_are_worse_even_once() {
    let a = side(|seed| attacked(single(seed, 100.0, 200.0, 0), "s", 0));
    let b = side(|seed| attacked(single(seed, 100.0, 200.0, 0), "s", u64::from(seed == 3)));
    let report = compare(&a, &b);
    assert_eq!((report.word, report.lines[0].change), (Word::Worse, Change::Worse));
    assert!(report.lines.iter().any(|line| line.kind == Kind::Forgeries && line.change == Change::Worse));
    let (few_a, few_b) = (&a[..1], [attacked(single(1, 100.0, 200.0, 0), "s", 8)]);
    assert_eq!(compare(few_a, &few_b).word, Word::Worse, "they are counted, however few runs there are");
    assert_eq!(compare(&few_b, &[attacked(single(1, 100.0, 200.0, 0), "s", 9)]).word, Word::Worse);
}

#[test]
fn a_side_whose_runs_fail_is_never_held() {
    let held = side(|seed| judged(single(seed, 100.0, 200.0, 0), 0));
    let failing = side(|seed| judged(single(seed, 100.0, 200.0, 0), 10));
    assert_eq!(compare(&held, &failing).word, Word::Worse);
    assert_eq!(compare(&failing, &failing).word, Word::Failed);
    let report = compare(&failing, &held);
    assert_eq!((report.word, report.failed), (Word::Held, (10, 0)));
    let Verdict { text, points, .. } = compare_document(&report, ("a", "b")).verdict;
    assert!(text.contains("b is better than a"), "{text}");
    assert!(points.iter().any(|point| point.contains("10 of 10 runs of a failed, and 0 of 10 of b")), "{points:?}");
}

#[test]
fn fewer_than_ten_runs_a_side_are_not_checked() {
    let many = side(|seed| single(seed, 900.0, 990.0, 0));
    let few = &side(|seed| single(seed, 100.0, 200.0, 0))[..9];
    for (a, b) in [(few, &many[..]), (&many[..], few), (few, few)] {
        assert_eq!(compare(a, b).word, Word::NotChecked);
    }
    assert_eq!(compare(&[], &[]).word, Word::NotChecked);
    let text = compare_document(&compare(few, &many), ("a", "b")).verdict.text;
    assert!(text.contains("at least 10 runs of each side, and there are 9 and 10"), "{text}");
}

#[test]
fn a_simulated_run_that_is_stored_ten_times_is_one_run() {
    let mut copies = side(|_| single(1, 100.0, 200.0, 0));
    for (meta, _) in &mut copies {
        (meta.engine, meta.scenario_hash) = (Engine::Sim, "1234".into());
    }
    let report = compare(&copies, &copies);
    assert_eq!((report.word, report.runs, report.repeated), (Word::NotChecked, (1, 1), (9, 9)));
}

#[test]
fn a_busier_bus_is_worse() {
    let of = |share: f64| side(move |seed| loaded(single(seed, 100.0, 200.0, 0), share));
    assert_eq!(compare(&of(0.0007), &of(0.0009)).word, Word::Held, "less than 0.1 percentage points");
    let report = compare(&of(0.298), &of(0.342));
    let first = &report.lines[0];
    assert_eq!((report.word, first.kind, first.of.as_str()), (Word::Worse, Kind::Load, "body"));
    assert!((first.shift.unwrap() - 0.044).abs() < 0.001, "{first:?}");
}

#[test]
fn a_bound_is_worse_if_it_grows_passes_the_deadline_or_is_gone() {
    let of = |bound_us| side(move |seed| bounded(single(seed, 100.0, 200.0, 0), bound_us));
    let word = |a, b| compare(&of(a), &of(b)).word;
    assert_eq!(word(Some(500), Some(500)), Word::Held);
    assert_eq!(word(Some(500), Some(510)), Word::Held, "2 % are not worth reporting");
    assert_eq!(word(Some(500), Some(530)), Word::Worse);
    assert_eq!(word(Some(999), Some(1001)), Word::Worse, "the deadline is 1 ms");
    assert_eq!(word(Some(500), None), Word::Worse);
    assert_eq!(word(None, Some(500)), Word::Held);
}

#[test]
fn a_stream_that_only_the_first_side_has_is_not_checked() {
    let two = |seed| run(seed, vec![stream_of("s", 100.0, 200.0, 0), stream_of("t", 100.0, 200.0, 0)]);
    let (both, one) = (side(two), side(|seed| single(seed, 100.0, 200.0, 0)));
    let report = compare(&both, &one);
    assert_eq!(report.word, Word::NotChecked);
    let points = compare_document(&report, ("a", "b")).verdict.points;
    assert!(points.iter().any(|point| point.contains("no run of the second side has it")), "{points:?}");
    assert_eq!(compare(&one, &both).word, Word::Held, "a new stream is judged by its own runs");
}

#[test]
fn a_run_that_was_stopped_is_not_checked() {
    let a = side(|seed| single(seed, 100.0, 200.0, 0));
    let mut b = a.clone();
    b[4].0.interrupted = true;
    assert_eq!(compare(&a, &b).word, Word::NotChecked);
}

#[test]
fn the_page_lists_the_largest_harm_first() {
    let a = side(|seed| loaded(single(seed, 100.0, 200.0, 0), 0.3));
    let b = side(|seed| loaded(attacked(single(seed, 130.0, 260.0, 20), "s", 8), 0.4));
    let document = compare_document(&compare(&a, &b), ("a", "b"));
    let Block::Table(table) = &document.sections[0].blocks[0] else { panic!("no table") };
    let figures: Vec<&str> = table.rows.iter().map(|row| row[1].text.as_str()).collect();
    let place = |name: &str| figures.iter().position(|figure| figure.starts_with(name)).unwrap();
    assert!(place("accepted forgeries") < place("frames late or lost"), "{figures:?}");
    assert!(place("frames late or lost") < place("latency"), "{figures:?}");
    assert!(place("latency") < place("load"), "{figures:?}");
    let points = document.verdict.points.join("\n");
    assert!(points.contains("Worse: accepted forgeries (replay) of s from 0.0 to 8.0 a run."), "{points}");
    assert!(points.contains("Worse: median latency of s from 100.000 to 130.000 us, +30.0 %."), "{points}");
}

#[test]
fn longest_latencies_of_unlike_counts_are_not_compared() {
    let of = |n: u64, p99_us: f64| {
        (0..12)
            .map(|seed| {
                let mut stream = stream_of("laser", 100.0, p99_us + seed as f64, 0);
                let latency = stream.end_to_end.all.as_mut().unwrap();
                (latency.n, latency.p99_ns) = (n, None);
                run(seed, vec![stream])
            })
            .collect::<Vec<_>>()
    };
    let change = |a: &[Run], b: &[Run]| {
        let report = compare(a, b);
        let line = report.lines.into_iter().find(|line| line.kind == Kind::Tail).unwrap();
        (line.change, line.note, report.word)
    };
    // As many messages: what is longer is worse.
    assert_eq!(change(&of(200, 300.0), &of(220, 400.0)).0, Change::Worse);
    let (change, note, word) = change(&of(40, 300.0), &of(200, 400.0));
    assert_eq!((change, word), (Change::NotChecked, Word::NotChecked));
    assert!(note.contains("the longest of 40 messages a run is no measure beside the longest of 200"), "{note}");
}

#[test]
fn keys_that_are_there_later_are_worse() {
    let with = |after_us: i64| side(move |seed| keyed(single(seed, 100.0, 150.0, 0), after_us + seed as i64));
    let report = compare(&with(500_000), &with(600_000));
    let line = report.lines.iter().find(|line| line.kind == Kind::Keys).expect("a line of keys");
    assert_eq!((report.word, line.change), (Word::Worse, Change::Worse));
    let same = compare(&with(500_000), &with(500_100));
    assert_eq!(same.word, Word::Held);
}
