//! The credit of a class: IEEE 802.1Q-2022 §8.6.8.2.
//!
//! Credit rises by the idle slope while frames wait and the gate is open, and falls by what is left of the line's rate while one is
//! sent, with preamble and gap. What is above zero is lost when no frame waits, what is below comes back to zero.

use chronoseal_core::{Duration, Rate, SimTime};

use super::gates::Windows;

/// Credit `[10^-12 bit]`, exact: rates are whole bits a second and times whole picoseconds.
#[derive(Debug)]
pub(super) struct Credit {
    idle_slope: i128,
    rate: i128,
    credit: i128,
    since: SimTime,
    /// A frame, or a part of one, is sent from then until then; time before it in which others have been interrupted is no
    /// sending of this class.
    sends: Option<(SimTime, SimTime)>,
}

impl Credit {
    pub(super) fn new(idle_slope: Rate, rate: Rate) -> Self {
        let (idle_slope, rate) = (i128::from(idle_slope.0.max(1)), i128::from(rate.0));
        Self { idle_slope, rate, credit: 0, since: SimTime::ZERO, sends: None }
    }

    /// Lets time pass in which frames waited all the time, or none did.
    pub(super) fn advance(&mut self, now: SimTime, has_waiting: bool, gate: &Windows) {
        if let Some((from, until)) = self.sends {
            if self.since < from {
                self.pass(from.min(now), true, gate);
            }
            let end = until.min(now);
            if end > self.since {
                self.credit -= (self.rate - self.idle_slope) * i128::from((end - self.since).as_ps());
                self.since = end;
            }
            if now < until {
                return;
            }
            self.sends = None;
        }
        self.pass(now, has_waiting, gate);
    }

    fn pass(&mut self, now: SimTime, has_waiting: bool, gate: &Windows) {
        let earned = self.idle_slope * i128::from(gate.open_between(self.since, now).as_ps());
        self.since = now;
        self.credit = match has_waiting {
            true => self.credit + earned,
            false => (self.credit + earned).min(0),
        };
    }

    /// A frame is sent, or the rest of one. Time was let pass until now.
    pub(super) fn send(&mut self, from: SimTime, until: SimTime) {
        self.sends = Some((from, until));
    }

    /// What is sent ends earlier.
    pub(super) fn cut(&mut self, until: SimTime) {
        self.sends = self.sends.map(|(from, end)| (from, end.min(until)));
    }

    /// When the credit is not negative any more, if frames wait: `now` if it is not. Time was let pass until now.
    pub(super) fn clear_at(&self, now: SimTime, gate: &Windows) -> SimTime {
        if self.credit >= 0 {
            return now;
        }
        // The division of what fits into one word is many times faster.
        let wait = match (i64::try_from(self.credit), i64::try_from(self.idle_slope)) {
            (Ok(credit), Ok(idle_slope)) => -i128::from(credit.div_euclid(idle_slope)),
            _ => -self.credit.div_euclid(self.idle_slope),
        };
        gate.after_open(now, Duration::from_ps(i64::try_from(wait).unwrap_or(i64::MAX)))
    }
}
