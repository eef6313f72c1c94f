//! A schedule written into the text of a scenario: gate control lists of ports, and offsets of streams.

use chronoseal_core::Duration;
use chronoseal_media::port::{PortConfig, priority_of};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::overrides;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;

/// The gates of one port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortGates {
    /// Whose port it is.
    pub from: String,
    /// The other end of its link.
    pub to: String,
    /// True for a port of a station.
    pub is_station: bool,
    /// The traffic class of each priority at this port, which is written if nothing else is written of the port.
    pub class_of: [u8; 8],
    /// Its key `gates`, as a table in one line; `None` takes it out.
    pub gates: Option<String>,
}

/// The text of a scenario after `sets`, with gates in the ports of a segment and with offsets of streams. Comments and layout
/// stay.
///
/// # Errors
/// If the text is no TOML of the present version, or a stream has no entry of its own.
pub fn with_gates(
    source_name: &str,
    bytes: &[u8],
    sets: &[(String, String)],
    segment: &str,
    ports: &[PortGates],
    offsets: &[(String, Duration)],
) -> Result<String, Problems> {
    let refuse = |message: &str, help: String| refused(source_name, message, help);
    let mut document = document(source_name, bytes, sets)?;
    for (name, offset) in offsets {
        let stream = document.get_mut("streams").and_then(|streams| entry(streams, &|entry| is_named(entry, name)));
        let Some(stream) = stream else {
            let message = format!("the stream `{}` has no entry of its own for an offset", shortened(name));
            let help = "write an entry without `count` for each stream that is to be scheduled, since each has an `offset` of \
                        its own";
            return Err(refuse(&message, help.into()));
        };
        stream.insert("offset", Item::Value(Value::from(offset.to_string())));
    }
    let table = document.get_mut("segments").and_then(|segments| segments.get_mut(segment));
    let Some(table) = table.and_then(|table| table.get_mut("ethernet")).and_then(Item::as_table_like_mut) else {
        let message = format!("there is no table `segments.{}.ethernet` to write gates into", shortened(segment));
        return Err(refuse(&message, "write the scenario in the present version, `schema_version = 2`".into()));
    };
    ports.iter().for_each(|port| put(table, port));
    Ok(document.to_string())
}

/// The text of a scenario without one of its streams. Comments and layout of all else stay.
///
/// # Errors
/// If the text is no TOML of the present version, or the stream has no entry of its own.
pub fn without_stream(source_name: &str, bytes: &[u8], name: &str) -> Result<String, Problems> {
    let mut document = document(source_name, bytes, &[])?;
    let is_it = |entry: &dyn TableLike| is_named(entry, name);
    let removed = match document.get_mut("streams") {
        Some(Item::ArrayOfTables(list)) => position(list, &is_it).map(|at| list.remove(at)).is_some(),
        Some(Item::Value(Value::Array(list))) => {
            let before = list.len();
            list.retain(|entry| !entry.as_inline_table().is_some_and(|entry| is_it(entry)));
            list.len() < before
        }
        _ => false,
    };
    if removed {
        return Ok(document.to_string());
    }
    let message = format!("the stream `{}` has no entry of its own to take out", shortened(name));
    Err(refused(source_name, &message, "write an entry without `count` for it".into()))
}

/// The text after `sets`.
fn document(source_name: &str, bytes: &[u8], sets: &[(String, String)]) -> Result<DocumentMut, Problems> {
    let message = "a schedule is written into a scenario in TOML";
    let no_toml = || refused(source_name, message, "write the scenario as TOML".into());
    let text = std::str::from_utf8(bytes).map_err(|_| no_toml())?;
    let text = overrides::apply(source_name, text.to_owned(), sets)?;
    text.parse().map_err(|_| no_toml())
}

fn refused(source_name: &str, message: &str, help: String) -> Problems {
    Problems::one(source_name, "", Problem::new(Code::Syntax, message.to_owned()).help(help))
}

/// Writes the gates of one port into its segment.
fn put(segment: &mut dyn TableLike, port: &PortGates) {
    let common = if port.is_station { "station_ports" } else { "bridge_ports" };
    let written = segment.get(common).and_then(inline);
    let links = segment.entry("links").or_insert(Item::Value(Value::Array(Array::new())));
    let joins = |link: &dyn TableLike| {
        let ends = link.get("between").and_then(Item::as_array);
        ends.is_some_and(|ends| {
            [&port.from, &port.to].iter().all(|end| ends.iter().any(|one| one.as_str() == Some(end.as_str())))
        })
    };
    if entry(links, &joins).is_none() {
        let ends: Array = [port.from.as_str(), port.to.as_str()].into_iter().collect();
        match links {
            Item::ArrayOfTables(links) => {
                let mut link = Table::new();
                link.insert("between", Item::Value(Value::Array(ends)));
                links.push(link);
            }
            Item::Value(Value::Array(links)) => {
                links.push(InlineTable::from_iter([("between", Value::Array(ends))]));
            }
            _ => return,
        }
    }
    let Some(link) = entry(links, &joins) else { return };
    let ports = link.entry("ports").or_insert(Item::Value(Value::InlineTable(InlineTable::new())));
    let Some(ports) = ports.as_table_like_mut() else { return };
    // What stands at the link stands there instead of the common table.
    let mut own = ports.get(&port.from).and_then(inline).or(written).unwrap_or_else(|| {
        if port.class_of == PortConfig::default().class_of {
            return InlineTable::new();
        }
        let of_code_point = |code_point| i64::from(port.class_of[usize::from(priority_of(code_point).0)]);
        let priorities: Array = (0..8).map(of_code_point).collect();
        InlineTable::from_iter([("priorities", Value::Array(priorities))])
    });
    match &port.gates {
        Some(gates) => {
            let gates = gates.parse::<Value>().unwrap_or_else(|_| Value::from(gates.as_str()));
            own.insert("gates", gates);
        }
        None => {
            own.remove("gates");
        }
    }
    ports.insert(&port.from, Item::Value(Value::InlineTable(own)));
}

/// A table as it stands in a line.
fn inline(item: &Item) -> Option<InlineTable> {
    match item.clone().into_value() {
        Ok(Value::InlineTable(table)) => Some(table),
        _ => None,
    }
}

fn is_named(entry: &dyn TableLike, name: &str) -> bool {
    entry.get("name").and_then(Item::as_str) == Some(name) && !entry.contains_key("count")
}

/// The first entry of a list that is as wanted, whichever way the list is written.
fn entry<'a>(list: &'a mut Item, is_wanted: &dyn Fn(&dyn TableLike) -> bool) -> Option<&'a mut dyn TableLike> {
    match list {
        Item::ArrayOfTables(list) => {
            let at = position(list, is_wanted)?;
            list.get_mut(at).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(Value::Array(list)) => {
            let mut tables = list.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.find(|table| is_wanted(*table)).map(|table| table as &mut dyn TableLike)
        }
        _ => None,
    }
}

fn position(list: &ArrayOfTables, is_wanted: &dyn Fn(&dyn TableLike) -> bool) -> Option<usize> {
    list.iter().position(|table| is_wanted(table))
}
