//! Buses as their stations see them: frames go in by hand, a small clockwork lets time pass.

mod arbitration;
mod configuration;
mod confinement;
mod errors;
mod medium;
mod properties;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{Duration, EventKind, NodeId, PortId, Priority, Rate, SimTime};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId};

use super::*;
use crate::medium::{Attachment, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};

/// 500 kbit/s and 2 Mbit/s.
const NOMINAL_BIT: Duration = Duration::from_us(2);

fn timing() -> BitTiming {
    BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap()
}

fn port(node: u16) -> Attachment {
    Attachment { node: NodeId(node), port: PortId(0) }
}

/// A bus of stations `0..stations`.
fn bus(stations: u16) -> CanBusConfig {
    CanBusConfig {
        timing: timing(),
        carries_fd: true,
        controllers: (0..stations).map(|node| ControllerConfig::new(port(node))).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    }
}

fn base(id: u16, data: &[u8]) -> CanFrame {
    CanFrame::classical(CanId::standard(id).unwrap(), data).unwrap()
}

fn at(since_start: Duration) -> SimTime {
    SimTime::ZERO + since_start
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Delivery {
    at: SimTime,
    to: Attachment,
    departed_at: SimTime,
    frame: CanFrame,
    sender: NodeId,
}

/// A bus and the time around it.
struct Clockwork {
    bus: CanBus,
    frames: FrameStore,
    timers: BinaryHeap<Reverse<(SimTime, MediumTimer, u64)>>,
    asked: u64,
    now: SimTime,
    deliveries: Vec<Delivery>,
    events: Vec<(SimTime, NodeId, EventKind)>,
    /// When each sender was told that a frame is through, and when that frame had begun.
    through: Vec<(SimTime, Attachment, SimTime)>,
    serial: u64,
}

impl Clockwork {
    fn of_bus(config: CanBusConfig) -> Self {
        let mut clockwork = Self {
            bus: CanBus::new(config, 1).unwrap(),
            frames: FrameStore::new(),
            timers: BinaryHeap::new(),
            asked: 0,
            now: SimTime::ZERO,
            deliveries: Vec::new(),
            events: Vec::new(),
            through: Vec::new(),
            serial: 0,
        };
        let mut out = Vec::new();
        clockwork.bus.start(SimTime::ZERO, &mut clockwork.frames, &mut out);
        clockwork.perform(out);
        clockwork
    }

    /// Lets time pass up to and including `until`.
    fn run_until(&mut self, until: SimTime) {
        while let Some(Reverse((at, timer, _))) = self.timers.peek().copied().filter(|Reverse(next)| next.0 <= until) {
            self.timers.pop();
            assert!(at >= self.now, "a timer in the past");
            self.now = at;
            let mut out = Vec::new();
            self.bus.handle_timer(at, timer, &mut self.frames, &mut out);
            self.perform(out);
        }
        self.now = until;
    }

    fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    /// A station gives its controller a frame, now.
    fn send(&mut self, from: Attachment, frame: &CanFrame) {
        let mut bytes = [0; 72];
        let len = frame.emit(&mut bytes);
        self.send_bytes(from, &bytes[..len]);
    }

    fn send_bytes(&mut self, from: Attachment, bytes: &[u8]) {
        self.serial += 1;
        let serial = Some(self.serial);
        let label = FrameLabel { sender: from.node, serial, sent_at: self.now, ..FrameLabel::default() };
        let id = self.frames.allocate(label);
        self.frames.buffer(id)[..bytes.len()].copy_from_slice(bytes);
        self.frames.set_len(id, bytes.len());
        let mut out = Vec::new();
        self.bus.handle_frame(self.now, from, Priority(0), id, &mut self.frames, &mut out);
        self.perform(out);
    }

    fn perform(&mut self, out: Vec<MediumOutput>) {
        for output in out {
            match output {
                MediumOutput::Timer { at, timer } => {
                    self.asked += 1;
                    self.timers.push(Reverse((at, timer, self.asked)));
                }
                MediumOutput::Deliver { to, frame, departed_at } => {
                    let sender = self.frames.label(frame).sender;
                    let parsed = CanFrame::parse(self.frames.bytes(frame)).unwrap();
                    self.deliveries.push(Delivery { at: self.now, to, departed_at, frame: parsed, sender });
                    self.frames.release(frame);
                }
                MediumOutput::Transmitted { from, frame, departed_at } => {
                    self.through.push((self.now, from, departed_at));
                    self.frames.release(frame);
                }
                MediumOutput::Discard { node, event, frame } => {
                    self.events.push((self.now, node, event.kind));
                    self.frames.release(frame);
                }
                MediumOutput::Event { node, event, .. } => self.events.push((self.now, node, event.kind)),
            }
        }
    }

    /// Frames delivered to `to`, in order.
    fn delivered_to(&self, to: Attachment) -> Vec<CanFrame> {
        self.deliveries.iter().filter(|delivery| delivery.to == to).map(|delivery| delivery.frame).collect()
    }

    /// What happened, without times.
    fn told(&self) -> Vec<(u16, EventKind)> {
        self.events.iter().map(|(_, node, kind)| (node.0, *kind)).collect()
    }

    fn statistics(&self) -> &BusStatistics {
        self.bus.statistics()
    }

    /// TEC and REC.
    fn counters(&self, node: u16) -> (u16, u16) {
        let counters = self.bus.counters(port(node)).unwrap();
        (counters.transmit(), counters.receive())
    }
}
