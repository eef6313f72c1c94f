//! What was seen in a capture, before anything is assumed.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_recordings::{CaptureItem, CaptureReader, LINKTYPE_ETHERNET, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2};

use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::dissect::{Dissected, Fragment, Key, Mac, Station, dissect};

/// Frames of a capture that are looked at.
const CAPTURED_MAX: usize = 20_000_000;
/// Datagrams that are put together at a time.
const PENDING_MAX: usize = 1_024;
/// Streams that are told apart.
const FLOWS_MAX: usize = 50_000;
/// Services of SOME/IP that are named of a stream.
const SERVICES_MAX: usize = 4;

/// What a capture holds.
#[derive(Default)]
pub(super) struct Observation {
    /// Names of the interfaces, by the places in keys.
    pub(super) segments: Vec<Option<String>>,
    pub(super) flows: BTreeMap<Key, Seen>,
    /// Frames that were read.
    pub(super) frames: usize,
    /// Protocol control frames (SAE AS6802), and the first four bytes of their destination.
    pub(super) beacons: u64,
    pub(super) marker: Option<[u8; 4]>,
    /// What is not in the flows, and how often.
    pub(super) left_out: BTreeMap<&'static str, u64>,
    /// Link types that are not looked into.
    pub(super) link_types: BTreeSet<u32>,
    /// Why reading stopped before the end.
    pub(super) damage: Option<String>,
    /// From the first frame to the last `[ns]`.
    times: Option<(u64, u64)>,
}

/// What was seen of one stream.
#[derive(Default)]
pub(super) struct Seen {
    /// When, how long on Ethernet `[byte]`, and whether it left by the interface.
    pub(super) frames: Vec<Frame>,
    /// Longest data of a datagram in fragments, behind the header of UDP `[byte]`.
    pub(super) datagram_len: u64,
    /// Services and methods of SOME/IP.
    pub(super) services: BTreeSet<(u16, u16)>,
    /// Numbers of redundancy tags that came more than once in a row of 64.
    pub(super) repeated: u64,
    recent: Vec<u16>,
    /// `priority1`, `clockClass` and `priority2` of an Announce.
    pub(super) announced: Option<(u8, u8, u8)>,
}

/// One frame, or one datagram in fragments.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) at_ns: u64,
    pub(super) len: u64,
    is_outbound: bool,
}

/// A datagram of which fragments are missing.
struct Pending {
    /// Of the first fragment.
    key: Option<Key>,
    at_ns: u64,
    bytes: u64,
    data_len: u64,
    total: Option<u64>,
}

type PendingKey = (usize, bool, [u8; 16], [u8; 16], u8, u16);

impl Observation {
    /// Reads a capture.
    ///
    /// # Errors
    /// If it is none, or none of its links is looked into.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, String> {
        let mut seen = Self::default();
        let mut pending: BTreeMap<PendingKey, Pending> = BTreeMap::new();
        let mut names: Vec<Option<String>> = Vec::new();
        let mut segments: BTreeMap<(usize, Option<u32>), usize> = BTreeMap::new();
        for item in CaptureReader::new(bytes).map_err(|problem| problem.to_string())? {
            let packet = match item {
                Ok(CaptureItem::Interface(interface)) => {
                    seen.link_types.insert(interface.link_type);
                    names.push(interface.name);
                    continue;
                }
                Ok(CaptureItem::Packet(packet)) => packet,
                Err(problem) => {
                    seen.damage = Some(problem.to_string());
                    continue;
                }
            };
            let is_known = [LINKTYPE_ETHERNET, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2].contains(&packet.link_type);
            let Some(at_ns) = packet.at_ns.filter(|_| is_known && seen.frames < CAPTURED_MAX) else {
                seen.leave_out(match () {
                    () if !is_known => "packets were left out: they are of links that are not looked into",
                    () if packet.at_ns.is_none() => "packets were left out: the file has no time of them",
                    () => "packets were left out: they are behind the first 20 million",
                });
                continue;
            };
            let Some(mut dissected) = dissect(&packet, 0) else {
                seen.leave_out("packets were left out: they are no whole frames");
                continue;
            };
            seen.frames += 1;
            let (first, last) = seen.times.unwrap_or((at_ns, at_ns));
            seen.times = Some((first.min(at_ns), last.max(at_ns)));
            let place = (packet.interface, dissected.host_interface);
            let next = segments.len();
            dissected.key.segment = *segments.entry(place).or_insert(next);
            if next == dissected.key.segment {
                let name = names.get(packet.interface).cloned().flatten();
                seen.segments.push(match place.1 {
                    None => name,
                    Some(host_interface) => Some(format!("{}if{host_interface}", name.unwrap_or_default())),
                });
            }
            seen.take(at_ns, &dissected, &mut pending);
        }
        let is_looked_into = [LINKTYPE_ETHERNET, LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2]
            .iter()
            .any(|known| seen.link_types.contains(known));
        if !seen.link_types.is_empty() && !is_looked_into {
            let types = &seen.link_types;
            return Err(format!("its packets have link type {types:?}, and Ethernet is {LINKTYPE_ETHERNET}"));
        }
        for _ in &pending {
            seen.leave_out("datagrams in fragments were left out: not all of their fragments are there");
        }
        seen.keep_one_place();
        Ok(seen)
    }

    /// From the first frame to the last `[ns]`.
    pub(super) fn length_ns(&self) -> u64 {
        self.times.map_or(0, |(first, last)| last - first)
    }

    /// From the first frame to this time `[ns]`.
    pub(super) fn since_begin_ns(&self, at_ns: u64) -> u64 {
        self.times.map_or(0, |(first, _)| at_ns.saturating_sub(first))
    }

    pub(super) fn leave_out(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    fn take(&mut self, at_ns: u64, packet: &Dissected<'_>, pending: &mut BTreeMap<PendingKey, Pending>) {
        if packet.is_protocol_control {
            self.beacons += 1;
            self.marker = packet.key.group.and_then(|group| group.first_chunk().copied()).or(self.marker);
            return;
        }
        if let Some(fragment) = packet.fragment {
            self.piece(at_ns, packet, fragment, pending);
            return;
        }
        let Some(seen) = self.flow(packet.key) else { return };
        let overhead = packet.key.secured.map_or(0, |secured| secured.overhead());
        // A host that captures what it sends sees it without the padding.
        let len = packet.len.saturating_sub(overhead).max(FRAME_LEN_MIN as u64);
        seen.frames.push(Frame { at_ns, len, is_outbound: packet.is_outbound });
        if let Some(service) = packet.some_ip.filter(|_| seen.services.len() < SERVICES_MAX) {
            seen.services.insert(service);
        }
        if let Some(sequence) = packet.sequence {
            seen.repeated += u64::from(seen.recent.contains(&sequence));
            if seen.recent.len() == 64 {
                seen.recent.remove(0);
            }
            seen.recent.push(sequence);
        }
        // IEEE 1588-2019, table 43: behind the header of 34 bytes.
        if packet.key.clock == Some(super::clocks::ANNOUNCE)
            && let Some(body) = packet.body.get(47..53)
        {
            seen.announced = Some((body[0], body[1], body[5]));
        }
    }

    fn flow(&mut self, key: Key) -> Option<&mut Seen> {
        if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&key) {
            self.leave_out("frames were left out: there are more than 50000 streams");
            return None;
        }
        Some(self.flows.entry(key).or_default())
    }

    /// A fragment; the datagram is a message when all of them have come, at the time of the first that came.
    fn piece(
        &mut self,
        at_ns: u64,
        packet: &Dissected<'_>,
        fragment: Fragment,
        pending: &mut BTreeMap<PendingKey, Pending>,
    ) {
        let Some(ip) = packet.key.ip else { return };
        let identification = fragment.identification;
        let id = (packet.key.segment, packet.is_outbound, ip.source, ip.destination, ip.protocol, identification);
        if pending.len() >= PENDING_MAX
            && !pending.contains_key(&id)
            && let Some(oldest) = pending.iter().min_by_key(|(_, one)| one.at_ns).map(|(id, _)| *id)
        {
            pending.remove(&oldest);
            self.leave_out("datagrams in fragments were left out: not all of their fragments are there");
        }
        let one = pending.entry(id).or_insert(Pending { key: None, at_ns, bytes: 0, data_len: 0, total: None });
        if fragment.offset == 0 {
            one.key = Some(packet.key);
        }
        if !fragment.more {
            one.total = Some(fragment.offset + fragment.len);
        }
        one.bytes += packet.len;
        one.data_len += fragment.len;
        let (Some(key), Some(total)) = (one.key, one.total.filter(|total| one.data_len >= *total)) else { return };
        let frame = Frame { at_ns: one.at_ns, len: one.bytes, is_outbound: packet.is_outbound };
        pending.remove(&id);
        if let Some(seen) = self.flow(key) {
            seen.frames.push(frame);
            // The header of UDP is the bench's own.
            seen.datagram_len = seen.datagram_len.max(total.saturating_sub(8));
        }
    }

    /// A frame that passed a bridge was seen twice: keeps what came in if anything did, else what went out, and of several
    /// interfaces the one that saw most of a stream, the first if they are alike.
    fn keep_one_place(&mut self) {
        let mut elsewhere = 0;
        let mut best: BTreeMap<Key, (usize, usize)> = BTreeMap::new();
        for (key, seen) in &mut self.flows {
            let before = seen.frames.len();
            let is_outbound = seen.frames.iter().all(|frame| frame.is_outbound);
            seen.frames.retain(|frame| frame.is_outbound == is_outbound);
            seen.frames.sort_by_key(|frame| frame.at_ns);
            elsewhere += before - seen.frames.len();
            let anywhere = Key { segment: 0, ..*key };
            let most = best.entry(anywhere).or_insert((seen.frames.len(), key.segment));
            if seen.frames.len() > most.0 {
                *most = (seen.frames.len(), key.segment);
            }
        }
        self.flows.retain(|key, seen| {
            let is_kept = best[&Key { segment: 0, ..*key }].1 == key.segment;
            elsewhere += if is_kept { 0 } else { seen.frames.len() };
            is_kept
        });
        if elsewhere > 0 {
            let what = "frames were left out: they were seen at another interface, too, or again on their way out";
            self.left_out.insert(what, elsewhere as u64);
        }
    }

    /// Stations of one segment, in order: who sends, and to whom single frames go.
    pub(super) fn stations(&self, segment: usize) -> BTreeSet<Station> {
        let keys = self.flows.keys().filter(|key| key.segment == segment);
        keys.flat_map(|key| [key.source, key.destination]).filter(|station| *station != Station::Group).collect()
    }
}

pub(super) fn show_mac(mac: &Mac) -> String {
    mac.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

pub(super) fn show_ip(address: &[u8; 16]) -> String {
    match address {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => format!("{a}.{b}.{c}.{d}"),
        wide => core::net::Ipv6Addr::from(*wide).to_string(),
    }
}
