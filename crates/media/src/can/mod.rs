//! CAN buses: arbitration, frames exact to the bit, errors and what they do to nodes.
//!
//! A node gives its controller a frame in the layout of [`chronoseal_wire::can::layout`]. The controller queues it and
//! offers its next one whenever the bus is idle. All controllers that want to send before the sample point of a SOF
//! compete, the lowest identifier wins, and its frame is never interrupted. It is delivered to every other controller
//! when its last bit is over. The node's own `priority` plays no part: the identifier is the priority.
//!
//! An undisturbed frame takes one computation ([`chronoseal_wire::can::FrameBits`]). Where nodes could begin to disagree
//! (a disturbed bit, nobody to acknowledge, the same identifier twice) the bus runs bit by bit. Both agree on undisturbed
//! frames, which a test holds.
//!
//! What is left out: propagation along the wire (all nodes see a bit at once; the timing's check guarantees that they
//! can), tolerance of oscillators, and protocol exceptions for CAN XL. A bus-off node comes back by itself or never.
//!
//! ```
//! use chronoseal_core::{NodeId, PortId, Rate, SimTime};
//! use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
//! use chronoseal_media::medium::{Attachment, FrameStore, Medium, MediumOutput};
//! use chronoseal_wire::can::{BitTiming, BitTimingConfig};
//!
//! let port = |node| Attachment { node: NodeId(node), port: PortId(0) };
//! let config = CanBusConfig {
//!     timing: BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000)))?,
//!     carries_fd: true,
//!     controllers: [0, 1, 2].map(|node| ControllerConfig::new(port(node))).to_vec(),
//!     bits_between_errors: None,
//!     faults: Vec::new(),
//!     babblers: Vec::new(),
//!     load_window: None,
//! };
//! let mut bus = CanBus::new(config, 1)?;
//! let (mut frames, mut out) = (FrameStore::new(), Vec::new());
//! bus.start(SimTime::ZERO, &mut frames, &mut out);
//! assert!(out.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attempt;
mod bus;
mod config;
mod contention;
mod controller;
mod counters;
mod mailbox;
mod medium;
mod statistics;

#[cfg(test)]
mod tests;

pub use config::{Babbler, CanBusConfig, CanBusError, ControllerConfig, Fault, QueueOrder};
pub use counters::{BUS_OFF_LIMIT, ERROR_PASSIVE_LIMIT, ErrorCounters, ErrorState, RECOVERY_RUN_BITS, RECOVERY_RUNS};
pub use medium::CanBus;
pub use statistics::BusStatistics;
