//! The exchange under a real bus's traffic: what it loads the bus with, and what that traffic then misses.

use chronoseal_core::Duration;
use chronoseal_groupkey::{Profile, Scheme};
use chronoseal_report::{Axis, Cell, Chart, Evidence, Mark, Series, SeriesKind, Table};
use chronoseal_results::SeriesSummary;
use chronoseal_runner::Run;

use super::scenarios::Group;
use crate::StudyError;

/// Recordings that are replayed: name, bit rate they were made at, what they are.
const BACKGROUNDS: [(&str, &str, &str); 3] = [
    ("car-busmaster", "500kbit/s", "a car, 33 % of 500 kbit/s; time stamps of 1 ms and in batches"),
    ("car-synthetic", "500kbit/s", "synthetic: identifiers, lengths and periods of another car, 41 % of 500 kbit/s"),
    ("vessel-bus", "250kbit/s", "a vessel's NMEA 2000 bus, 29-bit identifiers, 250 kbit/s"),
];

/// Members of the group, all TC297.
const N: u32 = 12;

pub(super) struct Traffic {
    pub(super) table: Table,
    pub(super) charts: Vec<Chart>,
    /// Frames of the first recording that were late with and without the fastest scheme.
    pub(super) late: (u64, u64),
}

pub(super) fn traffic(seed: u64) -> Result<Traffic, StudyError> {
    let mut table = Table::new(format!(
        "A key for {N} ECUs while recorded traffic goes on: two seconds, the exchange begins after half a second"
    ))
    .words("traffic")
    .words("scheme")
    .numbers("key after", "ms")
    .numbers("load before", "%")
    .numbers("busiest 10 ms", "%")
    .numbers("recorded frames", "")
    .numbers("late without exchange", "")
    .numbers("late with it", "")
    .footnote(
        "Late: received more than the median distance of its identifier after its sender had it. FourQ, TC297, hardened \
         profile; frames of the exchange with bit-rate switch at 2 Mbit/s. A recording that was stamped in batches is \
         replayed in batches, so some of its frames are late without any exchange.",
    );
    let mut charts = Vec::new();
    let mut late = (0, 0);
    for (background, bit_rate, what) in BACKGROUNDS {
        let setting = Group {
            n: N,
            profile: Profile::Hardened,
            background: Some(background),
            bit_rate,
            start: "500ms",
            duration: "2s",
            seed,
            ..Group::SOURCE
        };
        // The exchange after the end of the run: the traffic alone.
        let alone = run(&Group { start: "10s", ..setting.clone() })?;
        let late_alone = late_of(&alone);
        let mut series = vec![load_series("without exchange", &alone)];
        for scheme in Scheme::ALL {
            let run = run(&Group { scheme, ..setting.clone() })?;
            let late_with = late_of(&run);
            if background == BACKGROUNDS[0].0 && scheme == Scheme::WithoutOrchestrator {
                late = (late_alone, late_with);
            }
            table.push(row(what, scheme, &alone, &run));
            series.push(load_series(scheme.name(), &run));
        }
        charts.push(Chart {
            caption: format!("Load of the bus over time: {what}"),
            x: Axis::linear("time", "ms"),
            y: Axis::linear("load", "%"),
            series,
        });
    }
    Ok(Traffic { table, charts, late })
}

fn run(setting: &Group<'_>) -> Result<Run, StudyError> {
    setting.simulate()
}

fn late_of(run: &Run) -> u64 {
    run.summary.streams.iter().map(|stream| stream.late).sum()
}

fn row(what: &str, scheme: Scheme, alone: &Run, run: &Run) -> Vec<Cell> {
    let simulated = |cell: Cell| cell.from(Evidence::Simulated);
    let key = match (&run.meta.group, &run.summary.group) {
        (Some(meta), Some(found)) => found.established_after_ns(meta),
        _ => None,
    };
    let (late_alone, late_with) = (late_of(alone), late_of(run));
    let share =
        |value: Option<f64>| value.map_or_else(|| Cell::na("no bus"), |v| simulated(Cell::number(100.0 * v, 1)));
    vec![
        Cell::text(what),
        Cell::text(scheme.name()),
        key.map_or_else(|| Cell::text("no key").marked(Mark::Bad), |ns| simulated(Cell::number(ns as f64 / 1e6, 3))),
        share(load_of(alone).and_then(|load| load.share)),
        share(load_of(run).and_then(|load| load.share_max)),
        simulated(Cell::count(run.summary.streams.iter().map(|stream| stream.sent).sum())),
        simulated(Cell::count(late_alone)),
        simulated(Cell::count(late_with)).marked(if late_with > late_alone { Mark::Warn } else { Mark::None }),
    ]
}

/// How much of the time the bus was used.
fn load_of(run: &Run) -> Option<&SeriesSummary> {
    run.summary.segments.first()?.load()
}

fn load_series(name: &str, run: &Run) -> Series {
    let by_window = load_of(run).and_then(|load| run.rows.by_window(0, &load.name));
    let points = by_window.map_or_else(Vec::new, |series| {
        let window_ns = series.window.map_or(1, Duration::as_ns);
        let window_ms = window_ns as f64 / 1e6;
        let busy = series.values.iter().enumerate();
        busy.map(|(index, busy)| (index as f64 * window_ms, 100.0 * *busy as f64 / window_ns as f64)).collect()
    });
    Series { name: name.into(), kind: SeriesKind::Step, points }
}
