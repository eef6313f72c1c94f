//! The elements of an ARXML file that matter here, with their paths and references.
//!
//! All else is passed over while the file is read, so what is kept of a file is a small part of it.

use std::collections::BTreeMap;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::ArxmlError;
use crate::collector::shortened;

/// Bytes of a description that are read.
pub const ARXML_LEN_MAX: usize = 256_000_000;
/// Elements that are kept of it: up to a hundred bytes each, so that a description takes its own length and 100 MB at most.
pub const ELEMENTS_MAX: usize = 1_000_000;
/// Elements within elements, at most.
const DEPTH_MAX: usize = 64;

/// The elements that are kept, in order; what is in any other is passed over.
#[rustfmt::skip]
const KEPT: &[&str] = &[
    "AR-PACKAGE", "AR-PACKAGES", "ASSOCIATED-COM-I-PDU-GROUP-REF", "ASSOCIATED-COM-I-PDU-GROUP-REFS",
    "AUTH-ALGORITHM", "AUTH-INFO-TX-LENGTH", "AUTHENTICATION-PROPS-REF", "AUTHENTICATION-PROPSS", "AUTOSAR",
    "BASE-IS-THIS-PACKAGE", "BAUDRATE", "CAN-ADDRESSING-MODE", "CAN-CLUSTER", "CAN-CLUSTER-CONDITIONAL",
    "CAN-CLUSTER-VARIANTS", "CAN-COMMUNICATION-CONNECTOR", "CAN-COMMUNICATION-CONTROLLER", "CAN-FD-BAUDRATE",
    "CAN-FRAME", "CAN-FRAME-RX-BEHAVIOR", "CAN-FRAME-TRIGGERING", "CAN-FRAME-TX-BEHAVIOR", "CAN-NM-CLUSTER",
    "CAN-NM-NODE", "CAN-PHYSICAL-CHANNEL", "COMM-CONNECTORS", "COMM-CONTROLLER-REF", "COMM-CONTROLLERS",
    "COMMUNICATION-CLUSTER-REF", "COMMUNICATION-CONNECTOR-REF", "COMMUNICATION-CONNECTOR-REF-CONDITIONAL",
    "COMMUNICATION-DIRECTION", "CONNECTORS", "CONTAINED-I-SIGNAL-I-PDU-GROUP-REF",
    "CONTAINED-I-SIGNAL-I-PDU-GROUP-REFS", "CONTAINED-PDU-TRIGGERING-REF", "CONTAINED-PDU-TRIGGERING-REFS",
    "CONTAINER-I-PDU", "CONTROLLER-REF", "CYCLIC-TIMING", "DCM-I-PDU", "DYNAMIC-PART", "DYNAMIC-PART-ALTERNATIVE",
    "DYNAMIC-PART-ALTERNATIVES", "DYNAMIC-PARTS", "ECU-COMM-PORT-INSTANCES", "ECU-INSTANCE", "ECU-REF", "ELEMENTS",
    "ETHERNET-CLUSTER", "ETHERNET-CLUSTER-CONDITIONAL", "ETHERNET-CLUSTER-VARIANTS",
    "ETHERNET-COMMUNICATION-CONNECTOR", "ETHERNET-COMMUNICATION-CONTROLLER", "ETHERNET-PHYSICAL-CHANNEL",
    "FLEXRAY-CLUSTER", "FRAME-LENGTH", "FRAME-MAPPING", "FRAME-MAPPINGS", "FRAME-PORT", "FRAME-PORT-REF",
    "FRAME-PORT-REFS", "FRAME-REF", "FRAME-TRIGGERINGS", "FRESHNESS-PROPS-REF", "FRESHNESS-PROPSS",
    "FRESHNESS-VALUE-LENGTH", "FRESHNESS-VALUE-TX-LENGTH", "GATEWAY", "GENERAL-PURPOSE-I-PDU", "GENERAL-PURPOSE-PDU",
    "I-PDU-MAPPING", "I-PDU-MAPPINGS", "I-PDU-PORT", "I-PDU-PORT-REF", "I-PDU-PORT-REFS", "I-PDU-REF", "I-PDU-TIMING",
    "I-PDU-TIMING-SPECIFICATIONS", "I-SIGNAL-I-PDU", "I-SIGNAL-I-PDU-GROUP", "I-SIGNAL-I-PDU-REF",
    "I-SIGNAL-I-PDU-REF-CONDITIONAL", "I-SIGNAL-I-PDUS", "I-SIGNAL-MAPPING", "IDENTIFIER", "IS-DEFAULT",
    "J-1939-CLUSTER", "LENGTH", "LIN-CLUSTER", "MINIMUM-DELAY", "MULTIPLEXED-I-PDU", "N-PDU", "NM-CLUSTERS",
    "NM-CONFIG", "NM-MSG-CYCLE-TIME", "NM-NODES", "NM-PDU", "PACKAGE-REF", "PAYLOAD-REF", "PDU-REF",
    "PDU-TO-FRAME-MAPPING", "PDU-TO-FRAME-MAPPINGS", "PDU-TRIGGERING", "PDU-TRIGGERINGS", "PHYSICAL-CHANNELS",
    "REFERENCE-BASE", "REFERENCE-BASES", "RX-NM-PDU-REF", "RX-NM-PDU-REFS",
    "SECURE-COMMUNICATION-AUTHENTICATION-PROPS", "SECURE-COMMUNICATION-FRESHNESS-PROPS", "SECURE-COMMUNICATION-PROPS",
    "SECURE-COMMUNICATION-PROPS-SET", "SECURED-I-PDU", "SHORT-LABEL", "SHORT-NAME", "SIGNAL-MAPPINGS",
    "SOURCE-FRAME-REF", "SOURCE-I-PDU-REF", "STATIC-PART", "STATIC-PARTS", "TARGET-FRAME-REF", "TARGET-I-PDU",
    "TARGET-I-PDU-REF", "TIME-PERIOD", "TRANSMISSION-MODE-DECLARATION", "TRANSMISSION-MODE-FALSE-TIMING",
    "TRANSMISSION-MODE-TRUE-TIMING", "TX-NM-PDU-REF", "TX-NM-PDU-REFS", "USER-DEFINED-I-PDU", "USER-DEFINED-PDU",
    "VALUE", "VLAN", "VLAN-IDENTIFIER", "XCP-PDU",
];

/// What AUTOSAR 3 calls elements that stand for the same in AUTOSAR 4, in order.
const OF_AUTOSAR_3: &[(&str, &str)] = &[
    ("ASSOCIATED-I-PDU-GROUP-REF", "ASSOCIATED-COM-I-PDU-GROUP-REF"),
    ("ASSOCIATED-I-PDU-GROUP-REFS", "ASSOCIATED-COM-I-PDU-GROUP-REFS"),
    ("COMMUNICATION-CONNECTOR", "CAN-COMMUNICATION-CONNECTOR"),
    ("COMMUNICATION-CONTROLLER", "CAN-COMMUNICATION-CONTROLLER"),
    ("CONTAINED-I-PDU-GROUP-REF", "CONTAINED-I-SIGNAL-I-PDU-GROUP-REF"),
    ("CONTAINED-I-PDU-GROUP-REFS", "CONTAINED-I-SIGNAL-I-PDU-GROUP-REFS"),
    ("FRAME", "CAN-FRAME"),
    ("FRAME-TRIGGERINGSS", "FRAME-TRIGGERINGS"),
    ("I-PDU-GROUP", "I-SIGNAL-I-PDU-GROUP"),
    ("I-PDU-REFS", "I-SIGNAL-I-PDUS"),
    ("I-PDU-TIMINGS", "I-PDU-TIMING-SPECIFICATIONS"),
    ("I-PDU-TRIGGERING", "PDU-TRIGGERING"),
    ("I-PDU-TRIGGERINGS", "PDU-TRIGGERINGS"),
    ("PHYSICAL-CHANNEL", "CAN-PHYSICAL-CHANNEL"),
    ("REPEATING-TIME", "TIME-PERIOD"),
    ("SIGNAL-I-PDU", "I-SIGNAL-I-PDU"),
    ("SPEED", "BAUDRATE"),
    ("SUB-PACKAGES", "AR-PACKAGES"),
    ("TOP-LEVEL-PACKAGES", "AR-PACKAGES"),
];

/// An element of a [`Tree`], by its place in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Id(u32);

#[derive(Clone, Copy)]
struct Element {
    /// In [`KEPT`].
    tag: u16,
    parent: u32,
    first: u32,
    next: u32,
    /// What is in it, in the text of the file.
    start: u32,
    end: u32,
}

const NONE: u32 = u32::MAX;

fn place_of(tag: &str) -> Option<u16> {
    KEPT.binary_search(&tag).ok().map(|place| place as u16)
}

/// The name that AUTOSAR 4 has for an element of AUTOSAR 3.
fn renamed(tag: &str) -> &str {
    OF_AUTOSAR_3.binary_search_by_key(&tag, |(old, _)| old).map_or(tag, |place| OF_AUTOSAR_3[place].1)
}

/// The kept elements of a file.
pub(super) struct Tree<'a> {
    text: &'a str,
    /// True for AUTOSAR 3, false for AUTOSAR 4.
    is_version_3: bool,
    elements: Vec<Element>,
    /// By the named element around it and its own name.
    named: BTreeMap<(u32, &'a str), u32>,
    /// Labels of bases that references say they are relative to.
    labels: BTreeMap<u32, Range<usize>>,
}

impl<'a> Tree<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, ArxmlError> {
        let (elements, named, labels) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut tree = Tree { text, is_version_3: false, elements, named, labels };
        tree.fill()?;
        tree.name_all();
        Ok(tree)
    }

    fn fill(&mut self) -> Result<(), ArxmlError> {
        let text = self.text;
        let mut reader = Reader::from_str(text);
        // The open elements that are kept, each with the last of its children; and how deep it is below one that is not.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut skipped = 0usize;
        let mut is_over = false;
        loop {
            let at = reader.buffer_position() as usize;
            let syntax = |reason: String| ArxmlError::Syntax { line: line_of(text, at), reason };
            let event = reader.read_event().map_err(|error| syntax(shortened(&error.to_string())))?;
            let (element, is_empty) = match &event {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(_) if skipped > 0 => {
                    skipped -= 1;
                    continue;
                }
                Event::End(_) => {
                    let Some((id, _)) = open.pop() else {
                        return Err(syntax("an element ends that did not begin".into()));
                    };
                    self.elements[id as usize].end = at as u32;
                    is_over |= open.is_empty();
                    continue;
                }
                Event::Eof if open.is_empty() && is_over => return Ok(()),
                Event::Eof => return Err(ArxmlError::CutOff { line: line_of(text, at) }),
                _ => continue,
            };
            if open.is_empty() {
                self.is_version_3 = is_version_3(element)?;
            }
            if open.len() + skipped >= DEPTH_MAX {
                return Err(syntax(format!("elements lie more than {DEPTH_MAX} deep in one another")));
            }
            let name = element.local_name();
            let name = if self.is_version_3 { renamed(name.as_ref()) } else { name.as_ref() };
            let tag = place_of(name).filter(|_| skipped == 0);
            let Some(tag) = tag else {
                skipped += usize::from(!is_empty);
                continue;
            };
            if self.elements.len() >= ELEMENTS_MAX {
                return Err(ArxmlError::TooMany { line: line_of(text, at) });
            }
            let id = self.elements.len() as u32;
            let start = reader.buffer_position() as u32;
            let parent = open.last().map_or(NONE, |(parent, _)| *parent);
            self.elements.push(Element { tag, parent, first: NONE, next: NONE, start, end: start });
            if let Some((parent, last)) = open.last_mut() {
                match *last {
                    NONE => self.elements[*parent as usize].first = id,
                    last => self.elements[last as usize].next = id,
                }
                *last = id;
            }
            if let Some(label) = attribute(element, "BASE") {
                let from = label.as_ptr() as usize;
                let range = from.checked_sub(text.as_ptr() as usize).map(|from| from..from + label.len());
                self.labels.extend(range.filter(|range| range.end <= text.len()).map(|range| (id, range)));
            }
            match is_empty {
                true => is_over |= open.is_empty(),
                false => open.push((id, NONE)),
            }
        }
    }

    /// Finds out what each named element is called, below the named one around it.
    fn name_all(&mut self) {
        // By element: the named element that it is or lies in.
        let mut scope = vec![NONE; self.elements.len()];
        for id in 0..self.elements.len() as u32 {
            let parent = self.elements[id as usize].parent;
            let around = if parent == NONE { NONE } else { scope[parent as usize] };
            let name = self.child(Id(id), "SHORT-NAME").map(|name| self.content(name));
            scope[id as usize] = match name {
                Some(name) => {
                    self.named.entry((around, name)).or_insert(id);
                    id
                }
                None => around,
            };
        }
        // Packages may be written in parts: the parts are one name space.
        let parts: Vec<((u32, &str), u32)> = self.named.iter().map(|(key, id)| (*key, *id)).collect();
        for ((around, name), id) in parts {
            let Some(first) = self.first_part(around) else { continue };
            self.named.entry((first, name)).or_insert(id);
        }
    }

    /// The first package with the path of a package that is a later part of it.
    fn first_part(&self, id: u32) -> Option<u32> {
        let element = self.elements.get(id as usize)?;
        (KEPT[usize::from(element.tag)] == "AR-PACKAGE").then_some(())?;
        let name = self.text_of(Id(id), "SHORT-NAME")?;
        let around = self.named_around(Id(id)).map_or(NONE, |around| around.0);
        self.named.get(&(around, name)).copied().filter(|first| *first != id)
    }

    pub(super) fn all(&self, tag: &'static str) -> impl Iterator<Item = Id> + '_ {
        let tag = place_of(tag);
        let ids = (0u32..).zip(&self.elements).filter(move |(_, element)| Some(element.tag) == tag);
        ids.map(|(id, _)| Id(id))
    }

    pub(super) fn is_version_3(&self) -> bool {
        self.is_version_3
    }

    pub(super) fn tag(&self, id: Id) -> &'static str {
        KEPT[usize::from(self.elements[id.0 as usize].tag)]
    }

    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let some = |id: u32| (id != NONE).then_some(id);
        let next = move |id: &u32| some(self.elements[*id as usize].next);
        std::iter::successors(some(self.elements[id.0 as usize].first), next).map(Id)
    }

    pub(super) fn child(&self, id: Id, tag: &str) -> Option<Id> {
        self.children(id).find(|child| self.tag(*child) == tag)
    }

    /// All elements of a name below another, at any depth.
    pub(super) fn below(&self, id: Id, tag: &'static str) -> impl Iterator<Item = Id> + '_ {
        // What lies in an element stands directly behind it.
        let end = self.elements[id.0 as usize].end;
        let ids =
            (id.0 + 1..self.elements.len() as u32).take_while(move |other| self.elements[*other as usize].start <= end);
        ids.map(Id).filter(move |other| self.tag(*other) == tag)
    }

    /// What is in an element, as written.
    pub(super) fn content(&self, id: Id) -> &'a str {
        let Element { start, end, .. } = self.elements[id.0 as usize];
        self.text.get(start as usize..end as usize).unwrap_or("").trim()
    }

    pub(super) fn text_of(&self, id: Id, tag: &str) -> Option<&'a str> {
        self.child(id, tag).map(|child| self.content(child)).filter(|text| !text.is_empty())
    }

    pub(super) fn name(&self, id: Id) -> &'a str {
        self.text_of(id, "SHORT-NAME").unwrap_or("")
    }

    /// The element around another that is of a kind.
    pub(super) fn around(&self, id: Id, tag: &str) -> Option<Id> {
        let parent = |id: &Id| Some(self.elements[id.0 as usize].parent).filter(|parent| *parent != NONE).map(Id);
        std::iter::successors(parent(&id), parent).find(|id| self.tag(*id) == tag)
    }

    /// The named element around another.
    fn named_around(&self, id: Id) -> Option<Id> {
        let parent = |id: &Id| Some(self.elements[id.0 as usize].parent).filter(|parent| *parent != NONE).map(Id);
        std::iter::successors(parent(&id), parent).find(|id| self.child(*id, "SHORT-NAME").is_some())
    }

    /// What a reference leads to.
    pub(super) fn target(&self, reference: Id) -> Option<Id> {
        let path = self.content(reference);
        if let Some(path) = path.strip_prefix('/') {
            return self.walk(NONE, path);
        }
        let base = self.base(reference)?;
        self.walk(base.0, path)
    }

    /// What a reference of a child leads to.
    pub(super) fn target_of(&self, id: Id, tag: &str) -> Option<Id> {
        self.target(self.child(id, tag)?)
    }

    fn walk(&self, from: u32, path: &str) -> Option<Id> {
        let mut at = from;
        for name in path.split('/') {
            at = *self.named.get(&(at, name))?;
        }
        (at != NONE).then_some(Id(at))
    }

    /// The package that a reference without a leading `/` is relative to: that of its label, or of the nearest default.
    fn base(&self, reference: Id) -> Option<Id> {
        let label = self.labels.get(&reference.0).and_then(|range| self.text.get(range.clone()));
        let mut within = reference;
        while let Some(package) = self.around(within, "AR-PACKAGE") {
            let bases = self.child(package, "REFERENCE-BASES");
            let mut bases = bases.into_iter().flat_map(|bases| self.children(bases));
            let is_meant = |base: &Id| match label {
                Some(label) => self.text_of(*base, "SHORT-LABEL") == Some(label),
                None => self.text_of(*base, "IS-DEFAULT") == Some("true"),
            };
            if let Some(base) = bases.find(is_meant) {
                if self.text_of(base, "BASE-IS-THIS-PACKAGE") == Some("true") {
                    return Some(package);
                }
                let path = self.text_of(base, "PACKAGE-REF")?;
                return self.walk(NONE, path.strip_prefix('/')?);
            }
            within = package;
        }
        None
    }
}

/// Whether the first element is that of AUTOSAR 3; any other than that and AUTOSAR 4 is refused.
fn is_version_3(element: &BytesStart<'_>) -> Result<bool, ArxmlError> {
    let name = element.local_name();
    if name.as_ref() != "AUTOSAR" {
        return Err(ArxmlError::Root(shortened(name.as_ref())));
    }
    match attribute(element, "xmlns") {
        Some("http://autosar.org/schema/r4.0") => Ok(false),
        Some(version) if version.starts_with("http://autosar.org/3.") => Ok(true),
        other => Err(ArxmlError::Version(shortened(other.unwrap_or("none")))),
    }
}

/// The value of an attribute, as written.
fn attribute<'e>(element: &'e BytesStart<'_>, name: &str) -> Option<&'e str> {
    let raw = element.attributes_raw();
    let mut rest = raw;
    loop {
        let (before, behind) = rest.split_once('=')?;
        let quote = behind.trim_start().chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let behind = &behind.trim_start()[1..];
        let (value, others) = behind.split_once(quote)?;
        if before.trim() == name {
            return Some(value);
        }
        rest = others;
    }
}

/// The line of a byte, from 1.
fn line_of(text: &str, at: usize) -> u64 {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_in_their_table() {
        assert!(KEPT.is_sorted(), "a search by halves needs the order");
        assert!(OF_AUTOSAR_3.is_sorted(), "a search by halves needs the order");
        assert!(OF_AUTOSAR_3.iter().all(|(old, new)| place_of(new).is_some() && renamed(old) == *new));
    }

    #[test]
    fn references_are_followed_from_the_top_and_from_a_base() {
        let text = r#"<AUTOSAR xmlns="http://autosar.org/schema/r4.0"><AR-PACKAGES><AR-PACKAGE><SHORT-NAME>A</SHORT-NAME>
            <REFERENCE-BASES><REFERENCE-BASE><SHORT-LABEL>b</SHORT-LABEL><IS-DEFAULT>true</IS-DEFAULT>
            <PACKAGE-REF DEST="AR-PACKAGE">/B</PACKAGE-REF></REFERENCE-BASE></REFERENCE-BASES>
            <ELEMENTS><GATEWAY><SHORT-NAME>g</SHORT-NAME><ECU-REF BASE="b" DEST="ECU-INSTANCE">e</ECU-REF></GATEWAY>
            <GATEWAY><SHORT-NAME>h</SHORT-NAME><ECU-REF>e</ECU-REF></GATEWAY>
            <GATEWAY><SHORT-NAME>i</SHORT-NAME><ECU-REF>/B/e</ECU-REF></GATEWAY>
            <GATEWAY><SHORT-NAME>j</SHORT-NAME><ECU-REF BASE="c">e</ECU-REF></GATEWAY></ELEMENTS></AR-PACKAGE>
            <AR-PACKAGE><SHORT-NAME>B</SHORT-NAME></AR-PACKAGE>
            <AR-PACKAGE><SHORT-NAME>B</SHORT-NAME><ELEMENTS><ECU-INSTANCE><SHORT-NAME>e</SHORT-NAME></ECU-INSTANCE></ELEMENTS>
            </AR-PACKAGE></AR-PACKAGES></AUTOSAR>"#;
        let tree = Tree::read(text).unwrap();
        let targets: Vec<_> = tree.all("GATEWAY").map(|gateway| tree.target_of(gateway, "ECU-REF")).collect();
        let ecu = tree.all("ECU-INSTANCE").next();
        assert!(ecu.is_some_and(|ecu| tree.name(ecu) == "e"));
        assert_eq!(targets, [ecu, ecu, ecu, None]);
    }
}
