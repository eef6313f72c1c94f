//! What a report shows of single frames, gathered row by row, so that the rows need not be kept.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{AttackKind, DiscardReason, NodeId, StreamId};

use crate::{FrameRow, Outcome, RunMeta, RunSummary, Samples};

/// Latencies, what was stopped where, and one cycle of each schedule as it was seen.
#[derive(Clone, Debug, Default)]
pub struct FrameFigures {
    /// By stream: of frames accepted after start-up, from when they were due to when they were accepted `[ns]`.
    pub latencies: Vec<Samples>,
    /// How many frames of attacks were stopped.
    pub stopped: BTreeMap<Stopped, u64>,
    /// Where genuine frames were thrown away.
    pub lost_at: BTreeMap<(StreamId, DiscardReason), BTreeSet<NodeId>>,
    /// By segment.
    seen: Vec<Option<SeenCycles>>,
}

/// Frames of one attack that one node stopped for one reason.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stopped {
    /// What the attacker did.
    pub attack: AttackKind,
    /// Who.
    pub attacker: NodeId,
    /// The stream it was aimed at.
    pub stream: StreamId,
    /// Who stopped it.
    pub at: NodeId,
    /// Why.
    pub reason: DiscardReason,
}

/// A cluster cycle, and the frames that were stamped at its switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenCycle {
    /// Counted from the start of the run.
    pub number: i64,
    /// In the order in which they were told of.
    pub rows: Vec<FrameRow>,
}

/// The cycles of a segment that one may be shown of.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SeenCycles {
    cycle_ns: i64,
    /// The one in the middle of the run.
    middle: i64,
    /// The first one with a frame of an attack.
    attacked: Option<SeenCycle>,
    /// The first one from the middle on.
    half_way: Option<SeenCycle>,
    /// The last one before the middle.
    last: Option<SeenCycle>,
}

impl FrameFigures {
    /// Of no frame of a run that is described like this.
    pub fn new(meta: &RunMeta) -> Self {
        let cycles = |segment: &crate::SegmentMeta| {
            let table = segment.schedule.as_ref().filter(|table| !table.slots.is_empty() && table.cycle_ns > 0)?;
            let middle = meta.duration_ns / 2 / table.cycle_ns;
            Some(SeenCycles { cycle_ns: table.cycle_ns, middle, attacked: None, half_way: None, last: None })
        };
        Self {
            latencies: vec![Samples::default(); meta.streams.len()],
            seen: meta.segments.iter().map(cycles).collect(),
            ..Self::default()
        }
    }

    /// Of all frames of a run.
    pub fn of<'r>(meta: &RunMeta, summary: &RunSummary, rows: impl IntoIterator<Item = &'r FrameRow>) -> Self {
        let mut figures = Self::new(meta);
        rows.into_iter().for_each(|row| figures.add(meta, summary, row));
        figures
    }

    /// Takes in a frame of a run of which it is known what it came to.
    pub fn add(&mut self, meta: &RunMeta, summary: &RunSummary, row: &FrameRow) {
        self.note(meta, row);
        let index = row.stream.index();
        let (Some(samples), Some(stream)) = (self.latencies.get_mut(index), summary.streams.get(index)) else { return };
        if let Some(latency) = row.latency().filter(|_| row.is_accepted_from(stream.ready_ns)) {
            samples.push(latency.as_ns());
        }
    }

    /// [`add`](Self::add) without the latency.
    pub(crate) fn note(&mut self, meta: &RunMeta, row: &FrameRow) {
        if let Outcome::Discarded(reason) = row.outcome {
            match row.attack {
                Some(attack) => {
                    let (attacker, stream, at) = (row.sender, row.stream, row.at);
                    *self.stopped.entry(Stopped { attack, attacker, stream, at, reason }).or_default() += 1;
                }
                None => drop(self.lost_at.entry((row.stream, reason)).or_default().insert(row.at)),
            }
        }
        if row.arrived_at.is_none() && row.departed_at.is_none() {
            return;
        }
        // A frame of no stream can have been on any segment.
        match meta.streams.get(row.stream.index()) {
            Some(stream) => stream.segments.iter().for_each(|segment| self.see(usize::from(*segment), row)),
            None if self.seen.len() == 1 => self.see(0, row),
            None => {}
        }
    }

    fn see(&mut self, segment: usize, row: &FrameRow) {
        if let Some(Some(cycles)) = self.seen.get_mut(segment) {
            cycles.see(row);
        }
    }

    /// The cycle of a segment's schedule that is shown as it was seen: the first with a frame of an attack, else one in the middle of
    /// the run. `None` if nothing was stamped.
    pub fn seen(&self, segment: u16) -> Option<&SeenCycle> {
        let cycles = self.seen.get(usize::from(segment))?.as_ref()?;
        cycles.attacked.as_ref().or(cycles.half_way.as_ref()).or(cycles.last.as_ref())
    }
}

impl SeenCycles {
    fn see(&mut self, row: &FrameRow) {
        let number = row.slot_start.unwrap_or(row.cycle_start).since_zero().as_ns().div_euclid(self.cycle_ns);
        let is_it = |cycle: &&SeenCycle| cycle.number == number;
        match &mut self.attacked {
            Some(known) if known.number == number => return known.rows.push(*row),
            Some(known) if row.attack.is_none() || known.number < number => return,
            // What came before in this cycle is there if it was not long ago.
            earliest if row.attack.is_some() => {
                let before = self.last.as_ref().filter(is_it).or(self.half_way.as_ref().filter(is_it));
                let rows = before.map(|cycle| cycle.rows.clone()).unwrap_or_default();
                *earliest = Some(SeenCycle { number, rows: [&rows[..], &[*row]].concat() });
            }
            _ => {}
        }
        let (place, is_nearer) = if number < self.middle {
            let is_later = self.last.as_ref().is_none_or(|known| number > known.number);
            (&mut self.last, is_later)
        } else {
            let is_earlier = self.half_way.as_ref().is_none_or(|known| number < known.number);
            (&mut self.half_way, is_earlier)
        };
        match place {
            Some(known) if known.number == number => known.rows.push(*row),
            Some(known) if is_nearer => {
                known.number = number;
                known.rows.clear();
                known.rows.push(*row);
            }
            None => *place = Some(SeenCycle { number, rows: vec![*row] }),
            Some(_) => {}
        }
    }
}
