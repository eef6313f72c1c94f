//! CAN: a bus, its stations and attackers.

mod agent;
mod attack;
mod describe;

use std::collections::BTreeSet;

use chronoseal_analysis::Infeasible;
use chronoseal_core::{Node, NodeId, Rate};
use chronoseal_frameauth::{DataId, MacAlgorithm};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig, QueueOrder};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_nodes::can_station::{
    BridgeConfig, ListenerConfig, Numbering, RelayConfig, ReplayConfig, SegmentedConfig, SegmentedTimeouts,
    StationConfig, SyncConfig, TalkerConfig,
};
use chronoseal_nodes::gateway::Stack;
use chronoseal_nodes::{CanStation, Protection};
use chronoseal_plan::{CAN, Can, CanMessage, CanRecording, Facet, Plan, SegmentId, stream_key};
use chronoseal_wire::can::{CanId, FrameKind};

use crate::{
    BuildError, BuildOptions, Describe, Kind, LiveLink, Prepared, fill, gateway, load_window, pace, protection, signal,
};

/// Frames a controller and its driver hold. The orchestrator of the symmetric scheme queues a message of twelve classical
/// frames for each member at once.
const QUEUE_LEN: usize = 2048;
/// Frames that the controller of a guest holds: a script may send bursts that no ECU would.
const GUEST_QUEUE_LEN: usize = 1024;
/// LINKTYPE_CAN_SOCKETCAN.
const LINK_TYPE: u16 = 227;

/// The row of CAN.
#[derive(Clone, Copy, Debug)]
pub struct CanKind;

/// A segment of this kind.
///
/// # Panics
/// If the segment is not of this kind: rows are asked for segments of their own kind only.
fn view_of<'p>(prepared: &Prepared<'p>, segment: SegmentId) -> Can<'p> {
    Can::of(prepared.plan(), segment).expect("a row is asked for segments of its own kind")
}

impl Kind for CanKind {
    fn name(&self) -> &'static str {
        CAN
    }

    fn prepare(&self, _: &Plan, _: SegmentId) -> Result<Facet, Box<Infeasible>> {
        // Arbitration needs no table.
        Ok(Facet::new(()))
    }

    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError> {
        Ok(Box::new(bus(prepared, segment, guests)?))
    }

    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        let view = view_of(prepared, segment);
        Ok(Box::new(CanStation::new(station(view, node), agent::agent(view.plan, node)?)?))
    }

    fn stack(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError> {
        let view = view_of(prepared, segment);
        Ok(Box::new(CanStation::of_gateway(station(view, node), agent::agent_on(view.plan, node, segment)?)?))
    }

    fn attacker(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        attack::attacker(view_of(prepared, segment), node)
    }

    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe> {
        Box::new(describe::Describer::new(view_of(prepared, segment)))
    }

    fn live_link(&self) -> LiveLink {
        LiveLink::Bus
    }

    fn bridges_frames(&self) -> bool {
        true
    }

    fn link_type(&self) -> u16 {
        LINK_TYPE
    }

    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        let bits = &view_of(prepared, segment).segment.bits;
        let in_kbit = |rate: Rate| format!("{} kbit/s", rate.0 / 1000);
        let mut properties = vec![("bit rate", in_kbit(bits.nominal_rate))];
        if bits.data_rate != bits.nominal_rate {
            properties.push(("data bit rate", in_kbit(bits.data_rate)));
        }
        properties.push(("a latency counts from", "the moment the sender's controller has the frame".into()));
        properties.push(("and to", "the moment the receiver has checked it".into()));
        properties
    }
}

/// The bus of a segment, with further controllers on it.
///
/// # Errors
/// [`BuildError`] if a guest has the port of a node.
pub fn bus(prepared: &Prepared<'_>, segment: SegmentId, guests: &[Attachment]) -> Result<CanBus, BuildError> {
    let view = view_of(prepared, segment);
    let queue_order = if view.segment.fifo_mailboxes { QueueOrder::Fifo } else { QueueOrder::ByIdentifier };
    let controller =
        |attachment| ControllerConfig { queue_order, queue_len_max: QUEUE_LEN, ..ControllerConfig::new(attachment) };
    let own = view.plan.node_ids().filter_map(|id| prepared.attachment(id, segment)).map(controller);
    let of_guest = |at: &Attachment| ControllerConfig { queue_len_max: GUEST_QUEUE_LEN, ..ControllerConfig::new(*at) };
    let config = CanBusConfig {
        timing: view.segment.timing,
        carries_fd: true,
        controllers: own.chain(guests.iter().map(of_guest)).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: Some(load_window(view.plan)),
    };
    // Each segment draws its own errors; the first one's are those of a plan with one segment.
    Ok(CanBus::new(config, view.plan.seed.wrapping_add(u64::from(segment.0) << 48))?)
}

/// What a station sends, receives and replays.
fn station(view: Can<'_>, id: NodeId) -> StationConfig {
    let plan = view.plan;
    let mut listeners: Vec<ListenerConfig> = view
        .messages()
        .filter(|message| message.hop.to.contains(&id) && message.stream.collected().is_none())
        .map(|message| listener(view, &message, id))
        .collect();
    for (stream_id, _, recording) in view.recordings().filter(|(_, stream, _)| stream.receivers.contains(&id)) {
        listeners.extend(recorded_ids(recording).into_iter().map(|id| ListenerConfig {
            numbering: Numbering::Counted,
            ..ListenerConfig::new(stream_id, id, 0, Protection::NONE)
        }));
    }
    listeners.extend(passing_synchronisation(view, id));
    StationConfig {
        node: id,
        talkers: view
            .messages()
            .filter(|message| message.hop.from == id && message.hop.previous.is_none())
            .filter(|message| message.stream.collected().is_none())
            .map(|message| TalkerConfig {
                stream: message.stream_id,
                id: message.id,
                kind: message.kind,
                len: message.hop.frame_len as usize,
                pace: pace(plan, message.stream),
                offset: message.stream.offset.unwrap_or_default(),
                fill: fill(plan, message.stream_id, message.hop.frame_len as usize),
                signal: signal(plan, message.stream),
                protection: protection(view, &message),
            })
            .collect(),
        listeners,
        replays: view
            .recordings()
            .filter(|(_, stream, _)| stream.sender == id)
            .map(|(stream, _, recording)| ReplayConfig {
                stream,
                frames: recording.frames.clone(),
                length: recording.length,
                start: recording.start,
            })
            .collect(),
        synchronisation: synchronisation(view, id),
        containers: view
            .messages()
            .filter(|message| message.hop.to.contains(&id))
            .filter_map(|message| {
                let container = gateway::container(plan, message.stream_id, id, protection(view, &message))?;
                Some((message.id, container))
            })
            .collect(),
        collects: view
            .messages()
            .filter(|message| message.hop.from == id && message.stream.collected().is_some())
            .map(|message| RelayConfig {
                stream: message.stream_id,
                id: message.id,
                kind: message.kind,
                len: message.stream.length as usize,
                protection: protection(view, &message),
            })
            .collect(),
        relays: view
            .messages()
            .filter(|message| message.hop.from == id && message.hop.previous.is_some())
            .map(|message| relay(view, &message))
            .chain(relayed_synchronisation(view, id))
            .collect(),
        relay_queue_len_max: plan.nodes[id.index()].gateway.as_ref().map_or(0, |gateway| gateway.queue_len_max),
        bridge: bridge(view, id),
        segmented: segmented(view, id),
    }
}

/// The streams that a node sends or takes in several frames each.
fn segmented(view: Can<'_>, id: NodeId) -> Vec<SegmentedConfig> {
    let is_on_it = |message: &CanMessage<'_>| message.hop.from == id || message.hop.to.contains(&id);
    view.messages().filter(is_on_it).filter_map(|message| segmented_config(&message)).collect()
}

/// How a stream is cut into frames, if it is.
fn segmented_config(message: &CanMessage<'_>) -> Option<SegmentedConfig> {
    let plan = message.segmented?;
    let timeouts = SegmentedTimeouts { n_bs: plan.n_bs, n_cr: plan.n_cr, ..SegmentedTimeouts::default() };
    let ids = [message.id, plan.flow_control];
    let config =
        SegmentedConfig::new(message.stream_id, ids, message.kind, plan.block_size, plan.separation_time, timeouts);
    Some(config.expect("resolving keeps every span above zero and at most a second"))
}

/// Frames of no stream that go on from a node.
fn bridge(view: Can<'_>, id: NodeId) -> BridgeConfig {
    let passes = view.plan.nodes[id.index()].gateway.as_ref().map_or_else(Vec::new, |gateway| gateway.bridges.clone());
    let except = if passes.is_empty() { BTreeSet::new() } else { view.identifiers().collect() };
    BridgeConfig { passes, except }
}

/// The synchronisation message at a gateway that takes it on and does not follow it.
fn passing_synchronisation(view: Can<'_>, id: NodeId) -> Option<ListenerConfig> {
    let freshness = view.plan.freshness.as_ref()?;
    let (stream_id, stream, hop, can_id) = view.synchronisation()?;
    let only_passes = hop.to.contains(&id) && !stream.receivers.contains(&id);
    only_passes.then(|| ListenerConfig {
        delivers: false,
        numbering: Numbering::Counters(freshness.layout),
        hands_over: gateway::hand_over(view.plan, stream, hop, id),
        ..ListenerConfig::new(stream_id, can_id, hop.frame_len as usize, Protection::NONE)
    })
}

/// The synchronisation message at a gateway to which another segment brings it.
fn relayed_synchronisation(view: Can<'_>, id: NodeId) -> Option<RelayConfig> {
    let (stream, _, hop, can_id) = view.synchronisation()?;
    let len = hop.frame_len as usize;
    let is_relay = hop.from == id && hop.previous.is_some();
    let kind = FrameKind::Classical;
    is_relay.then_some(RelayConfig { stream, id: can_id, kind, len, protection: Protection::NONE })
}

/// A message at a node that uses it, or passes it on.
fn listener(view: Can<'_>, message: &CanMessage<'_>, id: NodeId) -> ListenerConfig {
    let CanMessage { stream, hop, .. } = message;
    let delivers = stream.receivers.contains(&id);
    // What only passes by is opened at the end of its way.
    let passes = hop.protection.is_none() && !delivers;
    ListenerConfig {
        delivers,
        hands_over: gateway::hand_over(view.plan, stream, hop, id),
        supervision: gateway::supervision(stream, id),
        ..ListenerConfig::new(
            message.stream_id,
            message.id,
            hop.frame_len as usize,
            if passes { Protection::NONE } else { protection(view, message) },
        )
    }
}

/// A message that comes to its sender on another segment.
fn relay(view: Can<'_>, message: &CanMessage<'_>) -> RelayConfig {
    let (len, protection) = match message.hop.protection {
        Some(_) => (message.hop.frame_len as usize, protection(view, message)),
        None => (gateway::sealed_len(view.plan, message.stream), Protection::NONE),
    };
    RelayConfig { stream: message.stream_id, id: message.id, kind: message.kind, len, protection }
}

/// How a node comes to trip and reset counters. Every run is the first trip: nothing is stored from one to the next.
fn synchronisation(view: Can<'_>, id: NodeId) -> Option<SyncConfig> {
    let freshness = view.plan.freshness.as_ref()?;
    let (stream, plan, hop, _) = view.synchronisation()?;
    let is_master = freshness.master == id && hop.from == id;
    let follows = freshness.slaves.contains(&id) && hop.to.contains(&id);
    (is_master || follows).then(|| SyncConfig {
        is_master,
        hands_over: plan.goes_on(hop, id),
        stream,
        id: freshness.id,
        period: freshness.period,
        layout: freshness.layout,
        mac: MacAlgorithm::CmacAes128,
        tag_bits: freshness.tag_bits,
        key: (!freshness.under_group_key).then(|| stream_key(view.plan.seed, stream)),
        data_id: DataId::number(stream.0),
        last_trip: 0,
    })
}

fn recorded_ids(recording: &CanRecording) -> BTreeSet<CanId> {
    recording.frames.iter().map(|(_, frame)| frame.id()).collect()
}

fn protection(view: Can<'_>, message: &CanMessage<'_>) -> Protection {
    protection::on_hop(view.plan, message.stream_id, message.hop, message.stream_id.0)
}
