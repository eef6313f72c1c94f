//! Writes an output-port network.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::network::{Flow, Multiplexing, Network, Server};
use super::super::rational::{Rational, whole};

/// Why a network has no place in the format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Two servers, or two flows, share a name.
    #[error("two {what} have the name `{name}`; the format tells them apart by their names, so give each its own")]
    NameTwice {
        /// `servers` or `flows`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Something takes a time behind a server that is not that of its queue.
    #[error(
        "behind server `{server}` a frame takes a time of its own that differs from frame to frame, for which the format has no \
         place; make that time constant"
    )]
    Varying {
        /// Which server.
        server: String,
    },
    /// Nothing is known of what a server carries.
    #[error("nothing is known of what server `{server}` carries: {because}")]
    Refused {
        /// Which server.
        server: String,
        /// Why not.
        because: Box<super::super::unbounded::Unbounded>,
    },
    /// A server carries nothing.
    #[error("server `{server}` carries nothing in the long run; leave it out with the flows that pass it")]
    Nothing {
        /// Which server.
        server: String,
    },
}

/// Writes a network whose times are in seconds and whose data is in bits. What is no decimal of a picosecond, a millibit or a
/// millibit a second is rounded so that a bound of what is written is one of the network too.
///
/// A constant time behind a server ([`Server::constant`]) has no place in the format and is left out: add it to the bounds.
///
/// # Errors
/// [`WriteError`] with the server or flow that has no place in the format.
pub fn write_network(name: &str, multiplexing: Multiplexing, network: &Network) -> Result<String, WriteError> {
    let (servers, flows) = (network.servers(), network.flows());
    once("servers", servers.iter().map(|server| &server.name))?;
    once("flows", flows.iter().map(|flow| &flow.name))?;
    let file = json!({
        "network": {
            "name": name,
            "multiplexing": match multiplexing { Multiplexing::Fifo => "FIFO", Multiplexing::Arbitrary => "ARBITRARY" },
            "packetizer": flows.iter().any(|flow| !flow.longest_frame.is_zero()),
            "time_unit": "us",
            "data_unit": "b",
            "rate_unit": "bps",
        },
        "flows": flows.iter().enumerate().map(|(index, flow)| flow_of(network, index, flow)).collect::<Vec<_>>(),
        "servers": servers.iter().map(server_of).collect::<Result<Vec<_>, _>>()?,
    });
    Ok(format!("{file:#}\n"))
}

fn once<'n>(what: &'static str, names: impl Iterator<Item = &'n String>) -> Result<(), WriteError> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    match names.find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(WriteError::NameTwice { what, name: name.clone() }),
    }
}

fn server_of(server: &Server) -> Result<Value, WriteError> {
    let name = || server.name.clone();
    if let Some(because) = &server.refused {
        return Err(WriteError::Refused { server: name(), because: Box::new(because.clone()) });
    }
    if !server.varying.is_zero() {
        return Err(WriteError::Varying { server: name() });
    }
    if server.service.rate().is_zero() {
        return Err(WriteError::Nothing { server: name() });
    }
    let pieces = server.service.pieces();
    let mut file = json!({
        "name": server.name,
        "service_curve": {
            "latencies": pieces.iter().map(|piece| time(&piece.latency)).collect::<Vec<_>>(),
            "rates": pieces.iter().map(|piece| rate(&piece.rate, Round::Down)).collect::<Vec<_>>(),
        },
    });
    if let Some(link) = &server.link_rate {
        file["capacity"] = rate(link, Round::Up).into();
    }
    Ok(file)
}

fn flow_of(network: &Network, index: usize, flow: &Flow) -> Value {
    let pieces = flow.arrival.pieces();
    let way = |end: usize| -> Vec<&str> {
        network.path(index, end).into_iter().map(|server| network.servers()[server].name.as_str()).collect()
    };
    let mut ends = flow.ends().enumerate();
    let mut file = json!({
        "name": flow.name,
        "path": ends.next().map(|(_, end)| way(end)),
        "arrival_curve": {
            "bursts": pieces.iter().map(|piece| data(&piece.burst)).collect::<Vec<_>>(),
            "rates": pieces.iter().map(|piece| rate(&piece.rate, Round::Up)).collect::<Vec<_>>(),
        },
        "max_packet_length": data(&flow.longest_frame),
    });
    let branches: Vec<Value> =
        ends.map(|(number, end)| json!({ "name": format!("p{number}"), "path": way(end) })).collect();
    if !branches.is_empty() {
        file["path_name"] = "p0".into();
        file["multicast"] = branches.into();
    }
    file
}

#[derive(Clone, Copy)]
enum Round {
    Up,
    Down,
}

fn time(seconds: &Rational) -> String {
    format!("{}us", decimals(&(seconds * whole(1_000_000)), 6, Round::Up))
}

fn data(bits: &Rational) -> String {
    format!("{}b", decimals(bits, 3, Round::Up))
}

fn rate(bits_a_second: &Rational, round: Round) -> String {
    format!("{}bps", decimals(bits_a_second, 3, round))
}

/// A number of so many decimals, without zeros at their end.
fn decimals(value: &Rational, places: usize, round: Round) -> String {
    let scaled = value * whole(10).pow(places as i32);
    let scaled = match round {
        Round::Up => scaled.ceil(),
        Round::Down => scaled.floor(),
    };
    let digits = format!("{:0>width$}", scaled.to_string(), width = places + 1);
    let (before, behind) = digits.split_at(digits.len() - places);
    let behind = behind.trim_end_matches('0');
    if behind.is_empty() { before.to_owned() } else { format!("{before}.{behind}") }
}
