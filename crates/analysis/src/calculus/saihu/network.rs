//! Reads an output-port network.

use std::collections::BTreeMap;

use chronoseal_schedule::exchange::Refusal;
use serde_json::{Map, Value};

use super::super::arrival::{ArrivalCurve, Bucket};
use super::super::network::{Flow, Hop, Multiplexing, Network, Server};
use super::super::rational::{Rational, whole};
use super::super::service::{RateLatency, ServiceCurve};
use super::check::{At, object};
use super::units::{Quantity, decimal};

/// Attributes that the format has. Some concern the tools that it was made for, and nothing here.
const FILE: &[&str] = &["network", "flows", "servers", "adjacency_matrix", "units"];
const NETWORK: &[&str] = &[
    "name",
    "multiplexing",
    "packetizer",
    "analysis_option",
    "time_unit",
    "data_unit",
    "rate_unit",
    "min_packet_length",
    "max_packet_length",
    "arrival_curve",
    "service_curve",
    "capacity",
    "technology",
    "overhead",
];
const FLOW: &[&str] = &[
    "name",
    "id",
    "path",
    "path_name",
    "multicast",
    "arrival_curve",
    "max_packet_length",
    "min_packet_length",
    "time_unit",
    "data_unit",
    "rate_unit",
];
const BRANCH: &[&str] = &["name", "path"];
const SERVER: &[&str] = &["name", "id", "service_curve", "capacity", "time_unit", "data_unit", "rate_unit"];
/// Flows, or servers, at most, and servers on a way.
const COUNT_MAX: usize = 20_000;
const PATH_MAX: usize = 256;

/// A network, in seconds and bits.
#[derive(Clone, Debug)]
pub struct SaihuNetwork {
    /// What it is called.
    pub name: String,
    /// In which order its servers serve.
    pub multiplexing: Multiplexing,
    /// Servers and flows. Frames are handed on whole if the file says `packetizer`.
    pub network: Network,
    /// Where its flows end, by flow, the one of `path` first.
    pub ends: Vec<SaihuEnd>,
}

/// Where a flow ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaihuEnd {
    /// Which flow.
    pub flow: usize,
    /// Which of its hops is the last.
    pub hop: usize,
    /// What results call it: the flow, or `FLOW_PATH` for one of several ways.
    pub names: Vec<String>,
}

/// Units that count where a number has none.
#[derive(Clone)]
struct Units {
    time: Rational,
    data: Rational,
    rate: Rational,
}

impl Units {
    fn of(&self, quantity: Quantity) -> &Rational {
        match quantity {
            Quantity::Time => &self.time,
            Quantity::Data => &self.data,
            Quantity::Rate => &self.rate,
        }
    }

    /// The same, but for those that an object says itself.
    fn with(&self, at: &At<'_>, members: &Map<String, Value>) -> Result<Self, Refusal> {
        let unit = |name: &str, quantity: Quantity, example: &str, default: &Rational| match members.get(name) {
            None => Ok(default.clone()),
            Some(value) => {
                let unit = value.as_str().and_then(|text| quantity.unit(text));
                unit.ok_or_else(|| at.wrong(&at.of(name), value, &format!("a unit such as \"{example}\"")))
            }
        };
        Ok(Self {
            time: unit("time_unit", Quantity::Time, "us", &self.time)?,
            data: unit("data_unit", Quantity::Data, "B", &self.data)?,
            rate: unit("rate_unit", Quantity::Rate, "Mbps", &self.rate)?,
        })
    }

    fn number(&self, at: &At<'_>, place: &str, value: &Value, quantity: Quantity) -> Result<Rational, Refusal> {
        let found = match value {
            Value::Number(number) => decimal(&number.to_string()).map(|number| number * self.of(quantity)),
            Value::String(text) => quantity.parse(text, self.of(quantity)),
            _ => None,
        };
        let found = found.filter(|number| !number.is_negative());
        found.ok_or_else(|| at.wrong(place, value, quantity.expected()))
    }

    fn numbers(
        &self,
        at: &At<'_>,
        members: &Map<String, Value>,
        name: &str,
        quantity: Quantity,
    ) -> Result<Vec<Rational>, Refusal> {
        let items = at.list(members, name, "a list of numbers, with units or without")?;
        let number = |(index, item)| self.number(at, &format!("{}[{index}]", at.of(name)), item, quantity);
        items.iter().enumerate().map(number).collect()
    }

    /// Both lists of a curve, pair by pair.
    fn curve(
        &self,
        at: &At<'_>,
        members: &Map<String, Value>,
        first: (&str, Quantity),
    ) -> Result<Vec<(Rational, Rational)>, Refusal> {
        at.only(members, &[first.0, "rates"])?;
        let firsts = self.numbers(at, members, first.0, first.1)?;
        let rates = self.numbers(at, members, "rates", Quantity::Rate)?;
        if firsts.len() != rates.len() || rates.is_empty() {
            let found = format!("has {} entries beside {} in `{}`", rates.len(), firsts.len(), first.0);
            return Err(at.refuse(&at.of("rates"), found, "write one rate for each of them, and at least one"));
        }
        Ok(firsts.into_iter().zip(rates).collect())
    }
}

/// Reads an output-port network from its JSON file.
///
/// A flow with `multicast` branches where its ways part. Without `capacity` nothing limits what leaves a server together;
/// the tools that Saihu runs take the greatest rate of the service curve then, which no link has to keep to.
///
/// # Errors
/// Where the file is wrong, what was expected there, and what to do.
pub fn read_network(source: &str, bytes: &[u8]) -> Result<SaihuNetwork, Refusal> {
    let file = object(source, bytes)?;
    let at = At { source, path: "" };
    at.only(&file, FILE)?;
    let defaults = at.object(&file, "network", "an object with the name of the network")?;
    let in_network = At { source, path: "network" };
    in_network.only(defaults, NETWORK)?;
    let name = in_network.text(defaults, "name")?.to_owned();
    let multiplexing = match defaults.get("multiplexing") {
        None => Multiplexing::Fifo,
        Some(Value::String(text)) if text == "FIFO" => Multiplexing::Fifo,
        Some(Value::String(text)) if text == "ARBITRARY" => Multiplexing::Arbitrary,
        Some(other) => return Err(in_network.wrong("network.multiplexing", other, "\"FIFO\" or \"ARBITRARY\"")),
    };
    let base = Units { time: whole(1), data: whole(1), rate: whole(1) };
    let reader = Reader {
        units: base.with(&in_network, defaults)?,
        is_packetized: in_network.flag(defaults, "packetizer")?,
        source,
        defaults,
    };
    let mut servers = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, value) in at.list(&file, "servers", "a list of servers")?.iter().enumerate() {
        let path = format!("servers[{index}]");
        let (name, server) = reader.server(&path, value)?;
        if places.insert(name, index).is_some() {
            return Err(at.refuse(&path, format!("has the name `{name}` again"), "give each server its own name"));
        }
        servers.push(server);
    }
    let (mut flows, mut ends, mut names): (Vec<Flow>, Vec<SaihuEnd>, BTreeMap<&str, usize>) = Default::default();
    for (index, value) in at.list(&file, "flows", "a list of flows")?.iter().enumerate() {
        let path = format!("flows[{index}]");
        let (name, flow, ways) = reader.flow(&path, value, &places)?;
        if names.insert(name, index).is_some() {
            return Err(at.refuse(&path, format!("has the name `{name}` again"), "give each flow its own name"));
        }
        ends.extend(ways.into_iter().map(|(hop, names)| SaihuEnd { flow: index, hop, names }));
        flows.push(flow);
    }
    for (what, count) in [("servers", servers.len()), ("flows", flows.len())] {
        if count > COUNT_MAX {
            let found = format!("has {count} entries, and at most {COUNT_MAX} are read");
            return Err(at.refuse(what, found, "split the network"));
        }
    }
    let network = Network::new(servers, flows).map_err(|error| {
        let help = "let the ways of a flow part once and never meet again";
        Refusal::new(source, None, format!("`flows`: {error}"), help)
    })?;
    Ok(SaihuNetwork { name, multiplexing, network, ends })
}

struct Reader<'a> {
    units: Units,
    is_packetized: bool,
    source: &'a str,
    defaults: &'a Map<String, Value>,
}

/// The last hop of a way, and what results call it.
type Way = (usize, Vec<String>);

impl<'a> Reader<'a> {
    fn at<'p>(&self, path: &'p str) -> At<'p>
    where
        'a: 'p,
    {
        At { source: self.source, path }
    }

    /// What an object says, or else the network for all of them, and where that stands.
    fn value<'v>(&self, at: &At<'_>, members: &'v Map<String, Value>, name: &str) -> Option<(String, &'v Value)>
    where
        'a: 'v,
    {
        let own = members.get(name).map(|value| (at.of(name), value));
        own.or_else(|| Some((format!("network.{name}"), self.defaults.get(name)?)))
    }

    /// The way to a curve, and its pairs of numbers.
    fn curve(
        &self,
        at: &At<'_>,
        members: &Map<String, Value>,
        units: &Units,
        name: &str,
        first: (&str, Quantity),
    ) -> Result<(String, Vec<(Rational, Rational)>), Refusal> {
        let expected = format!("an object with the lists `{}` and `rates`", first.0);
        let Some((place, value)) = self.value(at, members, name) else {
            let help = format!("write {expected}, here or for all in `network.{name}`");
            return Err(at.refuse(&at.of(name), "is missing", help));
        };
        let in_curve = self.at(&place);
        let pairs = units.curve(&in_curve, in_curve.member(&place, value, &expected)?, first)?;
        Ok((place, pairs))
    }

    fn server<'v>(&self, path: &str, value: &'v Value) -> Result<(&'v str, Server), Refusal> {
        let at = self.at(path);
        let members = at.member(path, value, "a server with its name and `service_curve`")?;
        at.only(members, SERVER)?;
        let name = at.text(members, "name")?;
        let units = self.units.with(&at, members)?;
        let (place, pieces) = self.curve(&at, members, &units, "service_curve", ("latencies", Quantity::Time))?;
        let in_curve = self.at(&place);
        if pieces.iter().all(|(_, rate)| rate.is_zero()) {
            let help = "write a rate above 0, or no flow through this server is ever served";
            return Err(in_curve.refuse(&in_curve.of("rates"), "are all 0", help));
        }
        let pieces = pieces.into_iter().map(|(latency, rate)| RateLatency { rate, latency });
        let service = ServiceCurve::most_of(pieces);
        let service = service.map_err(|error| in_curve.refuse(&place, error, "mend the curve"))?;
        let link_rate = match self.value(&at, members, "capacity") {
            None => None,
            Some((place, value)) => {
                let rate = units.number(&at, &place, value, Quantity::Rate)?;
                if rate.is_zero() {
                    return Err(at.wrong(&place, value, "a rate above 0, or leave it out if it is not known"));
                }
                Some(rate)
            }
        };
        Ok((name, Server { link_rate, ..Server::new(name, service) }))
    }

    fn flow<'v>(
        &self,
        path: &str,
        value: &'v Value,
        places: &BTreeMap<&str, usize>,
    ) -> Result<(&'v str, Flow, Vec<Way>), Refusal> {
        let at = self.at(path);
        let members = at.member(path, value, "a flow with its name, `path` and `arrival_curve`")?;
        at.only(members, FLOW)?;
        let name = at.text(members, "name")?;
        let units = self.units.with(&at, members)?;
        let (place, buckets) = self.curve(&at, members, &units, "arrival_curve", ("bursts", Quantity::Data))?;
        let buckets = buckets.into_iter().map(|(burst, rate)| Bucket { rate, burst });
        let arrival = ArrivalCurve::least_of(buckets);
        let arrival = arrival.map_err(|error| at.refuse(&place, error, "mend the curve"))?;
        let length = |name: &str| {
            let number = |(place, value): (String, &Value)| units.number(&at, &place, value, Quantity::Data);
            self.value(&at, members, name).map(number).transpose()
        };
        let (longest, shortest) = (length("max_packet_length")?, length("min_packet_length")?);
        if let (Some(longest), Some(shortest)) = (&longest, &shortest)
            && shortest > longest
        {
            let found = format!("is {longest}b, and `min_packet_length` {shortest}b");
            return Err(at.refuse(&at.of("max_packet_length"), found, "write the longer length here"));
        }
        let longest_frame = match (self.is_packetized, longest) {
            (false, _) => whole(0),
            (true, Some(longest)) => longest,
            (true, None) => {
                let help = "write how long the longest packet is, since `network.packetizer` hands packets on whole";
                return Err(at.refuse(&at.of("max_packet_length"), "is missing", help));
            }
        };
        let (hops, ways) = self.ways(&at, name, members, places)?;
        Ok((name, Flow { name: name.to_owned(), arrival, longest_frame, hops }, ways))
    }

    /// The tree of a flow's ways, and where each of them ends.
    fn ways(
        &self,
        at: &At<'_>,
        flow: &str,
        members: &Map<String, Value>,
        places: &BTreeMap<&str, usize>,
    ) -> Result<(Vec<Hop>, Vec<Way>), Refusal> {
        let mut hops: Vec<Hop> = Vec::new();
        let mut walk = |at: &At<'_>, members: &Map<String, Value>| -> Result<usize, Refusal> {
            let path = at.list(members, "path", "the names of the servers on the way, in order")?;
            if path.is_empty() || path.len() > PATH_MAX {
                let found = format!("names {} servers", path.len());
                return Err(at.refuse(&at.of("path"), found, format!("write from 1 to {PATH_MAX} of them")));
            }
            let mut before: Option<usize> = None;
            for (index, value) in path.iter().enumerate() {
                let place = format!("{}[{index}]", at.of("path"));
                let known = value.as_str().and_then(|name| places.get(name));
                let server = *known.ok_or_else(|| at.wrong(&place, value, "the name of one of the `servers`"))?;
                let hop = Hop { server, after: before };
                let known = hops.iter().position(|known| *known == hop);
                if known.is_none() && hops.iter().any(|known| known.server == server) {
                    let found = format!("leads to server {value} a second time");
                    let help = "let a flow pass a server once; where ways part, they must not meet again";
                    return Err(at.refuse(&place, found, help));
                }
                before = known.or_else(|| {
                    hops.push(hop);
                    Some(hops.len() - 1)
                });
            }
            Ok(before.unwrap_or_default())
        };
        let last = walk(at, members)?;
        let mut names = vec![flow.to_owned()];
        if members.contains_key("path_name") {
            names.push(format!("{flow}_{}", at.text(members, "path_name")?));
        }
        let mut ways = vec![(last, names)];
        if members.contains_key("multicast") {
            for (index, value) in at.list(members, "multicast", "a list of further ways")?.iter().enumerate() {
                let place = format!("{}[{index}]", at.of("multicast"));
                let branch = self.at(&place);
                let members = branch.member(&place, value, "a way with its name and `path`")?;
                branch.only(members, BRANCH)?;
                let last = walk(&branch, members)?;
                ways.push((last, vec![format!("{flow}_{}", branch.text(members, "name")?)]));
            }
        }
        for (index, (last, _)) in ways.iter().enumerate() {
            let is_inner = hops.iter().any(|hop| hop.after == Some(*last));
            if is_inner || ways[..index].iter().any(|(other, _)| other == last) {
                let help = "leave it out, since the flow goes on from where it ends, or ends there twice";
                return Err(at.refuse(&at.of("multicast"), format!("way {index} is part of another one"), help));
            }
        }
        Ok((hops, ways))
    }
}
