//! Both ends of a virtual link (ARINC 664 part 7): the regulator of its sender, the integrity check of its receivers.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::virtual_link::SequenceNumber;

/// Numbers frames in the order in which they are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering {
    next: SequenceNumber,
}

impl Numbering {
    /// That of a station that has just been reset.
    pub(super) const fn new() -> Self {
        Self { next: SequenceNumber::RESET }
    }

    /// The number of the next frame.
    pub(super) fn number(&mut self) -> SequenceNumber {
        let number = self.next;
        self.next = number.next();
        number
    }
}

/// Lets at most one frame go in each bandwidth allocation gap, in the order in which they come, and numbers them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regulator {
    bag: Duration,
    /// No frame goes before this.
    next_at: LocalTime,
    numbering: Numbering,
}

impl Regulator {
    /// That of a station that has just been reset.
    pub(super) fn new(bag: Duration) -> Self {
        Self { bag, next_at: LocalTime::from_ps(i64::MIN), numbering: Numbering::new() }
    }

    /// When a frame that is due at a time may go at the earliest.
    pub(super) fn next_at(&self, due: LocalTime) -> LocalTime {
        self.next_at.max(due)
    }

    /// When a frame that is due at a time may go. That it is made later than due is no reason to hold back the next one: this
    /// is output jitter, which policing allows for.
    pub(super) fn release(&mut self, due: LocalTime) -> LocalTime {
        let at = self.next_at(due);
        self.next_at = at + self.bag;
        at
    }

    /// The number of the next frame.
    pub(super) fn number(&mut self) -> SequenceNumber {
        self.numbering.number()
    }
}

/// Whether the numbers of the frames that come may follow one another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IntegrityCheck {
    previous: Option<SequenceNumber>,
}

impl IntegrityCheck {
    /// True for the first frame, for one or two numbers on, and for that of a sender which was reset. Whatever the answer is,
    /// the next number is held against this one.
    pub(super) fn admits(&mut self, number: SequenceNumber) -> bool {
        let admitted = self.would_admit(number);
        self.previous = Some(number);
        admitted
    }

    /// The same, and the next number is held against the one of before.
    pub(super) fn would_admit(&self, number: SequenceNumber) -> bool {
        number == SequenceNumber::RESET || self.previous.is_none_or(|previous| Self::follows(number, previous))
    }

    /// True for one or two numbers on.
    pub(super) fn follows(number: SequenceNumber, previous: SequenceNumber) -> bool {
        number == previous.next() || number == previous.next().next()
    }

    /// The same for a message of several frames, which have the numbers from `first` to `last`: true if it is one of those that can
    /// follow, however many frames of others were lost in between.
    pub(super) fn admits_message(&mut self, first: SequenceNumber, last: SequenceNumber) -> bool {
        let previous = self.previous.replace(last);
        first == SequenceNumber::RESET || previous.is_none_or(|previous| first.is_ahead_of(previous))
    }

    /// Takes up a number that is known to have been sent, unless it lies behind the one it has.
    pub(super) fn go_forward_to(&mut self, number: SequenceNumber) {
        let is_next = |previous: SequenceNumber| number == SequenceNumber::RESET || number.is_ahead_of(previous);
        if self.previous.is_none_or(is_next) {
            self.previous = Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verdicts of `arinc664.json`, section `integrity`: the rule as in the integrity checker of omnetpp-models/afdx.
    #[test]
    fn one_frame_may_be_missing_and_none_come_again() {
        let cases: [(&[u8], &[u8]); 3] = [
            (&[0, 1, 2, 3, 5, 6, 9, 10, 11], &[9]),
            (&[253, 254, 255, 1, 2], &[]),
            // The second of two alike is refused, not the first.
            (&[10, 10, 11, 12], &[10]),
        ];
        for (numbers, refused) in cases {
            let mut check = IntegrityCheck::default();
            let wrong: Vec<u8> =
                numbers.iter().filter(|number| !check.admits(SequenceNumber(**number))).copied().collect();
            assert_eq!(wrong, refused, "{numbers:?}");
        }
        let mut check = IntegrityCheck { previous: Some(SequenceNumber(10)) };
        assert!(!check.admits(SequenceNumber(10)) && check.admits(SequenceNumber(12)));
        assert!(check.admits(SequenceNumber::RESET), "the sender was reset");
        // Behind 254 come 255 and 1.
        let mut check = IntegrityCheck { previous: Some(SequenceNumber(254)) };
        assert!(check.admits(SequenceNumber(1)) && !check.admits(SequenceNumber(4)));
    }

    #[test]
    fn frames_leave_a_gap_apart_and_none_before_it_is_due() {
        let ms = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        let mut regulator = Regulator::new(Duration::from_ms(4));
        let left: Vec<LocalTime> = [1, 2, 3, 20, 21].map(|at| regulator.release(ms(at))).to_vec();
        assert_eq!(left, [1, 5, 9, 20, 24].map(ms));
        assert_eq!([(); 3].map(|()| regulator.number().0), [0, 1, 2]);
    }
}
