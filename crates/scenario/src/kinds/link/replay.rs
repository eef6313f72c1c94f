//! Recorded datagrams that are replayed over a link as the messages of a stream.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chronoseal_core::Duration;
use chronoseal_nodes::RecordedMessages;
use chronoseal_plan::{Facet, LinkHop, LinkSegment, LinkTransport, PayloadPlan};
use chronoseal_recordings::{CaptureItem, CaptureReader, CapturedPacket, LINKTYPE_ETHERNET, Place as FilePlace};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::ipv4::{self, Address, Cut, PROTOCOL_UDP, Packet};
use chronoseal_wire::udp;

use crate::kinds::{Context, TrafficParts, TrafficRequest, replay_length};
use crate::limits::{BENCH_HEADER_LEN, DURATION_MAX, REPLAY_MIN, SAMPLES_MAX};
use crate::problem::Code;
use crate::shape::shortened;

/// `LINKTYPE_RAW` of <https://www.tcpdump.org/linktypes.html>: packets of IP without anything before them.
const LINKTYPE_RAW: u32 = 101;
/// Where the checksum stands in a header of IPv4.
const CHECKSUM: std::ops::Range<usize> = 10..12;
/// Flows that a problem names.
const FLOWS_SHOWN: usize = 4;

/// Who sends to whom, each with its port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Flow {
    from: (Address, u16),
    to: (Address, u16),
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |(address, port): (Address, u16)| {
            let [a, b, c, d] = address;
            format!("{a}.{b}.{c}.{d}:{port}")
        };
        write!(f, "{} to {}", end(self.from), end(self.to))
    }
}

/// A datagram of a flow.
struct Captured<'a> {
    at_ns: u64,
    interface: usize,
    is_outbound: bool,
    place: FilePlace,
    /// Why it cannot be replayed, if so.
    defect: Option<String>,
    data: std::borrow::Cow<'a, [u8]>,
    /// Where its data begin and end in that.
    range: std::ops::Range<usize>,
}

/// Why a recording cannot be replayed, and what to do.
struct Unfit {
    message: String,
    help: String,
    is_about_flow: bool,
}

/// A recording, read and checked against the segment.
pub(super) fn resolve(request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
    let segment: &LinkSegment = request.segment.facet()?;
    match messages(request, segment) {
        Ok(recorded) => Some(parts(recorded)),
        Err(Unfit { message, help, is_about_flow }) => {
            let place = if is_about_flow && request.flow.is_some() { &request.flow_at } else { &request.at };
            let label = if is_about_flow { "which of its flows" } else { "cannot be used" };
            context.report(Code::BadRecording, place, format!("{}: {message}", request.source), label, help);
            None
        }
    }
}

fn messages(request: &TrafficRequest<'_>, segment: &LinkSegment) -> Result<RecordedMessages, Unfit> {
    let unfit = |message: String, help: &str| Unfit { message, help: help.to_owned(), is_about_flow: false };
    let flows = flows(request.bytes).map_err(|error| {
        unfit(error, "name a pcap or pcapng file of UDP over IPv4, whole; `chronoseal run --capture` writes one")
    })?;
    let (flow, captured) = chosen(flows, request.flow)?;
    let defect = captured.iter().find_map(|datagram| Some((datagram, datagram.defect.as_ref()?)));
    if let Some((datagram, defect)) = defect {
        let message = format!("the datagram at {} of {flow} {defect}", datagram.place);
        return Err(unfit(message, "record whole packets (`tcpdump -s 0`), or choose another flow with `flow`"));
    }
    if captured.len() > SAMPLES_MAX {
        let message = format!("{flow} has {} datagrams", captured.len());
        return Err(unfit(message, &format!("cut out a part of at most {SAMPLES_MAX}")));
    }
    let first_ns = captured.first().map_or(0, |datagram| datagram.at_ns);
    let mut messages = Vec::with_capacity(captured.len());
    for datagram in &captured {
        let data = &datagram.data[datagram.range.clone()];
        let room = (segment.mtu as usize).saturating_sub(ipv4::HEADER_LEN + udp::HEADER_LEN);
        if data.len() < BENCH_HEADER_LEN as usize {
            let message = format!("the datagram at {} of {flow} has {} bytes", datagram.place, data.len());
            let help =
                format!("each must have {BENCH_HEADER_LEN} at least, for its number; choose another flow with `flow`");
            return Err(unfit(message, &help));
        }
        if data.len() > room {
            let message = format!(
                "the datagram at {} of {flow} has {} bytes, and a packet of `{}` has room for {room}",
                datagram.place,
                data.len(),
                request.segment.name
            );
            return Err(unfit(message, "write a longer `mtu` for the segment (above 1500B live only)"));
        }
        let at = i64::try_from(datagram.at_ns - first_ns).ok().and_then(|ns| Duration::from_ns(1).checked_mul(ns));
        let Some(at) = at.filter(|at| *at <= DURATION_MAX) else {
            let message =
                format!("the datagram at {} of {flow} was recorded more than a day after the first", datagram.place);
            return Err(unfit(message, "cut out a part of the recording"));
        };
        messages.push((at, data.to_vec()));
    }
    let count = messages.len();
    match replay_length(messages.last().map(|(at, _)| *at), count, request.every) {
        Some(length) => Ok(RecordedMessages::new(messages, length)),
        None => {
            let what = if count > 1 {
                format!(
                    "the {count} datagrams of {flow} were recorded within less than {REPLAY_MIN}, so nothing says how often they come"
                )
            } else {
                format!("there is one datagram of {flow}, and nothing says how often it comes")
            };
            Err(unfit(what, "record for longer, with the time of each packet, or write a stream with its `period`"))
        }
    }
}

/// Every flow of UDP over IPv4 in a capture, with its datagrams in time.
fn flows(bytes: &[u8]) -> Result<BTreeMap<Flow, Vec<Captured<'_>>>, String> {
    let mut flows: BTreeMap<Flow, Vec<Captured<'_>>> = BTreeMap::new();
    let mut packets = 0u64;
    for item in CaptureReader::new(bytes).map_err(|error| error.to_string())? {
        let CaptureItem::Packet(packet) = item.map_err(|error| error.to_string())? else { continue };
        packets += 1;
        if let Some((flow, datagram)) = datagram(packet) {
            flows.entry(flow).or_default().push(datagram);
        }
    }
    if flows.is_empty() {
        return Err(format!("none of its {packets} packets is a datagram of UDP over IPv4"));
    }
    flows.values_mut().for_each(|datagrams| datagrams.sort_by_key(|datagram| datagram.at_ns));
    Ok(flows)
}

/// The datagram that a packet is or begins. Its checksum is not asked: many hosts let their interface fill it in, behind the capture.
fn datagram(mut captured: CapturedPacket<'_>) -> Option<(Flow, Captured<'_>)> {
    let front = match captured.link_type {
        LINKTYPE_ETHERNET => HEADER_LEN,
        LINKTYPE_RAW => 0,
        _ => return None,
    };
    let is_cut = (captured.data.len() as u64) < u64::from(captured.original_len);
    // Of one that was cut the headers are there.
    if is_cut {
        let defect = format!("was cut: {} of {} bytes were recorded", captured.data.len(), captured.original_len);
        return unfit_datagram(captured, front, defect);
    }
    fill_checksum(&mut captured, front);
    let packet = match front {
        0 => Packet::parse(&captured.data),
        _ => Packet::in_frame(&captured.data)?,
    };
    let packet = match packet {
        Ok(packet) => packet,
        Err(error) => {
            let defect = format!("is in a packet that cannot be replayed: {error}");
            return unfit_datagram(captured, front, defect);
        }
    };
    if packet.protocol != PROTOCOL_UDP || packet.offset > 0 {
        return None;
    }
    let header: [u8; udp::HEADER_LEN] = *packet.data.first_chunk()?;
    let flow = flow(packet.source, packet.destination, header);
    let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let defect = match len {
        _ if packet.more_fragments => Some("is in fragments".to_owned()),
        _ if !(udp::HEADER_LEN..=packet.data.len()).contains(&len) => {
            Some(format!("says that it has {len} bytes and has {}", packet.data.len()))
        }
        _ if captured.at_ns.is_none() => Some("has no time".to_owned()),
        _ => None,
    };
    // Behind the packet an Ethernet frame may be padded.
    let start = front + ipv4::HEADER_LEN + udp::HEADER_LEN;
    let range = if defect.is_none() { start..start + len - udp::HEADER_LEN } else { 0..0 };
    Some((flow, of_packet(captured, defect, range)))
}

fn flow(source: Address, destination: Address, header: [u8; udp::HEADER_LEN]) -> Flow {
    let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    Flow { from: (source, port(0)), to: (destination, port(2)) }
}

/// Fills in the checksum of the header of a packet of IPv4 that has none, since the interface would have done so.
fn fill_checksum(captured: &mut CapturedPacket<'_>, front: usize) {
    let header: Option<[u8; ipv4::HEADER_LEN]> = captured.data.get(front..).and_then(<[u8]>::first_chunk).copied();
    if let Some(header) = header.filter(|header| header[0] >> 4 == 4 && header[CHECKSUM] == [0, 0]) {
        let place = front + CHECKSUM.start..front + CHECKSUM.end;
        captured.data.to_mut()[place].copy_from_slice(&ipv4::checksum(&[&header]).to_be_bytes());
    }
}

/// A datagram that cannot be replayed, if its headers are there and are those of UDP over IPv4.
fn unfit_datagram(captured: CapturedPacket<'_>, front: usize, defect: String) -> Option<(Flow, Captured<'_>)> {
    let ip = captured.data.get(front..)?;
    let is_ipv4 = front == 0 || captured.data.get(12..14) == Some(&ipv4::ETHERTYPE_IPV4.to_be_bytes()[..]);
    let header_len = usize::from(ip.first()? & 0xf) * 4;
    if !is_ipv4 || ip[0] >> 4 != 4 || ip.get(9) != Some(&PROTOCOL_UDP) {
        return None;
    }
    // Only the first fragment has ports, and says that there are more.
    if ip.get(6)? & 0x1f != 0 || *ip.get(7)? != 0 {
        return None;
    }
    let (source, destination) = (*ip.get(12..)?.first_chunk()?, *ip.get(16..)?.first_chunk()?);
    let flow = flow(source, destination, *ip.get(header_len..)?.first_chunk()?);
    Some((flow, of_packet(captured, Some(defect), 0..0)))
}

fn of_packet(captured: CapturedPacket<'_>, defect: Option<String>, range: std::ops::Range<usize>) -> Captured<'_> {
    let CapturedPacket { place, interface, at_ns, is_outbound, data, .. } = captured;
    Captured { at_ns: at_ns.unwrap_or(0), interface, is_outbound, place, defect, data, range }
}

/// The flow of that name, or the only one, each datagram once: a capture may have it at several interfaces, and on its way into a switch and
/// out of it.
fn chosen<'a>(
    mut flows: BTreeMap<Flow, Vec<Captured<'a>>>,
    name: Option<&str>,
) -> Result<(Flow, Vec<Captured<'a>>), Unfit> {
    let shown = |flows: &BTreeMap<Flow, Vec<Captured<'a>>>| {
        let names: Vec<String> = flows.keys().take(FLOWS_SHOWN).map(|flow| format!("`flow = \"{flow}\"`")).collect();
        let more = flows.len().saturating_sub(FLOWS_SHOWN);
        let more = if more > 0 { format!(", or one of {more} others") } else { String::new() };
        format!("write {}{more}", names.join(" or "))
    };
    let found = match name {
        Some(name) => flows.keys().find(|flow| flow.to_string() == name).copied(),
        None if flows.len() == 1 => flows.keys().next().copied(),
        None => {
            let message = format!("it has {} flows of datagrams, and one stream replays one", flows.len());
            return Err(Unfit { message, help: shown(&flows), is_about_flow: true });
        }
    };
    let Some(mut datagrams) = found.and_then(|flow| flows.remove(&flow)) else {
        let message = format!("it has no flow `{}`", shortened(name.unwrap_or_default()));
        return Err(Unfit { message, help: shown(&flows), is_about_flow: true });
    };
    let interface = datagrams.first().map_or(0, |datagram| datagram.interface);
    datagrams.retain(|datagram| datagram.interface == interface);
    if datagrams.iter().any(|datagram| !datagram.is_outbound) {
        datagrams.retain(|datagram| !datagram.is_outbound);
    }
    Ok((found.unwrap_or(Flow { from: ([0; 4], 0), to: ([0; 4], 0) }), datagrams))
}

fn parts(recorded: RecordedMessages) -> TrafficParts {
    let longest = recorded.longest();
    let headers = HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN;
    // Each is a packet of its own.
    let cut = Cut { datagram_len: udp::HEADER_LEN + longest, fragment_len: udp::HEADER_LEN + longest };
    TrafficParts {
        frame_len: (headers + longest) as u32,
        message_len: longest as u32,
        class: LinkTransport::Udp.name(),
        length: recorded.length(),
        facet: Facet::new(LinkHop {
            transport: LinkTransport::Udp,
            over: None,
            cut,
            parts: None,
            timeout: super::TIMEOUT,
        }),
        payload: PayloadPlan::Messages(Arc::new(recorded)),
    }
}
