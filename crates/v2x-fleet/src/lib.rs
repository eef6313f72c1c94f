//! ITS stations on the road, an eavesdropper, and what pseudonyms are worth against it.
//!
//! No clock, no file, no socket, and no engine: traces come in as text, time is an argument, chance comes from the seed. It
//! is a model of traffic good enough to hide in, not one to plan roads with.
//!
//! The types that matter: [`station::ItsStation`], a node that sends and checks signed CAMs, DENMs, CPMs and VAMs; [`road::Trips`],
//! who drives where; [`simulation::Fleet`] with its [`simulation::FleetConfig`], which makes what an engine drives;
//! [`policy::Policy`], when pseudonyms change; [`eavesdropper::Tracker`] with its [`eavesdropper::Score`].
//!
//! ```
//! use chronoseal_core::Duration;
//! use chronoseal_v2x::vss::Preset;
//! use chronoseal_v2x_fleet::road::highway::Highway;
//! use chronoseal_v2x_fleet::simulation::{Fleet, FleetConfig, Messages};
//!
//! let second = Duration::from_s(1);
//! let road = Highway { length_m: 500.0, duration: second * 5, warm_up: second * 20, ..Highway::default() };
//! let fleet = Fleet::new(FleetConfig::new(road.drive()?, Preset::None.into()))?;
//!
//! let (one, other) = (fleet.vehicle(0, &Messages::default())?, fleet.vehicle(1, &Messages::default())?);
//! assert_ne!(one.identity(), other.identity(), "each has a pseudonym of its own");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
pub mod attacker;
mod chance;
mod composer;
pub mod eavesdropper;
mod envelope;
pub mod evaluation;
pub mod generation;
pub mod office;
pub mod policy;
pub mod road;
pub mod security;
pub mod simulation;
pub mod station;
