//! CAN segments of several buses, which a gateway inside joined: each bus becomes a segment of its own, and the gateway a node.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Value};

use chronoseal_plan::CAN;

use super::entries::{Entries, all_comments, bare, each, inner, renamed, text, with_comments};
use crate::kinds::KINDS;
use crate::schema::Schema;
use crate::source::{self, Source, Step};
use crate::spec::StreamProtectionSpec;

const BUSES: &str = "buses";
const DELAY: &str = "gateway_delay";
/// Frames that each controller of the gateway inside held.
const QUEUE: &str = "2048 frames";

/// Where a scenario has a segment of several buses, if it has one.
pub(crate) fn written(source: &Source) -> Option<Range<usize>> {
    let source::Value::Table(segments) = &source.root.child(Step::Key("segments"))?.node.value else { return None };
    segments.iter().find_map(|segment| {
        let table = &segment.node.child(Step::Key(CAN))?.node;
        let entry = table.child(Step::Key(BUSES)).or_else(|| table.child(Step::Key(DELAY)))?;
        Some(entry.key_span.clone())
    })
}

/// A segment, and what becomes of it.
struct Split {
    old: String,
    /// The buses and the segments that they become.
    buses: Vec<(String, String)>,
    delay: Option<String>,
    /// On which of the buses each node is, in the order of the text.
    nodes: Vec<(String, usize)>,
    /// Those that play recorded traffic.
    players: BTreeSet<String>,
    /// True if there is no other segment.
    is_only_one: bool,
}

/// Splits every such segment. False if there is none.
pub(super) fn split(root: &mut Entries) -> bool {
    let mut is_changed = false;
    while let Some(split) = next(root) {
        is_changed = true;
        split.apply(root);
    }
    is_changed
}

/// The first segment that names buses, as it is written.
fn next(root: &mut Entries) -> Option<Split> {
    let segments: Vec<String> = table_of(root.get_mut("segments")?)?.iter().map(|(name, _)| name.to_owned()).collect();
    let (old, names, delay) = segments.iter().find_map(|name| {
        let can = table_of(root.get_mut("segments")?)?.get(name)?.as_table_like()?.get(CAN)?.as_table_like()?;
        if !can.contains_key(BUSES) && !can.contains_key(DELAY) {
            return None;
        }
        let delay = can.get(DELAY).and_then(Item::as_str).map(str::to_owned);
        Some((name.clone(), can.get(BUSES).map(texts).unwrap_or_default(), delay))
    })?;
    let schema = Schema::of(KINDS);
    let is_free = |bus: &str| {
        let other = segments.iter().any(|name| *name != old && name == bus);
        !other && schema.has_key_beside_segments(bus).is_none() && bus != StreamProtectionSpec::END_TO_END
    };
    let name = |bus: &String| if is_free(bus) { bus.clone() } else { format!("{old}-{bus}") };
    let buses: Vec<(String, String)> = match &names[..] {
        // One bus is what a segment is.
        [] | [_] => {
            names.iter().map(|bus| (bus.clone(), old.clone())).chain([(String::new(), old.clone())]).take(1).collect()
        }
        several => several.iter().map(|bus| (bus.clone(), name(bus))).collect(),
    };
    let is_only_one = segments.len() == 1;
    let mut nodes = Vec::new();
    for_each(root, "nodes", |node| {
        let on = node.get_mut("on").map(|on| texts(on));
        if on.map_or(is_only_one, |on| on.contains(&old)) {
            let bus = node.get_mut("bus").and_then(|bus| bus.as_str().map(str::to_owned));
            let found = bus.and_then(|bus| buses.iter().position(|(known, _)| *known == bus));
            nodes.extend(node.text("name").map(|name| (name, found.unwrap_or(0))));
        }
    });
    let mut players = BTreeSet::new();
    for_each(root, "recordings", |recording| {
        if recording.get_mut("traffic").is_some() {
            players.extend(recording.text("from"));
        }
    });
    Some(Split { old, buses, delay, nodes, players, is_only_one })
}

impl Split {
    fn apply(&self, root: &mut Entries) {
        if let Some(segments) = root.get_mut("segments") {
            inner(segments, |segments| segments.replace(&self.old, |key, item| self.segments(&key, item)));
        }
        for_each(root, "nodes", |node| self.node(node));
        if self.buses.len() > 1 {
            if let Some(nodes) = root.get_mut("nodes") {
                self.add_gateway(nodes);
            }
            let mut threatened = BTreeMap::new();
            for_each(root, "streams", |stream| {
                let used = self.stream(stream);
                threatened.extend(stream.text("name").map(|name| (name, used)));
            });
            for_each(root, "threats", |threat| self.threat(threat, &threatened));
            for_each(root, "recordings", |recording| self.recording(recording));
            if let Some(keys) = root.get_mut("keys") {
                inner(keys, |keys| keys.each_value(|key| inner(key, |key| self.key(key))));
            }
        }
    }

    fn bus_of(&self, node: &str) -> Option<usize> {
        self.nodes.iter().find(|(name, _)| name == node).map(|(_, bus)| *bus)
    }

    /// All nodes but one.
    fn others<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a str> {
        self.nodes.iter().map(|(name, _)| name.as_str()).filter(move |name| *name != node)
    }

    /// The segments in the place of the one; comments stay with the first.
    fn segments(&self, key: &Key, mut item: Item) -> Vec<(Key, Item)> {
        inner(&mut item, |segment| {
            if let Some(can) = segment.get_mut(CAN) {
                inner(can, |can| can.remove_all(&[BUSES, DELAY]));
            }
        });
        let copies = self.buses.iter().enumerate().map(|(index, (_, name))| match index {
            0 => (renamed(key, name), item.clone()),
            _ => (Key::new(name.as_str()), bare(&item)),
        });
        copies.collect()
    }

    fn node(&self, node: &mut Entries) {
        let Some(bus) = node.text("name").and_then(|name| self.bus_of(&name)) else { return };
        let segment = &self.buses[bus].1;
        if let Some(Item::Value(Value::Array(on))) = node.get_mut("on") {
            for value in on.iter_mut().filter(|value| value.as_str() == Some(&self.old)) {
                let decor = value.decor().clone();
                *value = Value::from(segment.as_str());
                *value.decor_mut() = decor;
            }
            node.remove_all(&["bus"]);
        } else if self.buses.len() < 2 {
            node.remove_all(&["bus"]);
        } else if node.get_mut("bus").is_some() {
            node.replace("bus", |key, item| vec![(renamed(&key, "on"), like(array([segment.as_str()]), &item))]);
        } else {
            node.insert_after("name", "on", Item::Value(array([segment.as_str()])));
        }
    }

    /// The gateway as a node.
    fn add_gateway(&self, nodes: &mut Item) {
        let on: Vec<String> = self.buses.iter().map(|(_, name)| format!("\"{name}\"")).collect();
        let delay = self.delay.as_deref().unwrap_or("50us");
        let node = format!(
            "[[nodes]]\nname = \"{}-gateway\"\non = [{}]\nclock = \"ideal\"\n\
             gateway = {{ delay = \"{delay}\", queue = \"{QUEUE}\", bridges = [\"all\"] }}\n",
            self.old,
            on.join(", ")
        );
        let mut parsed = node.parse::<DocumentMut>().unwrap_or_default();
        let Some(Item::ArrayOfTables(new)) = parsed.remove("nodes") else { return };
        match nodes {
            Item::ArrayOfTables(tables) => tables.extend(new.into_iter().map(|mut table| {
                table.set_position(None);
                table.decor_mut().set_prefix("\n");
                table
            })),
            Item::Value(Value::Array(values)) => {
                values.extend(new.into_iter().map(|table| Value::InlineTable(table.into_inline_table())));
            }
            _ => {}
        }
    }

    /// A stream, and the buses it is on now, its sender's first.
    fn stream(&self, stream: &mut Entries) -> Vec<usize> {
        let from = stream.text("from").unwrap_or_default();
        let begins = self.bus_of(&from);
        let to: Vec<String> = match stream.get_mut("to") {
            Some(to) => texts(to),
            None => self.others(&from).map(str::to_owned).collect(),
        };
        let mut used: Vec<usize> = begins.into_iter().collect();
        for bus in to.iter().filter_map(|node| self.bus_of(node)) {
            if !used.contains(&bus) {
                used.push(bus);
            }
        }
        if stream.get_mut(&self.old).is_none() || used.is_empty() {
            return Vec::new();
        }
        if stream.get_mut("to").is_none() {
            stream.insert_after("from", "to", Item::Value(array(to.iter().map(String::as_str))));
        }
        stream.replace(&self.old, |key, item| self.on_each(&used, &key, &item));
        if let Some(protection) = stream.get_mut("protection") {
            inner(protection, |by_segment| {
                by_segment.replace(&self.old, |key, item| match used[..] {
                    [bus] => vec![(renamed(&key, &self.buses[bus].1), item)],
                    _ => vec![(renamed(&key, StreamProtectionSpec::END_TO_END), item)],
                });
            });
        }
        used
    }

    /// The same for some buses; comments stay with the first.
    fn on_each(&self, used: &[usize], key: &Key, item: &Item) -> Vec<(Key, Item)> {
        let entry = |(index, bus): (usize, &usize)| match index {
            0 => (renamed(key, &self.buses[*bus].1), item.clone()),
            _ => (Key::new(self.buses[*bus].1.as_str()), bare(item)),
        };
        used.iter().enumerate().map(entry).collect()
    }

    /// An attacker, who sat on the first bus.
    fn threat(&self, threat: &mut Entries, streams: &BTreeMap<String, Vec<usize>>) {
        let used = threat.text("stream").map(|stream| streams.get(&stream).cloned().unwrap_or_default());
        let bus = match &used {
            // It has to be one that the stream crosses.
            Some(used) if !used.contains(&0) => used.first().copied(),
            _ => Some(0),
        };
        let at = threat.get_mut("at").and_then(|at| at.as_table_like()?.get("segment")?.as_str().map(str::to_owned));
        let (Some(bus), true) = (bus, at.as_ref().is_none_or(|at| *at == self.old)) else { return };
        let segment = self.buses[bus].1.as_str();
        threat.replace(&self.old, |key, item| vec![(renamed(&key, segment), item)]);
        if let Some(at) = threat.get_mut("at") {
            inner(at, |at| at.replace("segment", |key, old| vec![(key, text(segment, &old))]));
        } else if self.is_only_one || used.is_some() {
            let mut place = InlineTable::new();
            place.insert("segment", Value::from(segment));
            let after = if used.is_some() { "stream" } else { "kind" };
            threat.insert_after(after, "at", Item::Value(Value::InlineTable(place)));
        }
    }

    fn recording(&self, recording: &mut Entries) {
        let bus = recording.text("from").and_then(|from| self.bus_of(&from));
        let is_here = recording.text("segment").as_ref() == Some(&self.old);
        if let (Some(bus), true) = (bus, is_here) {
            recording.replace("segment", |key, old| vec![(key, text(&self.buses[bus].1, &old))]);
        }
    }

    /// The gateway is no member, which it would be now if none were named.
    fn key(&self, key: &mut Entries) {
        let Some(group) = key.get_mut("group") else { return };
        inner(group, |group| {
            let orchestrator = group.text("orchestrator").unwrap_or_default();
            if group.get_mut("members").is_none() && self.bus_of(&orchestrator).is_some() {
                let members = self.others(&orchestrator).filter(|node| !self.players.contains(*node));
                group.insert_after("orchestrator", "members", Item::Value(array(members)));
            }
        });
    }
}

fn for_each(root: &mut Entries, list: &str, change: impl FnMut(&mut Entries)) {
    if let Some(list) = root.get_mut(list) {
        each(list, change);
    }
}

fn table_of(item: &Item) -> Option<&dyn toml_edit::TableLike> {
    item.as_table_like()
}

/// The texts of a list.
fn texts(list: &Item) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn array<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(texts.into_iter().collect::<Array>())
}

/// A value with what stands around another.
fn like(mut value: Value, item: &Item) -> Item {
    if let Item::Value(like) = item {
        *value.decor_mut() = like.decor().clone();
    }
    Item::Value(value)
}

impl Entries {
    /// Takes some keys away; their comments go above what follows, or else what comes before.
    fn remove_all(&mut self, keys: &[&str]) {
        for key in keys {
            let Some((position, removed, item)) = self.take_out(key) else { continue };
            let mut above = super::entries::comments(removed.leaf_decor().prefix());
            above.extend(all_comments(&item));
            self.comment(position, &above);
        }
    }

    fn comment(&mut self, position: usize, above: &[String]) {
        if let Some((key, _)) = self.nearest_mut(position) {
            *key = with_comments(key.clone(), above);
        }
    }
}
