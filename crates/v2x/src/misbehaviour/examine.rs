//! What becomes of a report: sealed by a station, opened and examined by the authority.
//!
//! The authority believes nothing: it verifies the reporter's signature and each message of the evidence, and looks for each
//! observation itself, with the checks that stations have.

use rand_core::CryptoRng;

use super::{
    CamObservation, MisbehaviourContent, MisbehaviourData, MisbehaviourReport, Motion, Observed, PduStream,
    ReportContent, judge,
};
use crate::coer::{Decode, Encode};
use crate::crypto::{AgreementKey, HashValue};
use crate::message::{DecryptionKey, KeySource, Recipient, SignerCertificate, decrypt, encrypt};
use crate::pki::{PkiError, SignedMessage, check_issued_by};
use crate::types::{CertificateBuf, HashedId8, Ieee1609Dot2Data, Psid, SignerIdentifier, Time64};

/// How long a report may be under way `[s]`: a station may have no network for a month.
const AGE_MAX_S: u64 = 31 * 86_400;
/// How far a reporter's clock may be ahead `[s]`.
const AHEAD_MAX_S: u64 = 300;

/// Encrypts a signed report to a misbehaviour authority.
///
/// # Errors
/// [`PkiError::Encrypt`] if the authority's certificate has no key to encrypt to; [`PkiError::Decode`], [`PkiError::Encode`].
pub fn seal_report(
    signed: &[u8],
    authority: &SignerCertificate,
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PkiError> {
    let (message, _) = encrypt(signed, &[Recipient::Certificate(&authority.certificate().view())], rng)?;
    let content = MisbehaviourContent::SignedThenEncrypted(Ieee1609Dot2Data::from_coer(&message)?);
    Ok(MisbehaviourData { content }.to_coer()?)
}

/// Why an authority does not take a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportRefusal {
    /// It cannot be opened or read.
    #[error(transparent)]
    Unreadable(#[from] PkiError),
    /// Whoever is on the way could have read it.
    #[error("a report has to be signed and then encrypted")]
    NotEncrypted,
    /// The reporter cannot be told.
    #[error("the reporter is not named by one certificate in the message")]
    NoReporter,
    /// The reporter is nobody who may report.
    #[error("the reporter's ticket {ticket}: {reason}")]
    Reporter {
        /// Its identifier.
        ticket: HashedId8,
        /// What is wrong with it or its signature.
        reason: PkiError,
    },
    /// It is too old, or of a time to come.
    #[error("made {difference_s} s from now; a report is taken for {AGE_MAX_S} s")]
    Time {
        /// By how much `[s]`.
        difference_s: u64,
    },
    /// It is about an application whose observations are not known here.
    #[error("reports about application {} are not examined here, only those about CAMs (36)", .0.0)]
    Application(Psid),
    /// An observation that is not known here.
    #[error("observation {id} of property {target} is not known here")]
    Observation {
        /// Number of the property.
        target: u8,
        /// Number of the observation.
        id: u8,
    },
    /// Evidence that is none.
    #[error("message {index} of the evidence: {reason}")]
    Evidence {
        /// Which message, counted from 0.
        index: usize,
        /// What is wrong with it.
        reason: EvidenceFault,
    },
    /// The messages are genuine and do not show what is said of them.
    #[error("the evidence does not show {0}")]
    NotShown(CamObservation),
}

/// What is wrong with a message that is to be evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceFault {
    /// There has to be one stream of signed messages, with the sender's certificate and the message that is meant.
    #[error(
        "one stream of signed messages with its sender's certificate is needed, and the subject has to be among them"
    )]
    Stream,
    /// It does not verify.
    #[error(transparent)]
    NotGenuine(PkiError),
    /// Another station's.
    #[error("another station signed it")]
    OtherSender,
    /// It is no CAM.
    #[error("it is no CAM")]
    NoCam,
}

/// A report that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// By what the same report is known again: the SHA-256 of what was signed, signature included.
    pub id: [u8; 32],
    /// The reporter's ticket.
    pub reporter: HashedId8,
    /// When it was made.
    pub made_at: Time64,
    /// The ticket of whom it is about.
    pub subject: HashedId8,
    /// What is shown.
    pub observations: Vec<CamObservation>,
    /// What was signed.
    pub signed: Vec<u8>,
}

/// Opens a report, verifies everything in it and looks whether it shows what it says. `issuers` are the authorization authorities
/// whose tickets count; `read` finds what a CAM says of motion in the payload of a message.
///
/// # Errors
/// [`ReportRefusal`].
pub fn examine(
    report: &[u8],
    (certificate, key): (&SignerCertificate, &mut dyn AgreementKey),
    issuers: &[SignerCertificate],
    read: &dyn Fn(&[u8], Time64) -> Option<Motion>,
    now: Time64,
) -> Result<Examined, ReportRefusal> {
    let data = MisbehaviourData::from_coer(report).map_err(PkiError::from)?;
    let MisbehaviourContent::SignedThenEncrypted(data) = &data.content else {
        return Err(ReportRefusal::NotEncrypted);
    };
    let encrypted = data.encrypted_data().ok_or(ReportRefusal::NotEncrypted)?;
    let source = KeySource::Certificate(&certificate.certificate().view());
    let signed = decrypt(encrypted, DecryptionKey::Private { source, key }).map_err(PkiError::from)?.plaintext;
    let message = SignedMessage::decode(&signed)?;
    let reporter = embedded(&message)?.ok_or(ReportRefusal::NoReporter)?;
    let made_at = message.generation_time()?;
    let (age_us, ahead_us) = (now.0.saturating_sub(made_at.0), made_at.0.saturating_sub(now.0));
    if age_us > AGE_MAX_S * 1_000_000 || ahead_us > AHEAD_MAX_S * 1_000_000 {
        return Err(ReportRefusal::Time { difference_s: age_us.max(ahead_us) / 1_000_000 });
    }
    check_sender(&message, &reporter, Psid::MISBEHAVIOUR, issuers)
        .map_err(|reason| ReportRefusal::Reporter { ticket: reporter.id(), reason })?;
    let report = MisbehaviourReport::from_coer(message.payload()?).map_err(PkiError::from)?;
    let ReportContent::Cam(observed) = &report.content else { return Err(ReportRefusal::Application(report.aid)) };
    let (subject, observations) = examine_observed(observed, issuers, read)?;
    let mut id = [0; 32];
    id.copy_from_slice(HashValue::sha256(&signed).as_bytes());
    Ok(Examined { id, reporter: reporter.id(), made_at, subject, observations, signed })
}

/// The one certificate that a message names its signer by.
fn embedded(message: &SignedMessage<'_>) -> Result<Option<SignerCertificate>, PkiError> {
    match &message.signed().signer {
        SignerIdentifier::Certificate(chain) => match chain.as_slice() {
            [certificate] => Ok(Some(SignerCertificate::new(CertificateBuf::new(certificate.received.0)?)?)),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// That the holder of a ticket of one of `issuers` signed, and may sign for `psid`.
fn check_sender(
    message: &SignedMessage<'_>,
    ticket: &SignerCertificate,
    psid: Psid,
    issuers: &[SignerCertificate],
) -> Result<(), PkiError> {
    let view = ticket.certificate().view();
    let at = message.generation_time()?;
    let issuer = view.issuer.digest().and_then(|id| issuers.iter().find(|issuer| issuer.id() == id));
    let issuer = issuer.ok_or(crate::certificate::CertificateError::WrongIssuer)?;
    check_issued_by(ticket, issuer, at)?;
    let permissions = view.to_be_signed.app_permissions.as_deref().unwrap_or_default();
    if !permissions.iter().any(|permission| permission.psid == psid) {
        return Err(PkiError::Permission(psid.0.to_string()));
    }
    message.check_certificate_signature(ticket, psid, at)
}

/// Who is shown to have done what.
fn examine_observed(
    observed: &Observed<'_>,
    issuers: &[SignerCertificate],
    read: &dyn Fn(&[u8], Time64) -> Option<Motion>,
) -> Result<(HashedId8, Vec<CamObservation>), ReportRefusal> {
    let fault = |index: usize, reason: EvidenceFault| ReportRefusal::Evidence { index, reason };
    let stream = match observed.evidence.as_slice() {
        [stream] if stream.kind == PduStream::SIGNED && usize::from(stream.subject_index) < stream.pdus.len() => stream,
        _ => return Err(fault(0, EvidenceFault::Stream)),
    };
    let sender = stream.certificate.as_ref().ok_or(fault(0, EvidenceFault::Stream))?;
    let sender = CertificateBuf::new(sender.received.0).map_err(PkiError::from)?;
    let sender = SignerCertificate::new(sender).map_err(PkiError::from)?;
    let mut motions = Vec::new();
    for (index, pdu) in stream.pdus.iter().enumerate() {
        let genuine = |error| fault(index, EvidenceFault::NotGenuine(error));
        let message = SignedMessage::decode(pdu).map_err(genuine)?;
        let is_sender = match embedded(&message).map_err(genuine)? {
            Some(certificate) => certificate.id() == sender.id(),
            None => message.signer_id().is_ok_and(|id| id == sender.id()),
        };
        if !is_sender {
            return Err(fault(index, EvidenceFault::OtherSender));
        }
        check_sender(&message, &sender, Psid::CAM, issuers).map_err(genuine)?;
        let (payload, time) = (message.payload().map_err(genuine)?, message.generation_time().map_err(genuine)?);
        motions.push(read(payload, time).ok_or(fault(index, EvidenceFault::NoCam))?);
    }
    let subject = usize::from(stream.subject_index);
    let before = subject.checked_sub(1).map(|before| &motions[before]);
    let shown = judge(before, &motions[subject]);
    let mut observations = Vec::new();
    for by_target in &observed.observations {
        for (id, _) in &by_target.observations {
            let target = by_target.target;
            let unknown = ReportRefusal::Observation { target, id: *id };
            let observation = CamObservation::from_numbers(target, *id).ok_or(unknown)?;
            if !shown.contains(&observation) {
                return Err(ReportRefusal::NotShown(observation));
            }
            observations.push(observation);
        }
    }
    if observations.is_empty() {
        return Err(PkiError::Incomplete("an observation").into());
    }
    observations.sort_unstable();
    observations.dedup();
    Ok((sender.id(), observations))
}
