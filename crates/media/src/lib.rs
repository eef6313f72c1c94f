//! Links, switches and buses without I/O: frames go in with a time, deliveries, drops and timers come out.
//!
//! No clock, no socket, no randomness but a seeded generator handed in. The simulator drives a [`medium::Medium`] with
//! virtual time, the emulator drives the same one with the wall clock and carries real packets between real processes.
//!
//! The types that matter: the [`medium::Medium`] trait, the seam to a driver, [`topology::Topology`], the segments of a
//! network as one medium, [`schedule::ScheduleTable`], who may use the wires of a time-triggered cluster when,
//! [`ethernet::Network`], switches and the links between them, [`port::Port`], the egress of a port by IEEE 802.1Q,
//! [`recovery::SequenceRecovery`], which tells copies from new frames (802.1CB), [`can::CanBus`], a CAN bus, [`radio::RadioChannel`], a broadcast channel of ITS-G5,
//! [`link::LossyLink`], a link that delays, loses and reorders packets, and [`host::HostInterface`], what frames pass
//! between a network interface and an application.
//!
//! ```
//! use chronoseal_core::{Duration, Rate};
//! use chronoseal_media::line::LineSpeed;
//!
//! // A real wire: 8 bytes of preamble, 4 of checksum, and the gap of 12 behind each frame.
//! let speed = LineSpeed::new(Rate(100_000_000), 24, 12, Duration::ZERO);
//! assert_eq!(speed.reception(60).to_string(), "5.76us");
//! assert_eq!(speed.occupancy(60).to_string(), "6.72us");
//! ```

pub mod can;
pub mod ethernet;
pub mod host;
pub mod line;
pub mod link;
pub mod medium;
pub mod port;
pub mod psfp;
pub mod radio;
pub mod recovery;
pub mod schedule;
pub mod topology;
pub mod watch;
