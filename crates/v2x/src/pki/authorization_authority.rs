//! The authorization authority's side.

use rand_core::CryptoRng;

use super::answers::{Asked, Keeping};
use super::authority::check_region_below;
use super::enrolment_authority::{check_encryption_key, check_format, requested};
use super::{
    AnswerStore, Authority, AuthorizationResponseCode, AuthorizationValidationRequest,
    AuthorizationValidationResponseCode, CertificateSubjectAttributes, Decision, EtsiTs102941DataContent,
    InnerAtRequest, InnerAtResponse, LookUp, NoAnswer, Permissions, PkiError, PublicKeys, RequestHash, Role,
    SealedRequest, SignedMessage, Step, TrustedAuthority, key_tag,
};
use crate::certificate::{Issuer, issue};
use crate::coer::ExtensionAdditions;
use crate::crypto::SigningKey;
use crate::message::{Decrypted, SessionKey, SignerCertificate};
use crate::types::{
    CertificateBuf, CertificateId, HashedId8, Psid, Time64, ToBeSignedCertificate, VerificationKeyIndicator,
};

/// Issues authorization tickets to stations it does not know, on the word of the enrolment authority they name.
/// [TS 102 941 §6.2.3.3]
#[derive(Debug)]
pub struct AuthorizationAuthority {
    /// Its certificate and keys.
    pub authority: Authority,
    /// The enrolment authority of the same root; others are looked up, see [`Step::LookUp`].
    pub own_ea: TrustedAuthority,
    /// Answers every request with this, to see what the station does.
    pub fault: Option<AuthorizationResponseCode>,
}

/// A question to an enrolment authority, and all that is needed to go on when the answer is there.
#[derive(Debug)]
pub struct Question {
    ea: TrustedAuthority,
    sealed: SealedRequest,
    request_hash: RequestHash,
    session_key: SessionKey,
    keys: PublicKeys,
    keeping: Keeping,
}

/// What a request leads to.
#[allow(clippy::large_enum_variant, reason = "one of them lives at a time")]
enum Asking {
    /// It was granted before, with this answer.
    Done(Vec<u8>),
    /// The enrolment authority of this identifier, of another root, is looked up.
    LookUp(HashedId8),
    /// The enrolment authority is asked.
    Ea { ea: TrustedAuthority, sealed: SealedRequest, keys: PublicKeys, keeping: Keeping },
}

impl Question {
    /// Where to.
    pub fn url(&self) -> &str {
        &self.ea.url
    }

    /// The enrolment authority asked.
    pub fn ea(&self) -> &SignerCertificate {
        &self.ea.certificate
    }

    /// What to send.
    pub fn message(&self) -> &[u8] {
        &self.sealed.message
    }
}

impl AuthorizationAuthority {
    /// Without faults.
    pub fn new(authority: Authority, own_ea: TrustedAuthority) -> Self {
        Self { authority, own_ea, fault: None }
    }

    /// Takes a request of a station; one that was granted before is answered as before.
    ///
    /// # Errors
    /// Only if the request cannot be decrypted, since then there is no key to answer with, or no answer can be made.
    pub fn handle(
        &mut self,
        request: &[u8],
        answers: &mut dyn AnswerStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Step, PkiError> {
        let (opened, hash) = self.authority.open(request)?;
        let asked = match self.fault {
            Some(code) => Err(PkiError::AuthorizationRefused(code)),
            None => self.question(&opened.plaintext, None, answers, now, rng),
        };
        self.step(opened, hash, asked, now, rng)
    }

    /// Goes on when the enrolment authority that was to be looked up is found; `found` says why if it is not.
    ///
    /// # Errors
    /// Only if no answer can be made.
    pub fn resume_look_up(
        &mut self,
        look_up: LookUp,
        found: Result<TrustedAuthority, PkiError>,
        answers: &mut dyn AnswerStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Step, PkiError> {
        // All is checked once more: time has passed, and a copy of the request may have been granted.
        let asked = found.and_then(|ea| match ea.certificate.id() == look_up.id {
            true => self.question(&look_up.opened.plaintext, Some(ea), answers, now, rng),
            false => Err(look_up.unknown()),
        });
        self.step(look_up.opened, look_up.request_hash, asked, now, rng)
    }

    fn step(
        &mut self,
        opened: Decrypted,
        hash: RequestHash,
        asked: Result<Asking, PkiError>,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Step, PkiError> {
        match asked {
            Ok(Asking::Done(answer)) => Ok(Step::Done(Decision { answer, refused: None, issued: None })),
            Ok(Asking::LookUp(id)) => {
                Ok(Step::LookUp(Box::new(LookUp { role: Role::Enrolment, id, opened, request_hash: hash })))
            }
            Ok(Asking::Ea { ea, sealed, keys, keeping }) => {
                let session_key = opened.session_key;
                let question = Question { ea, sealed, request_hash: hash, session_key, keys, keeping };
                Ok(Step::Ask(Box::new(question)))
            }
            Err(error) => self.answer(hash, Err(error), &opened.session_key, now, rng).map(Step::Done),
        }
    }

    /// Goes on when the enrolment authority answered, or when it is clear that it will not: `answer` says why. If a copy
    /// of the request was granted meanwhile, this one gets the same answer.
    ///
    /// # Errors
    /// Only if no answer can be made or kept.
    pub fn resume(
        &mut self,
        question: &Question,
        answer: Result<&[u8], NoAnswer>,
        answers: &mut dyn AnswerStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decision, PkiError> {
        if let Some(answer) = answers.answer(question.keeping.identity(), now)? {
            return Ok(Decision { answer, refused: None, issued: None });
        }
        let issued = answer.map_err(PkiError::UnreachableEa).and_then(|answer| self.issue(question, answer, now));
        let decision = self.answer(question.request_hash, issued, &question.session_key, now, rng)?;
        question.keeping.keep(decision, answers)
    }

    fn question(
        &mut self,
        plaintext: &[u8],
        found: Option<TrustedAuthority>,
        answers: &mut dyn AnswerStore,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Asking, PkiError> {
        let outer = SignedMessage::decode(plaintext)?;
        let EtsiTs102941DataContent::AuthorizationRequest(wanted) = outer.content()? else {
            return Err(PkiError::WrongContent { expected: "an authorization request" });
        };
        outer.check_self_signed(&wanted.public_keys.verification_key, Psid::CERTIFICATE_REQUEST, now)?;
        let keeping = match Asked::look_up(&outer, self.authority.id(), answers, now)? {
            Asked::Before(answer) => return Ok(Asking::Done(answer)),
            Asked::Anew(keeping) => keeping,
        };
        let InnerAtRequest { public_keys, hmac_key, shared_at_request, ec_signature, .. } = wanted;
        if key_tag(&hmac_key, &public_keys) != shared_at_request.key_tag {
            return Err(PkiError::KeyTag);
        }
        check_encryption_key(public_keys.encryption_key.as_ref())?;
        check_format(shared_at_request.certificate_format)?;
        requested(&shared_at_request.requested_subject_attributes)?.check_within(&Permissions::tickets())?;
        let ea = if shared_at_request.ea_id == self.own_ea.certificate.id() {
            self.own_ea.clone()
        } else {
            match found {
                Some(found) => found,
                None => return Ok(Asking::LookUp(shared_at_request.ea_id)),
            }
        };
        let content = EtsiTs102941DataContent::AuthorizationValidationRequest(AuthorizationValidationRequest {
            shared_at_request,
            ec_signature,
            extensions: ExtensionAdditions::default(),
        });
        let signed = self.authority.sign(content, now)?;
        let sealed = SealedRequest::new(&signed, &ea.certificate, rng)?;
        Ok(Asking::Ea { ea, sealed, keys: public_keys, keeping })
    }

    /// Issues what the enrolment authority confirms.
    fn issue(&mut self, question: &Question, answer: &[u8], now: Time64) -> Result<CertificateBuf, PkiError> {
        let useless = |error: PkiError| PkiError::UnreachableEa(NoAnswer::Useless(Box::new(error)));
        let plaintext = question.sealed.open_answer(answer).map_err(useless)?;
        let message = SignedMessage::decode(&plaintext).map_err(useless)?;
        message.check_signer(&question.ea.certificate, Psid::CERTIFICATE_REQUEST, now).map_err(useless)?;
        let EtsiTs102941DataContent::AuthorizationValidationResponse(response) = message.content().map_err(useless)?
        else {
            return Err(useless(PkiError::WrongContent { expected: "an authorization validation response" }));
        };
        if response.request_hash != question.sealed.hash() {
            return Err(useless(PkiError::AnotherRequest));
        }
        let confirmed = match response.confirmed_subject_attributes {
            Some(confirmed) if response.response_code == AuthorizationValidationResponseCode::Ok => confirmed,
            _ => return Err(PkiError::ValidationRefused(response.response_code)),
        };
        let Authority { certificate, signing_key, .. } = &mut self.authority;
        issue_ticket(certificate.certificate(), &mut **signing_key, &question.keys, confirmed)
    }

    fn answer(
        &mut self,
        hash: RequestHash,
        result: Result<CertificateBuf, PkiError>,
        session_key: &SessionKey,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Decision, PkiError> {
        let (code, issued, refused) = match result {
            Ok(certificate) => (AuthorizationResponseCode::Ok, Some(certificate), None),
            Err(PkiError::AuthorizationRefused(code)) => (code, None, Some(PkiError::AuthorizationRefused(code))),
            Err(error) => (error.authorization_code(), None, Some(error)),
        };
        let view = issued.as_ref().map(CertificateBuf::view);
        let response = EtsiTs102941DataContent::AuthorizationResponse(InnerAtResponse {
            request_hash: hash,
            response_code: code,
            certificate: view,
            extensions: ExtensionAdditions::default(),
        });
        let answer = self.authority.answer(response, session_key, now, rng)?;
        Ok(Decision { answer, refused, issued })
    }
}

/// Issues a ticket for what an enrolment authority confirms: the part of an authorization authority that needs its certificate
/// and its key, and no request.
///
/// # Errors
/// [`PkiError`] if what is confirmed lacks permissions or a period, is more than a ticket can have, or goes beyond what the
/// issuer's certificate holds.
pub fn issue_ticket(
    issuer: &CertificateBuf,
    key: &mut (impl SigningKey + ?Sized),
    keys: &PublicKeys,
    confirmed: CertificateSubjectAttributes<'_>,
) -> Result<CertificateBuf, PkiError> {
    let permissions = requested(&confirmed)?;
    permissions.check_within(&Permissions::tickets())?;
    let mut period = confirmed.validity_period.ok_or(PkiError::Incomplete("validityPeriod"))?;
    let issuer = issuer.view();
    // A chain whose lower certificate begins first is refused.
    period.start = period.start.max(issuer.to_be_signed.validity_period.start);
    if period.end() > issuer.to_be_signed.validity_period.end() {
        return Err(PkiError::ValidityPeriod("ends after this authority's certificate"));
    }
    let mut tbs = ToBeSignedCertificate::new(
        CertificateId::None,
        period,
        VerificationKeyIndicator::VerificationKey(keys.verification_key),
    );
    check_region_below(&issuer, confirmed.region.as_ref())?;
    tbs.region = confirmed.region;
    tbs.assurance_level = confirmed.assurance_level;
    tbs.app_permissions = Some(permissions.to_certificate());
    tbs.encryption_key = keys.encryption_key;
    Ok(issue(tbs, Issuer::Certificate(&issuer), key)?)
}
