//! Flow meters: IEEE 802.1Q-2018 §8.6.5.1.3, with the bandwidth profile algorithm of MEF 10.3 §12.1.
//!
//! Two buckets hold tokens. One token is 10^-12 bit, which is what a rate of 1 bit/s earns in 1 ps, so that everything here is
//! a whole number and nothing is ever rounded. At 100 Gbit/s a bucket of 128 bits would hold what 10^7 years earn.

use chronoseal_core::{DiscardReason, Duration, Rate, SimTime};

use super::config::FlowMeterConfig;

/// Tokens of a byte.
const BYTE: i128 = 8_000_000_000_000;

/// The colour of a frame that is not thrown away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    Green,
    Yellow,
}

/// A meter at work.
#[derive(Clone, Debug)]
pub(super) struct FlowMeter {
    config: FlowMeterConfig,
    committed: i128,
    excess: i128,
    /// What the buckets hold at most.
    committed_max: i128,
    excess_max: i128,
    at: SimTime,
    /// *MarkAllFramesRed*.
    all_red: bool,
}

impl FlowMeter {
    /// Both buckets are full.
    pub(super) fn new(config: FlowMeterConfig) -> Self {
        let [committed, excess] = [config.cbs, config.ebs].map(tokens);
        let (committed_max, excess_max) = (committed, excess);
        Self { config, committed, excess, committed_max, excess_max, at: SimTime::ZERO, all_red: false }
    }

    /// Marks a frame of this length, checksum included `[byte]`.
    pub(super) fn mark(&mut self, now: SimTime, len: u32, is_drop_eligible: bool) -> Result<Colour, DiscardReason> {
        let FlowMeterConfig { is_colour_aware, drops_yellow, marks_all_red, .. } = self.config;
        self.earn(now);
        if self.all_red {
            return Err(DiscardReason::AllFramesMarkedRed);
        }
        let cost = tokens(u64::from(len));
        let may_be_green = !(is_colour_aware && is_drop_eligible);
        if may_be_green && cost <= self.committed {
            self.committed -= cost;
            return Ok(Colour::Green);
        }
        if cost <= self.excess {
            self.excess -= cost;
            return if drops_yellow { Err(DiscardReason::MeteredYellow) } else { Ok(Colour::Yellow) };
        }
        self.all_red = marks_all_red;
        Err(DiscardReason::MeteredRed)
    }

    fn earn(&mut self, now: SimTime) {
        let FlowMeterConfig { cir, eir, couples, .. } = self.config;
        let passed = now - self.at;
        self.at = now;
        let committed = self.committed + earned(cir, passed);
        self.committed = committed.min(self.committed_max);
        if self.excess == self.excess_max {
            // Full, as one of nothing is.
            return;
        }
        let overflow = if couples { committed - self.committed } else { 0 };
        self.excess = (self.excess + earned(eir, passed) + overflow).min(self.excess_max);
    }
}

fn tokens(bytes: u64) -> i128 {
    i128::from(bytes) * BYTE
}

fn earned(rate: Rate, passed: Duration) -> i128 {
    i128::from(rate.0) * i128::from(passed.as_ps())
}
