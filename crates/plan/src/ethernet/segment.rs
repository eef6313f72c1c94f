//! The segment itself.

use chronoseal_clocksync::as6802::Parameters;
use chronoseal_core::{Duration, NodeId, Ppm, Rate};
use chronoseal_media::ethernet::Integration;

use super::{LinkParameters, Macsec, Ports, StationLink, StreamFilters, TimeAwarePlan, Wiring};
use crate::Jitter;

/// End systems around switches with a schedule table, or plain switches if no stream has slots.
#[derive(Clone, Debug)]
pub struct EthernetSegment {
    /// Of every link that has none of its own.
    pub rate: Rate,
    /// The schedule repeats after this (the source's base period BP if all streams share one period).
    pub cluster_cycle: Duration,
    /// How the clocks are kept together.
    pub sync: Sync,
    /// The cluster that keeps its clocks together, with [`Sync::As6802`].
    pub cluster: Option<ClusterPlan>,
    /// The clocks that follow a grandmaster, with [`Sync::Gptp`].
    pub time_aware: Option<Box<TimeAwarePlan>>,
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
    /// Of every link that has none of its own.
    pub propagation_delay: Duration,
    /// What protects every link that does not go without it.
    pub macsec: Option<Macsec>,
    /// When the switch passes on a scheduled frame.
    pub dispatch: Dispatch,
    /// How scheduled frames share the wires with all others.
    pub integration: Integration,
    /// Time from the last bit in to the first bit out, at the earliest.
    pub forwarding_delay: Duration,
    /// Additional random part of the forwarding delay.
    pub forwarding_jitter: Jitter,
    /// Each egress queue holds at most this much `[byte]`.
    pub queue_len_max: u64,
    /// The queues of a port that have no room of their own have that room together.
    pub shares_queues: bool,
    /// A second switch that copies every frame to the capture adds one more store-and-forward to its stamps.
    pub sniffing_switch: bool,
    /// Its switches and links.
    pub wiring: Wiring,
    /// What the ports of its switches and stations do beyond strict priority.
    pub ports: Ports,
    /// What its switches do with the streams that come in.
    pub stream_filters: StreamFilters,
    /// What holds for all its virtual links.
    pub virtual_links: VirtualLinkRules,
    /// Links that fail in a run, each once.
    pub failures: Vec<LinkFailure>,
    /// Links over which frames are lost, each once.
    pub frame_losses: Vec<FrameLossPlan>,
}

impl EthernetSegment {
    /// What links have that say nothing else.
    pub fn default_link(&self) -> LinkParameters {
        LinkParameters { rate: self.rate, propagation_delay: self.propagation_delay, macsec: self.macsec }
    }

    /// The link of a node on the segment.
    pub fn link_of(&self, node: NodeId) -> StationLink {
        let default = StationLink { node, switch: 0, parameters: self.default_link() };
        self.wiring.own_link(node).copied().unwrap_or(default)
    }

    /// Time a frame of `len` bytes takes on one wire (the source's *Frametime*).
    pub fn frame_time(&self, len: u32) -> Duration {
        self.frame_time_over(self.default_link(), len)
    }

    /// Time a frame of `len` bytes takes on the link of a node.
    pub fn frame_time_on(&self, node: NodeId, len: u32) -> Duration {
        self.frame_time_over(self.link_of(node).parameters, len)
    }

    /// Time a frame of `len` bytes takes on a link.
    pub fn frame_time_over(&self, link: LinkParameters, len: u32) -> Duration {
        self.speed_over(link).occupancy(u64::from(len))
    }
}

/// How the clocks are kept together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// They are not: nothing on the segment goes by the time, so no frame keeps it.
    None,
    /// The switch sends a protocol control frame to every station at the start of each integration cycle.
    Beacon,
    /// Every station has the switch's time and no beacon is sent; for bounds such as the source's, which leave the
    /// beacon to a channel of its own. Simulator only.
    Ideal,
    /// Synchronisation masters and compression masters start a cluster from cold and keep its clocks together (SAE AS6802).
    As6802,
    /// Clocks follow a grandmaster that is chosen among them (IEEE 802.1AS).
    Gptp,
}

/// The devices that make the time of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterPlan {
    /// Everything that its devices are configured with.
    pub parameters: Parameters,
    /// The synchronisation masters; the first has bit 0 of memberships. All other stations are clients.
    pub masters: Vec<NodeId>,
    /// The switches that compress; over the networks A and B some of each.
    pub compression_masters: Vec<u16>,
    /// The longest that a control frame is under way as the network is written.
    pub control_delay_max: Duration,
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

    /// How many of them come after the frame's last bit: the gap.
    pub const fn gap_bytes(self) -> u64 {
        match self {
            Self::AsPublished => 0,
            Self::OnWire => 12,
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

/// What holds for all virtual links of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualLinkRules {
    /// True if policing charges a frame the longest one of its virtual link, false if its own length.
    pub charges_longest: bool,
    /// So much faster than true a sender's clock may be before policing takes its frames for too many.
    pub clock_tolerance: Ppm,
}

/// A link that fails in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkFailure {
    /// Which.
    pub link: FailingLink,
    /// From the start of the run; what is not over it then is lost.
    pub at: Duration,
}

/// A link over which frames are lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameLossPlan {
    /// Which.
    pub link: FailingLink,
    /// The share of the frames in each direction that is lost on average, above 0, at most 1.
    pub ratio: f64,
}

/// One of the links of a segment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FailingLink {
    /// That of a node, to network A if there are two.
    Station(NodeId),
    /// That of a node to network B.
    Second(NodeId),
    /// One between switches, as an index into [`Wiring::trunks`].
    Trunk(usize),
}
