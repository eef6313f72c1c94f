//! A plan on real sockets and processes.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::{
    BuildError, BuildOptions, Connection, Datagrams, Kinds, LiveHome, LiveLink, Prepared, Sockets,
};
use chronoseal_core::{Duration, Node, NodeId, PortId, Ppm, Rate, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_plan::{AttackPlace, Fidelity, LinkTransport, Plan, SegmentId};
use chronoseal_results::{Direction, Engine, Fact, FrameRow, ProgramMeta, RunRows, Stays};
use chronoseal_testbed::can::{Guest, GuestKind, MulticastGroup};
use chronoseal_testbed::{
    AgentCommand, AgentConfig, ClockStep, ConnectionEnd, ConnectionFact, FactoryError, Home, LiveConfig, LiveError,
    LiveOutcome, NoTransports, PartedStream, Parts, Placement, PortLink, Program, ProgramEnd, ProgramStream,
    SocketLink, Transport, Transports, Wires,
};
use chronoseal_wire::{udp, virtual_link};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::facts;
use crate::offered::overloads;
use crate::record::Waits;
use crate::traffic::PlanTraffic;
use crate::ways::Open;
use crate::windows;
use crate::{Run, describe};

/// Frames of a live run are made ready this much before their slot, so that waking up is no part of their lateness.
const LEAD: Duration = Duration::from_us(150);

/// A beacon that the emulator wrote this much later than planned still counts. Beyond that the host was away, and no clock
/// should follow what it says.
const BEACON_LATE_MAX: Duration = Duration::from_ms(2);

/// A station that is busy reads a frame this much after it came in, and until then says of no slot that nothing came. Whether
/// the frame was in time is judged by the kernel's stamp.
const HAND_OVER_MAX: Duration = Duration::from_ms(2);

/// How to run live.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Keep every frame's bytes for a capture file.
    pub capture: bool,
    /// Do without `SCHED_FIFO` even where it is granted.
    pub no_fifo: bool,
    /// Do without `/dev/net/tun` even where it can be opened.
    pub no_tun: bool,
    /// Nodes may run the programs that the scenario names.
    pub programs: bool,
    /// On which processors; `None`: all on one.
    pub placement: Option<Placement>,
    /// How to start an agent; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
    /// What carries the frames of CAN segments.
    pub can: CanPlaceName,
    /// Nodes whose clocks jump.
    pub clock_steps: Vec<(NodeId, ClockStep)>,
    /// What was found out before the run that a reader of its results has to know, in words.
    pub warnings: Vec<String>,
}

/// Why a plan cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// Live frames have bytes.
    #[error("fidelity \"timing\" has no bytes to send; write fidelity = \"bytes\", or use --engine sim")]
    NoBytes,
    /// A segment exists in the simulator only.
    #[error("segment {segment}: {reason}, or use --engine sim")]
    NotLive {
        /// Its name.
        segment: String,
        /// Why, and what to write instead.
        reason: String,
    },
    /// A node runs a program, and nobody said that it may.
    #[error(
        "node {node} runs a program: {command}\nA scenario from elsewhere may run anything: look at it, and add --programs if it may run here"
    )]
    Programs {
        /// Its name.
        node: String,
        /// The program and its arguments.
        command: String,
    },
    /// A middleware carries a stream, and its programs are not there.
    #[error(
        "stream {stream} goes over a middleware, whose programs this command does not start; run it with chronoseal run FILE --engine live"
    )]
    Middleware {
        /// Its name.
        stream: String,
    },
    /// Something to carry the frames of CAN, and no CAN.
    #[error("the scenario has no CAN segment; leave --can-interface and --can-guest away")]
    NoCan,
    /// One interface of the kernel for several buses.
    #[error("interface {interface} is one bus, and the scenario has {buses}; leave --can-interface away")]
    OneInterface {
        /// Its name.
        interface: String,
        /// CAN segments of the scenario.
        buses: usize,
    },
    /// What a run over several hosts does not have.
    #[error(
        "{what}, and a run over several hosts has stations that speak UDP and TCP and nothing else; run it on one host: \
         chronoseal run FILE --engine live"
    )]
    NotRemote {
        /// What it has, with its name.
        what: String,
    },
    /// A part of the network cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The host refuses, or something broke.
    #[error(transparent)]
    Live(#[from] LiveError),
}

/// What an agent builds its node from.
#[derive(Serialize, Deserialize)]
struct NodeConfig<T> {
    /// Of the program that starts the station, whose own may be another one.
    build: String,
    /// The plan is made from these.
    texts: T,
    lead_ps: i64,
}

/// Two programs of different builds may make different plans of one scenario.
#[derive(Debug, thiserror::Error)]
#[error("its program is of {own} and the one that starts it of {wanted}; build both from one checkout")]
struct OtherBuild {
    wanted: String,
    own: String,
}

/// Version and commit of this program.
fn build_name() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match crate::commit() {
        "" => format!("version {version}"),
        commit => format!("version {version}, commit {commit}"),
    }
}

/// A stream that no kernel carries, so that its stations have to be processes of a program that has its transport. `None` if there is none.
pub fn secured_stream(prepared: &Prepared<'_>) -> Option<(StreamId, &'static str)> {
    let plan = prepared.plan();
    let ports = plan.node_ids().flat_map(|node| {
        let sockets =
            |(_, segment): &(Attachment, SegmentId)| prepared.kind(*segment).sockets(prepared, *segment, node);
        prepared.attachments(node).iter().filter_map(sockets).collect::<Vec<_>>()
    });
    let connections = ports.flat_map(|sockets| sockets.connections);
    connections.filter(|end| transport(end.over).is_secured()).map(|end| (end.stream, end.over.title())).min()
}

fn transport(over: LinkTransport) -> Transport {
    match over {
        LinkTransport::Tls => Transport::Tls,
        LinkTransport::Quic => Transport::Quic,
        LinkTransport::Tcp | LinkTransport::Udp | LinkTransport::Program => Transport::Tcp,
    }
}

/// What carries the frames of CAN segments in a live run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CanPlaceName {
    /// Our bus, which python-can clients may join, each at a UDP port of its own.
    Bus {
        /// Their ports.
        guests: Vec<u16>,
    },
    /// A CAN interface of the kernel.
    Interface(String),
}

impl Default for CanPlaceName {
    fn default() -> Self {
        Self::Bus { guests: Vec::new() }
    }
}

impl LiveOptions {
    /// What is not as usual, by the names of the command line's options.
    fn facts(&self, plan: &Plan) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        let mut fact = |name: &str, value: String| facts.push((name.into(), value));
        if self.capture {
            fact("capture", "yes".into());
        }
        if self.no_fifo {
            fact("no-fifo", "yes".into());
        }
        if self.no_tun {
            fact("no-tun", "yes".into());
        }
        match self.placement {
            None | Some(Placement::OneProcessor) => {}
            Some(Placement::Apart) => fact("placement", "apart".into()),
            Some(Placement::Free) => fact("placement", "free".into()),
        }
        match &self.can {
            CanPlaceName::Interface(interface) => fact("can-interface", interface.clone()),
            CanPlaceName::Bus { guests } => guests.iter().for_each(|port| fact("can-guest", port.to_string())),
        }
        for (node, step) in &self.clock_steps {
            fact("clock-step", format!("{}={step}", plan.node_name(*node)));
        }
        facts
    }
}

/// Runs a plan live: every station a process, every frame a real one. `stop` ends it early with what there is.
///
/// Each station's process makes the plan by itself, from the same `texts`: see [`agent_main`].
///
/// # Errors
/// [`MeasureError`]; a host's refusal says what to do about it.
///
/// # Panics
/// If `texts` cannot be written as JSON.
pub fn measure(
    prepared: &Prepared<'_>,
    texts: &impl Serialize,
    options: &LiveOptions,
    stop: &AtomicBool,
) -> Result<Run, MeasureError> {
    let plan = prepared.plan();
    if plan.fidelity == Fidelity::Timing {
        return Err(MeasureError::NoBytes);
    }
    for id in plan.segment_ids() {
        if let Some(reason) = prepared.kind(id).live_refusal(prepared, id) {
            return Err(MeasureError::NotLive { segment: plan.segments[id.index()].name.clone(), reason });
        }
    }
    if let Some(node) = plan.nodes.iter().find(|node| node.program.is_some() && !options.programs) {
        let command = node.program.iter().flat_map(|program| program.command.clone()).collect::<Vec<_>>().join(" ");
        return Err(MeasureError::Programs { node: node.name.clone(), command });
    }
    if let Some(stream) = carried_by_nobody(prepared) {
        return Err(MeasureError::Middleware { stream: stream.to_owned() });
    }
    // A node that computes for its slots gets a head start; a bus has no slots.
    let has_slots = plan.segment_ids().any(|segment| prepared.schedule(segment).is_some());
    let lead = if has_slots { LEAD } else { Duration::ZERO };
    let carriers = Carriers::new(prepared, options)?;
    let mut agents = agents(prepared, &|node, segment| carriers.port(node, segment), options.placement);
    for agent in &mut agents {
        agent.clock_step = options.clock_steps.iter().find(|(node, _)| *node == agent.node).map(|(_, step)| *step);
    }
    let mut config = LiveConfig::new(agents, node_config(texts, lead), plan.duration);
    config.guests = carriers.guests.iter().map(|(guest, _)| guest.clone()).collect();
    config.scenario_hash.clone_from(&plan.scenario_hash);
    config.capture = options.capture;
    config.fifo = !options.no_fifo;
    config.no_tun = options.no_tun;
    config.stall_threshold =
        windows::stall_threshold(prepared).unwrap_or(config.stall_threshold).min(config.stall_threshold);
    config.placement = options.placement.unwrap_or(Placement::OneProcessor);
    config.agent_command.clone_from(&options.agent_command);

    let attached: Vec<_> = carriers.guests.iter().map(|(guest, segment)| (guest.attachment, *segment)).collect();
    let traffic = PlanTraffic::new(prepared, &attached);
    let mut topology = prepared.topology_with(&attached, &|segment| carriers.is_foreign(segment))?;
    let (outcome, lost) = match chronoseal_testbed::run(&config, &mut topology, &traffic, stop) {
        Ok(outcome) => (outcome, None),
        // What the others wrote down is worth keeping.
        Err(LiveError::AgentLost { node, reason, partial, .. }) => (*partial, Some((node, reason))),
        Err(error) => return Err(error.into()),
    };

    let mut meta = describe(prepared, Engine::Live);
    meta.clock_source = match has_slots {
        true => "CLOCK_MONOTONIC; arrivals at stations by the kernel's receive stamp".into(),
        false => "CLOCK_MONOTONIC".into(),
    };
    meta.options = options.facts(plan);
    let jumps = |(node, ClockStep { after, by }): &(NodeId, ClockStep)| {
        format!("the clock of {} jumps by {by} after {after}, as was asked for", plan.node_name(*node))
    };
    meta.warnings.extend(options.clock_steps.iter().map(jumps));
    meta.host = host_facts(&outcome);
    let shared: Vec<NodeId> = plan.node_ids().filter(|id| prepared.live_home(*id) == LiveHome::Shared).collect();
    meta.host.extend(shared_process(prepared, &shared));
    meta.host.extend(outcome.connections.iter().map(|fact| connection_fact(plan, fact)));
    meta.warnings.extend(overloads(plan));
    meta.warnings.extend(options.warnings.iter().cloned());
    meta.warnings.extend(prepared.differs_live());
    meta.lost = lost.map(|(node, reason)| {
        format!("the process of {} was lost in the middle of the run ({reason})", plan.node_name(node))
    });
    meta.programs = outcome.programs.iter().map(|end| program_meta(plan, end)).collect();
    meta.warnings.extend(outcome.warnings.iter().cloned());
    let mut rows = outcome.rows;
    // What is worked out once for all of them says nothing of what one of them would have to compute.
    rows.work.retain(|row| shared.binary_search(&row.node).is_err());
    settle(prepared, &mut rows);
    let describers = prepared.describers();
    rows.captures.retain(|row| {
        let segment = SegmentId(row.segment);
        // Where everybody hears a frame, it is kept once: when our medium had carried it, or when the listener on an
        // interface of the kernel saw it.
        let once = if carriers.is_foreign(segment) { Direction::Arrival } else { Direction::Carried };
        !describers[segment.index()].is_shared() || row.direction == once
    });
    // Where everybody hears a frame there is no switch that has it before it goes on.
    let waits = Waits::of(plan);
    let is_shared = |row: &FrameRow| {
        let segment = waits.segment(row.stream, row.at);
        segment.is_some_and(|segment| describers[usize::from(segment)].is_shared())
    };
    rows.frames.iter_mut().filter(|row| is_shared(row)).for_each(|row| row.arrived_at = None);
    for id in plan.segment_ids() {
        rows.segments.extend(facts::series(id, topology.series_of(id.0), traffic.strangers(id)));
    }
    Ok(Run::new(meta, rows))
}

/// What an agent makes its node from.
///
/// # Panics
/// If `texts` cannot be written as JSON.
pub(crate) fn node_config(texts: &impl Serialize, lead: Duration) -> Vec<u8> {
    serde_json::to_vec(&NodeConfig { build: build_name(), texts, lead_ps: lead.as_ps() })
        .expect("texts can be written as JSON")
}

/// Judges the rows that agents and emulator left.
pub(crate) fn settle(prepared: &Prepared<'_>, rows: &mut RunRows) {
    Open::new(prepared).settle_all(rows);
    mark_held_up(rows);
}

/// A frame that was due while its sender was kept from its processor waited for the host, and was sent after that.
fn mark_held_up(rows: &mut RunRows) {
    let stays = Stays::new(&rows.stalls);
    for row in &mut rows.frames {
        let (Some(due_at), Some(sent_at)) = (row.due_at, row.sent_at) else { continue };
        row.stalled |= due_at < sent_at && stays.overlap(due_at, sent_at);
    }
}

/// What carries each segment's frames, and who else is on it.
struct Carriers<'p> {
    prepared: &'p Prepared<'p>,
    /// A CAN interface of the kernel that carries the frames of every CAN segment.
    interface: Option<String>,
    guests: Vec<(Guest, SegmentId)>,
}

impl<'p> Carriers<'p> {
    fn new(prepared: &'p Prepared<'p>, options: &LiveOptions) -> Result<Self, MeasureError> {
        let plan = prepared.plan();
        let buses: Vec<SegmentId> =
            plan.segment_ids().filter(|segment| prepared.kind(*segment).live_link() == LiveLink::Bus).collect();
        let interface = match &options.can {
            CanPlaceName::Interface(interface) if buses.len() > 1 => {
                return Err(MeasureError::OneInterface { interface: interface.clone(), buses: buses.len() });
            }
            CanPlaceName::Interface(interface) => Some(interface.clone()),
            CanPlaceName::Bus { .. } => None,
        };
        let Some(first) = buses.first().copied() else {
            if options.can != CanPlaceName::default() {
                return Err(MeasureError::NoCan);
            }
            return Ok(Self { prepared, interface: None, guests: Vec::new() });
        };
        // Behind stations, attackers and what the segments are made of.
        let outside = plan.all_nodes().count() as u16;
        let guest = |(number, kind)| {
            let attachment = Attachment { node: NodeId(outside + number), port: PortId(0) };
            (Guest { attachment, kind }, first)
        };
        let multicast = |port: &u16| GuestKind::Multicast(MulticastGroup { group: MulticastGroup::GROUP, port: *port });
        let kinds: Vec<GuestKind> = match &options.can {
            CanPlaceName::Interface(interface) => vec![GuestKind::Listener(interface.clone())],
            CanPlaceName::Bus { guests } => guests.iter().map(multicast).collect(),
        };
        Ok(Self { prepared, interface, guests: (0..).zip(kinds).map(guest).collect() })
    }

    /// True if somebody else carries the frames of a segment, so that it is no medium of ours.
    fn is_foreign(&self, segment: SegmentId) -> bool {
        self.interface.is_some() && self.prepared.kind(segment).live_link() == LiveLink::Bus
    }

    fn port(&self, node: NodeId, segment: SegmentId) -> PortLink {
        let kind = self.prepared.kind(segment);
        let socket = |sockets: Sockets| {
            let Sockets { address, datagrams, mtu, connections, leaves_checksum_out, held_to } = sockets;
            let end = |connection: &Connection| connection_end(connection, virtual_link::station_ip(connection.peer));
            let heard = datagrams.iter().filter(|end| !end.sends);
            let others = self.prepared.plan().node_ids().filter(|other| *other != node);
            let on_it = others.filter(|other| self.prepared.attachment(*other, segment).is_some());
            let neighbour = |node| (virtual_link::station_ip(node), virtual_link::station_address(node).0);
            PortLink::Socket(SocketLink {
                address,
                groups: heard.clone().map(|end| virtual_link::stream_ip(end.stream)).collect(),
                port: udp::PORT_TEST_BED,
                mtu,
                hardware: virtual_link::station_address(node).0,
                neighbours: on_it.map(neighbour).collect(),
                connections: connections.iter().map(end).collect(),
                parted: datagrams.iter().filter(|end| end.sends).filter_map(parted_stream).collect(),
                parted_len_max: heard.filter_map(|end| Some(end.parts?.message_len)).max().unwrap_or(0),
                leaves_checksum_out,
                held_to: held_to.map(|Rate(bits_per_s)| bits_per_s),
            })
        };
        match (kind.live_link(), &self.interface) {
            (LiveLink::Tap, _) => PortLink::Tap,
            (LiveLink::Sockets, _) => kind.sockets(self.prepared, segment, node).map_or(PortLink::Tap, socket),
            (LiveLink::Pair, _) | (LiveLink::Bus, None) => PortLink::Pair,
            (LiveLink::Bus, Some(interface)) => PortLink::CanInterface(interface.clone()),
        }
    }
}

/// A stream that leaves in several datagrams a message.
fn parted_stream(end: &Datagrams) -> Option<PartedStream> {
    Some(PartedStream { stream: end.stream.0, group: virtual_link::stream_ip(end.stream), parts: parts(end)? })
}

/// How the messages of a stream are cut, if they travel in several datagrams.
pub(crate) fn parts(end: &Datagrams) -> Option<Parts> {
    end.parts.map(|parts| Parts { message_len: parts.message_len, data_len: parts.data_len })
}

/// The end of a connection whose other end is at an address.
pub(crate) fn connection_end(connection: &Connection, peer: [u8; 4]) -> ConnectionEnd {
    let Connection { stream, over, sends, message_len, .. } = *connection;
    ConnectionEnd { stream: stream.0, transport: transport(over), peer, sends, message_len }
}

/// The life of an agent process, for binaries whose [`LiveOptions::agent_command`] ends up in them. `plan_of` makes the plan of
/// the controller again, from the texts that it gave to [`measure`].
pub fn agent_main<T, E>(plan_of: impl Fn(&T) -> Result<Plan, E>) -> ExitCode
where
    T: DeserializeOwned,
    E: Into<FactoryError>,
{
    agent_main_with(Kinds::BUILT_IN, &NoTransports, plan_of)
}

/// [`agent_main`] for plans with other kinds of segments, those that the controller prepared its plan with, and for a program that has
/// `transports` beside the kernel's.
pub fn agent_main_with<T, E>(
    kinds: Kinds,
    transports: &dyn Transports,
    plan_of: impl Fn(&T) -> Result<Plan, E>,
) -> ExitCode
where
    T: DeserializeOwned,
    E: Into<FactoryError>,
{
    chronoseal_testbed::agent_main_together(transports, |config, ids| {
        let config: NodeConfig<T> = serde_json::from_slice(config).map_err(|error| error.to_string())?;
        let own = build_name();
        if config.build != own {
            return Err(OtherBuild { wanted: config.build, own }.into());
        }
        let plan = plan_of(&config.texts).map_err(Into::into)?;
        build(&plan, kinds, Duration::from_ps(config.lead_ps), ids)
    })
}

fn build(plan: &Plan, kinds: Kinds, lead: Duration, ids: &[NodeId]) -> Result<Vec<Box<dyn Node + Send>>, FactoryError> {
    let prepared = Prepared::with_kinds(plan, kinds).map_err(|infeasible| infeasible.to_string())?;
    let options =
        BuildOptions { lead, medium_late_max: BEACON_LATE_MAX, hand_over_max: HAND_OVER_MAX, whole_messages: true };
    let node = |id: &NodeId| Ok(prepared.node(*id, options).map_err(|error| error.to_string())?);
    ids.iter().map(node).collect()
}

/// Every node that is a process, or a part of one, its ports as `port` says.
pub(crate) fn agents(
    prepared: &Prepared<'_>,
    port: &dyn Fn(NodeId, SegmentId) -> PortLink,
    placement: Option<Placement>,
) -> Vec<AgentConfig> {
    let plan = prepared.plan();
    // What others wrote may compute without end, so it stays off the emulator's processor unless it is wanted there.
    let cpus = chronoseal_testbed::cpus_of_programs(placement);
    // Who sits in a gateway is no process of its own.
    let has_ports = |id: &NodeId| !prepared.attachments(*id).is_empty();
    plan.node_ids()
        .filter(has_ports)
        .map(|id| {
            let clock = plan.nodes.get(id.index()).map(|node| node.clock);
            let (offset, drift) = clock.map_or((Duration::ZERO, Ppm(0)), |clock| (clock.offset, clock.drift));
            AgentConfig {
                name: plan.node_name(id),
                home: match prepared.live_home(id) {
                    LiveHome::Own => Home::Own,
                    LiveHome::Aside => Home::Aside,
                    LiveHome::Shared => Home::Shared,
                },
                ports: prepared.attachments(id).iter().map(|(_, segment)| port(id, *segment)).collect(),
                program: plan.nodes.get(id.index()).and_then(|node| node.program.as_ref()).map(|program| Program {
                    command: program.command.clone(),
                    from_ps: program.from.as_ps(),
                    cpus: cpus.clone(),
                    streams: program_streams(prepared, id),
                }),
                offset,
                drift,
                is_attacker: plan.attacker(id).is_some(),
                is_taken_over: plan.attackers.iter().any(|attacker| attacker.place == AttackPlace::AtNode(id)),
                ..AgentConfig::new(id)
            }
        })
        .collect()
}

/// The streams that a node's program carries.
fn program_streams(prepared: &Prepared<'_>, node: NodeId) -> Vec<ProgramStream> {
    let plan = prepared.plan();
    let address = |node: &NodeId| virtual_link::station_ip(*node).map(|byte| byte.to_string()).join(".");
    let segments = plan.nodes.get(node.index()).map_or(&[][..], |node| &node.interfaces);
    let carried = segments.iter().flat_map(|id| prepared.kind(*id).carried_by_programs(prepared, *id, node));
    let stream = |(id, sends): (StreamId, bool)| {
        let stream = &plan.streams[id.index()];
        ProgramStream {
            number: id.0,
            name: stream.name.clone(),
            sends,
            peers: if sends { stream.receivers.iter().map(address).collect() } else { vec![address(&stream.sender)] },
            period_ns: stream.period.as_ns(),
            offset_ns: stream.offset.unwrap_or_default().as_ns(),
            length: stream.length,
        }
    };
    carried.map(stream).collect()
}

/// A stream that programs carry, and one of its nodes has none: that of a middleware, whose programs are not in the scenario.
pub(crate) fn carried_by_nobody<'p>(prepared: &Prepared<'p>) -> Option<&'p str> {
    let plan = prepared.plan();
    let is_idle = |node: &NodeId| plan.nodes.get(node.index()).is_some_and(|node| node.program.is_none());
    let stream = plan.node_ids().filter(is_idle).find_map(|node| program_streams(prepared, node).into_iter().next())?;
    plan.streams.get(usize::from(stream.number)).map(|stream| stream.name.as_str())
}

fn program_meta(plan: &Plan, end: &ProgramEnd) -> ProgramMeta {
    let program = plan.nodes.get(end.node.index()).and_then(|node| node.program.as_ref());
    ProgramMeta {
        node: end.node.0,
        command: program.map(|program| program.command.clone()).unwrap_or_default(),
        ended_ns: end.ended_at.map(|at| at.since_zero().as_ns()),
        how: end.how.clone(),
        is_well: end.is_well,
        printed: end.printed.clone(),
        processor_ns: end.usage.processor_ps.map(|ps| Duration::from_ps(ps).as_ns()),
        memory: end.usage.memory,
        serialized: end.usage.serialized.clone(),
    }
}

/// What a reader has to know of nodes that share a process, in the order of their numbers.
fn shared_process(prepared: &Prepared<'_>, shared: &[NodeId]) -> Option<(String, String)> {
    let name = |id: &NodeId| prepared.plan().node_name(*id);
    let what = "a message is taken apart and verified there once for all, so their processor time is not shown";
    let nodes = match shared {
        [] => return None,
        [one] => name(one),
        [first, .., last] => format!("{} nodes, {} to {}", shared.len(), name(first), name(last)),
    };
    Some(("in one process".into(), format!("{nodes}; {what}")))
}

pub(crate) fn host_facts(outcome: &LiveOutcome) -> Vec<(String, String)> {
    let host = &outcome.host;
    let cpu = host.emulator_cpu.map_or_else(|| "any".into(), |cpu| cpu.to_string());
    let is_veth = host.agents.iter().any(|agent| agent.wires == Wires::Veth);
    let wires = match is_veth {
        true => {
            "veth pairs with packet sockets, slower than TAP interfaces: /dev/net/tun cannot be opened, or was not to be"
        }
        false => "TAP interfaces where stations have any",
    };
    let sum = |count: fn(&chronoseal_testbed::AgentCounts) -> u64| outcome.counts.iter().map(count).sum::<u64>();
    let own = [
        ("emulator".into(), format!("processor {cpu}, {}", scheduling(host.emulator_fifo))),
        ("processors".into(), host.cpus.to_string()),
        ("wires".into(), wires.into()),
        ("frames handed over by stations".into(), sum(|counts| counts.sent).to_string()),
        ("of these never seen by the emulator".into(), sum(|counts| counts.lost).to_string()),
        ("frames written to stations".into(), sum(|counts| counts.written).to_string()),
        ("of these never seen by the station".into(), sum(|counts| counts.unread).to_string()),
    ];
    host.state.facts().into_iter().chain(own).collect()
}

/// How long a connection took to be there, by the name of its stream.
fn connection_fact(plan: &Plan, fact: &ConnectionFact) -> Fact {
    let stream = plan.streams.get(fact.stream.index()).map_or("", |stream| &stream.name);
    let over = match fact.transport {
        Transport::Tcp => "TCP",
        Transport::Tls => "TLS",
        Transport::Quic => "QUIC",
    };
    let how = match fact.opened_after {
        Some(time) if fact.transport.is_secured() => format!("secured {time} after it was dialled"),
        Some(time) => format!("open {time} after it was dialled"),
        None => "never open".into(),
    };
    (format!("{over} of {stream} to {}", plan.node_name(fact.receiver)), how)
}

fn scheduling(fifo: bool) -> &'static str {
    if fifo { "SCHED_FIFO" } else { "SCHED_OTHER: the kernel's time slices show in every figure" }
}
