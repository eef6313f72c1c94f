//! What will be run on an Ethernet segment.

use chronoseal_clocksync::as6802::Parameters;
use chronoseal_core::{Duration, NodeId, Ppm, Priority, Rate, StreamId};
use chronoseal_media::ethernet::Integration;
use chronoseal_wire::virtual_link::SequenceNumber;

use chronoseal_wire::ethernet::{VLAN_TAG_LEN, VlanTag};
use chronoseal_wire::r_tag::R_TAG_LEN;

use super::datagrams::{self, Datagram};
use super::macsec::Macsec;
use super::networks::{Copies, NetworkName};
use super::ports::Ports;
use super::stream_filters::{FilterPlan, Neighbour, StreamFilters};
use super::time_aware::TimeAwarePlan;
use super::wiring::{LinkParameters, StationLink, Wiring};
use crate::plan::{AttackPlace, HopPlan, Jitter, Plan, ProtectionPlan, SegmentId, StreamPlan, ThreatKind, ThreatPlan};

/// The kind's name.
pub const ETHERNET: &str = "ethernet";

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

/// How the clocks are kept together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
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

/// A traffic class of AS6802, or of ARINC 664 part 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamClass {
    /// In slots; addressed by its critical-traffic identifier.
    TimeTriggered {
        /// Last two bytes of its destination address.
        ct_id: u16,
    },
    /// Whenever the wire is free, at most one frame in each bandwidth allocation gap.
    RateConstrained(VirtualLink),
    /// Whenever the wire is free.
    BestEffort {
        /// Egress queue 0..=7, the higher first.
        priority: u8,
    },
}

/// A virtual link of ARINC 664 part 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualLink {
    /// Last two bytes of its destination address.
    pub ct_id: u16,
    /// Bandwidth allocation gap: least distance of two frames at their sender, by its clock.
    pub bag: Duration,
    /// True for the upper one of the two egress queues of its class.
    pub is_high: bool,
    /// Shortest frame that a switch lets in, checksum included (Lmin) `[byte]`.
    pub lmin: u32,
    /// Longest frame that a switch lets in, checksum included (Lmax) `[byte]`.
    pub lmax: u32,
    /// How much later than its gap says a frame may come to a switch without being policed.
    pub jitter: Duration,
    /// How many streams share it as its sub-virtual links, which have one identifier; 1 if it is that of one stream alone.
    pub sub_links: u8,
}

impl VirtualLink {
    /// Its egress queue.
    pub const fn priority(&self) -> Priority {
        if self.is_high { Priority::RATE_CONSTRAINED_HIGH } else { Priority::RATE_CONSTRAINED_LOW }
    }

    /// The bandwidth allocation gap by true time if the sender's clock is fast by so much.
    pub fn bag_min(&self, fast: Ppm) -> Duration {
        let less = i128::from(self.bag.as_ps()) * i128::from(fast.0.max(0)) / 1_000_000_000;
        // An instant by a clock is the first whole picosecond at which it is reached: two of them can come nearer by one.
        self.bag - Duration::from_ps(less as i64 + 3 * i64::from(fast.0 > 0))
    }
}

/// What holds for all virtual links of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualLinkRules {
    /// True if policing charges a frame the longest one of its virtual link, false if its own length.
    pub charges_longest: bool,
    /// So much faster than true a sender's clock may be before policing takes its frames for too many.
    pub clock_tolerance: Ppm,
}

impl StreamClass {
    /// As reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeTriggered { .. } => "time-triggered",
            Self::RateConstrained(_) => "rate-constrained",
            Self::BestEffort { .. } => "best-effort",
        }
    }

    /// True if its frames have slots.
    pub const fn is_time_triggered(self) -> bool {
        matches!(self, Self::TimeTriggered { .. })
    }

    /// Its virtual link, if it is rate-constrained.
    pub const fn virtual_link(&self) -> Option<&VirtualLink> {
        match self {
            Self::RateConstrained(link) => Some(link),
            Self::TimeTriggered { .. } | Self::BestEffort { .. } => None,
        }
    }

    /// The critical-traffic identifier it is addressed by; `None` for best effort.
    pub const fn ct_id(&self) -> Option<u16> {
        match self {
            Self::TimeTriggered { ct_id } => Some(*ct_id),
            Self::RateConstrained(link) => Some(link.ct_id),
            Self::BestEffort { .. } => None,
        }
    }

    /// The same with another critical-traffic identifier; best effort has none.
    pub(super) fn with_ct_id(self, ct_id: u16) -> Self {
        match self {
            Self::TimeTriggered { .. } => Self::TimeTriggered { ct_id },
            Self::RateConstrained(link) => Self::RateConstrained(VirtualLink { ct_id, ..link }),
            Self::BestEffort { .. } => self,
        }
    }

    /// The egress queue of its frames.
    pub fn priority(&self) -> Priority {
        match self {
            Self::TimeTriggered { .. } => Priority::TIME_TRIGGERED,
            Self::RateConstrained(link) => link.priority(),
            Self::BestEffort { priority } => Priority((*priority).min(7)),
        }
    }

    /// The same as a number, for frames that wait for no slot; `None` for those that do.
    pub fn queue(&self) -> Option<u8> {
        (!self.is_time_triggered()).then(|| self.priority().0)
    }

    /// True if its frames end with a sequence number, if these are their copies: all of virtual links, and those in slots of which
    /// several copies are sent.
    pub(super) const fn has_number(&self, copies: &Copies) -> bool {
        match self {
            Self::RateConstrained(_) => true,
            Self::TimeTriggered { .. } => copies.are_several(),
            Self::BestEffort { .. } => false,
        }
    }
}

/// A stream's way over an Ethernet segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EthernetHop {
    /// Its traffic class.
    pub class: StreamClass,
    /// The switches that it may pass, those of its ends besides; `None`: any.
    pub over: Option<Vec<u16>>,
    /// The VLAN tag of its frames.
    pub tag: Option<VlanTag>,
    /// The bucket to which asynchronous shapers hold it.
    pub committed: Option<Committed>,
    /// How many copies of its frames are sent, and over what.
    pub copies: Copies,
    /// Its messages, if they are longer than a frame.
    pub datagram: Option<Datagram>,
    /// The scenario's entry that it comes from, if it is one of its own.
    pub entry: Option<usize>,
}

/// The bucket of an asynchronously shaped stream, with all that keeps the wire for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Its rate.
    pub rate: Rate,
    /// Its burst `[byte]`.
    pub burst: u64,
}

impl EthernetHop {
    /// What its tags add to a frame `[byte]`.
    pub fn tags_len(&self) -> u32 {
        tags_len(self.tag, &self.copies)
    }

    /// What a frame has behind everything else: a sequence number, if it has one `[byte]`.
    pub fn trailer_len(&self) -> u32 {
        trailer_len(&self.class, &self.copies)
    }
}

fn trailer_len(class: &StreamClass, copies: &Copies) -> u32 {
    if class.has_number(copies) { SequenceNumber::LEN as u32 } else { 0 }
}

fn tags_len(tag: Option<VlanTag>, copies: &Copies) -> u32 {
    let r_tag_len = if copies.have_r_tag() { R_TAG_LEN as u32 } else { 0 };
    if tag.is_some() { VLAN_TAG_LEN as u32 + r_tag_len } else { 0 }
}

impl From<StreamClass> for EthernetHop {
    fn from(class: StreamClass) -> Self {
        let copies = Copies::One(NetworkName::A);
        Self { class, over: None, tag: None, committed: None, copies, datagram: None, entry: None }
    }
}

/// An Ethernet segment of a plan with what travels on it.
#[derive(Clone, Copy, Debug)]
pub struct Ethernet<'p> {
    /// The whole plan.
    pub plan: &'p Plan,
    /// Which of its segments.
    pub id: SegmentId,
    /// The segment itself.
    pub segment: &'p EthernetSegment,
}

/// A stream's hop on an Ethernet segment.
#[derive(Clone, Copy, Debug)]
pub struct EthernetStream<'p> {
    /// Its number.
    pub id: StreamId,
    /// The stream.
    pub stream: &'p StreamPlan,
    /// Its way over this segment.
    pub hop: &'p HopPlan,
    /// Its traffic class.
    pub class: StreamClass,
    /// The switches that it may pass, those of its ends besides; `None`: any.
    pub over: Option<&'p [u16]>,
    /// The VLAN tag of its frames.
    pub tag: Option<VlanTag>,
    /// The bucket to which asynchronous shapers hold it, if it is written.
    pub committed: Option<Committed>,
    /// How many copies of its frames are sent, and over what.
    pub copies: &'p Copies,
    /// Its messages, if they are longer than a frame: its frames are fragments of them.
    pub datagram: Option<Datagram>,
    /// The scenario's entry that it comes from, if it is one of its own.
    pub entry: Option<usize>,
}

impl<'p> EthernetStream<'p> {
    fn of(id: StreamId, stream: &'p StreamPlan, hop: &'p HopPlan) -> Option<Self> {
        let EthernetHop { class, over, tag, committed, copies, datagram, entry } = hop.facet.get()?;
        let (over, tag, committed, datagram) = (over.as_deref(), *tag, *committed, *datagram);
        Some(Self { id, stream, hop, class: *class, over, tag, committed, copies, datagram, entry: *entry })
    }

    /// How many frames a message of it has.
    pub fn frames(&self) -> u32 {
        datagrams::frames(self.datagram.as_ref())
    }

    /// Of a stream in slots: which frame of its message goes in the slot with this number in the cluster cycle, from 0.
    pub fn frame_in(&self, instance: u32) -> u32 {
        instance % self.frames()
    }

    /// True if the last frame of a message goes in the slot with this number in the cluster cycle.
    pub fn is_last_in(&self, instance: u32) -> bool {
        self.frame_in(instance) + 1 == self.frames()
    }

    /// What its tags add to a frame `[byte]`.
    pub fn tag_len(&self) -> u32 {
        tags_len(self.tag, self.copies)
    }

    /// What a frame has behind everything else: a sequence number, if it has one `[byte]`.
    pub fn trailer_len(&self) -> u32 {
        trailer_len(&self.class, self.copies)
    }
}

impl<'p> Ethernet<'p> {
    /// A segment of a plan, if it is of this kind.
    pub fn of(plan: &'p Plan, id: SegmentId) -> Option<Self> {
        let segment = plan.segments.get(id.index())?.facet.get()?;
        Some(Self { plan, id, segment })
    }

    /// The first segment of this kind.
    pub fn first(plan: &'p Plan) -> Option<Self> {
        plan.segment_ids().find_map(|id| Self::of(plan, id))
    }

    /// Streams that travel on it, in the order of their numbers.
    pub fn streams(self) -> impl Iterator<Item = EthernetStream<'p>> {
        self.plan.on_segment(self.id).filter_map(|(id, stream, hop)| EthernetStream::of(id, stream, hop))
    }

    /// A stream by its number, if it travels on this segment.
    pub fn stream(self, id: StreamId) -> Option<EthernetStream<'p>> {
        let stream = self.plan.streams.get(id.index())?;
        let hop = stream.hops.iter().find(|hop| hop.segment == self.id)?;
        EthernetStream::of(id, stream, hop)
    }

    /// The streams that share the virtual link of one, itself among them; none if it has a virtual link of its own, or has none.
    pub fn sub_virtual_links(self, stream: &EthernetStream<'_>) -> impl Iterator<Item = EthernetStream<'p>> + use<'p> {
        let shared = stream.class.virtual_link().filter(|link| link.sub_links > 1).map(|link| link.ct_id);
        let all = shared.into_iter().flat_map(move |_| self.streams());
        all.filter(move |other| other.class.virtual_link().is_some() && other.class.ct_id() == shared)
    }

    /// The stream that switches know the frames of another one by: the first of those that share its virtual link, else itself.
    pub fn known_as(self, stream: &EthernetStream<'_>) -> StreamId {
        self.sub_virtual_links(stream).next().map_or(stream.id, |first| first.id)
    }

    /// The stream filter that judges frames of a stream which come to a switch from a neighbour. It knows a virtual link as a
    /// whole, whichever of the streams that share it a frame is of.
    pub fn filter_at(self, switch: u16, from: Neighbour, stream: &EthernetStream<'_>) -> Option<&'p FilterPlan> {
        let priority = stream.tag.map_or_else(|| stream.class.priority().0, |tag| tag.pcp);
        let sharers: Vec<Option<usize>> = self.sub_virtual_links(stream).map(|sharer| sharer.entry).collect();
        let is_of = |entry: usize| stream.entry == Some(entry) || sharers.contains(&Some(entry));
        self.segment.stream_filters.of(switch, from, is_of, priority)
    }

    /// Which of the streams that share its virtual link one is, from 0; `None` if it shares none.
    pub fn sub_link(self, stream: &EthernetStream<'_>) -> Option<u8> {
        self.sub_virtual_links(stream).position(|other| other.id == stream.id).map(|place| place as u8)
    }

    /// Stations with an interface to it.
    pub fn stations(self) -> impl Iterator<Item = NodeId> + 'p {
        let on_it = move |node: &NodeId| self.plan.nodes[node.index()].interfaces.contains(&self.id);
        (0..self.plan.nodes.len() as u16).map(NodeId).filter(on_it)
    }

    /// Stations whose tasks are scheduled with this segment: it is the first of this kind among their interfaces.
    pub fn task_stations(self) -> impl Iterator<Item = NodeId> + 'p {
        let is_ethernet = move |id: &&SegmentId| Self::of(self.plan, **id).is_some();
        let first = move |node: NodeId| self.plan.nodes[node.index()].interfaces.iter().find(is_ethernet);
        self.stations().filter(move |node| first(*node) == Some(&self.id))
    }

    /// Its attackers: number among all, and place.
    pub fn attackers(self) -> impl Iterator<Item = (NodeId, AttackPlace)> + 'p {
        let attackers = self.plan.attackers.iter().enumerate();
        attackers
            .filter(move |(_, attacker)| attacker.place.segment() == Some(self.id))
            .map(move |(index, attacker)| (self.plan.attacker_id(index as u16), attacker.place))
    }

    /// What an attacker does.
    pub fn threats_of(self, attacker: NodeId) -> impl Iterator<Item = &'p ThreatPlan> {
        self.plan.threats.iter().filter(move |threat| self.plan.attacker_id(threat.attacker) == attacker)
    }

    /// True if what an attacker on a station's link hands on leaves in the order of priorities that the station's port gives it: the
    /// attacker puts in no frames of its own.
    pub fn keeps_priorities(self, attacker: NodeId) -> bool {
        let adds = |threat: &ThreatPlan| {
            matches!(threat.kind, ThreatKind::Spoof(_) | ThreatKind::Babble(_) | ThreatKind::Flood(_))
        };
        !self.threats_of(attacker).any(adds)
    }

    /// True if a station's frames have come over its wire when an attacker there has them in its hands, in the order in which they left.
    /// The station has stamped its messages of IEEE 802.1AS on the wire by then, and its SecY, which is below its queues, has numbered
    /// and protected what leaves (IEEE 802.1AE-2018, clause 11).
    pub fn has_come_over_wire(self, victim: NodeId) -> bool {
        self.segment.sync == Sync::Gptp || self.segment.link_of(victim).parameters.macsec.is_some()
    }

    /// The numbers of its switches in events and rows.
    pub fn switches(self) -> impl Iterator<Item = NodeId> + 'p {
        (0..self.segment.wiring.switches).map(move |switch| self.plan.own_node(self.id, usize::from(switch)))
    }

    /// How a stream is protected here.
    pub fn protection_of(self, stream: &EthernetStream<'_>) -> &'p ProtectionPlan {
        self.plan.protection_on(stream.stream, stream.hop)
    }

    /// A frame of a stream with its protection, without checksum; the longest one if its messages have several `[byte]`.
    pub fn secured_len(self, stream: &EthernetStream<'_>) -> u32 {
        self.plan.secured_len(stream.stream, stream.hop)
    }

    /// All frames of a message of a stream with its protection, and what each but the last costs beyond its own `[byte]`.
    pub fn message_len(self, stream: &EthernetStream<'_>) -> u64 {
        let between = u64::from(stream.frames() - 1) * self.segment.counted_bytes();
        stream.datagram.map_or_else(|| u64::from(self.secured_len(stream)), |datagram| datagram.total()) + between
    }

    /// The shortest frame of a stream, the last one of a message that has several `[byte]`.
    pub fn shortest_len(self, stream: &EthernetStream<'_>) -> u32 {
        let longest = self.secured_len(stream);
        stream.datagram.map_or(longest, |datagram| datagram.last().min(longest))
    }

    /// The bucket to which asynchronous shapers hold a stream: as it was written, or its longest message and one such message in
    /// each period, with 200 ppm more: the clocks of two stations of IEEE 802.3 differ by no more.
    pub fn committed_of(self, stream: &EthernetStream<'_>) -> Committed {
        stream.committed.unwrap_or_else(|| {
            let burst = self.message_len(stream) + self.segment.counted_bytes();
            // 8 bits, 10^12 ps, and 200 ppm more.
            let bits = u128::from(burst) * 8_001_600_000_000;
            let period = u128::try_from(stream.stream.period.as_ps().max(1)).unwrap_or(1);
            Committed { rate: Rate(u64::try_from(bits.div_ceil(period)).unwrap_or(u64::MAX)), burst }
        })
    }

    /// Time a frame of `len` bytes takes on one wire that has no rate of its own (the source's *Frametime*).
    pub fn frame_time(self, len: u32) -> Duration {
        self.segment.frame_time(len)
    }

    /// Time a frame of a stream takes on the wire of its sender, in the first of the networks it goes over.
    pub fn frame_time_of(self, stream: &EthernetStream<'_>) -> Duration {
        let own = self.segment.link_in(stream.copies.first_network(), stream.hop.from);
        self.segment.frame_time_over(own.parameters, self.secured_len(stream))
    }
}

impl EthernetSegment {
    /// True for one switch whose links are all as the segment says, whose ports send by strict priority, and which filters no
    /// streams.
    pub fn is_plain(&self) -> bool {
        self.wiring.is_plain() && self.ports.is_plain() && self.stream_filters.filters.is_empty()
    }

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
