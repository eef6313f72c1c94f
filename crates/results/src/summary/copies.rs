//! Copies of frames that are sent over several ways.

use serde::{Deserialize, Serialize};

/// Copies of frames beside the one by which each of them is accounted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Copies {
    /// Known to be copies by the receiver, which had accepted the frame already.
    pub eliminated: u64,
    /// Lost on their way, or thrown away by the receiver for another reason.
    pub lost: u64,
    /// Accepted as if they were new frames.
    pub repeated: u64,
}

impl Copies {
    /// True if there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in those of another account.
    pub(super) fn add(&mut self, other: Self) {
        self.eliminated += other.eliminated;
        self.lost += other.lost;
        self.repeated += other.repeated;
    }
}
