//! The enrolment authority's side.

use rand_core::CryptoRng;

use super::answers::{Asked, Keeping};
use super::authority::check_region_below;
use super::envelope::open_encrypted;
use super::{
    Authority, AuthorizationValidationRequest, AuthorizationValidationResponse, AuthorizationValidationResponseCode,
    CertificateFormat, CertificateSubjectAttributes, Credential, DatedRequest, EcSignature, EnrolmentResponseCode,
    EtsiTs102941DataContent, InnerEcRequest, InnerEcResponse, LookUp, Permissions, PkiError, RequestHash, Role,
    SharedAtRequest, SignedMessage, Station, StationStore, Step, TicketPeriods, TrustedAuthority,
};
use crate::certificate::{Issuer, issue};
use crate::coer::{Decode, ExtensionAdditions};
use crate::crypto::PublicPoint;
use crate::message::{Decrypted, SessionKey, SignerCertificate};
use crate::types::{
    CertificateBuf, CertificateId, Duration, HashedId8, Ieee1609Dot2Data, Psid, Time64, ToBeSignedCertificate,
    ValidityPeriod, VerificationKeyIndicator,
};

/// What a credential is called. A ticket has no name and a credential has one [TS 103 097 §7.2.1, §7.2.2]: by that others tell
/// them apart. It is the same for all, so that it says of nobody who it is.
const CREDENTIAL_NAME: &str = "enrolment credential";

/// What an enrolment authority grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnrolmentPolicy {
    /// Validity of a credential.
    pub credential_validity: Duration,
    /// Longest validity of a ticket, and that of one whose station did not ask for any `[h]`.
    pub ticket_hours_max: u16,
    /// How far ahead a ticket may begin to be valid `[s]`.
    pub preload_s_max: u64,
    /// How many tickets of a station may be valid at once.
    pub tickets_at_once_max: u32,
    /// When tickets begin and end.
    pub ticket_periods: TicketPeriods,
}

impl Default for EnrolmentPolicy {
    /// Three years; a week; three months; a hundred at once, the last three as the EU's certificate policy 1.1. Tickets are
    /// of the week.
    fn default() -> Self {
        Self {
            credential_validity: Duration::Years(3),
            ticket_hours_max: 168,
            preload_s_max: 90 * 86_400,
            tickets_at_once_max: 100,
            ticket_periods: TicketPeriods::default(),
        }
    }
}

/// Issues enrolment credentials to the stations it knows, and tells authorization authorities what their holders may
/// have. [TS 102 941 §6.2.3.2, §6.2.3.4]
#[derive(Debug)]
pub struct EnrolmentAuthority {
    /// Its certificate and keys.
    pub authority: Authority,
    /// The authorization authority of the same root; others are looked up, see [`Step::LookUp`].
    pub own_aa: SignerCertificate,
    /// What it grants.
    pub policy: EnrolmentPolicy,
    /// Answers every request of a station with this, to see what the station does.
    pub fault: Option<EnrolmentResponseCode>,
    /// Answers every request of an authorization authority with this.
    pub validation_fault: Option<AuthorizationValidationResponseCode>,
}

/// What is granted to a request.
enum Granted<T> {
    /// It was granted before, with this answer.
    Before(Vec<u8>),
    /// It is granted now; the answer is to be kept.
    Anew(T, Keeping),
}

/// What becomes of a question about a ticket.
enum Validated<'q> {
    /// It is granted.
    Granted(Granted<CertificateSubjectAttributes<'q>>),
    /// The authorization authority of this identifier, of another root, is looked up first.
    LookUp(HashedId8),
}

/// What becomes of a request.
#[allow(clippy::large_enum_variant, reason = "one of them lives at a time")]
enum Decided {
    Done(Decision),
    LookUp(HashedId8),
}

/// What an authority decided, for its records.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The answer to send.
    pub answer: Vec<u8>,
    /// Why it refuses, if it does.
    pub refused: Option<PkiError>,
    /// What it issued, if it did; nothing to a copy of a request that was granted before.
    pub issued: Option<CertificateBuf>,
}

impl EnrolmentAuthority {
    /// With the default policy.
    pub fn new(authority: Authority, own_aa: SignerCertificate) -> Self {
        Self { authority, own_aa, policy: EnrolmentPolicy::default(), fault: None, validation_fault: None }
    }

    /// Answers a request of a station or of an authorization authority; one that was granted before, as before. It never
    /// gives [`Step::Ask`].
    ///
    /// # Errors
    /// Only if the request cannot be decrypted, since then there is no key to answer with, or no answer can be made.
    pub fn handle(
        &mut self,
        request: &[u8],
        store: &mut dyn StationStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Step, PkiError> {
        let (opened, request_hash) = self.authority.open(request)?;
        Ok(match self.decide(&opened, request_hash, None, store, now, rng)? {
            Decided::Done(decision) => Step::Done(decision),
            Decided::LookUp(id) => {
                Step::LookUp(Box::new(LookUp { role: Role::Authorization, id, opened, request_hash }))
            }
        })
    }

    /// Goes on when the authorization authority that was to be looked up is found; `found` says why if it is not.
    ///
    /// # Errors
    /// Only if no answer can be made.
    pub fn resume_look_up(
        &mut self,
        look_up: LookUp,
        found: Result<TrustedAuthority, PkiError>,
        store: &mut dyn StationStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decision, PkiError> {
        let LookUp { opened, request_hash, id, .. } = &look_up;
        let found = found.map(|found| found.certificate).and_then(|aa| match aa.id() == *id {
            true => Ok(aa),
            false => Err(look_up.unknown()),
        });
        match self.decide(opened, *request_hash, Some(found), store, now, rng)? {
            Decided::Done(decision) => Ok(decision),
            Decided::LookUp(id) => {
                self.answer_validation(*request_hash, Err(PkiError::UntrustedAa(id)), &opened.session_key, now, rng)
            }
        }
    }

    fn decide(
        &mut self,
        opened: &Decrypted,
        hash: RequestHash,
        found: Option<Result<SignerCertificate, PkiError>>,
        store: &mut dyn StationStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decided, PkiError> {
        let before = |answer| Decided::Done(Decision { answer, refused: None, issued: None });
        let key = &opened.session_key;
        let read = SignedMessage::decode(&opened.plaintext).and_then(|outer| Ok((outer.content()?, outer)));
        let (decision, keeping) = match read {
            Ok((EtsiTs102941DataContent::AuthorizationValidationRequest(question), outer)) => {
                let result = match self.validation_fault {
                    Some(code) => Err(PkiError::ValidationRefused(code)),
                    None => self.validate(&outer, &question, found, store, now),
                };
                match result {
                    Ok(Validated::LookUp(id)) => return Ok(Decided::LookUp(id)),
                    Ok(Validated::Granted(Granted::Before(answer))) => return Ok(before(answer)),
                    Ok(Validated::Granted(Granted::Anew(confirmed, keeping))) => {
                        (self.answer_validation(hash, Ok(confirmed), key, now, rng)?, Some(keeping))
                    }
                    Err(error) => (self.answer_validation(hash, Err(error), key, now, rng)?, None),
                }
            }
            Ok((EtsiTs102941DataContent::EnrolmentRequest(inner), outer)) => {
                let result = match self.fault {
                    Some(code) => Err(PkiError::EnrolmentRefused(code)),
                    None => self.enrol(&outer, inner, store, now),
                };
                match result {
                    Ok(Granted::Before(answer)) => return Ok(before(answer)),
                    Ok(Granted::Anew(credential, keeping)) => {
                        (self.answer_enrolment(hash, Ok(credential), key, now, rng)?, Some(keeping))
                    }
                    Err(error) => (self.answer_enrolment(hash, Err(error), key, now, rng)?, None),
                }
            }
            Ok(_) => {
                let error = PkiError::WrongContent { expected: "an enrolment request" };
                (self.answer_enrolment(hash, Err(error), key, now, rng)?, None)
            }
            Err(error) => (self.answer_enrolment(hash, Err(error), key, now, rng)?, None),
        };
        match keeping {
            Some(keeping) => keeping.keep(decision, store).map(Decided::Done),
            None => Ok(Decided::Done(decision)),
        }
    }

    fn answer_enrolment(
        &mut self,
        hash: RequestHash,
        result: Result<CertificateBuf, PkiError>,
        session_key: &SessionKey,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decision, PkiError> {
        let (code, refused, issued) = match result {
            Ok(certificate) => (EnrolmentResponseCode::Ok, None, Some(certificate)),
            Err(PkiError::EnrolmentRefused(code)) => (code, Some(PkiError::EnrolmentRefused(code)), None),
            Err(error) => (error.enrolment_code(), Some(error), None),
        };
        let view = issued.as_ref().map(CertificateBuf::view);
        let response = EtsiTs102941DataContent::EnrolmentResponse(InnerEcResponse {
            request_hash: hash,
            response_code: code,
            certificate: view,
            extensions: ExtensionAdditions::default(),
        });
        let answer = self.authority.answer(response, session_key, now, rng)?;
        Ok(Decision { answer, refused, issued })
    }

    fn enrol(
        &mut self,
        outer: &SignedMessage<'_>,
        inner: Ieee1609Dot2Data<'_>,
        store: &mut dyn StationStore,
        now: Time64,
    ) -> Result<Granted<CertificateBuf>, PkiError> {
        let inner = SignedMessage::new(inner)?;
        let wanted = InnerEcRequest::from_coer(inner.payload()?)?;
        let station = identify(outer, wanted.its_id, store, now)?;
        let keeping = match Asked::look_up(outer, self.authority.id(), store, now)? {
            Asked::Before(answer) => return Ok(Granted::Before(answer)),
            Asked::Anew(keeping) => keeping,
        };
        inner.check_self_signed(&wanted.public_keys.verification_key, Psid::CERTIFICATE_REQUEST, now)?;
        check_format(wanted.certificate_format)?;
        let attributes = wanted.requested_subject_attributes;
        let permissions = requested(&attributes)?;
        permissions.check_within(&Permissions::enrolment_credential())?;
        check_encryption_key(wanted.public_keys.encryption_key.as_ref())?;
        let validity = ValidityPeriod { start: now.time32(), duration: self.policy.credential_validity };
        let mut tbs = ToBeSignedCertificate::new(
            CertificateId::Name(CREDENTIAL_NAME),
            validity,
            VerificationKeyIndicator::VerificationKey(wanted.public_keys.verification_key),
        );
        tbs.region = attributes.region;
        tbs.app_permissions = Some(permissions.to_certificate());
        tbs.encryption_key = wanted.public_keys.encryption_key;
        let issuer = self.authority.certificate.certificate().view();
        check_region_below(&issuer, tbs.region.as_ref())?;
        let certificate = issue(tbs, Issuer::Certificate(&issuer), &mut *self.authority.signing_key)?;
        let id = SignerCertificate::new(certificate.clone())?.id();
        store.add_credential(id, &certificate, &station)?;
        Ok(Granted::Anew(certificate, keeping))
    }

    fn validate<'q>(
        &mut self,
        outer: &SignedMessage<'_>,
        question: &AuthorizationValidationRequest<'q>,
        found: Option<Result<SignerCertificate, PkiError>>,
        store: &mut dyn StationStore,
        now: Time64,
    ) -> Result<Validated<'q>, PkiError> {
        let shared = &question.shared_at_request;
        let signer = outer.signer_id()?;
        let aa = match found {
            _ if signer == self.own_aa.id() => self.own_aa.clone(),
            Some(found) => found?,
            None => {
                // Nobody is looked up on the word of a stranger: it has to be about a ticket that a station of this
                // authority asked for, just now.
                self.check_asked(shared, &question.ec_signature, store, now)?;
                return Ok(Validated::LookUp(signer));
            }
        };
        check_may_ask(&aa)?;
        outer.check_signer(&aa, Psid::CERTIFICATE_REQUEST, now)?;
        let keeping = match Asked::look_up(outer, self.authority.id(), store, now)? {
            Asked::Before(answer) => return Ok(Validated::Granted(Granted::Before(answer))),
            Asked::Anew(keeping) => keeping,
        };
        let (credential, request) = self.check_asked(shared, &question.ec_signature, store, now)?;
        let attributes = shared.requested_subject_attributes.clone();
        let mut period = self.ticket_period(attributes.validity_period, &credential, now)?;
        // A ticket that began before its issuer's certificate would be refused.
        period.start = period.start.max(aa.certificate().view().to_be_signed.validity_period.start);
        let at_once_max = self.policy.tickets_at_once_max;
        let period = store.add_confirmed(&credential.station, request, period, at_once_max)?;
        let period = period.ok_or(PkiError::TooManyTickets)?;
        let confirmed = CertificateSubjectAttributes { id: None, validity_period: Some(period), ..attributes };
        Ok(Validated::Granted(Granted::Anew(confirmed, keeping)))
    }

    /// That a station of this authority asks for what it may have.
    fn check_asked(
        &mut self,
        shared: &SharedAtRequest<'_>,
        signature: &EcSignature<'_>,
        store: &mut dyn StationStore,
        now: Time64,
    ) -> Result<(Credential, DatedRequest), PkiError> {
        if shared.ea_id != self.authority.id() {
            return Err(PkiError::WrongEa(shared.ea_id));
        }
        let (credential, request) = self.prove(shared, signature, store, now)?;
        requested(&shared.requested_subject_attributes)?.check_within(&credential.station.permissions)?;
        Ok((credential, request))
    }

    /// Whose credential signed the shared part, and what that signature is recognised by if another question has it, too.
    fn prove(
        &mut self,
        shared: &SharedAtRequest<'_>,
        signature: &EcSignature<'_>,
        store: &mut dyn StationStore,
        now: Time64,
    ) -> Result<(Credential, DatedRequest), PkiError> {
        let opened;
        let message = match signature {
            EcSignature::Encrypted(data) => {
                let key = self.authority.decryption_key.as_deref_mut().ok_or(PkiError::Incomplete("decryption key"))?;
                opened = open_encrypted(data, &self.authority.certificate, key)?.plaintext;
                SignedMessage::decode(&opened)?
            }
            EcSignature::Plain(data) => SignedMessage::new(data.clone())?,
        };
        let credential = find_credential(store, &message)?;
        message.check_signer(&credential.certificate, Psid::CERTIFICATE_REQUEST, now)?;
        message.check_external_payload(shared.received.0)?;
        Ok((credential, DatedRequest::new(self.authority.id(), &message)?))
    }

    /// The period wanted if it may be had, cut to the longest there is, and aligned; that from now if none is wanted.
    fn ticket_period(
        &self,
        wanted: Option<ValidityPeriod>,
        credential: &Credential,
        now: Time64,
    ) -> Result<ValidityPeriod, PkiError> {
        let longest = Duration::Hours(self.policy.ticket_hours_max);
        let period = wanted.unwrap_or(ValidityPeriod { start: now.time32(), duration: longest });
        let start = period.start.time64();
        if period.end() <= now {
            return Err(PkiError::ValidityPeriod("is over"));
        }
        if start > now.plus_us(self.policy.preload_s_max.saturating_mul(1_000_000)) {
            return Err(PkiError::ValidityPeriod("begins too far ahead"));
        }
        let until = credential.certificate.certificate().view().to_be_signed.validity_period.end();
        if start >= until {
            return Err(PkiError::ValidityPeriod("begins after the credential's end"));
        }
        let is_longer = period.duration.us() > longest.us();
        let period = if is_longer { ValidityPeriod { start: period.start, duration: longest } } else { period };
        Ok(self.policy.ticket_periods.align(period, now.time32()))
    }

    fn answer_validation(
        &mut self,
        hash: RequestHash,
        result: Result<CertificateSubjectAttributes<'_>, PkiError>,
        session_key: &SessionKey,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decision, PkiError> {
        let (code, confirmed, refused) = match result {
            Ok(confirmed) => (AuthorizationValidationResponseCode::Ok, Some(confirmed), None),
            Err(PkiError::ValidationRefused(code)) => (code, None, Some(PkiError::ValidationRefused(code))),
            Err(error) => (error.validation_code(), None, Some(error)),
        };
        let response = EtsiTs102941DataContent::AuthorizationValidationResponse(AuthorizationValidationResponse {
            request_hash: hash,
            response_code: code,
            confirmed_subject_attributes: confirmed,
            extensions: ExtensionAdditions::default(),
        });
        let answer = self.authority.answer(response, session_key, now, rng)?;
        Ok(Decision { answer, refused, issued: None })
    }
}

/// Whose request it is. [TS 102 941 §6.2.3.2.1] At first the canonical key signs outside and the identifier is the
/// canonical one; later the current credential signs, and its identifier is the station's.
fn identify(
    outer: &SignedMessage<'_>,
    its_id: &[u8],
    store: &mut dyn StationStore,
    now: Time64,
) -> Result<Station, PkiError> {
    if outer.is_self_signed() {
        let unknown = || PkiError::UnknownStation(its_id.iter().map(|octet| format!("{octet:02x}")).collect());
        let station = store.station(its_id)?.ok_or_else(unknown)?;
        if station.is_revoked {
            return Err(PkiError::RevokedStation(station.name()));
        }
        outer.check_self_signed(&station.canonical_key.to_verification_key(), Psid::CERTIFICATE_REQUEST, now)?;
        return Ok(station);
    }
    let credential = find_credential(store, outer)?;
    if its_id != credential.certificate.id().0 {
        return Err(PkiError::UnknownStation("that is not the signer's".to_owned()));
    }
    outer.check_signer(&credential.certificate, Psid::CERTIFICATE_REQUEST, now)?;
    Ok(credential.station)
}

fn find_credential(store: &mut dyn StationStore, message: &SignedMessage<'_>) -> Result<Credential, PkiError> {
    let id = message.signer_id()?;
    let credential = store.credential(id)?.ok_or_else(|| PkiError::UnknownStation(id.to_string()))?;
    if credential.station.is_revoked {
        return Err(PkiError::RevokedStation(credential.station.name()));
    }
    Ok(credential)
}

/// An authorization authority's certificate says that it may ask.
fn check_may_ask(aa: &SignerCertificate) -> Result<(), PkiError> {
    let view = aa.certificate().view();
    let permissions = Permissions::from_certificate(view.to_be_signed.app_permissions.as_deref().unwrap_or_default());
    let needed: Permissions = "623:0120".parse().expect("well formed");
    match permissions.and_then(|permissions| needed.check_within(&permissions)) {
        Ok(()) => Ok(()),
        Err(_) => Err(PkiError::UntrustedAa(aa.id())),
    }
}

pub(super) fn check_format(format: CertificateFormat) -> Result<(), PkiError> {
    if format == CertificateFormat::TS103097_V131 {
        Ok(())
    } else {
        Err(PkiError::Incomplete("a known certificate format"))
    }
}

/// The permissions asked for, which are not to be those of an authority.
pub(super) fn requested(attributes: &CertificateSubjectAttributes<'_>) -> Result<Permissions, PkiError> {
    if attributes.cert_issue_permissions.is_some() {
        return Err(PkiError::Permission("to issue".to_owned()));
    }
    let permissions = attributes.app_permissions.as_deref().ok_or(PkiError::Incomplete("appPermissions"))?;
    Permissions::from_certificate(permissions)
}

/// A key to be encrypted to has to be a point of its curve.
pub(super) fn check_encryption_key(key: Option<&crate::types::PublicEncryptionKey>) -> Result<(), PkiError> {
    match key.map(PublicPoint::from_encryption_key) {
        Some(Err(error)) => Err(PkiError::Encrypt(error.into())),
        Some(Ok(_)) | None => Ok(()),
    }
}
