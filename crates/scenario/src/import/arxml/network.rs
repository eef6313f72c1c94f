//! What becomes of a description: segments, nodes and streams, with what was assumed.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_recordings::arxml::{Channel, ChannelKind, Frame, Medium, Route, SystemDescription, Timing};
use chronoseal_wire::can::{CanId, FrameKind};

use super::secured::{Protection, protection};
use crate::import::can::{LISTENER, PERIOD_ASSUMED, REST_OF_BUS, node_name};
use crate::kinds::KINDS;
use crate::limits::{CLUSTER_CYCLE_MAX, NAME_LEN_MAX, NODES_MAX, PERIOD_MIN, SEGMENTS_MAX, STREAMS_MAX};
use crate::schema::Schema;

/// What stands around a PDU in a datagram: IPv4 20, UDP 8, and the header of a PDU (AUTOSAR SoAd) 8 `[byte]`.
const DATAGRAM: usize = 36;
/// The shortest payload of Ethernet `[byte]`.
const PAYLOAD_MIN: usize = 46;

/// What is written.
#[derive(Default)]
pub(super) struct Network {
    pub(super) segments: Vec<Segment>,
    pub(super) nodes: Vec<Node>,
    pub(super) streams: Vec<Stream>,
    pub(super) protections: Vec<Protection>,
    /// What is not in the scenario, or not as it is in the file.
    pub(super) warnings: Vec<String>,
}

pub(super) struct Segment {
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    pub(super) has_fd: bool,
    /// The channel that it is.
    channel: usize,
}

pub(super) struct Node {
    pub(super) name: String,
    /// Of [`Network::segments`].
    pub(super) on: BTreeSet<usize>,
    pub(super) is_gateway: bool,
}

pub(super) struct Stream {
    pub(super) name: String,
    pub(super) from: usize,
    pub(super) to: Vec<usize>,
    pub(super) via: Vec<usize>,
    pub(super) len: usize,
    pub(super) period: Duration,
    /// Above it.
    pub(super) comments: Vec<String>,
    /// Behind its period, if that is assumed.
    pub(super) period_assumed: Option<&'static str>,
    /// By segment: how it is addressed.
    pub(super) on: Vec<(usize, Addressed)>,
    /// By segment: the place of its protection.
    pub(super) protections: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy)]
pub(super) enum Addressed {
    Can(CanId, FrameKind),
    Ethernet(Option<u16>),
}

/// A frame of a description: channel and place in it.
type Key = (usize, usize);

impl Network {
    /// Nothing if there are more nodes than a scenario writes.
    pub(super) fn of(found: &SystemDescription) -> Option<Self> {
        let mut network = Self::default();
        network.add_segments(found);
        let places = network.add_nodes(found);
        if network.nodes.len() > NODES_MAX as usize {
            return None;
        }
        let carried = network.carried(found, &places);
        network.add_streams(found, &places, &carried);
        network.name_protections();
        Some(network)
    }

    fn warn(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.warnings.push(format!("{count} {what}"));
        }
    }

    fn add_segments(&mut self, found: &SystemDescription) {
        let schema = Schema::of(KINDS);
        let mut names = BTreeSet::new();
        let used = found.channels.iter().enumerate().filter(|(_, channel)| !channel.frames.is_empty());
        let (mut left_out, mut empty) = (0, found.channels.len());
        for (number, channel) in used {
            empty -= 1;
            if self.segments.len() >= SEGMENTS_MAX as usize {
                left_out += 1;
                continue;
            }
            let mut name = plain(&channel.name, "bus");
            if schema.has_key_beside_segments(&name).is_some() {
                name += "-bus";
            }
            let name = unlike(name, &mut names);
            let has_fd = channel.frames.iter().any(is_fd);
            self.segments.push(Segment { name, kind: channel.kind, has_fd, channel: number });
        }
        self.warn(left_out, "channels were left out: a scenario has 64 segments at most");
        self.warn(empty, "channels were left out: nothing is sent on them");
    }

    fn segment(&self, channel: usize) -> Option<usize> {
        self.segments.iter().position(|segment| segment.channel == channel)
    }

    /// The nodes that are on a segment; where each ECU is among them.
    fn add_nodes(&mut self, found: &SystemDescription) -> BTreeMap<usize, usize> {
        let (mut names, mut places) = (BTreeSet::new(), BTreeMap::new());
        let mut of_routes: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for route in &found.routes {
            let ends = [route.from.0, route.to.0].into_iter().filter_map(|channel| self.segment(channel));
            of_routes.entry(route.gateway).or_default().extend(ends);
        }
        for (ecu, name) in found.nodes.iter().enumerate() {
            // The nodes of a channel are in order.
            let on = |segment: &Segment| found.channels[segment.channel].nodes.binary_search(&ecu).is_ok();
            let mut on: BTreeSet<usize> =
                (0..).zip(&self.segments).filter(|(_, it)| on(it)).map(|(at, _)| at).collect();
            on.extend(of_routes.get(&ecu).into_iter().flatten());
            if on.is_empty() {
                continue;
            }
            places.insert(ecu, self.nodes.len());
            let name = unlike(node_name(name).unwrap_or_else(|| "ecu".into()), &mut names);
            self.nodes.push(Node { name, on, is_gateway: false });
        }
        self.warn(found.nodes.len() - places.len(), "ECUs were left out: they are on no channel that is written");
        // Whoever nobody knows, and somebody to receive.
        for segment in 0..self.segments.len() {
            let on_it = self.nodes.iter().filter(|node| node.on.contains(&segment)).count();
            let channel = &found.channels[self.segments[segment].channel];
            let named = |what: &str| match self.segments.len() {
                1 => what.to_owned(),
                _ => format!("{what}-{}", self.segments[segment].name),
            };
            let is_unknown = channel.frames.iter().any(|frame| frame.senders.is_empty());
            let others = [(is_unknown, REST_OF_BUS), (on_it + usize::from(is_unknown) < 2, LISTENER)];
            for (_, what) in others.into_iter().filter(|(is_there, _)| *is_there) {
                let name = unlike(named(what), &mut names);
                self.nodes.push(Node { name, on: BTreeSet::from([segment]), is_gateway: false });
            }
        }
        places
    }

    /// Who sends what nobody is known to send.
    fn rest(&self, segment: usize) -> Option<usize> {
        let is_rest = |node: &Node| node.name.starts_with(REST_OF_BUS) && node.on == BTreeSet::from([segment]);
        self.nodes.iter().position(is_rest)
    }

    fn shared(&self, one: usize, other: usize) -> usize {
        self.nodes[one].on.intersection(&self.nodes[other].on).count()
    }

    /// The receivers of a frame on its segment that a sender reaches in one way. Where none is written, all others there.
    fn receivers(
        &self,
        found: &SystemDescription,
        key: Key,
        places: &BTreeMap<usize, usize>,
        sender: usize,
    ) -> Vec<usize> {
        let Some(segment) = self.segment(key.0) else { return Vec::new() };
        let frame = &found.channels[key.0].frames[key.1];
        let is_reached = |node: &usize| *node != sender && self.nodes[*node].on.contains(&segment);
        let written: Vec<usize> =
            frame.receivers.iter().filter_map(|ecu| places.get(ecu).copied()).filter(is_reached).collect();
        match written.is_empty() {
            true => (0..self.nodes.len()).filter(is_reached).collect(),
            false => written,
        }
    }

    /// The routes that can be followed: from a frame to others that have the same in them, each with one source.
    fn carried(
        &mut self,
        found: &SystemDescription,
        places: &BTreeMap<usize, usize>,
    ) -> BTreeMap<Key, Vec<(Key, usize)>> {
        let payload = |key: Key| {
            let frame = &found.channels[key.0].frames[key.1];
            frame.len.saturating_sub(frame.secured.as_ref().map_or(0, |secured| protection(secured).len))
        };
        let (mut carried, mut targets, mut others) = (BTreeMap::<Key, Vec<(Key, usize)>>::new(), BTreeSet::new(), 0);
        let sources: BTreeSet<Key> = found.routes.iter().map(|route| route.from).collect();
        for &Route { gateway, from, to } in &found.routes {
            let Some(&node) = places.get(&gateway) else { continue };
            if self.segment(from.0).is_none() || self.segment(to.0).is_none() {
                continue;
            }
            // A frame that goes on from there over a second gateway is one of that gateway.
            let is_simple = payload(from) == payload(to) && !sources.contains(&to) && targets.insert(to);
            match is_simple {
                true => {
                    carried.entry(from).or_default().push((to, node));
                    self.nodes[node].is_gateway = true;
                }
                false => others += 1,
            }
        }
        self.warn(
            others,
            "routes of gateways are written as frames of the gateway itself, so their way is not bounded from end to end: what comes in \
             is not what goes out, or goes over several gateways",
        );
        carried
    }

    fn add_streams(
        &mut self,
        found: &SystemDescription,
        places: &BTreeMap<usize, usize>,
        carried: &BTreeMap<Key, Vec<(Key, usize)>>,
    ) {
        let (mut names, mut slow, mut alone, mut ways, mut several) = (BTreeSet::new(), 0, 0, 0, 0);
        let mut done: BTreeSet<Key> = BTreeSet::new();
        let keys = |channels: &[Channel]| -> Vec<Key> {
            let all = channels.iter().enumerate();
            all.flat_map(|(channel, it)| (0..it.frames.len()).map(move |frame| (channel, frame))).collect()
        };
        let gateways: BTreeMap<Key, usize> = found.routes.iter().rev().map(|route| (route.to, route.gateway)).collect();
        let targets: BTreeSet<Key> = carried.values().flatten().map(|(to, _)| *to).collect();
        // What comes from elsewhere stands behind what it comes from, so that each is written once.
        let mut order = keys(&found.channels);
        order.sort_by_key(|key| targets.contains(key));
        for key in order {
            // More than a scenario has, which says so itself.
            if !done.insert(key) || self.streams.len() > STREAMS_MAX as usize {
                continue;
            }
            let Some(segment) = self.segment(key.0) else { continue };
            let frame = &found.channels[key.0].frames[key.1];
            let gateway = gateways.get(&key).and_then(|gateway| places.get(gateway));
            let sender = frame.senders.iter().find_map(|ecu| places.get(ecu)).or(gateway).copied();
            let Some(sender) = sender.or_else(|| self.rest(segment)) else { continue };
            several += usize::from(frame.senders.len() > 1);
            let mut to = self.receivers(found, key, places, sender);
            let before = to.len();
            to.retain(|node| self.shared(sender, *node) == 1);
            ways += before - to.len();
            let mut stream = Stream {
                name: unlike(shorter(&frame.name), &mut names),
                from: sender,
                to: Vec::new(),
                via: Vec::new(),
                len: frame.len,
                period: PERIOD_ASSUMED,
                comments: vec![pdus(frame)],
                period_assumed: None,
                on: vec![(segment, addressed(frame))],
                protections: BTreeMap::new(),
            };
            (stream.period, stream.period_assumed) = match frame.timing {
                Timing::Cyclic(period) => (period, None),
                Timing::Apart(distance) => (distance, Some("as often as its minimum delay allows")),
                Timing::Unknown => (PERIOD_ASSUMED, Some("the file says nothing of it")),
            };
            if !(PERIOD_MIN..=CLUSTER_CYCLE_MAX).contains(&stream.period) {
                slow += 1;
                continue;
            }
            self.protect(&mut stream, segment, frame);
            for &(other, gateway) in carried.get(&key).into_iter().flatten() {
                self.carry(found, places, &mut stream, &mut to, (other, gateway), &mut done);
            }
            if to.is_empty() {
                alone += 1;
                continue;
            }
            if let (Medium::Ethernet { .. }, true) = (frame.medium, stream.via.is_empty()) {
                stream.comments.push(format!(
                    "{} bytes; assumed: {DATAGRAM} more of IPv4, UDP and the header of the PDU, and no less than {PAYLOAD_MIN}",
                    stream.len
                ));
                stream.len = (stream.len + DATAGRAM).max(PAYLOAD_MIN);
            }
            stream.to = to;
            self.streams.push(stream);
        }
        self.warn(slow, "frames were left out: they are more than 10 s apart");
        self.warn(alone, "frames were left out: nobody else is there to receive them in one way");
        self.warn(
            ways,
            "receivers were left out: they share several channels with the sender, and a stream takes one way",
        );
        self.warn(several, "frames have several senders in the file; the first of each is written");
    }

    /// Puts a frame of another channel onto the way of a stream, if somebody there is reached by it.
    fn carry(
        &mut self,
        found: &SystemDescription,
        places: &BTreeMap<usize, usize>,
        stream: &mut Stream,
        to: &mut Vec<usize>,
        (key, gateway): (Key, usize),
        done: &mut BTreeSet<Key>,
    ) {
        let Some(segment) = self.segment(key.0) else { return };
        let is_behind = |node: &usize| *node != gateway && self.shared(stream.from, *node) == 0 && !to.contains(node);
        let there: Vec<usize> = self.receivers(found, key, places, gateway).into_iter().filter(is_behind).collect();
        if there.is_empty() || !self.nodes[gateway].on.contains(&stream.on[0].0) || stream.from == gateway {
            // It stays a frame of the gateway.
            return;
        }
        let frame = &found.channels[key.0].frames[key.1];
        done.insert(key);
        if to.len() > 1 || to.first() != Some(&gateway) {
            to.retain(|node| *node != gateway);
        } else {
            to.clear();
        }
        to.extend(there);
        stream.comments.push(format!(
            "carried on by {} as {}",
            self.nodes[gateway].name,
            frame.name.replace(char::is_control, " ")
        ));
        stream.on.push((segment, addressed(frame)));
        if !stream.via.contains(&gateway) {
            stream.via.push(gateway);
        }
        self.protect(&mut *stream, segment, frame);
    }

    /// Puts the protection of a frame onto a stream; its payload is what is left.
    fn protect(&mut self, stream: &mut Stream, segment: usize, frame: &Frame) {
        let Some(secured) = &frame.secured else { return };
        let made = protection(secured);
        if made.len == 0 || made.len >= frame.len {
            stream.comments.push(format!(
                "{} says of its protection that it adds {} bytes of {}; none is written",
                secured.name.replace(char::is_control, " "),
                made.len,
                frame.len
            ));
            return;
        }
        if stream.on.len() == 1 {
            stream.len = frame.len - made.len;
        }
        let place =
            self.protections.iter().position(|known| known.table == made.table && known.comment == made.comment);
        let place = place.unwrap_or_else(|| {
            self.protections.push(made);
            self.protections.len() - 1
        });
        stream.protections.insert(segment, place);
    }

    fn name_protections(&mut self) {
        let mut names = BTreeSet::new();
        self.protections
            .iter_mut()
            .for_each(|protection| protection.name = unlike(protection.name.clone(), &mut names));
        let warnings: Vec<String> =
            self.protections.iter().filter_map(|protection| protection.warning.clone()).collect();
        self.warnings.extend(warnings);
    }
}

fn is_fd(frame: &Frame) -> bool {
    matches!(frame.medium, Medium::Can { fd, .. } if fd == Some(true) || frame.len > 8)
}

fn addressed(frame: &Frame) -> Addressed {
    match frame.medium {
        Medium::Can { id, .. } if is_fd(frame) => Addressed::Can(id, FrameKind::Fd { brs: true, esi: false }),
        Medium::Can { id, .. } => Addressed::Can(id, FrameKind::Classical),
        Medium::Ethernet { vlan } => Addressed::Ethernet(vlan),
    }
}

/// What is in a frame, for a comment.
fn pdus(frame: &Frame) -> String {
    let names = match frame.pdus.as_slice() {
        [] => "No PDU".to_owned(),
        some if some.len() <= 4 => some.join(", "),
        many => format!("{} and {} more PDUs", many[..4].join(", "), many.len() - 4),
    };
    let secured = frame.secured.as_ref().map(|_| ", secured").unwrap_or_default();
    let fd = match frame.medium {
        Medium::Can { fd, .. } if fd != Some(true) && frame.len > 8 => "; assumed: FD, for it is longer than 8 bytes",
        _ => "",
    };
    format!("{names}{secured}{fd}").replace(char::is_control, " ")
}

/// A name in letters of keys.
fn plain(name: &str, otherwise: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = name.chars().map(plain).take(40).collect();
    let name = name.trim_start_matches(['-', '_']);
    if name.is_empty() { otherwise.into() } else { name.into() }
}

fn shorter(name: &str) -> String {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(NAME_LEN_MAX).collect();
    let mut end = name.len().min(NAME_LEN_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    if end == 0 { "frame".into() } else { name[..end].into() }
}

/// A name that none of the others is, with a number if it has to be.
fn unlike(name: String, others: &mut BTreeSet<String>) -> String {
    let mut found = name.clone();
    let mut number = 2;
    while others.contains(&found) {
        let kept: String = name.chars().take(NAME_LEN_MAX / 2).filter(char::is_ascii).collect();
        found = format!("{kept}-{number}");
        number += 1;
    }
    others.insert(found.clone());
    found
}
