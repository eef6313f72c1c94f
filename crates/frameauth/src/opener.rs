//! The receiver's side: checks tag and freshness of a PDU and gives back its payload.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::KeyBytes;

use crate::{
    Counters, Freshness, Profile,
    freshness::{half_span, reconstruct},
    replay_window::ReplayWindow,
    sealer::Authenticator,
};

/// Opens the PDUs of one stream at one receiver.
///
/// # Order of checks
/// 1. Length: a PDU shorter than freshness value and tag is [`DiscardReason::TooShort`].
/// 2. Freshness value: read, completed or taken from the cycle counter; without a counter where one is needed
///    [`DiscardReason::NotSynchronised`].
/// 3. Tag, in constant time: [`DiscardReason::TagMismatch`].
/// 4. Replay window: [`DiscardReason::FreshnessTooFarAhead`], [`DiscardReason::FreshnessTooOld`],
///    [`DiscardReason::Replayed`].
///
/// The window comes after the tag and changes only if all four hold, so nobody without the key moves the window or
/// learns where it stands. The price is one tag for every forgery, which a schedule bounds.
///
/// # After a start
/// A new opener knows no freshness value and takes the first authentic one, whatever it is. An attacker who recorded
/// frames under the same key can therefore replay them to a receiver that just restarted, in rising order, until the
/// first genuine frame with a higher value arrives. Three ways out: [`Opener::resume_after`] with a stored value, a
/// new key at each start, or [`Freshness::CycleCounter`], where the cluster's clock and not the frame says what is
/// fresh (as long as the cluster's count itself never restarts under the same key).
#[derive(Clone, Debug)]
pub struct Opener {
    profile: Profile,
    authenticator: Authenticator,
    window: ReplayWindow,
    counters: Counters,
}

/// An authentic, fresh PDU without its trailer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opened<'a> {
    /// What was sealed.
    pub payload: &'a [u8],
    /// The whole freshness value it was sealed with; `None` with [`Freshness::None`].
    pub freshness: Option<u64>,
}

impl Opener {
    /// An opener for the stream with identifier `data_id`, which has accepted nothing yet.
    pub fn new(profile: Profile, key: &KeyBytes, data_id: u16) -> Self {
        Self {
            profile,
            authenticator: Authenticator::new(profile, key, data_id),
            window: ReplayWindow::default(),
            counters: Counters::default(),
        }
    }

    /// From now on takes only freshness values above `highest`, such as one stored before a restart.
    pub fn resume_after(&mut self, highest: u64) {
        self.window = ReplayWindow::after(highest);
    }

    /// How this stream is protected.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The highest freshness value accepted, to be stored for [`Self::resume_after`].
    pub const fn highest_accepted(&self) -> Option<u64> {
        self.window.highest()
    }

    /// What was accepted and discarded so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Opens a PDU, or says why it is thrown away. Any bytes may be given; every call is counted.
    ///
    /// `expected` is the receiver's own cycle counter for the slot the PDU came in, `None` while its clock is not
    /// synchronised.
    /// - [`Freshness::CycleCounter`] takes it for the freshness value. A frame replayed in a later cycle is then a
    ///   [`DiscardReason::TagMismatch`], in the same cycle [`DiscardReason::Replayed`].
    /// - [`Freshness::Truncated`] looks for the first value near it, or near 0 without it. It must then come from the
    ///   same count as the sender's value. After the first accepted PDU it is not used.
    /// - [`Freshness::Full`] and [`Freshness::None`] do not use it.
    ///
    /// # Errors
    /// One of [`Counters::REASONS`], by the order of checks of this type.
    pub fn open<'a>(&mut self, pdu: &'a [u8], expected: Option<u64>) -> Result<Opened<'a>, DiscardReason> {
        let outcome = self.check(pdu, expected);
        self.counters.count(&outcome);
        outcome
    }

    fn check<'a>(&mut self, pdu: &'a [u8], expected: Option<u64>) -> Result<Opened<'a>, DiscardReason> {
        let payload_len = self.profile.payload_len(pdu.len()).ok_or(DiscardReason::TooShort)?;
        let (payload, trailer) = pdu.split_at(payload_len);
        let (sent, tag) = trailer.split_at(self.profile.freshness().wire_len());
        let sent = sent.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));

        let next = self.window.highest().map_or(expected.unwrap_or(0), |highest| highest.saturating_add(1));
        let value = match self.profile.freshness() {
            Freshness::None => 0,
            Freshness::Full => sent,
            Freshness::Truncated(len) => reconstruct(sent, len, next),
            Freshness::CycleCounter => expected.ok_or(DiscardReason::NotSynchronised)?,
        };

        if !self.authenticator.verify(payload, value, tag) {
            return Err(DiscardReason::TagMismatch);
        }

        match self.profile.freshness() {
            Freshness::None => return Ok(Opened { payload, freshness: None }),
            // Only near zero, where the nearer candidate would be negative, does an authentic value get this far.
            Freshness::Truncated(len) if value.saturating_sub(next) >= half_span(len) => {
                return Err(DiscardReason::FreshnessTooFarAhead);
            }
            Freshness::Full | Freshness::Truncated(_) | Freshness::CycleCounter => {}
        }
        self.window.accept(value, self.profile.replay_window())?;
        Ok(Opened { payload, freshness: Some(value) })
    }
}
