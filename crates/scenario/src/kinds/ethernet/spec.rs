//! What a scenario says of an Ethernet segment.

use std::collections::BTreeMap;

use chronoseal_core::{Bytes, Duration, Ppm, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter_spec::{FlowMeterSpec, StreamFilterSpec, StreamGateSpec};
use super::macsec_spec::MacsecSpec;
use super::port_spec::{CommittedSpec, PortSpec};
use super::replication::ReplicationSpec;
use super::time_aware_spec::GptpSpec;
use crate::limits::*;
use crate::quantity::Quantity;
use crate::spec::JitterSpec;

/// An Ethernet: end systems around one or several switches, with a schedule table where streams are time-triggered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EthernetSegmentSpec {
    /// Of every link that has none of its own, 1kbit/s to 100Gbit/s.
    pub rate: Quantity<Rate>,
    /// The schedule repeats after this, 1us to 10s. Needed where something goes by the time of the segment: slots, tasks, beacons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_cycle: Option<Quantity<Duration>>,
    /// How the clocks are kept together. Default: by beacons if something on the segment has slots, tasks or gates, else not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncSpec>,
    /// Distance of two sync beacons; divides the cluster cycle. Default: the cluster cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration_cycle: Option<Quantity<Duration>>,
    /// Time kept free after each frame. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub guard_period: Quantity<Duration>,
    /// What counts as time on the wire.
    #[serde(default)]
    pub accounting: AccountingSpec,
    /// Who may use the wires at once.
    #[serde(default)]
    pub access: AccessSpec,
    /// Largest difference of two correct clocks. Default: 10us.
    #[serde(default = "default_precision")]
    pub precision: Quantity<Duration>,
    /// Upper bound of a sync beacon's way through the network. Default: worked out from the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_transmission_delay: Option<Quantity<Duration>>,
    /// Identifier of the sync beacon. Default: 4043.
    #[serde(default = "default_sync_id")]
    #[schemars(range(min = 1, max = 65535))]
    pub sync_id: u16,
    /// First four bytes of a critical-traffic destination address. Default: 03:04:05:06.
    #[serde(default = "default_ct_marker")]
    pub ct_marker: String,
    /// Of every link that has none of its own. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub propagation_delay: Quantity<Duration>,
    /// When the switch passes on a scheduled frame.
    #[serde(default)]
    pub dispatch: DispatchSpec,
    /// How frames in slots share the wires with all others.
    #[serde(default)]
    pub integration_policy: IntegrationSpec,
    /// Time in the switch from the last bit in to the first bit out, at the earliest. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub forwarding_delay: Quantity<Duration>,
    /// Random part of the forwarding delay. Default: none.
    #[serde(default)]
    pub forwarding_jitter: JitterSpec,
    /// Each egress queue holds at most this much, 1514B to 1000MB; every port has one for each class. Default: 64kB.
    #[serde(default = "default_queue_len_max")]
    pub queue_len_max: Quantity<Bytes>,
    /// The classes of a port that have no `queue_len_max` of their own share one queue of that room. Default: false.
    #[serde(default)]
    pub shared_queues: bool,
    /// A second switch copies every frame to the capture and adds one store-and-forward to its stamps. Default: false.
    #[serde(default)]
    pub sniffing_switch: bool,
    /// The class of streams that say nothing else. Default: time-triggered.
    #[serde(default)]
    pub class: ClassSpec,
    /// The classes of single streams, in one place instead of in the table of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAMS_MAX))]
    pub classes: Vec<ClassesSpec>,
    /// What holds for all virtual links.
    #[serde(default)]
    pub virtual_links: VirtualLinksSpec,
    /// Names of its switches; the first sends the sync beacon. Default: one, named `switch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = SWITCHES_MAX))]
    pub switches: Option<Vec<String>>,
    /// Two networks of its switches, A and B, to each of which every node has a link: virtual links and streams in slots go over both
    /// (ARINC 664 part 7). Default: there is one network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub networks: Option<NetworksSpec>,
    /// Its links. With one switch those of nodes may be left out; of several, every node says which one it is at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = LINKS_MAX))]
    pub links: Vec<LinkSpec>,
    /// MACsec on its links (IEEE 802.1AE). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macsec: Option<MacsecSpec>,
    /// What the ports of its switches do beyond strict priority. Default: nothing, and each priority has a queue of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_ports: Option<PortSpec>,
    /// What the ports of its nodes do. Default: strict priority among the traffic classes of `bridge_ports`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub station_ports: Option<PortSpec>,
    /// What its switches do with the streams that come in, beyond the checks that every switch makes. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAM_FILTERS_MAX))]
    pub stream_filters: Vec<StreamFilterSpec>,
    /// Gates that stream filters name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAM_FILTERS_MAX))]
    pub stream_gates: Vec<StreamGateSpec>,
    /// Meters that stream filters name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAM_FILTERS_MAX))]
    pub flow_meters: Vec<FlowMeterSpec>,
    /// Links that fail in the run, each at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = LINKS_MAX))]
    pub failures: Vec<FailureSpec>,
    /// Links over which frames are lost by noise, each at most once. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = LINKS_MAX))]
    pub frame_losses: Vec<FrameLossSpec>,
}

/// Streams that have one class on a segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassesSpec {
    /// Their names.
    #[schemars(length(min = 1, max = STREAMS_MAX))]
    pub streams: Vec<String>,
    /// What they have.
    pub class: ClassSpec,
}

/// The switches of two networks that nothing joins but the nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworksSpec {
    /// Switches of network A, among them the first of the segment, which sends the sync beacon.
    #[schemars(length(min = 1, max = SWITCHES_MAX))]
    pub a: Vec<String>,
    /// Switches of network B.
    #[schemars(length(min = 1, max = SWITCHES_MAX))]
    pub b: Vec<String>,
}

/// One of two networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NetworkName")]
pub enum NetworkNameSpec {
    /// The first.
    #[serde(rename = "a")]
    A,
    /// The second.
    #[serde(rename = "b")]
    B,
}

/// A link that fails and stays so.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureSpec {
    /// Its two ends.
    #[schemars(length(min = 2, max = 2))]
    pub link: Vec<String>,
    /// So long after the start of the run; what is not over it then is lost.
    pub at: Quantity<Duration>,
}

/// A link over which frames are lost.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameLossSpec {
    /// Its two ends.
    #[schemars(length(min = 2, max = 2))]
    pub link: Vec<String>,
    /// The share of the frames in each direction that is lost on average, above 0, at most 1; each frame whatever became of those
    /// before it.
    pub ratio: f64,
}

/// A link between two switches, or between a switch and a node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its two ends.
    #[schemars(length(min = 2, max = 2))]
    pub between: Vec<String>,
    /// Default: that of the segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity<Rate>>,
    /// Default: that of the segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propagation_delay: Option<Quantity<Duration>>,
    /// Whether it has the MACsec of the segment. Default: it does if the segment has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macsec: Option<bool>,
    /// What the ports at its ends do, by the names of these; instead of `bridge_ports` and `station_ports`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<String, PortSpec>,
}

/// What a stream has on an Ethernet segment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EthernetStreamSpec {
    /// Its traffic class. Default: that of the segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ClassSpec>,
    /// Critical-traffic identifier, that of the virtual link; of several streams alike that of the first, the others follow it. Default: the next free
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub ct_id: Option<u16>,
    /// The stream of the same sender and receivers whose virtual link this one shares, as a sub-virtual link with a queue of its own:
    /// up to four take turns in the gaps of one virtual link (ARINC 664 part 7). Default: it shares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_virtual_link_of: Option<String>,
    /// The switches that its frames may pass, those of sender and receivers besides. Default: any; needed where several ways
    /// have as few links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = SWITCHES_MAX))]
    pub switches: Option<Vec<String>>,
    /// The networks of the segment that it goes over, if it has networks A and B. Default: both for a virtual link and for a stream
    /// in slots, whose receivers take the first of two copies, and A for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2))]
    pub networks: Option<Vec<NetworkNameSpec>>,
    /// Of a stream in slots that goes over both networks: so much later than the first a copy may come to its receiver; what comes later is a
    /// new frame. Up to 127 periods, or as many as have 127 frames if messages have several. Default: its period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_max: Option<Quantity<Duration>>,
    /// Copies of its frames over ways of their own (IEEE 802.1CB). Default: each frame is sent once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<ReplicationSpec>,
    /// The bucket to which ports with asynchronous shaping hold it. Default: its longest frame, and one such frame in each
    /// period with 200 ppm more for clocks that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<CommittedSpec>,
    /// Of a stream whose messages are longer than a frame, and so UDP datagrams in fragments of IPv4: a receiver gives a message up of
    /// which so long after the first fragment not all have come, up to 2min. Default: 15s (RFC 791).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassembly_timeout: Option<Quantity<Duration>>,
}

/// What an attack has on an Ethernet segment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EthernetThreatSpec {
    /// Where in the slot the attacker's frame begins, from one cluster cycle before to one after. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub at_slot_offset: Quantity<Duration>,
}

fn default_precision() -> Quantity<Duration> {
    Quantity(Duration::from_us(10))
}
fn default_sync_id() -> u16 {
    4043
}
fn default_ct_marker() -> String {
    "03:04:05:06".into()
}
fn default_vid() -> u16 {
    1
}
fn default_queue_len_max() -> Quantity<Bytes> {
    Quantity(Bytes(64_000))
}

/// How the clocks are kept together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum SyncSpec {
    /// The switch sends a protocol control frame at the start of each integration cycle.
    #[serde(rename = "beacon")]
    Beacon,
    /// Every station has the switch's time and no beacon is sent; for the simulator alone.
    #[serde(rename = "ideal")]
    Ideal,
    /// Masters among the nodes and the switches start a cluster from cold and keep its clocks together (SAE AS6802); for the
    /// simulator alone.
    #[serde(rename = "as6802")]
    As6802(As6802Spec),
    /// Every clock follows a grandmaster that switches and nodes choose among themselves (IEEE 802.1AS); for the simulator alone.
    #[serde(rename = "gptp")]
    Gptp(Box<GptpSpec>),
}

/// A cluster of SAE AS6802.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct As6802Spec {
    /// Nodes whose clocks make the time of the cluster; all others follow it.
    #[schemars(length(max = MASTERS_MAX))]
    pub masters: Vec<String>,
    /// Switches that compress the masters' frames, with networks A and B one of each at least. Default: the first, of each network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = SWITCHES_MAX))]
    pub compression_masters: Option<Vec<String>>,
    /// Faulty masters to be tolerated, 0 to 2. Default: 1 with three masters or more, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2))]
    pub faults_tolerated: Option<u8>,
    /// Which devices check themselves.
    #[serde(default)]
    pub integrity: IntegritySpec,
}

/// Which devices of a cluster check themselves, so that they send no wrong frame unnoticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum IntegritySpec {
    /// The compression masters.
    #[default]
    #[serde(rename = "standard")]
    Standard,
    /// The synchronisation masters too.
    #[serde(rename = "high")]
    High,
}

/// What counts as time on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum AccountingSpec {
    /// With checksum, preamble and gap: 24 bytes a frame (IEEE 802.3).
    #[default]
    #[serde(rename = "on-wire")]
    OnWire,
    /// The frame alone, as in the ISRCS 2014 paper.
    #[serde(rename = "as-published")]
    AsPublished,
}

/// Who may use the wires at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum AccessSpec {
    /// One slot at a time in the whole cluster.
    #[default]
    #[serde(rename = "shared-slots")]
    SharedSlots,
    /// Each link has slots of its own.
    #[serde(rename = "per-link")]
    PerLink,
}

/// When the switch passes on a scheduled frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum DispatchSpec {
    /// At the dispatch time of its slot.
    #[default]
    #[serde(rename = "scheduled")]
    Scheduled,
    /// After the forwarding delay.
    #[serde(rename = "immediate")]
    Immediate,
}

/// How frames in slots are integrated with those of other classes (SAE AS6802).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum IntegrationSpec {
    /// Another frame starts only if it is over before the next slot.
    #[default]
    #[serde(rename = "timely-block")]
    TimelyBlock,
    /// A frame in a slot waits until the frame on the wire is over.
    #[serde(rename = "shuffling")]
    Shuffling,
    /// A frame in a slot cuts off the frame on the wire, which is sent again from its beginning.
    #[serde(rename = "preemption")]
    Preemption,
}

/// A traffic class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ClassSpec {
    /// In slots.
    #[default]
    #[serde(rename = "time-triggered")]
    TimeTriggered,
    /// Whenever the wire is free, no more often than its bandwidth allocation gap allows, and policed by every switch (ARINC
    /// 664 part 7).
    #[serde(rename = "rate_constrained")]
    RateConstrained(RateConstrainedSpec),
    /// Whenever the wire is free.
    #[serde(rename = "best_effort")]
    BestEffort(BestEffortSpec),
    /// Whenever the wire is free, with a VLAN tag that says its priority (IEEE 802.1Q-2022 clause 9).
    #[serde(rename = "vlan")]
    Vlan(VlanSpec),
}

/// Traffic with a VLAN tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VlanSpec {
    /// Priority code point: its priority at every port.
    #[schemars(range(min = 0, max = 7))]
    pub pcp: u8,
    /// VLAN identifier. Default: 1.
    #[serde(default = "default_vid")]
    #[schemars(range(min = 1, max = 4094))]
    pub vid: u16,
}

/// A virtual link of ARINC 664 part 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateConstrainedSpec {
    /// Bandwidth allocation gap: least distance of two frames, 1, 2, 4, 8, 16, 32, 64 or 128ms. Default: the longest of these
    /// that is not above the stream's period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bag: Option<Quantity<Duration>>,
    /// Longest frame that switches let in, checksum included, up to 1518B. Default: the stream's own with its protection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lmax: Option<Quantity<Bytes>>,
    /// Shortest frame that switches let in, checksum included. Default: 64B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lmin: Option<Quantity<Bytes>>,
    /// Which of the two queues of its class it has. Default: low.
    #[serde(default)]
    pub priority: VirtualLinkPrioritySpec,
    /// How much later than its gap says a frame may come to a switch without being policed. Default: 500us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Quantity<Duration>>,
    /// On a segment with networks A and B: so much later than the first a copy may come to its receiver; what comes later is a
    /// new frame. Default: the bandwidth allocation gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_max: Option<Quantity<Duration>>,
}

/// The queues of rate-constrained traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum VirtualLinkPrioritySpec {
    /// Below protocol control frames.
    #[serde(rename = "high")]
    High,
    /// Below high, above best effort.
    #[default]
    #[serde(rename = "low")]
    Low,
}

/// What holds for all virtual links of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualLinksSpec {
    /// What policing charges a frame.
    #[serde(default)]
    pub policing: ChargeSpec,
    /// So much faster than true a sender's clock may be before policing takes its frames for too many. Default: 100ppm.
    #[serde(default = "default_clock_tolerance")]
    pub clock_tolerance: Quantity<Ppm>,
    /// False: a bandwidth allocation gap may have any length, and end systems more output jitter than ARINC 664 part 7 allows.
    /// Default: true.
    #[serde(default = "yes")]
    pub standard: bool,
}

impl Default for VirtualLinksSpec {
    fn default() -> Self {
        Self { policing: ChargeSpec::default(), clock_tolerance: default_clock_tolerance(), standard: true }
    }
}

fn default_clock_tolerance() -> Quantity<Ppm> {
    Quantity(Ppm(100_000))
}
fn yes() -> bool {
    true
}

/// What policing charges a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ChargeSpec {
    /// Its own length.
    #[default]
    #[serde(rename = "bytes")]
    Bytes,
    /// The longest frame of its virtual link.
    #[serde(rename = "frames")]
    Frames,
}

/// Best-effort traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BestEffortSpec {
    /// Egress queue, the higher first. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
}
