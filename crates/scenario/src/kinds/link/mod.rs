//! A lossy link: packets that come late, doubled, out of order or not at all.

mod laws;
mod measured;
mod over;
mod replay;
pub mod spec;

use chronoseal_core::{DiscardReason, Duration, NodeId, StreamId};
use chronoseal_nodes::Protection;
use chronoseal_plan::{
    AllowancePlan, Facet, LINK, Link, LinkHop, LinkSegment, LinkTransport, NodePlan, Plan, ProtectionKind, SegmentId,
    StreamPlan,
};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::ipv4::{self, Cut};
use chronoseal_wire::part_header::PARTS_MAX;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::{tcp, udp};
use serde_json::Value as Json;

use self::spec::{LinkSegmentSpec, LinkStreamSpec, LinkThreatSpec, TransportSpec};
use super::{
    Context, HopParts, HopRequest, Replay, Room, Rules, SegmentKind, SegmentParts, SegmentRequest, Step, Table,
    TrafficParts, TrafficRequest, schema_of,
};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// How long a receiver waits for the rest of a message unless a scenario says otherwise (RFC 791 §3.2).
const TIMEOUT: Duration = Duration::from_s(15);

/// The packets that QUIC has to be able to send: datagrams of 1200 bytes (RFC 9000 §14), headers of IPv4 and UDP included `[byte]`.
const QUIC_MTU_MIN: u32 = 1_228;

/// The kind of lossy links.
#[derive(Clone, Copy, Debug)]
pub struct LinkKind;

/// The node through which all packets go, by its name.
fn through(request: &SegmentRequest<'_>, name: &str, context: &mut Context<'_>) -> Option<NodeId> {
    let at = request.table.at("through");
    let (numbers, nodes): (Vec<usize>, Vec<&NodePlan>) = request.nodes_on_it().unzip();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let found = context.find(
        name,
        &names,
        &at,
        &format!("node on `{}`", request.name),
        &format!("nodes on `{}`", request.name),
    )?;
    if nodes[found].program.is_none() {
        context.report(
            Code::MissingKey,
            &at,
            format!("`{}` has no program that could pass packets on", shortened(name)),
            "a node without a program",
            "give it a `program`, or leave `through` out",
        );
    }
    Some(NodeId(numbers[found] as u16))
}

impl SegmentKind for LinkKind {
    fn name(&self) -> &'static str {
        LINK
    }

    fn segment_schema(&self) -> Json {
        schema_of::<LinkSegmentSpec>()
    }

    fn stream_schema(&self) -> Json {
        schema_of::<LinkStreamSpec>()
    }

    fn threat_schema(&self) -> Json {
        schema_of::<LinkThreatSpec>()
    }

    fn rules(&self) -> Rules {
        Rules {
            has_timing_fidelity: false,
            has_programs: true,
            relays: true,
            replays: Some(Replay::Flow),
            payload_header_len: MESSAGE_HEADER_LEN,
            payload_changes: true,
            ..Rules::default()
        }
    }

    fn resolve_segment(&self, request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
        let spec: LinkSegmentSpec = request.table.read(context)?;
        let (profile, laws) = laws::resolve(request, &spec, context)?;
        let mtu = context.within(&request.table.at("mtu"), "the longest packet", spec.mtu.0, MTU_MIN, MTU_MAX);
        for (i, node) in request.nodes_on_it().filter(|(_, node)| node.interfaces.len() > 1) {
            context.report(
                Code::NotYet,
                &[Step::Key("nodes"), Step::Index(i), Step::Key("on")],
                format!("`{}` is on `{}`, a segment of kind `link`, and on others", node.name, request.name),
                "a gateway to a lossy link",
                "gateways do not pass messages between a lossy link and other segments yet: give the node one segment",
            );
        }
        let through = spec.through.as_deref().and_then(|name| through(request, name, context));
        let measured = spec.measured.as_deref().map(|path| measured::resolve(request, path, context));
        let measured = measured.unwrap_or_default();
        let segment = LinkSegment { profile, laws, mtu: mtu.0 as u32, through, measured };
        Some(SegmentParts { own_nodes: vec![request.name.to_owned()], ..SegmentParts::new(Facet::new(segment)) })
    }

    fn resolve_hop(&self, request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
        let spec: LinkStreamSpec = request.table.read(context)?;
        let segment: &LinkSegment = request.segment.facet()?;
        let (transport, header_len) = match spec.transport {
            TransportSpec::Udp => (LinkTransport::Udp, udp::HEADER_LEN),
            TransportSpec::Tcp => (LinkTransport::Tcp, tcp::LENGTH_LEN),
            TransportSpec::Tls => (LinkTransport::Tls, tcp::LENGTH_LEN),
            TransportSpec::Quic => (LinkTransport::Quic, udp::HEADER_LEN),
            TransportSpec::Program => (LinkTransport::Program, 0),
        };
        let over = over::resolve(request, &spec, segment, context);
        let (transport, header_len) =
            if over.is_some() { (LinkTransport::Program, 0) } else { (transport, header_len) };
        if transport == LinkTransport::Program && !matches!(request.protection.kind, ProtectionKind::None) {
            context.report(
                Code::NotYet,
                &request.protection_at,
                format!(
                    "`{}` cannot be used on `{}`: programs carry the stream there, and seal its messages or do not",
                    request.protection.name, request.segment.name
                ),
                "the programs' own",
                "leave the protection out",
            );
        }
        request.judge_protection(Protection::check_on_link, context);
        if segment.through.is_some() && transport != LinkTransport::Program {
            context.report(
                Code::NotYet,
                &request.table.at("transport"),
                format!(
                    "`{}` is on `{}`, whose packets all go `through` a node, and nothing bounds what its program does with them",
                    shortened(&request.stream.spec.name),
                    request.segment.name
                ),
                "carried by no program",
                "write `transport = \"program\"`, or leave `through` out",
            );
        }
        if transport == LinkTransport::Quic && segment.mtu < QUIC_MTU_MIN {
            context.report(
                Code::OutOfRange,
                &request.table.at("transport"),
                format!(
                    "`{}` goes over QUIC, whose packets need {QUIC_MTU_MIN}B, and `{}` has an `mtu` of {}B",
                    shortened(&request.stream.spec.name),
                    request.segment.name,
                    segment.mtu
                ),
                "longer than the link's packets",
                "write a longer `mtu`, or another `transport`",
            );
        }
        if transport != LinkTransport::Program && (request.stream.payload_len as usize) < TestBedHeader::LEN {
            context.report(
                Code::OutOfRange,
                &request.stream.at("length"),
                format!(
                    "a message of `{}` has {}B, and on `{}` its stream and number take {} of them",
                    shortened(&request.stream.spec.name),
                    request.stream.payload_len,
                    request.segment.name,
                    TestBedHeader::LEN
                ),
                "too short",
                "write 8B at least",
            );
            context.has_stand_ins = true;
        }
        let headers = (HEADER_LEN + ipv4::HEADER_LEN + header_len) as u32;
        let message = (request.stream.payload_len + request.protection.overhead_bytes()).min(LINK_MESSAGE_MAX) as usize;
        let facet = match transport {
            LinkTransport::Udp => LinkHop::in_datagrams(message, segment, TIMEOUT),
            LinkTransport::Program if let Some(charged) = over.as_ref().and_then(|over| over.charged.as_ref()) => {
                let hop = LinkHop::charged(message, charged, segment, TIMEOUT);
                LinkHop { transport, over, ..hop }
            }
            LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic | LinkTransport::Program => {
                let cut = Cut::new(header_len + message, segment.mtu as usize);
                LinkHop { transport, over, cut, parts: None, timeout: TIMEOUT }
            }
        };
        let name = shortened(&request.stream.spec.name);
        if let Some(parts) = facet.parts.filter(|parts| parts.fragments() > PARTS_MAX) {
            context.report(
                Code::OutOfRange,
                &request.table.at("transport"),
                format!(
                    "a message of stream `{name}` has {} parts in packets of {} bytes; {PARTS_MAX} are possible",
                    parts.fragments(),
                    segment.mtu
                ),
                "too many parts",
                "send shorter messages, or give the segment a longer `mtu`",
            );
        }
        let at = request.table.at("reassembly_timeout");
        let timeout = spec.reassembly_timeout.map_or(TIMEOUT, |written| {
            if transport != LinkTransport::Udp {
                let message = format!("over `{}` no message is given up", facet.carrier());
                context.report(Code::OutOfRange, &at, message, "not used", "leave `reassembly_timeout` out");
            } else if facet.cut.fragments() == 1 && !context.has_stand_ins {
                let message =
                    format!("messages of stream `{name}` are a packet each, and nothing is put together again");
                context.report(Code::OutOfRange, &at, message, "not used", "leave `reassembly_timeout` out");
            }
            context.within(&at, "the time for reassembly", written.0, PERIOD_MIN, REASSEMBLY_TIMEOUT_MAX)
        });
        let sent = segment.sending_time(facet.cut);
        Some(HopParts {
            frame_len: headers + request.stream.payload_len,
            class: if facet.over.is_some() { "middleware" } else { transport.name() },
            facet: Facet::new(LinkHop { timeout, ..facet }),
            has_slots: false,
            room: Room { bytes: LINK_MESSAGE_MAX, frame: "a message", other_way: String::new() },
            wire_time: sent + segment.laws.delay.min(),
        })
    }

    fn resolve_traffic(&self, request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
        replay::resolve(request, context)
    }

    fn check_plan(&self, plan: &Plan, segment: SegmentId, context: &mut Context<'_>) {
        let Some(view) = Link::of(plan, segment) else { return };
        let asked_or_answer = |id: StreamId, stream: &StreamPlan| {
            stream.trigger.is_some() || plan.streams.iter().any(|other| other.answers() == Some(id))
        };
        let over_others = view.streams().find(|(id, stream, _, facet)| {
            !matches!(facet.transport, LinkTransport::Udp | LinkTransport::Tcp) && asked_or_answer(*id, stream)
        });
        if let Some((id, stream, _, facet)) = over_others {
            let (name, entry) = (&plan.segments[segment.index()].name, context.entry_of(id));
            context.report(
                Code::NotYet,
                &[Step::Key("streams"), Step::Index(entry), Step::Key(name), Step::Key("transport")],
                format!(
                    "`{}` is answered or an answer, and goes over `{}`; a relay answers over UDP and TCP",
                    shortened(&stream.name),
                    facet.carrier()
                ),
                "not answered there",
                "write `transport = \"udp\"` or `\"tcp\"`, or leave `answers` out",
            );
        }
        over::check(view, context);
        let is_carried = |facet: &LinkHop| facet.transport == LinkTransport::Program && facet.over.is_none();
        let carried = view.streams().filter(|(.., facet)| is_carried(facet));
        for (id, stream, hop, _) in carried {
            let idle =
                std::iter::once(&hop.from).chain(&hop.to).find(|node| plan.nodes[node.index()].program.is_none());
            let Some(node) = idle else { continue };
            let (name, entry) = (&plan.segments[segment.index()].name, context.entry_of(id));
            context.report(
                Code::MissingKey,
                &[Step::Key("streams"), Step::Index(entry), Step::Key(name), Step::Key("transport")],
                format!("`{}` has no program to carry stream `{}`", plan.node_name(*node), shortened(&stream.name)),
                "carried by programs",
                "give each of its nodes a `program`, or leave `transport` out",
            );
        }
    }

    /// What the link loses by its own laws fails no stream that has no deadline. What a full queue throws away does.
    fn complete(&self, plan: &mut Plan, segment: SegmentId, _: &Table<'_>, _: &mut Context<'_>) {
        let Some(view) = Link::of(plan, segment) else { return };
        let laws = &view.segment.laws;
        let by_law = [
            (DiscardReason::LostOnLink, laws.loss.share()),
            (DiscardReason::Malformed, laws.corrupt),
            (DiscardReason::ChecksumMismatch, laws.corrupt),
        ];
        let by_law = by_law.iter().filter(|(_, share)| *share > 0.0);
        let has_deadline =
            |stream: &StreamPlan| stream.receivers.iter().any(|node| stream.deadline_of(*node).is_some());
        let free: Vec<StreamId> =
            view.streams().filter(|(_, stream, ..)| !has_deadline(stream)).map(|(id, ..)| id).collect();
        for (reason, _) in by_law {
            for stream in &free {
                let reason = reason.name().to_owned();
                if !plan.allowances.iter().any(|known| known.stream == *stream && known.reason == reason) {
                    plan.allowances.push(AllowancePlan { stream: *stream, reason, frames: u32::MAX });
                }
            }
        }
    }
}
