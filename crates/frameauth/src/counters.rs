//! What a receiver did with the frames of one stream.

use chronoseal_core::DiscardReason;

/// Frames accepted and discarded by one receiver since it was made: a [`crate::Opener`] or a [`crate::SyncSlave`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    accepted: u64,
    discarded: [u64; Self::REASONS.len()],
}

impl Counters {
    /// Every reason a receiver can give, in the order of an [`crate::Opener`]'s checks.
    pub const REASONS: [DiscardReason; 6] = [
        DiscardReason::TooShort,
        DiscardReason::NotSynchronised,
        DiscardReason::TagMismatch,
        DiscardReason::FreshnessTooFarAhead,
        DiscardReason::FreshnessTooOld,
        DiscardReason::Replayed,
    ];

    /// Frames opened.
    pub const fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Frames discarded for `reason`; 0 for a reason that is not one of [`Self::REASONS`].
    pub fn discarded(&self, reason: DiscardReason) -> u64 {
        Self::REASONS.iter().position(|known| *known == reason).map_or(0, |index| self.discarded[index])
    }

    /// Frames discarded for any reason.
    pub fn discarded_total(&self) -> u64 {
        self.discarded.iter().sum()
    }

    /// Every counter with its name: `accepted`, then one for each of [`Self::REASONS`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let discarded = Self::REASONS.into_iter().map(DiscardReason::name).zip(self.discarded);
        core::iter::once(("accepted", self.accepted)).chain(discarded)
    }

    pub(crate) fn count<T>(&mut self, outcome: &Result<T, DiscardReason>) {
        match outcome {
            Ok(_) => self.accepted += 1,
            Err(reason) => {
                let index = Self::REASONS.iter().position(|known| known == reason);
                self.discarded[index.expect("a receiver gives only the reasons listed here")] += 1;
            }
        }
    }
}
