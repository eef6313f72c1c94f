//! Every node of this crate keeps the contract of nodes, while it does what it is for.

mod attackers;
mod can_station;
mod end_system;
mod gateway;
mod recorded;
mod replicated;
mod time_aware;
mod virtual_links;

use chronoseal_core::{Duration, Event, EventKind, LocalTime, Node, StreamId};
use chronoseal_core_testing::{Conduct, Script, bus, record};
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Profile};
use chronoseal_nodes::Protection;

const STREAM: StreamId = StreamId(3);

fn at(since_start: Duration) -> LocalTime {
    LocalTime::ZERO + since_start
}

fn ms(ms: i64) -> LocalTime {
    at(Duration::from_ms(ms))
}

fn hmac(freshness: Freshness) -> Protection {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 64, freshness, 8).expect("a legal profile");
    let key = KeyBytes::from_array([9; KeyBytes::LEN]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: STREAM.0.into() }
}

/// Nodes that all hear each other: what each heard and did.
fn on_a_bus(nodes: &mut [Box<dyn Node>], until: LocalTime) -> Vec<(Script, Conduct)> {
    let count = nodes.len();
    let mut nodes: Vec<&mut dyn Node> = nodes.iter_mut().map(|node| &mut **node as &mut dyn Node).collect();
    record(&mut nodes, bus(count), until)
}

/// How many events there are of a kind.
fn count(conduct: &Conduct, is_it: impl Fn(EventKind) -> bool) -> usize {
    conduct.events().filter(|event: &&Event| is_it(event.kind)).count()
}
