//! What a scenario says of stream filters, stream gates and flow meters of switches (IEEE 802.1Q-2018 §8.6.5.1).

use chronoseal_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::Quantity;

/// A stream filter: which frames it matches where they come in at a switch, and what is done with them. The first that matches
/// a frame judges it; a frame that none matches goes on as if there were none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamFilterSpec {
    /// As its counters are called.
    pub name: String,
    /// The stream that it matches. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The priority that it matches: that of the VLAN tag, or of a best-effort stream without one. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// The switches that have it, each by itself. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = SWITCHES_MAX))]
    pub switches: Option<Vec<String>>,
    /// Nodes and switches: it matches what comes by the link from one of them. Default: what comes by any link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = LINKS_MAX))]
    pub from: Option<Vec<String>>,
    /// Maximum SDU size: what stands behind header and VLAN tag, 1B to 1500B. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sdu: Option<Quantity<Bytes>>,
    /// One frame that is too long blocks the filter for good (StreamBlockedDueToOversizeFrameEnable). Default: false.
    #[serde(default)]
    pub block_on_oversize: bool,
    /// One of `stream_gates`. Default: none, which is one that is always open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// One of `flow_meters`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<String>,
}

/// A stream gate: frames pass while it is open. Every switch with a filter that names it has one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamGateSpec {
    /// As filters call it.
    pub name: String,
    /// The list repeats after this, 1us to 10s.
    pub cycle: Quantity<Duration>,
    /// When a cycle begins, by the clock of the switch: its own where switches make the time themselves, else counted from the start of
    /// the run. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub base_time: Quantity<Duration>,
    /// The entries in their order. The last one lasts until the end of the cycle.
    #[schemars(length(min = 1, max = GATE_ENTRIES_MAX))]
    pub entries: Vec<StreamGateEntrySpec>,
    /// A frame that comes while it is closed closes it for good (GateClosedDueToInvalidRxEnable). Default: false.
    #[serde(default)]
    pub close_on_invalid_rx: bool,
    /// A frame that is too much for an interval closes it for good (GateClosedDueToOctetsExceededEnable). Default: false.
    #[serde(default)]
    pub close_on_octets_exceeded: bool,
}

/// An entry of a stream gate control list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamGateEntrySpec {
    /// Until the next entry.
    pub lasts: Quantity<Duration>,
    /// Frames pass. Default: true.
    #[serde(default = "yes")]
    pub open: bool,
    /// Internal priority value: the priority by which this switch queues what passes. Default: that of the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub ipv: Option<u8>,
    /// SDUs that pass in the interval have so much together (IntervalOctetMax), 1B to 1000MB. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub octets_max: Option<Quantity<Bytes>>,
}

/// A flow meter: the bandwidth profile of MEF 10.3. It counts frames from their destination address to their checksum. Every
/// switch with a filter that names it has one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowMeterSpec {
    /// As filters call it.
    pub name: String,
    /// Committed information rate, 1kbit/s to 100Gbit/s.
    pub cir: Quantity<Rate>,
    /// Committed burst size, 64B to 1000MB.
    pub cbs: Quantity<Bytes>,
    /// Excess information rate. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eir: Option<Quantity<Rate>>,
    /// Excess burst size. Default: none, so that nothing is yellow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<Quantity<Bytes>>,
    /// What overflows the committed bucket goes to the excess bucket (CF). Default: false.
    #[serde(default)]
    pub coupling: bool,
    /// A frame that comes drop-eligible is yellow before it is metered (CM). Default: false.
    #[serde(default)]
    pub color_aware: bool,
    /// What is yellow is thrown away (DropOnYellow); else it goes on drop-eligible. Default: false.
    #[serde(default)]
    pub drop_on_yellow: bool,
    /// One red frame makes all that follow red (MarkAllFramesRedEnable). Default: false.
    #[serde(default)]
    pub mark_all_frames_red: bool,
}

fn yes() -> bool {
    true
}
