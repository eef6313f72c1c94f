//! Two clocks compared by messages between them, and nothing set.
//!
//! In an exchange the controller notes when it asked (`t1`) and when it had the answer (`t4`), the agent when it had the question
//! (`t2`) and when it answered (`t3`). However long each way took, the agent's clock was ahead by at least `t3 - t4` and at most
//! `t2 - t1`. The middle of that span is off by at most half its length, which is half of the round trip.

use std::path::Path;

use chronoseal_testbed::{PtpReading, realtime_ahead_ns};
use serde::{Deserialize, Serialize};

use crate::message::PtpAnswer;

/// The fastest that one clock of a host runs against another, while a kernel that has to catch up slews one of them `[1e-9]`. What looks
/// faster has jumped meanwhile.
const DRIFT_PPB_MAX: i64 = 600_000;

/// No clock of a host shows so much: ten years `[ns]`.
const FAR_NS: u64 = 315_576_000_000_000_000;

/// Two clocks of a host are read so close to each other, and each is shown to so much `[ns]`.
const READ_TO_NS: i64 = 1_000;

/// What two hosts are asked at once is of times no further apart `[ns]`.
const ASKED_WITHIN_NS: i64 = 30_000_000_000;

/// True of a time that a host's clock may show, so that no difference or sum of a few of them is too large.
pub(crate) fn is_of_a_host(shown_ns: i64) -> bool {
    shown_ns.unsigned_abs() < FAR_NS
}

/// Four stamps: the first and the last by the controller's clock, the others by the agent's `[ns]`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Exchange {
    /// The controller asked.
    pub t1: i64,
    /// The agent had the question.
    pub t2: i64,
    /// The agent answered.
    pub t3: i64,
    /// The controller had the answer.
    pub t4: i64,
}

impl Exchange {
    /// Of four stamps; `None` if one of them is no time of a host.
    pub(crate) fn new(t1: i64, t2: i64, t3: i64, t4: i64) -> Option<Self> {
        [t1, t2, t3, t4].into_iter().all(is_of_a_host).then_some(Self { t1, t2, t3, t4 })
    }

    /// The agent had it for longer than it took: its clock jumped ahead in the middle, and nothing follows from it.
    fn is_impossible(&self) -> bool {
        self.t3 - self.t2 > self.t4 - self.t1
    }

    /// When it was, by the controller's clock `[ns]`.
    fn at(&self) -> i64 {
        self.t1 + (self.t4 - self.t1) / 2
    }

    /// By how much the agent's clock was ahead, at least and at most `[ns]`.
    pub fn bounds(&self) -> (i64, i64) {
        (self.t3 - self.t4, self.t2 - self.t1)
    }
}

/// How much an agent's clock was ahead at one time of the controller's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// When `[ns]`.
    pub at: i64,
    /// By so much `[ns]`.
    pub offset: i64,
    /// More or less `[ns]`.
    pub uncertainty: i64,
}

impl Reading {
    /// By the exchange with the shortest round trip; `None` without any that is possible.
    pub fn of(exchanges: &[Exchange]) -> Option<Self> {
        let width = |exchange: &&Exchange| exchange.bounds().1 - exchange.bounds().0;
        let best = exchanges.iter().filter(|exchange| !exchange.is_impossible()).min_by_key(width)?;
        let (least, most) = best.bounds();
        let uncertainty = (most - least).unsigned_abs().div_ceil(2) as i64;
        Some(Self { at: best.at(), offset: least + (most - least) / 2, uncertainty })
    }
}

/// The clock that a host shows beside the one that its ptp4l follows, or why that is not known, as a clause. It takes a second.
pub(crate) fn by_ptp(socket: &Path, clock: &VirtualClock) -> Result<PtpAnswer, String> {
    let PtpReading { grandmaster, realtime_ns, grandmaster_ns, uncertainty_ns, is_own } =
        PtpReading::take(socket).map_err(|refusal| refusal.to_string())?;
    let shown_ns = clock.shown(realtime_ns.saturating_sub(realtime_ahead_ns()));
    let uncertainty_ns = uncertainty_ns.saturating_add(READ_TO_NS);
    Ok(PtpAnswer { grandmaster, shown_ns, grandmaster_ns, uncertainty_ns, is_own })
}

impl Reading {
    /// By what the ptp4l of either host says, if both follow one clock.
    ///
    /// # Errors
    /// Why nothing follows from it, as a clause.
    pub(crate) fn by_ptp(own: &PtpAnswer, agent: &PtpAnswer) -> Result<Self, String> {
        if own.grandmaster != agent.grandmaster {
            return Err(format!("it follows {}, and the controller's {}", agent.grandmaster, own.grandmaster));
        }
        let later_ns = agent.grandmaster_ns.checked_sub(own.grandmaster_ns);
        let later_ns = later_ns.filter(|later| later.abs() < ASKED_WITHIN_NS);
        let later_ns = later_ns.ok_or("its time is far from that of the controller's")?;
        if !is_of_a_host(agent.shown_ns) || !(0..ASKED_WITHIN_NS).contains(&agent.uncertainty_ns) {
            return Err("it says what no clock of a host shows".into());
        }
        // In a second the controller's clock strayed from the other by no more than it is uncertain by.
        let strayed = i128::from(own.uncertainty_ns) * i128::from(later_ns.abs()) / 1_000_000_000;
        let strayed = if own.is_own { 0 } else { strayed as i64 };
        let at = own.shown_ns + later_ns;
        Ok(Self { at, offset: agent.shown_ns - at, uncertainty: own.uncertainty_ns + agent.uncertainty_ns + strayed })
    }
}

/// An agent's clock over a run: a straight line through two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockLine {
    before: Reading,
    after: Reading,
    uncertainty: i64,
}

impl ClockLine {
    /// Through a reading before the run and one after it. If the clock ran evenly, the line is off by no more than they are. Exchanges between
    /// show whether it did: where one of them excludes that, the line may be off by as much as any of them allows.
    pub fn new(before: Reading, after: Reading, between: &[Exchange]) -> Self {
        let even = before.uncertainty.max(after.uncertainty);
        let line = Self { before, after, uncertainty: even };
        let beside = |exchange: &Exchange| {
            let ((least, most), offset) = (exchange.bounds(), line.offset_at(exchange.at()));
            (least - offset, offset - most)
        };
        let is_uneven = between.iter().map(beside).any(|(below, above)| below.max(above) > even);
        let slack = (before.uncertainty + after.uncertainty).saturating_mul(1_000_000_000) / line.length();
        let jumped = match line.drift_ppb().abs() > DRIFT_PPB_MAX + slack {
            true => (after.offset - before.offset).abs(),
            false => 0,
        };
        let allowed = match is_uneven {
            true => between.iter().map(beside).map(|(below, above)| (-below).max(-above)).max().unwrap_or(0),
            false => 0,
        };
        Self { uncertainty: even.max(allowed) + jumped, ..line }
    }

    fn length(&self) -> i64 {
        (self.after.at - self.before.at).max(1)
    }

    /// How much the agent's clock was ahead at a time of the controller's `[ns]`.
    pub fn offset_at(&self, controller_ns: i64) -> i64 {
        let share = i128::from(controller_ns - self.before.at) * i128::from(self.after.offset - self.before.offset);
        self.before.offset + (share / i128::from(self.length())) as i64
    }

    /// The controller's time at a time of the agent's `[ns]`.
    pub fn controller_ns(&self, agent_ns: i64) -> i64 {
        // The offset changes so slowly that the second step is exact to the nanosecond.
        let near = agent_ns - self.offset_at(agent_ns - self.before.offset);
        agent_ns - self.offset_at(near)
    }

    /// How much faster the agent's clock ran `[1e-9]`.
    pub fn drift_ppb(&self) -> i64 {
        (i128::from(self.after.offset - self.before.offset) * 1_000_000_000 / i128::from(self.length())) as i64
    }

    /// By how much this line and another are further apart than both are uncertain by, at a time of the run `[ns]`; `None` if they agree.
    pub(crate) fn contradicts(&self, other: &Self) -> Option<i64> {
        let apart = |at| (self.offset_at(at) - other.offset_at(at)).abs();
        let apart = apart(self.before.at).max(apart(self.after.at));
        Some(apart).filter(|apart| *apart > self.uncertainty + other.uncertainty)
    }

    /// What the line may be wrong by `[ns]`.
    pub fn uncertainty_ns(&self) -> i64 {
        self.uncertainty
    }
}

/// The clock that an agent shows: that of its host, and, for tests, something on top of it. The host's clock is never set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VirtualClock {
    /// What it shows more, from the beginning `[ns]`.
    pub offset_ns: i64,
    /// How much faster it runs `[1e-9]`.
    pub drift_ppb: i64,
    /// Where it jumps: so long after the beginning, by so much `[ns]`.
    pub step: Option<(i64, i64)>,
    /// Where its drift begins, by the host's clock `[ns]`.
    pub began_ns: i64,
}

impl VirtualClock {
    /// What it shows at a time of the host's clock `[ns]`.
    pub fn shown(&self, host_ns: i64) -> i64 {
        let since = host_ns - self.began_ns;
        let drifted = (i128::from(since) * i128::from(self.drift_ppb) / 1_000_000_000) as i64;
        let stepped = self.step.filter(|(after, _)| since >= *after).map_or(0, |(_, by)| by);
        host_ns + self.offset_ns + drifted + stepped
    }

    /// The host's time at which it shows so much, as it runs now, jumps to come left out `[ns]`.
    pub fn host(&self, shown_ns: i64, now_ns: i64) -> i64 {
        let known = Self { step: self.step.filter(|(after, _)| now_ns - self.began_ns >= *after), ..*self };
        let mut host = shown_ns - self.offset_ns;
        // Each step leaves the share of the drift of what the one before left.
        for _ in 0..4 {
            host += shown_ns - known.shown(host);
        }
        host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an exchange would have been that took so long each way.
    fn exchange(clock: &VirtualClock, t1: i64, there: i64, back: i64) -> Exchange {
        let (t2, t3) = (clock.shown(t1 + there), clock.shown(t1 + there + 2_000));
        Exchange { t1, t2, t3, t4: t1 + there + 2_000 + back }
    }

    fn readings(clock: &VirtualClock, from: i64) -> Reading {
        let delays = (0..64).map(|number| (50_000 + (number * 7_919) % 90_000, 60_000 + (number * 104_729) % 70_000));
        let exchanges: Vec<Exchange> = delays
            .enumerate()
            .map(|(number, (there, back))| exchange(clock, from + number as i64 * 300_000, there, back))
            .collect();
        Reading::of(&exchanges).expect("there are some")
    }

    #[test]
    fn the_stated_uncertainty_covers_an_offset_a_drift_and_ways_of_different_length() {
        let clock = VirtualClock { offset_ns: 5_000_000, drift_ppb: 50_000, ..VirtualClock::default() };
        let end = 10_000_000_000;
        let line = ClockLine::new(readings(&clock, 0), readings(&clock, end), &[]);
        for at in (0..100).map(|part| part * end / 100) {
            let truth = clock.shown(at) - at;
            assert!(
                (line.offset_at(at) - truth).abs() <= line.uncertainty_ns(),
                "at {at}: {} of {truth}",
                line.offset_at(at)
            );
            let back = line.controller_ns(clock.shown(at));
            assert!((back - at).abs() <= line.uncertainty_ns() + 1, "{back} of {at}");
        }
        assert!(line.uncertainty_ns() < 80_000, "{}", line.uncertainty_ns());
        assert!((line.drift_ppb() - 50_000).abs() < 12_000, "{}", line.drift_ppb());
    }

    #[test]
    fn an_exchange_in_which_a_clock_jumped_ahead_tells_nothing() {
        let honest = Exchange { t1: 0, t2: 60_000, t3: 62_000, t4: 120_000 };
        // Had for a millisecond by its own clock, within 100 us by ours: the shortest round trip of all, below zero.
        let jumped = Exchange { t1: 200_000, t2: 250_000, t3: 1_250_000, t4: 300_000 };
        assert_eq!(Reading::of(&[honest, jumped]), Reading::of(&[honest]));
        assert_eq!(Reading::of(&[jumped]), None);
        assert!(Reading::of(&[honest]).is_some_and(|reading| reading.uncertainty == 59_000));
        assert_eq!(Exchange::new(0, i64::MIN, i64::MAX, 1), None);
    }

    #[test]
    fn a_clock_that_jumps_in_the_middle_is_not_trusted() {
        let end = 10_000_000_000;
        for step in [3_000_000, -3_000_000] {
            let clock = VirtualClock { step: Some((end / 3, step)), ..VirtualClock::default() };
            let between: Vec<Exchange> =
                (1..40).map(|part| exchange(&clock, part * end / 40, 100_000, 400_000)).collect();
            let line = ClockLine::new(readings(&clock, 0), readings(&clock, end), &between);
            for at in (0..100).map(|part| part * end / 100) {
                let truth = clock.shown(at) - at;
                let error = (line.offset_at(at) - truth).abs();
                // Between two exchanges the line goes on for a quarter of a second.
                assert!(error <= line.uncertainty_ns() + 100_000, "at {at}: {error}, {}", line.uncertainty_ns());
            }
            assert!(line.uncertainty_ns() > 1_000_000, "{}", line.uncertainty_ns());
        }
        // One that nothing between shows is seen by how fast the clock would have to run.
        let clock = VirtualClock { step: Some((end / 2, 30_000_000)), ..VirtualClock::default() };
        let line = ClockLine::new(readings(&clock, 0), readings(&clock, end), &[]);
        assert!(line.uncertainty_ns() >= 30_000_000, "{}", line.uncertainty_ns());
    }

    #[test]
    fn a_virtual_clock_is_read_backwards() {
        let clock = VirtualClock { offset_ns: -7, drift_ppb: -80_000, step: Some((500, 10_000)), began_ns: 1_000 };
        for host in [1_000, 1_499, 40_000_000_000] {
            assert!((clock.host(clock.shown(host), host) - host).abs() <= 1);
        }
    }
}
