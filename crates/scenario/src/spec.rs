//! A scenario as it is written: every key, nothing resolved. The file format is these types.

mod can;

pub use can::*;

use chronoseal_core::{Bytes, Duration, Ppm, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::Quantity;
use crate::source::Source;

/// A scenario: one network, its stations and streams, how they are protected and who attacks them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "chronoseal scenario")]
pub struct Spec {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema_version: u32,
    /// Short name, used in file names: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// One or two sentences for a reader of the report.
    #[serde(default)]
    pub description: String,
    /// How long a run lasts, 1us to 86400s.
    pub duration: Quantity<Duration>,
    /// Seeds all chance of the run.
    #[serde(default = "default_seed")]
    #[schemars(range(min = 0, max = SEED_MAX))]
    pub seed: u64,
    /// Whether frames carry real bytes.
    #[serde(default)]
    pub fidelity: FidelitySpec,
    /// Protections that `check` compares; all of them if absent. `"none"` always exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PROTECTIONS_MAX))]
    pub candidates: Option<Vec<String>>,
    /// The network.
    pub network: NetworkSpec,
    /// Processors and what operations cost there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PLATFORMS_MAX))]
    pub platforms: Vec<PlatformSpec>,
    /// Ways to protect a stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PROTECTIONS_MAX))]
    pub protections: Vec<ProtectionSpec>,
    /// Stations.
    #[schemars(length(min = 1, max = NODES_MAX))]
    pub nodes: Vec<NodeSpec>,
    /// Recorded signals and frames that streams replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = RECORDINGS_MAX))]
    pub recordings: Vec<RecordingSpec>,
    /// Streams of frames, on Ethernet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = STREAMS_MAX))]
    pub streams: Vec<StreamSpec>,
    /// Periodic messages, on CAN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MESSAGES_MAX))]
    pub messages: Vec<MessageSpec>,
    /// Recorded traffic that is replayed with its own timing, on CAN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = BACKGROUND_MAX))]
    pub background: Vec<BackgroundSpec>,
    /// Attacks on a CAN bus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = ATTACKS_MAX))]
    pub attacks: Vec<AttackSpec>,
    /// How the stations of a CAN bus come to a common key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_key: Option<GroupKeySpec>,
    /// The master of trip and reset counters on a CAN bus, which SecOC profile 3 needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<FreshnessMasterSpec>,
    /// Attacks on Ethernet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = THREATS_MAX))]
    pub threats: Vec<ThreatSpec>,
    /// Where it was written.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) source: Source,
}

fn default_seed() -> u64 {
    1
}

/// How much of a frame is really made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum FidelitySpec {
    /// Every byte is made and checked.
    #[default]
    #[serde(rename = "bytes")]
    Bytes,
    /// Only headers and sequence numbers; for the simulator alone.
    #[serde(rename = "timing")]
    Timing,
}

/// A kind of network.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum NetworkSpec {
    /// A star of end systems around one switch with a schedule table.
    #[serde(rename = "time_triggered_ethernet")]
    TimeTriggeredEthernet(TimeTriggeredEthernetSpec),
    /// One CAN or CAN-FD bus.
    #[serde(rename = "can_bus")]
    CanBus(CanBusSpec),
}

/// A star of end systems around one switch with a schedule table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeTriggeredEthernetSpec {
    /// Of every link, 1kbit/s to 100Gbit/s.
    pub rate: Quantity<Rate>,
    /// The schedule repeats after this, 1us to 10s.
    pub cluster_cycle: Quantity<Duration>,
    /// How the clocks are kept together.
    #[serde(default)]
    pub sync: SyncSpec,
    /// Distance of two sync beacons; divides the cluster cycle. Default: the cluster cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration_cycle: Option<Quantity<Duration>>,
    /// Time kept free after each frame. Default: 0s.
    #[serde(default = "zero")]
    pub guard_period: Quantity<Duration>,
    /// What counts as time on the wire.
    #[serde(default)]
    pub accounting: AccountingSpec,
    /// Who may use the wires at once.
    #[serde(default)]
    pub access: AccessSpec,
    /// Largest difference of two correct clocks. Default: 10us.
    #[serde(default = "default_precision")]
    pub precision: Quantity<Duration>,
    /// Upper bound of a sync beacon's way through the network. Default: worked out from the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_transmission_delay: Option<Quantity<Duration>>,
    /// Identifier of the sync beacon. Default: 4043.
    #[serde(default = "default_sync_id")]
    #[schemars(range(min = 1, max = 65535))]
    pub sync_id: u16,
    /// First four bytes of a critical-traffic destination address. Default: 03:04:05:06.
    #[serde(default = "default_ct_marker")]
    pub ct_marker: String,
    /// Of every link. Default: 0s.
    #[serde(default = "zero")]
    pub propagation_delay: Quantity<Duration>,
    /// When the switch passes on a scheduled frame.
    #[serde(default)]
    pub dispatch: DispatchSpec,
    /// Time in the switch from the last bit in to the first bit out, at the earliest. Default: 0s.
    #[serde(default = "zero")]
    pub forwarding_delay: Quantity<Duration>,
    /// Random part of the forwarding delay. Default: none.
    #[serde(default)]
    pub forwarding_jitter: JitterSpec,
    /// Each egress queue holds at most this much, 1514B to 1000MB. Default: 64kB.
    #[serde(default = "default_queue_len_max")]
    pub queue_len_max: Quantity<Bytes>,
    /// A second switch copies every frame to the capture and adds one store-and-forward to its stamps. Default: false.
    #[serde(default)]
    pub sniffing_switch: bool,
}

fn zero() -> Quantity<Duration> {
    Quantity(Duration::ZERO)
}
fn default_precision() -> Quantity<Duration> {
    Quantity(Duration::from_us(10))
}
fn default_sync_id() -> u16 {
    4043
}
fn default_ct_marker() -> String {
    "03:04:05:06".into()
}
fn default_queue_len_max() -> Quantity<Bytes> {
    Quantity(Bytes(64_000))
}

/// How the clocks are kept together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum SyncSpec {
    /// The switch sends a protocol control frame at the start of each integration cycle.
    #[default]
    #[serde(rename = "beacon")]
    Beacon,
    /// Every station has the switch's time and no beacon is sent; for the simulator alone.
    #[serde(rename = "ideal")]
    Ideal,
}

/// What counts as time on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum AccountingSpec {
    /// With checksum, preamble and gap: 24 bytes a frame (IEEE 802.3).
    #[default]
    #[serde(rename = "on-wire")]
    OnWire,
    /// The frame alone, as in the ISRCS 2014 paper.
    #[serde(rename = "as-published")]
    AsPublished,
}

/// Who may use the wires at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum AccessSpec {
    /// One slot at a time in the whole cluster.
    #[default]
    #[serde(rename = "shared-slots")]
    SharedSlots,
    /// Each link has slots of its own.
    #[serde(rename = "per-link")]
    PerLink,
}

/// When the switch passes on a scheduled frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum DispatchSpec {
    /// At the dispatch time of its slot.
    #[default]
    #[serde(rename = "scheduled")]
    Scheduled,
    /// After the forwarding delay.
    #[serde(rename = "immediate")]
    Immediate,
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
    /// What operations cost; one not listed costs nothing.
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

/// A way to protect a stream: a name and exactly one of `none`, `size_only`, `hmac`, `secoc`.
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
    /// A keyed hash is added and checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac: Option<HmacSpec>,
    /// A SecOC profile, on CAN.
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

/// A keyed hash over stream, payload and freshness value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HmacSpec {
    /// The hash.
    pub hash: HashSpec,
    /// How much of the hash is sent, 4B to its whole length.
    pub tag: Quantity<Bytes>,
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
    /// Taken from the cycle counter; no bytes on the wire.
    #[default]
    #[serde(rename = "cycle-counter")]
    CycleCounter,
    /// All 8 bytes in the frame.
    #[serde(rename = "full")]
    Full,
    /// Its low bytes in the frame, 1B to 7B.
    #[serde(rename = "truncated")]
    Truncated(Quantity<Bytes>),
    /// None: replayed frames are accepted, as in the ISRCS 2014 paper.
    #[serde(rename = "none")]
    None,
}

/// A station.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name: letters, digits, `-`, `_`.
    pub name: String,
    /// Its processor. Default: one on which everything is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Its oscillator.
    #[serde(default)]
    pub clock: ClockSpec,
    /// Its address in key exchanges on CAN. Default: the next free one, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub address: Option<u16>,
    /// The bus it is on, if there are several. Default: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
    /// Time its network driver takes. Default: none.
    #[serde(default)]
    pub driver: JitterSpec,
    /// What it does beside its frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = TASKS_MAX))]
    pub tasks: Vec<TaskSpec>,
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

fn no_drift() -> Quantity<Ppm> {
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
    /// Distance of two runs; divides the cluster cycle.
    pub period: Quantity<Duration>,
    /// Processor time of one run at most.
    pub wcet: Quantity<Duration>,
}

/// A recording: a name and exactly one of `signal`, `frames`.
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

/// A stream of frames, or several alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Its name.
    pub name: String,
    /// The node that sends it.
    pub from: String,
    /// The nodes that receive it.
    #[schemars(length(max = NODES_MAX))]
    pub to: Vec<String>,
    /// So many streams alike, named `name.0`, `name.1`, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = STREAMS_MAX))]
    pub count: Option<u32>,
    /// Its traffic class. Default: time-triggered.
    #[serde(default)]
    pub class: ClassSpec,
    /// Distance of two frames; divides the cluster cycle if time-triggered.
    pub period: Quantity<Duration>,
    /// Start of its first slot in the cluster cycle, below the period. Default: found by the scheduler;
    /// best effort: drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Duration>>,
    /// Frame before protection, from header to the last byte before the checksum: 60B to 1514B.
    pub frame: Quantity<Bytes>,
    /// What it carries.
    #[serde(default)]
    pub payload: PayloadSpec,
    /// How it is protected. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<String>,
    /// Critical-traffic identifier of the first. Default: the next free one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub ct_id: Option<u16>,
}

/// A traffic class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ClassSpec {
    /// In slots.
    #[default]
    #[serde(rename = "time-triggered")]
    TimeTriggered,
    /// Whenever the wire is free.
    #[serde(rename = "best_effort")]
    BestEffort(BestEffortSpec),
}

/// Best-effort traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BestEffortSpec {
    /// Egress queue, the higher first. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7))]
    pub priority: u8,
}

/// What a stream carries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PayloadSpec {
    /// Bytes from the seed.
    #[default]
    #[serde(rename = "synthetic")]
    Synthetic,
    /// The latest sample of a recording.
    #[serde(rename = "recording")]
    Recording(String),
}

/// An attack on a time-triggered stream.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreatSpec {
    /// Its name.
    pub name: String,
    /// What the attacker does.
    pub kind: ThreatKindSpec,
    /// On which stream.
    pub stream: String,
    /// Where the attacker sits.
    pub place: PlaceSpec,
    /// First attempt. Default: 0s.
    #[serde(default = "zero")]
    pub start: Quantity<Duration>,
    /// Distance of two attempts. Default: the stream's period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Quantity<Duration>>,
    /// How many attempts. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = ATTEMPTS_MAX))]
    pub count: u32,
    /// Where in the slot the attacker's frame begins, from one cluster cycle before to one after. Default: 0s.
    #[serde(default = "zero")]
    pub at_slot_offset: Quantity<Duration>,
}

fn one() -> u32 {
    1
}

/// What an attacker does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum ThreatKindSpec {
    /// Makes up a frame.
    #[serde(rename = "spoof")]
    Spoof,
    /// Changes a frame on its way.
    #[serde(rename = "tamper")]
    Tamper,
    /// Repeats a frame heard before.
    #[serde(rename = "replay")]
    Replay,
}

/// Where an attacker sits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlaceSpec {
    /// On a switch port of its own.
    #[serde(rename = "own-port")]
    OwnPort,
    /// On the wire between this node and the switch; the node must be the stream's sender.
    #[serde(rename = "on_link")]
    OnLink(String),
}
