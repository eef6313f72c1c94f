//! Recorded signals, frames and traffic.

use chronoseal_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::NODES_MAX;
use crate::quantity::Quantity;

/// A recording: a name and exactly one of `signal`, `frames`, `traffic`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingSpec {
    /// Its name.
    pub name: String,
    /// A decoded signal: 8 bytes a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<SignalSpec>,
    /// Raw CAN frames: identifier and data, 12 bytes or fewer a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FramesSpec>,
    /// Traffic of a whole segment, replayed over and over with its own timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficSpec>,
    /// The segment that traffic is replayed on. Default: the only one of the node that plays it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
    /// The node that plays traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The nodes that receive what is recorded, on a lossy link and on Ethernet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NODES_MAX))]
    pub to: Option<Vec<String>>,
    /// Traffic starts again so long after it began. Default: as long as it was recorded, and the usual gap of two frames behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Quantity<Duration>>,
    /// When traffic begins. Default: 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Quantity<Duration>>,
}

/// Recorded traffic; exactly one of `builtin`, `file`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficSpec {
    /// A recording of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// A log beside the scenario: candump, ASC, BLF, TRC, MF4, BUSMASTER, the CSV or SQLite of python-can, or a capture. For a lossy link a capture (pcap or pcapng) of UDP, for Ethernet one of Ethernet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// For a lossy link, which flow of datagrams, such as `"10.0.0.1:5000 to 10.0.0.2:5000"`. Default: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A signal of a recording; exactly one of `builtin`, `file`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalSpec {
    /// A recording of the project: `"vessel-nmea2000"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// A CSV file with the columns `time_us,name,value`, beside the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The signal in it.
    pub name: String,
    /// Its physical unit; shown, not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// Raw frames of a recording; exactly one of `builtin`, `file`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FramesSpec {
    /// A recording of the project: `"car-frames"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// A CSV file with the columns `time_us,can_id,data`, beside the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Only frames with this identifier, such as `"0x21A"`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_id: Option<String>,
}
