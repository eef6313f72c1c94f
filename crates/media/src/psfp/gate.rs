//! Stream gates: IEEE 802.1Q-2018 §8.6.5.1.2.

use chronoseal_core::{DiscardReason, Duration, Priority};

use super::config::StreamGateConfig;

/// A gate at work.
#[derive(Clone, Debug)]
pub(super) struct StreamGate {
    config: StreamGateConfig,
    /// The interval in which a frame came last, by cycle and entry, and the octets that have passed in it.
    interval: (i64, usize),
    passed: u64,
    /// It stays closed, for this reason.
    closed: Option<DiscardReason>,
}

impl StreamGate {
    pub(super) fn new(config: &StreamGateConfig) -> Self {
        assert!(!config.list.entries.is_empty(), "a stream gate control list has an entry");
        Self { config: config.clone(), interval: (i64::MIN, 0), passed: 0, closed: None }
    }

    /// Lets an SDU of this length through, with the internal priority value that it has then. `shown` is what the clock of the bridge
    /// shows; before it shows anything the gate is open and leaves frames their priority, as its administrative state has it.
    pub(super) fn pass(&mut self, shown: Option<Duration>, sdu_len: u32) -> Result<Option<Priority>, DiscardReason> {
        if let Some(reason) = self.closed {
            return Err(reason);
        }
        let Some(shown) = shown else { return Ok(None) };
        let interval = self.config.list.at(shown);
        let entry = self.config.list.entries[interval.1];
        if !entry.is_open {
            self.closed = self.config.closes_on_invalid_rx.then_some(DiscardReason::GateClosedDueToInvalidRx);
            return Err(DiscardReason::StreamGateClosed);
        }
        if self.interval != interval {
            (self.interval, self.passed) = (interval, 0);
        }
        let passed = self.passed + u64::from(sdu_len);
        if entry.octets_max.is_some_and(|max| passed > max) {
            self.closed = self.config.closes_on_octets_exceeded.then_some(DiscardReason::GateClosedDueToOctetsExceeded);
            return Err(DiscardReason::IntervalOctetsExceeded);
        }
        self.passed = passed;
        Ok(entry.ipv)
    }
}
