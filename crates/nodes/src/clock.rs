//! The clock of an end system: led by the beacon of a switch, one of those that make the time of a cluster together, or one of
//! IEEE 802.1AS.

use std::collections::VecDeque;

use chronoseal_clocksync::as6802::{Effect, Parameters, Refusal, SynchronisationClient, SynchronisationMaster};
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{DiscardReason, Duration, EventKind, LocalTime, NodeId, PortId};
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;

use crate::sync_client::SyncClient;
use crate::time_aware::TimeAwareClock;

/// A station's part in a cluster of AS6802.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// What every device of the cluster is configured with.
    pub parameters: Parameters,
    /// Which synchronisation master it is; `None` for a client.
    pub master: Option<u8>,
    /// The switches that compress, each with the port by which its frames come: over the networks A and B each has a port of its own.
    pub compression_masters: Vec<(NodeId, PortId)>,
}

/// An end system's clock.
#[derive(Clone, Debug)]
pub enum Clock {
    /// It follows the beacon, or is ideal.
    Beacon(SyncClient),
    /// It is one of a cluster.
    Cluster(Box<ClusterClock>),
    /// It follows a grandmaster of IEEE 802.1AS, or is one.
    TimeAware(Box<TimeAwareClock>),
}

impl Clock {
    /// True if cluster time means anything.
    pub fn is_synchronised(&self) -> bool {
        match self {
            Self::Beacon(client) => client.is_synchronised(),
            Self::Cluster(clock) => clock.machine.is_synchronised(),
            Self::TimeAware(clock) => clock.is_synchronised(),
        }
    }

    /// Cluster time at a time of the oscillator; zero while there is none.
    pub fn cluster_time(&self, local: LocalTime) -> Duration {
        match self {
            Self::Beacon(client) => client.cluster_time(local),
            Self::Cluster(clock) => clock.machine.cluster_time(local).unwrap_or(Duration::ZERO),
            Self::TimeAware(clock) => clock.cluster_time(local),
        }
    }

    /// The first time of the oscillator at which cluster time has come to `cluster`.
    pub fn local_time(&self, cluster: Duration) -> LocalTime {
        match self {
            Self::Beacon(client) => client.local_time(cluster),
            // Between two corrections such a clock runs as the oscillator does.
            Self::Cluster(_) => LocalTime::ZERO + (cluster - self.cluster_time(LocalTime::ZERO)),
            Self::TimeAware(clock) => clock.local_time(cluster),
        }
    }

    /// What it shows at a time of the oscillator and how much faster than that it runs, where stations and switches make the time
    /// themselves and it is one of them.
    pub(crate) fn shown(&self, local: LocalTime) -> Option<(LocalTime, RateDeviation)> {
        let rate = match self {
            Self::Beacon(_) => return None,
            Self::Cluster(_) => RateDeviation::ZERO,
            Self::TimeAware(clock) => clock.rate(),
        };
        self.is_synchronised().then(|| (LocalTime::ZERO + self.cluster_time(local), rate))
    }

    /// When the clock counts as lost if no beacon comes; `None` if it is not following one.
    pub fn beacon_deadline(&self) -> Option<LocalTime> {
        match self {
            Self::Beacon(client) => client.beacon_deadline(),
            Self::Cluster(_) | Self::TimeAware(_) => None,
        }
    }
}

/// What a clock of a cluster did, or wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClusterEffect {
    /// Send this frame, which was due at a time.
    Send(ProtocolControlFrame, LocalTime),
    /// Something to report, with its sequence and its value.
    Event(EventKind, u64, i64),
}

/// A clock that is one of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterClock {
    config: ClusterConfig,
    machine: Machine,
    effects: VecDeque<ClusterEffect>,
}

/// What keeps the clock.
#[derive(Clone, Debug)]
enum Machine {
    /// Not powered on.
    Off,
    Master(SynchronisationMaster),
    Client(SynchronisationClient),
}

impl Machine {
    fn is_synchronised(&self) -> bool {
        match self {
            Self::Off => false,
            Self::Master(master) => master.is_synchronised(),
            Self::Client(client) => client.is_synchronised(),
        }
    }

    fn cluster_time(&self, local: LocalTime) -> Option<Duration> {
        match self {
            Self::Off => None,
            Self::Master(master) => master.cluster_time(local),
            Self::Client(client) => client.cluster_time(local),
        }
    }
}

impl ClusterClock {
    pub(crate) fn new(config: ClusterConfig) -> Self {
        Self { config, machine: Machine::Off, effects: VecDeque::new() }
    }

    /// Power-on.
    pub(crate) fn start(&mut self, now: LocalTime) {
        let ClusterConfig { parameters, master, compression_masters } = &self.config;
        let sources = compression_masters.len();
        self.effects.clear();
        self.machine = match master {
            Some(index) => Machine::Master(SynchronisationMaster::new(parameters, *index, sources, now)),
            None => Machine::Client(SynchronisationClient::new(parameters, sources)),
        };
    }

    /// Takes a control frame that arrived at a time by a port, from a switch that has to be behind it.
    pub(crate) fn receive(
        &mut self,
        arrived: LocalTime,
        (from, port): (Option<NodeId>, PortId),
        frame: &ProtocolControlFrame,
    ) -> Result<(), DiscardReason> {
        let is_it = |(switch, behind): &(NodeId, PortId)| Some(*switch) == from && *behind == port;
        let source = self.config.compression_masters.iter().position(is_it);
        let source = source.ok_or(DiscardReason::NotSyncMaster)?;
        let taken = match &mut self.machine {
            Machine::Off => Ok(()),
            Machine::Master(master) => master.receive(arrived, source, frame),
            Machine::Client(client) => client.receive(arrived, source, frame),
        };
        taken.map_err(|refusal| match refusal {
            Refusal::TooOld => DiscardReason::TransmissionDelayExceeded,
            Refusal::TooMany => DiscardReason::QueueFull,
            Refusal::OtherCluster | Refusal::NoSuchCycle => DiscardReason::Malformed,
            _ => DiscardReason::NotSyncMaster,
        })
    }

    /// The next thing it did or wants done by a time.
    pub(crate) fn next_effect(&mut self, now: LocalTime) -> Option<ClusterEffect> {
        if self.effects.is_empty() {
            self.advance(now);
        }
        self.effects.pop_front()
    }

    /// When it has something to do, if nothing arrives before.
    pub(crate) fn wake_at(&self) -> Option<LocalTime> {
        if !self.effects.is_empty() {
            return Some(LocalTime::from_ps(i64::MIN));
        }
        match &self.machine {
            Machine::Off => None,
            Machine::Master(master) => master.wake_at(),
            Machine::Client(client) => client.wake_at(),
        }
    }

    /// Lets the machine do all that is due, one thing after the other, so that each is told with the clock as it was then.
    fn advance(&mut self, now: LocalTime) {
        let cycle = self.config.parameters.cluster.integration_cycle;
        match &mut self.machine {
            Machine::Off => {}
            Machine::Master(master) => {
                while let Some(at) = master.wake_at().filter(|at| *at <= now) {
                    let was_synchronised = master.is_synchronised();
                    master.advance(at);
                    let effects: Vec<_> = std::iter::from_fn(|| master.poll()).collect();
                    let shown = master.cluster_time(at);
                    tell(effects, shown, cycle, &mut self.effects);
                    changed(was_synchronised, shown, &mut self.effects);
                }
            }
            Machine::Client(client) => {
                while let Some(at) = client.wake_at().filter(|at| *at <= now) {
                    let was_synchronised = client.is_synchronised();
                    client.advance(at);
                    let effects: Vec<_> = std::iter::from_fn(|| client.poll()).collect();
                    let shown = client.cluster_time(at);
                    tell(effects, shown, cycle, &mut self.effects);
                    changed(was_synchronised, shown, &mut self.effects);
                }
            }
        }
    }
}

/// What a machine did at one time, whose clock shows `shown` since.
fn tell<S>(effects: Vec<Effect<S>>, shown: Option<Duration>, cycle: Duration, to: &mut VecDeque<ClusterEffect>) {
    for effect in effects {
        match effect {
            Effect::Send { frame, due } => to.push_back(ClusterEffect::Send(frame, due)),
            Effect::Corrected { by, .. } => {
                // It is told as what was added to the clock, as a beacon's correction is.
                let (value, shown) = (-by.as_ps(), shown.map_or(Duration::ZERO, |shown| shown + by));
                let number = |count: i64| count.max(0).unsigned_abs();
                to.push_back(ClusterEffect::Event(EventKind::ClockShown, number(shown.as_ps()), value));
                to.push_back(ClusterEffect::Event(EventKind::ClockCorrected, number(shown.div_floor(cycle)), value));
            }
            Effect::Entered { .. } => {}
        }
    }
}

/// What is told of a clock that shows `shown` then, nothing if it has left its cluster.
fn changed(was_synchronised: bool, shown: Option<Duration>, to: &mut VecDeque<ClusterEffect>) {
    match (was_synchronised, shown) {
        (false, Some(shown)) => {
            to.push_back(ClusterEffect::Event(EventKind::SyncAcquired, 0, 0));
            to.push_back(ClusterEffect::Event(EventKind::ClockShown, shown.as_ps().max(0).unsigned_abs(), 0));
        }
        (true, None) => to.push_back(ClusterEffect::Event(EventKind::SyncLost, 0, 0)),
        _ => {}
    }
}
