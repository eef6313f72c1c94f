//! What a scenario says of the ports of switches and stations (IEEE 802.1Q-2022 §8.6.6 to §8.6.8, IEEE 802.3-2022 clause 99).

use chronoseal_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::Quantity;

/// What a port does with the frames that leave by it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// How many traffic classes it has; priorities go to them by table 8-5 of IEEE 802.1Q. Default: 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub traffic_classes: Option<u8>,
    /// The traffic class of each priority, from 0 to 7. Default: by table 8-5 of IEEE 802.1Q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 8, max = 8))]
    pub priorities: Option<Vec<u8>>,
    /// What single traffic classes have. Default: strict priority, express, and a queue as long as those of the segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub classes: Vec<ClassPortSpec>,
    /// When the gates of the classes are open. Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GatesSpec>,
}

/// What a traffic class has at a port.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassPortSpec {
    /// Which one.
    #[schemars(range(min = 0, max = 7))]
    pub class: u8,
    /// What keeps its frames back. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<ShaperSpec>,
    /// Express frames interrupt its own. Default: false.
    #[serde(default)]
    pub preemptable: bool,
    /// Its queue holds at most this much, 1514B to 1000MB. Default: the `queue_len_max` of the segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_len_max: Option<Quantity<Bytes>>,
}

/// What keeps the frames of a class back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub enum ShaperSpec {
    /// A credit-based shaper, IEEE 802.1Q-2022 §8.6.8.2.
    #[serde(rename = "credit_based")]
    CreditBased(CreditBasedSpec),
    /// Asynchronous traffic shaping, IEEE 802.1Q-2022 §8.6.11: each stream keeps to a rate and a burst of its own.
    #[serde(rename = "asynchronous")]
    Asynchronous,
}

/// A credit-based shaper.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditBasedSpec {
    /// What the class is given of the link in the long run, preamble and gap included.
    pub idle_slope: Quantity<Rate>,
}

/// A gate control list, IEEE 802.1Q-2022 §8.6.8.4 and §8.6.9.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatesSpec {
    /// The list repeats after this, 1us to 10s.
    pub cycle: Quantity<Duration>,
    /// When a cycle begins, by the clock of the port: that of its switch or node where these make the time themselves, else counted from
    /// the start of the run. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub base_time: Quantity<Duration>,
    /// All times of the list are whole multiples of this. Default: 1ps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granularity: Option<Quantity<Duration>>,
    /// The port has room for so many entries. Default: 1024.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = GATE_ENTRIES_MAX))]
    pub list_len_max: Option<u32>,
    /// The entries in their order. The last one lasts until the end of the cycle.
    #[schemars(length(min = 1, max = GATE_ENTRIES_MAX))]
    pub entries: Vec<GateEntrySpec>,
    /// By so much the last cycle of the list may be extended before `admin` begins (OperCycleTimeExtension). Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub cycle_time_extension: Quantity<Duration>,
    /// The list that replaces this one during the run. Default: none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<AdminGatesSpec>,
}

/// The administrative list of a port, which replaces the one that runs when *ConfigChangeTime* has come: the List Config state machine,
/// IEEE 802.1Q-2022 §8.6.9.3. All times are by the clock of the port.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminGatesSpec {
    /// When *ConfigChange* is set: the port knows of the list from then on. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub config_change: Quantity<Duration>,
    /// *AdminBaseTime*: the list begins then; where that is before `config_change`, as many whole cycles later as it takes.
    pub base_time: Quantity<Duration>,
    /// *AdminCycleTime*: the list repeats after this, 1us to 10s.
    pub cycle_time: Quantity<Duration>,
    /// *AdminControlList*: the entries in their order. The last one lasts until the end of the cycle.
    #[schemars(length(min = 1, max = GATE_ENTRIES_MAX))]
    pub entries: Vec<GateEntrySpec>,
}

/// An entry of a gate control list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateEntrySpec {
    /// The traffic classes whose gates are open.
    #[schemars(length(max = 8))]
    pub open: Vec<u8>,
    /// Until the next entry.
    pub lasts: Quantity<Duration>,
    /// Frames of preemptable classes are held meanwhile, and interrupted early enough. Default: false.
    #[serde(default)]
    pub hold: bool,
}

/// The bucket of an asynchronously shaped stream.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommittedSpec {
    /// Its committed information rate; preamble, gap and what MACsec adds included.
    pub rate: Quantity<Rate>,
    /// Its committed burst size, with the same included.
    pub burst: Quantity<Bytes>,
}
