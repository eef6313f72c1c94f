//! Several buses and what gateways carry between them: a communication matrix with routing.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_recordings::DatabaseMessage;
use chronoseal_recordings::content::{Purpose, expect};
use chronoseal_wire::can::{CanId, FrameKind};

use super::routes::{Carried, Route};
use super::{FoundMessage, LISTENER, REST_OF_BUS, database, holds, node_name, routes, table};
use crate::import::{not_read, plain_name, unpacked, warning_line};
use crate::kinds::KINDS;
use crate::limits::{CLUSTER_CYCLE_MAX, NAME_LEN_MAX, PERIOD_MIN, SEGMENTS_MAX};
use crate::load::{NoFiles, load};
use crate::problem::{Code, Problem, Problems};
use crate::schema::Schema;
use crate::source::utf8;

/// The database of one bus.
#[derive(Clone, Copy, Debug)]
pub struct Database<'a> {
    /// The file it comes from; the bus is named after it.
    pub source_name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

struct Bus {
    name: String,
    messages: Vec<DatabaseMessage>,
    nodes: Vec<String>,
    /// What to tell of messages that are left out.
    warnings: Vec<String>,
}

impl Bus {
    fn message(&self, name: &str) -> Option<&DatabaseMessage> {
        self.messages.iter().find(|message| message.name == name)
    }
}

/// A message as it travels on a bus.
#[derive(Clone, Copy)]
struct Frame {
    id: CanId,
    kind: FrameKind,
}

/// A scenario from a DBC database for each of several buses and a table of the messages that gateways carry between them.
///
/// A bus has the name of its file. The table is a CSV with the columns `message,from,to,gateway`: a row for each message and
/// each bus that it is carried to. There it has the identifier and the receivers that the database of that bus gives it; where
/// it is not in it, it keeps its identifier, and every node of the bus but gateways receives it. Nodes of one name are one node.
///
/// # Errors
/// A database that cannot be read, every row that cannot be followed, or what is wrong with the scenario that comes of them.
pub fn from_databases(databases: &[Database<'_>], routes_name: &str, routes_bytes: &[u8]) -> Result<String, Problems> {
    let buses = buses(databases)?;
    let names: Vec<&str> = buses.iter().map(|bus| bus.name.as_str()).collect();
    let routes_bytes = unpacked(routes_name, routes_bytes)?;
    expect(&routes_bytes, Purpose::Routes).map_err(|error| not_read(routes_name, error))?;
    let text = utf8(routes_name, &routes_bytes)?;
    let mut problems = Problems::new(routes_name, &text);
    let routes = routes::read(&text, &names, &mut problems)?;
    let of_bus = |bus: usize| buses[bus].messages.iter().map(|message| message.name.clone()).collect();
    let carried = routes::ways(&routes, &names, &of_bus, &mut problems);
    let frames = frames(&buses, &carried, &mut problems);
    problems.or(())?;
    let vehicle = Vehicle { buses: &buses, routes: &routes, carried: &carried, frames };
    let scenario = vehicle.write(routes_name);
    load(&format!("{routes_name} (as a scenario)"), scenario.as_bytes(), &[], &NoFiles)?;
    Ok(scenario)
}

fn buses(databases: &[Database<'_>]) -> Result<Vec<Bus>, Problems> {
    let schema = Schema::of(KINDS);
    let mut buses: Vec<Bus> = Vec::new();
    for Database { source_name, bytes } in databases {
        let fail = |message: String, help: &str| Err(database::fail(source_name, message, help));
        if buses.len() >= SEGMENTS_MAX as usize {
            return fail(format!("there are more than {SEGMENTS_MAX} buses"), "give the databases of fewer buses");
        }
        let mut name = plain_name(source_name);
        if schema.has_key_beside_segments(&name).is_some() {
            name += "-bus";
        }
        if buses.iter().any(|bus| bus.name == name) {
            return fail(format!("two databases are of a bus `{name}`"), "name each file after its bus");
        }
        let bytes = unpacked(source_name, bytes)?;
        expect(&bytes, Purpose::Import).map_err(|error| not_read(source_name, error))?;
        let read = database::read(source_name, &bytes)?;
        let nodes = read.nodes.iter().filter_map(|node| node_name(node)).collect();
        let mut warnings: Vec<String> =
            database::faults(&read).map(|warning| format!("{source_name}, {warning}")).collect();
        if !read.transported.is_empty() {
            warnings.push(format!(
                "{source_name}: {} messages are left out, for they are longer than 8B and go by the transport protocol of \
                 J1939-21; import the bus alone to have their frames",
                read.transported.len()
            ));
        }
        buses.push(Bus { name, messages: read.messages, nodes, warnings });
    }
    Ok(buses)
}

/// Identifier and format of each message on each bus. What is carried to a bus where another has its identifier is
/// reported.
fn frames<'a>(buses: &'a [Bus], carried: &[Carried<'a>], problems: &mut Problems) -> BTreeMap<(usize, &'a str), Frame> {
    let mut frames: BTreeMap<(usize, &str), Frame> = BTreeMap::new();
    let mut taken: BTreeMap<(usize, CanId), &str> = BTreeMap::new();
    for (bus, of_bus) in buses.iter().enumerate() {
        for message in &of_bus.messages {
            frames.insert((bus, &message.name), Frame { id: message.id, kind: database::kind(message) });
            taken.insert((bus, message.id), &message.name);
        }
    }
    for way in carried {
        let Some(origin) = buses[way.origin].message(way.message) else { continue };
        for route in way.routes.iter().filter(|route| buses[route.to].message(way.message).is_none()) {
            let name = &buses[route.to].name;
            if let Some(other) = taken.insert((route.to, origin.id), way.message) {
                problems.push(
                    Problem::new(
                        Code::ImportCsv,
                        format!(
                            "`{}` keeps its identifier {:#x} on `{name}`, where `{other}` has it",
                            way.message,
                            origin.id.raw()
                        ),
                    )
                    .label(route.span.clone(), "")
                    .help(format!("add the message to the database of `{name}`, with an identifier of its own")),
                );
            }
            frames.insert((route.to, way.message), Frame { id: origin.id, kind: database::kind(origin) });
        }
    }
    frames
}

/// Everything that is written.
struct Vehicle<'a> {
    buses: &'a [Bus],
    routes: &'a [Route],
    carried: &'a [Carried<'a>],
    /// What each bus carries, by bus and name of the message.
    frames: BTreeMap<(usize, &'a str), Frame>,
}

impl<'a> Vehicle<'a> {
    /// Who sends a message on the bus where it begins.
    fn sender(&self, bus: usize, message: &DatabaseMessage) -> String {
        let named = message.sender.as_deref().and_then(node_name);
        named.unwrap_or_else(|| format!("{REST_OF_BUS}-{}", self.buses[bus].name))
    }

    /// Whether a message comes to this bus from another.
    fn is_brought(&self, bus: usize, message: &str) -> bool {
        let brings = |way: &&Carried<'_>| way.message == message && way.routes.iter().any(|route| route.to == bus);
        self.carried.iter().any(|way| brings(&way))
    }

    /// The messages that begin on a bus.
    fn own(&self, bus: usize) -> impl Iterator<Item = &'a DatabaseMessage> {
        self.buses[bus].messages.iter().filter(move |message| !self.is_brought(bus, &message.name))
    }

    /// The nodes in order, with the buses they are on.
    fn nodes(&self) -> Vec<(String, Vec<usize>)> {
        let mut nodes: Vec<(String, Vec<usize>)> = Vec::new();
        let mut place = |name: String, bus: usize| match nodes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, buses)) if buses.contains(&bus) => {}
            Some((_, buses)) => buses.push(bus),
            None => nodes.push((name, vec![bus])),
        };
        for (bus, of_bus) in self.buses.iter().enumerate() {
            self.own(bus).for_each(|message| place(self.sender(bus, message), bus));
            of_bus.nodes.iter().for_each(|node| place(node.clone(), bus));
        }
        for route in self.routes {
            place(route.gateway.clone(), route.from);
            place(route.gateway.clone(), route.to);
        }
        for (bus, of_bus) in self.buses.iter().enumerate() {
            let alone = nodes.iter().filter(|(_, buses)| buses.contains(&bus)).count() < 2;
            if alone {
                nodes.push((format!("{LISTENER}-{}", of_bus.name), vec![bus]));
            }
        }
        nodes.iter_mut().for_each(|(_, buses)| buses.sort_unstable());
        nodes
    }

    fn is_gateway(&self, node: &str) -> bool {
        self.routes.iter().any(|route| route.gateway == node)
    }

    /// Whether two ways lead from one bus to another: more than what holds buses and gateways together.
    fn has_circles(&self) -> bool {
        let mut groups: Vec<BTreeSet<String>> = Vec::new();
        let mut edges: BTreeSet<(String, String)> = BTreeSet::new();
        for route in self.routes {
            for bus in [route.from, route.to] {
                edges.insert((format!("bus {}", self.buses[bus].name), format!("gateway {}", route.gateway)));
            }
        }
        for (bus, gateway) in edges {
            let (with, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|group| group.contains(&bus) || group.contains(&gateway));
            if with.iter().any(|group| group.contains(&bus) && group.contains(&gateway)) {
                return true;
            }
            groups = others;
            groups.push(with.into_iter().flatten().chain([bus, gateway]).collect());
        }
        false
    }

    fn write(&self, routes_name: &str) -> String {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let nodes = self.nodes();
        let mut streams = String::new();
        let (mut rates, mut late) = (Vec::new(), BTreeMap::new());
        for bus in 0..self.buses.len() {
            let mut messages = self.on_bus(bus);
            let (least, data_rate) = database::rates(messages.iter().map(|message| (message.id, message.kind)));
            let rate = holds::bit_rate(&messages, least, data_rate).unwrap_or(least);
            holds::relax(&mut messages, rate, data_rate);
            let deadlines = messages.into_iter().filter_map(|message| Some(((bus, message.name), message.deadline?)));
            late.extend(deadlines);
            rates.push((rate, data_rate));
        }
        let (mut written, mut left_out, mut assumed, mut relaxed) = (0, 0, 0, 0);
        let mut names: BTreeSet<String> = BTreeSet::new();
        for bus in 0..self.buses.len() {
            for message in self.own(bus) {
                let period = message.cycle_time.unwrap_or(database::PERIOD_ASSUMED);
                let Some(stream) =
                    self.stream(bus, message, &nodes).filter(|_| (PERIOD_MIN..=CLUSTER_CYCLE_MAX).contains(&period))
                else {
                    left_out += 1;
                    continue;
                };
                written += 1;
                assumed += usize::from(message.cycle_time.is_none());
                let mut name = message.name.clone();
                if name.len() > NAME_LEN_MAX || !names.insert(name.clone()) {
                    let kept: String = message.name.chars().take(40).filter(char::is_ascii).collect();
                    name = format!("{kept}-{}-{:#x}", plain_bus(&self.buses[bus].name), message.id.raw());
                    names.insert(name.clone());
                }
                streams += &format!(
                    "\n# {}\n[[streams]]\nname = {}\nfrom = {}\n",
                    database::comment(message),
                    quoted(&name),
                    quoted(&self.sender(bus, message)),
                );
                if let Some(to) = &stream.to {
                    streams += &format!("to = [{}]\n", list(to));
                }
                streams += &format!("length = \"{}B\"\nperiod = \"{period}\"\n", message.len);
                let deadline = late.get(&(bus, message.name.clone())).filter(|_| stream.buses.len() == 1);
                if let Some(deadline) = deadline {
                    relaxed += 1;
                    streams += &format!("deadline = \"{deadline}\"    # assumed\n");
                }
                if !stream.via.is_empty() {
                    streams += &format!("via = [{}]\n", list(&stream.via));
                }
                for on in &stream.buses {
                    if let Some(frame) = self.frames.get(&(*on, message.name.as_str())) {
                        streams += &format!("{} = {}\n", self.buses[*on].name, table(frame.id, frame.kind));
                    }
                }
            }
        }
        let carried = self.carried.len();
        let mut text = format!(
            "# {written} messages of {} nodes on {} buses, {carried} of them carried on by gateways; routes from {}.\n",
            nodes.len(),
            self.buses.len(),
            routes_name.replace(char::is_control, " ")
        );
        if left_out > 0 {
            text += &format!(
                "# {left_out} messages were left out: more than 10 s apart, or nobody else is there to receive them.\n"
            );
        }
        if assumed > 0 {
            text += &format!("# Assumed: 100ms for {assumed} messages without a cycle time.\n");
        }
        if relaxed > 0 {
            text += &format!("# {}\n", holds::shown(relaxed));
        }
        for warning in self.buses.iter().flat_map(|bus| &bus.warnings) {
            text += &warning_line(warning);
        }
        text += "# Assumed: bit rates, delays of gateways and duration. Change them to yours.\n";
        text += &format!("\nschema_version = 2\nname = {}\nduration = \"10s\"\n", quoted(&plain_name(routes_name)));
        for (bus, of_bus) in self.buses.iter().enumerate() {
            let (rate, data_rate) = rates[bus];
            text += &format!("\n[segments.{}.can]\nbit_rate = \"{}\"\n", of_bus.name, chronoseal_core::Rate(rate));
            if let Some(rate) = data_rate {
                text += &format!("data_bit_rate = \"{}\"\n", chronoseal_core::Rate(rate));
            }
        }
        for (node, on) in &nodes {
            let on: Vec<String> = on.iter().map(|bus| self.buses[*bus].name.clone()).collect();
            text += &format!("\n[[nodes]]\nname = {}\non = [{}]\n", quoted(node), list(&on));
            if self.is_gateway(node) {
                text += "gateway = { delay = \"50us\", queue = \"64 frames\" }\n";
            }
        }
        text + &streams
    }

    /// Everything a bus carries, to be counted.
    fn on_bus(&self, bus: usize) -> Vec<FoundMessage> {
        let frames = self.frames.iter().filter(|((on, _), _)| *on == bus);
        let found = frames.filter_map(|((_, name), frame)| {
            let message =
                self.buses[bus].message(name).or_else(|| self.buses.iter().find_map(|bus| bus.message(name)))?;
            Some(FoundMessage {
                name: message.name.clone(),
                from: String::new(),
                id: frame.id,
                kind: frame.kind,
                len: message.len,
                period: message.cycle_time.unwrap_or(database::PERIOD_ASSUMED),
                comment: String::new(),
                deadline: None,
            })
        });
        found.collect()
    }

    /// Who receives a message that begins on a bus, and over which gateways and buses; `None` if nobody does.
    fn stream(&self, bus: usize, message: &DatabaseMessage, nodes: &[(String, Vec<usize>)]) -> Option<Written> {
        let sender = self.sender(bus, message);
        let on_bus =
            |node: &String, bus: usize| nodes.iter().any(|(known, buses)| known == node && buses.contains(&bus));
        let named = |message: &DatabaseMessage, bus: usize| -> Vec<String> {
            let names = message.receivers.iter().filter_map(|name| node_name(name));
            names.filter(|name| *name != sender && on_bus(name, bus)).collect()
        };
        let of_sender = nodes.iter().find(|(known, _)| *known == sender).map(|(_, buses)| buses.as_slice());
        let others = |bus: usize| -> Vec<String> {
            let there = nodes.iter().filter(|(name, buses)| *name != sender && buses.contains(&bus));
            // Who shares another bus with the sender would be reached in two ways.
            let shared =
                |buses: &[usize]| of_sender.unwrap_or_default().iter().filter(|bus| buses.contains(bus)).count() > 1;
            there.filter(|(_, buses)| !shared(buses)).map(|(name, _)| name.clone()).collect()
        };
        let way = self.carried.iter().find(|way| way.message == message.name && way.origin == bus);
        let Some(way) = way else {
            if of_sender.is_some_and(|buses| buses.len() == 1) {
                return Some(Written { to: None, via: Vec::new(), buses: vec![bus] });
            }
            let to = others(bus);
            return (!to.is_empty()).then(|| Written { to: Some(to), via: Vec::new(), buses: vec![bus] });
        };
        let mut to = named(message, bus);
        let mut via: Vec<String> = Vec::new();
        let mut buses = vec![bus];
        for route in &way.routes {
            let copy = self.buses[route.to].message(&message.name);
            let mut there = copy.map(|copy| named(copy, route.to)).unwrap_or_default();
            if there.is_empty() {
                there = others(route.to);
                there.retain(|name| !self.is_gateway(name));
            }
            there.retain(|name| !to.contains(name));
            to.extend(there);
            buses.push(route.to);
            if self.has_circles() && !via.contains(&route.gateway) {
                via.push(route.gateway.clone());
            }
        }
        (!to.is_empty()).then_some(Written { to: Some(to), via, buses })
    }
}

/// What is written of a stream.
struct Written {
    /// `None`: all others on its bus.
    to: Option<Vec<String>>,
    via: Vec<String>,
    buses: Vec<usize>,
}

/// A bus's name short enough to stand in that of a stream.
fn plain_bus(name: &str) -> String {
    name.chars().take(12).collect()
}
