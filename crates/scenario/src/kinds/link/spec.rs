//! What a scenario says of a lossy link.

use chronoseal_core::{Bytes, Duration, Percent, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Frames, Quantity};

/// A link that delays, loses, doubles, alters and reorders packets, between stations that exchange messages by UDP. Keys that are written
/// take the place of what the profile says.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSegmentSpec {
    /// What holds where the other keys say nothing. Default: `localhost`.
    #[serde(default)]
    pub profile: ProfileSpec,
    /// What each station sends with, 1kbit/s to 100Gbit/s. Default: that of the profile; on `localhost` a packet takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity<Rate>>,
    /// Packets that may wait at a station, 1 to 1,000,000, the one that is being sent included. Default: 1000 frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Quantity<Frames>>,
    /// Where the rate is kept, which decides whether what is too much is lost or late.
    #[serde(default)]
    pub shaper: ShaperSpec,
    /// What a packet takes on the way beside its time at the rate. Default: that of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelaySpec>,
    /// Which packets never come. Default: that of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// The share of packets that come twice. Default: 0%.
    #[serde(default = "nothing")]
    pub duplicate: Quantity<Percent>,
    /// The share of packets of which one bit comes altered. Default: 0%.
    #[serde(default = "nothing")]
    pub corrupt: Quantity<Percent>,
    /// Whether packets of one station may overtake each other.
    #[serde(default)]
    pub order: OrderSpec,
    /// The longest packet, headers of IPv4 and UDP included, 68B to 1500B. Default: 1500B.
    #[serde(default = "default_mtu")]
    pub mtu: Quantity<Bytes>,
    /// The node through which all packets of the others go: its `program` gets each frame at its interface and passes it on, or does not. Live
    /// runs only, and all streams are carried by programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// A file of what configurations of robot middleware took, as `chronoseal middleware profile` writes it. With it a simulation charges streams
    /// that go `over` one of them for it; without, such streams are live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<String>,
}

fn nothing() -> Quantity<Percent> {
    Quantity(Percent(0))
}

fn default_mtu() -> Quantity<Bytes> {
    Quantity(Bytes(1500))
}

/// A network that others have emulated: delays and losses of a published study of robot middleware.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum ProfileSpec {
    /// No delay, no loss and no rate.
    #[default]
    #[serde(rename = "localhost")]
    Localhost,
    /// 1Gbit/s, a normal delay of 300us and 360us clamped at zero, no loss.
    #[serde(rename = "gigabit-ethernet")]
    GigabitEthernet,
    /// 54Mbit/s, a normal delay of 13ms and 22ms clamped at zero, a loss of 1%.
    #[serde(rename = "wifi")]
    Wifi,
}

/// Where the rate of a station is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShaperSpec {
    /// Behind its device, as in a switch or a modem: what the queue has no room for is lost.
    #[default]
    Behind,
    /// On its own device: its kernel holds it back, so that its messages are late and none of them is lost there. Needs a rate; there is no
    /// `queue`.
    Sender,
}

/// A law of delay.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DelaySpec {
    /// Always the same.
    Constant(Quantity<Duration>),
    /// Every time between two as likely as the others.
    Uniform {
        /// At least.
        min: Quantity<Duration>,
        /// At most.
        max: Quantity<Duration>,
    },
    /// A normal law, clamped at zero.
    Normal {
        /// Before it is clamped.
        mean: Quantity<Duration>,
        /// Standard deviation before it is clamped.
        deviation: Quantity<Duration>,
    },
    /// Delays of a file, each as likely as the others: a duration with its unit on each line.
    Recorded(String),
}

/// A law of loss.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossSpec {
    /// Each packet with this probability, whatever became of the others.
    Independent(Quantity<Percent>),
    /// In bursts: a good channel and a bad one (Gilbert and Elliott).
    GilbertElliott {
        /// The probability that a good channel is bad at the next packet.
        to_bad: Quantity<Percent>,
        /// The probability that a bad channel is good at the next packet.
        to_good: Quantity<Percent>,
        /// What a good channel loses. Default: 0%.
        #[serde(default = "nothing")]
        good: Quantity<Percent>,
        /// What a bad channel loses. Default: 100%.
        #[serde(default = "everything")]
        bad: Quantity<Percent>,
    },
}

fn everything() -> Quantity<Percent> {
    Quantity(Percent(10_000))
}

/// Whether packets of one station may overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum OrderSpec {
    /// Each comes when its delay is over.
    #[default]
    #[serde(rename = "as-delayed")]
    AsDelayed,
    /// None comes before one that was sent before it.
    #[serde(rename = "strict")]
    Strict,
}

/// What carries the messages of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportSpec {
    /// A datagram each, or several where they are longer than one, to a group of the stream's own.
    #[default]
    Udp,
    /// A connection to each receiver. Live runs only.
    Tcp,
    /// TLS 1.3 over a connection to each receiver; stations show certificates of an authority that is made for the run. Live runs only, by
    /// `chronoseal-testbed`.
    Tls,
    /// A QUIC connection to each receiver, with such certificates; each message is a stream of its own on it, so that none waits for another.
    /// Live runs only, by `chronoseal-testbed`.
    Quic,
    /// What the programs of its nodes carry them in; they write down what they sent and got. Live runs only.
    Program,
}

/// What a stream has on a lossy link. Its table may be empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkStreamSpec {
    /// What carries its messages, of up to 10MB each: `udp` or, live only, `tcp`, `tls`, `quic` or the nodes' own `program`s.
    #[serde(default)]
    pub transport: TransportSpec,
    /// The robot middleware that carries its messages, by the name of its configuration in `chronoseal middleware list`, such as
    /// `fast-dds-reliable`; in place of `transport`. A live run starts its programs at the two nodes of the stream, with keys made for the run; a
    /// simulation charges what it took where the segment has a file of that (`measured`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The node that runs the broker of that middleware, if it needs one, as ROS 1, Ice, MQTT and NATS do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// A message in several packets of which not all have come after this is given up, 1us to 120s. Default: 15s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassembly_timeout: Option<Quantity<Duration>>,
}

/// What an attack has on a lossy link: none is possible yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkThreatSpec {}
