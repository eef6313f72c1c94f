//! Trip and reset counters, kept alike in a network: one master counts and tells, authenticated, all others follow.

use chronoseal_core::{DiscardReason, Work};
use chronoseal_crypto::{KeyLenError, MacAlgorithm, MacKey, OUTPUT_LEN_MAX, Secret};
use subtle::ConstantTimeEq;

use crate::{
    Counters, DataId, ProfileError, SealError, TripReset, TripResetLayout,
    authenticator::absorb,
    bits::{cut, pack, padding_bits},
    secoc::TAG_BITS_MAX,
};

/// The longest message: counters of 24 bits each and a whole tag `[byte]`.
const MESSAGE_LEN_MAX: usize = 6 + OUTPUT_LEN_MAX;

/// Layout, tag, key and identity of the synchronisation message: the same at the master and its slaves.
///
/// | part | length `[bit]` | content |
/// |---|---|---|
/// | trip counter | [`TripResetLayout::trip_bits`] | |
/// | reset counter | [`TripResetLayout::reset_bits`] | |
/// | tag | as chosen | the highest bits of the MAC over identity, trip and reset counter |
///
/// Each of the last two ends a whole byte with zeros, where it is needed: the counters in the input of the tag, the tag
/// on the wire.
#[derive(Clone, Debug)]
pub struct SyncProtection {
    layout: TripResetLayout,
    tag_bits: u16,
    mac: MacKey,
    data_id: DataId,
}

/// Why a synchronisation message cannot be protected so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncProtectionError {
    /// The counters are impossible.
    #[error(transparent)]
    Counters(#[from] ProfileError),
    /// The tag is shorter or longer than that of a synchronisation message may be.
    #[error("a tag of {found} bits of {mac}; {} to {} are possible", mac.tag_bits_min(), tag_bits_max(*mac))]
    TagBits {
        /// What was asked for `[bit]`.
        found: u16,
        /// Of which algorithm.
        mac: MacAlgorithm,
    },
    /// The algorithm takes no key of this length.
    #[error(transparent)]
    Key(#[from] KeyLenError),
}

/// The longest tag of a synchronisation message `[bit]`: as of a SecOC PDU, unless the algorithm has no tag so short.
const fn tag_bits_max(mac: MacAlgorithm) -> u16 {
    if mac.tag_bits_min() > TAG_BITS_MAX { mac.tag_bits_min() } else { TAG_BITS_MAX }
}

impl SyncProtection {
    /// For the synchronisation message with identity `data_id`, under a tag of `tag_bits` bits of `mac`.
    ///
    /// # Errors
    /// [`SyncProtectionError`] if the layout, the tag or the key is impossible.
    pub fn new(
        layout: TripResetLayout,
        mac: MacAlgorithm,
        tag_bits: u16,
        key: &impl Secret,
        data_id: impl Into<DataId>,
    ) -> Result<Self, SyncProtectionError> {
        layout.check()?;
        if tag_bits < mac.tag_bits_min() || tag_bits > tag_bits_max(mac) {
            return Err(SyncProtectionError::TagBits { found: tag_bits, mac });
        }
        let data_id = data_id.into();
        Ok(Self { layout, tag_bits, mac: absorb(mac, key, &data_id)?, data_id })
    }

    /// Length of the message `[byte]`.
    pub const fn message_len(&self) -> usize {
        (self.layout.epoch_bits() + self.tag_bits as u32).div_ceil(8) as usize
    }

    /// What making or checking one message costs.
    pub const fn work(&self) -> Work {
        let len = self.data_id.covered_len() as u32 + self.layout.epoch_bits().div_ceil(8);
        Work::of(self.mac.algorithm().operation(), len)
    }

    fn counters(&self, epoch: TripReset) -> u64 {
        u64::from(epoch.trip) << self.layout.reset_bits | u64::from(epoch.reset)
    }

    fn put(&self, epoch: TripReset, message: &mut [u8]) {
        let counter_bits = self.layout.epoch_bits();
        let counters = self.counters(epoch);
        let covered = (counters << padding_bits(0, counter_bits)).to_be_bytes();
        let covered = &covered[covered.len() - counter_bits.div_ceil(8) as usize..];
        let mut tag = [0; OUTPUT_LEN_MAX];
        let tag = &mut tag[..self.tag_bits.div_ceil(8).into()];
        self.mac
            .compute(counters, &[self.data_id.covered(), covered], tag)
            .expect("its length was checked when the protection was made");
        cut(tag, self.tag_bits.into());
        pack(counters, counter_bits, tag, message);
    }

    fn write(&self, epoch: TripReset, out: &mut [u8]) -> Result<usize, SealError> {
        let needed = self.message_len();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(SealError::BufferTooSmall { needed, found })?;
        self.put(epoch, out);
        Ok(needed)
    }

    fn read(&self, message: &[u8]) -> Result<TripReset, DiscardReason> {
        let message = message.get(..self.message_len()).ok_or(DiscardReason::TooShort)?;
        let epoch = self.layout.counters_in(message);
        let (mut expected, mut found) = ([0; MESSAGE_LEN_MAX], [0; MESSAGE_LEN_MAX]);
        let (expected, found) = (&mut expected[..message.len()], &mut found[..message.len()]);
        self.put(epoch, expected);
        // What fills up the last byte says nothing and is not looked at.
        found.copy_from_slice(message);
        cut(found, self.layout.epoch_bits() + u32::from(self.tag_bits));
        if expected.ct_eq(found).into() { Ok(epoch) } else { Err(DiscardReason::TagMismatch) }
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

    /// Writes the synchronisation message; returns its length `[byte]`. It may be sent again within its reset cycle, for
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
