//! Why a station does not change its pseudonym, or does not sign.

use super::{LayerId, PoolError};
use crate::message::SignError;
use crate::verify::{CheckKind, ResultCode};

/// Why a change did not take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRefusal {
    /// `blockPseudonymChange` holds.
    #[error("changes of pseudonym are blocked until {until_us} us")]
    Blocked {
        /// [us of `Time64`].
        until_us: u64,
    },
    /// No layer has registered: it would change the certificate and leave the addresses.
    #[error("no layer takes part in changes; register one with registerRequestNetworkIdChange")]
    NoLayers,
    /// One is under way.
    #[error("a change of pseudonym is under way")]
    UnderWay,
    /// There is no other pseudonym.
    #[error("no other pseudonym is valid now; request more from the authorization authority")]
    NoOther,
    /// A layer refused.
    #[error("layer {} cannot change its identifier now", .0.0)]
    Refused(LayerId),
    /// A layer did not answer.
    #[error("layer {} did not answer in time", .0.0)]
    Silent(LayerId),
}

/// Why there is no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignRefusal {
    /// No pseudonym, or a change under way.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The policy keeps the station silent after a change.
    #[error("silent until {until_us} us after a change of pseudonym")]
    Silence {
        /// [us of `Time64`].
        until_us: u64,
    },
    /// The pseudonym's certificate does not allow it: whoever receives it would refuse it.
    #[error("the ticket does not allow this message, a receiver would refuse it by {}: {code}", check.name())]
    NotAllowed {
        /// The check it would fail.
        check: CheckKind,
        /// The code of the refusal.
        code: ResultCode,
    },
    /// Key or message.
    #[error(transparent)]
    Sign(#[from] SignError),
}
