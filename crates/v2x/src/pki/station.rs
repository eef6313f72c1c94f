//! The station's side: requests made, answers taken.

use hmac::{Hmac, KeyInit, Mac};
use rand_core::CryptoRng;
use sha2::Sha256;

use super::envelope::sign_payload;
use super::{
    CertificateFormat, CertificateSubjectAttributes, EcSignature, EtsiTs102941DataContent, InnerAtRequest,
    InnerEcRequest, Permissions, PkiError, PublicKeys, SealedRequest, SharedAtRequest, SignedMessage, check_issued_by,
    sign_content,
};
use crate::coer::{Decode, Encode, ExtensionAdditions};
use crate::crypto::{HashValue, PublicPoint, SigningKey};
use crate::message::{SignerCertificate, SignerForm};
use crate::types::{
    Certificate, CertificateBuf, GeographicRegion, HashedData, Ieee1609Dot2Data, Psid, PublicVerificationKey, Received,
    SignedDataPayload, Time64, ValidityPeriod, VerificationKeyIndicator,
};

/// Who asks for a credential.
pub enum Applicant<'a> {
    /// A station without one, known to the authority by its canonical identifier and key.
    New {
        /// The identifier.
        canonical_id: &'a [u8],
        /// The key.
        canonical_key: &'a mut dyn SigningKey,
    },
    /// A station with one.
    Enrolled {
        /// The credential it has.
        credential: &'a SignerCertificate,
        /// Its key.
        key: &'a mut dyn SigningKey,
    },
}

impl core::fmt::Debug for Applicant<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::New { canonical_id, .. } => write!(f, "New({canonical_id:02x?})"),
            Self::Enrolled { credential, .. } => write!(f, "Enrolled({})", credential.id()),
        }
    }
}

/// A certificate asked for, and all that is needed to know it when it comes.
#[derive(Clone, Debug)]
pub struct Pending {
    request: SealedRequest,
    authority: SignerCertificate,
    key: PublicVerificationKey,
    permissions: Permissions,
}

impl Pending {
    /// What to send to the authority.
    pub fn message(&self) -> &[u8] {
        &self.request.message
    }

    /// The request and the secret that its answer is encrypted with: kept by a station that is to know the answer after a
    /// restart, too. An authority answers a request it has granted already with the same octets.
    pub fn sealed(&self) -> &SealedRequest {
        &self.request
    }

    /// What the certificate is to allow.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// A request to `authority` that was made before, for a certificate for `key`.
    pub fn restore(
        request: SealedRequest,
        authority: SignerCertificate,
        key: &PublicPoint,
        permissions: Permissions,
    ) -> Self {
        Self { request, authority, key: key.to_verification_key(), permissions }
    }
}

/// Asks for an enrolment credential for `new_key`. [TS 102 941 §6.2.3.2.1]
///
/// The new key signs inside, to prove that the station has it; outside signs what the authority knows already: the
/// canonical key at first, the current credential later.
///
/// # Errors
/// [`PkiError::Sign`] or [`PkiError::Encrypt`].
pub fn request_credential(
    applicant: Applicant<'_>,
    new_key: &mut dyn SigningKey,
    authority: &SignerCertificate,
    now: Time64,
    rng: &mut impl CryptoRng,
) -> Result<Pending, PkiError> {
    let permissions = Permissions::enrolment_credential();
    let key = new_key.public_point().to_verification_key();
    let current_id = match &applicant {
        Applicant::New { .. } => None,
        Applicant::Enrolled { credential, .. } => Some(credential.id()),
    };
    let its_id = match (&applicant, &current_id) {
        (Applicant::New { canonical_id, .. }, _) => *canonical_id,
        (Applicant::Enrolled { .. }, Some(id)) => &id.0[..],
        (Applicant::Enrolled { .. }, None) => &[],
    };
    let inner = InnerEcRequest {
        its_id,
        certificate_format: CertificateFormat::TS103097_V131,
        public_keys: PublicKeys { verification_key: key, encryption_key: None },
        requested_subject_attributes: attributes(&permissions, None, None),
        extensions: ExtensionAdditions::default(),
    };
    let inner = inner.to_coer()?;
    let possession = sign_payload(
        SignedDataPayload::unsecured(&inner),
        Psid::CERTIFICATE_REQUEST,
        SignerForm::SelfSigned,
        new_key,
        now,
    )?;
    let content = EtsiTs102941DataContent::EnrolmentRequest(Ieee1609Dot2Data::from_coer(&possession)?);
    let (form, outer_key) = match applicant {
        Applicant::New { canonical_key, .. } => (SignerForm::SelfSigned, canonical_key),
        Applicant::Enrolled { credential, key } => (SignerForm::Digest(credential), key),
    };
    let message = sign_content(content, Psid::CERTIFICATE_REQUEST, form, outer_key, now)?;
    let request = SealedRequest::new(&message, authority, rng)?;
    Ok(Pending { request, authority: authority.clone(), key, permissions })
}

/// What a ticket is to be like.
#[derive(Clone, Debug)]
pub struct TicketWish<'a> {
    /// What it is to allow.
    pub permissions: Permissions,
    /// When; the authority's choice if not said.
    pub validity_period: Option<ValidityPeriod>,
    /// Where; anywhere if not said.
    pub region: Option<GeographicRegion>,
    /// Public half of a key others may encrypt to.
    pub encryption_key: Option<&'a PublicPoint>,
}

/// Asks for an authorization ticket for `ticket_key`. [TS 102 941 §6.2.3.3.1]
///
/// `ea` issued the credential and may be of another root than `aa`. The authorization authority does not learn which
/// credential asks: that is encrypted to `ea`.
///
/// # Errors
/// [`PkiError::Sign`] or [`PkiError::Encrypt`].
pub fn request_ticket(
    wish: &TicketWish<'_>,
    ticket_key: &mut dyn SigningKey,
    credential: (&SignerCertificate, &mut dyn SigningKey),
    (aa, ea): (&SignerCertificate, &SignerCertificate),
    now: Time64,
    rng: &mut impl CryptoRng,
) -> Result<Pending, PkiError> {
    let key = ticket_key.public_point().to_verification_key();
    let encryption_key = wish.encryption_key.map(PublicPoint::to_encryption_key).transpose()?;
    let public_keys = PublicKeys { verification_key: key, encryption_key };
    let mut hmac_key = [0; 32];
    rng.fill_bytes(&mut hmac_key);
    let shared_at_request = SharedAtRequest {
        ea_id: ea.id(),
        key_tag: key_tag(&hmac_key, &public_keys),
        certificate_format: CertificateFormat::TS103097_V131,
        requested_subject_attributes: attributes(&wish.permissions, wish.validity_period, wish.region.clone()),
        extensions: ExtensionAdditions::default(),
        received: Received::default(),
    };
    let hash = HashedData::Sha256(HashValue::sha256(&shared_at_request.to_coer()?).hashed_id32());
    let (certificate, credential_key) = credential;
    let proof = sign_payload(
        SignedDataPayload::hash_only(hash),
        Psid::CERTIFICATE_REQUEST,
        SignerForm::Digest(certificate),
        credential_key,
        now,
    )?;
    let proof = SealedRequest::new(&proof, ea, rng)?.message;
    let ec_signature = EcSignature::Encrypted(Ieee1609Dot2Data::from_coer(&proof)?);
    let extensions = ExtensionAdditions::default();
    let content = EtsiTs102941DataContent::AuthorizationRequest(InnerAtRequest {
        public_keys,
        hmac_key,
        shared_at_request,
        ec_signature,
        extensions,
    });
    let message = sign_content(content, Psid::CERTIFICATE_REQUEST, SignerForm::SelfSigned, ticket_key, now)?;
    let request = SealedRequest::new(&message, aa, rng)?;
    Ok(Pending { request, authority: aa.clone(), key, permissions: wish.permissions.clone() })
}

impl Pending {
    /// Takes the answer of an enrolment authority.
    ///
    /// # Errors
    /// [`PkiError::EnrolmentRefused`] with its code; any other if the answer is not what it should be.
    pub fn credential(&self, answer: &[u8], now: Time64) -> Result<CertificateBuf, PkiError> {
        let plaintext = self.request.open_answer(answer)?;
        let message = SignedMessage::decode(&plaintext)?;
        message.check_signer(&self.authority, Psid::CERTIFICATE_REQUEST, now)?;
        let EtsiTs102941DataContent::EnrolmentResponse(response) = message.content()? else {
            return Err(PkiError::WrongContent { expected: "an enrolment response" });
        };
        if response.request_hash != self.request.hash() {
            return Err(PkiError::AnotherRequest);
        }
        match response.certificate {
            Some(certificate) => self.accept(&certificate, now),
            None => Err(PkiError::EnrolmentRefused(response.response_code)),
        }
    }

    /// Takes the answer of an authorization authority.
    ///
    /// # Errors
    /// [`PkiError::AuthorizationRefused`] with its code; any other if the answer is not what it should be.
    pub fn ticket(&self, answer: &[u8], now: Time64) -> Result<CertificateBuf, PkiError> {
        let plaintext = self.request.open_answer(answer)?;
        let message = SignedMessage::decode(&plaintext)?;
        message.check_signer(&self.authority, Psid::CERTIFICATE_REQUEST, now)?;
        let EtsiTs102941DataContent::AuthorizationResponse(response) = message.content()? else {
            return Err(PkiError::WrongContent { expected: "an authorization response" });
        };
        if response.request_hash != self.request.hash() {
            return Err(PkiError::AnotherRequest);
        }
        match response.certificate {
            Some(certificate) => self.accept(&certificate, now),
            None => Err(PkiError::AuthorizationRefused(response.response_code)),
        }
    }

    /// Checks what was granted: by whom, for which key, and nothing that was not asked for.
    fn accept(&self, certificate: &Certificate<'_>, now: Time64) -> Result<CertificateBuf, PkiError> {
        let owned = CertificateBuf::new(certificate.received.0)?;
        let granted = SignerCertificate::new(owned.clone())?;
        // A ticket may be for later: that it begins in the future is no fault.
        let at = now.max(certificate.to_be_signed.validity_period.start.time64());
        check_issued_by(&granted, &self.authority, at)?;
        if certificate.canonical().to_be_signed.verify_key_indicator
            != VerificationKeyIndicator::VerificationKey(self.key)
        {
            return Err(PkiError::AnotherKey);
        }
        let permissions = certificate.to_be_signed.app_permissions.as_deref().unwrap_or_default();
        Permissions::from_certificate(permissions)?.check_within(&self.permissions)?;
        Ok(owned)
    }
}

/// The tag that binds the keys of a ticket request to the part that the enrolment authority sees: half of their
/// HMAC-SHA256. [TS 102 941 §6.2.3.3.1]
#[allow(clippy::missing_panics_doc, reason = "HMAC takes a key of any length")]
pub fn key_tag(hmac_key: &[u8; 32], keys: &PublicKeys) -> [u8; 16] {
    let mut mac = Hmac::<Sha256>::new_from_slice(hmac_key).expect("HMAC takes a key of any length");
    mac.update(&keys.tagged_bytes());
    let mut tag = [0; 16];
    tag.copy_from_slice(&mac.finalize().into_bytes()[..16]);
    tag
}

fn attributes(
    permissions: &Permissions,
    validity_period: Option<ValidityPeriod>,
    region: Option<GeographicRegion>,
) -> CertificateSubjectAttributes<'_> {
    CertificateSubjectAttributes {
        validity_period,
        region,
        app_permissions: Some(permissions.to_certificate()),
        ..CertificateSubjectAttributes::default()
    }
}
