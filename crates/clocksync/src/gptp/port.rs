//! What a port knows.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{Announce, PortIdentity};

use super::parameters::interval;
use super::peer_delay::{PeerDelay, Responder};
use super::selection::{PriorityVector, Unusable};
use super::time_base::SyncInformation;
use super::{Parameters, PortParameters, PortRole, Refusal};

/// The clock that a port heard of: the state `Received` of `infoIs`, IEEE 802.1AS-2020 §10.3.12.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Received {
    pub(super) vector: PriorityVector,
    /// When it is forgotten unless it is announced again.
    pub(super) until: LocalTime,
    pub(super) path: Vec<[u8; 8]>,
    pub(super) time_flags: u8,
    pub(super) current_utc_offset: i16,
    pub(super) time_source: u8,
}

/// What an Announce changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// The port knows another way or another clock now.
    Superior,
    /// It was known.
    Repeated,
}

/// A Sync that waits for its `Follow_Up`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiting {
    sequence: u16,
    arrived: LocalTime,
    until: LocalTime,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Port {
    pub(super) identity: PortIdentity,
    pub(super) delay_asymmetry: Duration,
    pub(super) is_up: bool,
    pub(super) role: PortRole,
    pub(super) peer_delay: PeerDelay,
    pub(super) responder: Responder,
    pub(super) next_request: LocalTime,
    pub(super) received: Option<Received>,
    /// When a port in role Slave gives its master up unless a Sync comes.
    pub(super) sync_until: LocalTime,
    waiting: Option<Waiting>,
    pub(super) next_announce: LocalTime,
    pub(super) announce_sequence: u16,
    pub(super) sync_sequence: u16,
    /// What the Sync on its way out says.
    pub(super) sending: Option<SyncInformation>,
}

impl Port {
    pub(super) fn new(parameters: &Parameters, of_port: &PortParameters, port: u16, start: LocalTime) -> Self {
        let identity = PortIdentity { clock: parameters.identity.clock, port };
        Self {
            identity,
            delay_asymmetry: of_port.delay_asymmetry,
            is_up: true,
            role: PortRole::Disabled,
            peer_delay: PeerDelay::new(parameters, of_port, identity),
            responder: Responder::default(),
            next_request: start,
            received: None,
            sync_until: start,
            waiting: None,
            next_announce: start,
            announce_sequence: 0,
            sync_sequence: 0,
            sending: None,
        }
    }

    /// What the choice of the grandmaster sees of it.
    pub(super) fn heard_of(&self) -> Result<Option<PriorityVector>, Unusable> {
        match self.is_up && self.peer_delay.as_capable() {
            true => Ok(self.received.as_ref().map(|received| received.vector)),
            false => Err(Unusable),
        }
    }

    /// Takes an Announce: `qualifyAnnounce` and `rcvInfo`, IEEE 802.1AS-2020 §10.3.11.2.1 and §10.3.12. `mine` is what the port would
    /// announce itself.
    pub(super) fn announce(
        &mut self,
        now: LocalTime,
        from: PortIdentity,
        log_interval: i8,
        timeout: u8,
        announce: &Announce<'_>,
        mine: &PriorityVector,
    ) -> Result<Heard, Refusal> {
        let own = self.identity.clock;
        let Announce { grandmaster, steps_removed, path_trace, time_flags, current_utc_offset, time_source } =
            *announce;
        (steps_removed < 255).then_some(()).ok_or(Refusal::TooManySteps(steps_removed))?;
        path_trace.clocks().all(|clock| clock != own).then_some(()).ok_or(Refusal::PathLoop)?;
        let vector = PriorityVector { root: grandmaster, steps_removed, source: from, port: self.identity.port };
        let known = self.received.as_ref().map_or(mine, |received| &received.vector);
        let heard = match known {
            known if *known == vector => Heard::Repeated,
            // The master that is known may become worse; another one has to be better.
            known if known.source != from && *known < vector => return Err(Refusal::Inferior),
            _ => Heard::Superior,
        };
        let until = now + interval(log_interval) * i64::from(timeout);
        let path = path_trace.clocks().map(|clock| clock.0).collect();
        self.received = Some(Received { vector, until, path, time_flags, current_utc_offset, time_source });
        Ok(heard)
    }

    /// A Sync arrived. `now` is when it is handled, after its arrival.
    pub(super) fn sync(
        &mut self,
        now: LocalTime,
        arrived: LocalTime,
        from: PortIdentity,
        sequence: u16,
        log_interval: i8,
    ) -> Result<(), Refusal> {
        self.follows(from)?;
        let until = now + interval(log_interval);
        self.waiting = Some(Waiting { sequence, arrived, until });
        Ok(())
    }

    /// A `Follow_Up` arrived: when its Sync did.
    pub(super) fn follow_up(
        &mut self,
        now: LocalTime,
        from: PortIdentity,
        sequence: u16,
    ) -> Result<LocalTime, Refusal> {
        self.follows(from)?;
        let waiting = self.waiting.filter(|waiting| waiting.sequence == sequence && now <= waiting.until);
        Ok(waiting.ok_or(Refusal::NoSync)?.arrived)
    }

    /// The Sync that waited was used.
    pub(super) fn sync_used(&mut self) {
        self.waiting = None;
    }

    /// Checks that a message comes from the master that is followed.
    fn follows(&self, from: PortIdentity) -> Result<(), Refusal> {
        (self.role == PortRole::Slave).then_some(()).ok_or(Refusal::WrongRole(self.role))?;
        let is_master = self.received.as_ref().is_some_and(|received| received.vector.source == from);
        is_master.then_some(()).ok_or(Refusal::NotFromMaster)
    }

    /// Takes its role, and what it knew of another goes.
    pub(super) fn enter(&mut self, role: PortRole, now: LocalTime, sync_until: LocalTime) {
        self.role = role;
        self.waiting = None;
        match role {
            PortRole::Slave => self.sync_until = sync_until,
            PortRole::Master => self.next_announce = now,
            PortRole::Passive | PortRole::Disabled => {}
        }
        if role != PortRole::Master {
            self.sending = None;
        }
    }
}
