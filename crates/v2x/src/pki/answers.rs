//! Answers that were given already. Whoever records a request on its way can post it again; it is answered as before, and
//! nothing is issued or counted a second time.
//!
//! A request is recognised by what is signed inside it, not by its bytes: the encryption outside can be made anew, and
//! so can an ECDSA signature over the same content.

use std::collections::BTreeMap;

use super::{CLOCK_DIFFERENCE_MAX_S, Decision, PkiError, SignedMessage};
use crate::crypto::HashValue;
use crate::types::{HashedId8, SignerIdentifier, Time64};

/// What a request is recognised by when it comes again: the SHA-256 of the authority that is asked, of the signer, and of
/// all that is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestIdentity(pub [u8; 32]);

impl RequestIdentity {
    /// That of `request`, opened, to `authority`.
    pub fn new(authority: HashedId8, request: &SignedMessage<'_>) -> Self {
        let signed = request.signed();
        let mut content = authority.0.to_vec();
        if let SignerIdentifier::Digest(id) = signed.signer {
            content.extend(id.0);
        }
        content.extend(signed.tbs_data.received.0);
        let mut identity = Self([0; 32]);
        identity.0.copy_from_slice(HashValue::sha256(&content).as_bytes());
        identity
    }
}

/// A request as a store remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatedRequest {
    /// What it is recognised by.
    pub identity: RequestIdentity,
    /// From when on its time is not taken any more.
    pub until: Time64,
}

impl DatedRequest {
    /// `request`, opened, to `authority`.
    ///
    /// # Errors
    /// [`PkiError::Incomplete`] for one that has no time.
    pub fn new(authority: HashedId8, request: &SignedMessage<'_>) -> Result<Self, PkiError> {
        let until = request.generation_time()?.plus_us((CLOCK_DIFFERENCE_MAX_S + 1) * 1_000_000);
        Ok(Self { identity: RequestIdentity::new(authority, request), until })
    }
}

/// A request whose signature was verified.
pub(super) enum Asked {
    /// It was granted already, with this answer.
    Before(Vec<u8>),
    /// It comes for the first time, or was refused before.
    Anew(Keeping),
}

/// Under which name the answer to a request is kept, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeping {
    request: DatedRequest,
}

impl Asked {
    /// Looks for the answer to `request`, whose signature and time are verified.
    pub(super) fn look_up(
        request: &SignedMessage<'_>,
        authority: HashedId8,
        answers: &mut dyn AnswerStore,
        now: Time64,
    ) -> Result<Self, PkiError> {
        let request = DatedRequest::new(authority, request)?;
        let before = answers.answer(request.identity, now)?;
        Ok(before.map_or(Self::Anew(Keeping { request }), Self::Before))
    }
}

impl Keeping {
    /// What the request is recognised by.
    pub(super) fn identity(&self) -> RequestIdentity {
        self.request.identity
    }

    /// Keeps the answer of a decision, if it grants the request; the answer to give is then the first one kept.
    pub(super) fn keep(&self, mut decision: Decision, answers: &mut dyn AnswerStore) -> Result<Decision, PkiError> {
        if decision.refused.is_none() {
            decision.answer = answers.keep_answer(self.request.identity, decision.answer, self.request.until)?;
        }
        Ok(decision)
    }
}

/// The answers an authority gave to the requests it granted, as they were sent: encrypted with the request's key.
///
/// A refusal is not kept, since it changed nothing: the same request may be granted later in its window.
pub trait AnswerStore {
    /// The answer given to `request`, if that is still taken at `now`.
    ///
    /// # Errors
    /// [`PkiError::Store`].
    fn answer(&mut self, request: RequestIdentity, now: Time64) -> Result<Option<Vec<u8>>, PkiError>;

    /// Keeps `answer` until `until`, before it is given out. Gives back the answer to give: another one if a copy of the
    /// request was answered meanwhile.
    ///
    /// # Errors
    /// [`PkiError::Store`], and then it is not given out.
    fn keep_answer(&mut self, request: RequestIdentity, answer: Vec<u8>, until: Time64) -> Result<Vec<u8>, PkiError>;
}

/// Answers kept in memory, by an authority that need not survive the end of its process.
#[derive(Clone, Debug, Default)]
pub struct MemoryAnswers {
    kept: BTreeMap<RequestIdentity, (Vec<u8>, Time64)>,
}

impl MemoryAnswers {
    /// How many are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Forgets those whose requests are not taken any more.
    pub fn forget(&mut self, now: Time64) {
        self.kept.retain(|_, (_, until)| *until > now);
    }

    /// True if none is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl AnswerStore for MemoryAnswers {
    fn answer(&mut self, request: RequestIdentity, now: Time64) -> Result<Option<Vec<u8>>, PkiError> {
        self.forget(now);
        Ok(self.kept.get(&request).map(|(answer, _)| answer.clone()))
    }

    fn keep_answer(&mut self, request: RequestIdentity, answer: Vec<u8>, until: Time64) -> Result<Vec<u8>, PkiError> {
        Ok(self.kept.entry(request).or_insert((answer, until)).0.clone())
    }
}
