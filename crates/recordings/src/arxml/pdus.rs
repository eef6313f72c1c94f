//! PDUs: what is in them, how long they are, how often they are sent and how they are secured.

use std::collections::{BTreeMap, BTreeSet};

use super::number::{integer, seconds, within};
use super::stations::{Ends, Stations};
use super::tree::{Id, Tree};
use super::{Secured, Timing};

/// PDUs in one another that are looked at for one frame.
const INNER_MAX: usize = 256;
/// A PDU of this length is taken for a mistake `[byte]`.
const LEN_MAX: u64 = 16_000_000;

/// A PDU with all that is in it.
#[derive(Clone, Debug)]
pub(super) struct Pdu {
    pub(super) name: String,
    /// `[byte]`
    pub(super) len: Option<usize>,
    pub(super) timing: Timing,
    pub(super) ends: Ends,
    pub(super) secured: Option<Secured>,
    /// Itself and what is in it.
    pub(super) all: Vec<Id>,
}

/// The PDUs of a description, each looked at once.
pub(super) struct Pdus<'t, 'a> {
    tree: &'t Tree<'a>,
    stations: &'t Stations,
    /// Of messages of network management.
    managed: BTreeMap<Id, Timing>,
    known: BTreeMap<Id, Pdu>,
}

impl<'t, 'a> Pdus<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, stations: &'t Stations) -> Self {
        let mut managed = BTreeMap::new();
        for cluster in tree.all("CAN-NM-CLUSTER") {
            let Some(cycle) = tree.text_of(cluster, "NM-MSG-CYCLE-TIME").and_then(seconds) else { continue };
            for pdu in tree.below(cluster, "TX-NM-PDU-REF").filter_map(|pdu| tree.target(pdu)) {
                managed.insert(pdu, Timing::Cyclic(cycle));
            }
        }
        Self { tree, stations, managed, known: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, id: Id) -> &Pdu {
        if !self.known.contains_key(&id) {
            let pdu = self.looked_at(id);
            self.known.insert(id, pdu);
        }
        &self.known[&id]
    }

    fn looked_at(&self, id: Id) -> Pdu {
        let tree = self.tree;
        let (mut all, mut seen, mut next) = (vec![id], BTreeSet::from([id]), 0);
        while let Some(&pdu) = all.get(next) {
            next += 1;
            let room = INNER_MAX - all.len();
            all.extend(inner(tree, pdu).into_iter().filter(|pdu| seen.insert(*pdu)).take(room));
        }
        let timings = all.iter().map(|pdu| self.managed.get(pdu).copied().unwrap_or_else(|| timing(tree, *pdu)));
        let mut ends = Ends::default();
        all.iter().filter_map(|pdu| self.stations.by_pdu(*pdu)).for_each(|of_pdu| ends.add(of_pdu));
        Pdu {
            name: tree.name(id).to_owned(),
            // In AUTOSAR 3 some tools count bits here and some bytes.
            len: within(tree.text_of(id, "LENGTH").filter(|_| !tree.is_version_3()), LEN_MAX).map(|len| len as usize),
            timing: timings.fold(Timing::Unknown, shortest),
            ends,
            secured: secured(tree, id),
            all,
        }
    }
}

/// The one of two that asks for more.
pub(super) fn shortest(one: Timing, other: Timing) -> Timing {
    match (one, other) {
        (Timing::Cyclic(one), Timing::Cyclic(other)) => Timing::Cyclic(one.min(other)),
        (Timing::Cyclic(period), _) | (_, Timing::Cyclic(period)) => Timing::Cyclic(period),
        (Timing::Apart(one), Timing::Apart(other)) => Timing::Apart(one.min(other)),
        (Timing::Apart(distance), Timing::Unknown) | (Timing::Unknown, Timing::Apart(distance)) => {
            Timing::Apart(distance)
        }
        (Timing::Unknown, Timing::Unknown) => Timing::Unknown,
    }
}

/// What a reference to a PDU or to its triggering leads to.
pub(super) fn pdu_of(tree: &Tree<'_>, reference: Id) -> Option<Id> {
    let target = tree.target(reference)?;
    match tree.tag(target) {
        "PDU-TRIGGERING" => tree.target_of(target, "I-PDU-REF"),
        _ => Some(target),
    }
}

/// The PDUs directly in another.
fn inner(tree: &Tree<'_>, pdu: Id) -> Vec<Id> {
    let references: &[&'static str] = match tree.tag(pdu) {
        "SECURED-I-PDU" => &["PAYLOAD-REF"],
        "CONTAINER-I-PDU" => &["CONTAINED-PDU-TRIGGERING-REF"],
        "MULTIPLEXED-I-PDU" => &["I-PDU-REF"],
        _ => &[],
    };
    let all = references.iter().flat_map(|tag| tree.below(pdu, tag));
    all.filter_map(|reference| pdu_of(tree, reference)).take(INNER_MAX).collect()
}

/// How often a PDU is sent by itself.
fn timing(tree: &Tree<'_>, pdu: Id) -> Timing {
    let period = |time: Id| tree.text_of(time, "VALUE").and_then(seconds);
    let periods = tree.below(pdu, "TIME-PERIOD").filter_map(period);
    let cyclic = periods.min().map_or(Timing::Unknown, Timing::Cyclic);
    let delays = tree.below(pdu, "MINIMUM-DELAY").filter_map(|delay| seconds(tree.content(delay)));
    delays.map(Timing::Apart).fold(cyclic, shortest)
}

/// How a Secured-I-PDU is secured: by the sets of properties that it refers to, or as R4.2.1 has it, by itself.
fn secured(tree: &Tree<'_>, pdu: Id) -> Option<Secured> {
    (tree.tag(pdu) == "SECURED-I-PDU").then_some(())?;
    let own = tree.child(pdu, "SECURE-COMMUNICATION-PROPS");
    let places = [tree.target_of(pdu, "AUTHENTICATION-PROPS-REF"), tree.target_of(pdu, "FRESHNESS-PROPS-REF"), own];
    let text = |tag: &str| places.iter().flatten().find_map(|place| tree.text_of(*place, tag));
    let bits = |tag: &str| text(tag).and_then(integer).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
    Some(Secured {
        name: tree.name(pdu).to_owned(),
        authenticator_bits: bits("AUTH-INFO-TX-LENGTH"),
        freshness_bits: bits("FRESHNESS-VALUE-LENGTH"),
        freshness_sent_bits: bits("FRESHNESS-VALUE-TX-LENGTH"),
        algorithm: text("AUTH-ALGORITHM").map(str::to_owned),
    })
}
