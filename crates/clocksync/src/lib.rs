//! Clock synchronisation protocols as state machines: control frames and times go in, control frames and corrections come out.
//!
//! No clock, no socket, no randomness, and no wire: whoever drives a machine hands it every frame with the time at which it
//! arrived, by the device's own oscillator, and sends what the machine wants sent. The simulator, the medium of switches
//! and the tests drive the same machines.
//!
//! The modules: [`as6802`], the synchronisation masters, compression masters and clients of SAE AS6802, and [`gptp`], bridges and end
//! stations of IEEE 802.1AS.
//!
//! ```
//! use chronoseal_clocksync::as6802::{Cluster, Parameters, SynchronisationMaster};
//! use chronoseal_core::{Duration, LocalTime};
//!
//! let cluster = Cluster::new(4, Duration::from_ms(1), Duration::from_us(100), Duration::from_us(5));
//! let parameters = Parameters::of(&cluster)?;
//! // The time from power-on to the first attempt to start the cluster.
//! let master = SynchronisationMaster::new(&parameters, 0, 2, LocalTime::ZERO);
//! assert_eq!(master.wake_at(), Some(LocalTime::ZERO + parameters.sm_listen_timeout));
//! # Ok::<(), chronoseal_clocksync::as6802::ParameterError>(())
//! ```

pub mod as6802;
pub mod gptp;
