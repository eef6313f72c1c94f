//! A segment of a plan with what travels on it.

use chronoseal_core::{Duration, NodeId, Rate, StreamId};

use super::{Committed, EthernetSegment, EthernetStream, FilterPlan, Neighbour, Sync};
use crate::{AttackPlace, Plan, ProtectionPlan, SegmentId, ThreatKind, ThreatPlan};

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

    /// The shortest frame of a stream, the last one of a message that has several, or that of a recording `[byte]`.
    pub fn shortest_len(self, stream: &EthernetStream<'_>) -> u32 {
        let longest = self.secured_len(stream);
        if let Some(recorded) = stream.stream.recorded() {
            return longest - (recorded.longest() - recorded.shortest()) as u32;
        }
        stream.datagram.map_or(longest, |datagram| datagram.last().min(longest))
    }

    /// The bucket to which asynchronous shapers hold a stream: as it was written, or its longest message and one such message in
    /// each period, with 200 ppm more: the clocks of two stations of IEEE 802.3 differ by no more. Of a recording, what bounds it.
    pub fn committed_of(self, stream: &EthernetStream<'_>) -> Committed {
        stream.committed.unwrap_or_else(|| {
            let one = self.message_len(stream) + self.segment.counted_bytes();
            // 8 bits, 10^12 ps, and 200 ppm more.
            let bits = u128::from(one) * 8_001_600_000_000;
            let (distance, jitter) = stream.stream.bounding();
            let [period, jitter] = [distance.max(Duration::from_ps(1)), jitter].map(|time| time.as_ps().unsigned_abs());
            let late = (u128::from(one) * u128::from(jitter)).div_ceil(u128::from(period));
            let burst = one.saturating_add(u64::try_from(late).unwrap_or(u64::MAX));
            Committed { rate: Rate(u64::try_from(bits.div_ceil(u128::from(period))).unwrap_or(u64::MAX)), burst }
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
