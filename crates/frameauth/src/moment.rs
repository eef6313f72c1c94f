//! What a node knows of the time at which a PDU is fresh.

use crate::TripReset;

/// What a sender or a receiver knows by itself of the freshness value that is due now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Moment {
    /// Nothing: its clock is not synchronised, it has heard no master, or nothing of the kind is needed.
    #[default]
    Unknown,
    /// The number that both ends count: cycles of the cluster, or slots of the stream.
    Count(u64),
    /// Trip and reset counters, from [`crate::SyncMaster::current`] or [`crate::SyncSlave::current`].
    Epoch(TripReset),
}

impl Moment {
    pub(crate) const fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            Self::Unknown | Self::Epoch(_) => None,
        }
    }

    pub(crate) const fn epoch(self) -> Option<TripReset> {
        match self {
            Self::Epoch(epoch) => Some(epoch),
            Self::Unknown | Self::Count(_) => None,
        }
    }
}

impl From<Option<u64>> for Moment {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Unknown, Self::Count)
    }
}

impl From<Option<TripReset>> for Moment {
    fn from(epoch: Option<TripReset>) -> Self {
        epoch.map_or(Self::Unknown, Self::Epoch)
    }
}

/// Where a freshness value stands: how many PDUs since when. Without trips and resets everything is in one epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Position {
    pub(crate) epoch: TripReset,
    pub(crate) count: u64,
}

pub(crate) const WITHOUT_EPOCH: TripReset = TripReset { trip: 0, reset: 0 };
