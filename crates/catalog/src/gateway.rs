//! Nodes with several interfaces.

use chronoseal_core::{Duration, NodeId, PortId, StreamId};
use chronoseal_nodes::container::{ContainedConfig, ContainerConfig};
use chronoseal_nodes::gateway::{CollectConfig, HandOver, RelayAttack, Route};
use chronoseal_nodes::{Gateway, GatewayConfig, Protection, SupervisionConfig};
use chronoseal_plan::{AttackPlace, CollectPlan, HopPlan, Plan, SegmentId, StreamPlan};

use crate::{BuildError, BuildOptions, Prepared, protection};

/// A node with one interface to each of its segments.
pub(super) fn build(prepared: &Prepared<'_>, id: NodeId, options: BuildOptions) -> Result<Gateway, BuildError> {
    let plan = prepared.plan();
    let node = &plan.nodes[id.index()];
    let stacks = node.interfaces.iter().map(|segment| prepared.kind(*segment).stack(prepared, *segment, id, options));
    let gateway = node.gateway.as_ref();
    let config = GatewayConfig {
        routes: [routes(prepared, id), bridges(prepared, id)].concat(),
        collects: collects(prepared, id),
        delay: gateway.map_or_else(Default::default, |gateway| gateway.delay),
        waiting_max: gateway.map_or(0, |gateway| gateway.queue_len_max),
        reboot: gateway.and_then(|gateway| gateway.reboot).map(|reboot| (reboot.at, reboot.takes)),
        attacks: attacks(plan, id),
        second_ports: second_ports(prepared, id),
        sent_also: sent_also(prepared, id),
    };
    Ok(Gateway::new(config, stacks.collect::<Result<_, _>>()?))
}

/// The first port to each segment to which a node has two, in the order of the second ones.
fn second_ports(prepared: &Prepared<'_>, id: NodeId) -> Vec<PortId> {
    let attachments = prepared.attachments(id);
    let second = attachments.iter().skip(prepared.plan().nodes[id.index()].interfaces.len());
    second.filter_map(|(_, segment)| Some(prepared.attachment(id, *segment)?.port)).collect()
}

/// Where streams go on from a node.
fn routes(prepared: &Prepared<'_>, id: NodeId) -> Vec<Route> {
    let plan = prepared.plan();
    let port = |segment: SegmentId| prepared.attachment(id, segment).map(|attachment| attachment.port);
    let of_stream = |(stream, plan): (_, &StreamPlan)| {
        let route = |hop: &HopPlan| {
            let before = plan.hops.get(usize::from(hop.previous?))?;
            Some(Route { stream, from: port(before.segment)?, to: port(hop.segment)? })
        };
        plan.hops.iter().filter(|hop| hop.from == id).filter_map(route).collect::<Vec<_>>()
    };
    plan.stream_ids().zip(&plan.streams).flat_map(of_stream).collect()
}

/// Where the streams of a node begin, without the first of these ports of each.
fn sent_also(prepared: &Prepared<'_>, id: NodeId) -> Vec<(StreamId, PortId)> {
    let plan = prepared.plan();
    let own = plan.stream_ids().zip(&plan.streams).filter(|(_, stream)| stream.sender == id);
    own.flat_map(|(stream, plan)| {
        let begins = plan.hops.iter().filter(|hop| hop.previous.is_none());
        let ports = begins.filter_map(|hop| Some(prepared.attachment(id, hop.segment)?.port));
        ports.skip(1).map(move |port| (stream, port))
    })
    .collect()
}

/// Where frames of no stream go on: from each port that has them to all others.
fn bridges(prepared: &Prepared<'_>, id: NodeId) -> Vec<Route> {
    let bridges = prepared.plan().nodes[id.index()].gateway.as_ref().is_some_and(|gateway| !gateway.bridges.is_empty());
    let is_bridged = |segment: SegmentId| bridges && prepared.kind(segment).bridges_frames();
    let ports: Vec<PortId> = prepared
        .attachments(id)
        .into_iter()
        .filter(|(_, segment)| is_bridged(*segment))
        .map(|(attachment, _)| attachment.port)
        .collect();
    let route = |from: PortId, to: PortId| Route { stream: StreamId::NONE, from, to };
    let from = |from: PortId| ports.iter().filter(move |to| **to != from).map(move |to| route(from, *to));
    ports.iter().copied().flat_map(from).collect()
}

/// Which streams leave a node in frames with others.
fn collects(prepared: &Prepared<'_>, id: NodeId) -> Vec<CollectConfig> {
    let plan = prepared.plan();
    let config = |(container, stream): (StreamId, &StreamPlan)| {
        let (collect, hop) = (stream.collected()?, stream.hops.first().filter(|hop| hop.from == id)?);
        let member = |(id, stream, hop): (StreamId, &StreamPlan, &HopPlan)| {
            (id, CollectPlan::pdu_id(id), plan.contained_len(stream, hop) as usize)
        };
        Some(CollectConfig {
            container,
            port: prepared.attachment(id, hop.segment)?.port,
            streams: plan.contained_in(container).map(member).collect(),
            header: collect.header,
            len_max: stream.length as usize,
            within: collect.within,
        })
    };
    plan.stream_ids().zip(&plan.streams).filter_map(config).collect()
}

/// What a node does with the PDUs in a container, whose frames are protected by `protection` there.
pub fn container(plan: &Plan, id: StreamId, node: NodeId, protection: Protection) -> Option<ContainerConfig> {
    let collect = plan.streams[id.index()].collected()?;
    let pdu = |(member, stream, hop): (StreamId, &StreamPlan, &HopPlan)| {
        let delivers = stream.receivers.contains(&node);
        let config = || ContainedConfig {
            stream: member,
            pdu_len: plan.contained_len(stream, hop) as usize,
            len: stream.length as usize,
            delivers,
            hands_over: hand_over(plan, stream, hop, node),
            supervision: supervision(stream, node),
            // What only passes by is opened at the end of its way; what is protected on this hop is under the frame's tag.
            protection: match delivers && hop.protection.is_none() {
                true => protection::on_hop(plan, member, hop, member.0),
                false => Protection::NONE,
            },
        };
        (CollectPlan::pdu_id(member), hop.to.contains(&node).then(config))
    };
    let pdus = plan.contained_in(id).map(pdu).collect();
    Some(ContainerConfig { stream: id, header: collect.header, protection, pdus })
}

/// What attackers in a node do.
fn attacks(plan: &Plan, id: NodeId) -> Vec<RelayAttack> {
    let here = |attacker: u16| plan.attackers[usize::from(attacker)].place == AttackPlace::AtNode(id);
    let threats = plan.threats.iter().filter(|threat| here(threat.attacker));
    threats
        .filter_map(|threat| {
            Some(RelayAttack {
                kind: threat.kind.attack(),
                stream: threat.kind.target()?,
                start: threat.start,
                every: threat.every,
                count: threat.count,
            })
        })
        .collect()
}

/// What an interface hands over of a stream that comes in on a hop.
pub fn hand_over(plan: &Plan, stream: &StreamPlan, hop: &HopPlan, id: NodeId) -> HandOver {
    match (stream.goes_on(hop, id), hop.protection) {
        (false, _) => HandOver::Nothing,
        (true, Some(_)) => HandOver::Opened,
        (true, None) => HandOver::Sealed { len: sealed_len(plan, stream) },
    }
}

/// A stream's PDU with what protects it from end to end `[byte]`.
pub fn sealed_len(plan: &Plan, stream: &StreamPlan) -> usize {
    (stream.length + plan.protection_of(stream).overhead_bytes()) as usize
}

/// Within which time a receiver behind gateways has to get the next frame: after two periods and the deadline it has been kept
/// back somewhere. An application with a timer of its own that is slower than its slots leaves some of them empty, and its data
/// wait for a slot.
pub fn supervision(stream: &StreamPlan, id: NodeId) -> Option<SupervisionConfig> {
    let is_looked_after = stream.is_relayed() && stream.receivers.contains(&id) && stream.min_distance.is_none();
    let latest = stream.deadline_of(id).unwrap_or(stream.period);
    let (period, wait) = match stream.application {
        Some(application) => (application.step().max(stream.period), stream.period),
        None => (stream.period, Duration::ZERO),
    };
    is_looked_after.then(|| SupervisionConfig { within: period * 2 + wait + latest, period })
}
