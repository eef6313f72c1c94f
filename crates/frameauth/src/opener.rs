//! The receiver's side: checks tag and freshness of a PDU and gives back its payload.

use chronoseal_core::{DiscardReason, Work};
use chronoseal_crypto::{KeyLenError, Secret};

use crate::{
    Counters, DataId, Freshness, Moment, Profile, TripReset, TripResetLayout,
    authenticator::{Authenticator, Parts},
    completion::{Sent, half_span, reconstruct},
    moment::{Position, WITHOUT_EPOCH},
    replay_window::ReplayWindow,
    trip_reset::{RESET_FLAG_BITS, mask},
};

/// The most freshness values tried for one PDU and one reset counter; see [`Opener::with_attempts`].
pub const ATTEMPTS_MAX: u8 = 16;

/// How far the reset counters of two nodes may lie apart: one has already had the master's message, one not yet.
const RESETS_APART_MAX: i64 = 2;

/// Opens the PDUs of one stream at one receiver. AUTOSAR's `SecOC_RxIndication`.
///
/// # Order of checks
/// 1. Length, and zeros in the bits left over: [`DiscardReason::TooShort`].
/// 2. What the receiver has to know by itself: without the cycle, or trip and reset counters, where they are needed,
///    [`DiscardReason::NotSynchronised`].
/// 3. Tag, in constant time, for each freshness value tried: [`DiscardReason::TagMismatch`].
/// 4. Freshness: [`DiscardReason::FreshnessTooFarAhead`], [`DiscardReason::FreshnessTooOld`],
///    [`DiscardReason::Replayed`].
///
/// What is accepted next changes only if all four hold, so nobody without the key moves it or learns where it stands.
/// The price is one tag (or as many as are tried) for every forgery, which a schedule bounds.
///
/// # Which freshness value
/// - [`Freshness::Full`], [`Freshness::Truncated`], [`Freshness::CycleCounter`]: one value is tried, and the replay window
///   judges it after the tag.
/// - [`Freshness::Rising`]: the part sent is completed to the smallest value above the last one accepted whose low bits it
///   is. If the tag does not fit, values one span of the sent part further are tried, as many as
///   [`Self::with_attempts`] says: that many spans of lost PDUs are bridged.
/// - [`Freshness::TripReset`]: the value begins with the counters of this node. If the reset flag of the PDU differs, its
///   sender has missed the master's last message, or this node has: the reset counters with that flag up to two before
///   and behind are tried, nearest first, none before that of the last PDU accepted. In a reset cycle of which no PDU was
///   accepted, the message counter is searched from 0: with every reset, a receiver that lost too much is back.
///
/// If none fits with the last two: [`DiscardReason::Replayed`] if the tag fits the last value accepted or one less than a
/// span before it; [`DiscardReason::FreshnessTooOld`] if no fresh value has the bits sent, so that none was tried; else
/// [`DiscardReason::TagMismatch`]. A replay of something older is mostly among the latter. Without this last look, which
/// costs a PDU that is thrown away one tag more, SecOC would not tell a replay from a forgery at all.
///
/// # After a start
/// A new opener knows no freshness value and takes the first authentic one, whatever it is. An attacker who recorded
/// PDUs under the same key can therefore replay them to a receiver that just restarted, in rising order, until the
/// first genuine PDU with a higher value arrives. Three ways out: [`Opener::resume_after`] with a stored value, a
/// new key at each start, or [`Freshness::CycleCounter`], where the cluster's clock and not the PDU says what is
/// fresh (as long as the cluster's count itself never restarts under the same key).
#[derive(Clone, Debug)]
pub struct Opener {
    authenticator: Authenticator,
    /// What was accepted, where PDUs may overtake each other.
    window: ReplayWindow,
    /// The last one accepted, where only rising values are taken.
    last: Option<Position>,
    attempts: u8,
    tags_computed: u32,
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
    /// An opener for the stream with identity `data_id`, which has accepted nothing yet. It makes one attempt.
    ///
    /// # Errors
    /// [`KeyLenError`] if the profile's algorithm takes no key of this length.
    pub fn new(profile: Profile, key: &impl Secret, data_id: impl Into<DataId>) -> Result<Self, KeyLenError> {
        Ok(Self {
            authenticator: Authenticator::new(profile, key, data_id.into())?,
            window: ReplayWindow::default(),
            last: None,
            attempts: 1,
            tags_computed: 0,
            counters: Counters::default(),
        })
    }

    /// Tries up to `attempts` values, 1..=[`ATTEMPTS_MAX`], for each reset counter; others are brought into that range.
    /// Only [`Freshness::Rising`] and [`Freshness::TripReset`] use it.
    ///
    /// Every attempt is one tag to compute for every forgery, and one more chance for it.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u8) -> Self {
        self.attempts = attempts.clamp(1, ATTEMPTS_MAX);
        self
    }

    /// From now on takes only freshness values above `highest`, such as one stored before a restart. With
    /// [`Freshness::TripReset`] it has no effect: the next reset does that.
    pub fn resume_after(&mut self, highest: u64) {
        if self.profile().freshness().has_window() {
            self.window = ReplayWindow::after(highest);
        } else {
            self.last = Some(Position { epoch: WITHOUT_EPOCH, count: highest });
        }
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

    /// The highest freshness value accepted, to be stored for [`Self::resume_after`]; with [`Freshness::TripReset`] the
    /// message counter of the last PDU accepted.
    pub fn highest_accepted(&self) -> Option<u64> {
        self.window.highest().or(self.last.map(|last| last.count))
    }

    /// Tags computed for the last PDU: its price is this many times [`Self::work`].
    pub const fn tags_computed(&self) -> u32 {
        self.tags_computed
    }

    /// What was accepted and discarded so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Opens a PDU, or says why it is thrown away. Any bytes may be given; every call is counted. Padding that a bus added
    /// behind the PDU has been taken off.
    ///
    /// `now` is what the receiver knows by itself:
    /// - [`Freshness::CycleCounter`] takes its count, that of the slot the PDU came in, for the freshness value. A PDU
    ///   replayed in a later cycle is then a [`DiscardReason::TagMismatch`], in the same cycle
    ///   [`DiscardReason::Replayed`].
    /// - [`Freshness::Truncated`] looks for the first value near its count, or near 0 without it. It must then come from
    ///   the same count as the sender's value. After the first accepted PDU it is not used.
    /// - [`Freshness::TripReset`] takes its trip and reset counters.
    /// - The others do not use it.
    ///
    /// # Errors
    /// One of [`Counters::REASONS`], by the order of checks of this type.
    pub fn open<'a>(&mut self, pdu: &'a [u8], now: impl Into<Moment>) -> Result<Opened<'a>, DiscardReason> {
        self.tags_computed = 0;
        let outcome = self.check(pdu, now.into());
        self.counters.count(&outcome);
        outcome
    }

    /// Checks the tag of a PDU with a whole freshness value ([`Freshness::Full`]), and gives that value back unjudged: for a protocol that itself
    /// knows what it has had before, such as one whose PDUs are parts of messages and overtake each other by more than the
    /// replay window holds. The price of each call is one tag, counted as one of [`Self::open`] is.
    ///
    /// # Errors
    /// - [`DiscardReason::TooShort`]: it cannot be one.
    /// - [`DiscardReason::TagMismatch`]: the tag does not fit.
    /// - [`DiscardReason::NotSynchronised`]: the profile does not send the whole value.
    pub fn open_unordered<'a>(&mut self, pdu: &'a [u8]) -> Result<Opened<'a>, DiscardReason> {
        self.tags_computed = 0;
        let outcome = self.check_tag(pdu);
        self.counters.count(&outcome);
        outcome
    }

    fn check_tag<'a>(&mut self, pdu: &'a [u8]) -> Result<Opened<'a>, DiscardReason> {
        if self.profile().freshness() != Freshness::Full {
            return Err(DiscardReason::NotSynchronised);
        }
        let parts = self.authenticator.take_apart(pdu).ok_or(DiscardReason::TooShort)?;
        let opened = Opened { payload: parts.payload, freshness: Some(parts.sent) };
        self.fits(parts, parts.sent).then_some(opened).ok_or(DiscardReason::TagMismatch)
    }

    fn check<'a>(&mut self, pdu: &'a [u8], now: Moment) -> Result<Opened<'a>, DiscardReason> {
        let parts = self.authenticator.take_apart(pdu).ok_or(DiscardReason::TooShort)?;
        match self.profile().freshness() {
            Freshness::None => {
                let fits = self.fits(parts, 0);
                let opened = Opened { payload: parts.payload, freshness: None };
                fits.then_some(opened).ok_or(DiscardReason::TagMismatch)
            }
            Freshness::Full => self.judge(parts, parts.sent),
            Freshness::CycleCounter => self.judge(parts, now.count().ok_or(DiscardReason::NotSynchronised)?),
            Freshness::Truncated { bits } => {
                let next = self.window.highest().map_or(now.count().unwrap_or(0), |highest| highest.saturating_add(1));
                let value = reconstruct(parts.sent, bits, next);
                // Only near zero, where the nearer candidate would be negative, can it be so far.
                if value.saturating_sub(next) >= half_span(bits) {
                    let fits = self.fits(parts, value);
                    return Err(if fits { DiscardReason::FreshnessTooFarAhead } else { DiscardReason::TagMismatch });
                }
                self.judge(parts, value)
            }
            Freshness::Rising { sent_bits, .. } => {
                let sent = Sent { count: parts.sent, span: 1 << sent_bits };
                self.search(parts, sent, core::iter::once(WITHOUT_EPOCH), |position| position.count)
            }
            Freshness::TripReset { layout, sent_bits } => {
                let here = now.epoch().ok_or(DiscardReason::NotSynchronised)?;
                let sent = Sent { count: parts.sent >> RESET_FLAG_BITS, span: 1 << (sent_bits - RESET_FLAG_BITS) };
                let epochs = epochs_near(here, parts.sent & mask(RESET_FLAG_BITS), layout);
                self.search(parts, sent, epochs, |Position { epoch, count }| layout.value(epoch, count))
            }
        }
    }

    /// Tries one value, and then asks the window.
    #[inline]
    fn judge<'a>(&mut self, parts: Parts<'a>, value: u64) -> Result<Opened<'a>, DiscardReason> {
        if !self.fits(parts, value) {
            return Err(DiscardReason::TagMismatch);
        }
        self.window.accept(value, self.profile().replay_window())?;
        Ok(Opened { payload: parts.payload, freshness: Some(value) })
    }

    /// Tries every position the sent bits may stand for, nearest first.
    fn search<'a>(
        &mut self,
        parts: Parts<'a>,
        sent: Sent,
        epochs: impl Iterator<Item = TripReset>,
        value: impl Fn(Position) -> u64,
    ) -> Result<Opened<'a>, DiscardReason> {
        let count_max = self.profile().freshness().count_max();
        let last = self.last;
        for epoch in epochs.filter(|epoch| last.is_none_or(|last| last.epoch <= *epoch)) {
            // A count is never 0: senders begin with 1.
            let above = last.filter(|last| last.epoch == epoch).map_or(0, |last| last.count);
            let counts = core::iter::successors(sent.first_above(above), |count| count.checked_add(sent.span));
            for count in counts.take_while(|count| *count <= count_max).take(usize::from(self.attempts)) {
                let position = Position { epoch, count };
                let freshness = value(position);
                if self.fits(parts, freshness) {
                    self.last = Some(position);
                    return Ok(Opened { payload: parts.payload, freshness: Some(freshness) });
                }
            }
        }
        let tried = self.tags_computed > 0;
        let before = last.and_then(|last| Some(Position { count: sent.last_up_to(last.count)?, ..last }));
        if before.is_some_and(|before| self.fits(parts, value(before))) {
            return Err(DiscardReason::Replayed);
        }
        Err(if tried { DiscardReason::TagMismatch } else { DiscardReason::FreshnessTooOld })
    }

    #[inline]
    fn fits(&mut self, parts: Parts<'_>, freshness: u64) -> bool {
        self.tags_computed += 1;
        self.authenticator.fits(parts, freshness)
    }
}

/// The epochs of this trip whose reset flag is `flag`, up to [`RESETS_APART_MAX`] resets from `here`, nearest first; of
/// two equally near, the earlier one first.
fn epochs_near(here: TripReset, flag: u64, layout: TripResetLayout) -> impl Iterator<Item = TripReset> {
    (0..=RESETS_APART_MAX)
        .flat_map(|distance| [-distance, distance].into_iter().skip(usize::from(distance == 0)))
        .filter_map(move |offset| u32::try_from(i64::from(here.reset) + offset).ok())
        .map(move |reset| TripReset { reset, ..here })
        .filter(move |epoch| epoch.reset_flag() == flag && layout.holds(*epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_come_nearest_first_and_within_two_resets() {
        let layout = TripResetLayout { trip_bits: 16, reset_bits: 4, message_bits: 8 };
        let resets = |reset, flag| {
            epochs_near(TripReset { trip: 3, reset }, flag, layout).map(|epoch| epoch.reset).collect::<Vec<_>>()
        };
        assert_eq!(resets(5, 1), [5]);
        assert_eq!(resets(5, 0), [4]);
        assert_eq!(resets(5, 2), [6]);
        assert_eq!(resets(5, 3), [3, 7]);
        assert_eq!(resets(1, 3), [3], "there is no reset -1");
        assert_eq!(resets(1, 0), [0]);
        assert_eq!(resets(15, 0), [0u32; 0], "16 needs a fifth bit");
        assert_eq!(resets(15, 1), [13], "17 too");
    }
}
