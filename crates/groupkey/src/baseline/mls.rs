//! The messages of a group by MLS (RFC 9420), without MLS: they have the lengths, and their makers take the time, that an
//! implementation was measured to have.
//!
//! A group is created by one member: each other sends its key package, the creator makes a commit, which nobody is there
//! to hear, and a Welcome, which all process. A removal is one commit that all who stay process. Messages go in frames
//! of CAN FD, one byte of each numbering the segment.

use chronoseal_core::{Command, Duration, HandleError, Input, LocalTime, Node, Operation, Output, Queued, Work};
use chronoseal_wire::can::CanFrameView;

use super::Removal;
use super::agenda::{Base, address, frame, installed, send};

/// Data of an FD frame of a segmented message; one byte more numbers the segment `[byte]`.
pub const SEGMENT_LEN: usize = 63;

/// Number of the member that creates the group.
pub const CREATOR: u8 = 0;
const TO_ALL: u8 = 255;

const KEY_PACKAGE: u8 = 1;
const WELCOME: u8 = 2;
const COMMIT: u8 = 3;

/// What a group of one size takes: the lengths of its messages, and the time that making and processing them takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Members.
    pub size: u32,
    /// A key package `[byte]`.
    pub key_package_len: usize,
    /// Making one.
    pub key_package: Duration,
    /// Creating the group from every key package.
    pub create: Duration,
    /// The Welcome for all `[byte]`.
    pub welcome_len: usize,
    /// Joining by it.
    pub join: Duration,
    /// Processing a commit.
    pub process: Duration,
    /// Time and length of the commit that removes a member `[byte]`; none in a group of two.
    pub removal: Option<(Duration, usize)>,
}

impl Figures {
    /// What all members compute until there is a key.
    pub fn computing(&self) -> Duration {
        self.create + (self.key_package + self.join) * (i64::from(self.size) - 1)
    }
}

/// A member of the group.
pub struct Participant {
    number: u8,
    figures: Figures,
    removal: Option<Removal>,
    /// Segments heard of the messages of each step.
    segments: [usize; 4],
    has_removed: bool,
    is_running: bool,
    base: Base,
}

impl Participant {
    /// The member `number`; [`CREATOR`] creates the group, and throws one out if there is a `removal` and its figures are
    /// known. All members have the same `figures` and the same `removal`.
    pub fn new(number: u8, figures: Figures, removal: Option<Removal>) -> Self {
        Self {
            number,
            figures,
            removal,
            segments: [0; 4],
            has_removed: false,
            is_running: false,
            base: Base::new(0..1),
        }
    }

    fn compute(&mut self, time: Duration) {
        self.base.push(Queued::Work(Work::declared(Operation("mls"), time)));
    }

    fn say(&mut self, step: u8, to: u8, len: usize) {
        for (number, begin) in (0..len).step_by(SEGMENT_LEN).enumerate() {
            let mut data = [0x5a; 1 + SEGMENT_LEN];
            data[0] = number as u8;
            let end = 1 + (len - begin).min(SEGMENT_LEN);
            self.base.push(send(frame(step, self.number, to, &data[..end])));
        }
    }

    /// True with the last segment of `messages` messages of `len` bytes.
    fn is_whole(&mut self, step: u8, messages: usize, len: usize) -> bool {
        let heard = &mut self.segments[usize::from(step)];
        *heard += 1;
        *heard == messages * len.div_ceil(SEGMENT_LEN)
    }

    fn received(&mut self, step: u8) {
        let Figures { size, key_package_len, create, welcome_len, join, process, removal, .. } = self.figures;
        match (step, self.number) {
            (KEY_PACKAGE, CREATOR) if self.is_whole(step, size as usize - 1, key_package_len) => {
                self.compute(create);
                self.base.push(installed(1));
                self.say(WELCOME, TO_ALL, welcome_len);
            }
            (WELCOME, 1..) if self.is_whole(step, 1, welcome_len) => {
                self.compute(join);
                self.base.push(installed(1));
            }
            (COMMIT, number)
                if self.removal.is_some_and(|removal| removal.member != number)
                    && removal.is_some_and(|(_, len)| self.is_whole(step, 1, len)) =>
            {
                self.compute(process);
                self.base.push(installed(2));
            }
            _ => {}
        }
    }

    /// When the creator throws one out.
    fn removes_at(&self) -> Option<LocalTime> {
        let is_due = self.is_running && self.number == CREATOR && self.figures.removal.is_some() && !self.has_removed;
        self.removal.filter(|_| is_due).map(|removal| removal.at)
    }
}

impl Node for Participant {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(command) => {
                self.is_running = command == Command::Start;
                if self.is_running && self.number != CREATOR {
                    self.compute(self.figures.key_package);
                    self.say(KEY_PACKAGE, CREATOR, self.figures.key_package_len);
                }
            }
            Input::Frame { bytes, .. } if self.is_running => {
                if let Ok(view) = CanFrameView::new_checked(bytes) {
                    self.received(address(&view)[0]);
                }
            }
            Input::Timeout if self.removes_at().is_some_and(|at| at <= now) => {
                self.has_removed = true;
                if let Some((time, len)) = self.figures.removal {
                    self.compute(time);
                    self.base.push(installed(2));
                    self.say(COMMIT, TO_ALL, len);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        let wakes_at = self.removes_at();
        self.base.next(now, buffer).unwrap_or(Output::Timeout(wakes_at))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::baseline::testing::{check, run};

    const FIGURES: Figures = Figures {
        size: 4,
        key_package_len: 64,
        key_package: Duration::from_us(3),
        create: Duration::from_us(5),
        welcome_len: 63,
        join: Duration::from_us(7),
        process: Duration::from_us(2),
        removal: Some((Duration::from_us(4), 127)),
    };

    const REMOVED_AT: LocalTime = LocalTime::from_ps(1_000_000_000_000);
    const END: LocalTime = LocalTime::from_ps(2_000_000_000_000);

    fn group(removal: Option<Removal>) -> Vec<Box<dyn Node>> {
        (0..4).map(|number| Box::new(Participant::new(number, FIGURES, removal)) as Box<dyn Node>).collect()
    }

    #[test]
    fn participants_keep_the_contract_of_nodes() {
        check(|| group(Some(Removal { member: 2, at: REMOVED_AT })), END, &[]);
    }

    #[test]
    fn every_message_is_whole_before_anybody_acts_on_it() {
        let (events, frames) = run(&mut group(None), END);
        assert_eq!(frames, 3 * 2 + 1, "64 bytes are two segments, 63 are one");
        let holders: BTreeSet<_> = events.iter().map(|(node, event)| (*node, event.sequence)).collect();
        assert_eq!(holders, (0..4).map(|node| (node, 1)).collect());
        assert_eq!(FIGURES.computing(), Duration::from_us(5 + 3 * (3 + 7)));
    }

    #[test]
    fn the_last_segment_holds_what_is_left() {
        let mut member = Participant::new(1, FIGURES, None);
        member.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).expect("it starts at once");
        let (mut buffer, mut lens) = ([0; 72], Vec::new());
        loop {
            match member.poll_output(LocalTime::ZERO, &mut buffer) {
                Output::Transmit(transmit) => {
                    let view = CanFrameView::new_checked(&buffer[..transmit.len]).expect("it is a frame");
                    lens.push(view.data().len());
                }
                Output::Timeout(_) => break,
                _ => {}
            }
        }
        assert_eq!(lens, [64, 2], "64 bytes in segments of up to 63, each behind its number");
    }

    #[test]
    fn who_is_removed_does_not_process_the_commit() {
        let removal = Removal { member: 2, at: REMOVED_AT };
        let (events, frames) = run(&mut group(Some(removal)), END);
        assert_eq!(frames, 3 * 2 + 1 + 3, "127 bytes are three segments");
        let renewed: BTreeSet<_> =
            events.iter().filter(|(_, event)| event.sequence == 2).map(|(node, _)| *node).collect();
        assert_eq!(renewed, BTreeSet::from([0, 1, 3]));
    }
}
