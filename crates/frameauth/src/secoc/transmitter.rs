//! The sender's side: knows the next freshness value of one PDU.

use chronoseal_crypto::symmetric::Key128;

use super::{FreshnessFormat, Protection, SecOcProfile, TripReset};
use crate::SealError;

/// Secures one PDU, again and again, each time with a fresher value. AUTOSAR's `SecOC_IfTransmit`.
///
/// # After a restart
/// A sender that starts counting anew under the same key makes values its receivers have seen: they throw its PDUs away,
/// and those they missed before can be replayed to them. With [`FreshnessFormat::Counter`] store [`Self::count`] and
/// give it to [`Self::resume_after`]. With [`FreshnessFormat::TripReset`] store the last trip and reset counters and
/// give them to [`Self::resume_after_epoch`]: the sender is then silent until the master's next reset.
#[derive(Clone, Debug)]
pub struct Transmitter {
    protection: Protection,
    /// PDUs secured, or the count resumed after; with trip and reset counters, those since `epoch` began.
    count: u64,
    epoch: Option<TripReset>,
    /// The last epoch of an earlier run, of which nothing may be sent any more.
    closed: Option<TripReset>,
}

impl Transmitter {
    /// A sender of the PDU with identifier `data_id` that has sent nothing yet.
    pub fn new(profile: SecOcProfile, key: &Key128, data_id: u16) -> Self {
        Self { protection: Protection::new(profile, key, data_id), count: 0, epoch: None, closed: None }
    }

    /// Profile, key and data identifier.
    pub const fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The count in the last PDU secured, 0 if there is none: the message counter, or the whole freshness value.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Counts on from a value stored before a restart.
    pub fn resume_after(&mut self, count: u64) {
        self.count = count;
    }

    /// Sends nothing in `epoch` or one before it, in which PDUs were sent before a restart.
    pub fn resume_after_epoch(&mut self, epoch: TripReset) {
        self.closed = Some(epoch);
    }

    /// Secures the payload in the first `payload_len` bytes of `pdu`; see [`Protection::secure`] for the bits.
    /// Returns the length of the secured PDU [byte].
    ///
    /// `epoch` is what [`super::SyncSlave::current`] or [`super::SyncMaster::current`] says; only
    /// [`FreshnessFormat::TripReset`] uses it.
    ///
    /// # Errors
    /// - [`SealError::BufferTooSmall`]: the secured PDU does not fit.
    /// - [`SealError::NotSynchronised`]: trip and reset counters are needed, and there are none, they do not fit the
    ///   layout, or they lie before those of the last PDU or not after those of [`Self::resume_after_epoch`].
    /// - [`SealError::FreshnessExhausted`]: the counter is at its end. Only a reset, or a new key, helps.
    ///
    /// `pdu` is left as it was and no value is used up.
    pub fn seal(&mut self, pdu: &mut [u8], payload_len: usize, epoch: Option<TripReset>) -> Result<usize, SealError> {
        let format = self.protection.profile().freshness();
        let (count, freshness) = match format {
            FreshnessFormat::None => (self.count, 0),
            FreshnessFormat::Counter { .. } => {
                let next = next_count(format, self.count)?;
                (next, next)
            }
            FreshnessFormat::TripReset(layout) => {
                let usable = |epoch: &TripReset| layout.holds(*epoch) && self.may_send_in(*epoch);
                let epoch = epoch.filter(usable).ok_or(SealError::NotSynchronised)?;
                let sent_before = if self.epoch == Some(epoch) { self.count } else { 0 };
                let next = next_count(format, sent_before)?;
                (next, layout.value(epoch, next))
            }
        };
        let len = self.protection.secure(pdu, payload_len, freshness)?;
        self.count = count;
        self.epoch = epoch;
        Ok(len)
    }

    fn may_send_in(&self, epoch: TripReset) -> bool {
        self.closed.is_none_or(|closed| closed < epoch) && self.epoch.is_none_or(|last| last <= epoch)
    }
}

fn next_count(format: FreshnessFormat, count: u64) -> Result<u64, SealError> {
    if count >= format.count_max() { Err(SealError::FreshnessExhausted) } else { Ok(count + 1) }
}
