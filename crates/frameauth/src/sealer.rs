//! The sender's side: puts freshness value and tag behind a payload.

use chronoseal_core::Work;
use chronoseal_crypto::{KeyLenError, Secret};

use crate::{
    DataId, Freshness, Moment, Profile, TripReset,
    authenticator::Authenticator,
    moment::{Position, WITHOUT_EPOCH},
};

/// Seals the PDUs of one stream.
///
/// [`Self::seal`] takes the freshness value from its caller, [`Self::seal_next`] keeps count of it. AUTOSAR's
/// `SecOC_IfTransmit` is the second.
///
/// # After a restart
/// A sender that starts counting anew under the same key makes values its receivers have seen: they throw its PDUs away,
/// and those they missed before can be replayed to them. Store [`Self::count`] and give it to [`Self::resume_after`].
/// With [`Freshness::TripReset`] store the last trip and reset counters and give them to [`Self::resume_after_epoch`]:
/// the sender is then silent until the master's next reset.
#[derive(Clone, Debug)]
pub struct Sealer {
    authenticator: Authenticator,
    /// Of the last PDU that [`Self::seal_next`] sealed, or what was resumed after.
    last: Option<Position>,
    /// The last epoch of an earlier run, of which nothing may be sent any more.
    closed: Option<TripReset>,
}

impl Sealer {
    /// A sealer for the stream with identity `data_id`, such as the number of its virtual link.
    ///
    /// The key is absorbed and not kept; see [`chronoseal_crypto::MacKey`] for what is wiped when the sealer is dropped.
    ///
    /// # Errors
    /// [`KeyLenError`] if the profile's algorithm takes no key of this length.
    pub fn new(profile: Profile, key: &impl Secret, data_id: impl Into<DataId>) -> Result<Self, KeyLenError> {
        Ok(Self { authenticator: Authenticator::new(profile, key, data_id.into())?, last: None, closed: None })
    }

    /// How this stream is protected.
    pub const fn profile(&self) -> &Profile {
        self.authenticator.profile()
    }

    /// Which stream it is.
    pub const fn data_id(&self) -> &DataId {
        self.authenticator.data_id()
    }

    /// What one tag costs for a payload of `payload_len` bytes.
    pub fn work(&self, payload_len: usize) -> Work {
        self.authenticator.work(payload_len)
    }

    /// Seals the payload in the first `payload_len` bytes of `pdu`: freshness value and tag go right behind it.
    /// Returns the length of the sealed PDU `[byte]`; what lies behind that is left as it was.
    ///
    /// `freshness` must be above that of every PDU sealed before with this key and identity: the sender's count of PDUs,
    /// for [`Freshness::CycleCounter`] the cycle the PDU is sent in, for [`Freshness::TripReset`] a
    /// [`crate::TripResetLayout::value`]. It is not used with [`Freshness::None`]. The count of [`Self::seal_next`] is not
    /// touched.
    ///
    /// # Errors
    /// [`SealError::BufferTooSmall`] if the sealed PDU does not fit; `pdu` is left as it was.
    pub fn seal(&self, pdu: &mut [u8], payload_len: usize, freshness: u64) -> Result<usize, SealError> {
        self.authenticator.seal(pdu, payload_len, freshness)
    }

    /// Seals as [`Self::seal`] does, with the next freshness value. Counts begin with 1.
    ///
    /// `now` is used only by [`Freshness::CycleCounter`], which takes the count, and [`Freshness::TripReset`], which takes
    /// trip and reset counters.
    ///
    /// # Errors
    /// - [`SealError::BufferTooSmall`]: the sealed PDU does not fit.
    /// - [`SealError::NotSynchronised`]: `now` lacks what is needed, or it does not fit the layout, or it is not after the
    ///   cycle, or is before the trip and reset counters, of the last PDU or not after those of
    ///   [`Self::resume_after_epoch`].
    /// - [`SealError::FreshnessExhausted`]: the counter is at its end. Only a reset, or a new key, helps.
    ///
    /// `pdu` is left as it was and no value is used up.
    pub fn seal_next(
        &mut self,
        pdu: &mut [u8],
        payload_len: usize,
        now: impl Into<Moment>,
    ) -> Result<usize, SealError> {
        let (position, freshness) = self.next(now.into())?;
        let len = self.authenticator.seal(pdu, payload_len, freshness)?;
        self.last = position;
        Ok(len)
    }

    /// Seals as [`Self::seal_next`] does a payload that lies in two pieces, and writes freshness value and tag to `trailer`: the payload is not
    /// moved. Sent one behind the other, the three are the PDU.
    ///
    /// # Errors
    /// As [`Self::seal_next`]; [`SealError::NotInBytes`] if freshness value and tag of the profile are no whole bytes, and
    /// [`SealError::BufferTooSmall`] if `trailer` is not as long as [`Profile::overhead`] says.
    pub fn seal_next_apart(
        &mut self,
        payload: [&[u8]; 2],
        trailer: &mut [u8],
        now: impl Into<Moment>,
    ) -> Result<(), SealError> {
        let (needed, found) = (self.profile().overhead(), trailer.len());
        if !self.profile().is_in_bytes() {
            return Err(SealError::NotInBytes);
        }
        let (position, freshness) = self.next(now.into())?;
        if !self.authenticator.seal_apart(payload, freshness, trailer) {
            return Err(SealError::BufferTooSmall { needed, found });
        }
        self.last = position;
        Ok(())
    }

    /// Where the sender stands after its next PDU, and the freshness value of that.
    fn next(&self, now: Moment) -> Result<(Option<Position>, u64), SealError> {
        let format = self.profile().freshness();
        let without_epoch = |count| (Some(Position { epoch: WITHOUT_EPOCH, count }), count);
        match format {
            Freshness::None => Ok((self.last, 0)),
            Freshness::Full | Freshness::Truncated { .. } | Freshness::Rising { .. } => {
                next_count(format, self.count()).map(without_epoch)
            }
            Freshness::CycleCounter => {
                let is_later = |count: &u64| self.last.is_none_or(|last| last.count < *count);
                now.count().filter(is_later).map(without_epoch).ok_or(SealError::NotSynchronised)
            }
            Freshness::TripReset { layout, .. } => {
                let usable = |epoch: &TripReset| layout.holds(*epoch) && self.may_send_in(*epoch);
                let epoch = now.epoch().filter(usable).ok_or(SealError::NotSynchronised)?;
                let sent_before = self.last.filter(|last| last.epoch == epoch).map_or(0, |last| last.count);
                let count = next_count(format, sent_before)?;
                Ok((Some(Position { epoch, count }), layout.value(epoch, count)))
            }
        }
    }

    /// The count in the last PDU that [`Self::seal_next`] sealed, 0 if there is none: the message counter with
    /// [`Freshness::TripReset`], else the whole freshness value.
    pub fn count(&self) -> u64 {
        self.last.map_or(0, |last| last.count)
    }

    /// Counts on from a value stored before a restart.
    pub fn resume_after(&mut self, count: u64) {
        self.last = Some(Position { epoch: WITHOUT_EPOCH, count });
    }

    /// Sends nothing in `epoch` or one before it, in which PDUs were sent before a restart.
    pub fn resume_after_epoch(&mut self, epoch: TripReset) {
        self.closed = Some(epoch);
    }

    fn may_send_in(&self, epoch: TripReset) -> bool {
        self.closed.is_none_or(|closed| closed < epoch) && self.last.is_none_or(|last| last.epoch <= epoch)
    }
}

fn next_count(format: Freshness, count: u64) -> Result<u64, SealError> {
    if count >= format.count_max() { Err(SealError::FreshnessExhausted) } else { Ok(count + 1) }
}

/// Why a payload was not sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Payload, freshness value and tag are longer than the buffer.
    #[error("the sealed PDU needs {needed} bytes, the buffer has {found}")]
    BufferTooSmall {
        /// Payload, freshness value and tag `[byte]`.
        needed: usize,
        /// The buffer `[byte]`.
        found: usize,
    },
    /// Freshness value and tag have to be whole bytes for this.
    #[error("the freshness value and the tag of this profile are not in whole bytes each")]
    NotInBytes,
    /// The cycle, or trip and reset counters, are needed and not known, or not later than those used before.
    #[error("the node does not know the cycle, or the trip and reset counters, of now")]
    NotSynchronised,
    /// The counter is at its end, and a value is never used twice.
    #[error("the freshness counter is at its end")]
    FreshnessExhausted,
}
