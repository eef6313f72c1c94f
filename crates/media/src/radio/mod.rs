//! A radio channel of ITS-G5: IEEE 802.11 OFDM at 10 MHz outside the context of a BSS, broadcast only.
//!
//! A node gives its station an Ethernet frame. The station queues it by access category, waits for its turn by EDCA and
//! sends it once: broadcasts are neither acknowledged nor repeated, and no loss makes a window grow. Every station that
//! hears the frame finds its channel busy. It gets the frame when its last bit is over, if the signal was strong enough,
//! no other one overlapped it and the station did not send itself. A station out of reach hears nothing and may send
//! into the frame: the hidden terminal.
//!
//! What is left out: propagation delay (1 us over 300 m, below the slot), the extended gap after a frame that could not be
//! decoded (EIFS), congestion control (DCC), signals below the carrier sense threshold as interference, and shadowing.
//! A frame offered within [`timing::DETECTION`] of somebody's first bit already finds the channel busy.
//!
//! Time is integers. Powers are binary floating point, with the transcendental functions of `libm`, which give the same
//! bits on every platform.
//!
//! ```
//! use chronoseal_core::{Duration, NodeId, PortId, SimTime};
//! use chronoseal_media::medium::{Attachment, FrameStore, Medium};
//! use chronoseal_media::radio::{OfdmRate, Position, Propagation, RadioChannel, RadioConfig, StationConfig};
//!
//! // A message of 350 bytes at 6 Mbit/s keeps the channel for half a millisecond.
//! assert_eq!(OfdmRate::Mbps6.airtime(350), Duration::from_us(40 + 8 * 59));
//!
//! let station = |node, x_m| StationConfig {
//!     attachment: Attachment { node: NodeId(node), port: PortId(0) },
//!     position: Position::from_m(x_m, 0),
//! };
//! let stations = vec![station(0, 0), station(1, 250)];
//! let config = RadioConfig::new(stations, Propagation::Disc { range_mm: 300_000 });
//! let mut channel = RadioChannel::new(config)?;
//! let (mut frames, mut out) = (FrameStore::new(), Vec::new());
//! channel.start(SimTime::ZERO, &mut frames, &mut out);
//! assert!(out.is_empty());
//! # Ok::<(), chronoseal_media::radio::RadioError>(())
//! ```

mod access;
mod channel;
mod config;
mod fading;
mod kinds;
mod motion;
mod ofdm;
mod propagation;
pub mod saturation;
mod station;
mod statistics;
pub mod timing;

#[cfg(test)]
mod tests;

pub use access::{AccessCategory, AccessParameters};
pub use channel::RadioChannel;
pub use config::{RadioConfig, RadioError, STATIONS_MAX, StationConfig};
pub use kinds::Kinds;
pub use motion::{Motion, Step};
pub use ofdm::{OfdmRate, PSDU_LEN_MAX, PSDU_OVERHEAD_LEN, psdu_len};
pub use propagation::{LogDistance, Position, Propagation};
pub use statistics::StationStatistics;
