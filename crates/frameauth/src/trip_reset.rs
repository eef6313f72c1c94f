//! Counters of trips and resets, which a master keeps alike in a whole network.

use crate::ProfileError;
use crate::bits::head;

/// Widths of the counters that [`crate::Freshness::TripReset`] is made of, the first one in the highest bits.
///
/// Behind them come the two bits of the reset flag, which are the lowest of the reset counter, and zeros up to a whole
/// byte. AUTOSAR allows 24, 24 and 48 bits and leaves the choice to the vehicle (document 654, UC_SecOC_00202).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TripResetLayout {
    /// Width of the trip counter, 1..=24 `[bit]`.
    pub trip_bits: u8,
    /// Width of the reset counter, 2..=24 `[bit]`.
    pub reset_bits: u8,
    /// Width of the message counter, 1..=48 `[bit]`.
    pub message_bits: u8,
}

/// Width of the reset flag `[bit]`.
pub(crate) const RESET_FLAG_BITS: u8 = 2;

/// How often the network started, and how often the master has since told everybody to count messages anew.
///
/// Ordered as time is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TripReset {
    /// Counted up by the master at every start.
    pub trip: u32,
    /// Counted up by the master every reset cycle; starts at 1 with every trip.
    pub reset: u32,
}

impl TripReset {
    /// One number for both counters, which no other state of them has.
    pub const fn number(self) -> u64 {
        (self.trip as u64) << 32 | self.reset as u64
    }
}

impl TripResetLayout {
    /// The counters at the front of a synchronisation message, unchecked; bits that it does not have count as zero.
    pub fn counters_in(self, message: &[u8]) -> TripReset {
        // Two counters of 24 bits at most.
        let mut front = [0; 8];
        for (byte, written) in front.iter_mut().zip(message) {
            *byte = *written;
        }
        let counters = head(&front, self.epoch_bits());
        TripReset { trip: (counters >> self.reset_bits) as u32, reset: (counters & mask(self.reset_bits)) as u32 }
    }

    /// Length of the complete value, zeros at its end included `[byte]`.
    pub const fn complete_len(self) -> usize {
        self.total_bits().div_ceil(8) as usize
    }

    /// The complete value, right-aligned, the zeros at its end left out.
    ///
    /// Counters are cut to their widths.
    pub const fn value(self, epoch: TripReset, message: u64) -> u64 {
        let trip = (epoch.trip as u64 & mask(self.trip_bits)) << self.reset_bits;
        let trip_reset = (trip | epoch.reset as u64 & mask(self.reset_bits)) << self.message_bits;
        (trip_reset | message & mask(self.message_bits)) << RESET_FLAG_BITS | epoch.reset_flag()
    }

    /// Whether both counters are within their widths.
    pub const fn holds(self, epoch: TripReset) -> bool {
        epoch.trip as u64 <= mask(self.trip_bits) && epoch.reset as u64 <= mask(self.reset_bits)
    }

    /// Width of trip and reset counter together `[bit]`.
    pub(crate) const fn epoch_bits(self) -> u32 {
        self.trip_bits as u32 + self.reset_bits as u32
    }

    /// Zeros at the end of the complete value `[bit]`.
    pub const fn padding_bits(self) -> u32 {
        8 * self.complete_len() as u32 - self.total_bits()
    }

    const fn total_bits(self) -> u32 {
        (self.trip_bits + self.reset_bits + self.message_bits + RESET_FLAG_BITS) as u32
    }

    /// Checks the widths, each and together.
    ///
    /// # Errors
    /// [`ProfileError::CounterBits`].
    pub const fn check(self) -> Result<(), ProfileError> {
        let Self { trip_bits, reset_bits, message_bits } = self;
        if matches!((trip_bits, reset_bits, message_bits), (1..=24, RESET_FLAG_BITS..=24, 1..=48))
            && self.total_bits() <= 64
        {
            return Ok(());
        }
        Err(ProfileError::CounterBits { trip_bits, reset_bits, message_bits })
    }
}

impl TripReset {
    /// The lowest two bits of the reset counter, which are sent with every PDU.
    pub const fn reset_flag(self) -> u64 {
        self.reset as u64 & mask(RESET_FLAG_BITS)
    }
}

/// The lowest `bits` bits set; `bits` is 0..=63.
pub(crate) const fn mask(bits: u8) -> u64 {
    (1 << bits) - 1
}
