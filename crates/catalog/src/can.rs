//! Nodes and medium of a CAN bus.

mod agent;
mod attack;

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{Duration, Node, NodeId, Oscillator, PortId, StreamId};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::secoc::{FreshnessFormat, SecOcProfile};
use chronoseal_media::can::{
    BusStatistics, CanBusConfig, CanNetwork, CanNetworkConfig, ControllerConfig, GatewayConfig, GatewayRoute, IdFilter,
    QueueOrder,
};
use chronoseal_media::medium::Attachment;
use chronoseal_nodes::CanStation;
use chronoseal_nodes::can_station::{
    ListenerConfig, MessageProtection, ReplayConfig, StationConfig, SyncConfig, TalkerConfig,
};
use chronoseal_scenario::plan::{BackgroundPlan, CanPlan, CanProtectionKind, MessagePlan};
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId, ExtendedId, StandardId};

/// Frames a controller and its driver hold. The orchestrator of the symmetric scheme queues a message of twelve classical
/// frames for each member at once.
const QUEUE_LEN: usize = 2048;
/// Windows of the bus load that is kept.
pub const LOAD_WINDOW: Duration = Duration::from_ms(10);

/// Every node that a driver runs: stations, then attackers.
pub fn node_ids(plan: &CanPlan) -> impl Iterator<Item = NodeId> + use<> {
    (0..(plan.nodes.len() + plan.attacks.len()) as u16).map(NodeId)
}

/// The name of a node.
pub fn node_name(plan: &CanPlan, id: NodeId) -> String {
    match plan.nodes.get(id.index()) {
        Some(station) => station.name.clone(),
        None => plan.attacks[id.index() - plan.nodes.len()].name.clone(),
    }
}

/// The port of a node.
pub const fn attachment(id: NodeId) -> Attachment {
    Attachment { node: id, port: PortId(0) }
}

/// The oscillator of one node.
///
/// # Panics
/// If `id` is not among [`node_ids`].
pub fn oscillator(plan: &CanPlan, id: NodeId) -> Oscillator {
    // Attackers know true time.
    let clock = plan.nodes.get(id.index()).map(|station| station.clock);
    clock.map_or_else(Oscillator::default, |clock| Oscillator::new(clock.offset, clock.drift))
}

/// The bus of a plan.
///
/// # Panics
/// Never: what a plan holds is a possible network.
pub fn bus(plan: &CanPlan) -> CanNetwork {
    bus_with(plan, [])
}

/// [`bus`], with further controllers on it.
///
/// # Panics
/// If one of them is a node of the plan.
pub fn bus_with(plan: &CanPlan, others: impl IntoIterator<Item = ControllerConfig>) -> CanNetwork {
    let queue_order = if plan.bus.fifo_mailboxes { QueueOrder::Fifo } else { QueueOrder::ByIdentifier };
    // Attackers sit on the first bus.
    let bus_of = |id: NodeId| plan.nodes.get(id.index()).map_or(0, |station| station.bus);
    let controller =
        |id| ControllerConfig { queue_order, queue_len_max: QUEUE_LEN, ..ControllerConfig::new(attachment(id)) };
    let mut buses: Vec<CanBusConfig> = (0..plan.bus.count)
        .map(|bus| CanBusConfig {
            timing: plan.bus.timing,
            carries_fd: true,
            controllers: node_ids(plan).filter(|id| bus_of(*id) == bus).map(controller).collect(),
            bits_between_errors: None,
            faults: Vec::new(),
            babblers: Vec::new(),
            load_window: Some(LOAD_WINDOW),
        })
        .collect();
    buses[0].controllers.extend(others);
    CanNetwork::new(CanNetworkConfig { buses, gateways: gateway(plan).into_iter().collect(), seed: plan.seed })
        .expect("one bus with one controller for each node and guest")
}

/// The gateway between the buses of a plan, if it has several: it passes every frame on to all others.
fn gateway(plan: &CanPlan) -> Option<GatewayConfig> {
    let buses = || 0..plan.bus.count;
    let every = [CanId::Standard(StandardId::ZERO), CanId::Extended(ExtendedId::default())];
    let routes = buses().flat_map(|from| {
        buses()
            .filter(move |to| *to != from)
            .flat_map(move |to| every.map(|id| GatewayRoute { from, filter: IdFilter { id, mask: 0 }, to }))
    });
    Some(GatewayConfig {
        node: plan.gateway()?,
        buses: buses().collect(),
        delay: plan.bus.gateway_delay,
        queue_len_max: QUEUE_LEN,
        routes: routes.collect(),
    })
}

/// The state machine of one node.
///
/// # Errors
/// Why its key agent cannot be made.
///
/// # Panics
/// If `id` is not among [`node_ids`].
pub fn node(plan: &CanPlan, id: NodeId) -> Result<Box<dyn Node + Send>, String> {
    if let Some(attack) = id.index().checked_sub(plan.nodes.len()).map(|index| &plan.attacks[index]) {
        return attack::attacker(plan, attack);
    }
    let messages = || plan.messages.iter().enumerate().map(|(index, message)| (StreamId(index as u16), message));
    let background = || plan.background.iter().enumerate();
    let mut listeners: Vec<ListenerConfig> = messages()
        .filter(|(_, message)| message.receivers.contains(&id))
        .map(|(stream, message)| ListenerConfig {
            stream,
            id: message.id,
            len: usize::from(message.len),
            counts_itself: false,
            protection: protection(plan, stream, message),
        })
        .collect();
    for (index, recording) in background().filter(|(_, recording)| monitor(plan, recording) == Some(id)) {
        listeners.extend(recorded_ids(recording).into_iter().map(|id| ListenerConfig {
            stream: plan.background_stream(index),
            id,
            len: 0,
            counts_itself: true,
            protection: MessageProtection::None,
        }));
    }
    let config = StationConfig {
        node: id,
        talkers: messages()
            .filter(|(_, message)| message.sender == id)
            .map(|(stream, message)| TalkerConfig {
                stream,
                id: message.id,
                kind: message.kind,
                len: usize::from(message.len),
                period: message.period,
                offset: message.offset,
                fill: fill(plan, stream, usize::from(message.len)),
                protection: protection(plan, stream, message),
            })
            .collect(),
        listeners,
        replays: background()
            .filter(|(_, recording)| recording.node == id)
            .map(|(index, recording)| ReplayConfig {
                stream: plan.background_stream(index),
                frames: recording.frames.clone(),
                length: recording.length,
                start: recording.start,
            })
            .collect(),
        synchronisation: synchronisation(plan, id),
    };
    Ok(Box::new(CanStation::new(config, agent::agent(plan, id)?)))
}

/// How a node comes to trip and reset counters. Every run is the first trip: nothing is stored from one to the next.
fn synchronisation(plan: &CanPlan, id: NodeId) -> Option<SyncConfig> {
    let freshness = plan.freshness.as_ref()?;
    let is_master = freshness.master == id;
    let stream = plan.freshness_stream();
    let profile = SecOcProfile::profile_3();
    let FreshnessFormat::TripReset(layout) = profile.freshness() else { return None };
    (is_master || freshness.slaves.contains(&id)).then(|| SyncConfig {
        is_master,
        stream,
        id: freshness.id,
        period: freshness.period,
        layout,
        tag_bits: profile.tag_bits(),
        key: (!freshness.under_group_key).then(|| Key128::from_array(seeded(plan, Purpose::Key, u64::from(stream.0)))),
        data_id: stream.0,
        last_trip: 0,
    })
}

/// The node that takes note of a recording's frames: all others receive them at the same time.
pub fn monitor(plan: &CanPlan, recording: &BackgroundPlan) -> Option<NodeId> {
    (0..plan.nodes.len() as u16).map(NodeId).find(|id| *id != recording.node)
}

fn recorded_ids(recording: &BackgroundPlan) -> BTreeSet<CanId> {
    recording.frames.iter().map(|(_, frame)| frame.id()).collect()
}

fn protection(plan: &CanPlan, stream: StreamId, message: &MessagePlan) -> MessageProtection {
    match plan.protection_of(message).kind {
        CanProtectionKind::None => MessageProtection::None,
        CanProtectionKind::SecOc { profile, under_group_key } => MessageProtection::SecOc {
            profile,
            key: (!under_group_key).then(|| Key128::from_array(seeded(plan, Purpose::Key, u64::from(stream.0)))),
            data_id: stream.0,
        },
    }
}

/// Seeded bytes for the part of a message that nothing else fills.
fn fill(plan: &CanPlan, stream: StreamId, len: usize) -> Vec<u8> {
    let bytes: [u8; 64] = seeded(plan, Purpose::Payload, u64::from(stream.0));
    bytes[..len].to_vec()
}

fn seeded<const N: usize>(plan: &CanPlan, purpose: Purpose, index: u64) -> [u8; N] {
    let mut bytes = [0; N];
    random::stream(plan.seed, purpose, index).fill_bytes(&mut bytes);
    bytes
}

/// The use of a plan's buses: counts of all, times of the busiest.
pub fn statistics(plan: &CanPlan, network: &CanNetwork) -> BusStatistics {
    let buses: Vec<&BusStatistics> = (0..plan.bus.count).filter_map(|bus| network.statistics(bus)).collect();
    let mut all = buses.iter().copied().max_by_key(|bus| bus.busy).cloned().unwrap_or_default();
    let sum = |count: fn(&BusStatistics) -> u64| buses.iter().map(|bus| count(bus)).sum();
    all.frames = sum(|bus| bus.frames);
    all.failed_attempts = sum(|bus| bus.failed_attempts);
    all.lost_arbitrations = sum(|bus| bus.lost_arbitrations);
    all
}

/// What a frame on the bus is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CanDescription {
    /// A message, a recording, the synchronisation message, or [`StreamId::NONE`] for a frame of a key exchange.
    pub stream: StreamId,
    /// Who sends it.
    pub sender: Option<NodeId>,
    /// It has to be received so long after its sender had it ready.
    pub deadline: Option<Duration>,
}

/// Describes the frames of one plan.
#[derive(Clone, Debug)]
pub struct CanDescriber {
    by_id: BTreeMap<CanId, CanDescription>,
}

impl CanDescriber {
    /// For the frames of a plan. The deadline of a recorded identifier is the median of its distances.
    pub fn new(plan: &CanPlan) -> Self {
        let mut by_id = BTreeMap::new();
        for (index, recording) in plan.background.iter().enumerate() {
            let stream = plan.background_stream(index);
            for (id, deadline) in median_distances(&recording.frames) {
                by_id.insert(id, CanDescription { stream, sender: Some(recording.node), deadline });
            }
        }
        for (index, message) in plan.messages.iter().enumerate() {
            let described = CanDescription {
                stream: StreamId(index as u16),
                sender: Some(message.sender),
                deadline: Some(message.deadline),
            };
            by_id.insert(message.id, described);
        }
        if let Some(freshness) = &plan.freshness {
            let described = CanDescription {
                stream: plan.freshness_stream(),
                sender: Some(freshness.master),
                deadline: Some(freshness.period),
            };
            by_id.insert(freshness.id, described);
        }
        Self { by_id }
    }

    /// Describes a frame in the layout of the seam.
    pub fn describe(&self, bytes: &[u8]) -> CanDescription {
        let known = CanFrameView::new_checked(bytes).ok().and_then(|view| self.by_id.get(&view.id()).copied());
        known.unwrap_or(CanDescription { stream: StreamId::NONE, sender: None, deadline: None })
    }
}

/// The median distance of each identifier's frames; `None` for one that occurs once.
pub fn median_distances(frames: &[(Duration, CanFrame)]) -> BTreeMap<CanId, Option<Duration>> {
    let mut times: BTreeMap<CanId, Vec<Duration>> = BTreeMap::new();
    for (at, frame) in frames {
        times.entry(frame.id()).or_default().push(*at);
    }
    times
        .into_iter()
        .map(|(id, times)| {
            let mut distances: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
            distances.sort();
            let median = chronoseal_core::statistics::median(&distances);
            (id, median.filter(|distance| *distance > Duration::ZERO))
        })
        .collect()
}
