//! What will be run: every name resolved, every default filled, every check passed.

mod facet;
mod gateway;
mod group_key;
mod protection;
mod threat;

pub use crate::kinds::can::plan::*;
pub use crate::kinds::ethernet::datagrams::Datagram;
pub use crate::kinds::ethernet::macsec::{Macsec, Processing};
pub use crate::kinds::ethernet::networks::{Copies, NetworkName};
pub use crate::kinds::ethernet::plan::*;
pub use crate::kinds::ethernet::ports::{PortEnd, Ports};
pub use crate::kinds::ethernet::stream_filters::{FilterPlan, Neighbour, StreamFilters};
pub use crate::kinds::ethernet::time_aware::{GrandmasterQuality, TimeAwarePlan};
pub use crate::kinds::ethernet::ways::StreamWay;
pub use crate::kinds::ethernet::wiring::*;
pub use crate::kinds::radio::plan::*;
pub use chronoseal_media::recovery::{LatentErrors, RecoveryAlgorithm, RecoveryConfig};
pub use chronoseal_nodes::end_system::Replication;
pub use facet::Facet;
pub use gateway::*;
pub use group_key::*;
pub use protection::*;
pub use threat::*;

use std::ops::Range;

pub use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, NodeId, Ppm, StreamId};
use chronoseal_media::host::HostConfig;

use crate::resolve::FREE;

/// A checked scenario: one network of segments, whatever their kinds. Indices are identifiers: `segments[i]` is
/// `SegmentId(i)`, `nodes[i]` is `NodeId(i)`, `streams[i]` is `StreamId(i)`. Attackers are numbered after the nodes, and
/// what a segment is made of itself, such as its switch, after them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name, used in file names.
    pub name: String,
    /// One or two sentences for a reader of the report.
    pub description: String,
    /// Seeds all chance of the run.
    pub seed: u64,
    /// How long the run lasts.
    pub duration: Duration,
    /// Whether frames carry real bytes or only their headers.
    pub fidelity: Fidelity,
    /// What frames travel on.
    pub segments: Vec<SegmentPlan>,
    /// Stations, attackers not included.
    pub nodes: Vec<NodePlan>,
    /// Who attacks, from where.
    pub attackers: Vec<AttackerPlan>,
    /// Streams.
    pub streams: Vec<StreamPlan>,
    /// Ways to protect a stream; `none` first.
    pub protections: Vec<ProtectionPlan>,
    /// Those of `protections` that `check` compares, by index.
    pub candidates: Vec<ProtectionId>,
    /// Attacks.
    pub threats: Vec<ThreatPlan>,
    /// Losses that do not fail a run.
    pub allowances: Vec<AllowancePlan>,
    /// What operations cost, by platform; the one on which everything is free first.
    pub platforms: Vec<PlatformPlan>,
    /// Recorded signals that payloads replay.
    pub recordings: Vec<Recording>,
    /// How stations come to a common key.
    pub group_key: Option<GroupKeyPlan>,
    /// Who counts trips and resets, if a stream needs them.
    pub freshness: Option<FreshnessPlan>,
    /// XXH3-128 of the scenario text and its overrides, hexadecimal.
    pub scenario_hash: String,
    /// What a reader of the results has to know, one sentence each.
    pub notes: Vec<String>,
}

/// Losses of a stream that do not fail a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowancePlan {
    /// Of which stream.
    pub stream: StreamId,
    /// `late`, `missing`, `not-sent`, `unaccounted`, or the name of a [`chronoseal_core::DiscardReason`].
    pub reason: String,
    /// So many at most, one for each receiver of a frame.
    pub frames: u32,
}

/// Index into [`Plan::segments`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SegmentId(pub u16);

impl SegmentId {
    /// This number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A segment: what frames travel on between nodes that have an interface to it.
#[derive(Clone, Debug)]
pub struct SegmentPlan {
    /// As in the scenario.
    pub name: String,
    /// The name of its kind, which is its row in the table of kinds.
    pub kind: &'static str,
    /// What only its kind knows.
    pub facet: Facet,
    /// Nodes that are part of the segment itself, such as its switch, by name.
    pub own_nodes: Vec<String>,
    /// Nodes that came with the segment, such as vehicles, by number: they are among the plan's nodes.
    pub brought: Range<u16>,
}

/// A stream's way over one segment.
#[derive(Clone, Debug)]
pub struct HopPlan {
    /// Which segment.
    pub segment: SegmentId,
    /// Who sends it there.
    pub from: NodeId,
    /// Who takes it there.
    pub to: Vec<NodeId>,
    /// A frame before protection, as segments of this kind count it `[byte]`.
    pub frame_len: u32,
    /// The traffic class, as reports call it.
    pub class: &'static str,
    /// How the segment's kind addresses and treats it.
    pub facet: Facet,
    /// The hop that brings it to `from`, as an index into the stream's hops, always a smaller one. `None`: `from` is the
    /// stream's sender.
    pub previous: Option<u16>,
    /// How it is protected on this hop alone, opened and sealed again at its ends. `None`: as the stream is, from its sender to
    /// its receivers.
    pub protection: Option<ProtectionId>,
}

/// Index into [`Plan::protections`]. The first, which is the default, does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ProtectionId(pub u16);

/// Index into [`Plan::platforms`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlatformId(pub u16);

/// How much of a frame is really made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// Every byte: payload, freshness value, tag; all made and checked.
    Bytes,
    /// Headers and sequence numbers only; lengths and times are those of the whole frame. Simulator only.
    Timing,
}

/// A station.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// As in the scenario.
    pub name: String,
    /// Its oscillator.
    pub clock: ClockPlan,
    /// Its processor.
    pub platform: PlatformId,
    /// Time its network driver takes between hand-over and first bit.
    pub driver: Jitter,
    /// What a frame that it receives passes before its application has it, at each port to a segment that knows of such.
    pub host_interface: Option<HostConfig>,
    /// Work it does beside its frames.
    pub tasks: Vec<TaskPlan>,
    /// In key exchanges.
    pub address: u8,
    /// The segments it is on: its port `k` is its interface to `interfaces[k]`.
    pub interfaces: Vec<SegmentId>,
    /// How it forwards between its segments, if it does.
    pub gateway: Option<GatewayPlan>,
}

/// An oscillator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockPlan {
    /// What it shows when the run starts.
    pub offset: Duration,
    /// How much too fast it runs.
    pub drift: Ppm,
    /// The most it can run too fast or too slow, whatever the seed.
    pub drift_max: Ppm,
}

/// A periodic task on a node's processor.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    /// As in the scenario.
    pub name: String,
    /// Distance of two runs; divides the cluster cycle.
    pub period: Duration,
    /// Processor time of one run at most.
    pub wcet: Duration,
}

/// A stream of frames.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// As in the scenario; `name.k` for the k-th of `count`.
    pub name: String,
    /// Who sends it; of several, the first one.
    pub sender: NodeId,
    /// The segment whose vehicles send it, if it is whoever of them has something to say.
    pub sent_by: Option<SegmentId>,
    /// Who receives it.
    pub receivers: Vec<NodeId>,
    /// Distance of two frames; of a replayed recording, its length.
    pub period: Duration,
    /// When its first frame is due. Of a stream whose first hop has slots: where in the cluster cycle its first slot
    /// starts, if the scenario fixes it.
    pub offset: Option<Duration>,
    /// The scenario writes that offset, so that it is no chance when its frames are due.
    pub has_offset: bool,
    /// The timer of its application, if that decides when a stream that begins in slots has something to send.
    pub application: Option<ApplicationPlan>,
    /// The least distance of two frames, if it is sent when its value changes; `period` is the same then.
    pub min_distance: Option<Duration>,
    /// It has to be received so long after it became due. `None`: its slot says when, or nothing does.
    pub deadline: Option<Duration>,
    /// Deadlines of single receivers, which stand before `deadline`.
    pub deadlines: Vec<(NodeId, Duration)>,
    /// What a deadline limits.
    pub deadline_kind: DeadlineKind,
    /// Bytes it carries before protection, headers of a frame left out `[byte]`: on gateways' ways the PDU.
    pub length: u32,
    /// What it carries.
    pub payload: PayloadPlan,
    /// How it is protected.
    pub protection: ProtectionId,
    /// Its way, segment by segment.
    pub hops: Vec<HopPlan>,
}

/// A timer of an application, which no clock of the network corrects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApplicationPlan {
    /// Its data are ready so often, by its timer.
    pub period: Duration,
    /// When they are ready for the first time, from the start of its node.
    pub phase: Duration,
    /// How much faster it runs than the clock of its node.
    pub drift: Ppm,
}

impl ApplicationPlan {
    /// How far apart its data are by the clock of its node.
    pub fn step(&self) -> Duration {
        const BILLION: i128 = 1_000_000_000;
        let step = i128::from(self.period.as_ps()) * BILLION / (BILLION + i128::from(self.drift.0));
        Duration::from_ps((step as i64).max(1))
    }
}

/// What a deadline limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeadlineKind {
    /// From the moment a frame is due to its reception.
    #[default]
    Reaction,
    /// From the moment a frame is due to the reception of the next one: how old the receiver's value becomes.
    Age,
}

/// What a stream carries.
#[derive(Clone, Debug)]
pub enum PayloadPlan {
    /// Seeded bytes.
    Synthetic,
    /// The latest sample of a recorded signal at the time of sending, replayed over and over.
    Recorded {
        /// Index into [`Plan::recordings`].
        recording: u16,
    },
    /// PDUs of other streams, collected by the gateway that sends it.
    Collected(CollectPlan),
}

/// A recorded signal or raw frames: times from its start, and what to send from then on.
#[derive(Clone, Debug)]
pub struct Recording {
    /// As in the scenario.
    pub name: String,
    /// Where it comes from, and its licence.
    pub source: String,
    /// Physical unit of `value`, empty for raw frames.
    pub unit: String,
    /// Samples by time.
    pub samples: Vec<Sample>,
    /// It starts again after this.
    pub length: Duration,
}

/// One sample.
#[derive(Clone, Debug)]
pub struct Sample {
    /// From the recording's start.
    pub at: Duration,
    /// The decoded value, if it is a signal.
    pub value: Option<f64>,
    /// What goes into the payload: the value as a big-endian f64, or identifier and data of a raw frame.
    pub bytes: Vec<u8>,
}

/// What operations cost on a processor.
#[derive(Clone, Debug)]
pub struct PlatformPlan {
    /// As in the scenario.
    pub name: String,
    /// Costs by operation name; an operation not listed costs nothing.
    pub costs: Vec<OperationCost>,
}

/// `base + per_byte * len`.
#[derive(Clone, Debug)]
pub struct OperationCost {
    /// Name of the operation, such as `hmac-sha-256`.
    pub operation: String,
    /// For any length.
    pub base: Duration,
    /// For each byte.
    pub per_byte: Duration,
}

/// What a node of the run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A node of the scenario.
    Station,
    /// An attacker.
    Attacker,
    /// Part of a segment.
    Own(SegmentId),
}

impl Plan {
    /// Every node that a driver runs: stations, then attackers. What segments are made of is not among them.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..(self.nodes.len() + self.attackers.len()) as u16).map(NodeId)
    }

    /// Every node of the run with its name: stations, attackers, and what segments are made of.
    pub fn all_nodes(&self) -> impl Iterator<Item = (NodeKind, &str)> {
        let stations = self.nodes.iter().map(|node| (NodeKind::Station, node.name.as_str()));
        let attackers = self.attackers.iter().map(|attacker| (NodeKind::Attacker, attacker.name.as_str()));
        let own = self.segments.iter().enumerate().flat_map(|(index, segment)| {
            segment.own_nodes.iter().map(move |name| (NodeKind::Own(SegmentId(index as u16)), name.as_str()))
        });
        stations.chain(attackers).chain(own)
    }

    /// The name of any node of the run; empty if there is no such node.
    pub fn node_name(&self, node: NodeId) -> String {
        self.all_nodes().nth(node.index()).map(|(_, name)| name.to_owned()).unwrap_or_default()
    }

    /// The attacker behind a number, if it is one's.
    pub fn attacker(&self, node: NodeId) -> Option<&AttackerPlan> {
        node.index().checked_sub(self.nodes.len()).and_then(|index| self.attackers.get(index))
    }

    /// The number of an attacker.
    pub fn attacker_id(&self, attacker: u16) -> NodeId {
        NodeId(self.nodes.len() as u16 + attacker)
    }

    /// The number of the `index`-th node that a segment itself is made of.
    pub fn own_node(&self, segment: SegmentId, index: usize) -> NodeId {
        let before: usize = self.segments[..segment.index()].iter().map(|segment| segment.own_nodes.len()).sum();
        NodeId((self.nodes.len() + self.attackers.len() + before + index) as u16)
    }

    /// Every number of a stream.
    pub fn stream_ids(&self) -> impl Iterator<Item = StreamId> + use<> {
        (0..self.streams.len() as u16).map(StreamId)
    }

    /// Every number of a segment.
    pub fn segment_ids(&self) -> impl Iterator<Item = SegmentId> + use<> {
        (0..self.segments.len() as u16).map(SegmentId)
    }

    /// Streams with their hop on a segment.
    pub fn on_segment(&self, segment: SegmentId) -> impl Iterator<Item = (StreamId, &StreamPlan, &HopPlan)> {
        self.streams.iter().enumerate().flat_map(move |(index, stream)| {
            let hops = stream.hops.iter().filter(move |hop| hop.segment == segment);
            hops.map(move |hop| (StreamId(index as u16), stream, hop))
        })
    }

    /// What a node's processor takes for each operation.
    pub fn platform_of(&self, node: NodeId) -> Option<&PlatformPlan> {
        self.nodes.get(node.index()).map(|node| &self.platforms[usize::from(node.platform.0)])
    }
}

impl StreamPlan {
    /// True if gateways carry it over several segments. It is a PDU of its own then, whole in each segment's frames.
    pub fn is_relayed(&self) -> bool {
        self.hops.len() > 1
    }

    /// Its hop on a segment.
    pub fn on(&self, segment: SegmentId) -> Option<&HopPlan> {
        self.hops.iter().find(|hop| hop.segment == segment)
    }

    /// True if one of its hops is brought to its sender by another: by this one, which ends at `node`.
    pub fn goes_on(&self, hop: &HopPlan, node: NodeId) -> bool {
        let number = self.hops.iter().position(|other| std::ptr::eq(other, hop));
        let follows = |other: &HopPlan| other.from == node && other.previous.map(usize::from) == number;
        number.is_some() && self.hops.iter().any(follows)
    }

    /// The deadline of one of its receivers, if it has any.
    pub fn deadline_of(&self, receiver: NodeId) -> Option<Duration> {
        let own = self.deadlines.iter().find(|(node, _)| *node == receiver);
        own.map(|(_, deadline)| *deadline).or(self.deadline)
    }
}

impl PlatformPlan {
    /// The one on which everything is free.
    pub fn free() -> Self {
        Self { name: FREE.into(), costs: Vec::new() }
    }

    /// What `operation` over `len` bytes costs here.
    pub fn cost(&self, operation: &str, len: u32) -> Duration {
        self.costs
            .iter()
            .find(|cost| cost.operation == operation)
            .map_or(Duration::ZERO, |cost| cost.base + cost.per_byte * i64::from(len))
    }
}
