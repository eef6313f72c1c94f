//! What a scenario says of a radio segment, as it is written.

use chronoseal_core::{Angle, Duration, Flow, Gain, Length, Percent, Rate, Speed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::quantity::{Frames, Quantity};

/// A radio channel of ITS-G5, and the road beside it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioSegmentSpec {
    /// Rate of every frame: 3, 4.5, 6, 9, 12, 18, 24 or 27 Mbit/s. Default: 6Mbit/s.
    #[serde(default = "default_rate")]
    pub rate: Quantity<Rate>,
    /// Who hears whom. Default: log-distance with exponent 2.3 and fading.
    #[serde(default)]
    pub path_loss: PathLossSpec,
    /// A frame survives others at the same time if it is stronger than all of them together by as much, 0dB to 300dB. Default:
    /// none survives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Quantity<Gain>>,
    /// Frames that may wait in each access category of a station, 1 to 1000. Default: 16 frames.
    #[serde(default = "default_queue")]
    pub queue: Quantity<Frames>,
    /// How messages are secured.
    #[serde(default)]
    pub security: SecuritySpec,
    /// Who drives beside the stations of the scenario. Default: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub road: Option<RoadSpec>,
    /// True if places of the trace are longitude and latitude, as `--fcd-output.geo` writes them. Default: false, metres.
    #[serde(default)]
    pub geographic: bool,
    /// Where on the Earth the place 0m, 0m is. Default: 48.77deg north, 9.18deg east.
    #[serde(default)]
    pub origin: OriginSpec,
    /// What the vehicles on the road are.
    #[serde(default)]
    pub vehicles: VehiclesSpec,
    /// Shortest time between two CAMs of a station, T_GenCam_DCC, 100ms to 1s. Default: 100ms.
    #[serde(default = "default_cam_interval")]
    pub cam_interval: Quantity<Duration>,
    /// A message that has waited longer for a station's processor is dropped unread, up to 10s. Default: 100ms.
    #[serde(default = "default_wait_max")]
    pub wait_max: Quantity<Duration>,
    /// Where stations with the policy `mix-zone` say nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = ZONES_MAX))]
    pub mix_zones: Vec<ZoneSpec>,
    /// Receivers at the roadside that an eavesdropper listens with; they send nothing. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = POSTS_MAX))]
    pub posts: Vec<PlaceSpec>,
}

fn default_rate() -> Quantity<Rate> {
    Quantity(Rate(6_000_000))
}
fn default_queue() -> Quantity<Frames> {
    Quantity(Frames(16))
}
fn default_cam_interval() -> Quantity<Duration> {
    Quantity(Duration::from_ms(100))
}
fn default_wait_max() -> Quantity<Duration> {
    Quantity(Duration::from_ms(100))
}

/// Who hears whom.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum PathLossSpec {
    /// The power falls with the logarithm of the distance, with Nakagami fading or without.
    #[serde(rename = "log_distance")]
    LogDistance(LogDistanceSpec),
    /// Whoever is within a range hears everything, nobody else hears anything.
    #[serde(rename = "disc")]
    Disc(DiscSpec),
}

impl Default for PathLossSpec {
    fn default() -> Self {
        Self::LogDistance(LogDistanceSpec {
            exponent: default_exponent(),
            fading: default_fading(),
            power: default_power(),
            reference_loss: None,
            carrier_sense: None,
            sensitivity: None,
        })
    }
}

/// Path loss by the logarithm of the distance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogDistanceSpec {
    /// 2 is free space; 0.5 to 10. Default: 2.3.
    #[serde(default = "default_exponent")]
    pub exponent: f64,
    /// m of Nakagami fading, drawn for each frame and receiver: 1 is Rayleigh, 0 is none. Default: 3.
    #[serde(default = "default_fading")]
    #[schemars(range(min = 0, max = 16))]
    pub fading: u8,
    /// Radiated power. Default: 23dBm.
    #[serde(default = "default_power")]
    pub power: Quantity<Gain>,
    /// Loss over the first metre. Default: 47.86dB, free space at 5.9 GHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_loss: Option<Quantity<Gain>>,
    /// A weaker signal is not heard at all. Default: -85dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_sense: Option<Quantity<Gain>>,
    /// A weaker frame is heard and not decoded. Default: what IEEE 802.11 asks of a receiver at the segment's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Quantity<Gain>>,
}

fn default_exponent() -> f64 {
    2.3
}
fn default_fading() -> u8 {
    3
}
fn default_power() -> Quantity<Gain> {
    Quantity(Gain(23_000))
}

/// A range.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscSpec {
    /// Up to and including this distance, 1m to 100km.
    pub range: Quantity<Length>,
}

/// How messages are secured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum SecuritySpec {
    /// Not at all: every message is believed.
    #[serde(rename = "none")]
    None,
    /// Signed by their station under a ticket of its pseudonym (IEEE 1609.2, ETSI TS 103 097). Default.
    #[serde(rename = "ieee-1609.2")]
    Signed(SignedSpec),
}

impl Default for SecuritySpec {
    fn default() -> Self {
        Self::Signed(SignedSpec { curve: CurveSpec::NistP256, asks: true })
    }
}

/// Messages signed under tickets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedSpec {
    /// The curve of all keys.
    #[serde(default)]
    pub curve: CurveSpec,
    /// True if stations ask for certificates they do not know, and send theirs when asked. Default: true.
    #[serde(default = "yes")]
    pub asks: bool,
}

fn yes() -> bool {
    true
}

/// A curve of ECDSA.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum CurveSpec {
    /// NIST P-256. Default.
    #[default]
    #[serde(rename = "nist-p256")]
    NistP256,
    /// NIST P-384.
    #[serde(rename = "nist-p384")]
    NistP384,
    /// brainpoolP256r1.
    #[serde(rename = "brainpool-p256r1")]
    BrainpoolP256r1,
    /// brainpoolP384r1.
    #[serde(rename = "brainpool-p384r1")]
    BrainpoolP384r1,
}

/// Who drives on the road.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub enum RoadSpec {
    /// Vehicles on a straight highway, by the intelligent driver model.
    #[serde(rename = "highway")]
    Highway(HighwaySpec),
    /// A trace of SUMO (`--fcd-output`), beside the scenario.
    #[serde(rename = "sumo")]
    Sumo(String),
}

/// A straight highway that begins at 0m, 0m and leads east.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HighwaySpec {
    /// From entry to end, 100m to 100km.
    pub length: Quantity<Length>,
    /// Lanes of each direction. Default: 2.
    #[serde(default = "default_lanes")]
    #[schemars(range(min = 1, max = 8))]
    pub lanes: u32,
    /// Vehicles that enter each lane, 1/h to 2400/h. Default: 1000/h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Quantity<Flow>>,
    /// About so many vehicles on the road at a time, instead of `flow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = STATIONS_MAX))]
    pub vehicles: Option<u32>,
    /// What drivers of cars wish to drive on average, 18km/h to 252km/h. Default: 33m/s.
    #[serde(default = "default_speed")]
    pub speed: Quantity<Speed>,
    /// True for traffic in both directions. Default: true.
    #[serde(default = "yes")]
    pub two_way: bool,
    /// Share of trucks. Default: 15%.
    #[serde(default = "default_trucks")]
    pub trucks: Quantity<Percent>,
    /// How long traffic flows before the run, so that the road is full. Default: 180s.
    #[serde(default = "default_warm_up")]
    pub warm_up: Quantity<Duration>,
    /// How long there is traffic, from the start of the run. Default: as long as the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Quantity<Duration>>,
}

fn default_lanes() -> u32 {
    2
}
fn default_speed() -> Quantity<Speed> {
    Quantity(Speed(33 * 3_600_000))
}
fn default_trucks() -> Quantity<Percent> {
    Quantity(Percent(1_500))
}
fn default_warm_up() -> Quantity<Duration> {
    Quantity(Duration::from_s(180))
}

/// A place on the Earth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OriginSpec {
    /// North of the equator, -89deg to 89deg.
    pub latitude: Quantity<Angle>,
    /// East of Greenwich, -179deg to 179deg.
    pub longitude: Quantity<Angle>,
}

impl Default for OriginSpec {
    fn default() -> Self {
        Self { latitude: Quantity(Angle(48_770_000_000)), longitude: Quantity(Angle(9_180_000_000)) }
    }
}

/// What the vehicles on the road are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VehiclesSpec {
    /// Their processor. Default: one on which everything is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// When they change their pseudonyms.
    #[serde(default)]
    pub pseudonyms: PseudonymsSpec,
    /// How well they know where they are and how they move.
    #[serde(default)]
    pub accuracy: AccuracySpec,
    /// True if their CAMs do not tell how long and wide they are. Default: false.
    #[serde(default)]
    pub hide_sizes: bool,
}

/// When a station changes its pseudonym.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PseudonymsSpec {
    /// The policy, such as `"segments"`. Default: `"none"`, it never changes.
    #[serde(default = "default_policy")]
    pub policy: String,
    /// How long it says nothing after a change. Default: what the policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<SilenceSpec>,
}

impl Default for PseudonymsSpec {
    fn default() -> Self {
        Self { policy: default_policy(), silence: None }
    }
}

fn default_policy() -> String {
    "none".into()
}

/// A random silence, all lengths alike likely. Zero is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SilenceSpec {
    /// At least.
    pub min: Quantity<Duration>,
    /// At most, up to 3600s.
    pub max: Quantity<Duration>,
}

/// Standard deviations of what vehicles say of themselves, drawn anew for each message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccuracySpec {
    /// Of the place, each axis, up to 1km. Default: 1.5m.
    #[serde(default = "default_position")]
    pub position: Quantity<Length>,
    /// Of the speed, up to 100m/s. Default: 0.28m/s.
    #[serde(default = "default_speed_error")]
    pub speed: Quantity<Speed>,
    /// Of the direction, up to 180deg. Default: 2deg.
    #[serde(default = "default_heading")]
    pub heading: Quantity<Angle>,
}

fn default_position() -> Quantity<Length> {
    Quantity(Length(1_500))
}
fn default_speed_error() -> Quantity<Speed> {
    Quantity(Speed(1_008_000))
}
fn default_heading() -> Quantity<Angle> {
    Quantity(Angle(2_000_000_000))
}

impl Default for AccuracySpec {
    fn default() -> Self {
        Self { position: default_position(), speed: default_speed_error(), heading: default_heading() }
    }
}

/// A zone in which stations say nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneSpec {
    /// Its middle, to the east.
    pub x: Quantity<Length>,
    /// Its middle, to the north.
    pub y: Quantity<Length>,
    /// How far it reaches.
    pub radius: Quantity<Length>,
}

/// A place on the road's plane.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceSpec {
    /// To the east.
    pub x: Quantity<Length>,
    /// To the north.
    pub y: Quantity<Length>,
}

/// What makes a node an ITS station on its radio segment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Whom it believes, and who certifies it.
    #[serde(default)]
    pub trust: TrustSpec,
    /// When it changes its pseudonym.
    #[serde(default)]
    pub pseudonyms: PseudonymsSpec,
    /// Where it is at the start, to the east. Default: in the middle of the road's traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Quantity<Length>>,
    /// Where it is at the start, to the north. Default: in the middle of the road's traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Quantity<Length>>,
    /// How fast it drives straight on, up to 100m/s. Default: it stands.
    #[serde(default = "stands")]
    pub speed: Quantity<Speed>,
    /// Where to, from north and clockwise. Default: 90deg, east.
    #[serde(default = "east")]
    pub heading: Quantity<Angle>,
}

fn stands() -> Quantity<Speed> {
    Quantity(Speed(0))
}
fn east() -> Quantity<Angle> {
    Quantity(Angle(90_000_000_000))
}

/// Whom a station believes, and who certifies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum TrustSpec {
    /// The authority of the segment's vehicles. Default.
    #[default]
    #[serde(rename = "default")]
    Default,
    /// Another one, which nobody else on the segment knows.
    #[serde(rename = "foreign")]
    Foreign,
}

/// What a stream has on a radio segment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioStreamSpec {
    /// What is sent: its length, and of a CAM its times, follow from where stations are and how they move.
    pub message: MessageSpec,
    /// When the sender of a DENM notices what it tells of, from the start of the run. Default: 1s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Quantity<Duration>>,
    /// What a DENM tells of, its CauseCodeType. Default: 94, a stationary vehicle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 255))]
    pub cause: Option<u8>,
    /// How far the sensors of a CPM's sender see, 1m to 400m. Default: 100m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Quantity<Length>>,
    /// Who sends VAMs. Default: a pedestrian.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<RoadUserSpec>,
}

/// A vulnerable road user.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum RoadUserSpec {
    /// On foot.
    #[serde(rename = "pedestrian")]
    Pedestrian,
    /// On a bicycle.
    #[serde(rename = "bicyclist")]
    Bicyclist,
    /// On a motorcycle.
    #[serde(rename = "motorcyclist")]
    Motorcyclist,
}

/// A kind of message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum MessageSpec {
    /// Who is where (EN 302 637-2).
    #[serde(rename = "cam")]
    Cam,
    /// Something happened (EN 302 637-3).
    #[serde(rename = "denm")]
    Denm,
    /// What sensors see of the road's vehicles (TS 103 324).
    #[serde(rename = "cpm")]
    Cpm,
    /// Which vulnerable road user is where (TS 103 300-3).
    #[serde(rename = "vam")]
    Vam,
}

/// What an attack has on a radio segment: where the attacker stands.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioThreatSpec {
    /// To the east. Default: in the middle of the road's traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Quantity<Length>>,
    /// To the north. Default: in the middle of the road's traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Quantity<Length>>,
}
