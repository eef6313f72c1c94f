//! Ways to protect a stream.

use std::borrow::Cow;

use chronoseal_core::Bytes;
use chronoseal_crypto::MacAlgorithm;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SecOcSpec;
use crate::quantity::{Bits, Quantity};

/// A way to protect a stream: a name and exactly one of `none`, `size_only`, `mac`, `hmac`, `secoc`.
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
    /// A tag of any algorithm is added and checked, with any freshness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<MacSpec>,
    /// A keyed hash is added and checked: a preset of `mac`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac: Option<HmacSpec>,
    /// SecOC, by a profile or with lengths of one's own: a preset of `mac`.
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

/// A message authentication code over stream, payload and freshness value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacSpec {
    /// The algorithm.
    pub algorithm: AlgorithmSpec,
    /// How much of its output is sent, in bytes or bits: from 4B with an HMAC or BLAKE3, from 1bit with a CMAC, from 12B and in whole
    /// bytes with a GMAC, to its whole length.
    pub tag: Quantity<Bits>,
    /// How freshness travels.
    pub freshness: FreshnessSpec,
    /// How many freshness values behind the latest are still judged. Default: 8.
    #[serde(default = "default_replay_window")]
    #[schemars(range(min = 1, max = 64))]
    pub replay_window: u8,
    /// The name of a key; `"pre-shared"`: drawn from the seed, and known to all from the start; or test material in
    /// hexadecimal digits. Default: the key of the scenario if it has one, else pre-shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The name of a message authentication code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlgorithmSpec(pub MacAlgorithm);

impl Serialize for AlgorithmSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for AlgorithmSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(de::Error::custom)
    }
}

impl JsonSchema for AlgorithmSpec {
    fn schema_name() -> Cow<'static, str> {
        "AlgorithmSpec".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a message authentication code.",
            "type": "string",
            "enum": MacAlgorithm::ALL.map(MacAlgorithm::name),
        })
    }
}

/// A keyed hash over stream, payload and freshness value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HmacSpec {
    /// The hash.
    pub hash: HashSpec,
    /// How much of the hash is sent, 4B to its whole length.
    pub tag: Quantity<Bits>,
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
    /// Taken from the cycle counter; no bytes on the wire. For streams in slots.
    #[default]
    #[serde(rename = "cycle-counter")]
    CycleCounter,
    /// All 8 bytes in the frame.
    #[serde(rename = "full")]
    Full,
    /// Its low part in the frame, 1bit to 7B.
    #[serde(rename = "truncated")]
    Truncated(Quantity<Bits>),
    /// A counter of which the low part is in the frame; only rising values are taken.
    #[serde(rename = "rising")]
    Rising(RisingSpec),
    /// Trips and resets that a master counts, and the messages since; on CAN. Of it the low part is in the frame.
    #[serde(rename = "trip_reset")]
    TripReset(TripResetSpec),
    /// None: replayed frames are accepted, as in the ISRCS 2014 paper.
    #[serde(rename = "none")]
    None,
}

/// A counter that only rises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RisingSpec {
    /// Its width under the tag, 1bit to 64bit. Default: 8B.
    #[serde(default = "default_counter")]
    pub counter: Quantity<Bits>,
    /// How much of it is in the frame, up to 63bit.
    pub sent: Quantity<Bits>,
}

fn default_counter() -> Quantity<Bits> {
    Quantity(Bits(64))
}

/// Counters of trips, resets and messages, as SecOC profile 3 has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TripResetSpec {
    /// How much of the value is in the frame, 2bit (the reset flag) to that and the message counter, which has 26bit unless `[freshness]` says
    /// otherwise.
    pub sent: Quantity<Bits>,
}
