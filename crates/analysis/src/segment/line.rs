//! Frames without a slot in front of one direction of a link, as `media::line` serves them.
//!
//! Classes have strict priority and nothing that has begun is interrupted. A scheduled frame interrupts nothing either:
//! the line is kept free for it (timely block), so a lower frame that would not end in time waits, and all that are behind
//! it wait too. Around each slot the line is therefore of no use to a class from the length of the longest frame of this
//! class and those above it before the slot may begin, until the scheduled frame is over.
//!
//! ```text
//! L = longest lower frame + sum of ceil((L + J) / T) C over this class and those above + most that slots take of any L
//! ```
//!
//! bounds what a frame of the class waits, in whatever order its class is served ([`super::demand`]). A scheduled frame
//! that can be later than its reservation lasts can meet a frame that has just begun; both are counted to the slot then.

use chronoseal_core::{Duration, Priority};

use super::demand::{Cyclic, Entry, Load, Overload, Periodic};

/// The class of protocol control frames, above virtual links and all of best effort.
pub(super) const CONTROL: u8 = Priority::PROTOCOL_CONTROL.0;

/// Frames of one stream on a line that wait for no slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// The higher goes first.
    pub(super) class: u8,
    /// When they come, and how long each keeps the line.
    pub(super) frames: Periodic,
    /// How long one of them keeps the line at most: longer than it counts where frames hold what is counted by itself.
    pub(super) longest: Duration,
}

/// What a scheduled frame takes of a line, from the start of the cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    /// The line is kept free from here on.
    pub(super) from: Duration,
    /// It is kept free until then.
    pub(super) until: Duration,
    /// The frame is there at the latest.
    pub(super) latest: Duration,
    /// How long it keeps the line.
    pub(super) frame_time: Duration,
}

/// All that goes over a line.
#[derive(Clone, Debug, Default)]
pub(super) struct LineLoad {
    pub(super) queued: Vec<Queued>,
    pub(super) reserved: Vec<Reserved>,
    /// What a scheduled frame waits for the frame on the line, if the line is not kept free for it.
    pub(super) wait: Option<Duration>,
    pub(super) cycle: Duration,
}

impl LineLoad {
    /// How long a frame of this class can be on its way over the line, at most: from its place in the queue until the next
    /// frame may begin.
    pub(super) fn stay(&self, class: u8) -> Result<Duration, Overload> {
        let lower = self.queued.iter().filter(|one| one.class < class).map(|one| one.longest);
        let same_or_higher = || self.queued.iter().filter(|one| one.class >= class);
        let longest = same_or_higher().map(|one| one.longest).max().unwrap_or_default();
        let load = Load {
            once: lower.max().unwrap_or_default(),
            periodic: same_or_higher().map(|one| one.frames).collect(),
            cyclic: vec![self.closed(longest)?],
        };
        load.busy_period()
    }

    /// When each scheduled frame is over at the latest, in the order of `reserved`.
    pub(super) fn scheduled_ends(&self) -> Vec<Duration> {
        let longest = self.queued.iter().map(|one| one.longest).max().unwrap_or_default();
        let mut in_turn: Vec<(Duration, usize)> =
            self.reserved.iter().enumerate().map(|(index, slot)| (slot.from.rem_floor(self.cycle), index)).collect();
        in_turn.sort_unstable();
        let mut ends = vec![Duration::ZERO; self.reserved.len()];
        let mut before = Duration::from_ps(i64::MIN / 2);
        // Twice, since the last of a cycle can be in the way of the first of the next one.
        for cycle in [-1, 0] {
            for (turn, index) in &in_turn {
                let slot = &self.reserved[*index];
                let shift = *turn + self.cycle * cycle - slot.from;
                let late = if slot.latest > slot.until { longest } else { Duration::ZERO };
                let met = self.wait.unwrap_or(late);
                before = before.max(slot.latest + shift + met) + slot.frame_time;
                ends[*index] = before - shift;
            }
        }
        ends
    }

    /// What slots take of the line from frames of which the longest takes `longest`.
    fn closed(&self, longest: Duration) -> Result<Cyclic, Overload> {
        let mut times: Vec<(Duration, Duration)> = (self.reserved.iter().zip(self.scheduled_ends()))
            // The instant at which a reservation ends belongs to it.
            .map(|(slot, end)| (slot.from - longest, end.max(slot.until + Duration::from_ps(1))))
            .collect();
        times.sort_unstable();
        let mut merged: Vec<(Duration, Duration)> = Vec::new();
        for (from, until) in times {
            match merged.last_mut() {
                Some(last) if last.1 >= from => last.1 = last.1.max(until),
                _ => merged.push((from, until)),
            }
        }
        let taken: Duration = merged.iter().map(|(from, until)| *until - *from).sum();
        if taken >= self.cycle && !merged.is_empty() {
            return Err(Overload::NoRoom);
        }
        let entry =
            |(from, until): &(Duration, Duration)| Entry { earliest: *from, latest: *from, cost: *until - *from };
        Ok(Cyclic::new(self.cycle, &merged.iter().map(entry).collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(i64) -> Duration = Duration::from_us;

    fn queued(class: u8, period: i64, cost: i64) -> Queued {
        let frames = Periodic { period: US(period), jitter: Duration::ZERO, cost: US(cost) };
        Queued { class, frames, longest: US(cost) }
    }

    fn slot(at: i64, late: i64, frame_time: i64) -> Reserved {
        Reserved { from: US(at), until: US(at), latest: US(at + late), frame_time: US(frame_time) }
    }

    fn line(queued: &[Queued], reserved: &[Reserved]) -> LineLoad {
        LineLoad { queued: queued.to_vec(), reserved: reserved.to_vec(), cycle: US(1000), wait: None }
    }

    #[test]
    fn a_frame_waits_for_its_class_those_above_and_one_below() {
        let line = line(&[queued(5, 1000, 10), queued(3, 1000, 20), queued(3, 1000, 30), queued(0, 1000, 40)], &[]);
        assert_eq!(line.stay(5), Ok(US(40 + 10)));
        assert_eq!(line.stay(3), Ok(US(40 + 10 + 20 + 30)));
        assert_eq!(line.stay(0), Ok(US(100)));
    }

    #[test]
    fn around_a_slot_the_line_is_closed() {
        // Closed from the longest frame before the slot until its frame is over.
        let one = line(&[queued(3, 1000, 20)], &[slot(500, 0, 50)]);
        assert_eq!(one.stay(3), Ok(US(20 + 20 + 50) + Duration::ZERO));
        // Two slots so near that nothing fits between them are one; two that are not are met one after the other.
        let near = line(&[queued(3, 1000, 20)], &[slot(500, 0, 50), slot(560, 0, 50)]);
        assert_eq!(near.stay(3), Ok(US(20 + 20 + 110)));
        let apart = line(&[queued(3, 1000, 20)], &[slot(100, 0, 50), slot(600, 0, 50)]);
        assert_eq!(apart.stay(3), Ok(US(20 + 70)));
        // A scheduled frame that can be late meets one that has just begun.
        let late = line(&[queued(3, 1000, 20)], &[slot(500, 5, 50)]);
        assert_eq!(late.stay(3), Ok(US(20 + 20 + 5 + 20 + 50)));
        let full = line(&[queued(3, 1000, 20)], &[slot(0, 0, 990)]);
        assert_eq!(full.stay(3), Err(Overload::NoRoom));
    }

    #[test]
    fn the_last_slot_of_a_cycle_can_be_in_the_way_of_the_first() {
        let line = line(&[], &[slot(0, 0, 50), slot(990, 0, 50)]);
        assert_eq!(line.scheduled_ends(), [US(90), US(1040)]);
    }
}
