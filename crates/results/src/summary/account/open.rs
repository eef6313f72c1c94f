//! Frames of a stream to one receiver, some of which have not ended.

use std::collections::BTreeSet;

use chronoseal_core::SimTime;

use super::Sent;
use crate::{FrameRow, OnWayRow, Outcome, StreamMeta};

/// How a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Row(FrameRow),
    /// Copies of it are known to be lost, and nothing else.
    LostCopy(FrameRow),
    Replaced,
}

impl End {
    pub(super) const fn row(&self) -> Option<&FrameRow> {
        match self {
            Self::Row(row) | Self::LostCopy(row) => Some(row),
            Self::Replaced => None,
        }
    }

    /// When its receiver accepted it.
    pub(super) fn accepted_at(&self) -> Option<SimTime> {
        let accepted = self.row().filter(|row| matches!(row.outcome, Outcome::Delivered | Outcome::Late));
        accepted.and_then(|row| row.received_at)
    }

    /// True if a receiver has waited long for a frame that has no slot.
    pub(super) fn is_missed(&self) -> bool {
        matches!(self, Self::Row(row) if row.outcome == Outcome::Missing && row.slot_start.is_none())
    }

    /// True if the frame, or another copy of it, can still come.
    pub(super) fn may_be_wrong(&self) -> bool {
        self.is_missed() || matches!(self, Self::LostCopy(_))
    }
}

/// A frame, and how it ended if it has.
pub(super) type Frame = (Sent, Option<End>);

/// Before every time of a run.
const FIRST: SimTime = SimTime::from_ps(i64::MIN);

/// Frames of a stream to one receiver by the time of sending.
pub(super) struct Open {
    pub(super) frames: Vec<Frame>,
    is_numbered: bool,
    is_replicated: bool,
    period_ns: i64,
    /// Numbers and places, several of one number if its sender started anew and began to count again.
    by_number: Vec<(u64, usize)>,
    /// Those without an end, by time; from when they are asked for.
    by_time: Option<BTreeSet<(SimTime, usize)>>,
}

impl Open {
    /// Of frames in time.
    pub(super) fn new(stream: &StreamMeta, frames: Vec<Frame>) -> Self {
        let mut by_number: Vec<(u64, usize)> = frames.iter().map(|(sent, _)| sent.number).zip(0..).collect();
        by_number.sort_unstable();
        Self {
            frames,
            is_numbered: stream.is_numbered,
            is_replicated: stream.is_replicated,
            period_ns: stream.period_ns,
            by_number,
            by_time: None,
        }
    }

    fn has_ended(&self, place: usize) -> bool {
        self.frames[place].1.is_some()
    }

    fn set(&mut self, place: usize, end: End) {
        let (sent, known) = &mut self.frames[place];
        *known = Some(end);
        if let Some(by_time) = &mut self.by_time {
            by_time.remove(&(sent.time, place));
        }
    }

    /// The last frame without an end that was sent before a time or at it, and the first after it.
    fn around(&mut self, at: SimTime) -> [Option<usize>; 2] {
        let frames = self.frames.iter().zip(0..);
        let open =
            || frames.filter(|((_, end), _)| end.is_none()).map(|((sent, _), place)| (sent.time, place)).collect();
        let by_time = self.by_time.get_or_insert_with(open);
        let before = by_time.range((FIRST, 0)..=(at, usize::MAX)).next_back();
        let after = by_time.range((at, usize::MAX)..).next();
        [before, after].map(|found| found.map(|(_, place)| *place))
    }

    /// The frame with a number that was on its way at a time: of several the last one sent before.
    fn numbered(&self, number: u64, at: Option<SimTime>) -> Option<usize> {
        let first = self.by_number.partition_point(|(known, _)| *known < number);
        let places = self.by_number[first..].iter().take_while(|(known, _)| *known == number).map(|(_, place)| *place);
        let is_before = |place: &usize| at.is_none_or(|at| self.frames[*place].0.due <= at);
        places.clone().filter(is_before).last().or_else(|| places.clone().next())
    }

    /// Which of them frames are that were somewhere when the run ended. Where no number tells frames apart, each is another one: which of
    /// those before it has come in its stead was not seen.
    pub(super) fn places_of<'r>(&mut self, rows: impl Iterator<Item = &'r OnWayRow>) -> BTreeSet<usize> {
        let (numbered, mut others): (Vec<_>, Vec<_>) = rows.partition(|row| self.is_numbered && row.sequence.is_some());
        let numbers = numbered.into_iter().filter_map(|row: &OnWayRow| Some((row.sequence?, row.sent_at)));
        let mut places: BTreeSet<usize> = numbers.filter_map(|(number, at)| self.numbered(number, Some(at))).collect();
        others.sort_by_key(|row| row.sent_at);
        for row in others {
            let Some(place) = self.around(row.sent_at)[0] else { continue };
            places.insert(place);
            if let Some(by_time) = &mut self.by_time {
                by_time.remove(&(self.frames[place].0.time, place));
            }
        }
        places
    }

    /// The frame a row is about gets its end. False if it has one, or if there is none.
    pub(super) fn end(&mut self, row: &FrameRow, end: impl FnOnce(FrameRow) -> End) -> bool {
        let place = match self.is_numbered {
            true => {
                let at = row.sent_at.or(row.received_at).unwrap_or(row.cycle_start);
                // What was only missed has come after all.
                let is_open = |end: &Option<End>| end.as_ref().is_none_or(End::is_missed);
                self.numbered(row.sequence, Some(at)).filter(|place| is_open(&self.frames[*place].1))
            }
            false => self.around(row.sent_at.unwrap_or(row.cycle_start)).into_iter().flatten().next(),
        };
        place.map(|place| self.set(place, end(*row))).is_some()
    }

    /// As [`end`](Self::end) of a frame that came, of which a copy may be known to be lost: in its stead, if so.
    pub(super) fn end_by_copy(&mut self, row: &FrameRow) -> (bool, bool) {
        let at = row.sent_at.or(row.received_at).unwrap_or(row.cycle_start);
        let known = self.numbered(row.sequence, Some(at)).filter(|_| self.is_numbered);
        let lost = known.filter(|place| matches!(self.frames[*place].1, Some(End::LostCopy(_))));
        match lost {
            Some(place) => {
                self.set(place, End::Row(*row));
                (true, true)
            }
            None => (self.end(row, End::Row), false),
        }
    }

    /// A receiver saw nothing in a slot, or waited too long for a frame it knows by its number. False if none was sent.
    pub(super) fn end_missing(&mut self, row: &FrameRow) -> bool {
        let place = match row.slot_start {
            // It was sent, whatever became of it.
            None => match self.numbered(row.sequence, Some(row.cycle_start)) {
                Some(place) if self.has_ended(place) => return true,
                place => place,
            },
            Some(slot) => {
                let around = self.around(slot);
                let distance = |place: &usize| (self.frames[*place].0.time - slot).as_ns().abs();
                let is_near = |place: &usize| distance(place) < self.period_ns;
                around.into_iter().flatten().filter(is_near).min_by_key(distance)
            }
        };
        place.map(|place| self.set(place, End::Row(*row))).is_some()
    }

    /// An attacker had a frame in its hands that was sent at a time, and it did not go on. Of one that is sent several times another copy
    /// may have come, and so may any of those that were sent at once.
    pub(super) fn end_taken(&mut self, at: SimTime) {
        let place = match self.is_replicated {
            true => {
                let before = &self.frames[..self.frames.partition_point(|(sent, _)| sent.time <= at)];
                let sent_at = before.last().map(|(sent, _)| sent.time);
                let is_one = |(sent, end): &Frame| Some(sent.time) == sent_at && end.is_none();
                before.iter().rposition(is_one)
            }
            false => self.around(at)[0],
        };
        place.into_iter().for_each(|place| self.set(place, End::Replaced));
    }
}
