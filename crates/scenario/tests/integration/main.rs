//! Behaviour of the scenario format, one module each.

mod answers;
mod bad_input;
mod bridges;
mod bus;
mod clock_threats;
mod clusters;
mod containers;
mod datagrams;
mod diagnostics;
mod documents;
mod gateways;
mod import;
mod import_arxml;
mod import_can;
mod import_routes;
mod inputs;
mod link;
mod macsec;
mod merging;
mod networks;
mod overrides;
mod ports;
mod properties;
mod protected_ways;
mod protections;
mod radio;
mod replayed;
mod replication;
mod resolving;
mod segmented;
mod segments;
mod shipped;
mod stream_filters;
mod sub_virtual_links;
mod support;
mod switches;
mod time_aware;
mod toy;
mod upgrade;
mod version_1;
mod virtual_links;
mod wire_threats;

use chronoseal_plan::{Inputs, Plan};

/// A scenario with one of everything; tests change it.
pub(crate) const WHOLE: &str = include_str!("whole.toml");

/// What a plan shows of itself, but for what it was made from.
pub(crate) fn shown(mut plan: Plan) -> String {
    plan.inputs = Inputs::default();
    plan.scenario_hash.clear();
    format!("{plan:?}").replace(&format!(", inputs: {:?}", plan.inputs), "")
}
