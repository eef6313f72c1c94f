//! CAN and CAN FD frames: ISO 11898-1:2015.
//!
//! | module | what it tells |
//! |---|---|
//! | [`id`], [`frame`] | a frame as a value |
//! | [`layout`] | a frame as bytes, as Linux and captures have it |
//! | [`bits`], [`timing`] | how many bits it takes, exactly, and how long they last |
//! | [`plain`], [`receiver`] | each bit by itself, there and back |
//! | [`group_id`] | identifiers of a group key exchange |
//! | [`iso_tp`] | messages longer than a frame |
//!
//! A frame between node and medium is the bytes of [`layout`].
//!
//! ```
//! use chronoseal_core::{Duration, Rate};
//! use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId, FrameBits};
//!
//! let timing = BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000)))?;
//! let frame = CanFrame::fd(CanId::extended(0x0301_0281)?, &[0x5a; 64], true)?;
//! assert_eq!(FrameBits::of(&frame), FrameBits { nominal: 48, data: 550, stuff: 3 });
//! assert_eq!(timing.frame(&frame), Duration::from_us(371));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bits;
pub mod crc;
pub mod filter;
pub mod frame;
pub mod group_id;
pub mod id;
pub mod iso_tp;
pub mod layout;
pub mod plain;
pub mod receiver;
pub mod timing;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bits::FrameBits;
pub use filter::IdFilter;
pub use frame::{CanFrame, Dlc, FrameKind, LengthError};
pub use id::{CanId, ExtendedId, IdError, StandardId};
pub use layout::{CanFrameView, FrameError};
pub use receiver::{BusError, Progress, Receiver};
pub use timing::{BitTiming, BitTimingConfig, BitTimingError};
