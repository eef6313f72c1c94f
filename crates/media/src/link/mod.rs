//! A lossy link: packets wait for their sender's turn, take their time by the rate, and come late, doubled, altered, out of order or
//! not at all, by laws that are drawn from a seed.
//!
//! Each sender has an interface with a bounded queue and a rate. A sender that its own device holds back ([`Shaper::Sender`]) is a queue
//! that is never full: its messages are late there, and none is thrown away. What has left it is lost or delayed on the way, apart from all that
//! wait. It is what `tc qdisc … netem` is used for, with two differences: a packet that is lost on the way has taken its time at the
//! rate, and a rate does not put delayed packets into order, unless the link is asked for it ([`Order::Strict`]).
//!
//! A draw depends on the seed, on who sends, and on what the packet is ([`Name`]): stream, number of the message and place of the
//! fragment. So the same message has the same fate whatever else is on the link, in a simulation and in a live run alike. Only what a
//! full queue throws away depends on times. Packets that say nothing of themselves, those of foreign programs, are counted as they come.
//!
//! ```
//! use chronoseal_core::Duration;
//! use chronoseal_media::link::DelayLaw;
//!
//! // The Wi-Fi of a published study, N(13 ms, 22 ms): below zero there is no time, so it is another mean in truth.
//! let law = DelayLaw::Normal { mean: Duration::from_ms(13), deviation: Duration::from_ms(22) };
//! let (mean, deviation) = law.moments_ns();
//! assert_eq!(((mean / 1e4).round(), (deviation / 1e4).round()), (1677.0, 1693.0));
//! ```

mod config;
mod draws;
mod law;
mod medium;
mod name;
#[cfg(test)]
mod tests;

pub use config::{LinkConfig, LinkLaws, Loss, Order, QUEUE_MAX, Shaper};
pub use draws::Fate;
pub use law::{DelayLaw, LastPacket};
pub use medium::LossyLink;
pub use name::{Name, Namer};
