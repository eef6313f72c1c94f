//! Streams.

use std::collections::BTreeMap;

use chronoseal_core::{Bytes, Duration, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::nodes::no_drift;
use crate::limits::*;
use crate::quantity::Quantity;

/// A stream of frames, or several alike. What only one kind of segment has stands in a table of the segment's name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StreamSpec {
    /// Its name.
    pub name: String,
    /// The node that sends it, or the radio segment whose vehicles send it.
    pub from: String,
    /// The nodes that receive it. Default on CAN and radio: all others on the sender's segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NODES_MAX))]
    pub to: Option<Vec<String>>,
    /// So many streams alike, named `name.0`, `name.1`, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = STREAMS_MAX))]
    pub count: Option<u32>,
    /// Distance of two frames; divides the cluster cycle where the stream is time-triggered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Quantity<Duration>>,
    /// The stream that it answers, on a lossy link: its sender, which receives that stream, answers each message with one of the same number.
    /// It has no `period` then, goes back to the sender of what it answers, and is as long unless it has a `length`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// A closed loop: the next message is sent when this one is answered, and no sooner than `period`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<ClosedLoopSpec>,
    /// Sent when its value changes, instead of with a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_change: Option<OnChangeSpec>,
    /// When its first frame is due, below the period; of a time-triggered stream, where its first slot starts. Default:
    /// drawn from the seed; of a time-triggered stream, found by the scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Duration>>,
    /// When the application of a stream that begins in slots has data for it, if that follows a timer of its own and not the
    /// schedule. Default: in time for each slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationSpec>,
    /// It has to be received so long after it became due: one value, or one for each receiver. Default on CAN: the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineSpec>,
    /// What the deadline limits.
    #[serde(default)]
    pub deadline_kind: DeadlineKindSpec,
    /// What it carries before protection: data of a CAN frame, or of an Ethernet frame all behind its 14 bytes of header; of
    /// a stream that gateways carry its PDU, whole in each segment's frames. On radio it follows from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Quantity<Bytes>>,
    /// What is in it.
    #[serde(default)]
    pub payload: PayloadSpec,
    /// How it is protected: the name of a protection, from its sender to its receivers; `{ end_to_end = "…" }`, which means
    /// the same; or a table of segments, on each of which gateways open and seal it again. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<StreamProtectionSpec>,
    /// The gateways that it may pass, in this order. Default: the shortest way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = SEGMENTS_MAX))]
    pub via: Option<Vec<String>>,
    /// Tables of the names of segments.
    #[serde(flatten)]
    #[schemars(skip)]
    pub segments: BTreeMap<String, Json>,
}

/// A timer of an application, which no clock of the network corrects. The newest data wait for the next slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationSpec {
    /// Its data are ready so often, by its timer. Default: the period of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Quantity<Duration>>,
    /// They are ready for the first time so long after its node starts, below its period. Default: drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Quantity<Duration>>,
    /// How much faster its timer runs than the clock of its node, within 1000ppm. Default: 0ppm.
    #[serde(default = "no_drift")]
    pub drift: Quantity<Ppm>,
}

/// A stream of which each message waits for the answer to the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoopSpec {
    /// An answer that has not come after this is waited for no more, at least the period.
    pub timeout: Quantity<Duration>,
}

/// A stream that is sent when its value changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnChangeSpec {
    /// The least distance of two frames.
    pub min_distance: Quantity<Duration>,
}

/// A deadline: one for all receivers, or a table of receivers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DeadlineSpec {
    /// For all.
    All(Quantity<Duration>),
    /// By the name of the receiver.
    Each(BTreeMap<String, Quantity<Duration>>),
}

/// How a stream is protected: from end to end, or segment by segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StreamProtectionSpec {
    /// From its sender to its receivers.
    EndToEnd(String),
    /// By the name of a segment; segments left out: not protected. `end_to_end` instead of a segment: from its sender to its
    /// receivers.
    Each(BTreeMap<String, String>),
}

impl StreamProtectionSpec {
    /// The key that stands for the whole way.
    pub const END_TO_END: &str = "end_to_end";
}

/// What a deadline limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum DeadlineKindSpec {
    /// From the moment a frame is due to its reception.
    #[default]
    #[serde(rename = "reaction")]
    Reaction,
    /// From the moment a frame is due to the reception of the next one.
    #[serde(rename = "age")]
    Age,
}

/// What is in a stream's frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PayloadSpec {
    /// Bytes from the seed, in every message the same.
    #[default]
    #[serde(rename = "synthetic")]
    Synthetic,
    /// On a lossy link: bytes that count up, from the number of the message on.
    #[serde(rename = "sequential")]
    Sequential,
    /// On a lossy link: bytes from the seed, in every message others.
    #[serde(rename = "random")]
    Random,
    /// The latest sample of a recording.
    #[serde(rename = "recording")]
    Recording(String),
}
