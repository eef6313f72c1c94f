//! The link, and the seam to a driver.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, NodeId, Priority, SimTime, StreamId};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::ipv4::{self, Packet};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;
use chronoseal_wire::virtual_link::{station_ip, stream_ip};

use super::config::{LinkConfig, Order};
use super::draws::Draws;
use super::name::{Name, Namer};
use crate::medium::{Attachment, FRAME_CAPACITY, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// A lossy link.
pub struct LossyLink {
    config: LinkConfig,
    interfaces: Vec<Interface>,
    /// By the number of its timer.
    under_way: BTreeMap<u32, Flight>,
    next: u32,
    /// When something was told last.
    now: SimTime,
    pub(super) counts: Counts,
}

/// Where one of the ends sends.
struct Interface {
    end: Attachment,
    namer: Namer,
    draws: Draws,
    /// When each packet that was taken has left, the earliest first.
    leaving: VecDeque<SimTime>,
    /// How long all of them take to leave.
    sending: Duration,
    /// When the last packet in order arrives. Connections are made before the run begins, at times below zero.
    last_arrival: Option<SimTime>,
}

/// A packet on its way.
struct Flight {
    frame: FrameId,
    to: Vec<Attachment>,
}

#[derive(Default)]
pub(super) struct Counts {
    carried: i64,
    lost: i64,
    queue_full: i64,
    doubled: i64,
    altered: i64,
    pub(super) overtaken: i64,
    bytes: i64,
}

impl LossyLink {
    /// A link on which nothing is on its way.
    pub fn new(config: LinkConfig) -> Self {
        let interface = |end: &Attachment| Interface {
            end: *end,
            namer: Namer::default(),
            draws: Draws::new(&config, end.node),
            leaving: VecDeque::new(),
            sending: Duration::ZERO,
            last_arrival: None,
        };
        let interfaces = config.ends.iter().map(interface).collect();
        Self { config, interfaces, under_way: BTreeMap::new(), next: 0, now: SimTime::ZERO, counts: Counts::default() }
    }

    /// Who is to get a frame: the node or the group that its packet names, or all others; the end through which all go, unless it sends.
    fn receivers(&self, from: Attachment, bytes: &[u8]) -> Vec<Attachment> {
        if let Some(through) = self.config.through.filter(|through| *through != from) {
            return vec![through];
        }
        let packet = Packet::in_frame(bytes).and_then(Result::ok);
        // What is passed on goes back to nobody.
        let source = packet.as_ref().map(|packet| packet.source).filter(|_| self.config.through.is_some());
        let others = || {
            let ends = self.config.ends.iter().copied();
            ends.filter(move |end| *end != from && source != Some(station_ip(end.node)))
        };
        let Some(destination) = packet.map(|packet| packet.destination) else { return others().collect() };
        if let Some(end) = others().find(|end| station_ip(end.node) == destination) {
            return vec![end];
        }
        // The number of a stream is in the address of its group.
        let [.., high, low] = destination;
        let stream = StreamId(u16::from_be_bytes([high, low]));
        let group = self.config.groups.get(stream.index()).filter(|_| stream_ip(stream) == destination);
        match group {
            Some(nodes) => others().filter(|end| nodes.contains(&end.node)).collect(),
            None => others().collect(),
        }
    }

    /// How long the station that sent most did, until something was told last.
    fn busiest(&self) -> Duration {
        let busy = |interface: &Interface| {
            let left = interface.leaving.back().map_or(Duration::ZERO, |left| (*left - self.now).max(Duration::ZERO));
            interface.sending - left
        };
        self.interfaces.iter().map(busy).max().unwrap_or_default()
    }

    fn fly(&mut self, at: SimTime, flight: Flight, out: &mut Vec<MediumOutput>) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.under_way.insert(number, flight);
        out.push(MediumOutput::Timer { at, timer: MediumTimer::new(number) });
    }
}

/// The node that throws a packet away, and why.
fn lost(node: NodeId, name: Name, reason: DiscardReason, frame: FrameId) -> MediumOutput {
    MediumOutput::Discard { node, event: Event::of(EventKind::Discarded(reason), name.stream, name.sequence), frame }
}

impl Medium for LossyLink {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.now = now;
        let to = self.receivers(from, frames.bytes(frame));
        let sending = self.config.laws.sending_time(frames.len_of(frame));
        let Some(interface) = self.interfaces.iter_mut().find(|interface| interface.end == from) else {
            frames.release(frame);
            return;
        };
        let name = interface.namer.name(frames.bytes(frame));
        while interface.leaving.front().is_some_and(|left| *left <= now) {
            interface.leaving.pop_front();
        }
        if interface.leaving.len() >= self.config.laws.queue as usize {
            self.counts.queue_full += 1;
            out.push(lost(self.config.node, name, DiscardReason::QueueFull, frame));
            return;
        }
        let left_at = interface.leaving.back().map_or(now, |left| (*left).max(now)) + sending;
        interface.leaving.push_back(left_at);
        interface.sending += sending;
        frames.label_mut(frame).arrived_at.get_or_insert(left_at);
        let fate = interface.draws.fate(name);
        self.counts.bytes += frames.len_of(frame) as i64;
        if fate.is_lost || to.is_empty() {
            self.counts.lost += i64::from(fate.is_lost);
            let reason = if fate.is_lost { DiscardReason::LostOnLink } else { DiscardReason::UnknownStream };
            out.push(lost(self.config.node, name, reason, frame));
            return;
        }
        let mut arrival = left_at + fate.delay;
        if let Some(last) = interface.last_arrival.filter(|last| arrival < *last) {
            match self.config.laws.order {
                Order::Strict => arrival = last,
                Order::AsDelayed => self.counts.overtaken += 1,
            }
        }
        interface.last_arrival = interface.last_arrival.max(Some(arrival));
        let copy = fate.copy.map(|delay| {
            self.counts.doubled += 1;
            let at = match self.config.laws.order {
                Order::Strict => (left_at + delay).max(arrival),
                Order::AsDelayed => left_at + delay,
            };
            interface.last_arrival = interface.last_arrival.max(Some(at));
            (at, Flight { frame: frames.duplicate(frame), to: to.clone() })
        });
        if let Some(bit) = fate.altered {
            self.counts.altered += 1;
            alter(frames, frame, bit);
        }
        self.fly(arrival, Flight { frame, to }, out);
        if let Some((at, flight)) = copy {
            self.fly(at, flight, out);
        }
    }

    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.now = now;
        let Some(Flight { frame, to }) = self.under_way.remove(&timer.number) else { return };
        self.counts.carried += 1;
        for (place, end) in to.iter().enumerate() {
            if place > 0 {
                frames.retain(frame);
            }
            out.push(MediumOutput::Deliver { to: *end, frame, departed_at: now });
        }
    }

    fn series(&self) -> Vec<Series> {
        let Counts { carried, lost, queue_full, doubled, altered, overtaken, bytes } = self.counts;
        let mut series = vec![
            Series::total("frames", "frames", carried),
            Series::total("data", "bytes", bytes),
            Series::total("lost on the way", "frames", lost),
            Series::total("refused by a full queue", "frames", queue_full),
            Series::total("doubled", "frames", doubled),
            Series::total("altered", "frames", altered),
            Series::total("overtaken by one sent later", "frames", overtaken),
        ];
        if self.config.laws.rate.is_some() {
            series.push(Series::total("busiest station", "ns", self.busiest().as_ns()));
        }
        series
    }
}

/// Turns a bit of what a packet carries. Addresses, and the number at the front of a message of the test bed, stay as they are: records
/// could not say else which message it was.
fn alter(frames: &mut FrameStore, frame: FrameId, place: u64) {
    let headers = match Packet::in_frame(frames.bytes(frame)) {
        Some(Ok(packet)) if packet.offset == 0 => HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN + TestBedHeader::LEN,
        Some(Ok(_)) => HEADER_LEN + ipv4::HEADER_LEN,
        _ => HEADER_LEN,
    };
    let len = frames.len_of(frame) as usize;
    let bits = (len.saturating_sub(headers) * 8) as u128;
    let bit = ((u128::from(place) * bits) >> 64) as usize;
    // Longer ones are live, where nothing is altered.
    if bits > 0 && len <= FRAME_CAPACITY {
        frames.buffer(frame)[headers + bit / 8] ^= 1 << (bit % 8);
    }
}
