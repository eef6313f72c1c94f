//! Names of outcomes.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, SimTime};

use crate::Outcome;

impl Outcome {
    /// What became of a frame that was sent at a time and thrown away at another, as `event` says; `None` if the event says something else.
    ///
    /// A frame is taken for a copy by its number. If what had that number before was there before this frame was sent, it was another
    /// frame: this one is no copy, and is lost since its number may not follow. A sender that starts anew gives such numbers.
    pub fn thrown_away(event: &Event, sent_at: Option<SimTime>, at: SimTime) -> Option<Self> {
        let EventKind::Discarded(reason) = event.kind else { return None };
        let first_at = at - Duration::from_ps(event.value);
        let is_no_copy = reason == DiscardReason::CopyEliminated && sent_at.is_some_and(|sent_at| first_at < sent_at);
        Some(Self::Discarded(if is_no_copy { DiscardReason::OutOfSequence } else { reason }))
    }

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
