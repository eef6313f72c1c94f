//! What will be run: every name resolved, every default filled, every check passed.

mod can;

pub use can::*;

pub use chronoseal_core::random::Jitter;
use chronoseal_core::{AttackKind, Duration, NodeId, Ppm, Rate, StreamId};
use chronoseal_frameauth::{Freshness, HashAlgorithm};

/// A checked scenario. Indices are identifiers: `nodes[i]` is `NodeId(i)`, `streams[i]` is `StreamId(i)`.
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
    /// The network.
    pub network: Network,
    /// Stations, attackers not included.
    pub nodes: Vec<NodePlan>,
    /// Streams.
    pub streams: Vec<StreamPlan>,
    /// Ways to protect a stream.
    pub protections: Vec<ProtectionPlan>,
    /// Those of `protections` that `check` compares, by index.
    pub candidates: Vec<ProtectionId>,
    /// Attacks.
    pub threats: Vec<ThreatPlan>,
    /// What operations cost, by platform.
    pub platforms: Vec<PlatformPlan>,
    /// Recorded signals that payloads replay.
    pub recordings: Vec<Recording>,
    /// XXH3-128 of the scenario text and its overrides, hexadecimal.
    pub scenario_hash: String,
    /// What a reader of the results has to know, one sentence each.
    pub notes: Vec<String>,
}

/// Index into [`Plan::protections`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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

/// A time-triggered Ethernet star (or a plain switched star, if no stream is time-triggered).
#[derive(Clone, Debug)]
pub struct Network {
    /// Of every link.
    pub rate: Rate,
    /// The schedule repeats after this (the source's base period BP if all streams share one period).
    pub cluster_cycle: Duration,
    /// How the clocks are kept together.
    pub sync: Sync,
    /// Distance of two sync beacons.
    pub integration_cycle: Duration,
    /// Minimum time between the end of one frame and the next action (the source's GP).
    pub guard_period: Duration,
    /// What counts as time on the wire.
    pub accounting: Accounting,
    /// Who may use the wires at once.
    pub access: Access,
    /// Largest difference of two correct clocks (AS6802 precision).
    pub precision: Duration,
    /// Cluster-wide upper bound of a control frame's way (AS6802 max_transmission_delay).
    pub max_transmission_delay: Duration,
    /// Identifier of the sync beacon's virtual link.
    pub sync_id: u16,
    /// First four bytes of a critical-traffic destination address.
    pub ct_marker: [u8; 4],
    /// Of every link.
    pub propagation_delay: Duration,
    /// When the switch passes on a scheduled frame.
    pub dispatch: Dispatch,
    /// Time from the last bit in to the first bit out, at the earliest.
    pub forwarding_delay: Duration,
    /// Additional random part of the forwarding delay.
    pub forwarding_jitter: Jitter,
    /// Each egress queue holds at most this much [byte].
    pub queue_len_max: u64,
    /// A second switch that copies every frame to the capture adds one more store-and-forward to its stamps.
    pub sniffing_switch: bool,
}

/// How the clocks are kept together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// The switch sends a protocol control frame to every station at the start of each integration cycle.
    Beacon,
    /// Every station has the switch's time and no beacon is sent; for bounds such as the source's, which leave the
    /// beacon to a channel of its own. Simulator only.
    Ideal,
}

/// What counts as time on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accounting {
    /// Frame without checksum, preamble and gap: ISRCS 2014 (000), section IV-A.
    AsPublished,
    /// Plus checksum 4, preamble and delimiter 8, gap 12 bytes: IEEE 802.3.
    OnWire,
}

impl Accounting {
    /// Bytes each frame costs beyond its own.
    pub const fn overhead_bytes(self) -> u64 {
        match self {
            Self::AsPublished => 0,
            Self::OnWire => 24,
        }
    }
    /// As written in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPublished => "as-published",
            Self::OnWire => "on-wire",
        }
    }
}

/// Who may use the wires at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// One slot at a time in the whole cluster, as in the source.
    SharedSlots,
    /// Each link has slots of its own.
    PerLink,
}

/// When the switch passes on a scheduled frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// At the dispatch time of its slot.
    Scheduled,
    /// After the forwarding delay.
    Immediate,
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
    /// Work it does beside its frames.
    pub tasks: Vec<TaskPlan>,
}

/// An oscillator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockPlan {
    /// What it shows when the run starts.
    pub offset: Duration,
    /// How much too fast it runs.
    pub drift: Ppm,
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
    /// Who sends it.
    pub sender: NodeId,
    /// Who receives it.
    pub receivers: Vec<NodeId>,
    /// Its traffic class.
    pub class: StreamClass,
    /// Distance of two frames.
    pub period: Duration,
    /// Where in the cluster cycle its first slot starts, if the scenario fixes it; the phase of best-effort traffic.
    pub offset: Option<Duration>,
    /// Frame before protection: header and payload, without checksum [byte], 60..=1514.
    pub frame_len: u32,
    /// What it carries.
    pub payload: PayloadPlan,
    /// How it is protected.
    pub protection: ProtectionId,
}

/// A traffic class of AS6802.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamClass {
    /// In slots; addressed by its critical-traffic identifier.
    TimeTriggered {
        /// Last two bytes of its destination address.
        ct_id: u16,
    },
    /// Whenever the wire is free.
    BestEffort {
        /// Egress queue 0..=7, the higher first.
        priority: u8,
    },
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

/// A way to protect a stream.
#[derive(Clone, Debug)]
pub struct ProtectionPlan {
    /// As in the scenario.
    pub name: String,
    /// What it does.
    pub kind: ProtectionKind,
}

/// What a protection does.
#[derive(Clone)]
pub enum ProtectionKind {
    /// Nothing.
    None,
    /// Adds bytes as another mechanism would, and nothing else. It stops no attack.
    SizeOnly {
        /// Added to every frame [byte].
        overhead: u32,
    },
    /// A keyed hash over stream identifier, payload and freshness value.
    Hmac {
        /// The hash.
        hash: HashAlgorithm,
        /// How much of it is sent [byte], 4..=hash length.
        tag_len: u8,
        /// How freshness travels.
        freshness: Freshness,
        /// The replay window [freshness values], 1..=64.
        replay_window: u8,
        /// Test key; the same at every node, as in the source.
        key: Key,
    },
}

/// A 64-byte key. Shown by no formatter, wiped when dropped.
#[derive(Clone)]
pub struct Key(pub chronoseal_frameauth::KeyBytes);

impl std::fmt::Debug for ProtectionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::SizeOnly { overhead } => write!(f, "SizeOnly({overhead}B)"),
            Self::Hmac { hash, tag_len, freshness, replay_window, key: _ } => {
                write!(f, "Hmac({hash:?}, tag {tag_len}B, {freshness:?}, window {replay_window}, key hidden)")
            }
        }
    }
}

/// An attack of the scenario.
#[derive(Clone, Debug)]
pub struct ThreatPlan {
    /// As in the scenario.
    pub name: String,
    /// What it does.
    pub kind: AttackKind,
    /// On which stream.
    pub target: StreamId,
    /// Where the attacker sits. Attackers on their own port share one extra node, the ones on a link sit on its wire.
    pub place: AttackPlace,
    /// Its first attempt.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// How many attempts.
    pub count: u32,
    /// Where in the target's slot its frame is put: 0 is the slot's start.
    pub at_slot_offset: Duration,
}

/// Where an attacker sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttackPlace {
    /// On a switch port of its own.
    OwnPort,
    /// On the wire between a station and the switch.
    OnLink(NodeId),
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

impl Plan {
    /// The switch's own number in events and rows: the first after stations and attackers.
    pub fn switch_id(&self) -> NodeId {
        NodeId((self.nodes.len() + self.attackers().len()) as u16)
    }

    /// One attacker node for each distinct place, numbered after the stations.
    pub fn attackers(&self) -> Vec<AttackPlace> {
        let mut places = Vec::new();
        for threat in &self.threats {
            if !places.contains(&threat.place) {
                places.push(threat.place);
            }
        }
        places
    }

    /// The name of any node, attackers and switch included.
    pub fn node_name(&self, node: NodeId) -> String {
        if let Some(plan) = self.nodes.get(node.index()) {
            return plan.name.clone();
        }
        match self.attackers().get(node.index() - self.nodes.len()) {
            Some(AttackPlace::OwnPort) => "attacker".into(),
            Some(AttackPlace::OnLink(victim)) => format!("attacker-on-{}", self.nodes[victim.index()].name),
            None => "switch".into(),
        }
    }

    /// How `stream` is protected.
    pub fn protection_of(&self, stream: &StreamPlan) -> &ProtectionPlan {
        &self.protections[stream.protection.0 as usize]
    }

    /// Frame of `stream` with its protection, without checksum [byte].
    pub fn secured_len(&self, stream: &StreamPlan) -> u32 {
        stream.frame_len + self.protection_of(stream).overhead_bytes()
    }

    /// Time a frame of `len` bytes takes on one wire (the source's *Frametime*).
    pub fn frame_time(&self, len: u32) -> Duration {
        self.network.rate.time_of(u64::from(len) + self.network.accounting.overhead_bytes())
    }
}

impl ProtectionPlan {
    /// Bytes it adds to a frame.
    pub fn overhead_bytes(&self) -> u32 {
        match &self.kind {
            ProtectionKind::None => 0,
            ProtectionKind::SizeOnly { overhead } => *overhead,
            ProtectionKind::Hmac { tag_len, freshness, .. } => {
                u32::from(*tag_len) + u32::from(freshness.sent_bits().div_ceil(8))
            }
        }
    }

    /// True if a frame recorded earlier passes again.
    pub fn is_replayable(&self) -> bool {
        !matches!(&self.kind, ProtectionKind::Hmac { freshness, .. } if *freshness != Freshness::None)
    }
}

impl PlatformPlan {
    /// What `operation` over `len` bytes costs here.
    pub fn cost(&self, operation: &str, len: u32) -> Duration {
        self.costs
            .iter()
            .find(|cost| cost.operation == operation)
            .map_or(Duration::ZERO, |cost| cost.base + cost.per_byte * i64::from(len))
    }
}
