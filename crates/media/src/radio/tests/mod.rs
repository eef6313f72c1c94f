//! Channels as their stations see them: frames go in by hand, a small clockwork lets time pass.

mod access;
mod configuration;
mod reception;
mod saturation;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{Duration, EventKind, NodeId, PortId, SimTime};

use super::*;
use crate::medium::{Attachment, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};

fn port(node: u16) -> Attachment {
    Attachment { node: NodeId(node), port: PortId(0) }
}

fn us(us: i64) -> SimTime {
    SimTime::ZERO + Duration::from_us(us)
}

/// Stations 0, 1, … at the given places of a straight road `[m]`, who hear each other up to 300 m.
fn road(places_m: &[i64]) -> RadioConfig {
    let station = |(node, x_m): (usize, &i64)| StationConfig {
        attachment: port(node as u16),
        position: Position::from_m(*x_m, 0),
    };
    RadioConfig::new(places_m.iter().enumerate().map(station).collect(), Propagation::Disc { range_mm: 300_000 })
}

/// An Ethernet frame of this length is a PSDU of 100 bytes: 40 + 18 * 8 = 184 us at 6 Mbit/s.
const SHORT_LEN: usize = 76;
const SHORT_US: i64 = 184;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Delivery {
    at: SimTime,
    to: u16,
    from: u16,
    departed_at: SimTime,
}

/// A channel and the time around it.
struct Clockwork {
    channel: RadioChannel,
    frames: FrameStore,
    timers: BinaryHeap<Reverse<(SimTime, MediumTimer, u64)>>,
    asked: u64,
    now: SimTime,
    deliveries: Vec<Delivery>,
    /// Sender and first bit of each frame that is over, in order.
    transmitted: Vec<(u16, SimTime)>,
    discards: Vec<(u16, EventKind)>,
    /// Keeps every queue filled with such frames: stations, length, category.
    saturated: Option<(u16, usize, AccessCategory)>,
}

impl Clockwork {
    fn new(config: RadioConfig) -> Self {
        let mut clockwork = Self {
            channel: RadioChannel::new(config).unwrap(),
            frames: FrameStore::new(),
            timers: BinaryHeap::new(),
            asked: 0,
            now: SimTime::ZERO,
            deliveries: Vec::new(),
            transmitted: Vec::new(),
            discards: Vec::new(),
            saturated: None,
        };
        let mut out = Vec::new();
        clockwork.channel.start(SimTime::ZERO, &mut clockwork.frames, &mut out);
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
            self.channel.handle_timer(at, timer, &mut self.frames, &mut out);
            self.perform(out);
            self.fill();
        }
        self.now = until;
    }

    fn fill(&mut self) {
        let Some((stations, len, category)) = self.saturated else { return };
        for node in 0..stations {
            while self.channel.queue_len(port(node)).unwrap() < 2 {
                self.send(node, len, category);
            }
        }
    }

    /// A node gives its station an Ethernet frame of `len` bytes, now.
    fn send(&mut self, from: u16, len: usize, category: AccessCategory) {
        let label = FrameLabel { sender: NodeId(from), sent_at: self.now, ..FrameLabel::default() };
        let id = self.frames.allocate(label);
        self.frames.set_len(id, len);
        let mut out = Vec::new();
        let (now, priority) = (self.now, category.priority());
        self.channel.handle_frame(now, port(from), priority, id, &mut self.frames, &mut out);
        self.perform(out);
    }

    fn send_at(&mut self, at: SimTime, from: u16, category: AccessCategory) {
        // What was asked for at this very time comes later: nodes are served first.
        self.run_until(at - Duration::from_ps(1));
        self.now = at;
        self.send(from, SHORT_LEN, category);
    }

    fn perform(&mut self, out: Vec<MediumOutput>) {
        for output in out {
            match output {
                MediumOutput::Timer { at, timer } => {
                    self.asked += 1;
                    self.timers.push(Reverse((at, timer, self.asked)));
                }
                MediumOutput::Deliver { to, frame, departed_at } => {
                    let from = self.frames.label(frame).sender.0;
                    self.deliveries.push(Delivery { at: self.now, to: to.node.0, from, departed_at });
                    self.frames.release(frame);
                }
                MediumOutput::Discard { node, event, frame } => {
                    self.discards.push((node.0, event.kind));
                    self.frames.release(frame);
                }
                MediumOutput::Transmitted { from, frame, departed_at } => {
                    self.transmitted.push((from.node.0, departed_at));
                    self.frames.release(frame);
                }
                MediumOutput::Event { .. } => panic!("a channel tells of no events"),
            }
        }
    }

    /// Sender and receiver of each delivery, in order.
    fn delivered(&self) -> Vec<(u16, u16)> {
        self.deliveries.iter().map(|delivery| (delivery.from, delivery.to)).collect()
    }

    fn statistics(&self, node: u16) -> StationStatistics {
        *self.channel.statistics(port(node)).unwrap()
    }
}
