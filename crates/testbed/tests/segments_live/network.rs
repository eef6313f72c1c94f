//! The network of these tests: a bus, a switch, who is on them, and what their frames are.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, PortId, Priority, Rate, SimTime, StreamId};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::ethernet::{Ends, Integration, Link, Network, NetworkConfig, Route, RouteClass};
use chronoseal_media::line::LineSpeed;
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_media::topology::Topology;
use chronoseal_testbed::can::{Guest, GuestKind};
use chronoseal_testbed::{AgentConfig, FrameDescription, LiveConfig, PortLink, Traffic};
use chronoseal_wire::can::{BitTiming, BitTimingConfig};
use chronoseal_wire::virtual_link::DEFAULT_CT_MARKER;

use super::nodes::{self, ANSWERS, GATEWAY, PAIRS, SENSOR, STATION};

/// The first segment: CAN, over socket pairs.
pub(crate) const BUS: u16 = 0;
/// The second segment: Ethernet, over TAP interfaces.
pub(crate) const SWITCHED: u16 = 1;
/// The guest that hears what is on the bus.
pub(crate) const RECORDER: NodeId = NodeId(3);
const SWITCH: NodeId = NodeId(4);

pub(crate) const fn at(node: NodeId, port: u16) -> Attachment {
    Attachment { node, port: PortId(port) }
}

/// Every port of an agent, by node and port.
pub(crate) const LINKS: [(Attachment, PortLink); 4] = [
    (at(SENSOR, 0), PortLink::Pair),
    (at(GATEWAY, 0), PortLink::Pair),
    (at(GATEWAY, 1), PortLink::Tap),
    (at(STATION, 0), PortLink::Tap),
];

pub(crate) fn config() -> LiveConfig {
    let ports = |node| LINKS.into_iter().filter(move |(at, _)| at.node == node).map(|(_, link)| link);
    let agent = |node| AgentConfig { ports: ports(node).collect(), ..AgentConfig::new(node) };
    let agents = [SENSOR, GATEWAY, STATION].map(agent).to_vec();
    let guests = vec![Guest { attachment: at(RECORDER, 0), kind: GuestKind::Recorder }];
    let config = LiveConfig::new(agents, Vec::new(), Duration::from_ms(200));
    LiveConfig { guests, drain: Duration::from_ms(200), agent_command: Some(crate::agents("segments_live")), ..config }
}

pub(crate) fn topology() -> Topology {
    let mut topology = Topology::new();
    let of = |wanted: PortLink| LINKS.into_iter().filter(move |(_, link)| *link == wanted).map(|(at, _)| at);
    let number = topology.add(bus(), of(PortLink::Pair).chain([at(RECORDER, 0)])).unwrap();
    assert_eq!(number, BUS);
    let number = topology.add(Box::new(switched()), of(PortLink::Tap)).unwrap();
    assert_eq!(number, SWITCHED);
    topology
}

pub(crate) fn bus() -> Box<dyn Medium + Send> {
    let controllers = [at(SENSOR, 0), at(GATEWAY, 0), at(RECORDER, 0)];
    let bus = CanBusConfig {
        timing: BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).unwrap(),
        carries_fd: true,
        controllers: controllers.into_iter().map(ControllerConfig::new).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    Box::new(CanBus::new(bus, 1).unwrap())
}

fn switched() -> Network {
    // Link 0 is the gateway's, link 1 the station's.
    let best_effort = |from: usize, to: usize| {
        Route::over_one_switch(RouteClass::BestEffort { priority: 0 }, 2 * from, vec![2 * to + 1], 1514)
    };
    let mut routes = vec![best_effort(0, 1); 4];
    routes[PAIRS.index()] = best_effort(0, 1);
    routes[ANSWERS.index()] = best_effort(1, 0);
    let speed = LineSpeed::new(Rate(100_000_000), 24, 12, Duration::ZERO);
    let link = |station| Link { ends: Ends::Station { station, switch: 0 }, speed };
    Network::new(NetworkConfig {
        shares_queues: false,
        switches: vec![SWITCH],
        switches_of_b: Vec::new(),
        links: vec![link(at(GATEWAY, 1)), link(at(STATION, 0))],
        queue_len_max: 64_000,
        ports: Default::default(),
        psfp: Default::default(),
        splices: Vec::new(),
        secured: Vec::new(),
        failures: Vec::new(),
        frame_losses: Vec::new(),
        recoveries: Default::default(),
        routes,
        ct_marker: DEFAULT_CT_MARKER,
        beacon: None,
        clocks: None,
        time_aware: None,
        schedule: ScheduleTable { cluster_cycle: Duration::from_ms(10), ..ScheduleTable::default() },
        waits_for_dispatch: true,
        integration: Integration::TimelyBlock,
        forwarding_delay: Duration::from_us(5),
        forwarding_jitter: Jitter::default(),
        early_tolerance: Duration::from_us(10),
        sniffing_switch: false,
        load_window: None,
        seed: 1,
    })
}

/// Reads the frames of both segments.
pub(crate) struct Streams;

impl Traffic for Streams {
    fn priority(&self, _: Attachment, _: &[u8]) -> Priority {
        Priority(0)
    }

    fn describe(&self, from: Attachment, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        // The same bytes mean something else on the other segment.
        let link = LINKS.iter().find_map(|(at, link)| (*at == from).then_some(link));
        let read = match link.unwrap_or(&PortLink::Pair) {
            PortLink::Tap => nodes::read_ethernet(bytes),
            _ => nodes::read_can(bytes),
        };
        let Some((stream, number)) = read else { return FrameDescription::UNKNOWN };
        let sequence = Some(u64::from(number));
        FrameDescription { stream, sequence, cycle_start: arrived_at, ..FrameDescription::UNKNOWN }
    }

    /// The gateway is meant to pass frames on, not to keep them.
    fn concerns(&self, _: StreamId, node: NodeId) -> bool {
        node != GATEWAY
    }
}
