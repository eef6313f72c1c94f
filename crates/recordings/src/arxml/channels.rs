//! Clusters with their physical channels, and what is sent on them.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_wire::can::CanId;

use super::number::{integer, within};
use super::pdus::{Pdus, pdu_of, shortest};
use super::stations::{Ends, Stations};
use super::tree::{Id, Tree};
use super::{ARXML_FRAMES_MAX, ArxmlError, Channel, ChannelKind, Frame, Medium, Timing};

/// Data of a CAN frame, at most `[byte]`.
const CAN_LEN_MAX: usize = 64;
/// The highest rate that is taken for one `[bit/s]`.
const RATE_MAX: u64 = 1_000_000_000_000;

/// Clusters of other kinds, and what they are called.
const OTHERS: [(&str, &str); 3] = [
    ("FLEXRAY-CLUSTER", "FlexRay clusters were left out"),
    ("LIN-CLUSTER", "LIN clusters were left out"),
    ("J-1939-CLUSTER", "clusters of J1939 were left out"),
];

/// Counts of what is left out.
pub(super) type LeftOut = BTreeMap<&'static str, usize>;

/// The channels with the elements that they were made of.
#[derive(Default)]
pub(super) struct Found {
    pub(super) channels: Vec<Channel>,
    /// The channel that a physical channel belongs to.
    pub(super) physical: BTreeMap<Id, usize>,
    /// The triggering of each frame.
    pub(super) triggerings: BTreeMap<Id, (usize, usize)>,
    /// The first frame on a channel in which a PDU is.
    pub(super) of_pdus: BTreeMap<(usize, Id), usize>,
    frames: usize,
}

impl Found {
    pub(super) fn of(tree: &Tree<'_>, stations: &Stations, left_out: &mut LeftOut) -> Result<Self, ArxmlError> {
        let mut found = Self::default();
        let mut pdus = Pdus::new(tree, stations);
        for cluster in tree.all("CAN-CLUSTER") {
            found.can(tree, stations, &mut pdus, cluster, left_out)?;
        }
        let within = within_others(tree);
        for cluster in tree.all("ETHERNET-CLUSTER") {
            found.ethernet(tree, stations, &mut pdus, (cluster, &within), left_out)?;
        }
        for (tag, what) in OTHERS {
            let count = tree.all(tag).count();
            if count > 0 {
                left_out.insert(what, count);
            }
        }
        Ok(found)
    }

    fn count(&mut self) -> Result<(), ArxmlError> {
        self.frames += 1;
        if self.frames > ARXML_FRAMES_MAX { Err(ArxmlError::TooManyFrames) } else { Ok(()) }
    }

    fn can(
        &mut self,
        tree: &Tree<'_>,
        stations: &Stations,
        pdus: &mut Pdus<'_, '_>,
        cluster: Id,
        left_out: &mut LeftOut,
    ) -> Result<(), ArxmlError> {
        let Some(conditional) = conditional(tree, cluster, "CAN-CLUSTER-CONDITIONAL", left_out) else { return Ok(()) };
        let rate = |tag: &str| within(tree.text_of(conditional, tag), RATE_MAX);
        let kind = ChannelKind::Can { bit_rate: rate("BAUDRATE"), data_bit_rate: rate("CAN-FD-BAUDRATE") };
        let physical: Vec<Id> = tree.below(conditional, "CAN-PHYSICAL-CHANNEL").collect();
        for &channel in &physical {
            let name = match physical.len() {
                1 => tree.name(cluster).to_owned(),
                _ => format!("{}-{}", tree.name(cluster), tree.name(channel)),
            };
            let number = self.channels.len();
            // Who sends and receives PDUs by their triggerings.
            let mut by_ports: BTreeMap<Id, Ends> = BTreeMap::new();
            for triggering in tree.below(channel, "PDU-TRIGGERING") {
                if let Some(pdu) = tree.target_of(triggering, "I-PDU-REF") {
                    by_ports.entry(pdu).or_default().add(&stations.by_ports(tree, triggering, "I-PDU-PORT-REF"));
                }
            }
            let (mut frames, mut taken) = (Vec::new(), BTreeSet::new());
            for triggering in tree.below(channel, "CAN-FRAME-TRIGGERING") {
                self.count()?;
                let mut leave_out = |why| *left_out.entry(why).or_default() += 1;
                let Some(element) = tree.target_of(triggering, "FRAME-REF") else {
                    leave_out("frames were left out: what their triggerings refer to is not in the file");
                    continue;
                };
                let Some(id) = identifier(tree, triggering) else {
                    leave_out("frames were left out: their identifiers are none");
                    continue;
                };
                let mut frame = frame(tree, pdus, element, Medium::Can { id, fd: fd(tree, triggering) });
                if tree.is_version_3() && tree.text_of(element, "FRAME-LENGTH").is_none() {
                    leave_out("frames were left out: their lengths are not in the file");
                    continue;
                }
                if frame.len > CAN_LEN_MAX {
                    leave_out("frames were left out: they are longer than 64 bytes");
                    continue;
                }
                if !taken.insert(id) {
                    leave_out("frames were left out: another on their bus has their identifier");
                    continue;
                }
                let mut ends = stations.by_ports(tree, triggering, "FRAME-PORT-REF");
                let (mut of_ports, mut of_groups) = (Ends::default(), Ends::default());
                for pdu in frame_pdus(tree, element) {
                    let pdu = pdus.get(pdu);
                    of_groups.add(&pdu.ends);
                    for one in &pdu.all {
                        by_ports.get(one).into_iter().for_each(|of_pdu| of_ports.add(of_pdu));
                        self.of_pdus.entry((number, *one)).or_insert(frames.len());
                    }
                }
                ends.or(&of_ports);
                ends.or(&of_groups);
                frame.senders = ends.senders.into_iter().collect();
                frame.receivers = ends.receivers.into_iter().collect();
                self.triggerings.insert(triggering, (number, frames.len()));
                frames.push(frame);
            }
            self.add(tree, stations, (name, kind), frames, vec![channel]);
        }
        Ok(())
    }

    fn ethernet(
        &mut self,
        tree: &Tree<'_>,
        stations: &Stations,
        pdus: &mut Pdus<'_, '_>,
        (cluster, within_others): (Id, &BTreeSet<Id>),
        left_out: &mut LeftOut,
    ) -> Result<(), ArxmlError> {
        let Some(conditional) = conditional(tree, cluster, "ETHERNET-CLUSTER-CONDITIONAL", left_out) else {
            return Ok(());
        };
        let bit_rate = within(tree.text_of(conditional, "BAUDRATE"), RATE_MAX);
        let physical: Vec<Id> = tree.below(conditional, "ETHERNET-PHYSICAL-CHANNEL").collect();
        let (number, mut frames) = (self.channels.len(), Vec::new());
        for &channel in &physical {
            let vlan = tree.child(channel, "VLAN").and_then(|vlan| integer(tree.text_of(vlan, "VLAN-IDENTIFIER")?));
            let vlan = vlan.and_then(|vlan| u16::try_from(vlan).ok()).filter(|vlan| *vlan > 0);
            for triggering in tree.below(channel, "PDU-TRIGGERING").filter(|it| !within_others.contains(it)) {
                self.count()?;
                let mut leave_out = |why| *left_out.entry(why).or_default() += 1;
                let Some(id) = tree.child(triggering, "I-PDU-REF").and_then(|pdu| pdu_of(tree, pdu)) else {
                    leave_out("PDUs on Ethernet were left out: what their triggerings refer to is not in the file");
                    continue;
                };
                let pdu = pdus.get(id);
                let mut ends = stations.by_ports(tree, triggering, "I-PDU-PORT-REF");
                ends.or(&pdu.ends);
                let Some(len) = pdu.len.filter(|_| !ends.senders.is_empty() && !ends.receivers.is_empty()) else {
                    leave_out("PDUs on Ethernet were left out: their length, sender or receivers are not in the file");
                    continue;
                };
                for one in &pdu.all {
                    self.of_pdus.entry((number, *one)).or_insert(frames.len());
                }
                frames.push(Frame {
                    name: pdu.name.clone(),
                    medium: Medium::Ethernet { vlan },
                    len,
                    pdus: vec![pdu.name.clone()],
                    timing: pdu.timing,
                    senders: ends.senders.into_iter().collect(),
                    receivers: ends.receivers.into_iter().collect(),
                    secured: pdu.secured.clone(),
                });
            }
        }
        let kind = ChannelKind::Ethernet { bit_rate };
        self.add(tree, stations, (tree.name(cluster).to_owned(), kind), frames, physical);
        Ok(())
    }

    fn add(
        &mut self,
        tree: &Tree<'_>,
        stations: &Stations,
        (name, kind): (String, ChannelKind),
        frames: Vec<Frame>,
        physical: Vec<Id>,
    ) {
        let connectors = physical.iter().flat_map(|channel| tree.below(*channel, "COMMUNICATION-CONNECTOR-REF"));
        let connected = connectors.filter_map(|it| stations.around(tree, tree.target(it)?));
        let named = frames.iter().flat_map(|frame| frame.senders.iter().chain(&frame.receivers)).copied();
        let nodes: BTreeSet<usize> = connected.chain(named).collect();
        self.physical.extend(physical.into_iter().map(|channel| (channel, self.channels.len())));
        self.channels.push(Channel { name, kind, nodes: nodes.into_iter().collect(), frames });
    }
}

/// The first variant of a cluster. In AUTOSAR 3 a cluster has none and stands for itself.
fn conditional(tree: &Tree<'_>, cluster: Id, tag: &'static str, left_out: &mut LeftOut) -> Option<Id> {
    if tree.is_version_3() {
        return Some(cluster);
    }
    let mut all = tree.below(cluster, tag);
    let first = all.next();
    let others = all.count();
    if others > 0 {
        *left_out.entry("variants of clusters were left out: the first one counts").or_default() += others;
    }
    first
}

/// Triggerings of PDUs that go within others.
fn within_others(tree: &Tree<'_>) -> BTreeSet<Id> {
    let payloads = tree.all("PAYLOAD-REF").chain(tree.all("CONTAINED-PDU-TRIGGERING-REF"));
    payloads.filter_map(|reference| tree.target(reference)).collect()
}

fn identifier(tree: &Tree<'_>, triggering: Id) -> Option<CanId> {
    let raw = u32::try_from(integer(tree.text_of(triggering, "IDENTIFIER")?)?).ok()?;
    match tree.text_of(triggering, "CAN-ADDRESSING-MODE") {
        Some("EXTENDED") => CanId::extended(raw).ok(),
        _ => CanId::standard(u16::try_from(raw).ok()?).ok(),
    }
}

/// Whether a frame is sent in the FD format, as far as that is written.
fn fd(tree: &Tree<'_>, triggering: Id) -> Option<bool> {
    let of = |tag: &str| tree.text_of(triggering, tag).map(|behaviour| behaviour.contains("FD"));
    match (of("CAN-FRAME-TX-BEHAVIOR"), of("CAN-FRAME-RX-BEHAVIOR")) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, None) => None,
        _ => Some(false),
    }
}

fn frame_pdus(tree: &Tree<'_>, element: Id) -> Vec<Id> {
    tree.below(element, "PDU-REF").filter_map(|reference| pdu_of(tree, reference)).collect()
}

fn frame(tree: &Tree<'_>, pdus: &mut Pdus<'_, '_>, element: Id, medium: Medium) -> Frame {
    let in_it = frame_pdus(tree, element);
    let (mut timing, mut sum, mut names, mut secured) = (Timing::Unknown, 0usize, Vec::new(), None);
    for pdu in &in_it {
        let pdu = pdus.get(*pdu);
        timing = shortest(timing, pdu.timing);
        sum = sum.saturating_add(pdu.len.unwrap_or(0));
        names.push(pdu.name.clone());
        secured = pdu.secured.clone().filter(|_| in_it.len() == 1);
    }
    let len = tree.text_of(element, "FRAME-LENGTH").and_then(integer).and_then(|len| usize::try_from(len).ok());
    Frame {
        name: tree.name(element).to_owned(),
        medium,
        len: len.unwrap_or(sum),
        pdus: names,
        timing,
        senders: Vec::new(),
        receivers: Vec::new(),
        secured,
    }
}
