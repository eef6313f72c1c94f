//! What a run amounts to, folded row by row while it goes on.

use chronoseal_core::{DiscardReason, Duration, SimTime, StreamId};

use crate::group::{self, Changes};
use crate::summary::RECORDING;
use crate::summary::attacks::Attacked;
use crate::summary::nodes::{Clocks, Computed, Tasks};
use crate::summary::round_trips::RoundTrips;
use crate::summary::segments;
use crate::summary::streams::Streams;
use crate::{
    Absence, EventRow, FrameFigures, FrameRow, HopRow, Outcome, RunMeta, RunRows, RunSummary, Samples, StallSummary,
    Stays, WorkRow,
};

/// Takes in the rows of a run, keeps those whose frames are open, and counts the others.
///
/// Events and computations come in time. Of frames and transmissions those come together that were told of between two calls of
/// [`settle`](Self::settle); a transmission comes before the frames that it brought. What belongs to one frame may lie on both sides of one
/// such call, but not of two.
pub struct Fold {
    meta: RunMeta,
    clocks: Clocks,
    streams: Streams,
    round_trips: RoundTrips,
    attacks: Attacked,
    computed: Computed,
    tasks: Tasks,
    changes: Changes,
    figures: FrameFigures,
    strangers: u64,
    not_carried: u64,
    stalled: u64,
    last: SimTime,
}

impl Fold {
    /// Nothing has happened yet in a run that is described like this.
    pub fn new(meta: &RunMeta) -> Self {
        Self {
            clocks: Clocks::new(meta),
            streams: Streams::new(meta),
            round_trips: RoundTrips::new(meta),
            attacks: Attacked::default(),
            computed: Computed::default(),
            tasks: Tasks::default(),
            changes: Changes::default(),
            figures: FrameFigures::new(meta),
            strangers: 0,
            not_carried: 0,
            stalled: 0,
            last: SimTime::ZERO,
            meta: meta.clone(),
        }
    }

    /// Takes in an event.
    pub fn event(&mut self, row: &EventRow) {
        self.last = self.last.max(row.time);
        self.clocks.event(row);
        self.tasks.event(row);
        self.changes.event(row);
        self.attacks.event(&self.meta, row);
        self.streams.event(&self.meta, row);
    }

    /// Takes in a computation.
    pub fn work(&mut self, row: &WorkRow) {
        self.computed.work(row);
    }

    /// Takes in a transmission.
    pub fn hop(&mut self, row: &HopRow) {
        self.streams.hop(&self.meta, row);
    }

    /// Takes in a frame of which it is known how it ended.
    pub fn frame(&mut self, row: &FrameRow) {
        self.last = self.last.max(row.received_at.or(row.sent_at).unwrap_or(SimTime::ZERO));
        self.stalled += u64::from(row.stalled);
        if row.stream == StreamId::NONE && row.attack.is_none() && matches!(row.outcome, Outcome::Discarded(_)) {
            self.strangers += 1;
            self.not_carried += u64::from(self.is_not_carried(row));
        }
        self.attacks.frame(&self.meta, row);
        self.figures.note(&self.meta, row);
        self.round_trips.frame(row);
        self.streams.frame(row);
    }

    /// True if a gateway was to carry a frame of no stream on and had no room for it, and it may be one of a recording.
    fn is_not_carried(&self, row: &FrameRow) -> bool {
        use DiscardReason::{QueueFull, Superseded};
        // It had the frame, and has not put it on a segment.
        let is_held = row.sender == row.at && row.sent_at.is_none();
        let is_lost = matches!(row.outcome, Outcome::Discarded(QueueFull | Superseded));
        is_held && is_lost && self.meta.streams.iter().any(|stream| stream.class == RECORDING)
    }

    /// Says who is out of the group that reads a stream, as far as is known.
    pub fn set_absences(&mut self, absences: &[Absence]) {
        self.streams.set_absences(absences);
    }

    /// Counts the frames that are known to have ended. The run has come to `now`.
    pub fn settle(&mut self, now: SimTime) {
        self.streams.settle(&self.meta, &self.clocks, now, None, &Stays::default());
    }

    /// When start-up was over for each stream, as far as was known when frames were settled last `[ns]`.
    pub fn ready_ns(&self) -> &[i64] {
        self.streams.ready_ns()
    }

    /// What the run amounts to. `rest` is what is known of it as a whole: series of segments, stalls, writes, absences, and what nodes
    /// owe or had on their way. Also what reports show of its frames.
    pub fn finish(mut self, interrupted: bool, rest: &RunRows) -> (RunSummary, FrameFigures) {
        let last_ns = self.last.since_zero().as_ns();
        let planned = SimTime::ZERO + Duration::from_ns(self.meta.duration_ns);
        let end = match (self.meta.duration_ns > 0, interrupted) {
            (false, _) => self.last,
            (true, true) => self.last.min(planned),
            (true, false) => planned,
        };
        let passed_ns = if interrupted { last_ns } else { last_ns.max(self.meta.duration_ns) };
        self.streams.set_absences(&rest.absences);
        let stays = Stays::new(&rest.stalls);
        let held_up = self.clocks.held_up(&stays);
        self.streams.settle(&self.meta, &self.clocks, end, Some((&rest.owed, &rest.on_way)), &held_up);
        let meta = &self.meta;
        let (streams, latencies) = self.streams.finish(meta);
        let summary = RunSummary {
            passed_ns,
            round_trips: self.round_trips.finish(meta, &streams),
            streams,
            attacks: self.attacks.finish(meta),
            divided: Vec::new(),
            links: Vec::new(),
            segments: segments::segments(meta, &rest.segments, passed_ns),
            clocks: self.clocks.finish(&held_up),
            work: self.computed.finish(meta),
            tasks: self.tasks.finish(meta),
            release_error: rest.releases.iter().map(|row| row.error.as_ns()).collect::<Samples>().spread(),
            stalls: StallSummary {
                count: stays.lengths().count() as u64,
                total_ns: stays.lengths().map(Duration::as_ns).sum(),
                max_ns: stays.lengths().map(Duration::as_ns).max().unwrap_or(0),
                frames: self.stalled,
            },
            strangers: self.strangers,
            not_carried: self.not_carried,
            group: group::group(meta, self.changes),
            interrupted,
        };
        self.figures.latencies = latencies;
        (summary, self.figures)
    }
}

/// Sums up a run whose rows are all there. They may come in any order.
pub fn summarise(meta: &RunMeta, rows: &RunRows) -> RunSummary {
    let mut fold = Fold::new(meta);
    if rows.events.is_sorted_by_key(|row| row.time) {
        rows.events.iter().for_each(|row| fold.event(row));
    } else {
        let mut in_order: Vec<&EventRow> = rows.events.iter().collect();
        in_order.sort_by_key(|row| row.time);
        in_order.into_iter().for_each(|row| fold.event(row));
    }
    rows.work.iter().for_each(|row| fold.work(row));
    rows.hops.iter().for_each(|row| fold.hop(row));
    rows.frames.iter().for_each(|row| fold.frame(row));
    fold.finish(meta.interrupted || rows.interrupted, rows).0
}
