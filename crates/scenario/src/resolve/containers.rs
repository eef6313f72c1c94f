//! Frames in which gateways put PDUs of several streams.

use chronoseal_core::{Bytes, Duration, NodeId, StreamId};
use chronoseal_frameauth::NAME_LEN_MAX;
use chronoseal_plan::{
    CollectPlan, Contained, DeadlineKind, Facet, HopPlan, NodePlan, PayloadPlan, ProtectionId, ProtectionPlan,
    StreamPlan,
};
use chronoseal_wire::container::HeaderType;

use super::streams::Streams;
use crate::kinds::{
    CollectRequest, Context, HopParts, HopRequest, OtherFrame, Place, Room, Segment, StreamRequest, Table,
};
use crate::limits::{CLUSTER_CYCLE_MAX, PERIOD_MIN};
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::{CollectSpec, ContainerHeaderSpec, FidelitySpec};

/// What the longest frame of a segment has room for in any case `[byte]`; a little more decides nothing.
const ROOM_CERTAIN: u32 = 1_400;

/// What frames of a gateway are collected of: an entry of its `collect`, and what is known of it.
struct Collecting<'s> {
    spec: &'s CollectSpec,
    gateway: NodeId,
    /// Where the entry stands.
    place: Place<'s>,
    within: Duration,
    header: HeaderType,
}

/// A stream that is collected.
struct Member {
    id: StreamId,
    /// Which hop of it.
    hop: usize,
    /// Where it is named in the entry.
    named: usize,
    /// Its PDU in the frame `[byte]`.
    pdu_len: u32,
}

impl<'s> Context<'s> {
    /// The entry by which a gateway puts a stream's PDUs into frames with others' on a segment.
    pub(super) fn collected_by(&self, stream: &str, gateway: NodeId, segment: &str) -> Option<&'s CollectSpec> {
        let gateway = self.spec.nodes.get(gateway.index())?.gateway.as_ref()?;
        let takes = |collect: &&CollectSpec| collect.on == segment && collect.streams.iter().any(|name| name == stream);
        gateway.collect.iter().find(takes)
    }

    /// A stream's way over a segment in frames with others'.
    pub(super) fn contained(&mut self, request: &HopRequest<'_>, collect: &CollectSpec) -> HopParts {
        let (stream, segment) = (request.stream, request.segment.name);
        if request.table.is_written() {
            self.report(
                Code::SegmentTable,
                &stream.at(segment),
                format!("PDUs of stream `{}` are collected in a frame on `{segment}`", shortened(&stream.spec.name)),
                "has no frame of its own",
                format!(
                    "leave the table out: that of the frame stands in the entry of `collect`, `{segment} = {{ … }}`"
                ),
            );
        }
        request.segment.kind.judge_contained(request, self);
        let header = header_type(collect.header);
        let longer =
            if header == HeaderType::Short { ", or `header = \"long\"` for the entry of `collect`" } else { "" };
        HopParts {
            frame_len: stream.payload_len,
            class: Contained::CLASS,
            facet: Facet::new(Contained { container: StreamId::NONE }),
            has_slots: false,
            room: Room {
                bytes: u32::try_from(header.pdu_len_max()).unwrap_or(u32::MAX),
                frame: "a header before a collected PDU",
                other_way: longer.to_owned(),
            },
            wire_time: Duration::ZERO,
        }
    }

    /// The containers of all gateways as streams of their own, numbered from `first`; the streams in them learn whose they are.
    pub(super) fn containers(
        &mut self,
        first: usize,
        nodes: &[NodePlan],
        segments: &[Segment<'s>],
        streams: &mut Streams,
        protections: &[ProtectionPlan],
        mut announced: Option<&mut StreamPlan>,
    ) -> Vec<StreamPlan> {
        let spec = self.spec;
        let mut containers: Vec<StreamPlan> = Vec::new();
        let mut earlier: Vec<(Place<'s>, Duration)> = Vec::new();
        for (node, collects) in
            spec.nodes.iter().enumerate().filter_map(|(i, node)| Some((i, &node.gateway.as_ref()?.collect)))
        {
            if let (false, FidelitySpec::Timing) = (collects.is_empty(), spec.fidelity) {
                self.report(
                    Code::WrongNetwork,
                    &Place::new("nodes").entry(node).key("gateway").key("collect"),
                    format!(
                        "what `{}` collects is told apart by its bytes, and `fidelity` is `\"timing\"`",
                        nodes[node].name
                    ),
                    "needs bytes",
                    "leave `fidelity` out",
                );
            }
            for (k, collect) in collects.iter().enumerate() {
                let place = Place::new("nodes").entry(node).key("gateway").key("collect").entry(k);
                let within = self.within(
                    &place.clone().key("within"),
                    "the waiting time",
                    collect.within.0,
                    PERIOD_MIN,
                    CLUSTER_CYCLE_MAX,
                );
                let header = header_type(collect.header);
                let of = Collecting { spec: collect, gateway: NodeId(node as u16), place, within, header };
                let names: Vec<&str> = segments.iter().map(|segment| segment.name).collect();
                let on = self.find(&collect.on, &names, &of.place.clone().key("on"), "segment", "segments");
                let Some(segment) = on.map(|on| &segments[on]) else { continue };
                let Some(members) = self.collected_streams(&of, segment, streams, protections) else { continue };
                let Some((mut container, every)) = self.container(&of, segment, &members, streams, protections) else {
                    continue;
                };
                container.name = format!("{}.{}.{k}", nodes[node].name, segment.name);
                self.container_name(&of, &container, protections);
                let place = of.place.clone().key(segment.name);
                let written = (streams.plans.iter_mut().zip(&streams.entries)).map(|(plan, entry)| {
                    let place = Place::new("streams").entry(*entry).key(segment.name);
                    (place, Some(*entry), plan.period, plan)
                });
                let announced = announced.as_deref_mut().into_iter();
                let announced = announced.map(|plan| (Place::new("freshness").key("id"), None, plan.period, plan));
                let earlier_ones = (containers.iter_mut().zip(&earlier))
                    .map(|(plan, (place, every))| (place.clone(), None, *every, plan));
                let others = written.chain(announced).chain(earlier_ones).flat_map(|(place, entry, period, plan)| {
                    let hops = plan.hops.iter_mut().filter(|hop| hop.segment == segment.id);
                    hops.map(move |hop| OtherFrame { place: place.clone(), entry, period, hop })
                });
                let table = Table::new(collect.segments.get(segment.name), place.clone());
                let hop = &mut container.hops[0];
                let mut request = CollectRequest { segment, table, hop, every, others: others.collect() };
                segment.kind.check_collect(&mut request, self);
                earlier.push((place, every));
                let id = StreamId((first + containers.len()) as u16);
                for member in &members {
                    streams.plans[member.id.index()].hops[member.hop].facet = Facet::new(Contained { container: id });
                }
                containers.push(container);
            }
        }
        containers
    }

    /// The streams of an entry. `None` if one of them cannot be in it, which has been reported then.
    fn collected_streams(
        &mut self,
        of: &Collecting<'s>,
        segment: &Segment<'_>,
        streams: &Streams,
        protections: &[ProtectionPlan],
    ) -> Option<Vec<Member>> {
        if !segment.kind.rules().collects {
            self.report(
                Code::BadGateway,
                &of.place.clone().key("on"),
                format!(
                    "`{}` is a segment of kind `{}`, on which a frame carries one PDU",
                    segment.name,
                    segment.kind.name()
                ),
                "one PDU a frame",
                "leave the entry out, or name another segment",
            );
            return None;
        }
        let mut members: Vec<Member> = Vec::new();
        for (n, name) in of.spec.streams.iter().enumerate() {
            let at = of.place.clone().key("streams").entry(n);
            let entries: Vec<&str> = self.spec.streams.iter().map(|stream| stream.name.as_str()).collect();
            let entry = self.find(name, &entries, &at, "stream", "streams")?;
            for (id, (_, stream)) in
                (streams.entries.iter().zip(&streams.plans)).enumerate().filter(|(_, (of, _))| **of == entry)
            {
                // A stream without a way is a problem of its own.
                if !streams.are_on_their_way[id] {
                    return None;
                }
                let leaves =
                    |hop: &HopPlan| hop.segment == segment.id && hop.from == of.gateway && hop.previous.is_some();
                let Some(hop) = stream.hops.iter().position(leaves) else {
                    self.does_not_leave(&at, of.gateway, stream, segment);
                    return None;
                };
                // Another entry has it already, or it is named before in this one.
                if stream.hops[hop].container() != Some(StreamId::NONE)
                    || members.iter().any(|other| other.id.index() == id)
                {
                    self.collected_twice(&of.place, stream);
                    return None;
                }
                let sealed = if stream.hops[hop].protection.is_some() { ProtectionId(0) } else { stream.protection };
                let pdu_len = stream.length + protections[usize::from(sealed.0)].overhead_bytes();
                members.push(Member { id: StreamId(id as u16), hop, named: n, pdu_len });
            }
        }
        if members.len() < 2 {
            self.report(
                Code::BadGateway,
                &of.place.clone().key("streams"),
                format!("`{}` collects one stream alone", shortened(&self.spec.nodes[of.gateway.index()].name)),
                "nothing to collect",
                "name another stream, or leave it out",
            );
            return None;
        }
        Some(members)
    }

    /// The frame of an entry as a stream, its name still to be filled in, and how far apart two are on average, at least.
    fn container(
        &mut self,
        of: &Collecting<'s>,
        segment: &Segment<'_>,
        members: &[Member],
        streams: &Streams,
        protections: &[ProtectionPlan],
    ) -> Option<(StreamPlan, Duration)> {
        let hops: Vec<&HopPlan> =
            members.iter().map(|member| &streams.plans[member.id.index()].hops[member.hop]).collect();
        let protection = self.common_protection(of, segment, members, streams, protections)?;
        let written = of.spec.segments.get(segment.name);
        if written.is_none() && segment.needs_table {
            let example = crate::schema::Schema::of(self.kinds).stream_table_example(segment.kind.name());
            self.report(
                Code::MissingKey,
                &of.place,
                format!(
                    "`{}` collects PDUs in a frame on `{}`, a segment of kind `{}`, and does not say how it is addressed",
                    shortened(&self.spec.nodes[of.gateway.index()].name),
                    segment.name,
                    segment.kind.name()
                ),
                &format!("`{}` is missing", segment.name),
                format!("add `{} = {example}`", segment.name),
            );
            return None;
        }
        for other in of.spec.segments.keys().filter(|other| *other != segment.name) {
            self.report(
                Code::SegmentTable,
                &of.place.clone().key(other),
                format!("the frame is sent on `{}`", segment.name),
                "not its segment",
                "leave the table out",
            );
        }
        let with_header = |member: &Member| of.header.wire_len() as u32 + member.pdu_len;
        let mut lens: Vec<u32> = members.iter().map(with_header).collect();
        lens.sort_unstable();
        let asked = of.spec.length.map(|length| u32::try_from(length.0.0).unwrap_or(u32::MAX / 2).min(u32::MAX / 2));
        let wanted = asked.unwrap_or_else(|| lens.iter().sum());
        // Of all streams alike in this, the first stands for the frame.
        let entry = streams.entries[members[0].id.index()];
        let stream = StreamRequest {
            entry,
            spec: &self.spec.streams[entry],
            period: of.within,
            payload_len: wanted,
            protection,
        };
        let every = frames_apart(of, members, streams, wanted);
        let request = HopRequest {
            segment,
            table: Table::new(written, of.place.clone().key(segment.name)),
            stream: &stream,
            is_first: false,
            is_relayed: true,
            collected_every: Some(every),
            protection,
            protection_at: super::streams::protection_place(&stream, segment.name),
            is_sealed_here: protection.is_authenticated(),
        };
        let parts = segment.kind.resolve_hop(&request, self)?;
        let room = parts.room.bytes.saturating_sub(protection.overhead_bytes());
        let length = self.container_len(of, segment, &lens, [wanted, room], &parts.room)?;
        let mut to: Vec<NodeId> = hops.iter().flat_map(|hop| hop.to.iter().copied()).collect();
        to.sort_unstable();
        to.dedup();
        let number = protections.iter().position(|known| std::ptr::eq(known, protection)).unwrap_or_default();
        let container = StreamPlan {
            name: String::new(),
            sender: of.gateway,
            sent_by: None,
            receivers: Vec::new(),
            period: of.within,
            offset: None,
            has_offset: false,
            application: None,
            min_distance: None,
            trigger: None,
            deadline: None,
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            length,
            payload: PayloadPlan::Collected(CollectPlan {
                streams: members.iter().map(|member| member.id).collect(),
                within: of.within,
                header: of.header,
            }),
            protection: ProtectionId(number as u16),
            hops: vec![HopPlan {
                segment: segment.id,
                from: of.gateway,
                to,
                frame_len: parts.frame_len,
                class: parts.class,
                facet: parts.facet,
                previous: None,
                protection: None,
            }],
        };
        Some((container, every))
    }

    /// How the frame is protected on its segment: as every stream in it is there.
    fn common_protection<'p>(
        &mut self,
        of: &Collecting<'s>,
        segment: &Segment<'_>,
        members: &[Member],
        streams: &Streams,
        protections: &'p [ProtectionPlan],
    ) -> Option<&'p ProtectionPlan> {
        let on_hop = |member: &Member| streams.plans[member.id.index()].hops[member.hop].protection.unwrap_or_default();
        let name = |member: &Member| shortened(&streams.plans[member.id.index()].name);
        let first = &members[0];
        let Some(other) = members.iter().find(|member| on_hop(member) != on_hop(first)) else {
            return protections.get(usize::from(on_hop(first).0));
        };
        let protected = |member: &Member| match on_hop(member) {
            ProtectionId(0) => "not".to_owned(),
            id => format!("by `{}`", protections[usize::from(id.0)].name),
        };
        self.report_both(
            Code::BadGateway,
            (&of.place.clone().key("streams").entry(other.named), "protected otherwise"),
            (&of.place.clone().key("streams").entry(first.named), "than this one"),
            format!(
                "on `{}` alone `{}` is protected {} and `{}` {}, and one tag is over the whole frame",
                segment.name,
                name(first),
                protected(first),
                name(other),
                protected(other)
            ),
            format!("write the same protection on `{}` for both, or collect them in frames of their own", segment.name),
        );
        None
    }

    /// How much of a frame of `room` bytes is for PDUs with their headers, `lens` from the shortest on `[byte]`.
    fn container_len(
        &mut self,
        of: &Collecting<'s>,
        segment: &Segment<'_>,
        lens: &[u32],
        [wanted, room]: [u32; 2],
        frame: &Room,
    ) -> Option<u32> {
        let bytes = |len: u32| Bytes(u64::from(len));
        // The longest one finds a place, and not every one is alone.
        let least = lens.last().copied().unwrap_or_default().max(lens.iter().take(2).sum());
        let (key, message, help) = if of.spec.length.is_some() && wanted > room {
            let message =
                format!("{} of PDUs and headers do not fit the {} of {}", bytes(wanted), bytes(room), frame.frame);
            ("length", message, format!("write `length = \"{room}B\"` at most"))
        } else if wanted.min(room) < least {
            let message = format!(
                "the PDUs need {} in one frame with their headers, and {} on `{}` has {} for them",
                bytes(least),
                frame.frame,
                segment.name,
                bytes(wanted.min(room))
            );
            let key = if of.spec.length.is_some() { "length" } else { "streams" };
            (key, message, format!("collect shorter ones{}", frame.other_way))
        } else {
            return Some(wanted.min(room));
        };
        self.report(Code::FrameTooLong, &of.place.clone().key(key), message, "too long together", help);
        None
    }

    /// Refuses a frame whose name is too long to stand under its tag.
    fn container_name(&mut self, of: &Collecting<'s>, container: &StreamPlan, protections: &[ProtectionPlan]) {
        let is_sealed = protections[usize::from(container.protection.0)].is_authenticated();
        let len = container.name.len();
        if is_sealed && len > NAME_LEN_MAX {
            self.report(
                Code::BadName,
                &of.place,
                format!(
                    "the tag of the frame covers its name, `{}`, which has {len} bytes",
                    shortened(&container.name)
                ),
                "too long",
                format!("give the gateway or the segment a name that is {} bytes shorter", len - NAME_LEN_MAX),
            );
        }
    }

    fn does_not_leave(&mut self, at: &Place<'_>, gateway: NodeId, stream: &StreamPlan, segment: &Segment<'_>) {
        self.report(
            Code::BadGateway,
            at,
            format!(
                "stream `{}` does not go on from `{}` to `{}`",
                shortened(&stream.name),
                shortened(&self.spec.nodes[gateway.index()].name),
                segment.name
            ),
            "not on its way",
            "leave it out, or name the gateway that brings it to this segment",
        );
    }

    fn collected_twice(&mut self, place: &Place<'_>, stream: &StreamPlan) {
        self.report(
            Code::BadGateway,
            &place.clone().key("streams"),
            format!("stream `{}` is collected twice", shortened(&stream.name)),
            "again here",
            "name each stream once",
        );
    }
}

/// How far apart the frames of an entry are on average, at least, if one has room for `wanted` bytes. A frame leaves with one PDU or
/// more; and it leaves for one that has waited, or for want of room with all it has room for but the longest PDU.
fn frames_apart(of: &Collecting<'_>, members: &[Member], streams: &Streams, wanted: u32) -> Duration {
    /// Parts of a frame in a picosecond.
    const WHOLE: i128 = 1_000_000_000_000_000_000;
    let len = |member: &Member| i128::from(of.header.wire_len() as u32 + member.pdu_len);
    let every = |period: Duration| WHOLE / i128::from(period.as_ps().max(1));
    let rate = |member: &Member| every(streams.plans[member.id.index()].period);
    let longest = members.iter().map(len).max().unwrap_or_default();
    let full = (i128::from(wanted.min(ROOM_CERTAIN)) - longest + 1).max(1);
    let each: i128 = members.iter().map(rate).sum();
    let closed: i128 = every(of.within) + members.iter().map(|member| rate(member) * len(member) / full).sum::<i128>();
    Duration::from_ps(i64::try_from(WHOLE / each.min(closed).max(1)).unwrap_or(i64::MAX))
}

const fn header_type(header: ContainerHeaderSpec) -> HeaderType {
    match header {
        ContainerHeaderSpec::Short => HeaderType::Short,
        ContainerHeaderSpec::Long => HeaderType::Long,
    }
}
