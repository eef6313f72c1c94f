//! Clocks that follow a grandmaster (IEEE 802.1AS).

use std::collections::BTreeMap;

use chronoseal_clocksync::gptp::{Parameters, PortParameters};
use chronoseal_core::{Duration, NodeId, Ppm};
use chronoseal_wire::gptp::ClockIdentity;
use chronoseal_wire::virtual_link;

/// The clocks of a segment with [`super::Sync::Gptp`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeAwarePlan {
    /// What all systems are configured with; each has an identity of its own.
    pub parameters: Parameters,
    /// The same of all ports.
    pub port: PortParameters,
    /// Of every stamp; zero: they are exact.
    pub granularity: Duration,
    /// The stations.
    pub stations: BTreeMap<NodeId, GrandmasterQuality>,
    /// By switch, with what its oscillator deviates by.
    pub bridges: Vec<(GrandmasterQuality, Ppm)>,
}

/// How good a system is as a grandmaster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrandmasterQuality {
    /// `priority1`; 255: it never is one.
    pub priority1: u8,
    /// `clockClass`.
    pub clock_class: u8,
    /// `priority2`.
    pub priority2: u8,
}

impl TimeAwarePlan {
    /// What a system is configured with.
    pub fn parameters_of(&self, clock: ClockIdentity, quality: GrandmasterQuality) -> Parameters {
        let mut parameters = self.parameters;
        parameters.identity.clock = clock;
        parameters.identity.priority1 = quality.priority1;
        parameters.identity.priority2 = quality.priority2;
        parameters.identity.quality.class = quality.clock_class;
        parameters
    }

    /// What messages call a switch or a node.
    pub fn clock_of(node: NodeId) -> ClockIdentity {
        ClockIdentity::from_mac(virtual_link::station_address(node))
    }

    /// Between two Sync messages.
    pub fn sync_interval(&self) -> Duration {
        Self::interval(self.parameters.log_sync_interval)
    }

    /// Between two Announce messages.
    pub fn announce_interval(&self) -> Duration {
        Self::interval(self.parameters.log_announce_interval)
    }

    /// Between two measurements of a link's delay.
    pub fn pdelay_interval(&self) -> Duration {
        Self::interval(self.parameters.log_pdelay_req_interval)
    }

    /// From power-on until every clock follows the grandmaster, if no message is lost: two measurements of each link, then the time for
    /// which one and the same grandmaster has to be known, and one interval of each message more for what lies between.
    pub fn startup_bound(&self) -> Duration {
        let announces = i64::from(self.parameters.announce_receipt_timeout) + 1;
        self.pdelay_interval() * 2 + self.announce_interval() * announces + self.sync_interval() * 2
    }

    /// The interval of a binary logarithm of seconds.
    pub const fn interval(log: i8) -> Duration {
        let second = Duration::from_s(1).as_ps();
        Duration::from_ps(if log < 0 { second >> -log } else { second << log })
    }
}
