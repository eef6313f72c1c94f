//! One controller on a bus: what it holds and the state its errors have put it in.

use chronoseal_core::SimTime;
use chronoseal_wire::can::CanId;

use super::config::ControllerConfig;
use super::counters::{ErrorCounters, ErrorState, RECOVERY_RUNS};
use super::mailbox::{Mailbox, Queued};

pub(super) struct Controller {
    pub(super) config: ControllerConfig,
    pub(super) mailbox: Mailbox,
    pub(super) counters: ErrorCounters,
    /// The frame it is sending.
    pub(super) sending: Option<Queued>,
    /// An error-passive sender waits until then.
    pub(super) suspended_until: SimTime,
    /// In bus-off: sequences of recessive bits that are still missing.
    pub(super) recovery_runs_left: u32,
}

impl Controller {
    pub(super) fn new(config: ControllerConfig) -> Self {
        let mailbox = Mailbox::new(config.queue_order, config.queue_len_max);
        Self {
            config,
            mailbox,
            counters: ErrorCounters::default(),
            sending: None,
            suspended_until: SimTime::ZERO,
            recovery_runs_left: 0,
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.counters.state() == ErrorState::BusOff
    }

    pub(super) fn go_off(&mut self) {
        self.recovery_runs_left = RECOVERY_RUNS;
    }

    /// True if it would begin a frame at `now` on an idle bus.
    pub(super) fn wants_to_send(&self, now: SimTime) -> bool {
        self.suspended_until <= now && self.mailbox.next().is_some() && !self.is_off()
    }

    pub(super) fn accepts(&self, id: CanId) -> bool {
        self.config.acceptance.is_empty() || self.config.acceptance.iter().any(|filter| filter.passes(id))
    }
}
