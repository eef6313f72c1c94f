//! Trip and reset counters, kept alike in a network: one master counts and tells, authenticated, all others follow.

use chronoseal_core::{DiscardReason, Work};
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128, Key128};
use subtle::ConstantTimeEq;

use super::{SecOcProfileError, TAG_BITS_MAX, TAG_BITS_MIN, TripReset, TripResetLayout};
use crate::{Counters, SealError, profile::DATA_ID_LEN};

/// Layout, tag, key and data identifier of the synchronisation message: the same at the master and its slaves.
///
/// | part | length [bit] | content |
/// |---|---|---|
/// | trip counter | [`TripResetLayout::trip_bits`] | |
/// | reset counter | [`TripResetLayout::reset_bits`] | |
/// | tag | as chosen | the highest bits of the CMAC over data identifier, trip and reset counter |
///
/// Each of the last two ends a whole byte with zeros, where it is needed: the counters in the input of the tag, the tag
/// on the wire.
#[derive(Clone, Debug)]
pub struct SyncProtection {
    layout: TripResetLayout,
    tag_bits: u8,
    cmac: CmacAes128,
    data_id: [u8; DATA_ID_LEN],
}

impl SyncProtection {
    /// For the synchronisation message with identifier `data_id`.
    ///
    /// # Errors
    /// [`SecOcProfileError`] if the layout or a tag of `tag_bits` bits is impossible.
    pub fn new(layout: TripResetLayout, tag_bits: u8, key: &Key128, data_id: u16) -> Result<Self, SecOcProfileError> {
        layout.check()?;
        if !(TAG_BITS_MIN..=TAG_BITS_MAX).contains(&tag_bits) {
            return Err(SecOcProfileError::TagBits { found: tag_bits });
        }
        Ok(Self { layout, tag_bits, cmac: CmacAes128::new(key), data_id: data_id.to_be_bytes() })
    }

    /// Length of the message [byte].
    pub const fn message_len(&self) -> usize {
        (self.counter_bits() + self.tag_bits as u32).div_ceil(8) as usize
    }

    /// What making or checking one message costs.
    pub const fn work(&self) -> Work {
        Work::of(CmacAes128::OPERATION, DATA_ID_LEN as u32 + self.counter_bits().div_ceil(8))
    }

    const fn counter_bits(&self) -> u32 {
        self.layout.trip_bits as u32 + self.layout.reset_bits as u32
    }

    fn counters(&self, epoch: TripReset) -> u64 {
        u64::from(epoch.trip) << self.layout.reset_bits | u64::from(epoch.reset)
    }

    /// The highest bits of the tag, right-aligned.
    fn tag(&self, epoch: TripReset) -> u64 {
        let len = self.counter_bits().div_ceil(8);
        let counters = (self.counters(epoch) << (8 * len - self.counter_bits())).to_be_bytes();
        let tag = self.cmac.tag(&[&self.data_id, &counters[counters.len() - len as usize..]]);
        // At most 64 bits are left.
        (u128::from_be_bytes(tag) >> (128 - u32::from(self.tag_bits))) as u64
    }

    /// Zeros behind the tag, up to a whole byte [bit].
    fn padding_bits(&self) -> u32 {
        8 * self.message_len() as u32 - self.counter_bits() - u32::from(self.tag_bits)
    }

    fn write(&self, epoch: TripReset, out: &mut [u8]) -> Result<usize, SealError> {
        let needed = self.message_len();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(SealError::BufferTooSmall { needed, found })?;
        let bits = u128::from(self.counters(epoch)) << self.tag_bits | u128::from(self.tag(epoch));
        let bytes = (bits << self.padding_bits()).to_be_bytes();
        out.copy_from_slice(&bytes[bytes.len() - needed..]);
        Ok(needed)
    }

    fn read(&self, message: &[u8]) -> Result<TripReset, DiscardReason> {
        let message = message.get(..self.message_len()).ok_or(DiscardReason::TooShort)?;
        let bits = message.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte)) >> self.padding_bits();
        let tag = (bits & ((1 << self.tag_bits) - 1)) as u64;
        let counters = (bits >> self.tag_bits) as u64;
        let epoch = TripReset {
            trip: (counters >> self.layout.reset_bits) as u32,
            reset: (counters & super::freshness::mask(self.layout.reset_bits)) as u32,
        };
        if self.tag(epoch).ct_eq(&tag).into() { Ok(epoch) } else { Err(DiscardReason::TagMismatch) }
    }
}

/// Counts trips and resets for the whole network.
#[derive(Clone, Debug)]
pub struct SyncMaster {
    protection: SyncProtection,
    current: TripReset,
}

impl SyncMaster {
    /// Begins the trip after `last_trip`, which the master stored in the trip before; 0 if there was none.
    ///
    /// # Errors
    /// [`SealError::FreshnessExhausted`] if the trip counter is at its end: it is time for a new key.
    pub fn start(protection: SyncProtection, last_trip: u32) -> Result<Self, SealError> {
        let trip = last_trip.checked_add(1).ok_or(SealError::FreshnessExhausted)?;
        let current = TripReset { trip, reset: 1 };
        if !protection.layout.holds(current) {
            return Err(SealError::FreshnessExhausted);
        }
        Ok(Self { protection, current })
    }

    /// Trip and reset counters now. The trip has to be stored before the first message is sent.
    pub const fn current(&self) -> TripReset {
        self.current
    }

    /// Begins the next reset cycle: all message counters start anew.
    ///
    /// # Errors
    /// [`SealError::FreshnessExhausted`] if the reset counter is at its end; nothing changes until the next trip.
    pub fn advance(&mut self) -> Result<TripReset, SealError> {
        let next = TripReset { reset: self.current.reset + 1, ..self.current };
        if !self.protection.layout.holds(next) {
            return Err(SealError::FreshnessExhausted);
        }
        self.current = next;
        Ok(next)
    }

    /// Writes the synchronisation message; returns its length [byte]. It may be sent again within its reset cycle, for
    /// nodes that came late or missed it.
    ///
    /// # Errors
    /// [`SealError::BufferTooSmall`] if it does not fit.
    pub fn write_message(&self, out: &mut [u8]) -> Result<usize, SealError> {
        self.protection.write(self.current, out)
    }

    /// Layout, tag and data identifier.
    pub const fn protection(&self) -> &SyncProtection {
        &self.protection
    }
}

/// Follows a master's counters.
///
/// A slave that knows nothing takes the first authentic message, and so a recorded one. Store [`Self::current`] and give
/// it to [`Self::resume_after`]: then only a later message is taken, and until it comes the node is not synchronised.
#[derive(Clone, Debug)]
pub struct SyncSlave {
    protection: SyncProtection,
    current: Option<TripReset>,
    /// What is not later than this was used in an earlier run.
    closed: Option<TripReset>,
    counters: Counters,
}

impl SyncSlave {
    /// A slave that has heard nothing yet.
    pub fn new(protection: SyncProtection) -> Self {
        Self { protection, current: None, closed: None, counters: Counters::default() }
    }

    /// Takes only counters later than `stored`.
    pub fn resume_after(&mut self, stored: TripReset) {
        self.closed = Some(stored);
    }

    /// Trip and reset counters as last heard; `None` until the first message was taken.
    pub const fn current(&self) -> Option<TripReset> {
        self.current
    }

    /// Layout, tag and data identifier.
    pub const fn protection(&self) -> &SyncProtection {
        &self.protection
    }

    /// Messages taken and thrown away so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Takes a synchronisation message, or says why it is thrown away. Any bytes may be given; what lies behind the
    /// message, such as a frame's padding, is not looked at. Every call is counted.
    ///
    /// # Errors
    /// [`DiscardReason::TooShort`]; [`DiscardReason::TagMismatch`]; [`DiscardReason::Replayed`] if the counters are those
    /// known, which the master's repetitions are too; [`DiscardReason::FreshnessTooOld`] if they are earlier.
    pub fn handle_message(&mut self, message: &[u8]) -> Result<TripReset, DiscardReason> {
        let outcome = self.protection.read(message).and_then(|epoch| match self.current.max(self.closed) {
            Some(known) if epoch == known => Err(DiscardReason::Replayed),
            Some(known) if epoch < known => Err(DiscardReason::FreshnessTooOld),
            _ => Ok(epoch),
        });
        self.counters.count(&outcome);
        self.current = outcome.ok().or(self.current);
        outcome
    }
}
