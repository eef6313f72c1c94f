//! Processor cost of authentication, for people (ISRCS 2014 (000), figure 3).

use chronoseal_report::{
    Axis, Block, Cell, Chart, Document, Evidence, Section, Series, SeriesKind, Table, Verdict, Word,
};
use chronoseal_runner::{CostRow, CostTable, SuiteCostTable};

/// The document of a measurement.
pub fn cost_document(costs: &CostTable, suites: &SuiteCostTable) -> Document {
    let text = match costs.cpu {
        Some(cpu) => format!("Measured on processor {cpu}, one call at a time."),
        None => "Measured wherever the kernel put the thread: the host refused to keep it on one processor.".into(),
    };
    Document {
        title: "Processor cost of authentication on this host".into(),
        subtitle:
            "Sealing and opening one frame, and the operations of a key exchange; the clock's own cost is subtracted."
                .into(),
        verdict: Verdict {
            word: Word::Held,
            text,
            points: vec!["`chronoseal bench --platform` prints these costs as a platform for a scenario.".into()],
        },
        sections: vec![
            Section::new("Frames")
                .with(Block::Table(cost_table(costs)))
                .with(Block::Chart(cost_chart(costs)))
                .with(Block::Table(other_table(costs))),
            Section::new("Key exchange").with(Block::Table(suite_table(suites))),
        ],
        environment: vec![("clock cost subtracted".into(), format!("{} ns", costs.overhead_ns))],
    }
}

/// Every operation of every suite.
fn suite_table(costs: &SuiteCostTable) -> Table {
    let mut table = Table::new("Processor time of one operation of a key exchange on this host, 64 bytes signed")
        .words("suite")
        .words("operation")
        .numbers("n", "")
        .numbers("min", "us")
        .numbers("mean", "us")
        .numbers("p50", "us")
        .numbers("p99", "us")
        .numbers("max", "us");
    for row in &costs.rows {
        let us = |ns: f64| Cell::number(ns / 1000.0, 3).from(Evidence::Measured);
        let percentile =
            |ns: Option<i64>| ns.map_or_else(|| Cell::na("too few calls for this percentile"), |ns| us(ns as f64));
        let duration = &row.duration;
        table.push(vec![
            Cell::text(row.suite),
            Cell::text(row.operation),
            Cell::count(duration.n),
            us(duration.min_ns as f64),
            us(duration.mean_ns),
            percentile(duration.p50_ns),
            percentile(duration.p99_ns),
            us(duration.max_ns as f64),
        ]);
    }
    table
}

/// Every hash at every length at both ends.
pub fn cost_table(costs: &CostTable) -> Table {
    let caption =
        "Processor time of one frame's authentication on this host, 64-byte key, whole tag, 8 bytes of freshness";
    frame_table(caption, "hash", &costs.rows)
        .footnote("The source shows minimum, average and maximum on a 1.6 GHz Atom as bars without numbers (figure 3).")
        .footnote("SHA-1 is kept for comparison with the source.")
}

/// The same of the MACs that the source does not have.
fn other_table(costs: &CostTable) -> Table {
    frame_table("The same with other algorithms, each with a key of its length", "algorithm", &costs.others)
}

fn frame_table(caption: &str, of: &str, rows: &[CostRow]) -> Table {
    let mut table = Table::new(caption)
        .words(of)
        .words("side")
        .numbers("frame", "B")
        .numbers("n", "")
        .numbers("min", "us")
        .numbers("mean", "us")
        .numbers("p50", "us")
        .numbers("p99", "us")
        .numbers("p99.9", "us")
        .numbers("max", "us");
    for row in rows {
        let us = |ns: f64| Cell::number(ns / 1000.0, 3).from(Evidence::Measured);
        let percentile =
            |ns: Option<i64>| ns.map_or_else(|| Cell::na("too few calls for this percentile"), |ns| us(ns as f64));
        let duration = &row.duration;
        table.push(vec![
            Cell::text(row.hash),
            Cell::text(row.side),
            Cell::count(row.frame_len as u64),
            Cell::count(duration.n),
            us(duration.min_ns as f64),
            us(duration.mean_ns),
            percentile(duration.p50_ns),
            percentile(duration.p99_ns),
            percentile(duration.p999_ns),
            us(duration.max_ns as f64),
        ]);
    }
    table
}

/// Medians over the frame length.
pub fn cost_chart(costs: &CostTable) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for row in &costs.rows {
        let Some(p50) = row.duration.p50_ns else { continue };
        let name = format!("{}, {}", row.hash, row.side);
        let point = (row.frame_len as f64, p50 as f64 / 1000.0);
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.points.push(point),
            None => series.push(Series { name, kind: SeriesKind::Line, points: vec![point] }),
        }
    }
    Chart {
        caption: "Median processor time over the frame length, measured on this host (the source's figure 3)".into(),
        x: Axis::linear("frame before protection", "B"),
        y: Axis::linear("time of one call", "us"),
        series,
    }
}
