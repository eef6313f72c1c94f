//! A network of store-and-forward switches with a schedule table, and the links between them and to their stations (SAE AS6802
//! and the virtual links of ARINC 664 part 7, beside best effort).
//!
//! ```text
//! station ── line ──► filter ──► turn held until dispatch ──► line ──► station, or the next switch
//!      (egress queues)   ├─────► forwarding delay ─────────►  (egress queues)
//!                        └─ policing ──┘
//! ```
//!
//! One switch with its stations is the network with one switch; nothing here is made for it alone. Every switch follows the
//! table and opens its gates by the time in which the run is counted, or by a clock of its own (`slot_clocks`, `gate_clocks`).

mod beacon;
mod config;
mod control;
mod egress;
mod executor;
mod filter;
mod forwarding;
mod gate_clocks;
mod impairments;
mod ingress;
mod macsec;
mod policing;
mod ports;
mod recoveries;
mod second;
mod slot_clocks;
mod splices;
mod statistics;
mod stream_filters;
#[cfg(test)]
mod tests;
mod time_aware;
mod ways;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose};
use chronoseal_core::{DiscardReason, Duration, NodeId, Oscillator, PortId, Priority, SimTime, StreamId};

use self::beacon::BeaconTree;
pub use self::config::{
    Beacon, Ends, Failure, FrameLoss, Integration, Link, NetworkConfig, Route, RouteClass, RouteHop, Seat, Splice,
};
pub use self::control::ClusterClocks;
use self::control::Control;
use self::executor::Executor;
use self::filter::Filter;
use self::forwarding::Forwarding;
use self::impairments::Impairments;
use self::macsec::SecYs;
pub use self::macsec::SecuredLink;
use self::policing::Account;
pub use self::policing::{Charge, Policing};
use self::recoveries::Recoveries;
use self::second::Pairs;
use self::slot_clocks::SlotClocks;
use self::splices::Splices;
use self::statistics::Statistics;
use self::stream_filters::Guards;
use self::time_aware::TimeAware;
pub use self::time_aware::{TimeAwareBridge, TimeAwareBridges};
use self::ways::{HopId, Ways};
use crate::line::{Line, ReservedStarts};
use crate::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};
use crate::port::{Port, PortConfig};

/// The medium of [`NetworkConfig`].
pub struct Network {
    config: NetworkConfig,
    ways: Ways,
    filter: Filter,
    executor: Executor,
    slot_clocks: SlotClocks,
    /// `link_of_node[node]` is the port of this node's station, and its link, if it has one link.
    link_of_node: Vec<Option<(PortId, usize)>>,
    /// Stations with a link to each of two networks.
    pairs: Option<Box<Pairs>>,
    /// As [`NetworkConfig`] numbers them.
    lines: Vec<Line>,
    /// By line: the port in front of it, where that does more than the line itself.
    ports: Vec<Option<Box<Port>>>,
    /// Lines from here on join switches.
    first_trunk_line: usize,
    /// By line: the switch that judges what comes in by it, and the one in whose name its queues throw away.
    judges: Vec<NodeId>,
    queues_at: Vec<NodeId>,
    forwarding: Forwarding,
    /// Of virtual links, by switch on their ways.
    accounts: Vec<Option<Account>>,
    impairments: Impairments,
    /// The forwarding delay, if no random part is added to it and it takes time at all.
    fixed_delay: Option<Duration>,
    beacon_tree: BeaconTree,
    /// Of a cluster that keeps its clocks together by itself.
    control: Option<Control>,
    /// Of bridges whose clocks follow a grandmaster.
    time_aware: Option<TimeAware>,
    /// Whoever sends a control frame wants to know when it left.
    stamps_control: bool,
    /// Of links with keys.
    sec_ys: SecYs,
    splices: Splices,
    /// Of switches that filter and police streams.
    guards: Option<Box<Guards>>,
    /// Of switches where copies of frames meet.
    recoveries: Option<Box<Recoveries>>,
    /// Frames that come to a switch may be others than those that every network has.
    has_special: bool,
    integration_cycle: u32,
    /// By switch.
    rngs: Vec<ChaCha8Rng>,
    statistics: Statistics,
}

/// What a timer number means: the kind in the upper four bits, an index below.
///
/// Timers of one instant expire in the order of their numbers: first frames come in, by line, then those that have been in
/// for the forwarding delay go to their lines, by the line they came in by, then scheduled ones go out, then the beacon, and
/// what is left of a line is for the others. Then come compression masters, and ports look last, so that a gate that opens finds
/// all that has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    LineArrival(usize),
    /// A frame that came in by this line is passed on.
    ForwardingDone(usize),
    /// The next entry of the schedule table acts that goes by this clock.
    ScheduleEntry(usize),
    Beacon,
    LineFree(usize),
    /// A compression master, a switch that follows some, or a bridge that keeps time has something to do.
    Control(usize),
    /// The port in front of this line has something to do.
    Port(usize),
}

impl Timer {
    #[inline]
    fn pack(self) -> MediumTimer {
        let (kind, index) = match self {
            Self::LineArrival(line) => (0, line),
            Self::ForwardingDone(line) => (1, line),
            Self::ScheduleEntry(clock) => (2, clock),
            Self::Beacon => (3, 0),
            Self::LineFree(line) => (4, line),
            Self::Control(compressing) => (5, compressing),
            Self::Port(line) => (6, line),
        };
        MediumTimer::new(kind << 28 | index as u32)
    }

    #[inline]
    fn unpack(timer: MediumTimer) -> Self {
        let index = (timer.number & 0x0fff_ffff) as usize;
        match timer.number >> 28 {
            0 => Self::LineArrival(index),
            1 => Self::ForwardingDone(index),
            2 => Self::ScheduleEntry(index),
            3 => Self::Beacon,
            4 => Self::LineFree(index),
            5 => Self::Control(index),
            _ => Self::Port(index),
        }
    }
}

impl Network {
    /// A network with nothing on its wires.
    ///
    /// # Panics
    /// If a link of a station stands behind one between switches, or a link, a route or a turn of the schedule table names a
    /// switch, a line or a hop that is not there.
    pub fn new(config: NetworkConfig) -> Self {
        let stations = config.station_links();
        let is_trunk = |link: &Link| matches!(link.ends, Ends::Switches(_));
        assert!(config.links[stations..].iter().all(is_trunk), "the links of stations are the first ones");
        let count = 2 * config.links.len();
        let (lines, ports) = lines(&config, reserved(&config, count));
        let pairs = Pairs::of(&config);
        let mut link_of_node = Vec::new();
        for (index, link) in config.links.iter().enumerate() {
            let Ends::Station { station, .. } = link.ends else { break };
            link_of_node.resize(link_of_node.len().max(station.node.index() + 1), None);
            let has_two = pairs.as_ref().is_some_and(|pairs| pairs.has(station.node));
            link_of_node[station.node.index()] = (!has_two).then_some((station.port, index));
        }
        let behind = |line| config.switch_behind(line).or(config.switch_before(line)).unwrap_or_default();
        let queueing = |line: usize| {
            // A station's own queue has no name but that of its switch.
            config.switch_before(line).unwrap_or_else(|| behind(line))
        };
        let beacon_tree = BeaconTree::new(&config);
        let ways = Ways::new(&config);
        let mut network = Self {
            filter: Filter::new(&config, &ways, beacon_tree.brings(count)),
            link_of_node,
            pairs,
            statistics: Statistics::new(config.load_window, count, stations < config.links.len()),
            executor: executor(&config, &ways),
            slot_clocks: SlotClocks::new(&config),
            lines,
            ports,
            first_trunk_line: 2 * stations,
            judges: (0..count).map(|line| config.switches[behind(line)]).collect(),
            queues_at: (0..count).map(|line| config.switches[queueing(line)]).collect(),
            forwarding: Forwarding::new(count),
            accounts: config.routes.iter().flat_map(accounts).collect(),
            impairments: Impairments::new(&config),
            fixed_delay: Some(config.forwarding_delay)
                .filter(|delay| config.forwarding_jitter.is_zero() && *delay > Duration::ZERO)
                // A stream filter judges a frame when it is there, and so does whoever checks its protection; which of two copies
                // is the first is known then.
                .filter(|_| config.psfp.is_empty() && config.secured.is_empty() && config.recoveries.is_empty())
                // An attacker behind a line takes it there.
                .filter(|_| config.splices.iter().all(|splice| splice.seat != Seat::BehindWire)),
            beacon_tree,
            control: config.clocks.as_ref().map(|clocks| Control::new(&config, clocks)),
            time_aware: config.time_aware.as_ref().map(|clocks| TimeAware::new(&config, clocks)),
            stamps_control: config.clocks.is_some() || config.time_aware.is_some(),
            sec_ys: config.sec_ys(),
            splices: Splices::new(&config),
            guards: Guards::new(&config),
            recoveries: Recoveries::new(&config),
            has_special: config.clocks.is_some() || config.time_aware.is_some() || !config.secured.is_empty(),
            integration_cycle: 0,
            rngs: (config.switches.iter())
                .map(|switch| random::stream(config.seed, Purpose::Medium, u64::from(switch.0)))
                .collect(),
            ways,
            config,
        };
        network.open_gates(SimTime::ZERO);
        network
    }

    /// What it was built from.
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// The stream a frame's destination names, if the switches know one.
    pub fn stream_of(&self, bytes: &[u8]) -> Option<StreamId> {
        let frame = chronoseal_wire::ethernet::Frame::new_checked(bytes).ok()?;
        self.filter.stream_of(&self.config, &self.ways, &frame)
    }

    #[inline]
    fn link_of(&self, from: Attachment) -> Option<usize> {
        let (port, link) = (*self.link_of_node.get(from.node.index())?)?;
        (port == from.port).then_some(link)
    }

    /// True for a line that leads to a switch.
    #[inline(always)]
    fn leads_to_switch(&self, line: usize) -> bool {
        line.is_multiple_of(2) || line >= self.first_trunk_line
    }

    /// The time a stamp on the capture shows. A sniffing switch stores and forwards the frame as it does the beacon
    /// the stamp is compared with, so that only the difference of the two remains.
    #[inline(always)]
    fn stamp(&self, at: SimTime, line: usize, frame: FrameId, frames: &FrameStore) -> SimTime {
        if !self.config.sniffing_switch {
            return at;
        }
        let speed = self.lines[line].speed();
        at + speed.reception(frames.len_of(frame)) - speed.reception(chronoseal_wire::ethernet::FRAME_LEN_MIN as u64)
    }
}

/// The lines, and the ports in front of some, each with the starts that are reserved on it.
fn lines(config: &NetworkConfig, reserved: Vec<(Vec<Duration>, Duration)>) -> (Vec<Line>, Vec<Option<Box<Port>>>) {
    let cycle = config.schedule.cluster_cycle;
    // Where a scheduled frame waits for others, or cuts them off, no line is kept free for it.
    let starts = |phases: Vec<Duration>, tolerance: Duration| match config.integration {
        Integration::TimelyBlock if !phases.is_empty() => ReservedStarts::new(cycle, phases.into_iter(), tolerance),
        _ => ReservedStarts::default(),
    };
    let (room, is_shared) = (config.queue_len_max, config.shares_queues);
    let line = |(number, (phases, tolerance)): (usize, (Vec<Duration>, Duration))| {
        let speed = config.speed_of(number);
        let cuts = config.integration == Integration::Preemption && !phases.is_empty();
        let cutting = cuts.then(|| PortConfig { scheduled_cut: true, ..PortConfig::default() });
        let starts = starts(phases, tolerance);
        match config.ports.get(&number).or(cutting.as_ref()) {
            None => (Line::new(speed, room, starts).with_shared_queue(is_shared), None),
            // A port of a switch stays one: of what happens at one instant it looks last, and a line does not.
            Some(port) if config.switch_before(number).is_none() && port.is_strict() => {
                (Line::new(speed, room, starts).with_classes(port.class_of).with_shared_queue(is_shared), None)
            }
            Some(port) => {
                let port = Port::new(port, speed, room, starts).with_shared_queue(is_shared);
                (Line::behind_port(speed), Some(Box::new(port)))
            }
        }
    };
    reserved.into_iter().enumerate().map(line).unzip()
}

/// The table, by the clocks of the switches.
fn executor(config: &NetworkConfig, ways: &Ways) -> Executor {
    let (clocks, of_switch) = SlotClocks::of(config);
    let clock_of = |hop: HopId| {
        let ingress = ways.hop(hop).ingress as usize;
        of_switch(config.switch_behind(ingress).unwrap_or_default())
    };
    let hop_of = |stream, hop| ways.hop_of(stream, hop);
    Executor::new(&config.schedule, hop_of, (clocks, clock_of), config.waits_for_dispatch)
}

/// The accounts of a virtual link at the switches on its way; none of another stream.
fn accounts(route: &Route) -> Vec<Option<Account>> {
    let account = match route.class {
        RouteClass::RateConstrained { policing, .. } => Some(Account::new(policing)),
        RouteClass::TimeTriggered { .. } | RouteClass::BestEffort { .. } | RouteClass::Elsewhere => None,
    };
    vec![account; route.hops.len()]
}

/// By line: when the first bits of scheduled frames leave, and by how much they can be early or late.
fn reserved(config: &NetworkConfig, lines: usize) -> Vec<(Vec<Duration>, Duration)> {
    let mut reserved = vec![(Vec::new(), Duration::ZERO); lines];
    for turn in config.schedule.turns() {
        let hop = &config.routes[turn.stream.index()].hops[usize::from(turn.hop)];
        if config.switch_before(hop.ingress).is_none() {
            // A station starts by its own clock, and its line is kept free by another one.
            reserved[hop.ingress].0.push(turn.start);
            reserved[hop.ingress].1 = config.early_tolerance;
        }
        for line in &hop.egress {
            reserved[*line].0.push(turn.dispatch);
        }
    }
    reserved
}

impl Medium for Network {
    fn tells_transmitted(&self, _: Attachment) -> bool {
        // Of messages that ask for a stamp, and no others.
        self.time_aware.is_some()
    }

    fn follows_clocks_of(&self) -> Vec<Attachment> {
        self.slot_clocks.gates.stations().collect()
    }

    fn clock_shown(&mut self, now: SimTime, from: Attachment, clock: Oscillator, out: &mut Vec<MediumOutput>) {
        self.gates_of_station_follow(now, from, clock, out);
    }

    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.send_beacon(now, frames, out);
        self.start_control(now, frames, out);
        self.start_bridges(now, frames, out);
        self.start_entries(now, out);
    }

    #[inline]
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        mut priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.statistics.advance(now, &mut self.lines);
        let splices = &self.config.splices;
        let link = match self.link_of(from) {
            Some(link) => {
                match splices.iter().find(|splice| splice.victim == link) {
                    Some(&splice) if splice.seat == Seat::BeforeWire => {
                        return self.intercept(now, &splice, priority, frame, frames, out);
                    }
                    Some(splice) if splice.seat == Seat::InStation && priority != Priority::PROTOCOL_CONTROL => {
                        priority = Priority::TIME_TRIGGERED;
                    }
                    _ => {}
                }
                link
            }
            None => match splices.iter().find(|splice| splice.attacker == from.node) {
                Some(splice) if splice.seat == Seat::BehindWire => {
                    return self.send_behind_wire(now, 2 * splice.victim, frame, frames, out);
                }
                Some(splice) => {
                    priority = self.splices.priority(splice, priority, frames.bytes(frame));
                    splice.victim
                }
                None => {
                    if let Some(links) = self.pairs.as_ref().and_then(|pairs| pairs.links_of(from)) {
                        return self.send_by_pair(now, links, priority, frame, frames, out);
                    }
                    let first = self.config.switches[0];
                    return self.discard(first, frame, StreamId::NONE, DiscardReason::WrongPort, frames, out);
                }
            },
        };
        // A master's interface adds the delay in front of its line to the transparent clock, as every relay does.
        let due = (self.stamps_control && priority == Priority::PROTOCOL_CONTROL).then_some(now);
        self.send(now, 2 * link, priority, due, (frame, StreamId::NONE), frames, out);
    }

    #[inline]
    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        self.statistics.advance(now, &mut self.lines);
        match Timer::unpack(timer) {
            Timer::LineFree(line) => {
                let step = self.lines[line].step(now);
                self.follow(now, line, &step, frames, out);
            }
            Timer::Port(line) => self.look_at_port(now, line, frames, out),
            Timer::LineArrival(line) => {
                // Behind the lines are those who sit at the ends of some.
                let Some(over) = self.lines.get_mut(line) else {
                    return self.come_from_attacker(now, line, frames, out);
                };
                let Some((frame, started)) = over.take_arrived() else { return };
                if self.impairments.may_take(line, now)
                    && let Some(reason) = self.impairments.take(line, now)
                {
                    let stream = self.stream_of(frames.bytes(frame)).unwrap_or(StreamId::NONE);
                    return self.discard(self.judges[line], frame, stream, reason, frames, out);
                }
                if self.come_to_attacker(now, line, (frame, started), frames, out) {
                    return;
                }
                if self.leads_to_switch(line) {
                    self.arrive(now, line, frame, frames, out);
                } else if let Ends::Station { station, .. } = self.config.links[line / 2].ends {
                    let departed_at = self.stamp(started, line, frame, frames);
                    out.push(MediumOutput::Deliver { to: station, frame, departed_at });
                }
            }
            Timer::ForwardingDone(line) => {
                // Each frame has a timer of its own, so that this is one of those that expire now, and they go in their order.
                let Some(done) = self.forwarding.take(line, now) else { return };
                if done.hop.is_of_stream() {
                    self.fan_out(now, done, frames, out);
                } else if done.hop == HopId::BEACON {
                    self.relay_beacon(now, line, done, frames, out);
                } else {
                    self.relay_control(now, done, frames, out);
                }
            }
            Timer::ScheduleEntry(clock) => self.act(now, clock, frames, out),
            Timer::Beacon => self.send_beacon(now, frames, out),
            Timer::Control(switch) if self.time_aware.is_some() => self.keep_bridges_time(now, switch, frames, out),
            Timer::Control(number) => self.keep_cluster_time(now, number, frames, out),
        }
    }

    fn series(&self) -> Vec<Series> {
        let mut series = self.statistics.series(&self.lines);
        series.extend(self.pairs.iter().flat_map(|pairs| pairs.series()));
        series.extend(self.guards.iter().flat_map(|guards| guards.series(&self.config)));
        series
    }
}
