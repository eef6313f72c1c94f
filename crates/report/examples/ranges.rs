//! Prints a made-up picture of ranges, to look at: `cargo run --example ranges > ranges.html`. With `text` or `csv` it prints
//! that form, with `many` more streams than are drawn, with `narrow` streams that differ little, with `plain` streams without
//! bounds and deadlines. Every number in it is invented.

use chronoseal_report::{
    Block, Document, Evidence, Mark, RangeBound, RangePart, RangeRow, RangeSpread, Ranges, Section, TerminalStyle,
    Verdict, Word, csv, html, terminal,
};

#[allow(clippy::print_stdout)] // An example's output is its point.
fn main() {
    let forms: Vec<String> = std::env::args().skip(1).collect();
    let has = |form: &str| forms.iter().any(|given| given == form);
    let mut ranges = sample();
    if has("many") {
        let rows = ranges.rows.clone();
        ranges.rows = (0..90).map(|i| RangeRow { name: format!("stream-{i}"), ..rows[i % 12].clone() }).collect();
    }
    if has("narrow") {
        ranges.rows.retain(|row| row.bound.as_ref().is_some_and(|bound| bound.total > 300.0 && bound.total < 1_100.0));
    }
    if has("plain") {
        for row in &mut ranges.rows {
            (row.bound, row.deadline, row.unbounded) = (None, None, "the run was stored without one".into());
            row.no_deadline = "the run names none for this stream".into();
            row.spreads.retain(|spread| spread.evidence == Evidence::Simulated);
            row.absent.retain(|(source, _)| *source == Evidence::Simulated);
        }
    }
    let document = Document {
        title: "A sample picture of ranges".into(),
        subtitle: "Made up to show what the opening picture looks like. Every number in it is invented.".into(),
        verdict: Verdict { word: Word::NotChecked, text: "Two invented streams are too late.".into(), points: vec![] },
        sections: vec![Section::new("All streams").with(Block::Ranges(ranges))],
        environment: vec![("host".into(), "made up".into())],
    };
    print!(
        "{}",
        match () {
            () if has("text") => terminal(&document, TerminalStyle::default()),
            () if has("csv") => csv(&document),
            () => html(&document),
        }
    );
}

/// Name, way, deadline, bound by hop, simulated and measured median `[us]`.
type Made = (&'static str, &'static str, Option<f64>, &'static [(usize, f64)], Option<f64>, Option<f64>);

const STREAMS: [Made; 12] = [
    (
        "brake-request",
        "pedal \u{2192} brake-rear",
        Some(500.0),
        &[(0, 130.0), (4, 60.0), (1, 190.0)],
        Some(180.0),
        Some(214.0),
    ),
    (
        "brake-status",
        "brake-rear \u{2192} pedal, central-computer, recorder",
        Some(500.0),
        &[(1, 260.0), (4, 80.0), (0, 250.0)],
        Some(301.0),
        Some(388.0),
    ),
    (
        "steering-angle",
        "column \u{2192} rack",
        Some(1_000.0),
        &[(0, 240.0), (4, 60.0), (2, 420.0)],
        Some(402.0),
        Some(455.0),
    ),
    (
        "wheel-speed-front-left-after-filtering-and-plausibility-check",
        "wheel \u{2192} esc",
        Some(2_000.0),
        &[(1, 900.0), (5, 140.0)],
        Some(610.0),
        Some(740.0),
    ),
    (
        "radar-objects",
        "radar-front \u{2192} central-computer",
        Some(5_000.0),
        &[(2, 1_900.0)],
        Some(1_120.0),
        Some(1_480.0),
    ),
    (
        "camera-front",
        "camera \u{2192} central-computer",
        Some(33_000.0),
        &[(2, 9_300.0), (6, 1_200.0), (3, 8_400.0)],
        Some(11_200.0),
        Some(12_900.0),
    ),
    (
        "lidar-points",
        "lidar \u{2192} central-computer",
        Some(50_000.0),
        &[(3, 61_000.0)],
        Some(21_000.0),
        Some(29_500.0),
    ),
    ("sync", "master \u{2192} all", Some(100.0), &[(2, 11.0)], Some(7.4), Some(8.9)),
    ("torque-request", "inverter \u{2192} motor", Some(250.0), &[(0, 196.0)], Some(122.0), Some(171.0)),
    (
        "door-state",
        "door \u{2192} body",
        Some(100_000.0),
        &[(1, 1_400.0), (5, 300.0), (7, 6_100.0)],
        Some(2_300.0),
        None,
    ),
    ("software-update", "gateway \u{2192} all", None, &[], Some(41_000.0), Some(64_000.0)),
    ("diagnosis", "tester \u{2192} gateway", Some(200_000.0), &[], None, None),
];

fn sample() -> Ranges {
    let rows = STREAMS.into_iter().enumerate().map(|(i, (name, note, deadline, parts, simulated, measured))| {
        let parts: Vec<RangePart> = parts.iter().map(|&(hop, value)| RangePart { hop, value }).collect();
        let total: f64 = parts.iter().map(|part| part.value).sum();
        let mut row = RangeRow {
            name: name.into(),
            note: note.into(),
            deadline,
            no_deadline: "the scenario names none".into(),
            unbounded: "best effort: nothing limits what it meets in a queue".into(),
            spreads: simulated
                .map(|median| spread(Evidence::Simulated, median, 0.74, 1.5, &parts))
                .into_iter()
                .chain(
                    measured.map(|median| spread(Evidence::Measured, median, 0.8, if i == 1 { 1.9 } else { 1.3 }, &[])),
                )
                .collect(),
            ..RangeRow::default()
        };
        if !parts.is_empty() {
            (row.unbounded, row.bound) = (String::new(), Some(RangeBound { total, parts }));
        }
        if simulated.is_none() {
            row.absent.push((Evidence::Simulated, "no frame was accepted after start-up".into()));
        }
        if measured.is_none() {
            row.absent.push((Evidence::Measured, "that run has no such stream".into()));
        }
        if i == 11 {
            (row.mark, row.remark) = (Mark::Bad, "simulated: 4 lost".into());
        }
        row
    });
    Ranges {
        caption: "Latency of every stream: what was seen, what is possible, what is allowed".into(),
        quantity: "end-to-end latency".into(),
        unit: "\u{b5}s".into(),
        hops: [
            "can-chassis",
            "can-wheels",
            "eth-front",
            "eth-rear",
            "gateway-chassis",
            "gateway-wheels",
            "switch-front",
            "lin-doors",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
        footnotes: vec!["Drawn beside this run: the measured run of sample with seed 42, 5.000 s long.".into()],
        lines: Vec::new(),
        is_log: false,
    }
}

fn spread(evidence: Evidence, median: f64, low: f64, high: f64, parts: &[RangePart]) -> RangeSpread {
    let total: f64 = parts.iter().map(|part| part.value).sum();
    let scaled = |part: &RangePart| RangePart { value: part.value * median / total, ..*part };
    RangeSpread {
        evidence,
        note: String::new(),
        n: 400,
        min: median * low,
        median: Some(median),
        p99: (median < 20_000.0).then_some(median * (1.0 + (high - 1.0) * 0.6)),
        max: median * high,
        parts: if parts.len() > 1 { parts.iter().map(scaled).collect() } else { Vec::new() },
        tukey: None,
    }
}
