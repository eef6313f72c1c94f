//! What a scenario says of MACsec on the links of an Ethernet segment (IEEE 802.1AE-2018).

use chronoseal_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;

/// MACsec on links: each frame is protected where it enters a link and checked where it leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacsecSpec {
    /// How frames are encrypted and authenticated.
    #[serde(default)]
    pub cipher_suite: CipherSuiteSpec,
    /// True if every SecTAG names its secure channel (SCI), which takes 8 bytes more: 32 instead of 24. Default: true.
    #[serde(default = "default_include_sci")]
    pub include_sci: bool,
    /// What of a frame is encrypted.
    #[serde(default)]
    pub confidentiality: ConfidentialitySpec,
    /// A frame is taken while its packet number is at most so much below the next expected one. Default: 0, packet numbers have to
    /// rise.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub replay_window: u32,
    /// Time that protecting a frame takes at the sending end of a link. Default: none.
    #[serde(default)]
    pub protect: ProcessingSpec,
    /// Time that checking a frame takes at the receiving end of a link. Default: none.
    #[serde(default)]
    pub check: ProcessingSpec,
}

fn default_include_sci() -> bool {
    true
}

/// A cipher suite of IEEE 802.1AE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum CipherSuiteSpec {
    /// AES with a key of 16 bytes.
    #[default]
    #[serde(rename = "gcm-aes-128")]
    GcmAes128,
    /// AES with a key of 32 bytes.
    #[serde(rename = "gcm-aes-256")]
    GcmAes256,
}

/// What of a frame MACsec encrypts; all of it is authenticated in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ConfidentialitySpec {
    /// Everything behind the addresses.
    #[default]
    #[serde(rename = "offset-0")]
    Offset0,
    /// All but the first 30 bytes behind the addresses.
    #[serde(rename = "offset-30")]
    Offset30,
    /// All but the first 50 bytes behind the addresses.
    #[serde(rename = "offset-50")]
    Offset50,
    /// Nothing.
    #[serde(rename = "none")]
    None,
}

/// A delay of every frame at one end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessingSpec {
    /// For any frame, up to 1s. Default: 0s.
    #[serde(default = "crate::spec::zero")]
    pub base: Quantity<Duration>,
    /// For each byte of a frame, header included, checksum and MACsec left out. Default: 0s. A short frame must not overtake a long
    /// one, which limits it by the rate of the link.
    #[serde(default = "crate::spec::zero")]
    pub per_byte: Quantity<Duration>,
}

impl Default for ProcessingSpec {
    fn default() -> Self {
        Self { base: crate::spec::zero(), per_byte: crate::spec::zero() }
    }
}
