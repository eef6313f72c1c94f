//! A group by MLS on the bus of the source: no MLS is executed here. Its messages have the lengths, and its members take
//! the time, that the peer measured on its host (studies/can-group-key/peers/mls.csv).
//!
//! A group is created by one member: each other sends its key package, the creator makes a commit, which nobody is there
//! to hear, and a Welcome, which all process. A removal is one commit that all who stay process. Messages go in frames
//! of CAN-FD, one byte of each numbering the segment.

use chronoseal_core::{Command, Duration, HandleError, Input, LocalTime, Node, Operation, Output, Work};
use chronoseal_wire::can::CanFrameView;

use super::on_bus::{Action, Agenda, REMOVAL_AT, Watched, address, frame, run};
use crate::StudyError;

const MEASURED: &str = include_str!("../../../../studies/can-group-key/peers/mls.csv");

/// Data of an FD frame of a segmented message: one byte numbers the segment.
const SEGMENT_LEN: usize = 63;

const CREATOR: u8 = 0;
const REMOVED: u8 = 1;
const TO_ALL: u8 = 255;

const KEY_PACKAGE: u8 = 1;
const WELCOME: u8 = 2;
const COMMIT: u8 = 3;

/// What the peer measured with a group of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Members.
    pub(super) size: u32,
    key_package_len: usize,
    key_package: Duration,
    create: Duration,
    welcome_len: usize,
    join: Duration,
    process: Duration,
    /// Time and length of the commit that removes a member; none in a group of two.
    removal: Option<(Duration, usize)>,
}

impl Measured {
    /// What all members compute until there is a key.
    pub(super) fn computing(&self) -> Duration {
        self.create + (self.key_package + self.join) * (i64::from(self.size) - 1)
    }
}

/// Every size.
pub(super) fn measured() -> Vec<Measured> {
    let time = |us: f64| Duration::from_ns((us * 1000.0) as i64);
    MEASURED
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            let number = |column: usize| cells.get(column).copied().flatten();
            let value = |column: usize| number(column).unwrap_or(0.0);
            Measured {
                size: value(0) as u32,
                key_package_len: value(1) as usize,
                key_package: time(value(2)),
                create: time(value(3)),
                welcome_len: value(4) as usize,
                join: time(value(5)),
                process: time(value(8)),
                removal: number(9).zip(number(10)).map(|(us, len)| (time(us), len as usize)),
            }
        })
        .collect()
}

struct Participant {
    number: u8,
    measured: Measured,
    /// Segments heard of the messages of each step.
    segments: [usize; 4],
    has_removed: bool,
    agenda: Agenda,
}

impl Participant {
    fn compute(&mut self, time: Duration) {
        self.agenda.push(Action::Work(Work::declared(Operation("mls"), time)));
    }

    fn say(&mut self, step: u8, to: u8, len: usize) {
        for (number, begin) in (0..len).step_by(SEGMENT_LEN).enumerate() {
            let mut data = [0x5a; 1 + SEGMENT_LEN];
            data[0] = number as u8;
            let end = 1 + (len - begin).min(SEGMENT_LEN);
            self.agenda.push(Action::Send(frame(step, self.number, to, &data[..end])));
        }
    }

    /// True with the last segment of `messages` messages of `len` bytes.
    fn is_whole(&mut self, step: u8, messages: usize, len: usize) -> bool {
        let heard = &mut self.segments[usize::from(step)];
        *heard += 1;
        *heard == messages * len.div_ceil(SEGMENT_LEN)
    }

    fn received(&mut self, step: u8) {
        let Measured { size, key_package_len, create, welcome_len, join, process, removal, .. } = self.measured;
        match (step, self.number) {
            (KEY_PACKAGE, CREATOR) if self.is_whole(step, size as usize - 1, key_package_len) => {
                self.compute(create);
                self.agenda.push(Action::Installed(1));
                self.say(WELCOME, TO_ALL, welcome_len);
            }
            (WELCOME, 1..) if self.is_whole(step, 1, welcome_len) => {
                self.compute(join);
                self.agenda.push(Action::Installed(1));
            }
            (COMMIT, number) if number > REMOVED && removal.is_some_and(|(_, len)| self.is_whole(step, 1, len)) => {
                self.compute(process);
                self.agenda.push(Action::Installed(2));
            }
            _ => {}
        }
    }

    /// When the creator throws one out.
    fn removes_at(&self) -> Option<LocalTime> {
        let is_due = self.number == CREATOR && self.measured.removal.is_some() && !self.has_removed;
        is_due.then_some(LocalTime::ZERO + REMOVAL_AT)
    }
}

impl Node for Participant {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match input {
            Input::Command(Command::Start) if self.number != CREATOR => {
                self.compute(self.measured.key_package);
                self.say(KEY_PACKAGE, CREATOR, self.measured.key_package_len);
            }
            Input::Frame { bytes, .. } => {
                if let Ok(view) = CanFrameView::new_checked(bytes) {
                    self.received(address(&view)[0]);
                }
            }
            Input::Timeout if self.removes_at().is_some_and(|at| at <= now) => {
                self.has_removed = true;
                if let Some((time, len)) = self.measured.removal {
                    self.compute(time);
                    self.agenda.push(Action::Installed(2));
                    self.say(COMMIT, TO_ALL, len);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        let wakes_at = self.removes_at();
        self.agenda.poll(now, buffer, wakes_at)
    }
}

/// Plays a group's messages on the bus; where three or more are in it, member [`REMOVED`] is thrown out later.
///
/// # Errors
/// [`StudyError`] if the bus cannot be made.
pub(super) fn replay(measured: Measured) -> Result<Watched, StudyError> {
    let participant =
        |number| Participant { number, measured, segments: [0; 4], has_removed: false, agenda: Agenda::default() };
    run((0..measured.size as u8).map(|number| Box::new(participant(number)) as Box<dyn Node + Send>).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::NodeId;

    #[test]
    fn every_size_of_the_peer_is_on_the_bus_whole() {
        let rows = measured();
        assert_eq!(rows.iter().map(|row| row.size).collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64]);
        for row in rows.into_iter().filter(|row| row.size <= 16) {
            let watched = replay(row).expect("the bus can be made");
            let others = row.size as usize - 1;
            let frames = others * row.key_package_len.div_ceil(SEGMENT_LEN) + row.welcome_len.div_ceil(SEGMENT_LEN);
            assert_eq!(watched.frames[0], frames as u64);
            assert_eq!(watched.installed[&1].len(), others + 1);
            assert!(watched.time(1) > Some(row.key_package + row.create + row.join), "the bus takes its time too");
            match row.removal {
                None => assert!(!watched.installed.contains_key(&2)),
                Some((time, len)) => {
                    assert_eq!(watched.frames[1], len.div_ceil(SEGMENT_LEN) as u64);
                    assert_eq!(watched.installed[&2].len(), others);
                    assert!(!watched.installed[&2].contains_key(&NodeId(u16::from(REMOVED))));
                    assert!(watched.time(2) > Some(time + row.process));
                }
            }
        }
    }
}
