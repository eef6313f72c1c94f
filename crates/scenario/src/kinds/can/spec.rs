//! What a scenario says of a CAN segment.

use chronoseal_core::{Percent, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;

/// A CAN or CAN-FD bus.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanSegmentSpec {
    /// Nominal bit rate, 10kbit/s to 1Mbit/s.
    pub bit_rate: Quantity<Rate>,
    /// Bit rate of the data phase, for frames with bit-rate switch; up to 8Mbit/s. Default: none, no frame switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_bit_rate: Option<Quantity<Rate>>,
    /// Where in a nominal bit it is sampled. Default: 80%.
    #[serde(default = "default_sample_point")]
    pub sample_point: Quantity<Percent>,
    /// Where in a bit of the data phase it is sampled. Default: 80%.
    #[serde(default = "default_sample_point")]
    pub data_sample_point: Quantity<Percent>,
    /// Which of a controller's waiting frames is sent first.
    #[serde(default)]
    pub mailboxes: MailboxesSpec,
}

fn default_sample_point() -> Quantity<Percent> {
    Quantity(Percent(8_000))
}

/// Which of a controller's waiting frames is sent first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum MailboxesSpec {
    /// The one with the lowest identifier.
    #[default]
    #[serde(rename = "by-identifier")]
    ByIdentifier,
    /// The oldest.
    #[serde(rename = "fifo")]
    Fifo,
}

/// What a stream has on a CAN segment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanStreamSpec {
    /// Its identifier in hexadecimal, such as `"0x123"`; of several streams alike that of the first, the others follow it.
    pub id: String,
    /// True if the identifier has 29 bits. Default: false, 11 bits.
    #[serde(default)]
    pub extended: bool,
    /// Its frame format.
    #[serde(default)]
    pub format: CanFormatSpec,
}

/// What an attack has on a CAN segment: nothing of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanThreatSpec {}

/// A frame format (ISO 11898-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum CanFormatSpec {
    /// Classical: up to 8 bytes.
    #[default]
    #[serde(rename = "classical")]
    Classical,
    /// FD at the nominal bit rate: up to 64 bytes.
    #[serde(rename = "fd")]
    Fd,
    /// FD with bit-rate switch: up to 64 bytes.
    #[serde(rename = "fd-brs")]
    FdBrs,
}
