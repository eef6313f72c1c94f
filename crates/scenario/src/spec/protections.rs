//! Ways to protect a stream.

use chronoseal_core::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecOcSpec;
use crate::quantity::Quantity;

/// A way to protect a stream: a name and exactly one of `none`, `size_only`, `hmac`, `secoc`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtectionSpec {
    /// Its name.
    pub name: String,
    /// Nothing is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<NoneSpec>,
    /// Bytes are added as another mechanism would; it stops no attack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_only: Option<SizeOnlySpec>,
    /// A keyed hash is added and checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac: Option<HmacSpec>,
    /// A SecOC profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secoc: Option<SecOcSpec>,
}

/// Nothing: `{}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoneSpec {}

/// Bytes without a meaning.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeOnlySpec {
    /// Added to every frame, up to 1454B.
    pub overhead: Quantity<Bytes>,
}

/// A keyed hash over stream, payload and freshness value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HmacSpec {
    /// The hash.
    pub hash: HashSpec,
    /// How much of the hash is sent, 4B to its whole length.
    pub tag: Quantity<Bytes>,
    /// How freshness travels.
    #[serde(default)]
    pub freshness: FreshnessSpec,
    /// How many freshness values behind the latest are still judged. Default: 8.
    #[serde(default = "default_replay_window")]
    #[schemars(range(min = 1, max = 64))]
    pub replay_window: u8,
    /// 64 bytes as 128 hexadecimal digits; test material. Default: drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

fn default_replay_window() -> u8 {
    8
}

/// A hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum HashSpec {
    /// 20 bytes; kept for comparison with the published figures.
    #[serde(rename = "sha-1")]
    Sha1,
    /// 32 bytes.
    #[serde(rename = "sha-256")]
    Sha256,
    /// 32 bytes.
    #[serde(rename = "sha3-256")]
    Sha3_256,
}

/// How a freshness value travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum FreshnessSpec {
    /// Taken from the cycle counter; no bytes on the wire.
    #[default]
    #[serde(rename = "cycle-counter")]
    CycleCounter,
    /// All 8 bytes in the frame.
    #[serde(rename = "full")]
    Full,
    /// Its low bytes in the frame, 1B to 7B.
    #[serde(rename = "truncated")]
    Truncated(Quantity<Bytes>),
    /// None: replayed frames are accepted, as in the ISRCS 2014 paper.
    #[serde(rename = "none")]
    None,
}
