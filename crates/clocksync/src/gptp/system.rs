//! A time-aware system: ports, what they agree on, and the time that follows from it.

use std::collections::VecDeque;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{Body, ClockIdentity, FollowUp, Message, PtpTime};

use super::parameters::interval;
use super::peer_delay::RATE_DEVIATION_MAX;
use super::port::{Heard, Port};
use super::selection::{PriorityVector, select};
use super::time_base::{SyncInformation, TimeBase, rate_from_wire};
use super::{Effect, ParameterError, Parameters, PortParameters, PortRole, Pretence, Refusal};

/// A correction of an hour is none that bridges and links of a network of time-aware systems make.
const CORRECTION_MAX: Duration = Duration::from_s(3600);

/// A relay of several ports, which is a bridge or a station on several networks, or an end station if it has one port.
///
/// Times given to it are of its own oscillator, and never run backwards from call to call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeAwareSystem {
    pub(super) parameters: Parameters,
    pub(super) ports: Vec<Port>,
    pub(super) best: PriorityVector,
    pub(super) slave: Option<usize>,
    /// The time of the grandmaster, or of this clock.
    pub(super) base: TimeBase,
    /// True after the first Sync of the grandmaster that is followed now.
    has_sync: bool,
    /// By what the time is off that it serves as a grandmaster.
    pretence: Pretence,
    /// Of this clock as a grandmaster: how often it took over from another one.
    pub(super) time_base_indicator: u16,
    pub(super) next_sync: LocalTime,
    pub(super) effects: VecDeque<Effect>,
}

impl TimeAwareSystem {
    /// A system that begins at a time, with all links up. Ports are numbered from 1, in the order given.
    ///
    /// # Errors
    /// [`ParameterError`] names the parameter that is out of bounds.
    pub fn new(parameters: &Parameters, ports: &[PortParameters], start: LocalTime) -> Result<Self, ParameterError> {
        parameters.check(ports.len())?;
        let ports: Vec<_> =
            (1..).zip(ports).map(|(number, of_port)| Port::new(parameters, of_port, number, start)).collect();
        let best = select(&parameters.identity, &[]).best;
        Ok(Self {
            base: TimeBase { local: start, time: parameters.free_running(start), rate: RateDeviation::ZERO },
            parameters: *parameters,
            ports,
            best,
            slave: None,
            has_sync: false,
            pretence: Pretence::default(),
            time_base_indicator: 0,
            next_sync: start,
            effects: VecDeque::new(),
        })
    }

    /// The clock that is followed; its own while there is no better one.
    pub fn grandmaster(&self) -> ClockIdentity {
        self.best.root.clock
    }

    /// Links to the grandmaster.
    pub fn steps_removed(&self) -> u16 {
        self.best.steps_removed
    }

    /// True if it is the grandmaster: no other clock is better, and it may be one.
    pub fn is_grandmaster(&self) -> bool {
        self.slave.is_none() && self.is_grandmaster_present()
    }

    /// `gmPresent`: the best clock may be a grandmaster.
    fn is_grandmaster_present(&self) -> bool {
        self.best.root.priority1 < 255
    }

    /// True if it is the grandmaster, or had a Sync of it since it follows it.
    pub fn is_synchronised(&self) -> bool {
        self.is_grandmaster() || self.has_sync
    }

    /// The grandmaster's time at a time of this clock, by the last Sync and its rate. While there is none it goes on by the last one
    /// there was, and from the epoch if there never was one.
    pub fn time(&self, at: LocalTime) -> PtpTime {
        self.base.time(at)
    }

    /// How much faster the grandmaster's clock runs than this one.
    pub fn rate(&self) -> RateDeviation {
        self.base.rate
    }

    /// The role of a port.
    pub fn role(&self, port: u16) -> Option<PortRole> {
        self.index(port).ok().map(|index| self.ports[index].role)
    }

    /// True if the neighbour at a port takes part.
    pub fn as_capable(&self, port: u16) -> bool {
        self.index(port).is_ok_and(|index| self.ports[index].peer_delay.as_capable())
    }

    /// The delay of the link at a port, and how much faster its neighbour's clock runs, as far as they are measured.
    pub fn link(&self, port: u16) -> (Option<Duration>, Option<RateDeviation>) {
        self.index(port).map_or((None, None), |index| {
            let peer_delay = &self.ports[index].peer_delay;
            (peer_delay.delay(), peer_delay.rate())
        })
    }

    /// What it did or wants done, in order.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    pub(super) fn index(&self, port: u16) -> Result<usize, Refusal> {
        let index = usize::from(port).checked_sub(1).filter(|index| *index < self.ports.len());
        index.ok_or(Refusal::NoSuchPort(port))
    }

    /// The link of a port went up or down; an unknown port is left alone.
    pub fn set_link(&mut self, now: LocalTime, port: u16, is_up: bool) {
        let Ok(index) = self.index(port) else { return };
        let port = &mut self.ports[index];
        if port.is_up == is_up {
            return;
        }
        port.is_up = is_up;
        port.peer_delay.reset();
        port.received = None;
        port.next_request = now;
        self.reselect(now);
    }

    /// Takes a message that arrived at a port: `payload` is that of the frame, `arrived` its time stamp, `now` the time of this call,
    /// which may be later.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then, but that a second neighbour at a link ends the measurement of its delay.
    pub fn receive(&mut self, now: LocalTime, port: u16, arrived: LocalTime, payload: &[u8]) -> Result<(), Refusal> {
        let index = self.index(port)?;
        self.ports[index].is_up.then_some(()).ok_or(Refusal::LinkDown)?;
        let Message { header, body } = Message::parse(payload)?;
        (header.domain == self.parameters.domain).then_some(()).ok_or(Refusal::OtherDomain(header.domain))?;
        let own = self.parameters.identity.clock;
        (header.source.clock != own).then_some(()).ok_or(Refusal::OwnMessage)?;
        let is_of_link = matches!(body, Body::PdelayReq | Body::PdelayResp { .. } | Body::PdelayRespFollowUp { .. });
        let port = &mut self.ports[index];
        (is_of_link || port.peer_delay.as_capable()).then_some(()).ok_or(Refusal::NotCapable)?;
        let (from, sequence) = (header.source, header.sequence);
        match body {
            Body::PdelayReq => {
                port.responder.request(sequence, from);
                self.send_response(index, sequence, from, arrived);
                Ok(())
            }
            Body::PdelayResp { received, requesting } => {
                let received = received + header.correction;
                let outcome = port.peer_delay.response(from, sequence, requesting, received, arrived);
                self.after_link(now, index);
                outcome
            }
            Body::PdelayRespFollowUp { sent, requesting } => {
                let sent = sent + header.correction;
                port.peer_delay.response_follow_up(from, sequence, requesting, sent)?;
                self.after_link(now, index);
                Ok(())
            }
            Body::Announce(announce) => {
                let timeout = self.parameters.announce_receipt_timeout;
                let mine = PriorityVector { source: port.identity, port: port.identity.port, ..self.best };
                let heard = port.announce(now, from, header.log_interval, timeout, &announce, &mine)?;
                if heard == Heard::Superior {
                    self.reselect(now);
                }
                Ok(())
            }
            Body::Sync => port.sync(now, arrived, from, sequence, header.log_interval),
            Body::FollowUp(follow_up) => {
                let arrived = port.follow_up(now, from, sequence)?;
                self.synchronise(now, index, arrived, header.log_interval, header.correction, &follow_up)
            }
        }
    }

    /// `asCapable` may have changed.
    pub(super) fn after_link(&mut self, now: LocalTime, index: usize) {
        let port = &mut self.ports[index];
        let was_usable = port.role != PortRole::Disabled;
        if port.peer_delay.as_capable() != was_usable {
            port.received = None;
            self.reselect(now);
        }
    }

    /// The Sync that is complete now tells the time: IEEE 802.1AS-2020 §11.2.14 and §10.2.8.
    fn synchronise(
        &mut self,
        now: LocalTime,
        index: usize,
        arrived: LocalTime,
        log_interval: i8,
        correction: Duration,
        follow_up: &FollowUp,
    ) -> Result<(), Refusal> {
        let port = &mut self.ports[index];
        let upstream = rate_from_wire(follow_up.cumulative_scaled_rate_offset);
        let rate = upstream + port.peer_delay.rate().unwrap_or_default();
        let is_plausible = rate.as_fixed().abs() <= RATE_DEVIATION_MAX.as_fixed() && correction.abs() <= CORRECTION_MAX;
        is_plausible.then_some(()).ok_or(Refusal::Implausible)?;
        port.sync_used();
        port.sync_until = now + interval(log_interval) * i64::from(self.parameters.sync_receipt_timeout);
        let delay = port.peer_delay.delay().unwrap_or_default();
        // The delay is by the neighbour's clock, the rest by the grandmaster's.
        let delay = delay + upstream.gain(delay) + port.delay_asymmetry;
        let time = follow_up.precise_origin + correction + delay;
        let step = time - self.base.time(arrived);
        self.base = TimeBase { local: arrived, time, rate };
        self.has_sync = true;
        self.effects.push_back(Effect::Synchronised { time, at: arrived, rate, step });
        self.send_syncs(SyncInformation {
            base: self.base,
            precise_origin: Some(follow_up.precise_origin),
            gm_time_base_indicator: follow_up.gm_time_base_indicator,
            last_gm_phase_change: follow_up.last_gm_phase_change,
            scaled_last_gm_freq_change: follow_up.scaled_last_gm_freq_change,
        });
        Ok(())
    }

    /// Chooses grandmaster and roles anew: `updtStatesTree`, IEEE 802.1AS-2020 §10.3.13.2.
    pub(super) fn reselect(&mut self, now: LocalTime) {
        let heard: Vec<_> = self.ports.iter().map(Port::heard_of).collect();
        let selection = select(&self.parameters.identity, &heard);
        let (was_grandmaster, old) = (self.is_grandmaster(), self.best);
        let is_other_way = selection.best != self.best;
        (self.best, self.slave) = (selection.best, selection.slave);
        let sync_timeout = i64::from(self.parameters.sync_receipt_timeout);
        let sync_until = now + interval(self.parameters.log_sync_interval) * sync_timeout;
        for (port, role) in self.ports.iter_mut().zip(selection.roles) {
            if port.role != role {
                let (from, port_number) = (port.role, port.identity.port);
                port.enter(role, now, sync_until);
                self.effects.push_back(Effect::Role { port: port_number, from, to: role, at: now });
            }
            match role {
                // The port has something better to say than what it heard.
                PortRole::Master => port.received = None,
                PortRole::Slave if is_other_way => port.sync_until = sync_until,
                _ => {}
            }
            if is_other_way && role == PortRole::Master {
                port.next_announce = now;
            }
        }
        let had_sync = self.has_sync;
        self.has_sync &= !is_other_way;
        if old.root.clock != self.best.root.clock {
            self.effects.push_back(Effect::Grandmaster { clock: self.best.root.clock, at: now });
        }
        if self.is_grandmaster() && !was_grandmaster {
            self.become_grandmaster(now, had_sync);
        }
        self.announce_due(now);
    }

    /// Goes on where the grandmaster before left off, in time and rate, so that nobody's clock jumps. The standard leaves to the source of
    /// time what it shows then.
    fn become_grandmaster(&mut self, now: LocalTime, had_sync: bool) {
        self.base = TimeBase { local: now, time: self.base.time(now), rate: self.base.rate };
        self.mislead();
        if had_sync {
            self.time_base_indicator = self.time_base_indicator.wrapping_add(1);
        }
        self.next_sync = now;
    }

    /// Announces another `priority1` and `clockClass` from now on, and serves a time that is off whenever it is the grandmaster.
    pub(super) fn pretend(&mut self, now: LocalTime, (priority1, class): (u8, u8), pretence: Pretence) {
        let was_grandmaster = self.is_grandmaster();
        let identity = &mut self.parameters.identity;
        (identity.priority1, identity.quality.class) = (priority1, class);
        self.pretence = pretence;
        self.reselect(now);
        if was_grandmaster && self.is_grandmaster() {
            self.base = TimeBase { local: now, time: self.base.time(now), rate: self.base.rate };
            self.mislead();
        }
    }

    fn mislead(&mut self) {
        let Pretence { offset, drift } = self.pretence;
        (self.base.time, self.base.rate) = (self.base.time + offset, self.base.rate + drift);
    }

    /// When [`Self::advance`] has something to do, if nothing arrives before.
    pub fn wake_at(&self) -> LocalTime {
        let sync = self.is_grandmaster().then_some(self.next_sync);
        let of_ports = self.ports.iter().flat_map(|port| {
            let request = port.is_up.then_some(port.next_request);
            let announced = port.received.as_ref().map(|received| received.until);
            let sync = self.watches_sync(port).then_some(port.sync_until);
            let announce = (port.role == PortRole::Master).then_some(port.next_announce);
            [request, announced, sync, announce].into_iter().flatten()
        });
        of_ports.chain(sync).min().unwrap_or(LocalTime::MAX)
    }

    fn watches_sync(&self, port: &Port) -> bool {
        port.role == PortRole::Slave && self.is_grandmaster_present()
    }

    /// Does all that was to be done by a time.
    pub fn advance(&mut self, now: LocalTime) {
        for index in 0..self.ports.len() {
            if self.ports[index].is_up && self.ports[index].next_request <= now {
                self.send_request(now, index);
                self.after_link(now, index);
            }
        }
        let aged = |system: &Self, port: &Port| {
            let is_silent = port.received.as_ref().is_some_and(|received| received.until <= now);
            is_silent || system.watches_sync(port) && port.sync_until <= now
        };
        let ages: Vec<_> = self.ports.iter().map(|port| aged(self, port)).collect();
        if ages.contains(&true) {
            for (port, _) in self.ports.iter_mut().zip(ages).filter(|(_, is_aged)| *is_aged) {
                port.received = None;
            }
            self.reselect(now);
        }
        self.announce_due(now);
        if self.is_grandmaster() && self.next_sync <= now {
            self.sync_due(now);
        }
    }
}
