//! What an authority does with a request before it can answer: it knows no network, so whoever carries its messages looks
//! up and asks for it, and comes back with what was found.

use core::fmt;

use super::{Decision, PkiError, Question, RequestHash, Role};
use crate::message::Decrypted;
use crate::types::HashedId8;

/// What an authority does with a request first. The caller needs no access to the authority while it does what is wanted here.
#[derive(Debug)]
pub enum Step {
    /// It answers.
    Done(Decision),
    /// It has to know whether an authority of another root is trusted. All of the request that can be checked without
    /// that is checked already.
    LookUp(Box<LookUp>),
    /// It asks an enrolment authority. Only authorization authorities do.
    Ask(Box<Question>),
}

impl Step {
    /// The decision, if it was made at once.
    pub fn done(self) -> Option<Decision> {
        match self {
            Self::Done(decision) => Some(decision),
            Self::LookUp(_) | Self::Ask(_) => None,
        }
    }
}

/// An authority to be looked up among those that are trusted, and all that is needed to go on when it was found or not.
pub struct LookUp {
    pub(super) role: Role,
    pub(super) id: HashedId8,
    pub(super) opened: Decrypted,
    pub(super) request_hash: RequestHash,
}

impl LookUp {
    /// Its role: [`Role::Enrolment`] or [`Role::Authorization`].
    pub fn role(&self) -> Role {
        self.role
    }

    /// Its identifier.
    pub fn id(&self) -> HashedId8 {
        self.id
    }

    /// What to go on with if nobody of that identifier is trusted.
    pub fn unknown(&self) -> PkiError {
        match self.role {
            Role::Enrolment => PkiError::UnknownEa(self.id),
            _ => PkiError::UntrustedAa(self.id),
        }
    }
}

impl fmt::Debug for LookUp {
    /// Without the request, which holds secrets of the station.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LookUp({} {})", self.role, self.id)
    }
}
