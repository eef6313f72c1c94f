//! What switches and their links were used for.
//!
//! A frame costs an addition here. What is kept grows once for each window, never for each frame.

use chronoseal_core::{Duration, SimTime};

use crate::line::Line;
use crate::medium::Series;

/// Frames counted on the links of one network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Started on a link from a station to its switch.
    pub(super) from_stations: i64,
    /// Started on a link to a station, each copy for itself.
    pub(super) to_stations: i64,
    /// Started on a link between switches.
    pub(super) between_switches: i64,
    /// Thrown away by a switch.
    pub(super) dropped: i64,
}

/// Counts of the window that has begun, and what the windows before it came to.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    window: Option<Duration>,
    window_end: SimTime,
    pub(super) counts: Counts,
    closed: Vec<Counts>,
    /// Time the busiest link of each closed window was used.
    busiest: Vec<Duration>,
    /// Time each link was used in the closed windows.
    busy_by_line: Vec<Duration>,
    /// There are links between switches.
    has_trunks: bool,
}

impl Statistics {
    /// Windows of a length from the start of the run, or none: totals only.
    pub(super) fn new(window: Option<Duration>, lines: usize, has_trunks: bool) -> Self {
        Self {
            window,
            window_end: window.map_or(SimTime::MAX, |window| SimTime::ZERO + window),
            counts: Counts::default(),
            closed: Vec::new(),
            busiest: Vec::new(),
            busy_by_line: vec![Duration::ZERO; lines],
            has_trunks,
        }
    }

    /// Closes the windows that ended by `now`. To be called before anything is counted at `now`.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: SimTime, lines: &mut [Line]) {
        if now >= self.window_end {
            self.close_until(now, lines);
        }
    }

    #[cold]
    fn close_until(&mut self, now: SimTime, lines: &mut [Line]) {
        let Some(window) = self.window else { return };
        while now >= self.window_end {
            self.closed.push(std::mem::take(&mut self.counts));
            let mut busiest = Duration::ZERO;
            for (total, line) in self.busy_by_line.iter_mut().zip(&mut *lines) {
                let busy = line.busy_before(self.window_end);
                line.forget_busy_before(self.window_end);
                *total += busy;
                busiest = busiest.max(busy);
            }
            self.busiest.push(busiest);
            self.window_end += window;
        }
    }

    /// What was counted so far.
    pub(super) fn series(&self, lines: &[Line]) -> Vec<Series> {
        let busy_now = |line: &Line| line.busy_before(self.window_end);
        let by_line = self.busy_by_line.iter().zip(lines).map(|(total, line)| *total + busy_now(line));
        let mut series = vec![Series::total(BUSIEST, "ns", by_line.max().unwrap_or(Duration::ZERO).as_ns())];
        for (name, of) in COUNTED.into_iter().filter(|(name, _)| self.has_trunks || *name != BETWEEN) {
            let values: Vec<i64> = self.closed.iter().chain([&self.counts]).map(of).collect();
            series.push(Series::total(name, "frames", values.iter().sum()));
            series.extend(self.window.map(|window| Series {
                name: name.into(),
                unit: "frames",
                window: Some(window),
                values,
            }));
        }
        if let Some(window) = self.window {
            let last = lines.iter().map(busy_now).max().unwrap_or(Duration::ZERO);
            let values = self.busiest.iter().chain([&last]).map(|busy| busy.as_ns()).collect();
            series.push(Series { name: BUSIEST.into(), unit: "ns", window: Some(window), values });
        }
        series
    }
}

/// The use of the link that was used most: in all of the run, or in one window.
const BUSIEST: &str = "busiest link";

/// A series that only a network of several switches has.
const BETWEEN: &str = "frames between switches";

/// What a series counts.
type Of = fn(&Counts) -> i64;

/// Series of frames, by name.
const COUNTED: [(&str, Of); 4] = [
    ("frames from stations", |counts| counts.from_stations),
    ("frames to stations", |counts| counts.to_stations),
    (BETWEEN, |counts| counts.between_switches),
    ("frames dropped", |counts| counts.dropped),
];
