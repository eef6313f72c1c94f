//! The clock of a station of IEEE 802.1AS: what its messages do to it, and what it reports.
//!
//! With one port it is an end station. On the networks A and B it has a port to each, and so is a relay between them as a bridge is
//! (IEEE 802.1AS-2020 §7.2): the ports of all systems make one tree over both networks.

use std::collections::VecDeque;

use chronoseal_clocksync::gptp::{ClockEffect, DeviceClock, Parameters, PortParameters, Pretence, Stamp};
use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{
    AttackKind, DiscardReason, Duration, Event, EventKind, LocalTime, NodeId, Output, PortId, Priority, StreamId,
    Transmit, TxToken,
};
use chronoseal_media::line::LineSpeed;
use chronoseal_wire::gptp;
use chronoseal_wire::virtual_link;

/// A station's part in a network of time-aware systems.
#[derive(Clone, Debug)]
pub struct TimeAwareConfig {
    /// What it is configured with.
    pub parameters: Parameters,
    /// The same of each of its ports.
    pub port: PortParameters,
    /// Of its stamps; zero: they are exact.
    pub granularity: Duration,
    /// What it claims to be from a time on, if it is not honest.
    pub rogue: Option<Rogue>,
    /// By port of the station, how long frames take on the link there: a stamp is that of a frame's first bit, and its last bit is what
    /// a station is told of. It has as many ports.
    pub speeds: Vec<LineSpeed>,
}

/// A station that claims to be a better grandmaster than it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rogue {
    /// From this time of its oscillator on.
    pub from: LocalTime,
    /// `priority1` that it announces.
    pub priority1: u8,
    /// `clockClass` that it announces.
    pub clock_class: u8,
    /// How far ahead its time is as a grandmaster.
    pub offset: Duration,
    /// How much faster it runs then.
    pub drift: RateDeviation,
}

/// What such a clock did, or wants done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TimeAwareEffect {
    /// Send this message.
    Send(TimeMessage),
    /// Something to report.
    Event(Event),
}

/// True if a clock tells that it shows another time than before from now on: it has joined, or moved by more than clocks may differ.
pub(crate) fn shows_another_time(event: &Event, precision: Duration) -> bool {
    let has_jumped = event.kind == EventKind::ClockCorrected && Duration::from_ps(event.value).abs() > precision;
    has_jumped || event.kind == EventKind::SyncAcquired
}

/// A message on its way out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TimeMessage {
    /// By this port of the station.
    pub(crate) port: PortId,
    /// The payload of its frame.
    pub(crate) payload: Vec<u8>,
    /// Its departure is to be told with this number.
    pub(crate) number: Option<u64>,
}

/// The clock of a station.
#[derive(Clone, Debug)]
pub struct TimeAwareClock {
    config: TimeAwareConfig,
    /// `None` until the power is on.
    clock: Option<DeviceClock>,
    effects: VecDeque<TimeAwareEffect>,
    /// Messages whose departure is not known yet.
    leaving: Vec<Leaving>,
    /// What its station writes next.
    writes: TimeMessage,
    /// How many messages with a number it has sent.
    sent: u64,
    /// What it will claim, until it does.
    rogue: Option<Rogue>,
}

/// An event message whose departure is not known yet.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    number: u64,
    /// The port of the system, from 1.
    port: u16,
    stamp: Stamp,
}

impl TimeAwareClock {
    pub(crate) const fn new(config: TimeAwareConfig) -> Self {
        Self {
            config,
            clock: None,
            effects: VecDeque::new(),
            leaving: Vec::new(),
            writes: TimeMessage { port: PortId(0), payload: Vec::new(), number: None },
            sent: 0,
            rogue: None,
        }
    }

    /// Power-on.
    pub(crate) fn start(&mut self, now: LocalTime) {
        let TimeAwareConfig { parameters, port, granularity, speeds, .. } = &self.config;
        self.effects.clear();
        // A clock whose parameters are out of bounds never begins.
        self.clock = DeviceClock::new(parameters, &vec![*port; speeds.len()], *granularity, now).ok();
        self.rogue = self.config.rogue;
    }

    pub(crate) fn is_synchronised(&self) -> bool {
        self.clock.as_ref().is_some_and(DeviceClock::is_synchronised)
    }

    pub(crate) fn cluster_time(&self, local: LocalTime) -> Duration {
        self.clock.as_ref().map_or(Duration::ZERO, |clock| clock.shown(local))
    }

    /// How much faster than its oscillator it runs.
    pub(crate) fn rate(&self) -> RateDeviation {
        self.clock.as_ref().map_or(RateDeviation::ZERO, |clock| clock.system().rate())
    }

    pub(crate) fn local_time(&self, cluster: Duration) -> LocalTime {
        self.clock.as_ref().map_or(LocalTime::MAX, |clock| clock.local_time(cluster))
    }

    /// Takes the payload of a frame of so many bytes whose last bit came in by a port at `rx_at`, or says why it is reported as lost.
    pub(crate) fn receive(
        &mut self,
        now: LocalTime,
        (port, rx_at): (PortId, LocalTime),
        payload: &[u8],
        frame_len: usize,
    ) -> Result<(), DiscardReason> {
        let Some(clock) = &mut self.clock else { return Ok(()) };
        let speed = self.config.speeds.get(port.index()).ok_or(DiscardReason::WrongPort)?;
        let arrived = rx_at - speed.since_first_bit(frame_len as u64);
        let refused = clock.receive(now, port.0 + 1, arrived, payload).err().and_then(|refusal| clock.reason(&refusal));
        self.collect();
        refused.map_or(Ok(()), Err)
    }

    /// Keeps the message that its station writes next.
    pub(crate) fn writes(&mut self, message: TimeMessage) {
        self.writes = message;
    }

    /// Writes the message that was kept last, as a frame of its station that leaves now.
    pub(crate) fn send(&mut self, now: LocalTime, station: NodeId, frame: &mut [u8]) -> Output {
        let TimeMessage { port, payload, number } = std::mem::take(&mut self.writes);
        let len = gptp::emit_frame(&payload, virtual_link::station_address(station), frame);
        let (priority, token) = (Priority::PROTOCOL_CONTROL, number.map(TxToken::new));
        Output::Transmit(Transmit { port, priority, launch_at: now, len, token })
    }

    /// The message of a number left, or will never leave. False if there is none of that number.
    pub(crate) fn departed(&mut self, now: LocalTime, number: u64, sent: Option<LocalTime>) -> bool {
        let Some(place) = self.leaving.iter().position(|known| known.number == number) else { return false };
        let Leaving { port, stamp, .. } = self.leaving.swap_remove(place);
        if let (Some(clock), Some(sent)) = (&mut self.clock, sent) {
            // The message left by a port of its own.
            let _ = clock.transmitted(now, port, stamp, sent);
            self.collect();
        }
        true
    }

    /// The next thing it did or wants done by a time.
    pub(crate) fn next_effect(&mut self, now: LocalTime) -> Option<TimeAwareEffect> {
        if let Some(rogue) = self.rogue.take_if(|rogue| rogue.from <= now)
            && let Some(clock) = &mut self.clock
        {
            let attacked = EventKind::Attacked(AttackKind::RogueGrandmaster);
            self.effects.push_back(TimeAwareEffect::Event(Event::of(attacked, StreamId::NONE, 0)));
            let pretended = Pretence { offset: rogue.offset, drift: rogue.drift };
            clock.pretend(now, (rogue.priority1, rogue.clock_class), pretended);
            self.collect();
        }
        if self.effects.is_empty()
            && let Some(clock) = self.clock.as_mut().filter(|clock| clock.wake_at() <= now)
        {
            clock.advance(now);
            self.collect();
        }
        self.effects.pop_front()
    }

    /// When it has something to do, if nothing arrives before.
    pub(crate) fn wake_at(&self) -> Option<LocalTime> {
        if !self.effects.is_empty() {
            return Some(LocalTime::from_ps(i64::MIN));
        }
        let rogue = self.rogue.map(|rogue| rogue.from);
        self.clock.as_ref().map(|clock| rogue.map_or(clock.wake_at(), |from| from.min(clock.wake_at())))
    }

    fn collect(&mut self) {
        let Some(clock) = &mut self.clock else { return };
        while let Some(effect) = clock.poll() {
            match effect {
                ClockEffect::Send { port, payload, stamp } => {
                    let number = stamp.map(|stamp| {
                        self.sent += 1;
                        self.leaving.push(Leaving { number: self.sent, port, stamp });
                        self.sent
                    });
                    // Those of a system are numbered from 1, those of a station from 0.
                    let port = PortId(port - 1);
                    self.effects.push_back(TimeAwareEffect::Send(TimeMessage { port, payload, number }));
                }
                told => self.effects.extend(told.events().map(TimeAwareEffect::Event)),
            }
        }
    }
}
