//! Characteristics of the OFDM PHY at 10 MHz (IEEE 802.11-2020, table 17-21).

use chronoseal_core::Duration;

/// aSlotTime.
pub const SLOT: Duration = Duration::from_us(13);
/// aSIFSTime.
pub const SIFS: Duration = Duration::from_us(32);
/// From the first bit of a frame to the moment others find the channel busy: the upper limit of aCCATime. A station whose
/// turn comes earlier sends as well.
pub const DETECTION: Duration = Duration::from_us(8);
/// Training sequences before each frame, aPreambleLength.
pub const PREAMBLE: Duration = Duration::from_us(32);
/// The SIGNAL field, aPLCPHeaderLength.
pub const SIGNAL: Duration = Duration::from_us(8);
/// One OFDM symbol with its guard interval.
pub const SYMBOL: Duration = Duration::from_us(8);
/// aCWmin.
pub const CW_MIN: u32 = 15;
/// aCWmax.
pub const CW_MAX: u32 = 1023;
