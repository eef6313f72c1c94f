//! One message that many receive: checked once for all receivers that trust and know the same.
//!
//! In a simulation a broadcast reaches a hundred receivers of one process. What a check finds depends on the message,
//! the time, how the receiver is set up, whom it trusts, whether it knows the signer's certificate, and where it is if
//! it asks for that. A [`SharedMessage`] keeps what was found for each of these cases, so that decoding, hashing and
//! signatures are computed once. What each receiver remembers for itself stays its own: messages seen before,
//! certificates learned, certificates asked for. [`Verifier::check`] and [`Verifier::conclude`] together give the same
//! results, and leave the verifier in the same state, as [`Verifier::verify`].

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::begun::Begun;
use super::check::{CheckKind, NoStopwatch, Verdict};
use super::config::Context;
use super::job::{JobKey, SignatureJob};
use super::station::{CertificateSummary, Station};
use super::{ResultCode, Verifier};
use crate::certificate::{CertificateHash, certificate_hash};
use crate::coer::{Decode, Reader};
use crate::crypto::HashValue;
use crate::region::Containment;
use crate::types::{HashedId3List, HashedId8, Ieee1609Dot2Data, SignerIdentifier, Time64, TwoDLocation};

/// Most kinds of receivers whose results are kept of one message.
const KINDS_MAX: usize = 8;

/// A message as it came, with what receivers found.
#[derive(Debug)]
pub struct SharedMessage {
    bytes: Arc<[u8]>,
    /// Set-up of the verifiers it is shared by.
    config_print: u64,
    signer: Option<HashedId8>,
    has_certificate: bool,
    payload: Option<Range<usize>>,
    found: Vec<Arc<CheckedMessage>>,
}

/// What of a receiver decides how a message is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Receiver {
    trust: HashValue,
    /// The certificate it knows under the signer's identifier.
    signer: Option<(CertificateHash, Containment)>,
    position: Option<TwoDLocation>,
}

/// A message of which everything is checked but its signatures and whether it was seen before.
#[derive(Debug)]
pub struct CheckedMessage {
    bytes: Arc<[u8]>,
    receiver: Receiver,
    /// From when to when the same is found [us of `Time64`].
    holds: (u64, u64),
    verdict: Verdict,
    digest: Option<HashValue>,
    is_replay_refused: bool,
    /// The message's own is the last one.
    jobs: Vec<SignatureJob>,
    /// Of each job, shared with whoever has the same one.
    answers: Vec<Arc<OnceLock<bool>>>,
    are_right: OnceLock<bool>,
    /// Certificates that came along and were not known, each the issuer of the one before.
    new: Vec<CertificateSummary>,
    /// The signer's own of them, once it is verified.
    signer: OnceLock<Option<Arc<Station>>>,
    /// The certificate that was missing.
    unknown: Option<HashedId8>,
    /// Certificates its sender asks for.
    wanted: Vec<u8>,
    brings_certificate: bool,
}

impl SharedMessage {
    /// A message for receivers that are set up as `verifier` is. Others check it as well, and share nothing.
    pub fn new(bytes: &[u8], verifier: &Verifier) -> Self {
        let mut message = Self {
            bytes: bytes.into(),
            config_print: verifier.config_print,
            signer: None,
            has_certificate: false,
            payload: None,
            found: Vec::new(),
        };
        let mut reader = Reader::new(bytes, verifier.config.rules);
        let Ok(data) = Ieee1609Dot2Data::decode(&mut reader) else { return message };
        let Some(signed) = data.signed_data() else { return message };
        match &signed.signer {
            SignerIdentifier::Digest(id) => message.signer = Some(*id),
            SignerIdentifier::Certificate(list) => {
                message.has_certificate = true;
                let hash = list.first().map(|first| certificate_hash(first, verifier.config.certificate_form));
                message.signer = hash.and_then(Result::ok).map(|hash| hash.id());
            }
            SignerIdentifier::SelfSigned | SignerIdentifier::Unknown(_) => {}
        }
        message.payload = signed.tbs_data.payload.unsecured_payload().map(|payload| {
            // A slice of `bytes`: the decoder copies nothing.
            let start = payload.as_ptr() as usize - bytes.as_ptr() as usize;
            start..start + payload.len()
        });
        message
    }

    /// The message.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is signed in it, to be believed once the message is accepted.
    pub fn payload(&self) -> Option<&[u8]> {
        self.bytes.get(self.payload.clone()?)
    }

    /// Whether the signer's certificate goes along.
    pub fn has_certificate(&self) -> bool {
        self.has_certificate
    }

    /// Where the answer to a job is, or will be. What is signed names the certificate it is signed under, so receivers
    /// that trust the same and have the same digest and signature before them have the same key.
    fn answer(&self, job: &SignatureJob, receiver: &Receiver) -> Arc<OnceLock<bool>> {
        let alike = self.found.iter().filter(|one| one.receiver.trust == receiver.trust);
        let mut jobs = alike.flat_map(|one| one.jobs.iter().zip(&one.answers));
        let same = jobs.find(|(one, _)| one.digest == job.digest && one.signature == job.signature);
        same.map_or_else(|| Arc::new(OnceLock::new()), |(_, answer)| Arc::clone(answer))
    }

    fn keep(&mut self, checked: Arc<CheckedMessage>) {
        if self.found.len() == KINDS_MAX {
            self.found.remove(0);
        }
        self.found.push(checked);
    }
}

impl CheckedMessage {
    /// What was found. Signatures are left for later, and so is whether the message was seen before.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The signatures [`Verifier::conclude`] verifies: none if a check failed.
    pub fn jobs(&self) -> &[SignatureJob] {
        &self.jobs
    }

    fn new(begun: Begun<'_>, message: &SharedMessage, receiver: Receiver, holds: (u64, u64)) -> Self {
        let header =
            begun.message.as_ref().and_then(Ieee1609Dot2Data::signed_data).map(|signed| &signed.tbs_data.header_info);
        let asked = header.and_then(|header| header.inline_p2pcd_request);
        let jobs: Vec<SignatureJob> = begun.jobs().cloned().collect();
        let answers = jobs.iter().map(|job| message.answer(job, &receiver)).collect();
        Self {
            bytes: Arc::clone(&message.bytes),
            receiver,
            holds,
            digest: begun.digest,
            is_replay_refused: begun.is_replay_refused,
            jobs,
            answers,
            are_right: OnceLock::new(),
            signer: OnceLock::new(),
            unknown: None,
            wanted: asked.iter().flat_map(|list| list.iter()).flat_map(|id| id.0).collect(),
            brings_certificate: header.is_some_and(|header| header.requested_certificate.is_some()),
            verdict: begun.verdict,
            new: begun.new,
        }
    }

    /// Verifies the signatures, once.
    fn are_right(&self) -> bool {
        *self.are_right.get_or_init(|| {
            let mut jobs = self.jobs.iter().zip(&self.answers);
            !self.jobs.is_empty() && jobs.all(|(job, answer)| *answer.get_or_init(|| job.verify()))
        })
    }

    /// The signer, to be known from now on. Jobs lie from the highest certificate down: the message's own, the last one,
    /// has the signer's key.
    fn signer(&self) -> Option<&Arc<Station>> {
        let station = self.signer.get_or_init(|| {
            let (summary, job) = (self.new.first()?, self.jobs.last()?);
            let key = job.key.ready().ok()?;
            Some(Arc::new(Station { summary: summary.clone(), key }))
        });
        station.as_ref()
    }
}

impl Verifier {
    /// All checks but signatures, with what others found of the same message; the code is that of the first check that
    /// failed. If it is [`ResultCode::Success`], [`Verifier::conclude`] ends the verification.
    pub fn check(
        &mut self,
        message: &mut SharedMessage,
        now: Time64,
        position: Option<TwoDLocation>,
    ) -> (Arc<CheckedMessage>, ResultCode) {
        let known = message.signer.and_then(|id| self.neighbours.look_up(id));
        let receiver = Receiver {
            trust: *self.trust.fingerprint(),
            signer: known.map(|station| (station.summary.hash, station.summary.fit)),
            position: position.filter(|_| self.asks_for_distance()),
        };
        let is_same =
            |one: &&Arc<CheckedMessage>| (one.holds.0..=one.holds.1).contains(&now.0) && one.receiver == receiver;
        let shares = message.config_print == self.config_print;
        let found = message.found.iter().filter(|_| shares).find(is_same).map(Arc::clone);
        let checked = match found {
            Some(checked) => {
                if let Some(id) = checked.unknown {
                    self.peers.note_unknown(id, now);
                }
                checked
            }
            None => {
                let checked = Arc::new(self.check_alone(message, now, receiver));
                if shares {
                    message.keep(Arc::clone(&checked));
                }
                checked
            }
        };
        let is_replay = checked.is_replay_refused
            && checked.digest.as_ref().is_some_and(|digest| self.replays.contains(digest.as_bytes()));
        let code = if is_replay { ResultCode::SpduRelevanceReplayedSpdu } else { checked.verdict.result() };
        (checked, code)
    }

    fn asks_for_distance(&self) -> bool {
        self.config.policies.values().chain(&self.config.other).any(|policy| policy.distance_max_m > 0)
    }

    fn check_alone(&mut self, message: &SharedMessage, now: Time64, receiver: Receiver) -> CheckedMessage {
        self.last_unknown = None;
        let context = Context { position: receiver.position, ..Context::at(now) };
        let mut begun = Begun::new(now);
        begun.is_replay_left = true;
        let begun = self.begin_into(begun, &message.bytes, &context, &mut NoStopwatch);
        let holds = self.holds(&begun, now).unwrap_or((now.0, now.0));
        let unknown = self.last_unknown.take();
        CheckedMessage { unknown, ..CheckedMessage::new(begun, message, receiver, holds) }
    }

    /// From when to when another check finds the same; `None` if that is not worked out.
    fn holds(&self, begun: &Begun<'_>, now: Time64) -> Option<(u64, u64)> {
        let signed = begun.message.as_ref()?.signed_data()?;
        let header = &signed.tbs_data.header_info;
        let policy = self.config.policy(header.psid)?;
        let (mut from, mut until) = (0, header.expiry_time.map_or(u64::MAX, |expiry| expiry.0));
        // Without a time of its own, the message counts as made now.
        let generation = header.generation_time?;
        if policy.past_max_us > 0 {
            from = generation.0.saturating_sub(policy.future_max_us);
            until = until.min(generation.0.saturating_add(policy.past_max_us));
        }
        match begun.verdict.failure() {
            // All that was looked at before is in the message.
            Some((CheckKind::Signer, ResultCode::SpduParsingCertificateNotFound)) => {}
            Some(_) => return None,
            None if self.config.is_overdue_crl_refused => return None,
            None => until = until.min(begun.chain_until?.0.saturating_sub(1)),
        }
        (from..=until).contains(&now.0).then_some((from, until))
    }

    /// Ends a verification that [`Verifier::check`] began: the signatures, whether the message was seen before, and what
    /// is kept of an accepted one.
    pub fn conclude(&mut self, checked: &CheckedMessage, now: Time64) -> ResultCode {
        let Some(digest) = checked.digest else { return checked.verdict.result() };
        if !checked.are_right() {
            return ResultCode::SpduCryptoVerificationFailure;
        }
        if checked.is_replay_refused && !self.replays.insert(digest.as_bytes(), now.0) {
            return ResultCode::SpduRelevanceReplayedSpdu;
        }
        self.keep_checked(checked);
        ResultCode::Success
    }

    fn keep_checked(&mut self, checked: &CheckedMessage) {
        if checked.new.len() > 1 || checked.brings_certificate {
            return self.keep_decoded(checked);
        }
        if let Some(signer) = checked.signer() {
            self.peers.note_known(signer.summary.id());
            self.neighbours.insert(Arc::clone(signer));
        }
        if let Some(list) = HashedId3List::new(&checked.wanted).filter(|_| !checked.wanted.is_empty()) {
            let trust = &self.trust;
            self.peers.handle_request(list, |id| trust.authority_by_id3(id).is_some());
        }
    }

    /// What is kept of a message with certificates of authorities, which are read once more.
    fn keep_decoded(&mut self, checked: &CheckedMessage) {
        let mut reader = Reader::new(&checked.bytes, self.config.rules);
        let Ok(message) = Ieee1609Dot2Data::decode(&mut reader) else { return };
        let mut begun = Begun::new(Time64(0));
        begun.message = Some(message);
        begun.new.clone_from(&checked.new);
        for job in &checked.jobs {
            let key = job.key.ready().map_or_else(|_| job.key.clone(), JobKey::Ready);
            begun.push(SignatureJob { key, ..job.clone() });
        }
        self.keep(&mut begun);
    }
}
