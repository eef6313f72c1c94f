//! A plan on several hosts: what each of them runs, and one run made of what they wrote down.
//!
//! How hosts are reached, and how their clocks were compared, is for whoever calls this.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_catalog::{BuildError, Datagrams, LiveLink, Prepared};
use chronoseal_core::{Duration, NodeId, SimTime, StreamId};
use chronoseal_plan::{DeadlineKind, Fidelity, Plan, SegmentId, StreamPlan};
use chronoseal_results::rows::{FrameRow, Outcome, RunRows};
use chronoseal_results::{Engine, Fact, HostMeta, RunMeta, UnmeasuredMeta};
use chronoseal_testbed::{
    AgentConfig, AgentRecord, DatagramEnd, HostLink, LiveConfig, Placement, PortLink, join_hosts,
};
use chronoseal_wire::{udp, virtual_link};
use serde::Serialize;

use crate::measure::{agents, carried_by_nobody, connection_end, node_config, parts, secured_stream, settle};
use crate::traffic::PlanTraffic;
use crate::{MeasureError, Run, describe, facts, overloads};

/// What a report says of a segment that was the network between hosts.
const CARRIED_BY: &str =
    "the network between the agents; its rate, delay, loss and order in the scenario were not emulated";

/// Why nothing bounds a stream that crossed such a network.
const UNBOUNDED: &str = "nothing is known of the network between the agents";

/// Of a deadline, the share that clocks may be apart if nothing else was said.
const SHARE: i64 = 10;

/// What is left of a run over several hosts.
pub struct HostRun {
    /// What stations wrote down, told by one clock for all. One that is missing was lost.
    pub records: BTreeMap<NodeId, AgentRecord>,
    /// Where they were.
    pub hosts: Vec<HostMeta>,
    /// What broke down in the middle, in words.
    pub lost: Option<String>,
    /// It was stopped before its time.
    pub interrupted: bool,
    /// How far apart two clocks may be for one-way latencies between them. `None`: a tenth of the stream's deadline, and no limit without one.
    pub tolerance: Option<Duration>,
    /// How it was asked for, if not as usual, by the names of the options.
    pub options: Vec<Fact>,
}

/// A plan with an address for each of its stations.
pub struct OverHosts<'p> {
    prepared: &'p Prepared<'p>,
    agents: Vec<AgentConfig>,
}

/// The stations that need a host of their own, in the order of their numbers.
///
/// # Errors
/// [`MeasureError`] if a run over several hosts cannot have what the plan has.
pub fn stations(prepared: &Prepared<'_>) -> Result<Vec<NodeId>, MeasureError> {
    let plan = prepared.plan();
    if plan.fidelity == Fidelity::Timing {
        return Err(MeasureError::NoBytes);
    }
    let not = |what: String| Err(MeasureError::NotRemote { what });
    for id in plan.segment_ids() {
        let (name, kind) = (&plan.segments[id.index()].name, prepared.kind(id));
        if kind.live_link() != LiveLink::Sockets {
            return not(format!("segment {name} is of the kind {}", kind.name()));
        }
        if let Some(reason) = kind.live_refusal(prepared, id) {
            return Err(MeasureError::NotLive { segment: name.clone(), reason });
        }
    }
    if let Some(node) = plan.nodes.iter().find(|node| node.program.is_some()) {
        return not(format!("node {} runs a program", node.name));
    }
    if let Some(stream) = carried_by_nobody(prepared) {
        return not(format!("stream {stream} goes over a middleware"));
    }
    if let Some((stream, over)) = secured_stream(prepared) {
        return not(format!("stream {} goes over {over}", plan.streams[stream.index()].name));
    }
    if !plan.attackers.is_empty() {
        return not("the scenario has an attacker".to_owned());
    }
    let needs_nonce =
        |stream: &&StreamPlan| plan.protection_of(stream).profile().is_some_and(|p| p.mac().needs_nonce());
    if let Some(stream) = plan.streams.iter().find(needs_nonce) {
        return not(format!(
            "stream {} is sealed with nonces, which come again under the same key with every run, and others may hear them",
            stream.name
        ));
    }
    if let Some(node) = plan.node_ids().find(|node| prepared.attachments(*node).len() > 1) {
        return not(format!("node {} is on several segments", plan.node_name(node)));
    }
    Ok(plan.node_ids().filter(|node| !prepared.attachments(*node).is_empty()).collect())
}

impl<'p> OverHosts<'p> {
    /// A plan whose stations are at these addresses.
    ///
    /// # Errors
    /// As [`stations`], and if one has no address.
    pub fn new(prepared: &'p Prepared<'p>, addresses: &BTreeMap<NodeId, [u8; 4]>) -> Result<Self, MeasureError> {
        if let Some(node) = stations(prepared)?.into_iter().find(|node| !addresses.contains_key(node)) {
            return Err(BuildError::UnknownNode(node).into());
        }
        let address = |node: &NodeId| addresses.get(node).copied().unwrap_or_default();
        let port = |node, segment| host_link(prepared, node, segment, &address);
        let agents = agents(prepared, &port, Some(Placement::Free));
        Ok(Self { prepared, agents })
    }

    /// What the host of a station runs; `None` if the plan has no such station.
    pub fn config(&self, node: NodeId, texts: &impl Serialize) -> Option<LiveConfig> {
        let agent = self.agents.iter().find(|agent| agent.node == node)?.clone();
        // No segment of these has slots for which a node would need a head start.
        let config = LiveConfig::new(vec![agent], node_config(texts, Duration::ZERO), self.prepared.plan().duration);
        let scenario_hash = self.prepared.plan().scenario_hash.clone();
        Some(LiveConfig { placement: Placement::Free, scenario_hash, ..config })
    }

    /// True if stations connect to each other before the run begins.
    pub fn connects(&self) -> bool {
        let connects = |link: &PortLink| matches!(link, PortLink::Host(link) if !link.connections.is_empty());
        self.agents.iter().flat_map(|agent| &agent.ports).any(connects)
    }

    /// Makes one run of what stations wrote down.
    pub fn finish(&self, mut run: HostRun) -> Run {
        let (prepared, plan) = (self.prepared, self.prepared.plan());
        let traffic = PlanTraffic::new(prepared, &[]);
        let records = self.agents.iter().map(|agent| run.records.remove(&agent.node)).collect();
        let (mut rows, warnings) = join_hosts(&self.agents, records, &traffic);
        rows.interrupted = run.interrupted || run.lost.is_some();

        let mut meta = describe(prepared, Engine::Live);
        leave_out_emulation(&mut meta);
        meta.hosts = run.hosts;
        meta.options = run.options;
        meta.lost = run.lost;
        meta.clock_source = "CLOCK_MONOTONIC of each agent, told by the controller's".into();
        meta.warnings.extend(overloads(plan));
        meta.warnings.extend(plan.segments.iter().map(|segment| format!("segment {} was {CARRIED_BY}", segment.name)));
        meta.warnings.extend(warnings);

        let clocks = Clocks { meta: &meta, tolerance: run.tolerance };
        let refused = clocks.refused(plan);
        hide_one_way(&mut rows, &mut meta, &refused);
        let judged = meta.unmeasured.iter().filter(|end| end.deadline_ns.is_some() || run.tolerance.is_some());
        let mut unchecked: Vec<String> = judged.map(|end| end.why.clone()).collect();
        settle(prepared, &mut rows);
        let clocks = Clocks { meta: &meta, tolerance: run.tolerance };
        unchecked.extend(clocks.too_close(plan, &rows));
        meta.unchecked = distinct(unchecked);
        for id in plan.segment_ids() {
            rows.segments.extend(facts::series(id, Vec::new(), traffic.strangers(id)));
        }
        Run::new(meta, rows)
    }
}

/// The port of a station to a segment that the network between hosts takes the place of.
fn host_link(
    prepared: &Prepared<'_>,
    node: NodeId,
    segment: SegmentId,
    address: &dyn Fn(&NodeId) -> [u8; 4],
) -> PortLink {
    let sockets = prepared.kind(segment).sockets(prepared, segment, node);
    let datagram = |end @ Datagrams { stream, sends, sender, peers, .. }: &Datagrams| DatagramEnd {
        parts: parts(end),
        stream: stream.0,
        sends: *sends,
        group: virtual_link::stream_ip(*stream),
        station: virtual_link::station_ip(*sender),
        peers: peers.iter().map(address).collect(),
    };
    let (datagrams, connections) = sockets.map_or((Vec::new(), Vec::new()), |sockets| {
        let connections = sockets.connections.iter().map(|end| connection_end(end, address(&end.peer)));
        (sockets.datagrams.iter().map(datagram).collect(), connections.collect())
    });
    PortLink::Host(HostLink { address: address(&node), port: udp::PORT_TEST_BED, datagrams, connections })
}

/// Takes out what is true of emulated segments only.
fn leave_out_emulation(meta: &mut RunMeta) {
    for segment in &mut meta.segments {
        segment.properties = vec![("carried by".into(), CARRIED_BY.into())];
    }
    for stream in &mut meta.streams {
        (stream.bound, stream.unbounded) = (None, Some(UNBOUNDED.into()));
        for end in &mut stream.ends {
            (end.bound, end.unbounded) = (None, Some(UNBOUNDED.into()));
        }
    }
}

/// Streams at receivers of which no one-way latency is shown, each with why.
type Refused = BTreeMap<(StreamId, NodeId), String>;

/// How far apart the clocks of hosts may have been.
struct Clocks<'m> {
    meta: &'m RunMeta,
    tolerance: Option<Duration>,
}

impl Clocks<'_> {
    /// Of two stations; `None` if nobody knows.
    fn apart(&self, one: NodeId, other: NodeId) -> Option<Duration> {
        let of = |node: NodeId| {
            let host = self.meta.hosts.iter().find(|host| host.node == node.0)?;
            host.clock.map(|clock| Duration::from_ns(clock.uncertainty_ns))
        };
        Some(of(one)? + of(other)?)
    }

    /// Why nobody knows what the clock of one of them showed.
    fn dispute(&self, nodes: [NodeId; 2]) -> Option<String> {
        let mut hosts = self.meta.hosts.iter().filter(|host| nodes.iter().any(|node| node.0 == host.node));
        hosts.find_map(|host| {
            let dispute = host.clock_dispute.as_ref()?;
            Some(format!("of the clock of {}, {dispute}", self.meta.node_name(host.node)))
        })
    }

    fn agree(&self, one: NodeId, other: NodeId) -> String {
        // Both directions have the same two clocks.
        let (one, other) = (one.min(other), one.max(other));
        let (one_name, other_name) = (self.meta.node_name(one.0), self.meta.node_name(other.0));
        match self.apart(one, other) {
            Some(apart) => format!("the clocks of {one_name} and {other_name} agree only within {}", short(apart)),
            None => format!("it is not known how far the clocks of {one_name} and {other_name} were apart"),
        }
    }

    /// The streams whose one-way latencies mean nothing.
    fn refused(&self, plan: &Plan) -> Refused {
        let mut refused = Refused::new();
        for (index, stream) in plan.streams.iter().enumerate() {
            for receiver in &stream.receivers {
                if let Some(dispute) = self.dispute([stream.sender, *receiver]) {
                    refused.insert((StreamId(index as u16), *receiver), dispute);
                    continue;
                }
                let deadline = stream.deadline_of(*receiver);
                let limit = self.tolerance.or_else(|| deadline.map(|deadline| deadline / SHARE));
                let is_close = match (self.apart(stream.sender, *receiver), limit) {
                    (Some(apart), Some(limit)) => apart <= limit,
                    (apart, _) => apart.is_some(),
                };
                if is_close {
                    continue;
                }
                let agree = self.agree(stream.sender, *receiver);
                let allows = match (self.tolerance, limit) {
                    (Some(limit), _) => format!(", and --clock-uncertainty allows {}", short(limit)),
                    (None, Some(limit)) => {
                        format!(", and a tenth of the deadline of {} is {}", stream.name, short(limit))
                    }
                    (None, None) => String::new(),
                };
                refused.insert((StreamId(index as u16), *receiver), agree + &allows);
            }
        }
        refused
    }

    /// Messages that were in time, or late, by less than clocks were apart.
    fn too_close(&self, plan: &Plan, rows: &RunRows) -> Vec<String> {
        let mut close: BTreeMap<(StreamId, NodeId), u64> = BTreeMap::new();
        for (row, ended_at) in judged(plan, rows) {
            let Some(stream) = plan.streams.get(row.stream.index()) else { continue };
            let latency = row.due_at.map(|due| ended_at - due);
            let margin = latency.zip(stream.deadline_of(row.at)).map(|(latency, deadline)| (latency - deadline).abs());
            let apart = self.apart(stream.sender, row.at);
            if margin.zip(apart).is_some_and(|(margin, apart)| margin <= apart) {
                *close.entry((row.stream, row.at)).or_default() += 1;
            }
        }
        let words = |((id, receiver), count): (&(StreamId, NodeId), &u64)| {
            let stream = &plan.streams[id.index()];
            let (messages, their) = if *count == 1 { ("message", "its") } else { ("messages", "their") };
            let agree = self.agree(stream.sender, *receiver);
            format!("{count} {messages} of {} came that close to {their} deadline that {agree}", stream.name)
        };
        close.iter().map(words).collect()
    }
}

/// Accepted messages, each with the time that is held against its deadline.
fn judged<'r>(plan: &Plan, rows: &'r RunRows) -> Vec<(&'r FrameRow, SimTime)> {
    let mut last: BTreeMap<(StreamId, NodeId), &FrameRow> = BTreeMap::new();
    let mut judged = Vec::new();
    let mut accepted: Vec<(&FrameRow, SimTime)> = (rows.frames.iter())
        .filter(|row| matches!(row.outcome, Outcome::Delivered | Outcome::Late))
        .filter_map(|row| Some((row, row.accepted_at?)))
        .collect();
    accepted.sort_by_key(|(_, at)| *at);
    for (row, at) in accepted {
        match plan.streams.get(row.stream.index()).map(|stream| stream.deadline_kind) {
            Some(DeadlineKind::Reaction) => judged.push((row, at)),
            // One is judged when the next one is there.
            Some(DeadlineKind::Age) => judged.extend(last.insert((row.stream, row.at), row).map(|row| (row, at))),
            None => {}
        }
    }
    judged
}

/// Leaves out when messages came of which that means nothing, and deadlines that cannot be judged without it.
fn hide_one_way(rows: &mut RunRows, meta: &mut RunMeta, refused: &Refused) {
    for row in rows.frames.iter_mut().filter(|row| refused.contains_key(&(row.stream, row.at))) {
        (row.received_at, row.accepted_at) = (None, None);
    }
    for ((id, receiver), why) in refused {
        let Some(stream) = meta.streams.get_mut(id.index()) else { continue };
        let end = stream.ends.iter_mut().find(|end| end.receiver == receiver.0);
        let deadline_ns = end.and_then(|end| end.deadline_ns.take());
        meta.unmeasured.push(UnmeasuredMeta { stream: id.0, receiver: receiver.0, deadline_ns, why: why.clone() });
        stream.deadline_ns = stream.ends.iter().filter_map(|end| end.deadline_ns).min();
        // What was lost failed all the same, where that was to be judged.
        stream.is_lossy &= deadline_ns.is_none();
        stream.is_judged = stream.deadline_ns.is_some();
    }
}

/// Each once, in their order.
fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    texts.into_iter().filter(|text| known.insert(text.clone())).collect()
}

/// To three digits behind the point of the unit that fits.
fn short(time: Duration) -> String {
    match time.as_ns() {
        ns if ns < 1_000 => format!("{ns} ns"),
        ns if ns < 1_000_000 => format!("{:.3} us", ns as f64 / 1e3),
        ns => format!("{:.3} ms", ns as f64 / 1e6),
    }
}
