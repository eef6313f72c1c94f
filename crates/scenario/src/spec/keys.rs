//! Common keys, SecOC under them, and who counts freshness.

use chronoseal_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::{Bits, Quantity};

use super::protections::{AlgorithmSpec, FreshnessSpec};
use super::zero;
use crate::kinds::can::spec::CanFormatSpec;

/// A key that several nodes have in common.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum KeySpec {
    /// The nodes agree on it in a run.
    #[serde(rename = "group")]
    Group(GroupKeySpec),
}

/// How the nodes of a group come to a common key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupKeySpec {
    /// The node that orchestrates (the SoECU).
    pub orchestrator: String,
    /// The members from the start. Default: all others on the segments that the exchange reaches, but for those that play
    /// recordings and those that `changes` merge with the group later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NODES_MAX))]
    pub members: Option<Vec<String>>,
    /// Curve and signature. Default: FourQ.
    #[serde(default)]
    pub suite: SuiteSpec,
    /// The way to the key.
    pub scheme: SchemeSpec,
    /// The protocol as published, or hardened. Default: hardened.
    #[serde(default)]
    pub profile: GroupKeyProfileSpec,
    /// Frames of the exchange. Default: FD with bit-rate switch if the segment has a data bit rate, else
    /// classical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<CanFormatSpec>,
    /// How the orchestration is signed.
    #[serde(default)]
    pub orchestration: OrchestrationSpec,
    /// When a node takes a new key into use. Default: when all members have confirmed it. Where the source ends, at once, a
    /// node that was removed can make members take the old key for the new one.
    #[serde(default)]
    pub installation: InstallationSpec,
    /// What becomes of the key in use when a removal fails. Default: it stays in use.
    #[serde(default)]
    pub fail: FailSpec,
    /// When it begins. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
    /// Members thrown out, for a time or for good, and taken back, and nodes that come in later, in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = CHANGES_MAX))]
    pub changes: Vec<GroupChangeSpec>,
}

/// A change of the group: exactly one of `remove`, `add`, `revoke`, `merge`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupChangeSpec {
    /// When.
    pub at: Quantity<Duration>,
    /// A member to throw out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// A member, thrown out before, to take back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<String>,
    /// A member to throw out for good: its credential is not accepted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke: Option<String>,
    /// Nodes that were never in the group and come in together, with one new key. They are on the bus from the start and have
    /// a place in the tree, which the orchestrator holds until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = NODES_MAX))]
    pub merge: Option<Vec<String>>,
}

/// A key agreement and a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum SuiteSpec {
    /// FourQ and SchnorrQ.
    #[default]
    #[serde(rename = "fourq")]
    FourQ,
    /// ECDH and ECDSA on NIST P-256.
    #[serde(rename = "p-256")]
    P256,
    /// X25519 and Ed25519.
    #[serde(rename = "x25519-ed25519")]
    X25519Ed25519,
}

/// A way to a group key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum SchemeSpec {
    /// A tree with the orchestrator in every logical unit: the source's main scheme.
    #[serde(rename = "full-tree")]
    FullTree,
    /// A tree with the orchestrator as one more leaf.
    #[serde(rename = "without-orchestrator")]
    WithoutOrchestrator,
    /// The orchestrator exchanges keys with each member and distributes a master secret.
    #[serde(rename = "symmetric")]
    Symmetric,
}

/// The protocol as published, or hardened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum GroupKeyProfileSpec {
    /// With everything it depends on in the transcript, an explicit epoch, and key confirmation.
    #[default]
    #[serde(rename = "hardened")]
    Hardened,
    /// As in the source.
    #[serde(rename = "as-published")]
    AsPublished,
}

/// How the orchestration is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum OrchestrationSpec {
    /// One signature for each exchange, when it is due.
    #[default]
    #[serde(rename = "per-step")]
    PerStep,
    /// One signature for each exchange, made before the start.
    #[serde(rename = "ahead")]
    Ahead,
    /// One signature for the whole of a fixed tree.
    #[serde(rename = "once")]
    Once,
}

/// When a node takes a new key into use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum InstallationSpec {
    /// When every member has shown that it holds the key.
    #[default]
    #[serde(rename = "confirmed")]
    Confirmed,
    /// As soon as it holds it itself.
    #[serde(rename = "unconfirmed")]
    Unconfirmed,
}

/// What becomes of the key in use when a removal fails: the member that should be out has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum FailSpec {
    /// It stays in use, and the member can go on forging.
    #[default]
    #[serde(rename = "available")]
    Available,
    /// It is given up: what it protects is withheld until there is a new key.
    #[serde(rename = "closed")]
    Closed,
}

/// SecOC (AUTOSAR specification of secure onboard communication): one of its profiles, or lengths of one's own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecOcSpec {
    /// 1: 24-bit MAC, 8-bit freshness. 2: 24-bit MAC, no freshness. 3: 28-bit MAC, 4-bit freshness from the trips and
    /// resets of a master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3))]
    pub profile: Option<u8>,
    /// Without a profile: what of the authenticator is sent, to the bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticator: Option<Quantity<Bits>>,
    /// Without a profile: `{ rising = … }` for one counter, `{ trip_reset = … }` for those of a master, or `"none"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<FreshnessSpec>,
    /// Without a profile: the algorithm. Default: `"cmac-aes-128"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<AlgorithmSpec>,
    /// The name of a key, or `"pre-shared"`: drawn from the seed, and known to all from the start. Default: the key of the
    /// scenario if it has one, else pre-shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Widths of the counters that freshness values are made of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountersSpec {
    /// Of trips, 1bit to 24bit.
    pub trip: Quantity<Bits>,
    /// Of resets, 2bit to 24bit.
    pub reset: Quantity<Bits>,
    /// Of messages, 1bit to 48bit. All together have 62 bits at most.
    pub message: Quantity<Bits>,
}

/// Who counts trips and resets for SecOC profile 3, and the message that announces them to the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreshnessMasterSpec {
    /// The node that counts. Default: the orchestrator of the group key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub master: Option<String>,
    /// Identifier of its synchronisation message in hexadecimal, 11 bits. Default: `"0x010"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Widths of the counters. Default: 16, 20 and 26 bits, which are 64 with the two of the reset flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersSpec>,
    /// What of its authenticator the synchronisation message carries, to the bit. Default: 28bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticator: Option<Quantity<Bits>>,
    /// Distance of two synchronisation messages, each of which begins a reset cycle; 1ms to 10s. Default: 100ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Quantity<Duration>>,
    /// The key of the message: the name of a key, or `"pre-shared"`. Default: as for SecOC profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}
