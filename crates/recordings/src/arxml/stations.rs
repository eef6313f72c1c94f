//! ECUs, and what they say that they send and receive.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Id, Tree};

/// ECUs that send something, and ECUs that receive it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ends {
    pub(super) senders: BTreeSet<usize>,
    pub(super) receivers: BTreeSet<usize>,
}

impl Ends {
    /// Takes each side of others where this has none.
    pub(super) fn or(&mut self, others: &Self) {
        if self.senders.is_empty() {
            self.senders.clone_from(&others.senders);
        }
        if self.receivers.is_empty() {
            self.receivers.clone_from(&others.receivers);
        }
    }

    pub(super) fn add(&mut self, others: &Self) {
        self.senders.extend(&others.senders);
        self.receivers.extend(&others.receivers);
    }
}

/// The ECUs of a description.
pub(super) struct Stations {
    pub(super) names: Vec<String>,
    places: BTreeMap<Id, usize>,
    /// Of PDUs: by the groups of signal PDUs, and by network management.
    ends: BTreeMap<Id, Ends>,
}

impl Stations {
    pub(super) fn of(tree: &Tree<'_>) -> Self {
        let mut stations = Self { names: Vec::new(), places: BTreeMap::new(), ends: BTreeMap::new() };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for ecu in tree.all("ECU-INSTANCE") {
            // An ECU may be described in parts, in packages of their own.
            let place = *known.entry(tree.name(ecu)).or_insert_with(|| {
                stations.names.push(tree.name(ecu).to_owned());
                stations.names.len() - 1
            });
            stations.places.insert(ecu, place);
        }
        let ecus: Vec<(Id, usize)> = stations.places.iter().map(|(ecu, place)| (*ecu, *place)).collect();
        for (ecu, place) in ecus {
            let groups: Vec<Id> =
                tree.below(ecu, "ASSOCIATED-COM-I-PDU-GROUP-REF").filter_map(|it| tree.target(it)).collect();
            stations.add_groups(tree, place, groups);
        }
        stations.add_management(tree);
        stations
    }

    /// What an ECU sends and receives by its groups of PDUs and those in them.
    fn add_groups(&mut self, tree: &Tree<'_>, place: usize, mut groups: Vec<Id>) {
        let mut seen: BTreeSet<Id> = groups.iter().copied().collect();
        while let Some(group) = groups.pop() {
            let direction = tree.text_of(group, "COMMUNICATION-DIRECTION");
            let tag = if tree.is_version_3() { "I-PDU-REF" } else { "I-SIGNAL-I-PDU-REF" };
            for pdu in tree.below(group, tag).filter_map(|pdu| tree.target(pdu)) {
                self.add(pdu, place, direction);
            }
            let contained = tree.below(group, "CONTAINED-I-SIGNAL-I-PDU-GROUP-REF").filter_map(|it| tree.target(it));
            groups.extend(contained.filter(|group| seen.insert(*group)));
        }
    }

    /// What the nodes of network management send and receive.
    fn add_management(&mut self, tree: &Tree<'_>) {
        for node in tree.all("CAN-NM-NODE") {
            let controller = tree.target_of(node, "CONTROLLER-REF");
            let Some(place) = controller.and_then(|controller| self.around(tree, controller)) else { continue };
            for (tag, direction) in [("TX-NM-PDU-REF", "OUT"), ("RX-NM-PDU-REF", "IN")] {
                for pdu in tree.below(node, tag).filter_map(|pdu| tree.target(pdu)) {
                    self.add(pdu, place, Some(direction));
                }
            }
        }
    }

    fn add(&mut self, pdu: Id, place: usize, direction: Option<&str>) {
        let ends = self.ends.entry(pdu).or_default();
        put(ends, place, direction);
    }

    /// The ECU of a name.
    pub(super) fn ecu(&self, ecu: Id) -> Option<usize> {
        self.places.get(&ecu).copied()
    }

    /// The ECU in which an element stands.
    pub(super) fn around(&self, tree: &Tree<'_>, id: Id) -> Option<usize> {
        self.ecu(tree.around(id, "ECU-INSTANCE")?)
    }

    /// The ends of ports that stand below an element as references of one name.
    pub(super) fn by_ports(&self, tree: &Tree<'_>, id: Id, tag: &'static str) -> Ends {
        let mut ends = Ends::default();
        for port in tree.below(id, tag).filter_map(|port| tree.target(port)) {
            if let Some(place) = self.around(tree, port) {
                put(&mut ends, place, tree.text_of(port, "COMMUNICATION-DIRECTION"));
            }
        }
        ends
    }

    /// The ends of a PDU, as its groups and network management have them.
    pub(super) fn by_pdu(&self, pdu: Id) -> Option<&Ends> {
        self.ends.get(&pdu)
    }
}

fn put(ends: &mut Ends, place: usize, direction: Option<&str>) {
    match direction {
        Some("OUT") => _ = ends.senders.insert(place),
        Some("IN") => _ = ends.receivers.insert(place),
        _ => {}
    }
}
