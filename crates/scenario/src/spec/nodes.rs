//! Stations and processors.

use std::collections::BTreeMap;

use chronoseal_core::{Bytes, Duration, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::kinds::radio::spec::StationSpec;
use crate::limits::*;
use crate::quantity::{Frames, Quantity};

use super::zero;

/// A station.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name: letters, digits, `-`, `_`.
    pub name: String,
    /// The segments it is on. Default: the only segment there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = SEGMENTS_MAX))]
    pub on: Option<Vec<String>>,
    /// How it forwards between its segments. Default: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewaySpec>,
    /// What it is on a radio segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub station: Option<StationSpec>,
    /// Its processor. Default: one on which everything is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Its oscillator.
    #[serde(default)]
    pub clock: ClockSpec,
    /// Its address in key exchanges. Default: the next free one, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub address: Option<u16>,
    /// Time its network driver takes. Default: none.
    #[serde(default)]
    pub driver: JitterSpec,
    /// What a received frame passes between the network interface and the application. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_interface: Option<HostInterfaceSpec>,
    /// A program of your own, or of others, that speaks on its segment: a lossy link. Live runs only, and with `--programs` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// What it does beside its frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = TASKS_MAX))]
    pub tasks: Vec<TaskSpec>,
}

/// A program that a node runs, in a network of its own: its interface has the node's address, and all that it sends goes over the segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// The program and its arguments. `{name}` in one of them is the address of the node of this name; a brace is written twice.
    #[schemars(length(min = 1, max = WORDS_MAX))]
    pub run: Vec<String>,
    /// When it is started. Default: 0s.
    #[serde(default = "zero")]
    pub from: Quantity<Duration>,
}

/// What takes received frames from the network interface to the application: one after the other, none interrupted, the
/// highest class first and those of a class in the order in which they came. A node on several Ethernet segments has one for
/// each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostInterfaceSpec {
    /// For any frame, up to 1s. Default: 0s.
    #[serde(default = "zero")]
    pub base: Quantity<Duration>,
    /// For each byte of a frame, header included and checksum left out, up to 1ms. Default: 0s.
    #[serde(default = "zero")]
    pub per_byte: Quantity<Duration>,
    /// Frames of each class take so much at most, 1514B to 1000MB; one that finds no room is lost. Default: 64kB.
    #[serde(default = "default_host_buffer")]
    pub buffer: Quantity<Bytes>,
}

fn default_host_buffer() -> Quantity<Bytes> {
    Quantity(Bytes(64_000))
}

/// How a node forwards frames between its segments.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatewaySpec {
    /// From the end of a frame on one segment to its place in the queue for another, up to 1s. Default: 50us.
    #[serde(default = "default_gateway_delay")]
    pub delay: Quantity<Duration>,
    /// Each queue for a segment holds at most this much, 1 to 1000000 frames. Default: 64 frames.
    #[serde(default = "default_gateway_queue")]
    pub queue: Quantity<Frames>,
    /// Frames of no stream that it passes on whole from each of its CAN segments to the others. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = BRIDGES_MAX))]
    pub bridges: Vec<BridgeSpec>,
    /// It starts anew in the middle of the run. Default: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reboot: Option<RebootSpec>,
    /// Streams of which it puts several PDUs into one frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAMS_MAX))]
    pub collect: Vec<CollectSpec>,
}

/// Frames that a gateway passes on whole: they belong to no stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum BridgeSpec {
    /// All of them.
    #[serde(rename = "all")]
    All,
    /// Those of some identifiers.
    #[serde(rename = "frames")]
    Frames(BridgedFramesSpec),
    /// The messages of the exchange by which nodes agree on this key.
    #[serde(rename = "key")]
    Key(String),
    /// Those with an identifier that occurs in this recording of traffic.
    #[serde(rename = "recording")]
    Recording(String),
}

/// Identifiers that agree with one in the bits of a mask.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgedFramesSpec {
    /// The identifier in hexadecimal, such as `"0x123"`.
    pub id: String,
    /// The bits that have to agree, such as `"0x7F0"`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// True for identifiers of 29 bits. Default: false, 11 bits.
    #[serde(default)]
    pub extended: bool,
}

/// A gateway that starts anew: what it holds is lost, and its counters begin again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RebootSpec {
    /// When it stops.
    pub at: Quantity<Duration>,
    /// How long it takes and sends nothing, from 1us.
    pub takes: Quantity<Duration>,
}

/// Streams whose PDUs leave in one frame. How that frame is addressed stands in a table of the name of the segment, as for a
/// stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CollectSpec {
    /// The streams, at least two; one with a `count` stands for all of it.
    #[schemars(length(min = 1, max = STREAMS_MAX))]
    pub streams: Vec<String>,
    /// The segment they leave on.
    pub on: String,
    /// A frame waits so long for more after the first PDU in it, up to 10s.
    pub within: Quantity<Duration>,
    /// What stands before each PDU in the frame.
    #[serde(default)]
    pub header: ContainerHeaderSpec,
    /// PDUs with their headers in one frame take so much at most. Default: one PDU of each stream, as far as a frame has room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Quantity<Bytes>>,
    /// A table of the name of the segment.
    #[serde(flatten)]
    #[schemars(skip)]
    pub segments: BTreeMap<String, Json>,
}

/// What stands before each PDU in a frame that holds several (AUTOSAR, Specification of I-PDU Multiplexer).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ContainerHeaderSpec {
    /// 3 bytes of identifier and 1 of length: PDUs of up to 255 bytes.
    #[default]
    #[serde(rename = "short")]
    Short,
    /// 4 bytes of identifier and 4 of length.
    #[serde(rename = "long")]
    Long,
}

fn default_gateway_delay() -> Quantity<Duration> {
    Quantity(Duration::from_us(50))
}
fn default_gateway_queue() -> Quantity<Frames> {
    Quantity(Frames(64))
}

/// An oscillator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum ClockSpec {
    /// Exactly right.
    #[serde(rename = "ideal")]
    Ideal,
    /// As given.
    #[serde(rename = "fixed")]
    Fixed(FixedClockSpec),
    /// Drawn from the seed. Default, with 1ms and 100ppm.
    #[serde(rename = "seeded")]
    Seeded(SeededClockSpec),
}

impl Default for ClockSpec {
    fn default() -> Self {
        Self::Seeded(SeededClockSpec { offset_max: default_offset_max(), drift_max: default_drift_max() })
    }
}

/// A clock as given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedClockSpec {
    /// What it shows when the run starts, within 1s of zero. Default: 0s.
    #[serde(default = "zero")]
    pub offset: Quantity<Duration>,
    /// How much too fast it runs, within 1000ppm. Default: 0ppm.
    #[serde(default = "no_drift")]
    pub drift: Quantity<Ppm>,
}

/// A clock drawn from the seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeededClockSpec {
    /// The offset lies within this of zero; up to 1s. Default: 1ms.
    #[serde(default = "default_offset_max")]
    pub offset_max: Quantity<Duration>,
    /// The drift lies within this of zero; up to 1000ppm. Default: 100ppm.
    #[serde(default = "default_drift_max")]
    pub drift_max: Quantity<Ppm>,
}

pub(super) fn no_drift() -> Quantity<Ppm> {
    Quantity(Ppm(0))
}
fn default_offset_max() -> Quantity<Duration> {
    Quantity(Duration::from_ms(1))
}
fn default_drift_max() -> Quantity<Ppm> {
    Quantity(Ppm(100_000))
}

/// A periodic task on a node's processor.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// Its name.
    pub name: String,
    /// Distance of two runs; divides the cluster cycle of its segment.
    pub period: Quantity<Duration>,
    /// Processor time of one run at most.
    pub wcet: Quantity<Duration>,
}

/// A random time: never below `min`, exponential above it with this `mean`, cut at `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// At least.
    pub min: Quantity<Duration>,
    /// On average, before the cut.
    pub mean: Quantity<Duration>,
    /// At most, up to 1s.
    pub max: Quantity<Duration>,
}

impl Default for JitterSpec {
    fn default() -> Self {
        Self { min: zero(), mean: zero(), max: zero() }
    }
}

/// A processor.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformSpec {
    /// Its name.
    pub name: String,
    /// A platform of the project whose costs it has: `"tc224"`, `"tc277"`, `"tc297"`, `"sam-v71"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// A file with a list `costs`, beside the scenario, as `chronoseal bench` writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What operations cost. What its nodes compute needs a price; `base = "0s"` makes it free.
    #[serde(default)]
    #[schemars(length(max = COSTS_MAX))]
    pub costs: Vec<CostSpec>,
}

/// What one operation costs: `base + per_byte * length`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostSpec {
    /// The operation, such as `hmac-sha-256`.
    pub operation: String,
    /// For any length, up to 1s.
    #[serde(default = "zero")]
    pub base: Quantity<Duration>,
    /// For each byte, up to 1ms.
    #[serde(default = "zero")]
    pub per_byte: Quantity<Duration>,
}
