//! Recorded frames that one station sends again, each at its time and as long as it was.

use std::sync::Arc;

use chronoseal_core::Duration;
use chronoseal_media::port::priority_of;
use chronoseal_nodes::RecordedMessages;
use chronoseal_plan::{Copies, EthernetHop, EthernetSegment, Facet, NetworkName, PayloadPlan, RouteError, StreamClass};
use chronoseal_recordings::{CaptureItem, CaptureReader, LINKTYPE_ETHERNET, Place as FilePlace};
use chronoseal_wire::ethernet::{ETHERTYPE_VLAN, VLAN_TAG_LEN, VlanTag};

use crate::kinds::{Context, TrafficParts, TrafficRequest, replay_length};
use crate::limits::{DURATION_MAX, FRAME_LEN_MAX, FRAME_LEN_MIN, HEADER_LEN, REPLAY_MIN, SAMPLES_MAX};
use crate::problem::Code;
use crate::shape::shortened;

/// A frame of a capture.
struct Captured {
    at_ns: u64,
    place: FilePlace,
    tag: Option<VlanTag>,
    /// What is behind its header and its tag; of one that was cut the rest is zeros.
    content: Vec<u8>,
}

/// Why frames cannot be replayed, and what to do.
type Unfit = (String, String);

/// A recording, read and checked against the segment.
pub(super) fn resolve(request: &TrafficRequest<'_>, context: &mut Context<'_>) -> Option<TrafficParts> {
    let segment: &EthernetSegment = request.segment.facet()?;
    match frames(request.bytes).and_then(|frames| recorded(request, frames)) {
        Ok((tag, recorded)) => {
            judge_way(request, segment, context);
            Some(parts(tag, recorded))
        }
        Err((message, help)) => {
            let message = format!("{}: {message}", request.source);
            context.report(Code::BadRecording, &request.at, message, "cannot be used", help);
            None
        }
    }
}

/// Every frame of a capture, by time.
fn frames(bytes: &[u8]) -> Result<Vec<Captured>, Unfit> {
    let of_ethernet = || "name a pcap or pcapng file of Ethernet frames".to_owned();
    let mut frames: Vec<Captured> = Vec::new();
    let mut first = None;
    for item in CaptureReader::new(bytes).map_err(|error| (error.to_string(), of_ethernet()))? {
        let CaptureItem::Packet(packet) = item.map_err(|error| (error.to_string(), of_ethernet()))? else { continue };
        let refuse = |what: String, help: &str| Err((format!("the frame at {} {what}", packet.place), help.to_owned()));
        if packet.link_type != LINKTYPE_ETHERNET {
            return refuse(format!("is of a link of type {}", packet.link_type), &of_ethernet());
        }
        if *first.get_or_insert(packet.interface) != packet.interface {
            return refuse(
                "was seen at another interface than the first".into(),
                "one station plays a recording: keep the frames of one interface, as `tshark -Y 'frame.interface_id == 0' -w` does",
            );
        }
        let Some(at_ns) = packet.at_ns else {
            return refuse("has no time".into(), "capture with the time of each frame, as tcpdump and dumpcap do");
        };
        let word = |at: usize| packet.data.get(at..)?.first_chunk().copied().map(u16::from_be_bytes);
        let tag = match word(12) {
            None => return refuse("has no whole header".into(), "capture at least 18 bytes of each frame"),
            Some(ETHERTYPE_VLAN) => match word(14).map(VlanTag::from_raw) {
                Some(tag) if (1..=4094).contains(&tag.vid) => Some(VlanTag { drop_eligible: false, ..tag }),
                _ => return refuse("has a tag of no VLAN".into(), "keep the frames of a VLAN from 1 to 4094"),
            },
            Some(_) => None,
        };
        let front = HEADER_LEN + if tag.is_some() { VLAN_TAG_LEN as u32 } else { 0 };
        // A host that captures what it sends sees it without the padding.
        let content_len = packet.original_len.saturating_sub(front).max(FRAME_LEN_MIN - HEADER_LEN);
        if content_len > FRAME_LEN_MAX - HEADER_LEN {
            return refuse(
                format!(
                    "has {} bytes, and the longest that is sent has {}",
                    packet.original_len,
                    FRAME_LEN_MAX - HEADER_LEN + front
                ),
                "capture with `ethtool --offload INTERFACE gro off gso off tso off`, which put frames together, or leave it out",
            );
        }
        let mut content = packet.data.get(front as usize..).unwrap_or_default().to_vec();
        content.resize(content_len as usize, 0);
        frames.push(Captured { at_ns, place: packet.place, tag, content });
        if frames.len() > SAMPLES_MAX {
            return Err((format!("it has more than {SAMPLES_MAX} frames"), "cut out a part of it".into()));
        }
    }
    frames.sort_by_key(|frame| frame.at_ns);
    Ok(frames)
}

/// The frames as messages, and the tag that all of them have.
fn recorded(request: &TrafficRequest<'_>, frames: Vec<Captured>) -> Result<(Option<VlanTag>, RecordedMessages), Unfit> {
    let Some((tag, first_ns)) = frames.first().map(|first| (first.tag, first.at_ns)) else {
        return Err(("it has no frame".into(), "name a capture with at least one frame".into()));
    };
    let shown = |tag: Option<VlanTag>| {
        tag.map_or("no VLAN tag".into(), |tag| format!("VLAN {} and priority {}", tag.vid, tag.pcp))
    };
    if let Some(other) = frames.iter().find(|frame| frame.tag != tag) {
        return Err((
            format!("the frame at {} has {}, and the first one has {}", other.place, shown(other.tag), shown(tag)),
            "one recording has frames of one priority: write several, each of a file with the frames of one".into(),
        ));
    }
    let mut messages = Vec::with_capacity(frames.len());
    for Captured { at_ns, place, content, .. } in frames {
        let at = i64::try_from(at_ns - first_ns).ok().and_then(|ns| Duration::from_ns(1).checked_mul(ns));
        let Some(at) = at.filter(|at| *at <= DURATION_MAX) else {
            let message = format!("the frame at {place} was recorded more than a day after the first");
            return Err((message, "cut out a part of the recording".into()));
        };
        messages.push((at, content));
    }
    let count = messages.len();
    match replay_length(messages.last().map(|(at, _)| *at), count, request.every) {
        Some(length) => Ok((tag, RecordedMessages::new(messages, length))),
        None => {
            let what = match count {
                1 => "it has one frame, and nothing says how often that comes".to_owned(),
                _ => format!(
                    "its {count} frames were recorded within less than {REPLAY_MIN}, so nothing says how often they come"
                ),
            };
            Err((what, "write `every = \"…\"`, after which it starts again, or record for longer".into()))
        }
    }
}

/// Refuses a recording that does not reach its receivers in just one way.
fn judge_way(request: &TrafficRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    let wiring = &segment.wiring;
    // Switches that stand apart are a problem of their own.
    if wiring.switches == 1 || !wiring.apart().is_empty() {
        return;
    }
    let (receiver, code, what) = match wiring.route_over(NetworkName::A, None, request.sender, request.receivers) {
        Ok(_) => return,
        Err(RouteError::None { receiver }) => (receiver, Code::NoWay, "no way"),
        Err(RouteError::Several { receiver, .. }) => (receiver, Code::SeveralWays, "several ways of one length"),
    };
    let spec = context.spec();
    let node = spec.nodes.get(receiver.index()).map_or("a node", |node| node.name.as_str());
    let name = spec.recordings.get(request.entry).map_or("", |recording| recording.name.as_str());
    let message = format!("`{}` has {what} to `{node}` on `{}`", shortened(name), request.segment.name);
    let help = "play it from a node at a switch from which one way is the shortest, or to other nodes";
    let at = crate::kinds::Place::new("recordings").entry(request.entry).key("to");
    context.report(code, &at, message, "not in one way", help);
}

fn parts(tag: Option<VlanTag>, recorded: RecordedMessages) -> TrafficParts {
    let priority = tag.map_or(0, |tag| priority_of(tag.pcp).0);
    let longest = recorded.longest() as u32;
    let tag_len = if tag.is_some() { VLAN_TAG_LEN as u32 } else { 0 };
    TrafficParts {
        frame_len: HEADER_LEN + tag_len + longest,
        message_len: longest,
        class: "recording",
        length: recorded.length(),
        facet: Facet::new(EthernetHop {
            tag,
            copies: Copies::One(NetworkName::A),
            ..EthernetHop::from(StreamClass::BestEffort { priority })
        }),
        payload: PayloadPlan::Messages(Arc::new(recorded)),
    }
}
