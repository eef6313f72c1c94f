//! The receiver's side: completes the freshness value of one PDU and checks its tag.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::symmetric::Key128;

use super::{
    FreshnessFormat, Protection, SecOcProfile, TripReset, TripResetLayout,
    freshness::{RESET_FLAG_BITS, mask},
    protection::Parts,
};
use crate::{Counters, Opened};

/// The most freshness values tried for one PDU and one reset counter; see [`Receiver::with_attempts`].
pub const ATTEMPTS_MAX: u8 = 16;

/// How far the reset counters of two nodes may lie apart: one has already had the master's message, one not yet.
const RESETS_APART_MAX: i64 = 2;

/// Opens one PDU, again and again, each time with a fresher value. AUTOSAR's `SecOC_RxIndication`.
///
/// # Which freshness value
/// The part sent is completed to the smallest value above the last one accepted whose low bits it is. If the tag does
/// not fit, values one span of the sent part further are tried, as many as [`Self::with_attempts`] says: that many
/// spans of lost PDUs are bridged.
///
/// With trip and reset counters the value begins with those of this node. If the reset flag of the PDU differs, its
/// sender has missed the master's last message, or this node has: the reset counters with that flag up to two before
/// and behind are tried, nearest first, none before that of the last PDU accepted. In a reset cycle of which no PDU was
/// accepted, the message counter is searched from 0: with every reset, a receiver that lost too much is back.
///
/// # Order of checks
/// 1. Length, and zeros in the bits left over: [`DiscardReason::TooShort`].
/// 2. Trip and reset counters known, where they are needed: [`DiscardReason::NotSynchronised`].
/// 3. Tag, in constant time, for each value tried.
/// 4. If it fits none: [`DiscardReason::Replayed`] if it fits the last value accepted or one less than a span before
///    it; [`DiscardReason::FreshnessTooOld`] if no fresh value has the bits sent, so that none was tried; else
///    [`DiscardReason::TagMismatch`]. A replay of something older is mostly among the latter. Without this last look,
///    which costs a PDU that is thrown away one tag more, SecOC would not tell a replay from a forgery at all.
///
/// Only an authentic and fresh PDU changes what is accepted next.
#[derive(Clone, Debug)]
pub struct Receiver {
    protection: Protection,
    attempts: u8,
    last: Option<Position>,
    tags_computed: u32,
    counters: Counters,
}

/// Where a freshness value stands: how many PDUs since when. Without trips and resets everything is in one epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Position {
    epoch: TripReset,
    count: u64,
}

const WITHOUT_EPOCH: TripReset = TripReset { trip: 0, reset: 0 };

impl Receiver {
    /// A receiver of the PDU with identifier `data_id` that has accepted nothing yet. It makes one attempt.
    pub fn new(profile: SecOcProfile, key: &Key128, data_id: u16) -> Self {
        Self {
            protection: Protection::new(profile, key, data_id),
            attempts: 1,
            last: None,
            tags_computed: 0,
            counters: Counters::default(),
        }
    }

    /// Tries up to `attempts` values, 1..=[`ATTEMPTS_MAX`], for each reset counter; others are brought into that range.
    ///
    /// Every attempt is one tag to compute for every forgery, and one more chance for it.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u8) -> Self {
        self.attempts = attempts.clamp(1, ATTEMPTS_MAX);
        self
    }

    /// From now on takes only counts above `count`, such as one stored before a restart. For
    /// [`FreshnessFormat::Counter`].
    pub fn resume_after(&mut self, count: u64) {
        self.last = Some(Position { epoch: WITHOUT_EPOCH, count });
    }

    /// Profile, key and data identifier.
    pub const fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The count of the last PDU accepted, to be stored for [`Self::resume_after`].
    pub fn last_count(&self) -> Option<u64> {
        self.last.map(|last| last.count)
    }

    /// Tags computed for the last PDU: its price is this many times [`Protection::work`].
    pub const fn tags_computed(&self) -> u32 {
        self.tags_computed
    }

    /// What was accepted and discarded so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Opens a PDU, or says why it is thrown away. Any bytes may be given; every call is counted.
    ///
    /// `epoch` is what [`super::SyncSlave::current`] or [`super::SyncMaster::current`] says; only
    /// [`FreshnessFormat::TripReset`] uses it. Padding that the bus added behind the PDU has been taken off.
    ///
    /// # Errors
    /// A reason by the order of checks of this type.
    pub fn open<'a>(&mut self, pdu: &'a [u8], epoch: Option<TripReset>) -> Result<Opened<'a>, DiscardReason> {
        self.tags_computed = 0;
        let outcome = self.check(pdu, epoch);
        self.counters.count(&outcome);
        outcome
    }

    fn check<'a>(&mut self, pdu: &'a [u8], epoch: Option<TripReset>) -> Result<Opened<'a>, DiscardReason> {
        let parts = self.protection.take_apart(pdu).ok_or(DiscardReason::TooShort)?;
        let sent_bits = self.protection.profile().sent_bits();
        match self.protection.profile().freshness() {
            FreshnessFormat::None => {
                let fits = self.fits(parts, 0);
                let opened = Opened { payload: parts.payload, freshness: None };
                fits.then_some(opened).ok_or(DiscardReason::TagMismatch)
            }
            FreshnessFormat::Counter { .. } => {
                let sent = Sent { count: parts.sent, span: 1 << sent_bits };
                self.search(parts, sent, core::iter::once(WITHOUT_EPOCH), |position| position.count)
            }
            FreshnessFormat::TripReset(layout) => {
                let here = epoch.ok_or(DiscardReason::NotSynchronised)?;
                let sent = Sent { count: parts.sent >> RESET_FLAG_BITS, span: 1 << (sent_bits - RESET_FLAG_BITS) };
                let epochs = epochs_near(here, parts.sent & mask(RESET_FLAG_BITS), layout);
                self.search(parts, sent, epochs, |Position { epoch, count }| layout.value(epoch, count))
            }
        }
    }

    /// Tries every position the sent bits may stand for, nearest first.
    fn search<'a>(
        &mut self,
        parts: Parts<'a>,
        sent: Sent,
        epochs: impl Iterator<Item = TripReset>,
        value: impl Fn(Position) -> u64,
    ) -> Result<Opened<'a>, DiscardReason> {
        let count_max = self.protection.profile().freshness().count_max();
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

    fn fits(&mut self, parts: Parts<'_>, freshness: u64) -> bool {
        self.tags_computed += 1;
        self.protection.fits(parts, freshness)
    }
}

/// The part of a count that was sent.
#[derive(Clone, Copy)]
struct Sent {
    count: u64,
    /// After so many counts the part repeats.
    span: u64,
}

impl Sent {
    /// The smallest count above `count` that has this part.
    fn first_above(self, count: u64) -> Option<u64> {
        let next = count.checked_add(1)?;
        next.checked_add(self.count.wrapping_sub(next) & (self.span - 1))
    }

    /// The largest count up to `count` that has this part.
    fn last_up_to(self, count: u64) -> Option<u64> {
        count.checked_sub(count.wrapping_sub(self.count) & (self.span - 1))
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
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn completes_to_the_nearest_count_on_either_side(count in 0u64..10_000, low in 0u64..256, bits in 0u32..9) {
            let sent = Sent { count: low % (1 << bits), span: 1 << bits };
            let has_part = |candidate: &u64| candidate % sent.span == sent.count;
            prop_assert_eq!(sent.first_above(count), (count + 1..).find(has_part));
            prop_assert_eq!(sent.last_up_to(count), (0..=count).rev().find(has_part));
        }
    }

    #[test]
    fn there_is_no_count_beyond_the_ends() {
        let sent = Sent { count: 3, span: 256 };
        assert_eq!(sent.first_above(u64::MAX), None);
        assert_eq!(sent.first_above(u64::MAX - 250), None);
        assert_eq!(sent.last_up_to(2), None);
    }
}
