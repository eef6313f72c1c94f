//! Network calculus in exact numbers: how long data takes at most, and how much of it waits.
//!
//! This module knows no scenario and no simulator: it is given servers with service curves and flows with arrival
//! curves, and needs their numbers in one unit of time and one of data. [`ethernet`] makes curves of links, gates,
//! shapers and virtual links.
//!
//! - [`ArrivalCurve`] is concave and [`ServiceCurve`] convex, both piecewise linear over [`Rational`] numbers. Their sums,
//!   (min,+) convolution and deconvolution and their deviations ([`operations`]) are exact.
//! - [`Network`] checks that flows and servers fit together; a flow may branch.
//! - What flows bring to a server is a [`CrossTraffic`]: [`Delayed`] by the queues before it, with or without what links carry
//!   at most, or by what servers [`LeftOver`].
//! - The analyses of [`flow`] bound one flow on top of either: total flow (TFA), separate flow (SFA), pay multiplexing only
//!   once (PMOO). [`best()`] takes the least of all.
//!
//! [`saihu`] reads and writes networks for other tools, and reads what these say of them.
//!
//! What has no bound gets a reason ([`Unbounded`]), never a number.
//!
//! ```
//! use chronoseal_analysis::calculus::*;
//! // Two flows over a server: 9 units a second and a burst of 35 together; it carries 10 after a latency of 10.
//! let server = Server::new("s", ServiceCurve::rate_latency(whole(10), whole(10))?);
//! let flows = vec![
//!     Flow::along("a", ArrivalCurve::bucket(whole(4), whole(10))?, &[0]),
//!     Flow::along("b", ArrivalCurve::bucket(whole(5), whole(25))?, &[0]),
//! ];
//! let network = Network::new(vec![server], flows)?;
//! let mut traffic = Delayed::new(&network, Multiplexing::Fifo, Settings::default())?;
//! let bound = flow::total_flow(&mut traffic, 0, 0);
//! assert_eq!((bound.delay, bound.backlog), (Ok(ratio(27, 2)), Ok(whole(125))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrival;
mod best;
mod cross;
mod delayed;
pub mod ethernet;
pub mod flow;
mod left_over;
mod network;
pub mod operations;
mod pmoo;
mod rational;
pub mod saihu;
mod service;
mod unbounded;

pub use arrival::{ArrivalCurve, Bucket};
pub use best::{Analysis, Best, best};
pub use cross::CrossTraffic;
pub use delayed::{Delayed, Settings};
pub use flow::Bound;
pub use left_over::{LeftOver, Through};
pub use network::{Flow, Hop, Multiplexing, Network, Server};
pub use rational::{Grid, Rational, float, ratio, whole};
pub use service::{RateLatency, ServiceCurve};
pub use unbounded::{Combination, InvalidCurve, InvalidNetwork, Unbounded};
