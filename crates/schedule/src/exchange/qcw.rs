//! Gate control lists as instance data of `ieee802-dot1q-sched` (IEEE Std 802.1Qcw-2023), in JSON as RFC 7951 has it and
//! in XML as RFC 7950 has it.
//!
//! Each port is an interface named after its link. The lists are below its bridge port, where
//! `ieee802-dot1q-sched-bridge` of 802.1Qcw puts them, or below the interface itself, where `ieee802-dot1dc-sched-if` of
//! IEEE Std 802.1DC-2024 does, which suits stations that are no bridges. Both are read.

use std::fmt::Write;

use chronoseal_core::Duration;
use serde_json::{Map, Value, json};

use super::Refusal;
use super::qcw_tree::Tree;
use crate::gates::{GateEntry, GateList};
use crate::network::Network;

/// Whose augmentation the lists stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Below a bridge port: `ieee802-dot1q-sched-bridge` of IEEE Std 802.1Qcw-2023.
    BridgePort,
    /// Below an interface: `ieee802-dot1dc-sched-if` of IEEE Std 802.1DC-2024.
    Interface,
}

impl Place {
    const fn module(self) -> &'static str {
        match self {
            Self::BridgePort => "ieee802-dot1q-sched-bridge",
            Self::Interface => "ieee802-dot1dc-sched-if",
        }
    }
}

/// The largest interval of an entry `[ns]`: it is an unsigned integer of 32 bits.
const INTERVAL_MAX: i64 = u32::MAX as i64;
/// Entries of one list, at most.
const ENTRIES_MAX: usize = 1_000_000;

/// A list in whole nanoseconds, none of whose entries needs more than 32 bits.
pub(super) struct Whole {
    pub(super) port: String,
    pub(super) cycle: i64,
    pub(super) base: i64,
    pub(super) entries: Vec<(u8, i64)>,
}

pub(super) fn whole(network: &Network, list: &GateList) -> Result<Whole, Refusal> {
    let port = network.link_name(list.link);
    let ns = |what: &str, time: Duration| {
        let is_whole = time.rem_floor(Duration::from_ns(1)) == Duration::ZERO && !time.is_negative();
        let message = || format!("{what} of port {port} is {time}, and the file holds whole nanoseconds");
        is_whole.then(|| time.as_ns()).ok_or_else(|| {
            Refusal::new(
                "the schedule",
                None,
                message(),
                "schedule with a gate granularity of 1ns or a multiple of it, which divides the periods",
            )
        })
    };
    let mut entries = Vec::with_capacity(list.entries.len());
    for entry in &list.entries {
        // A long entry is several with the same gates.
        let mut left = ns("an interval", entry.interval)?;
        while left > 0 {
            let part = left.min(INTERVAL_MAX);
            entries.push((entry.gates, part));
            left -= part;
        }
    }
    Ok(Whole { cycle: ns("the cycle", list.cycle)?, base: ns("the base time", list.base)?, port, entries })
}

/// The lists as JSON, all in the same place.
///
/// # Errors
/// A time that is no whole number of nanoseconds.
pub fn write_json(network: &Network, lists: &[GateList], place: Place) -> Result<String, Refusal> {
    write_json_of(network, lists.iter().map(|list| (list, place)))
}

/// The lists as JSON, each with its place.
///
/// # Errors
/// As of [`write_json`].
pub fn write_json_of<'a>(
    network: &Network,
    lists: impl IntoIterator<Item = (&'a GateList, Place)>,
) -> Result<String, Refusal> {
    let mut interfaces = Vec::new();
    for (list, place) in lists {
        let whole = whole(network, list)?;
        let entries: Vec<Value> = whole
            .entries
            .iter()
            .enumerate()
            .map(|(index, (gates, interval))| {
                json!({
                    "index": index,
                    "operation-name": "ieee802-dot1q-sched:set-gate-states",
                    "time-interval-value": interval,
                    "gate-states-value": gates,
                })
            })
            .collect();
        let cycle = json!({ "numerator": whole.cycle, "denominator": 1_000_000_000u32 });
        let cycle = if whole.cycle <= INTERVAL_MAX {
            cycle
        } else {
            json!({ "numerator": whole.cycle / 1_000, "denominator": 1_000_000u32 })
        };
        // 64 bits are a string in JSON (RFC 7951 section 6.1).
        let base =
            json!({ "seconds": (whole.base / 1_000_000_000).to_string(), "nanoseconds": whole.base % 1_000_000_000 });
        let table = json!({
            "gate-enabled": true,
            "admin-gate-states": 255,
            "supported-list-max": entries.len(),
            "supported-interval-max": INTERVAL_MAX,
            "supported-cycle-max": cycle,
            "admin-cycle-time": cycle,
            "admin-base-time": base,
            "admin-control-list": { "gate-control-entry": entries },
        });
        let mut interface = Map::new();
        interface.insert("name".into(), whole.port.into());
        interface.insert("type".into(), "iana-if-type:ethernetCsmacd".into());
        let key = format!("{}:gate-parameter-table", place.module());
        match place {
            Place::Interface => interface.insert(key, table),
            Place::BridgePort => interface.insert("ieee802-dot1q-bridge:bridge-port".into(), json!({ key: table })),
        };
        interfaces.push(Value::Object(interface));
    }
    let document = json!({ "ietf-interfaces:interfaces": { "interface": interfaces } });
    Ok(format!("{document:#}\n"))
}

/// The lists as XML, all in the same place.
///
/// # Errors
/// As of [`write_json`], whose content it has.
pub fn write_xml(network: &Network, lists: &[GateList], place: Place) -> Result<String, Refusal> {
    write_xml_of(network, lists.iter().map(|list| (list, place)))
}

/// The lists as XML, each with its place.
///
/// # Errors
/// As of [`write_json`], whose content it has.
pub fn write_xml_of<'a>(
    network: &Network,
    lists: impl IntoIterator<Item = (&'a GateList, Place)>,
) -> Result<String, Refusal> {
    let document = write_json_of(network, lists)?;
    let document: Value = serde_json::from_str(&document).unwrap_or_default();
    let mut text = String::new();
    if let Value::Object(members) = document {
        members.iter().for_each(|(name, value)| element(&mut text, 0, name, value));
    }
    Ok(text)
}

/// The namespace of a module.
fn namespace(module: &str) -> String {
    match module {
        "ietf-interfaces" | "iana-if-type" => format!("urn:ietf:params:xml:ns:yang:{module}"),
        _ => format!("urn:ieee:std:802.1Q:yang:{module}"),
    }
}

fn element(text: &mut String, depth: usize, name: &str, value: &Value) {
    if let Value::Array(items) = value {
        return items.iter().for_each(|item| element(text, depth, name, item));
    }
    let indent = "  ".repeat(depth);
    let (tag, mut attributes) = match name.split_once(':') {
        Some((module, tag)) => (tag, format!(" xmlns=\"{}\"", namespace(module))),
        None => (name, String::new()),
    };
    let content = match value {
        Value::Object(members) => {
            let _ = writeln!(text, "{indent}<{tag}{attributes}>");
            members.iter().for_each(|(name, member)| element(text, depth + 1, name, member));
            let _ = writeln!(text, "{indent}</{tag}>");
            return;
        }
        // An identity of another module brings its namespace.
        Value::String(identity) if tag == "type" || tag == "operation-name" => {
            let (module, plain) = identity.split_once(':').unwrap_or(("", identity));
            attributes += &format!(" xmlns:of=\"{}\"", namespace(module));
            format!("of:{plain}")
        }
        Value::String(plain) => plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        other => other.to_string(),
    };
    let _ = writeln!(text, "{indent}<{tag}{attributes}>{content}</{tag}>");
}

/// The lists of a file, JSON or XML. Ports without an enabled gate have none.
///
/// # Errors
/// What cannot be read or contradicts itself, with its port and entry: among others a list that is longer than its
/// cycle or has more entries than its port supports.
pub fn read(source: &str, bytes: &[u8], network: &Network) -> Result<Vec<GateList>, Refusal> {
    let root = Tree::read(source, bytes)?;
    let refuse = |tree: &Tree, message: String, help: &str| Refusal::new(source, tree.line, message, help);
    let Some(interfaces) = root.child("interfaces") else {
        return Err(refuse(
            &root,
            "there is no `interfaces` at the top".into(),
            "write instance data of ietf-interfaces",
        ));
    };
    let mut lists: Vec<GateList> = Vec::new();
    for interface in interfaces.all("interface") {
        let port = interface.child("name").map(|name| name.text.as_str()).unwrap_or_default();
        let table = interface.child("gate-parameter-table");
        let table = table.or_else(|| interface.child("bridge-port")?.child("gate-parameter-table"));
        let Some(table) =
            table.filter(|table| table.child("gate-enabled").is_some_and(|enabled| enabled.text == "true"))
        else {
            continue;
        };
        let link = (0..network.links().len()).find(|link| network.link_name(*link) == port).ok_or_else(|| {
            refuse(
                interface,
                format!("the network has no port `{}`", short(port)),
                "name interfaces after the link they send on, such as `a->b`",
            )
        })?;
        if lists.iter().any(|list| list.link == link) {
            return Err(refuse(interface, format!("the port {port} is there twice"), "remove one of them"));
        }
        let number = |tree: &Tree, path: &[&str], max: i64| -> Result<i64, Refusal> {
            let leaf = path.iter().try_fold(tree, |tree, name| tree.child(name));
            let value = leaf.and_then(|leaf| leaf.text.parse::<i64>().ok()).filter(|value| (0..=max).contains(value));
            value.ok_or_else(|| {
                let place = leaf.unwrap_or(tree);
                let is = leaf.map_or("missing".into(), |leaf| format!("`{}`", short(&leaf.text)));
                refuse(
                    place,
                    format!("port {port}: `{}` is {is} and has to be a whole number from 0 to {max}", path.join("/")),
                    "write it as a number",
                )
            })
        };
        let numerator = number(table, &["admin-cycle-time", "numerator"], INTERVAL_MAX)?;
        let denominator = number(table, &["admin-cycle-time", "denominator"], INTERVAL_MAX)?.max(1);
        let cycle = Duration::from_ps((i128::from(numerator) * 1_000_000_000_000 / i128::from(denominator)) as i64);
        if cycle <= Duration::ZERO || cycle > Duration::from_s(3600) {
            return Err(refuse(
                table,
                format!("port {port}: the cycle is {cycle} and has to be above 0 and at most 1h"),
                "mend `admin-cycle-time`",
            ));
        }
        let base = match table.child("admin-base-time") {
            None => Duration::ZERO,
            // More than a hundred years after the epoch is nobody's schedule.
            Some(base) => {
                Duration::from_s(number(base, &["seconds"], 4_000_000)?)
                    + Duration::from_ns(number(base, &["nanoseconds"], 999_999_999)?)
            }
        };
        let entries = table.child("admin-control-list").map(|list| list.all("gate-control-entry").collect::<Vec<_>>());
        let mut entries = entries.unwrap_or_default();
        let supported = match table.child("supported-list-max") {
            None => ENTRIES_MAX,
            Some(_) => number(table, &["supported-list-max"], INTERVAL_MAX)? as usize,
        };
        if entries.is_empty() || entries.len() > supported.min(ENTRIES_MAX) {
            let message = format!("port {port} has {} entries and supports from 1 to {supported}", entries.len());
            return Err(refuse(table, message, "merge windows, or schedule with that limit"));
        }
        let mut indexed = Vec::with_capacity(entries.len());
        for entry in entries.drain(..) {
            indexed.push((number(entry, &["index"], INTERVAL_MAX)?, entry));
        }
        indexed.sort_by_key(|(index, _)| *index);
        let (mut list, mut sum) = (GateList { link, base, cycle, entries: Vec::new() }, Duration::ZERO);
        for (index, entry) in indexed {
            let interval = Duration::from_ns(number(entry, &["time-interval-value"], INTERVAL_MAX)?);
            let gates = number(entry, &["gate-states-value"], 255)? as u8;
            sum += interval;
            if interval == Duration::ZERO || sum > cycle {
                let message = format!(
                    "port {port}, entry {index}: it has no length, or ends {} after the cycle of {cycle}",
                    (sum - cycle).max(Duration::ZERO)
                );
                return Err(refuse(entry, message, "shorten the intervals or lengthen `admin-cycle-time`"));
            }
            match list.entries.last_mut() {
                Some(last) if last.gates == gates => last.interval += interval,
                _ => list.entries.push(GateEntry { gates, interval }),
            }
        }
        // The last states hold until the cycle is over (802.1Q clause 8.6.9.2).
        if let Some(last) = list.entries.last_mut() {
            last.interval += cycle - sum;
        }
        lists.push(list);
    }
    lists.sort_by_key(|list| list.link);
    Ok(lists)
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
