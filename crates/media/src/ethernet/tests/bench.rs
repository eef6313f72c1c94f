//! Switches as their stations see them: frames go in by hand, a small clockwork lets time pass.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Event, EventKind, NodeId, PortId, Rate};
use chronoseal_wire::ethernet::{Header, MacAddress, TypeOrLength};
use chronoseal_wire::protocol_control_frame::ProtocolControlFrame;
use chronoseal_wire::virtual_link;

use super::super::*;
use crate::line::LineSpeed;
use crate::medium::FrameLabel;
use crate::schedule::{ScheduleTable, Slot};

pub(super) const MARKER: [u8; 4] = [3, 4, 5, 6];
pub(super) const CYCLE: Duration = Duration::from_ms(10);
pub(super) const SWITCH: NodeId = NodeId(9);
/// Stream 0 is time-triggered, from station 0 to station 1, in one slot.
pub(super) const SCHEDULED: StreamId = StreamId(0);
pub(super) const CT_ID: u16 = 7;
pub(super) const SLOT_START: Duration = Duration::from_ms(1);
pub(super) const DISPATCH: Duration = Duration::from_us(1_100);
/// Stream 1 is best effort, from station 2 to stations 1 and 0.
pub(super) const PLAIN: StreamId = StreamId(1);
pub(super) const PRECISION: Duration = Duration::from_us(10);
pub(super) const FORWARDING_DELAY: Duration = Duration::from_us(5);

pub(super) fn speed() -> LineSpeed {
    LineSpeed::new(Rate(100_000_000), 24, 12, Duration::ZERO)
}

/// From one station to others.
pub(super) fn over_switch(class: RouteClass, from: usize, to: &[usize], len_max: u32) -> Route {
    Route::over_one_switch(class, 2 * from, to.iter().map(|station| 2 * station + 1).collect(), len_max)
}

/// With every link alike.
pub(super) fn with_speed(speed: LineSpeed, config: NetworkConfig) -> NetworkConfig {
    NetworkConfig { links: config.links.iter().map(|link| Link { speed, ..*link }).collect(), ..config }
}

pub(super) fn config() -> NetworkConfig {
    let port_0 = |node| Attachment { node: NodeId(node), port: PortId(0) };
    let slot = Slot {
        stream: SCHEDULED,
        instance: 0,
        release: SLOT_START,
        start: SLOT_START,
        frame_time: Duration::from_ns(6_720),
        dispatch: DISPATCH,
        end: Duration::from_us(1_200),
    };
    NetworkConfig {
        switches: vec![SWITCH],
        switches_of_b: Vec::new(),
        links: (0..3)
            .map(|node| Link { ends: Ends::Station { station: port_0(node), switch: 0 }, speed: speed() })
            .collect(),
        queue_len_max: 64_000,
        shares_queues: false,
        ports: Default::default(),
        psfp: Default::default(),
        splices: Vec::new(),
        secured: Vec::new(),
        failures: Vec::new(),
        frame_losses: Vec::new(),
        recoveries: Default::default(),
        routes: vec![
            over_switch(RouteClass::TimeTriggered { ct_id: CT_ID }, 0, &[1], 60),
            over_switch(RouteClass::BestEffort { priority: 0 }, 2, &[1, 0], 1514),
        ],
        ct_marker: MARKER,
        beacon: None,
        clocks: None,
        time_aware: None,
        schedule: ScheduleTable { cluster_cycle: CYCLE, slots: vec![slot], ..ScheduleTable::default() },
        waits_for_dispatch: true,
        integration: Integration::TimelyBlock,
        forwarding_delay: FORWARDING_DELAY,
        forwarding_jitter: Jitter::default(),
        early_tolerance: PRECISION,
        sniffing_switch: false,
        load_window: None,
        seed: 1,
    }
}

pub(super) fn at(since_start: Duration) -> SimTime {
    SimTime::ZERO + since_start
}

pub(super) fn frame_to(destination: MacAddress, type_or_length: TypeOrLength, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xa5; len];
    Header { destination, source: virtual_link::station_address(NodeId(0)), type_or_length }.emit(&mut bytes);
    bytes
}

pub(super) fn scheduled_frame(ct_id: u16, len: usize) -> Vec<u8> {
    let destination = virtual_link::critical_traffic_address(MARKER, ct_id);
    frame_to(destination, TypeOrLength::Length(len as u16 - 14), len)
}

pub(super) fn plain_frame(stream: StreamId, len: usize) -> Vec<u8> {
    frame_to(virtual_link::stream_address(stream), TypeOrLength::EtherType(0x88b5), len)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Delivery {
    pub(super) at: SimTime,
    pub(super) to: Attachment,
    pub(super) departed_at: SimTime,
    /// As records tell it.
    pub(super) sent_at: SimTime,
    pub(super) bytes: Vec<u8>,
}

/// A network, what stations hand over, and what comes of it.
pub(super) struct Bench {
    pub(super) network: Network,
    pub(super) frames: FrameStore,
    timers: std::collections::BTreeSet<(SimTime, MediumTimer)>,
    sends: Vec<(SimTime, Attachment, Priority, Vec<u8>)>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) events: Vec<(SimTime, Event)>,
}

impl Bench {
    pub(super) fn new(config: NetworkConfig) -> Self {
        let (deliveries, events) = (Vec::new(), Vec::new());
        let (frames, timers) = (FrameStore::new(), Default::default());
        Self { network: Network::new(config), frames, timers, sends: Vec::new(), deliveries, events }
    }

    pub(super) fn send_from(&mut self, when: Duration, from: Attachment, bytes: Vec<u8>) {
        let scheduled = virtual_link::ct_id(MacAddress(bytes[..6].try_into().unwrap()), MARKER).is_some();
        let priority = if scheduled { Priority::TIME_TRIGGERED } else { Priority(0) };
        self.sends.push((at(when), from, priority, bytes));
    }

    /// A control frame from a station's interface, with what its source address says.
    pub(super) fn send_control(
        &mut self,
        when: Duration,
        station: u16,
        source: NodeId,
        control: &ProtocolControlFrame,
    ) {
        let mut bytes = vec![0; 60];
        let destination = virtual_link::critical_traffic_address(MARKER, 4043);
        control.emit_frame(destination, virtual_link::station_address(source), &mut bytes);
        let from = Attachment { node: NodeId(station), port: PortId(0) };
        self.sends.push((at(when), from, Priority::PROTOCOL_CONTROL, bytes));
    }

    pub(super) fn send(&mut self, when: Duration, station: u16, bytes: Vec<u8>) {
        self.send_from(when, Attachment { node: NodeId(station), port: PortId(0) }, bytes);
    }

    /// Lets time pass from zero to `until`. As in a driver, timers of an instant come before what stations hand over.
    pub(super) fn run(mut self, until: Duration) -> Self {
        self.sends.sort_by_key(|(when, ..)| *when);
        let mut sends = std::mem::take(&mut self.sends).into_iter().peekable();
        let mut out = Vec::new();
        self.network.start(SimTime::ZERO, &mut self.frames, &mut out);
        self.settle(SimTime::ZERO, &mut out);
        loop {
            let timer = self.timers.first().map(|(due, _)| *due);
            let send = sends.peek().map(|(when, ..)| *when);
            let Some(now) = timer.into_iter().chain(send).min() else { return self };
            if now > at(until) {
                return self;
            }
            if timer == Some(now)
                && let Some((_, timer)) = self.timers.pop_first()
            {
                self.network.handle_timer(now, timer, &mut self.frames, &mut out);
            } else if let Some((_, from, priority, bytes)) = sends.next_if(|(when, ..)| *when == now) {
                let frame = self.frames.allocate(FrameLabel { sender: from.node, sent_at: now, ..Default::default() });
                self.frames.buffer(frame)[..bytes.len()].copy_from_slice(&bytes);
                self.frames.set_len(frame, bytes.len());
                self.network.handle_frame(now, from, priority, frame, &mut self.frames, &mut out);
            }
            self.settle(now, &mut out);
        }
    }

    pub(super) fn settle(&mut self, now: SimTime, out: &mut Vec<MediumOutput>) {
        for output in out.drain(..) {
            match output {
                MediumOutput::Timer { at, timer } => {
                    assert!(at >= now, "a timer in the past");
                    self.timers.insert((at, timer));
                }
                MediumOutput::Deliver { to, frame, departed_at } => {
                    let (bytes, sent_at) = (self.frames.bytes(frame).to_vec(), self.frames.label(frame).sent_at);
                    self.deliveries.push(Delivery { at: now, to, departed_at, sent_at, bytes });
                    self.frames.release(frame);
                }
                MediumOutput::Transmitted { .. } => panic!("a switch does not say when a frame has left its sender"),
                MediumOutput::Discard { node, event, frame } => {
                    assert!(self.network.config().switches.contains(&node), "{node:?} is no switch");
                    self.events.push((now, event));
                    self.frames.release(frame);
                }
                MediumOutput::Event { node, event, .. } => {
                    assert!(self.network.config().switches.contains(&node), "{node:?} is no switch");
                    self.events.push((now, event));
                }
            }
        }
    }

    pub(super) fn kinds(&self) -> Vec<EventKind> {
        self.events.iter().map(|(_, event)| event.kind).collect()
    }

    /// Reasons and streams of what the switch threw away.
    pub(super) fn discarded(&self) -> Vec<(DiscardReason, StreamId)> {
        let reason = |(_, event): &(SimTime, Event)| match event.kind {
            EventKind::Discarded(reason) => Some((reason, event.stream)),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }
}

/// One frame, from the station that may send it unless said otherwise, up to the end of the first slot.
pub(super) fn after(when: Duration, station: u16, bytes: Vec<u8>) -> Bench {
    let mut bench = Bench::new(config());
    bench.send(when, station, bytes);
    bench.run(Duration::from_ms(9))
}

pub(super) fn reception(len: u64) -> Duration {
    speed().reception(len)
}

pub(super) fn occupancy(len: u64) -> Duration {
    speed().occupancy(len)
}
