//! Fault confinement: the two error counters of a node and the three states they put it in.

/// Error passive above this.
pub const ERROR_PASSIVE_LIMIT: u16 = 127;
/// Bus-off above this.
pub const BUS_OFF_LIMIT: u16 = 255;
/// Sequences of [`RECOVERY_RUN_BITS`] recessive bits after which a node in bus-off may come back.
pub const RECOVERY_RUNS: u32 = 128;
/// Recessive bits of one such sequence.
pub const RECOVERY_RUN_BITS: u32 = 11;

/// What a node may do on the bus: ISO 11898-1:2015 §12.1.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ErrorState {
    /// Takes part and answers errors with a dominant flag.
    Active,
    /// Takes part, but its flags are recessive, and it waits 8 bits after each frame it sent.
    Passive,
    /// Has no part in the bus.
    BusOff,
}

/// Transmit and receive error counter.
///
/// The methods are the rules of ISO 11898-1:2015 §12.1.4.2, named for when they apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErrorCounters {
    transmit: u16,
    receive: u16,
}

impl ErrorCounters {
    /// Of the sender (TEC).
    pub const fn transmit(&self) -> u16 {
        self.transmit
    }

    /// Of the receiver (REC).
    pub const fn receive(&self) -> u16 {
        self.receive
    }

    /// The state they mean.
    pub const fn state(&self) -> ErrorState {
        if self.transmit > BUS_OFF_LIMIT {
            ErrorState::BusOff
        } else if self.transmit > ERROR_PASSIVE_LIMIT || self.receive > ERROR_PASSIVE_LIMIT {
            ErrorState::Passive
        } else {
            ErrorState::Active
        }
    }

    /// Rule a: a receiver finds an error.
    pub const fn receiver_found_error(&mut self) {
        self.receive_error(1);
    }

    /// Rules b, e and f: a receiver sees a dominant bit first behind its error flag, a wrong bit within an active flag,
    /// or too many dominant bits behind one.
    pub const fn receiver_found_grave_error(&mut self) {
        self.receive_error(8);
    }

    /// Rules c, d and f: a sender sends an error flag, sees a wrong bit within an active flag, or too many dominant bits
    /// behind one.
    pub const fn sender_found_error(&mut self) {
        // Nothing counts beyond bus-off.
        if self.transmit <= BUS_OFF_LIMIT {
            self.transmit += 8;
        }
    }

    /// Rule g: a frame was sent.
    pub const fn sent(&mut self) {
        self.transmit = self.transmit.saturating_sub(1);
    }

    /// Rule h: a frame was received. Above the passive limit the standard allows any value from 119 to 127; we take 127.
    pub const fn received(&mut self) {
        self.receive =
            if self.receive > ERROR_PASSIVE_LIMIT { ERROR_PASSIVE_LIMIT } else { self.receive.saturating_sub(1) };
    }

    /// After bus-off both begin again.
    pub const fn reset(&mut self) {
        *self = Self { transmit: 0, receive: 0 };
    }

    /// The receive counter has no state above passive, so it need not count on.
    const fn receive_error(&mut self, more: u16) {
        if self.receive <= BUS_OFF_LIMIT {
            self.receive += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_on_both_sides() {
        let mut counters = ErrorCounters { transmit: 120, receive: 0 };
        for _ in 0..7 {
            counters.transmit += 1;
            assert_eq!(counters.state(), ErrorState::Active);
        }
        counters.transmit += 1;
        assert_eq!(counters.state(), ErrorState::Passive);
        counters.transmit = 255;
        assert_eq!(counters.state(), ErrorState::Passive);
        counters.transmit = 256;
        assert_eq!(counters.state(), ErrorState::BusOff);
        counters.reset();
        assert_eq!(counters.state(), ErrorState::Active);
    }

    #[test]
    fn a_receiver_never_goes_off() {
        let mut counters = ErrorCounters::default();
        for _ in 0..1_000 {
            counters.receiver_found_grave_error();
        }
        assert_eq!(counters.state(), ErrorState::Passive);
        counters.received();
        assert_eq!((counters.receive(), counters.state()), (127, ErrorState::Active));
    }
}
