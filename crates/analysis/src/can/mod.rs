//! CAN: worst-case response times of a set of messages, as it is and secured.
//!
//! What is bounded is a bus without errors. [`response_times`] is arithmetic on wire times; [`Traffic`] makes these from
//! identifiers and lengths, and [`Traffic::secured`] adds what protection costs. [`bounds`] does it for a segment of a plan.
//!
//! ```
//! use chronoseal_analysis::can::{Bus, Message, response_times};
//! use chronoseal_core::Duration;
//! use chronoseal_wire::can::CanId;
//!
//! // Davis, Burns, Bril, Lukkien 2007, section 3: the third message misses 3.25 ms, in its second instance.
//! let message = |id, period_us, deadline_us| Message {
//!     id: CanId::standard(id).expect("11 bits"),
//!     wire_time: Duration::from_ms(1),
//!     period: Duration::from_us(period_us),
//!     jitter: Duration::ZERO,
//!     deadline: Duration::from_us(deadline_us),
//! };
//! let set = [message(1, 2_500, 2_500), message(2, 3_500, 3_250), message(3, 3_500, 3_250)];
//! let bus = Bus { bit_time: Duration::from_us(8), other_frame: Duration::ZERO };
//! let responses = response_times(&bus, &set)?;
//! let bound = responses[2].outcome.as_ref().expect("the bus is not overloaded");
//! assert_eq!(bound.worst(), Duration::from_us(3_500));
//! assert!(!responses[2].meets_deadline());
//! # Ok::<(), chronoseal_analysis::can::MessageError>(())
//! ```

pub mod bounds;
mod burst;
pub(crate) mod load;
mod response_time;
mod rivals;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod traffic;
mod transfer;

pub use bounds::{NoBound, Release, message_bounds};
pub use response_time::{Bound, Bus, Message, MessageError, Response, Unbounded, response_times};
pub use traffic::{Format, Traffic, TrafficError};
