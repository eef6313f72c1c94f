//! A store-and-forward switch with a schedule table, and the links to its stations (SAE AS6802 beside best effort).
//!
//! ```text
//! station ── uplink line ──► filter ──► slot held until dispatch ──► downlink line ──► stations
//!        (egress queues)        └─────► forwarding delay ─────────►  (egress queues)
//! ```

mod config;
mod executor;
mod filter;
mod forwarding;
mod statistics;
#[cfg(test)]
mod tests;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, Priority, SimTime, StreamId};
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};
use chronoseal_wire::virtual_link;

pub use self::config::{Beacon, Route, RouteClass, Splice, StarConfig};
use self::executor::Executor;
use self::filter::{Admission, Filter};
use self::forwarding::{Forwarded, Forwarding};
use self::statistics::StarStatistics;
use crate::line::{self, Line, Offer, ReservedStarts, Started, Step};
use crate::medium::{Attachment, FrameId, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// The medium of [`StarConfig`].
pub struct Star {
    config: StarConfig,
    filter: Filter,
    executor: Executor,
    /// `port_of_node[node]` leads to a station of this node.
    port_of_node: Vec<Option<usize>>,
    /// Line `2 * port` leads to the switch, line `2 * port + 1` to the station.
    lines: Vec<Line>,
    forwarding: Forwarding,
    /// The forwarding delay, if no random part is added to it and it takes time at all.
    fixed_delay: Option<Duration>,
    integration_cycle: u32,
    rng: ChaCha8Rng,
    statistics: StarStatistics,
}

/// What a timer number means: the kind in the upper four bits, an index below.
///
/// Timers of one instant expire in the order of their numbers: first frames come in, by port, then those that have been in
/// for the forwarding delay go to their lines, by port, then scheduled ones go out, then the beacon, and what is left of the
/// line is for the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    LineArrival(usize),
    /// A frame that came in at this port is passed on.
    ForwardingDone(usize),
    ScheduleEntry,
    Beacon,
    LineFree(usize),
}

impl Timer {
    #[inline]
    fn pack(self) -> MediumTimer {
        let (kind, index) = match self {
            Self::LineArrival(line) => (0, line),
            Self::ForwardingDone(port) => (1, port),
            Self::ScheduleEntry => (2, 0),
            Self::Beacon => (3, 0),
            Self::LineFree(line) => (4, line),
        };
        MediumTimer::new(kind << 28 | index as u32)
    }

    #[inline]
    fn unpack(timer: MediumTimer) -> Self {
        let index = (timer.number & 0x0fff_ffff) as usize;
        match timer.number >> 28 {
            0 => Self::LineArrival(index),
            1 => Self::ForwardingDone(index),
            2 => Self::ScheduleEntry,
            3 => Self::Beacon,
            _ => Self::LineFree(index),
        }
    }
}

impl Star {
    /// A star with nothing on its wires.
    pub fn new(config: StarConfig) -> Self {
        let cycle = config.schedule.cluster_cycle;
        let slots = &config.schedule.slots;
        let reserved = |phases: Vec<Duration>, tolerance| {
            if phases.is_empty() {
                ReservedStarts::default()
            } else {
                ReservedStarts::new(cycle, phases.into_iter(), tolerance)
            }
        };
        let lines: Vec<Line> = (0..config.stations.len())
            .flat_map(|port| {
                let route = |stream: StreamId| &config.routes[stream.index()];
                let up = slots.iter().filter(|slot| route(slot.stream).ingress == port);
                let down = slots.iter().filter(|slot| route(slot.stream).egress.contains(&port));
                [
                    // A station starts by its own clock, the switch by the one the run is counted in.
                    Line::new(reserved(up.map(|slot| slot.start).collect(), config.early_tolerance)),
                    Line::new(reserved(down.map(|slot| slot.dispatch).collect(), Duration::ZERO)),
                ]
            })
            .collect();
        let mut port_of_node = Vec::new();
        for (port, station) in config.stations.iter().enumerate() {
            port_of_node.resize(port_of_node.len().max(station.node.index() + 1), None);
            port_of_node[station.node.index()] = Some(port);
        }
        Self {
            filter: Filter::new(&config),
            port_of_node,
            statistics: StarStatistics::new(config.load_window, lines.len()),
            executor: Executor::new(&config.schedule, config.waits_for_dispatch),
            lines,
            forwarding: Forwarding::new(config.stations.len()),
            fixed_delay: Some(config.forwarding_delay)
                .filter(|delay| config.forwarding_jitter.is_zero() && *delay > Duration::ZERO),
            integration_cycle: 0,
            rng: random::stream(config.seed, Purpose::Medium, u64::from(config.switch.0)),
            config,
        }
    }

    /// What it was built from.
    pub fn config(&self) -> &StarConfig {
        &self.config
    }

    /// The stream a frame's destination names, if the switch knows one.
    pub fn stream_of(&self, bytes: &[u8]) -> Option<StreamId> {
        let frame = chronoseal_wire::ethernet::Frame::new_checked(bytes).ok()?;
        self.filter.stream_of(&self.config, &frame)
    }

    #[inline]
    fn port_of(&self, station: Attachment) -> Option<usize> {
        let port = (*self.port_of_node.get(station.node.index())?)?;
        (self.config.stations[port] == station).then_some(port)
    }

    fn discard(
        &mut self,
        frame: FrameId,
        stream: StreamId,
        reason: DiscardReason,
        frames: &FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.statistics.counts.dropped += 1;
        let event = Event::of(EventKind::Discarded(reason), stream, frames.label(frame).serial.unwrap_or(0));
        out.push(MediumOutput::Discard { node: self.config.switch, event, frame });
    }

    /// Gives a frame to a line, which starts or queues it.
    #[allow(clippy::too_many_arguments, reason = "a frame with everything its line wants to know")]
    #[inline(always)]
    fn send(
        &mut self,
        now: SimTime,
        line: usize,
        priority: Priority,
        due: Option<SimTime>,
        (frame, stream): (FrameId, StreamId),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let offer = Offer { frame, len: frames.len_of(frame), priority, due };
        let offered = self.lines[line].offer(now, offer, &self.config.speed, self.config.queue_len_max);
        match &offered {
            Ok(step) => self.follow(now, line, step, frames, out),
            Err(_) => self.discard(frame, stream, DiscardReason::QueueFull, frames, out),
        }
    }

    /// Asks for what a line needs next.
    #[inline(always)]
    fn follow(&mut self, now: SimTime, line: usize, step: &Step, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let look_again_at = match step {
            Step::Idle => None,
            Step::LookAgain(at) => Some(*at),
            Step::Started(started) => {
                let leads_to_switch = line.is_multiple_of(2);
                self.statistics.counts.in_to_switch += i64::from(leads_to_switch);
                self.statistics.counts.out_to_stations += i64::from(!leads_to_switch);
                if !(leads_to_switch && self.plan_forwarding(line / 2, started, frames, out)) {
                    self.lines[line].put_on_wire(started.frame, now);
                    out.push(MediumOutput::Timer { at: started.arrives_at, timer: Timer::LineArrival(line).pack() });
                }
                // Nobody wants to know when a best-effort frame was passed on.
                if let Some(due) = started.due
                    && started.priority >= Priority::PROTOCOL_CONTROL
                {
                    self.forwarded(now, started, due, frames, out);
                }
                started.look_again_at
            }
        };
        if let Some(at) = look_again_at {
            out.push(MediumOutput::Timer { at, timer: Timer::LineFree(line).pack() });
        }
    }

    /// Spares a best-effort frame on its way to the switch the event of its arrival. False if it needs that.
    ///
    /// Whatever happens until then, it will be let in: its stream, its port and its length decide. A fixed forwarding
    /// delay is known now as well.
    #[inline(always)]
    fn plan_forwarding(
        &mut self,
        port: usize,
        started: &Started,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) -> bool {
        let Some(delay) = self.fixed_delay else { return false };
        let (arrives_at, frame) = (started.arrives_at, started.frame);
        let judged = self.filter.judge(&self.config, arrives_at, port, frames.bytes(frame));
        let Ok(Admission::Stream(stream)) = judged else { return false };
        frames.label_mut(frame).arrived_at = Some(self.stamp(arrives_at, frame, frames));
        self.forward_at(arrives_at + delay, port, (frame, stream), out);
        true
    }

    /// The switch has passed on a frame that was due at a time.
    fn forwarded(
        &self,
        now: SimTime,
        started: &Started,
        due: SimTime,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        if started.priority == Priority::PROTOCOL_CONTROL {
            // [SAE AS6802] every relay adds the delay it causes to the transparent clock.
            line::stamp_transparent_clock(started.frame, started.arrives_at - due, frames);
        } else if started.priority == Priority::TIME_TRIGGERED {
            let stream = self.stream_of(frames.bytes(started.frame)).unwrap_or(StreamId::NONE);
            let sequence = frames.label(started.frame).serial.unwrap_or(0);
            let event = Event { value: (now - due).as_ps(), ..Event::of(EventKind::Forwarded, stream, sequence) };
            out.push(MediumOutput::Event { node: self.config.switch, event, frame: Some(started.frame) });
        }
    }

    /// A copy of the frame to every egress port of its stream.
    #[inline(always)]
    fn fan_out(
        &mut self,
        now: SimTime,
        (frame, stream): (FrameId, StreamId),
        due: SimTime,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let route = &self.config.routes[stream.index()];
        let priority = match route.class {
            RouteClass::TimeTriggered { .. } => Priority::TIME_TRIGGERED,
            RouteClass::BestEffort { priority } => Priority(priority.min(7)),
            RouteClass::Elsewhere => Priority(0),
        };
        let copies = route.egress.len();
        for copy in 0..copies {
            if copy + 1 < copies {
                frames.retain(frame);
            }
            let port = self.config.routes[stream.index()].egress[copy];
            self.send(now, 2 * port + 1, priority, Some(due), (frame, stream), frames, out);
        }
        if copies == 0 {
            self.discard(frame, stream, DiscardReason::UnknownStream, frames, out);
        }
    }

    /// The last bit of a frame came in at the switch.
    fn arrive(
        &mut self,
        now: SimTime,
        port: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        frames.label_mut(frame).arrived_at = Some(self.stamp(now, frame, frames));
        match self.filter.judge(&self.config, now, port, frames.bytes(frame)) {
            Err((reason, stream)) => self.discard(frame, stream, reason, frames, out),
            Ok(Admission::Stream(stream)) => self.forward(now, port, (frame, stream), frames, out),
            Ok(Admission::Slot { slot, cycle }) => {
                let stream = self.config.schedule.slots[slot].stream;
                if !self.executor.take(slot, cycle) {
                    self.discard(frame, stream, DiscardReason::DuplicateInWindow, frames, out);
                } else if self.config.waits_for_dispatch {
                    self.executor.hold(slot, frame);
                } else {
                    self.forward(now, port, (frame, stream), frames, out);
                }
            }
        }
    }

    /// Passes a frame on after the forwarding delay.
    #[inline]
    fn forward(
        &mut self,
        now: SimTime,
        port: usize,
        (frame, stream): (FrameId, StreamId),
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let mut due = now + self.config.forwarding_delay;
        if !self.config.forwarding_jitter.is_zero() {
            due = self.forwarding.in_order(port, due + self.config.forwarding_jitter.sample(&mut self.rng));
        }
        if due == now && self.forwarding.is_empty(port) {
            return self.fan_out(now, (frame, stream), due, frames, out);
        }
        self.forward_at(due, port, (frame, stream), out);
    }

    /// Keeps a frame from a port until it is passed on.
    #[inline(always)]
    fn forward_at(
        &mut self,
        due: SimTime,
        port: usize,
        (frame, stream): (FrameId, StreamId),
        out: &mut Vec<MediumOutput>,
    ) {
        self.forwarding.keep(port, Forwarded { frame, stream, due });
        out.push(MediumOutput::Timer { at: due, timer: Timer::ForwardingDone(port).pack() });
    }

    /// One entry of the schedule table acts.
    fn act(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(due) = self.executor.act() else { return };
        let slot = self.config.schedule.slots[due.slot];
        if let Some(frame) = due.frame {
            self.fan_out(now, (frame, slot.stream), now, frames, out);
        }
        if due.missing {
            let event = Event::of(EventKind::Missing, slot.stream, due.cycle as u64);
            out.push(MediumOutput::Event { node: self.config.switch, event, frame: None });
        }
        self.ask_for_entry(out);
    }

    fn ask_for_entry(&self, out: &mut Vec<MediumOutput>) {
        if let Some(at) = self.executor.next_at() {
            out.push(MediumOutput::Timer { at, timer: Timer::ScheduleEntry.pack() });
        }
    }

    /// Sends the integration frame of this cycle to every station.
    fn send_beacon(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let Some(beacon) = self.config.beacon else { return };
        let control = ProtocolControlFrame {
            integration_cycle: self.integration_cycle,
            membership_new: 1,
            sync_priority: 0,
            sync_domain: 0,
            kind: PcfType::Integration,
            transparent_clock: Duration::ZERO,
        };
        let destination = virtual_link::critical_traffic_address(self.config.ct_marker, beacon.sync_id);
        let source = virtual_link::station_address(self.config.switch);
        for port in 0..self.config.stations.len() {
            let label = FrameLabel { sender: self.config.switch, sent_at: now, ..FrameLabel::default() };
            let frame = frames.allocate(label);
            let len = control.emit_frame(destination, source, frames.buffer(frame));
            frames.set_len(frame, len);
            let copy = (frame, StreamId::NONE);
            self.send(now, 2 * port + 1, Priority::PROTOCOL_CONTROL, Some(now), copy, frames, out);
        }
        self.integration_cycle = self.integration_cycle.wrapping_add(1);
        out.push(MediumOutput::Timer { at: now + beacon.integration_cycle, timer: Timer::Beacon.pack() });
    }

    /// The time a stamp on the capture shows. A sniffing switch stores and forwards the frame as it does the beacon
    /// the stamp is compared with, so that only the difference of the two remains.
    #[inline(always)]
    fn stamp(&self, at: SimTime, frame: FrameId, frames: &FrameStore) -> SimTime {
        if !self.config.sniffing_switch {
            return at;
        }
        at + self.config.speed.reception(frames.len_of(frame))
            - self.config.speed.reception(chronoseal_wire::ethernet::FRAME_LEN_MIN as u64)
    }
}

impl Medium for Star {
    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.send_beacon(now, frames, out);
        self.ask_for_entry(out);
    }

    #[inline]
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.statistics.advance(now, &mut self.lines);
        let splices = &self.config.splices;
        let port = match self.port_of(from) {
            Some(port) => {
                if let Some(splice) = splices.iter().find(|splice| splice.victim == port) {
                    let to = Attachment { node: splice.attacker, port: chronoseal_core::PortId(0) };
                    out.push(MediumOutput::Deliver { to, frame, departed_at: now });
                    return;
                }
                port
            }
            None => match splices.iter().find(|splice| splice.attacker == from.node) {
                Some(splice) => splice.victim,
                None => return self.discard(frame, StreamId::NONE, DiscardReason::WrongPort, frames, out),
            },
        };
        self.send(now, 2 * port, priority, None, (frame, StreamId::NONE), frames, out);
    }

    #[inline]
    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.statistics.advance(now, &mut self.lines);
        match Timer::unpack(timer) {
            Timer::LineFree(line) => {
                let step = self.lines[line].step(now, &self.config.speed);
                self.follow(now, line, &step, frames, out);
            }
            Timer::LineArrival(line) => {
                let Some((frame, started)) = self.lines[line].take_arrived() else { return };
                if line % 2 == 0 {
                    self.arrive(now, line / 2, frame, frames, out);
                } else {
                    let departed_at = self.stamp(started, frame, frames);
                    out.push(MediumOutput::Deliver { to: self.config.stations[line / 2], frame, departed_at });
                }
            }
            Timer::ForwardingDone(port) => {
                // Each frame has a timer of its own, so that this is one of those that expire now, and they go in their order.
                let Some(done) = self.forwarding.take(port, now) else { return };
                self.fan_out(now, (done.frame, done.stream), done.due, frames, out);
            }
            Timer::ScheduleEntry => self.act(now, frames, out),
            Timer::Beacon => self.send_beacon(now, frames, out),
        }
    }

    fn series(&self) -> Vec<Series> {
        self.statistics.series(&self.lines)
    }
}
