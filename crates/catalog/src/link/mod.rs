//! A lossy link and the stations on it, which exchange messages by UDP.

mod describe;
mod live;

use chronoseal_analysis::Infeasible;
use chronoseal_core::{Node, NodeId, StreamId};
use chronoseal_media::link::{DelayLaw, LinkConfig, Loss, LossyLink, Order, Shaper};
use chronoseal_media::medium::{Attachment, Medium};
use chronoseal_nodes::Protection;
use chronoseal_nodes::gateway::Stack;
use chronoseal_nodes::udp_station::{
    Framing, Payload, ProgramTimes, Trigger, UdpListener, UdpStation, UdpStationConfig, UdpTalker,
};
use chronoseal_plan::{
    Charged, Facet, HopPlan, LINK, Link, LinkHop, LinkSegment, LinkTransport, Middleware, PayloadPlan, Plan, SegmentId,
    StreamPlan, Trigger as TriggerPlan,
};
use chronoseal_wire::ipv4::Cut;
use chronoseal_wire::message_check::MessageCheck;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link;

use crate::{
    BuildError, BuildOptions, Connection, Datagrams, Describe, Kind, LiveLink, NotSimulated, OwnProtection, Parts,
    Prepared, Sockets, fill, pace, protection, signal,
};

/// LINKTYPE_ETHERNET.
const LINK_TYPE: u16 = 1;

/// The longest packet of a simulated station: what an Ethernet frame carries `[byte]`.
const SIMULATED_MTU_MAX: u32 = 1_500;

/// The row of lossy links.
#[derive(Clone, Copy, Debug)]
pub struct LinkKind;

/// A segment of this kind.
fn view_of<'p>(prepared: &Prepared<'p>, segment: SegmentId) -> Link<'p> {
    Link::of(prepared.plan(), segment).expect("a row is asked for segments of its own kind")
}

/// What a station sends and receives on a segment.
///
/// Whole: the kernel cuts its messages, so that each has one packet here.
fn config(view: Link<'_>, node: NodeId, is_whole: bool) -> Result<UdpStationConfig, BuildError> {
    let mut config = UdpStationConfig { node, talkers: Vec::new(), listeners: Vec::new() };
    for (id, stream, hop, facet) in view.streams() {
        let mut charged = None;
        // In what its sender gives messages, and its receivers get them.
        let (given, got) = match (facet.transport, facet.parts) {
            (LinkTransport::Udp, _)
                if stream.recorded().is_some() && (is_whole || view.segment.mtu <= SIMULATED_MTU_MAX) =>
            {
                (Framing::Packet, Framing::Packet)
            }
            (LinkTransport::Udp, None) if is_whole => {
                let whole = Framing::Datagram(Cut { fragment_len: usize::MAX, ..facet.cut });
                (whole, whole)
            }
            // The socket cuts what it is given, and nobody but the station puts it together.
            (LinkTransport::Udp, Some(parts)) if is_whole => (Framing::Message, Framing::Parts(parts)),
            (LinkTransport::Udp, _) if view.segment.mtu > SIMULATED_MTU_MAX => {
                return Err(BuildError::LongPackets(stream.name.clone()));
            }
            (LinkTransport::Udp, None) => (Framing::Datagram(facet.cut), Framing::Datagram(facet.cut)),
            (LinkTransport::Udp, Some(parts)) => (Framing::Parts(parts), Framing::Parts(parts)),
            (LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic, _) if is_whole => {
                (Framing::Message, Framing::Message)
            }
            (over @ (LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic), _) => {
                return Err(BuildError::OnlyLive { stream: stream.name.clone(), over: over.title().to_owned() });
            }
            (LinkTransport::Program, parts) if !is_whole && let Some(over) = &facet.over => {
                charged = Some(simulated(view, stream, over)?);
                let framing = parts.map_or(Framing::Datagram(facet.cut), Framing::Parts);
                (framing, framing)
            }
            // Its programs send and receive them.
            (LinkTransport::Program, _) => continue,
        };
        // What a middleware adds to a message is on the wire, as the bytes of a mechanism without a key.
        let protection = || match charged {
            Some(_) => Protection::None { padding: facet.padding(stream.length as usize) },
            None => protection::on_hop(view.plan, id, hop, id.0),
        };
        if hop.from == node {
            config.talkers.push(UdpTalker {
                stream: id,
                phase: stream.offset.unwrap_or_default(),
                trigger: trigger(view.plan, stream),
                framing: given,
                fill: fill(view.plan, id, stream.length as usize),
                payload: payload(view.plan, stream),
                signal: signal(view.plan, stream),
                protection: protection(),
                // The kernel writes the headers of what is whole, and that checksum or none.
                leaves_checksum_out: is_whole || leaves_checksum_out(view, stream, hop, facet),
            });
        }
        if hop.to.contains(&node) {
            let (sender, timeout) = (hop.from, facet.timeout);
            let takes = charged.map(|charged| ProgramTimes { times: charged.times.clone(), seed: view.plan.seed });
            let protection = protection();
            config.listeners.push(UdpListener { stream: id, sender, framing: got, timeout, protection, takes });
        }
    }
    Ok(config)
}

/// True of a stream whose datagrams go without the checksum of UDP: what the link alters is then found by that of each message, in a simulation
/// and live. What is too short to have one keeps UDP's, and so does what is sealed, whose seal would not fit.
fn leaves_checksum_out(view: Link<'_>, stream: &StreamPlan, hop: &HopPlan, facet: &LinkHop) -> bool {
    let recorded = stream.recorded().and_then(|all| all.messages().iter().map(|(_, message)| message.len()).min());
    let shortest = recorded.unwrap_or(stream.length as usize);
    let is_sealed = view.plan.protection_on(stream, hop).overhead_bytes() > 0;
    view.segment.laws.corrupt > 0.0
        && facet.transport == LinkTransport::Udp
        && shortest >= MessageCheck::END
        && !is_sealed
}

/// What a simulation charges for the middleware of a stream.
fn simulated<'p>(view: Link<'p>, stream: &StreamPlan, over: &'p Middleware) -> Result<&'p Charged, BuildError> {
    let not = |problem| BuildError::Middleware {
        stream: stream.name.clone(),
        configuration: over.configuration.clone(),
        problem,
    };
    let charged = over.charged.as_ref().ok_or_else(|| not(NotSimulated::Unmeasured))?;
    if view.segment.laws.loses() {
        return Err(not(NotSimulated::Losses));
    }
    match view.segment.mtu > SIMULATED_MTU_MAX {
        true => Err(BuildError::LongPackets(stream.name.clone())),
        false => Ok(charged),
    }
}

/// What makes a station send the messages of a stream.
fn trigger(plan: &Plan, stream: &StreamPlan) -> Trigger {
    match stream.trigger {
        None => {
            stream.recorded().map_or_else(|| pace(plan, stream).into(), |recorded| Trigger::Recorded(recorded.clone()))
        }
        Some(TriggerPlan::Answers(asked)) => Trigger::Answers(asked),
        Some(TriggerPlan::ClosedLoop { answer, timeout }) => {
            Trigger::ClosedLoop { answer, least: stream.period, timeout }
        }
    }
}

/// What of the payload of a stream changes from message to message.
fn payload(plan: &Plan, stream: &StreamPlan) -> Payload {
    match stream.payload {
        PayloadPlan::Sequential => Payload::Sequential,
        PayloadPlan::Random => Payload::Random(plan.seed),
        PayloadPlan::Synthetic
        | PayloadPlan::Recorded { .. }
        | PayloadPlan::Messages(_)
        | PayloadPlan::Collected(_) => Payload::Same,
    }
}

/// The ends of connections that a station has.
fn connections(view: Link<'_>, node: NodeId) -> Vec<Connection> {
    let connected = view.streams().filter(|(.., facet)| facet.transport.is_connection());
    connected
        .flat_map(|(stream, plan, hop, facet)| {
            let over = facet.transport;
            let message_len = plan.length + view.plan.protection_on(plan, hop).overhead_bytes();
            let end = move |peer, sends| Connection { stream, over, peer, sends, message_len };
            let sends = hop.to.iter().filter(move |_| hop.from == node).map(move |peer| end(*peer, true));
            let gets = hop.to.iter().filter(move |to| **to == node).map(move |_| end(hop.from, false));
            sends.chain(gets)
        })
        .collect()
}

/// The ends of streams in datagrams that a station has.
fn datagrams(view: Link<'_>, node: NodeId) -> Vec<Datagrams> {
    let of_datagrams = view.streams().filter(|(.., facet)| facet.transport == LinkTransport::Udp);
    of_datagrams
        .flat_map(|(stream, _, hop, facet)| {
            let parts = facet.parts.map(|cut| Parts {
                message_len: (TestBedHeader::LEN + cut.datagram_len) as u32,
                data_len: cut.fragment_len as u16,
            });
            let end = move |sends, peers| Datagrams { stream, sends, sender: hop.from, peers, parts };
            let sends = (hop.from == node).then(|| end(true, hop.to.clone()));
            let gets = hop.to.contains(&node).then(|| end(false, vec![hop.from]));
            sends.into_iter().chain(gets)
        })
        .collect()
}

impl Kind for LinkKind {
    fn name(&self) -> &'static str {
        LINK
    }

    fn differs_live(&self, plan: &Plan, segment: SegmentId) -> Vec<String> {
        Link::of(plan, segment).map(live::waits_longer).unwrap_or_default()
    }

    fn prepare(&self, _: &Plan, _: SegmentId) -> Result<Facet, Box<Infeasible>> {
        // Nothing has to be worked out before a run.
        Ok(Facet::new(()))
    }

    fn medium(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        guests: &[Attachment],
    ) -> Result<Box<dyn Medium + Send>, BuildError> {
        let view = view_of(prepared, segment);
        let stations = view.plan.node_ids().filter_map(|id| prepared.attachment(id, segment));
        let mut groups = vec![Vec::new(); view.plan.streams.len()];
        for (id, _, hop, _) in view.streams() {
            groups[id.index()] = hop.to.clone();
        }
        Ok(Box::new(LossyLink::new(LinkConfig {
            ends: stations.chain(guests.iter().copied()).collect(),
            groups,
            node: view.node(),
            through: view.segment.through.and_then(|node| prepared.attachment(node, segment)),
            laws: view.segment.laws.clone(),
            seed: view.plan.seed,
            number: segment.0,
        })))
    }

    fn station(
        &self,
        prepared: &Prepared<'_>,
        segment: SegmentId,
        node: NodeId,
        options: BuildOptions,
    ) -> Result<Box<dyn Node + Send>, BuildError> {
        let view = view_of(prepared, segment);
        if let Some(plan) =
            view.plan.nodes.get(node.index()).filter(|plan| plan.program.is_some() && !options.whole_messages)
        {
            return Err(BuildError::Program(plan.name.clone()));
        }
        let config = config(view, node, options.whole_messages)?;
        Ok(Box::new(UdpStation::new(config)?))
    }

    fn stack(
        &self,
        _: &Prepared<'_>,
        _: SegmentId,
        node: NodeId,
        _: BuildOptions,
    ) -> Result<Box<dyn Stack + Send>, BuildError> {
        // A scenario in which a gateway would need one is refused.
        Err(BuildError::UnknownNode(node))
    }

    fn attacker(&self, _: &Prepared<'_>, _: SegmentId, node: NodeId) -> Result<Box<dyn Node + Send>, BuildError> {
        Err(BuildError::Attack(node))
    }

    fn describer(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Box<dyn Describe> {
        Box::new(describe::Describer::new(view_of(prepared, segment)))
    }

    fn live_link(&self) -> LiveLink {
        LiveLink::Sockets
    }

    fn sockets(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> Option<Sockets> {
        let view = view_of(prepared, segment);
        Some(Sockets {
            address: virtual_link::station_ip(node),
            datagrams: datagrams(view, node),
            mtu: view.segment.mtu,
            connections: connections(view, node),
            leaves_checksum_out: view.segment.laws.corrupt > 0.0,
            held_to: view.segment.laws.rate.filter(|_| view.segment.laws.shaper == Shaper::Sender),
        })
    }

    fn own_protection(&self, _: &Plan, hop: &HopPlan) -> Option<OwnProtection> {
        let facet: &LinkHop = hop.facet.get()?;
        match facet.transport {
            LinkTransport::Udp | LinkTransport::Tcp => None,
            LinkTransport::Tls => Some(OwnProtection::Checked("TLS 1.3")),
            LinkTransport::Quic => Some(OwnProtection::Checked("QUIC")),
            LinkTransport::Program if facet.over.is_some() => Some(OwnProtection::Unknown("its middleware's")),
            LinkTransport::Program => Some(OwnProtection::Unknown("its program's")),
        }
    }

    fn carried_by_programs(&self, prepared: &Prepared<'_>, segment: SegmentId, node: NodeId) -> Vec<(StreamId, bool)> {
        let carried =
            view_of(prepared, segment).streams().filter(|(.., facet)| facet.transport == LinkTransport::Program);
        let its = carried.filter(|(_, _, hop, _)| hop.from == node || hop.to.contains(&node));
        its.map(|(id, _, hop, _)| (id, hop.from == node)).collect()
    }

    fn live_refusal(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Option<String> {
        let view = view_of(prepared, segment);
        if view.segment.laws.corrupt <= 0.0 {
            return None;
        }
        if view.segment.mtu > SIMULATED_MTU_MAX {
            return Some(
                "it alters packets (`corrupt`), and none of more than 1500 bytes: write a shorter `mtu`".to_owned(),
            );
        }
        let is_lost = |(_, stream, hop, facet): &(StreamId, &StreamPlan, &HopPlan, &LinkHop)| match facet.transport {
            LinkTransport::Udp => !leaves_checksum_out(view, stream, hop, facet),
            LinkTransport::Program => true,
            LinkTransport::Tcp | LinkTransport::Tls | LinkTransport::Quic => false,
        };
        view.streams().find(is_lost).map(|(_, stream, ..)| {
            format!(
                "it alters packets (`corrupt`), which the kernel throws away without a word where the messages of a stream are shorter than {}B, \
                 protected or a program's, as those of {}: a live run could not account for them; leave `corrupt` out",
                MessageCheck::END,
                stream.name
            )
        })
    }

    fn link_type(&self) -> u16 {
        LINK_TYPE
    }

    fn properties(&self, prepared: &Prepared<'_>, segment: SegmentId) -> Vec<(&'static str, String)> {
        let LinkSegment { profile, laws, mtu, through, .. } = view_of(prepared, segment).segment;
        let (mean, deviation) = laws.delay.moments_ns();
        let mut properties = vec![
            ("profile", profile.unwrap_or("localhost").to_owned()),
            ("rate", laws.rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string())),
            ("shaper", laws.shaper.text().to_owned()),
            (
                "queue",
                match laws.shaper {
                    Shaper::Behind => format!("{} frames", laws.queue),
                    Shaper::Sender => "none: messages wait at their sender".to_owned(),
                },
            ),
            ("delay", delay(&laws.delay)),
            ("delay, mean and deviation of what comes", format!("{:.3} us, {:.3} us", mean / 1e3, deviation / 1e3)),
            ("loss", loss(laws.loss)),
            ("order", if laws.order == Order::Strict { "strict" } else { "as delayed" }.to_owned()),
            ("longest packet", format!("{mtu}B")),
        ];
        properties.extend(through.map(|node| ("all packets go through", prepared.plan().node_name(node).to_owned())));
        let shares = [("duplicates", laws.duplicate), ("altered", laws.corrupt)];
        properties
            .extend(shares.iter().filter(|(_, share)| *share > 0.0).map(|(name, share)| (*name, percent(*share))));
        properties
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

fn delay(law: &DelayLaw) -> String {
    match law {
        DelayLaw::Constant(delay) => delay.to_string(),
        DelayLaw::Uniform { min, max } => format!("{min} to {max}"),
        DelayLaw::Normal { mean, deviation } => format!("normal, {mean} and {deviation}, clamped at zero"),
        DelayLaw::Recorded(delays) => format!("{} recorded delays", delays.len()),
    }
}

fn loss(loss: Loss) -> String {
    match loss {
        Loss::Independent(share) => percent(share),
        Loss::GilbertElliott { .. } => format!("{} in bursts (Gilbert-Elliott)", percent(loss.share())),
    }
}
