//! What a scenario says of a CAN bus.

use chronoseal_core::{Bytes, Duration, Percent, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{one, zero};
use crate::limits::*;
use crate::quantity::Quantity;

/// One CAN or CAN-FD bus.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanBusSpec {
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
    /// Names of several buses alike, joined by a gateway that passes every frame on. Default: one bus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = BUSES_MAX))]
    pub buses: Vec<String>,
    /// From the end of a frame on one bus to its place in the gateway's queue for another, up to 1s. Default: 50us.
    #[serde(default = "default_gateway_delay")]
    pub gateway_delay: Quantity<Duration>,
}

fn default_gateway_delay() -> Quantity<Duration> {
    Quantity(Duration::from_us(50))
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

/// A periodic message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageSpec {
    /// Its name.
    pub name: String,
    /// The node that sends it.
    pub from: String,
    /// The nodes that use it. Default: all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NODES_MAX))]
    pub to: Option<Vec<String>>,
    /// Its identifier in hexadecimal, such as `"0x123"`.
    pub id: String,
    /// True if the identifier has 29 bits. Default: false, 11 bits.
    #[serde(default)]
    pub extended: bool,
    /// Its frame format.
    #[serde(default)]
    pub format: CanFormatSpec,
    /// Data before protection: 0B to 8B, or 64B with FD.
    pub length: Quantity<Bytes>,
    /// Distance of two frames.
    pub period: Quantity<Duration>,
    /// Its first frame, below the period. Default: drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Duration>>,
    /// It has to be received so long after it became due. Default: the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Quantity<Duration>>,
    /// How it is protected. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<String>,
}

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

/// Recorded traffic, replayed over and over with its own timing; exactly one of `builtin`, `file`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundSpec {
    /// Its name.
    pub name: String,
    /// The node that plays it.
    pub from: String,
    /// A recording of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// A log beside the scenario: candump, ASC, BLF, TRC, MF4, BUSMASTER or a capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When it begins. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
}

/// How the stations of a bus come to a common key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupKeySpec {
    /// The node that orchestrates (the SoECU).
    pub orchestrator: String,
    /// The members. Default: all nodes but the orchestrator, those that play recordings left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NODES_MAX))]
    pub members: Option<Vec<String>>,
    /// Curve and signature. Default: FourQ.
    #[serde(default)]
    pub suite: SuiteSpec,
    /// The way to the key.
    pub scheme: SchemeSpec,
    /// The protocol as published, or hardened. Default: hardened.
    #[serde(default)]
    pub profile: GroupKeyProfileSpec,
    /// Frames of the exchange. Default: FD with bit-rate switch if the bus has a data bit rate, else classical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<CanFormatSpec>,
    /// How the orchestration is signed.
    #[serde(default)]
    pub orchestration: OrchestrationSpec,
    /// When a node takes a new key into use. Default: when all members have confirmed it; as published, at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installation: Option<InstallationSpec>,
    /// When it begins. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
    /// Members thrown out and taken back, in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = CHANGES_MAX))]
    pub changes: Vec<GroupChangeSpec>,
}

/// A change of the group: exactly one of `remove`, `add`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupChangeSpec {
    /// When.
    pub at: Quantity<Duration>,
    /// A member to throw out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// A member, thrown out before, to take back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<String>,
}

/// A key agreement and a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum SuiteSpec {
    /// FourQ and SchnorrQ.
    #[default]
    #[serde(rename = "fourq")]
    FourQ,
    /// ECDH and ECDSA on NIST P-256.
    #[serde(rename = "p-256")]
    P256,
    /// X25519 and Ed25519.
    #[serde(rename = "x25519-ed25519")]
    X25519Ed25519,
}

/// A way to a group key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum SchemeSpec {
    /// A tree with the orchestrator in every logical unit: the source's main scheme.
    #[serde(rename = "full-tree")]
    FullTree,
    /// A tree with the orchestrator as one more leaf.
    #[serde(rename = "without-orchestrator")]
    WithoutOrchestrator,
    /// The orchestrator exchanges keys with each member and distributes a master secret.
    #[serde(rename = "symmetric")]
    Symmetric,
}

/// The protocol as published, or hardened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum GroupKeyProfileSpec {
    /// With everything it depends on in the transcript, an explicit epoch, and key confirmation.
    #[default]
    #[serde(rename = "hardened")]
    Hardened,
    /// As in the source.
    #[serde(rename = "as-published")]
    AsPublished,
}

/// How the orchestration is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum OrchestrationSpec {
    /// One signature for each exchange, when it is due.
    #[default]
    #[serde(rename = "per-step")]
    PerStep,
    /// One signature for each exchange, made before the start.
    #[serde(rename = "ahead")]
    Ahead,
    /// One signature for the whole of a fixed tree.
    #[serde(rename = "once")]
    Once,
}

/// When a node takes a new key into use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum InstallationSpec {
    /// When every member has shown that it holds the key.
    #[serde(rename = "confirmed")]
    Confirmed,
    /// As soon as it holds it itself.
    #[serde(rename = "unconfirmed")]
    Unconfirmed,
}

/// A SecOC profile (AUTOSAR specification of secure onboard communication): CMAC-AES-128.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecOcSpec {
    /// 1: 24-bit MAC, 8-bit freshness. 2: 24-bit MAC, no freshness. 3: 28-bit MAC, 4-bit freshness from the trips and
    /// resets of a master.
    #[schemars(range(min = 1, max = 3))]
    pub profile: u8,
    /// Where the key comes from. Default: the group key if the scenario has one, else the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SecOcKeySpec>,
}

/// Who counts trips and resets for SecOC profile 3, and the message that tells them to the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreshnessMasterSpec {
    /// The node that counts. Default: the orchestrator of the group key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub master: Option<String>,
    /// Identifier of its synchronisation message in hexadecimal, 11 bits. Default: `"0x010"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Distance of two synchronisation messages, each of which begins a reset cycle; 1ms to 10s. Default: 100ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Quantity<Duration>>,
    /// Where the key of the message comes from. Default: the group key if the scenario has one, else the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SecOcKeySpec>,
}

/// Where a key comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum SecOcKeySpec {
    /// It is the group key; until there is one, nothing is sent.
    #[serde(rename = "group-key")]
    GroupKey,
    /// Drawn from the seed, and known to all stations from the start.
    #[serde(rename = "pre-shared")]
    PreShared,
}

/// An attack on a CAN bus, by a node of its own that hears everything and can say anything.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttackSpec {
    /// Its name; also that of the attacker's node.
    pub name: String,
    /// What the attacker does.
    pub kind: AttackKindSpec,
    /// Its first attempt, for those that choose their time. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
    /// Distance of two attempts, for those that choose their time. Default: 10ms.
    #[serde(default = "default_every")]
    pub every: Quantity<Duration>,
    /// How many attempts at most. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = ATTEMPTS_MAX))]
    pub count: u32,
}

fn default_every() -> Quantity<Duration> {
    Quantity(Duration::from_ms(10))
}

/// What an attacker on a bus does.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum AttackKindSpec {
    /// Makes up frames of a message.
    #[serde(rename = "spoof")]
    Spoof(AttackedMessageSpec),
    /// Repeats the first frame of a message it hears, from its start on.
    #[serde(rename = "replay")]
    Replay(AttackedMessageSpec),
    /// Sends a frame that wins every arbitration, again and again.
    #[serde(rename = "babble")]
    Babble,
    /// Repeats the orchestrator's first request, so much later.
    #[serde(rename = "replayed_orchestration")]
    ReplayedOrchestration(ReplayedSpec),
    /// Repeats the orchestrator's requests with the two parties exchanged.
    #[serde(rename = "swapped-addresses")]
    SwappedAddresses,
    /// Answers a party with its own share.
    #[serde(rename = "reflected-share")]
    ReflectedShare,
    /// Answers a request with a share of small order, or on a curve without one, no point.
    #[serde(rename = "small-order-share")]
    SmallOrderShare,
    /// Answers a share with half a confirmation.
    #[serde(rename = "truncated-confirmation")]
    TruncatedConfirmation,
    /// Answers a share with an invented confirmation.
    #[serde(rename = "forged-confirmation")]
    ForgedConfirmation,
    /// Requests an exchange in the orchestrator's name.
    #[serde(rename = "impersonated-orchestrator")]
    ImpersonatedOrchestrator,
    /// Says in the orchestrator's name that all hold the key.
    #[serde(rename = "forged-commit")]
    ForgedCommit,
}

/// A message under attack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttackedMessageSpec {
    /// Which.
    pub message: String,
}

/// When something is repeated.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayedSpec {
    /// So much later, 1us to 86400s.
    pub after: Quantity<Duration>,
}
