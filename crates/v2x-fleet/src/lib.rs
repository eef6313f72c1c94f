//! A fleet of vehicles that tell each other where they are, an eavesdropper, and what pseudonyms are worth against it.
//!
//! No clock, no file, no socket: traces come in as text, time is virtual, chance comes from the seed. Signatures are
//! the business of a [`security::Security`]: [`tickets::Tickets`] makes and checks real ones. It is a model of traffic good enough to hide in, not one to plan roads with.
//!
//! The types that matter: [`road::Trips`], who drives where, [`simulation::FleetConfig`] with [`simulation::run`],
//! [`policy::Policy`], when pseudonyms change, and [`eavesdropper::Tracker`] with its [`eavesdropper::Score`].
//!
//! ```
//! use chronoseal_core::Duration;
//! use chronoseal_v2x::vss::Preset;
//! use chronoseal_v2x_fleet::eavesdropper::Tracker;
//! use chronoseal_v2x_fleet::road::highway::Highway;
//! use chronoseal_v2x_fleet::simulation::{FleetConfig, run};
//!
//! let second = Duration::from_s(1);
//! let road = Highway { length_m: 500.0, duration: second * 5, warm_up: second * 20, ..Highway::default() };
//! let fleet = run(&FleetConfig::new(road.drive()?, Preset::None.into()), None, &mut ())?;
//!
//! let score = fleet.score(&Tracker::default());
//! assert_eq!(score.trips_linked, score.trips, "who never changes is never lost");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
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
pub mod tickets;
