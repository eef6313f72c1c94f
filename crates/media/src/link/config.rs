//! What a lossy link is built from.

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_wire::ethernet::FRAME_LEN_MIN;

use super::law::DelayLaw;
use crate::medium::Attachment;

/// Most packets that may wait at an interface.
pub const QUEUE_MAX: u32 = 1_000_000;

/// A link and who is on it.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Its ends. What one of them sends is for the others that the packet names.
    pub ends: Vec<Attachment>,
    /// The receivers of each stream, by its number: who has the address
    /// [`stream_ip`](chronoseal_wire::virtual_link::stream_ip).
    pub groups: Vec<Vec<NodeId>>,
    /// The node that throws packets away: the link itself.
    pub node: NodeId,
    /// The end through which all packets go; what it sends is for the others. A man in the middle.
    pub through: Option<Attachment>,
    /// What it does to packets.
    pub laws: LinkLaws,
    /// Of all draws.
    pub seed: u64,
    /// Another one for each link of a network.
    pub number: u16,
}

/// What a link does to packets, in each direction alike.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkLaws {
    /// What each interface sends with; `None`: a packet takes no time there.
    pub rate: Option<Rate>,
    /// Packets that may wait at an interface, the one that is being sent included.
    pub queue: u32,
    /// Whom what waits at the rate holds up.
    pub shaper: Shaper,
    /// What a packet takes on the way.
    pub delay: DelayLaw,
    /// Which packets never come.
    pub loss: Loss,
    /// The probability that a packet comes twice.
    pub duplicate: f64,
    /// The probability that one bit of a packet comes altered.
    pub corrupt: f64,
    /// Whether packets may overtake each other.
    pub order: Order,
}

/// Where the rate of an interface is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shaper {
    /// Behind the sender's device, as in a switch or a modem: the sender sends on, and what the queue has no room for is thrown away.
    #[default]
    Behind,
    /// On the sender's own device: its kernel holds it back, so that what is too much is late. As many packets wait as a link can have
    /// ([`QUEUE_MAX`]).
    Sender,
}

impl Shaper {
    /// As scenarios and options write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Behind => "behind",
            Self::Sender => "sender",
        }
    }

    /// What it does, for a reader of a report.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Behind => "behind the sender's device: what the queue has no room for is lost",
            Self::Sender => "on the sender's own device: it is held back, and what is too much is late",
        }
    }
}

/// Preamble, checksum and the gap behind a frame `[byte]`: what a packet takes on the wire beside its frame (IEEE 802.3).
const WIRE_OVERHEAD: u64 = 24;

impl LinkLaws {
    /// What a frame takes at the rate of an interface, with all that a wire adds to it.
    pub fn sending_time(&self, frame_len: u64) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| {
            let bits = u128::from((frame_len.max(FRAME_LEN_MIN as u64) + WIRE_OVERHEAD) * 8);
            // Rounded up: no frame is faster than the rate.
            Duration::from_ps((bits * 1_000_000_000_000).div_ceil(u128::from(rate.0.max(1))) as i64)
        })
    }

    /// The part of messages of so many packets of which all come, unaltered, in the long run.
    pub fn whole(&self, packets: usize) -> f64 {
        self.loss.passes(packets) * libm::pow(1.0 - self.corrupt, packets as f64)
    }

    /// True if packets can get lost on the way, or come altered, which is as bad.
    pub fn loses(&self) -> bool {
        self.loss.share() > 0.0 || self.corrupt > 0.0
    }
}

/// Which packets a link loses on the way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// Each with the same probability.
    Independent(f64),
    /// In bursts: a channel is good or bad, and changes from packet to packet (Gilbert 1960, Elliott 1963). Each stream of a sender has
    /// a channel of its own, so that its losses do not depend on what others send.
    GilbertElliott {
        /// The probability that a good channel is bad at the next packet.
        to_bad: f64,
        /// The probability that a bad channel is good at the next packet.
        to_good: f64,
        /// The probability that a good channel loses a packet.
        good: f64,
        /// The probability that a bad channel loses a packet.
        bad: f64,
    },
}

impl Loss {
    /// The part of all packets that is lost in the long run.
    pub fn share(&self) -> f64 {
        match *self {
            Self::Independent(share) => share,
            Self::GilbertElliott { to_bad, to_good, good, bad } => {
                let in_bad = in_bad(to_bad, to_good);
                good * (1.0 - in_bad) + bad * in_bad
            }
        }
    }

    /// The part of so many packets in a row of which none is lost, in the long run.
    pub fn passes(&self, packets: usize) -> f64 {
        match *self {
            Self::Independent(share) => libm::pow(1.0 - share, packets as f64),
            Self::GilbertElliott { to_bad, to_good, good, bad } => {
                let mut in_bad = in_bad(to_bad, to_good);
                let mut in_good = 1.0 - in_bad;
                for _ in 0..packets {
                    let (passed_good, passed_bad) = (in_good * (1.0 - good), in_bad * (1.0 - bad));
                    in_good = passed_good * (1.0 - to_bad) + passed_bad * to_good;
                    in_bad = passed_good * to_bad + passed_bad * (1.0 - to_good);
                }
                in_good + in_bad
            }
        }
    }
}

/// How much of the time a channel is bad in the long run. One that never changes stays good.
fn in_bad(to_bad: f64, to_good: f64) -> f64 {
    if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 }
}

/// Whether packets of one sender may overtake each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Each comes when its delay is over, whatever was sent before it.
    #[default]
    AsDelayed,
    /// None comes before one that was sent before it: it waits for that.
    Strict,
}
