//! Attacks.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::zero;
use crate::limits::*;
use crate::quantity::Quantity;

/// An attack. What only one kind of segment has stands in a table of the segment's name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ThreatSpec {
    /// Its name.
    pub name: String,
    /// What the attacker does.
    pub kind: ThreatKindSpec,
    /// On which stream, for `spoof`, `tamper`, `replay`, `withhold` and `delay`; for `babble` and `flood` on Ethernet whose frames
    /// are made up, of several streams in turn if it is left out; without it `delay` is one of all frames that a node sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Where the attacker sits. Default: on the segment where the stream begins, or on the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceSpec>,
    /// First attempt. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
    /// Distance of two attempts. Default: 10ms on CAN, for `babble` and `flood` on Ethernet what a frame takes on the wire, else the
    /// stream's period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Quantity<Duration>>,
    /// How many attempts. Default: 1; for `babble` and `flood` on Ethernet as many as there is time for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = ATTEMPTS_MAX))]
    pub count: Option<u32>,
    /// Tables of the names of segments.
    #[serde(flatten)]
    #[schemars(skip)]
    pub segments: BTreeMap<String, Json>,
}

/// What an attacker does.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum ThreatKindSpec {
    /// Makes up frames of a stream.
    #[serde(rename = "spoof")]
    Spoof,
    /// Changes frames of a stream on their way.
    #[serde(rename = "tamper")]
    Tamper,
    /// Repeats a frame of a stream heard before.
    #[serde(rename = "replay")]
    Replay,
    /// Keeps frames of a stream back that come by: in a gateway, or on a link.
    #[serde(rename = "withhold")]
    Withhold,
    /// On CAN: sends a frame that wins every arbitration, again and again. On Ethernet: a node sends at the rate of its link.
    #[serde(rename = "babble")]
    Babble,
    /// Sends at a port of its own on an Ethernet segment, at the rate of its link.
    #[serde(rename = "flood")]
    Flood,
    /// Passes frames of a stream, or all frames of a node, on later than they come, on a link of an Ethernet segment.
    #[serde(rename = "delay")]
    Delay(DelaySpec),
    /// A node announces itself as a better grandmaster than it is, and serves a time that is off (IEEE 802.1AS).
    #[serde(rename = "rogue_grandmaster")]
    RogueGrandmaster(RogueGrandmasterSpec),
    /// Makes up messages of a clock protocol that tell a time that is off.
    #[serde(rename = "forged_time")]
    ForgedTime(ForgedTimeSpec),
    /// Changes the time in messages of a clock protocol that come by on a link.
    #[serde(rename = "altered_time")]
    AlteredTime(AlteredTimeSpec),
    /// Repeats the orchestrator's first request, so much later.
    #[serde(rename = "replayed_orchestration")]
    ReplayedOrchestration(ReplayedSpec),
    /// Repeats the orchestrator's requests with the two parties exchanged.
    #[serde(rename = "swapped-addresses")]
    SwappedAddresses,
    /// Answers a party with its own share.
    #[serde(rename = "reflected-share")]
    ReflectedShare,
    /// Answers a request with a share of small order, or on a curve without one, no point.
    #[serde(rename = "small-order-share")]
    SmallOrderShare,
    /// Answers a share with half a confirmation.
    #[serde(rename = "truncated-confirmation")]
    TruncatedConfirmation,
    /// Answers a share with an invented confirmation.
    #[serde(rename = "forged-confirmation")]
    ForgedConfirmation,
    /// Requests an exchange in the orchestrator's name.
    #[serde(rename = "impersonated-orchestrator")]
    ImpersonatedOrchestrator,
    /// Announces in the orchestrator's name that all hold the key.
    #[serde(rename = "forged-commit")]
    ForgedCommit,
}

/// When something is repeated.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayedSpec {
    /// So much later, 1us to 86400s.
    pub after: Quantity<Duration>,
}

/// How much later frames go on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySpec {
    /// So much later, 1us to 10s; from 1ns on for all frames of a node.
    pub by: Quantity<Duration>,
}

/// What a node claims to be, and the time it serves once it is the grandmaster.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RogueGrandmasterSpec {
    /// What it announces as `priority1`. Default: 0, the best.
    #[serde(default)]
    pub priority1: u8,
    /// What it announces as its clock class. Default: 6, of a clock that follows a primary source of time.
    #[serde(default = "primary")]
    pub clock_class: u8,
    /// How far its time is ahead, -1s to 1s. Default: 0s.
    #[serde(default = "zero")]
    pub offset: Quantity<Duration>,
    /// How much faster its time runs, up to 1000ppm either way. Default: 0ppm.
    #[serde(default = "no_drift")]
    pub drift: Quantity<Ppm>,
}

/// Messages that are made up.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgedTimeSpec {
    /// How far ahead the time is that they tell, -1s to 1s.
    pub offset: Quantity<Duration>,
    /// In whose name, for an attacker with a port of its own; on a link it is that of the node there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// Messages that are changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlteredTimeSpec {
    /// How far ahead the time is that they tell then, -1s to 1s.
    pub offset: Quantity<Duration>,
}

const fn primary() -> u8 {
    6
}
const fn no_drift() -> Quantity<Ppm> {
    Quantity(Ppm(0))
}

/// Where an attacker sits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlaceSpec {
    /// On this segment, as one more node.
    #[serde(rename = "segment")]
    Segment(String),
    /// On the wire between this node and its segment, where what the node sends comes by.
    #[serde(rename = "link")]
    Link(String),
    /// In this gateway; for `rogue_grandmaster` the node that is one.
    #[serde(rename = "node")]
    Node(String),
}
