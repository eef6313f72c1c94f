//! The credit of a class: IEEE 802.1Q-2022 §8.6.8.2.
//!
//! Credit rises by the idle slope while frames wait and the gate is open, and falls by what is left of the line's rate while one is
//! sent, with preamble and gap. What is above zero is lost when no frame waits, what is below comes back to zero.
//!
//! The idle slope is that of the list that the gates follow: what the class is to have of all time over the share of the time for which its
//! gate is open. Where another list replaces the first one (§8.6.9.3), it is another slope from *ConfigChangeTime* on, when that list
//! becomes the operational one, and the last cycle of the old list belongs to the old slope to its end, whether it is cut short or
//! extended. What was earned and spent before stays as it is.

use chronoseal_core::{Duration, Rate, SimTime};

use super::gates::Windows;

/// Credit `[10^-12 bit]`, exact: rates are whole bits a second and times whole picoseconds.
#[derive(Debug)]
pub(super) struct Credit {
    /// Under the list that runs first, and under the one that replaces that.
    idle_slopes: [i128; 2],
    rate: i128,
    credit: i128,
    since: SimTime,
    /// A frame, or a part of one, is sent from then until then; time before it in which others have been interrupted is no
    /// sending of this class.
    sends: Option<(SimTime, SimTime)>,
}

impl Credit {
    /// None yet. The idle slopes are those under the list that runs first, and under the one that replaces that.
    pub(super) fn new(idle_slopes: [Rate; 2], rate: Rate) -> Self {
        let idle_slopes = idle_slopes.map(|idle_slope| i128::from(idle_slope.0.max(1)));
        Self { idle_slopes, rate: i128::from(rate.0), credit: 0, since: SimTime::ZERO, sends: None }
    }

    /// Lets time pass in which frames waited all the time, or none did.
    pub(super) fn advance(&mut self, now: SimTime, has_waiting: bool, gate: &Windows) {
        if let Some((from, until)) = self.sends {
            if self.since < from {
                self.pass(from.min(now), true, gate);
            }
            let end = until.min(now);
            if end > self.since {
                let spent = self.rate * i128::from((end - self.since).as_ps());
                self.credit += self.earned(gate.time_by_list(self.since, end)) - spent;
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
        let earned = self.earned(gate.open_by_list(self.since, now));
        self.since = now;
        self.credit = match has_waiting {
            true => self.credit + earned,
            false => (self.credit + earned).min(0),
        };
    }

    /// What is earned in so much time under either list.
    fn earned(&self, [first, changed]: [Duration; 2]) -> i128 {
        self.idle_slopes[0] * i128::from(first.as_ps()) + self.idle_slopes[1] * i128::from(changed.as_ps())
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
        let [first, changed] = self.idle_slopes;
        let before = gate.open_until_change(now);
        let before = before.filter(|open| self.credit + first * i128::from(open.as_ps()) < 0);
        let wait = match before {
            None => earning(-self.credit, first),
            Some(open) => open + earning(-(self.credit + first * i128::from(open.as_ps())), changed),
        };
        gate.after_open(now, wait)
    }
}

/// How long a gate has to be open until so much is earned, rounded up.
fn earning(owed: i128, idle_slope: i128) -> Duration {
    // The division of what fits into one word is many times faster.
    let wait = match (i64::try_from(owed), i64::try_from(idle_slope)) {
        (Ok(owed), Ok(idle_slope)) => -i128::from((-owed).div_euclid(idle_slope)),
        _ => -(-owed).div_euclid(idle_slope),
    };
    Duration::from_ps(i64::try_from(wait).unwrap_or(i64::MAX))
}
