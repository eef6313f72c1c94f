//! What a scenario says of a CAN segment.

use chronoseal_core::{Duration, Percent, Rate};
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
    /// Sent in several frames, as ISO 15765-2 has it, so that it may be longer than one. Default: in one frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segmented: Option<SegmentedSpec>,
}

/// How a stream is sent in several frames: a first frame (FF), consecutive frames (CF), and flow control frames (FC) of its
/// one receiver, all in the format of the stream (ISO 15765-2).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentedSpec {
    /// The identifier of the receiver's flow control frames, of as many bits as the stream's own; of several streams alike that of
    /// the first, the others follow it.
    pub flow_control: String,
    /// BS: after so many consecutive frames the receiver is asked again. Default: 0, it is asked once.
    #[serde(default)]
    pub block_size: u8,
    /// STmin: the least time between two consecutive frames, 0s, 100us to 900us in steps of 100us, or 1ms to 127ms in steps of 1ms.
    /// Default: 0s.
    #[serde(default = "none")]
    pub st_min: Quantity<Duration>,
    /// N_Bs: the sender gives up if the receiver does not answer within this time, up to 1s. Default: 1s.
    #[serde(default = "second")]
    pub n_bs: Quantity<Duration>,
    /// N_Cr: the receiver gives up if the next frame does not come within this time, up to 1s. Default: 1s.
    #[serde(default = "second")]
    pub n_cr: Quantity<Duration>,
}

fn none() -> Quantity<Duration> {
    Quantity(Duration::ZERO)
}

fn second() -> Quantity<Duration> {
    Quantity(Duration::from_s(1))
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
