//! What a scenario means: every name resolved, every default filled, every check passed.
//!
//! This crate reads no text, knows no key of a scenario and finds nothing wrong with one: `chronoseal-scenario` makes plans, and
//! has made sure of whatever a [`Plan`] holds. It runs nothing, and what frames take at most is for `chronoseal-analysis` to say.
//! So analysis, engines and reports of a plan need no parser.
//!
//! A [`Plan`] is one network of segments, whatever their kinds. What only one kind knows is a [`Facet`], a value whose type the
//! kind alone names. Code for one kind takes a view: [`Ethernet`], [`Can`], [`Radio`] or [`Link`].

mod can;
mod ethernet;
mod facet;
mod gateway;
mod group_key;
mod inputs;
mod link;
mod measured;
mod node;
mod plan;
mod protection;
mod radio;
mod segment;
mod stream;
mod threat;

pub use can::*;
pub use chronoseal_core::random::Jitter;
pub use chronoseal_media::link::Shaper;
pub use chronoseal_media::recovery::{LatentErrors, RecoveryAlgorithm, RecoveryConfig};
pub use chronoseal_nodes::end_system::Replication;
pub use chronoseal_nodes::udp_station::NUMBERS_TOLD_APART;
pub use ethernet::*;
pub use facet::Facet;
pub use gateway::*;
pub use group_key::*;
pub use inputs::*;
pub use link::*;
pub use measured::*;
pub use node::*;
pub use plan::*;
pub use protection::*;
pub use radio::*;
pub use segment::*;
pub use stream::*;
pub use threat::*;
