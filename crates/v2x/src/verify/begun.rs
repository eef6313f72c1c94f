//! A verification under way.

use super::check::{CheckKind, Outcome, SkipReason, Verdict};
use super::job::{JobKey, SignatureJob};
use super::station::CertificateSummary;
use crate::crypto::HashValue;
use crate::types::{Ieee1609Dot2Data, Time64};

/// Most certificates that are looked at in one message.
pub(super) const CERTIFICATES_MAX: usize = 3;
/// Those, and the message.
pub(super) const JOBS_MAX: usize = CERTIFICATES_MAX + 1;

/// A message of which everything is checked but signatures.
#[derive(Debug)]
pub struct Begun<'a> {
    pub(super) verdict: Verdict,
    pub(super) message: Option<Ieee1609Dot2Data<'a>>,
    /// The message's own is the last one.
    jobs: [Option<SignatureJob>; JOBS_MAX],
    pub(super) digest: Option<HashValue>,
    pub(super) is_replay_refused: bool,
    pub(super) now: Time64,
    /// Certificates that came along and were not known, each the issuer of the one before.
    pub(super) new: Vec<CertificateSummary>,
    /// Key of the first of them.
    pub(super) new_key: Option<JobKey>,
    /// Whether the message has still to be held against those seen before.
    pub(super) is_replay_left: bool,
    /// When the first certificate of its chain of authorities ends.
    pub(super) chain_until: Option<Time64>,
}

impl<'a> Begun<'a> {
    pub(super) fn new(now: Time64) -> Self {
        Self {
            verdict: Verdict::new(),
            message: None,
            jobs: [const { None }; JOBS_MAX],
            digest: None,
            is_replay_refused: false,
            now,
            new: Vec::new(),
            new_key: None,
            is_replay_left: false,
            chain_until: None,
        }
    }

    pub(super) fn push(&mut self, job: SignatureJob) {
        if let Some(slot) = self.jobs.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(job);
        }
    }

    /// After a check failed: nothing is left to do.
    pub(super) fn forget_jobs(&mut self) {
        self.jobs = [const { None }; JOBS_MAX];
        self.digest = None;
    }

    /// What is known so far; the check of the signature is still open.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The message, if it could be decoded.
    pub fn message(&self) -> Option<&Ieee1609Dot2Data<'a>> {
        self.message.as_ref()
    }

    /// The signatures to be verified, in the order in which [`Verifier::finish`](super::Verifier::finish) wants the answers: none if a check
    /// failed.
    pub fn jobs(&self) -> impl Iterator<Item = &SignatureJob> {
        self.jobs.iter().flatten()
    }

    /// The same, so that whoever makes a key ready can leave it there.
    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut SignatureJob> {
        self.jobs.iter_mut().flatten()
    }

    /// Whether certificates came along that were not known.
    pub fn has_new_certificates(&self) -> bool {
        !self.new.is_empty()
    }

    /// Leaves the signature unverified, for the reason given: what a verification policy does that verifies a part of
    /// the messages only.
    pub fn skip(mut self, reason: SkipReason) -> (Verdict, Option<Ieee1609Dot2Data<'a>>) {
        if self.verdict.failure().is_none() {
            self.verdict.set(CheckKind::Signature, Outcome::Skipped(reason), 0);
        }
        (self.verdict, self.message)
    }
}
