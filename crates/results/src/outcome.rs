//! Names of outcomes.

use chronoseal_core::DiscardReason;

use crate::Outcome;

impl Outcome {
    /// As shown to people and written to results, without the reason.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Late => "late",
            Self::Discarded(_) => "discarded",
            Self::Missing => "missing",
            Self::Unaccounted => "unaccounted",
        }
    }

    /// Why the frame was thrown away, if it was.
    pub const fn reason(self) -> Option<DiscardReason> {
        match self {
            Self::Discarded(reason) => Some(reason),
            _ => None,
        }
    }
}
