//! The bus bit by bit, for the frames of which the fast path cannot know the end.
//!
//! Used when a bit is disturbed, when nobody is there to acknowledge, or when two nodes send the same identifier.
//! Every node sends and sees one bit at a time, without delay between nodes; dominant wins. Error and overload
//! flags, their superposition, delimiters, intermission and the error counters follow from what each node sees.
//! ISO 11898-1:2015 §10.4, §10.11, §12.1.4.
//!
//! Where it is coarser than hardware:
//! - A node that flags an error while the sender is still in its data phase begins to count the bits of its flag when
//!   the sender has noticed and gone back to the nominal rate, at most six data bits later.
//! - The bus is free again when the last node has its intermission behind it. An error-passive receiver that alone saw an
//!   error comes out of it six bits after the others, who here wait for it.

use chronoseal_core::Duration;
use chronoseal_wire::can::bits::{ERROR_DELIMITER_BITS, ERROR_FLAG_BITS, INTERMISSION_BITS};
use chronoseal_wire::can::plain::{self, Field, Stuffed, WireBits};
use chronoseal_wire::can::{BitTiming, BusError, CanFrame, Progress, Receiver};

use super::counters::{ErrorCounters, ErrorState};

/// A node that takes part.
pub(super) struct Participant {
    /// In the end as they have become.
    pub(super) counters: ErrorCounters,
    /// The bits it sends, if it sends.
    sends: Option<Box<WireBits>>,
    is_sender: bool,
    doing: Doing,
    receiver: Receiver,
    /// Its frame was sent whole.
    pub(super) has_sent: bool,
    /// The frame it received.
    pub(super) received: Option<CanFrame>,
}

/// Which level a node sees inverted, when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inverted {
    pub(super) bit: u32,
    /// Index of the participant; all if `None`.
    pub(super) seen_by: Option<usize>,
}

/// What came of it, beside what the participants hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// From SOF until the last node has its intermission behind it.
    pub(super) length: Duration,
    /// From SOF to the end of the last dominant bit.
    pub(super) last_dominant: Duration,
    /// The first error, who found it, and when the bus was disturbed from then on.
    pub(super) error: Option<(usize, BusError, Duration)>,
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Sending {
        at: usize,
    },
    Receiving,
    ActiveFlag {
        left: u32,
        is_overload: bool,
    },
    /// Six equal bits end it. `spares_sender`: an error-passive sender without acknowledgement counts only if it sees a
    /// dominant bit now.
    PassiveFlag {
        run: u32,
        level: bool,
        spares_sender: bool,
    },
    /// Behind a flag, until the bus is recessive.
    Waiting {
        dominant: u32,
        is_overload: bool,
    },
    Delimiter {
        left: u32,
    },
    Intermission {
        left: u32,
    },
    Done,
    Off,
}

impl Participant {
    pub(super) fn receiver(counters: ErrorCounters) -> Self {
        Self {
            counters,
            sends: None,
            is_sender: false,
            doing: Doing::Receiving,
            receiver: Receiver::new(),
            has_sent: false,
            received: None,
        }
    }

    pub(super) fn sender(counters: ErrorCounters, frame: &CanFrame) -> Self {
        let sends = Some(Box::new(plain::encode(frame)));
        Self { sends, is_sender: true, doing: Doing::Sending { at: 0 }, ..Self::receiver(counters) }
    }

    /// True for recessive.
    fn drives(&self) -> bool {
        match self.doing {
            Doing::Sending { at } => self.bit(at).recessive,
            Doing::Receiving => !self.receiver.drives_dominant(),
            Doing::ActiveFlag { .. } => false,
            _ => true,
        }
    }

    fn bit(&self, at: usize) -> plain::WireBit {
        self.sends.as_ref().map_or(plain::WireBit { recessive: true, ..Default::default() }, |bits| bits[at])
    }

    /// True while it sends at the data rate.
    fn sends_fast(&self) -> bool {
        matches!(self.doing, Doing::Sending { at } if at > 0 && self.bit(at - 1).ends_fast)
    }

    fn count_grave_error(&mut self) {
        if self.is_sender {
            self.counters.sender_found_error();
        } else {
            self.counters.receiver_found_grave_error();
        }
    }

    /// Sends an error flag from the next bit on. The state before the error decides which.
    fn flag_error(&mut self, error: BusError, counts: bool) -> Option<BusError> {
        let state = self.counters.state();
        let spares_sender = state == ErrorState::Passive && self.is_sender && error == BusError::Ack;
        if counts && !spares_sender {
            if self.is_sender {
                self.counters.sender_found_error();
            } else {
                self.counters.receiver_found_error();
            }
        }
        self.doing = match state {
            _ if self.counters.state() == ErrorState::BusOff => Doing::Off,
            ErrorState::Active => Doing::ActiveFlag { left: ERROR_FLAG_BITS, is_overload: false },
            _ => Doing::PassiveFlag { run: 0, level: true, spares_sender },
        };
        Some(error)
    }

    fn overload(&mut self) {
        self.doing = Doing::ActiveFlag { left: ERROR_FLAG_BITS, is_overload: true };
    }

    /// Sees one bit; tells the error it reveals. `flags_count`: the sender is back at the nominal rate.
    fn see(&mut self, recessive: bool, flags_count: bool) -> Option<BusError> {
        match self.doing {
            Doing::Sending { at } => return self.see_own(at, recessive),
            Doing::Receiving => {
                let progress = self.receiver.push(recessive);
                return self.receive(progress);
            }
            Doing::ActiveFlag { .. } if recessive => {
                // A wrong bit within the flag: it begins again.
                self.count_grave_error();
                self.doing = if self.counters.state() == ErrorState::BusOff {
                    Doing::Off
                } else {
                    Doing::ActiveFlag { left: ERROR_FLAG_BITS, is_overload: false }
                };
            }
            Doing::ActiveFlag { left, is_overload } if flags_count => {
                self.doing = match left {
                    1 => Doing::Waiting { dominant: 0, is_overload },
                    _ => Doing::ActiveFlag { left: left - 1, is_overload },
                };
            }
            Doing::PassiveFlag { run, level, spares_sender } if flags_count => {
                let counts_now = spares_sender && !recessive;
                if counts_now {
                    self.counters.sender_found_error();
                }
                let run = if recessive == level { run + 1 } else { 1 };
                self.doing = match run {
                    _ if self.counters.state() == ErrorState::BusOff => Doing::Off,
                    ERROR_FLAG_BITS => Doing::Waiting { dominant: 0, is_overload: false },
                    _ => Doing::PassiveFlag { run, level: recessive, spares_sender: spares_sender && !counts_now },
                };
            }
            Doing::Waiting { .. } if recessive => self.doing = Doing::Delimiter { left: ERROR_DELIMITER_BITS - 1 },
            Doing::Waiting { dominant, is_overload } => {
                if dominant == 0 && !self.is_sender && !is_overload {
                    self.counters.receiver_found_grave_error();
                }
                let dominant = dominant + 1;
                if dominant % 8 == 0 {
                    self.count_grave_error();
                }
                self.doing = match self.counters.state() {
                    ErrorState::BusOff => Doing::Off,
                    _ => Doing::Waiting { dominant, is_overload },
                };
            }
            Doing::Delimiter { left: 1 } if !recessive => self.overload(),
            Doing::Delimiter { .. } if !recessive => return self.flag_error(BusError::Form, true),
            Doing::Delimiter { left: 1 } => self.doing = Doing::Intermission { left: INTERMISSION_BITS },
            Doing::Delimiter { left } => self.doing = Doing::Delimiter { left: left - 1 },
            Doing::Intermission { .. } if !recessive => self.overload(),
            Doing::Intermission { left: 1 } => self.doing = Doing::Done,
            Doing::Intermission { left } => self.doing = Doing::Intermission { left: left - 1 },
            Doing::ActiveFlag { .. } | Doing::PassiveFlag { .. } | Doing::Done | Doing::Off => {}
        }
        None
    }

    fn see_own(&mut self, at: usize, recessive: bool) -> Option<BusError> {
        let bit = self.bit(at);
        let progress = self.receiver.push(recessive);
        let is_last = self.sends.as_ref().is_none_or(|bits| at + 1 == bits.len());
        let next = Doing::Sending { at: at + 1 };
        match (bit.field, bit.recessive == recessive) {
            (Field::AckSlot, _) if recessive => return self.flag_error(BusError::Ack, true),
            (Field::AckSlot, _) | (_, true) if !is_last => self.doing = next,
            (_, true) => {
                self.counters.sent();
                self.has_sent = true;
                self.doing = Doing::Intermission { left: INTERMISSION_BITS };
            }
            (field, false) if field.is_arbitration() && bit.recessive => {
                if bit.stuffed == Stuffed::Dynamic {
                    // A stuff error during arbitration does not count.
                    return self.flag_error(BusError::Stuff, false);
                }
                self.is_sender = false;
                self.doing = Doing::Receiving;
                return self.receive(progress);
            }
            (_, false) => return self.flag_error(BusError::Bit, true),
        }
        None
    }

    fn receive(&mut self, progress: Result<Progress, BusError>) -> Option<BusError> {
        match progress {
            Ok(Progress::Receiving) => None,
            Ok(Progress::Accepted) => {
                self.counters.received();
                self.received = Some(self.receiver.frame());
                None
            }
            Ok(Progress::Complete) => {
                self.doing = Doing::Intermission { left: INTERMISSION_BITS };
                None
            }
            Ok(Progress::Overload) => {
                self.overload();
                None
            }
            Err(error) => self.flag_error(error, true),
        }
    }
}

/// Lets the participants send and see bits until all are done.
pub(super) fn resolve(participants: &mut [Participant], inverted: &[Inverted], timing: &BitTiming) -> Outcome {
    let mut outcome = Outcome { length: Duration::ZERO, last_dominant: Duration::ZERO, error: None };
    let mut begins_fast = false;
    for number in 0u32.. {
        if participants.iter().all(|one| matches!(one.doing, Doing::Done | Doing::Off)) {
            break;
        }
        let bus = participants.iter().all(Participant::drives);
        for (index, participant) in participants.iter_mut().enumerate() {
            let is_inverted = inverted
                .iter()
                .any(|inverted| inverted.bit == number && inverted.seen_by.is_none_or(|who| who == index));
            let error = participant.see(bus != is_inverted, !begins_fast);
            if let (Some(error), None) = (error, outcome.error) {
                outcome.error = Some((index, error, outcome.length));
            }
        }
        let ends_fast = participants.iter().any(Participant::sends_fast);
        outcome.length += timing.bit(begins_fast, ends_fast);
        begins_fast = ends_fast;
        if !bus {
            outcome.last_dominant = outcome.length;
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use chronoseal_core::Rate;
    use chronoseal_wire::can::{BitTimingConfig, CanId};

    use super::*;

    #[test]
    fn a_sender_that_goes_bus_off_is_gone_with_the_bit_of_its_error() {
        let mut counters = ErrorCounters::default();
        while counters.transmit() < 248 {
            counters.sender_found_error();
        }
        assert_eq!(counters.state(), ErrorState::Passive);
        let frame = CanFrame::classical(CanId::standard(0x2aa).expect("it has 11 bits"), &[0x55; 8]).expect("8 bytes");
        let timing = BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).expect("usual rates");
        let mut alone = [Participant::sender(counters, &frame)];
        let bit = 25;
        let outcome = resolve(&mut alone, &[Inverted { bit, seen_by: None }], &timing);
        assert_eq!(alone[0].counters.state(), ErrorState::BusOff);
        assert_eq!(outcome.error.map(|(_, error, _)| error), Some(BusError::Bit));
        assert_eq!(outcome.length, timing.nominal_bit() * i64::from(bit + 1), "no flag follows");
    }
}
