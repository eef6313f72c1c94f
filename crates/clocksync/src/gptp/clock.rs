//! A system as the clock of a device: stamps as coarse as its counter, whether its time can be relied on, and what it showed.

use std::collections::VecDeque;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, StreamId};
use chronoseal_wire::gptp::ClockIdentity;
use chronoseal_wire::virtual_link;

use super::parameters::interval;
use super::{Effect, ParameterError, Parameters, PortParameters, PortRole, Pretence, Refusal, Stamp, TimeAwareSystem};

/// Requests in a row after which a neighbour that does not answer counts as gone for a grandmaster, which hears nothing else of it.
const SILENT_AFTER: u8 = 2;

/// What the clock of a device did, or wants done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClockEffect {
    /// Send this message now, to [`chronoseal_wire::gptp::PTP_ADDRESS`].
    Send {
        /// By this port.
        port: u16,
        /// The payload of the frame, without padding.
        payload: Vec<u8>,
        /// Its departure has to be reported with this.
        stamp: Option<Stamp>,
    },
    /// Its time can be relied on from now on.
    Acquired,
    /// Its time cannot be relied on any more: nothing tells it the time.
    Lost,
    /// It follows this grandmaster from now on.
    Grandmaster(ClockIdentity),
    /// What it shows, told while its time can be relied on.
    Shown {
        /// What it showed before a Sync corrected it, since [`Parameters::epoch`].
        before: Duration,
        /// What it shows more since.
        by: Duration,
        /// How much faster it runs than its oscillator.
        rate: RateDeviation,
    },
}

impl ClockEffect {
    /// What is reported of it; a message is not.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        let of = |kind, sequence, value| Some(Event { value, ..Event::of(kind, StreamId::NONE, sequence) });
        let events = match self {
            Self::Send { .. } => [None; 3],
            Self::Acquired => [of(EventKind::SyncAcquired, 0, 0), None, None],
            Self::Lost => [of(EventKind::SyncLost, 0, 0), None, None],
            Self::Grandmaster(clock) => {
                let node = clock.mac().and_then(virtual_link::station);
                let number = node.map_or(u64::MAX, |node| u64::from(node.0));
                [of(EventKind::GrandmasterChanged, number, 0), None, None]
            }
            Self::Shown { before, by, rate } => {
                let corrected = of(EventKind::ClockCorrected, 0, by.as_ps()).filter(|_| *by != Duration::ZERO);
                let rate = of(EventKind::ClockRate, 0, rate.as_fixed());
                // Below zero for a clock that shows a time before the epoch.
                [rate, of(EventKind::ClockShown, before.as_ps() as u64, by.as_ps()), corrected]
            }
        };
        events.into_iter().flatten()
    }
}

/// The clock of a bridge or an end station.
///
/// Its time can be relied on while it follows a grandmaster, or is one that somebody listens to. At power-on every system takes itself
/// for the grandmaster until it has heard of a better one, so the first time counts only after the same grandmaster has been
/// followed for as long as one may be silent, `announceReceiptTimeout`; later it counts with the first Sync.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceClock {
    system: TimeAwareSystem,
    granularity: Duration,
    /// The grandmaster that is followed, and since when its time comes without a break.
    followed: Option<(ClockIdentity, LocalTime)>,
    told: Option<ClockIdentity>,
    is_settled: bool,
    is_acquired: bool,
    effects: VecDeque<ClockEffect>,
}

impl DeviceClock {
    /// A clock that begins at a time, whose stamps are whole multiples of `granularity`, or exact if that is zero.
    ///
    /// # Errors
    /// As [`TimeAwareSystem::new`].
    pub fn new(
        parameters: &Parameters,
        ports: &[PortParameters],
        granularity: Duration,
        start: LocalTime,
    ) -> Result<Self, ParameterError> {
        Ok(Self {
            system: TimeAwareSystem::new(parameters, ports, start)?,
            granularity,
            followed: None,
            told: None,
            is_settled: false,
            is_acquired: false,
            effects: VecDeque::new(),
        })
    }

    /// The system behind it.
    pub const fn system(&self) -> &TimeAwareSystem {
        &self.system
    }

    /// True if its time can be relied on.
    pub const fn is_synchronised(&self) -> bool {
        self.is_acquired
    }

    /// What it shows, since [`Parameters::epoch`].
    pub fn shown(&self, at: LocalTime) -> Duration {
        self.system.time(at) - self.system.parameters.epoch
    }

    /// The first time of the oscillator at which it shows so much.
    pub fn local_time(&self, shown: Duration) -> LocalTime {
        self.system.base.local_time(self.system.parameters.epoch + shown)
    }

    /// A time as the counter of the device stamps it.
    pub fn stamp(&self, at: LocalTime) -> LocalTime {
        match self.granularity {
            Duration::ZERO => at,
            granularity => at - at.since_zero().rem_floor(granularity),
        }
    }

    /// Takes a message that arrived at a port; `arrived` is the time of its first bit.
    ///
    /// # Errors
    /// As [`TimeAwareSystem::receive`].
    pub fn receive(&mut self, now: LocalTime, port: u16, arrived: LocalTime, payload: &[u8]) -> Result<(), Refusal> {
        let before = self.shown(now);
        let arrived = self.stamp(arrived);
        let taken = self.system.receive(now, port, arrived, payload);
        self.settle(now, before);
        taken
    }

    /// An event message left a port: its first bit did so at `sent`.
    ///
    /// # Errors
    /// As [`TimeAwareSystem::transmitted`].
    pub fn transmitted(&mut self, now: LocalTime, port: u16, stamp: Stamp, sent: LocalTime) -> Result<(), Refusal> {
        let before = self.shown(now);
        let sent = self.stamp(sent);
        let taken = self.system.transmitted(now, port, stamp, sent);
        self.settle(now, before);
        taken
    }

    /// The link of a port went up or down.
    pub fn set_link(&mut self, now: LocalTime, port: u16, is_up: bool) {
        let before = self.shown(now);
        self.system.set_link(now, port, is_up);
        self.settle(now, before);
    }

    /// Does all that was to be done by a time.
    pub fn advance(&mut self, now: LocalTime) {
        let before = self.shown(now);
        self.system.advance(now);
        self.settle(now, before);
    }

    /// When [`Self::advance`] has something to do, if nothing arrives before.
    pub fn wake_at(&self) -> LocalTime {
        let acquires = self.followed.filter(|_| !self.is_acquired).map(|(_, since)| since + self.settling());
        acquires.map_or(self.system.wake_at(), |at| at.min(self.system.wake_at()))
    }

    /// Announces another `priority1` and `clockClass` from now on, and serves a time that is off whenever it is the grandmaster: what a
    /// station does that is not honest.
    pub fn pretend(&mut self, now: LocalTime, claimed: (u8, u8), pretence: Pretence) {
        let before = self.shown(now);
        self.system.pretend(now, claimed, pretence);
        self.settle(now, before);
        let by = self.shown(now) - before;
        if self.is_acquired && by != Duration::ZERO {
            self.effects.push_back(ClockEffect::Shown { before, by, rate: self.system.rate() });
        }
    }

    /// What it did or wants done, in order.
    pub fn poll(&mut self) -> Option<ClockEffect> {
        self.effects.pop_front()
    }

    /// As which loss a message that was not used is reported. `None` for what a network without faults has too: until the tree is there
    /// the neighbour at a link sends a Sync as well, and messages come that are not used.
    pub const fn reason(&self, refusal: &Refusal) -> Option<DiscardReason> {
        match refusal {
            Refusal::Malformed(_) | Refusal::OtherDomain(_) | Refusal::TooManySteps(_) | Refusal::Implausible => {
                Some(DiscardReason::Malformed)
            }
            Refusal::WrongRole(PortRole::Master | PortRole::Disabled) | Refusal::NotFromMaster if self.is_acquired => {
                Some(DiscardReason::NotSyncMaster)
            }
            Refusal::SeveralNeighbours | Refusal::NoSuchPort(_) => Some(DiscardReason::NotSyncMaster),
            _ => None,
        }
    }

    /// For how long a grandmaster is followed before its time counts.
    fn settling(&self) -> Duration {
        if self.is_settled {
            return Duration::ZERO;
        }
        let parameters = &self.system.parameters;
        interval(parameters.log_announce_interval) * i64::from(parameters.announce_receipt_timeout)
    }

    /// True if the time of a grandmaster comes, or goes from here to somebody.
    fn has_time(&self) -> bool {
        let listens = |port: &super::port::Port| port.role == PortRole::Master && port.peer_delay.lost() < SILENT_AFTER;
        match self.system.is_grandmaster() {
            true => self.system.ports.iter().any(listens),
            false => self.system.is_synchronised(),
        }
    }

    /// Tells what the system did, and what follows from it. `before` is what the clock showed.
    fn settle(&mut self, now: LocalTime, before: Duration) {
        let mut is_corrected = false;
        while let Some(effect) = self.system.poll() {
            match effect {
                Effect::Send { port, payload, stamp } => {
                    self.effects.push_back(ClockEffect::Send { port, payload, stamp });
                }
                Effect::Synchronised { .. } => is_corrected = true,
                Effect::Role { .. } | Effect::Grandmaster { .. } => {}
            }
        }
        let grandmaster = self.system.grandmaster();
        self.followed = match self.followed {
            _ if !self.has_time() => None,
            Some((clock, since)) if clock == grandmaster => Some((clock, since)),
            _ => Some((grandmaster, now)),
        };
        if self.followed.is_none() && self.is_acquired {
            self.is_acquired = false;
            self.effects.push_back(ClockEffect::Lost);
        }
        let has_settled = self.followed.is_some_and(|(_, since)| now >= since + self.settling());
        let is_new = has_settled && !self.is_acquired;
        if is_new {
            (self.is_acquired, self.is_settled) = (true, true);
            self.effects.push_back(ClockEffect::Acquired);
        }
        if self.is_acquired && self.told != Some(grandmaster) {
            self.told = Some(grandmaster);
            self.effects.push_back(ClockEffect::Grandmaster(grandmaster));
        }
        if is_new || is_corrected && self.is_acquired {
            // Before it could be relied on it showed nothing that counts.
            let before = if is_new { self.shown(now) } else { before };
            let (by, rate) = (self.shown(now) - before, self.system.rate());
            self.effects.push_back(ClockEffect::Shown { before, by, rate });
        }
    }
}
