//! The plan as a whole.

use chronoseal_core::{Duration, NodeId, StreamId};

use crate::{
    AttackerPlan, FreshnessPlan, GroupKeyPlan, HopPlan, Inputs, NodePlan, PlatformPlan, ProtectionId, ProtectionPlan,
    Recording, SegmentId, SegmentPlan, StreamPlan, ThreatPlan,
};

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
    /// What all of this was made from.
    pub inputs: Inputs,
    /// XXH3-128 of `inputs`, hexadecimal: of the scenario's text, its overrides and the files that it refers to. Two plans that
    /// differ in any of them have different ones; where the files are found plays no part.
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

/// How much of a frame is really made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// Every byte: payload, freshness value, tag; all made and checked.
    Bytes,
    /// Headers and sequence numbers only; lengths and times are those of the whole frame. Simulator only.
    Timing,
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
