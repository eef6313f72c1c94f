//! A scenario as it is written: every key, nothing resolved. The file format is these types, and the tables of the kinds
//! of segments, which [`SegmentKind`](crate::kinds::SegmentKind) brings.

mod allowances;
mod keys;
mod nodes;
mod protections;
mod recordings;
mod streams;
mod threats;

pub use allowances::*;
pub use keys::*;
pub use nodes::*;
pub use protections::*;
pub use recordings::*;
pub use streams::*;
pub use threats::*;

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::limits::*;
use crate::quantity::Quantity;
use crate::source::Source;

/// The version of the format.
pub const VERSION: u32 = 2;

/// A scenario: a network of segments, its nodes and streams, how they are protected and who attacks them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "chronoseal scenario")]
pub struct Spec {
    /// The version of this format: 2.
    #[schemars(range(min = VERSION, max = VERSION))]
    pub schema_version: u32,
    /// Short name, used in file names: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// One or two sentences for a reader of the report.
    #[serde(default)]
    pub description: String,
    /// How long a run lasts, 1us to 86400s.
    pub duration: Quantity<Duration>,
    /// Seeds all chance of the run.
    #[serde(default = "default_seed")]
    #[schemars(range(min = 0, max = SEED_MAX))]
    pub seed: u64,
    /// Whether frames carry real bytes.
    #[serde(default)]
    pub fidelity: FidelitySpec,
    /// Protections that `check` compares; all of them if absent. `"none"` always exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PROTECTIONS_MAX))]
    pub candidates: Option<Vec<String>>,
    /// What frames travel on, by name.
    #[schemars(extend("minProperties" = 1, "maxProperties" = SEGMENTS_MAX))]
    pub segments: BTreeMap<String, SegmentSpec>,
    /// Processors and what operations cost there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PLATFORMS_MAX))]
    pub platforms: Vec<PlatformSpec>,
    /// Ways to protect a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PROTECTIONS_MAX))]
    pub protections: Vec<ProtectionSpec>,
    /// Keys that nodes have in common, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, KeySpec>,
    /// The master of trip and reset counters, which SecOC profile 3 needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<FreshnessMasterSpec>,
    /// Stations. At least one, unless vehicles come with a segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = NODES_MAX))]
    pub nodes: Vec<NodeSpec>,
    /// Recorded signals, frames and traffic that are replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = RECORDINGS_MAX))]
    pub recordings: Vec<RecordingSpec>,
    /// What is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAMS_MAX))]
    pub streams: Vec<StreamSpec>,
    /// Attacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = THREATS_MAX))]
    pub threats: Vec<ThreatSpec>,
    /// Losses that do not fail a run; its verdict names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = THREATS_MAX))]
    pub allowances: Vec<AllowanceSpec>,
    /// Where it was written.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) source: Source,
}

fn default_seed() -> u64 {
    1
}

/// Nothing, as the default of a duration.
pub(crate) fn zero() -> Quantity<Duration> {
    Quantity(Duration::ZERO)
}

/// How much of a frame is really made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum FidelitySpec {
    /// Every byte is made and checked.
    #[default]
    #[serde(rename = "bytes")]
    Bytes,
    /// Only headers and sequence numbers; for the simulator alone.
    #[serde(rename = "timing")]
    Timing,
}

/// A segment: a table with one key, the kind, and in it what that kind has.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SegmentSpec(BTreeMap<String, Json>);

impl SegmentSpec {
    /// The name of its kind.
    pub fn kind(&self) -> &str {
        self.0.keys().next().map_or("", String::as_str)
    }

    /// What its kind has.
    pub fn table(&self) -> &Json {
        self.0.values().next().unwrap_or(&Json::Null)
    }
}

impl Spec {
    /// The segments with their names, in the order of the text.
    pub fn segments_in_order(&self) -> Vec<(&str, &SegmentSpec)> {
        let mut segments: Vec<(&str, &SegmentSpec)> =
            self.segments.iter().map(|(name, segment)| (name.as_str(), segment)).collect();
        segments.sort_by_key(|(name, _)| self.source.key_start(&["segments", name]));
        segments
    }
}
