//! Switches as bridges of IEEE 802.1AS: each is a time-aware system whose ports are the lines that leave it.
//!
//! A message of the protocol ends in the switch that it comes to, as do all frames to its address, and the switch sends messages of its
//! own. The stamp of one is the time of its first bit, by the oscillator of whoever takes it: a frame that comes in is stamped when
//! its last bit is there, less what it took on the line.

use chronoseal_clocksync::gptp::{ClockEffect, DeviceClock, Parameters, PortParameters, Stamp};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, Oscillator, Priority, SimTime, StreamId};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::gptp::{self, ETHERTYPE_PTP};
use chronoseal_wire::virtual_link;

use super::config::{Ends, NetworkConfig};
use super::{Network, Timer};
use crate::medium::{FrameId, FrameLabel, FrameStore, MediumOutput};

/// The switches of a network whose clocks follow a grandmaster (IEEE 802.1AS).
#[derive(Clone, Debug)]
pub struct TimeAwareBridges {
    /// By switch.
    pub bridges: Vec<TimeAwareBridge>,
    /// Of every stamp; zero: stamps are exact.
    pub granularity: Duration,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct TimeAwareBridge {
    /// What it is configured with.
    pub parameters: Parameters,
    /// The same of all its ports.
    pub port: PortParameters,
    /// What its clock runs by.
    pub oscillator: Oscillator,
}

/// A switch at work.
struct Bridge {
    oscillator: Oscillator,
    clock: DeviceClock,
    /// By port, less one: the line that leaves by it.
    lines: Vec<usize>,
    /// When its timer expires.
    wake_at: Option<SimTime>,
}

impl Bridge {
    /// The port that a line leaves by.
    fn port(&self, line: usize) -> Option<u16> {
        self.lines.iter().position(|known| *known == line).map(|place| place as u16 + 1)
    }
}

/// The clocks of all switches.
pub(super) struct TimeAware {
    /// `None` for a switch with more ports than a system can have, or none.
    bridges: Vec<Option<Bridge>>,
}

impl TimeAware {
    pub(super) fn new(config: &NetworkConfig, clocks: &TimeAwareBridges) -> Self {
        let bridge = |(switch, bridge): (usize, &TimeAwareBridge)| {
            let leaves = |line: &usize| config.switch_before(*line) == Some(switch);
            let lines: Vec<usize> = (0..2 * config.links.len()).filter(leaves).collect();
            let ports = vec![bridge.port; lines.len()];
            let start = bridge.oscillator.local(SimTime::ZERO);
            let clock = DeviceClock::new(&bridge.parameters, &ports, clocks.granularity, start).ok()?;
            Some(Bridge { oscillator: bridge.oscillator, clock, lines, wake_at: None })
        };
        Self { bridges: clocks.bridges.iter().enumerate().map(bridge).collect() }
    }
}

/// True for a message of the protocol.
pub(super) fn is_message(bytes: &[u8]) -> bool {
    let ether_type = Frame::new_checked(bytes).map(|frame| frame.type_or_length());
    ether_type == Ok(TypeOrLength::EtherType(ETHERTYPE_PTP))
}

impl Network {
    /// The bridges begin.
    pub(super) fn start_bridges(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let count = self.time_aware.as_ref().map_or(0, |clocks| clocks.bridges.len());
        for switch in 0..count {
            self.keep_bridges_time(now, switch, frames, out);
        }
        // Both ends of a link see at once that it is down.
        for (link, at) in
            self.impairments.down_from().iter().enumerate().filter(|(_, at)| count > 0 && **at < SimTime::MAX)
        {
            let ends = [self.config.switch_behind(2 * link), self.config.switch_before(2 * link)];
            let timer = |switch: usize| MediumOutput::Timer { at: *at, timer: Timer::Control(switch).pack() };
            out.extend(ends.into_iter().flatten().map(timer));
        }
    }

    /// A message that an attacker made or changed ends here, and is used as any other.
    pub(super) fn believed(&self, line: usize, frame: FrameId, frames: &FrameStore) -> MediumOutput {
        let event = Event::of(EventKind::Delivered, StreamId::NONE, frames.label(frame).serial.unwrap_or(0));
        MediumOutput::Discard { node: self.judges[line], event, frame }
    }

    /// The last bit of a message came in at a switch.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_time_message(
        &mut self,
        now: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let switch = self.config.switch_behind(line).unwrap_or_default();
        // Stamps are taken on the wire, before anything of a protection is checked: all that came behind the first bit is no delay.
        let since_first_bit = self.lines[line].speed().since_first_bit(frames.len_of(frame));
        let bridge = self.time_aware.as_mut().and_then(|clocks| clocks.bridges.get_mut(switch)?.as_mut());
        let is_attack = frames.label(frame).attack.is_some();
        let refused = match (bridge, Frame::new_checked(frames.bytes(frame))) {
            (Some(bridge), Ok(received)) => {
                let (local, first_bit) = (bridge.oscillator.local(now), bridge.oscillator.local(now - since_first_bit));
                let port = bridge.port(line ^ 1).unwrap_or_default();
                let taken = bridge.clock.receive(local, port, first_bit, received.payload());
                // Of what an attacker sent, all is told that was not used.
                let told =
                    |refusal| bridge.clock.reason(&refusal).or(is_attack.then_some(DiscardReason::NotSyncMaster));
                taken.err().and_then(told)
            }
            _ => None,
        };
        match refused {
            Some(reason) => self.discard(self.judges[line], frame, StreamId::NONE, reason, frames, out),
            None if is_attack => out.push(self.believed(line, frame, frames)),
            None => frames.release(frame),
        }
        self.keep_bridges_time(now, switch, frames, out);
    }

    /// The first bit of a frame left by a line at a time: whoever sent it stamps it if it is an event message.
    #[cold]
    #[inline(never)]
    pub(super) fn stamp_departure(
        &mut self,
        now: SimTime,
        started_at: SimTime,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(stamp) = Frame::new_checked(frames.bytes(frame)).ok().and_then(|sent| Stamp::of(sent.payload()))
        else {
            return;
        };
        let Some(switch) = self.config.switch_before(line) else {
            if let Ends::Station { station, .. } = self.config.links[line / 2].ends {
                frames.retain(frame);
                out.push(MediumOutput::Transmitted { from: station, frame, departed_at: started_at });
            }
            return;
        };
        let Some(bridge) = self.time_aware.as_mut().and_then(|clocks| clocks.bridges.get_mut(switch)?.as_mut()) else {
            return;
        };
        let (local, first_bit) = (bridge.oscillator.local(now), bridge.oscillator.local(started_at));
        let Some(port) = bridge.port(line) else { return };
        // The port is one of its own.
        let _ = bridge.clock.transmitted(local, port, stamp, first_bit);
        self.keep_bridges_time(now, switch, frames, out);
    }

    /// Lets a bridge do what it has to do now.
    pub(super) fn keep_bridges_time(
        &mut self,
        now: SimTime,
        switch: usize,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let Some(bridge) = self.time_aware.as_mut().and_then(|clocks| clocks.bridges.get_mut(switch)?.as_mut()) else {
            return;
        };
        let node = self.config.switches[switch];
        let local = bridge.oscillator.local(now);
        for (port, line) in (1..).zip(&bridge.lines) {
            if self.impairments.down_from()[line / 2] <= now {
                bridge.clock.set_link(local, port, false);
            }
        }
        if bridge.clock.wake_at() <= local {
            bridge.clock.advance(local);
        }
        let mut sent = Vec::new();
        while let Some(effect) = bridge.clock.poll() {
            out.extend(effect.events().map(|event| MediumOutput::Event { node, event, frame: None }));
            if let ClockEffect::Send { port, payload, .. } = effect {
                sent.push((bridge.lines[usize::from(port) - 1], payload));
            }
        }
        let wake_at = Some(bridge.clock.wake_at()).filter(|at| *at < LocalTime::MAX);
        let wake_at = wake_at.map(|at| bridge.oscillator.sim(at).max(now));
        if wake_at != bridge.wake_at {
            bridge.wake_at = wake_at;
            out.extend(wake_at.map(|at| MediumOutput::Timer { at, timer: Timer::Control(switch).pack() }));
        }
        let (clock, own) = (&bridge.clock, bridge.oscillator.rate());
        let shows = clock.is_synchronised().then(|| (clock.shown(local), own.together(clock.system().rate())));
        let source = virtual_link::station_address(node);
        for (line, payload) in sent {
            let frame = frames.allocate(FrameLabel { sender: node, sent_at: now, ..FrameLabel::default() });
            let len = gptp::emit_frame(&payload, source, frames.buffer(frame));
            frames.set_len(frame, len);
            self.send(now, line, Priority::PROTOCOL_CONTROL, Some(now), (frame, StreamId::NONE), frames, out);
        }
        self.clock_looked_at(now, switch, shows, frames, out);
    }
}
