//! A small document with everything in it, hostile texts included.

use chronoseal_report::{
    Axis, Bar, BarKind, Block, Cell, Chart, Document, Evidence, Lane, Mark, RangeBound, RangePart, RangeRow,
    RangeSpread, Ranges, Section, Series, SeriesKind, Table, Timeline, Verdict, Word,
};

pub(crate) const HOSTILE: &str = "</title><script>alert(\"x\")</script><img src=x onerror='y'>&\u{1b}[31m";

pub(crate) fn document() -> Document {
    let mut table = Table::new("A table").words("name").numbers("value", "us").footnote(HOSTILE);
    table.push(vec![Cell::text(HOSTILE), Cell::number(12_345.678_9, 2).from(Evidence::Measured).titled(HOSTILE)]);
    table.push(vec![Cell::text("printed, \"quoted\""), Cell::number(1.5, 1).from(Evidence::Printed).marked(Mark::Bad)]);
    table.push(vec![Cell::text("l\u{e4}nge \u{6f22}\u{5b57}"), Cell::na("too few samples")]);
    let chart = Chart {
        caption: HOSTILE.into(),
        x: Axis::log("latency", "us"),
        y: Axis::linear("share", ""),
        series: vec![
            Series {
                name: HOSTILE.into(),
                kind: SeriesKind::Ecdf,
                points: (1..5000).map(|i| (f64::from(i), f64::from(i) / 5000.0)).collect(),
            },
            Series { name: "empty".into(), kind: SeriesKind::Points, points: vec![] },
            Series {
                name: "odd".into(),
                kind: SeriesKind::Line,
                points: vec![(0.0, 1.0), (f64::NAN, 2.0), (10.0, f64::INFINITY)],
            },
        ],
    };
    let timeline = Timeline {
        caption: HOSTILE.into(),
        cycle_ns: 10_000_000,
        lanes: vec![Lane {
            name: HOSTILE.into(),
            bars: vec![Bar { start_ns: 1_000, end_ns: 7_400, label: HOSTILE.into(), kind: BarKind::Frame }],
        }],
    };
    let ranges = Ranges {
        caption: HOSTILE.into(),
        quantity: "age".into(),
        unit: "us".into(),
        hops: vec![HOSTILE.into()],
        rows: vec![RangeRow {
            name: HOSTILE.into(),
            note: HOSTILE.into(),
            no_deadline: HOSTILE.into(),
            bound: Some(RangeBound { total: 90.0, parts: vec![RangePart { hop: 0, value: 90.0 }] }),
            spreads: vec![RangeSpread {
                evidence: Evidence::Measured,
                note: HOSTILE.into(),
                n: 7,
                min: 10.0,
                median: Some(20.0),
                p99: None,
                max: 80.0,
                parts: vec![RangePart { hop: 0, value: 20.0 }],
                tukey: None,
            }],
            mark: Mark::Bad,
            remark: HOSTILE.into(),
            ..RangeRow::default()
        }],
        footnotes: vec![HOSTILE.into()],
        lines: Vec::new(),
        is_log: false,
    };
    Document {
        title: HOSTILE.into(),
        subtitle: HOSTILE.into(),
        verdict: Verdict { word: Word::NotChecked, text: HOSTILE.into(), points: vec![HOSTILE.into()] },
        sections: vec![
            Section::new(HOSTILE)
                .with(Block::Text(HOSTILE.into()))
                .with(Block::Notes(vec![HOSTILE.into()]))
                .with(Block::Table(table))
                .with(Block::Chart(chart))
                .with(Block::Timeline(timeline))
                .with(Block::Ranges(ranges)),
        ],
        environment: vec![(HOSTILE.into(), HOSTILE.into())],
    }
}
