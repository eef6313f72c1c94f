//! What a scenario says of clocks that follow a grandmaster (IEEE 802.1AS).

use chronoseal_core::{Duration, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::Quantity;

/// Clocks that follow a grandmaster: switches are bridges, nodes are end stations (IEEE 802.1AS-2020). Intervals are powers of two of a
/// second.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GptpSpec {
    /// Between two Sync messages, 2^-10 s to 2^10 s. Default: 125ms.
    #[serde(default = "default_sync_interval")]
    pub sync_interval: Quantity<Duration>,
    /// Between two Announce messages. Default: 1s.
    #[serde(default = "one_second")]
    pub announce_interval: Quantity<Duration>,
    /// Between two measurements of a link's delay. Default: 1s.
    #[serde(default = "one_second")]
    pub pdelay_interval: Quantity<Duration>,
    /// Sync intervals without a Sync after which a master counts as gone, 2 or more. Default: 3.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 2))]
    pub sync_receipt_timeout: u8,
    /// Announce intervals without an Announce after which a master counts as gone, 2 or more. Default: 3.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 2))]
    pub announce_receipt_timeout: u8,
    /// Longest delay of a link that is measured; over a longer one no time is taken. Default: 800ns.
    #[serde(default = "default_thresh")]
    pub mean_link_delay_thresh: Quantity<Duration>,
    /// Of all time stamps, up to 1us; 0s: they are exact. Default: 8ns.
    #[serde(default = "default_granularity")]
    pub granularity: Quantity<Duration>,
    /// The oscillator of each switch deviates by a drawn part of this, one way or the other. Default: 100ppm.
    #[serde(default = "default_bridge_drift")]
    pub bridge_drift: Quantity<Ppm>,
    /// Switches and nodes with priorities of their own. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = LINKS_MAX))]
    pub systems: Vec<TimeAwareSystemSpec>,
}

/// How good switches or nodes are as a grandmaster. The one with the lowest `priority1` is chosen, among equals by the clock class, then
/// by `priority2`, then the switch or node that comes first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeAwareSystemSpec {
    /// Their names.
    #[schemars(length(min = 1, max = LINKS_MAX))]
    pub names: Vec<String>,
    /// 255: never the grandmaster. Default: 246 for switches, 248 for nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority1: Option<u8>,
    /// Default: 248.
    #[serde(default = "default_priority2")]
    pub priority2: u8,
    /// Default: 248, of a clock that nothing keeps right.
    #[serde(default = "default_priority2")]
    pub clock_class: u8,
}

fn default_sync_interval() -> Quantity<Duration> {
    Quantity(Duration::from_ms(125))
}
fn one_second() -> Quantity<Duration> {
    Quantity(Duration::from_s(1))
}
fn default_timeout() -> u8 {
    3
}
fn default_thresh() -> Quantity<Duration> {
    Quantity(Duration::from_ns(800))
}
fn default_granularity() -> Quantity<Duration> {
    Quantity(Duration::from_ns(8))
}
fn default_bridge_drift() -> Quantity<Ppm> {
    Quantity(Ppm(100_000))
}
fn default_priority2() -> u8 {
    248
}
