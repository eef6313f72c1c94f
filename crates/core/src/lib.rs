//! Time, units, identifiers and the seam between protocols and their drivers.
//!
//! This crate does no I/O, reads no clock, allocates nothing and knows no protocol. The two types
//! that matter are the [`Node`] trait, a protocol's side of the seam, and [`Event`], what a protocol says happened. A node is
//! built on a [`NodeBase`].
//!
//! Where the target has the standard library there are also queues that grow and `statistics`. Bare metal, and any build with
//! `--cfg without_std`, goes without.
//!
//! A driver owns time. It hands a node its inputs with a [`LocalTime`] and then drains [`Node::poll_output`] until it
//! gets [`Output::Timeout`]. The simulator and the test bed are two such drivers of the same nodes.
//!
//! ```
//! use chronoseal_core::{Duration, LocalTime};
//! let start = LocalTime::ZERO + Duration::from_us(125);
//! assert_eq!((start + Duration::from_us(125)).to_string(), "250us");
//! ```
#![cfg_attr(any(target_os = "none", without_std), no_std)]

pub mod base;
pub mod event;
pub mod ids;
pub mod message_part;
pub mod node;
pub mod oscillator;
pub mod queue;
pub mod random;
#[cfg(not(any(target_os = "none", without_std)))]
pub mod statistics;
pub mod time;
pub mod units;
pub mod work;

pub use base::{Effect, NodeBase, Queued, WriteFrame};
pub use event::{AbortReason, AttackKind, DiscardReason, Event, EventKind, StoppedBy, TransferFault};
pub use ids::{NodeId, PortId, Priority, StreamId};
pub use message_part::MessagePart;
pub use node::{Command, FramePart, HandleError, Input, Node, Output, Transmit, TxToken};
pub use oscillator::Oscillator;
pub use queue::{Queue, Ring};
pub use time::{Duration, LocalTime, SimTime};
pub use units::{Angle, Bytes, Flow, Gain, Length, Percent, Ppm, QuantityError, Rate, Speed};
pub use work::{Operation, Work};
