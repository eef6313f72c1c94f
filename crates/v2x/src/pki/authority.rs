//! What authorities are made of: their certificates, what they know of stations, and whom else they trust.

use core::fmt;

use rand_core::CryptoRng;

use super::envelope::can_encrypt;
use super::periods::week;
use super::{
    AnswerStore, DatedRequest, EtsiTs102941DataContent, Permissions, PkiError, RequestHash, open_request, request_hash,
    seal_answer, sign_content,
};
use crate::certificate::{Issuer, issue};
use crate::crypto::{AgreementKey, PublicPoint, SigningKey};
use crate::message::{Decrypted, SessionKey, SignerCertificate, SignerForm};
use crate::region::{Containment, NoGeography, check_region, region_within};
use crate::types::{
    Certificate, CertificateBuf, CertificateId, Duration, EndEntityType, GeographicRegion, HashedId8, Psid,
    PsidGroupPermissions, Time32, Time64, ToBeSignedCertificate, ValidityPeriod, VerificationKeyIndicator,
};

/// Validity of a root's and a trust list manager's certificate `[year]`.
const ROOT_YEARS: u16 = 8;
/// Validity of an authority's certificate `[year]`.
const AUTHORITY_YEARS: u16 = 4;

/// An authority: its certificate and keys.
pub struct Authority {
    /// Its certificate.
    pub certificate: SignerCertificate,
    /// The key it signs with.
    pub signing_key: Box<dyn SigningKey + Send>,
    /// The key it decrypts with; roots and trust list managers have none.
    pub decryption_key: Option<Box<dyn AgreementKey + Send>>,
}

impl Authority {
    /// Its identifier.
    pub fn id(&self) -> HashedId8 {
        self.certificate.id()
    }

    /// How it names itself in what it signs.
    pub(super) fn signer(&mut self) -> (SignerForm<'_>, &mut dyn SigningKey) {
        (SignerForm::Digest(&self.certificate), &mut *self.signing_key)
    }

    /// A request to this authority, opened, and its hash.
    pub(super) fn open(&mut self, request: &[u8]) -> Result<(Decrypted, RequestHash), PkiError> {
        let key = self.decryption_key.as_deref_mut().ok_or(PkiError::Incomplete("decryption key"))?;
        Ok((open_request(request, &self.certificate, key)?, request_hash(request)))
    }

    /// Signs `content` as [TS 102 941 §6.2.3] has it for requests and answers.
    pub(super) fn sign(&mut self, content: EtsiTs102941DataContent<'_>, now: Time64) -> Result<Vec<u8>, PkiError> {
        let (form, key) = self.signer();
        sign_content(content, Psid::CERTIFICATE_REQUEST, form, key, now)
    }

    /// The answer to a request: `content`, signed, and encrypted with the request's key.
    pub(super) fn answer(
        &mut self,
        content: EtsiTs102941DataContent<'_>,
        session_key: &SessionKey,
        now: Time64,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, PkiError> {
        seal_answer(&self.sign(content, now)?, session_key, rng)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authority({})", self.id())
    }
}

/// What an authority is for, and so what its certificate allows. [TS 103 097 §7.2]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The root of a vendor's certificates.
    Root,
    /// Whoever lists the roots.
    TrustListManager,
    /// Whoever issues enrolment credentials.
    Enrolment,
    /// Whoever issues authorization tickets.
    Authorization,
    /// Whoever examines misbehaviour reports.
    Misbehaviour,
}

impl Role {
    /// All of them, those first that others need.
    pub const ALL: [Self; 5] =
        [Self::Root, Self::TrustListManager, Self::Enrolment, Self::Authorization, Self::Misbehaviour];

    /// As files and paths name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "rca",
            Self::TrustListManager => "tlm",
            Self::Enrolment => "ea",
            Self::Authorization => "aa",
            Self::Misbehaviour => "ma",
        }
    }

    /// True if requests are encrypted to it.
    pub fn decrypts(self) -> bool {
        matches!(self, Self::Enrolment | Self::Authorization | Self::Misbehaviour)
    }

    fn permissions(self) -> Permissions {
        match self {
            Self::Root => Permissions::root(),
            Self::TrustListManager => Permissions::trust_list_manager(),
            Self::Enrolment => Permissions::enrolment_authority(),
            Self::Authorization => Permissions::authorization_authority(),
            Self::Misbehaviour => Permissions::misbehaviour_authority(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Issues the certificate of an authority called `name` in the role `role`. Roots and trust list managers issue their
/// own: `issuer` is none, and `signing_key` their key.
///
/// # Errors
/// [`PkiError::Certificate`], or [`PkiError::Incomplete`] if an authority to be written to has no key for it.
#[allow(clippy::missing_panics_doc, reason = "what is parsed is a constant")]
pub fn issue_authority(
    role: Role,
    name: &str,
    verification_key: &PublicPoint,
    encryption_key: Option<&PublicPoint>,
    issuer: Option<&CertificateBuf>,
    signing_key: &mut dyn SigningKey,
    now: Time32,
) -> Result<CertificateBuf, PkiError> {
    if role.decrypts() && !encryption_key.is_some_and(|key| can_encrypt(key.curve())) {
        return Err(PkiError::Incomplete("an encryption key on a curve of 256 bits"));
    }
    let years = if issuer.is_none() { ROOT_YEARS } else { AUTHORITY_YEARS };
    let mut tbs = ToBeSignedCertificate::new(
        CertificateId::Name(name),
        // Tickets may begin before the second they are issued in, and not before their issuer's certificate.
        ValidityPeriod { start: week(now), duration: Duration::Years(years) },
        VerificationKeyIndicator::VerificationKey(verification_key.to_verification_key()),
    );
    tbs.encryption_key = encryption_key.map(PublicPoint::to_encryption_key).transpose()?;
    let (own, tickets, credentials) = (role.permissions(), Permissions::tickets(), Permissions::enrolment_credential());
    // What both kinds of authorities need for themselves.
    let authorities: Permissions = "38 623:013e".parse().expect("well formed");
    tbs.app_permissions = Some(own.to_certificate());
    tbs.cert_issue_permissions = issuing(role, &tickets, &credentials, &authorities);
    let view = issuer.map(CertificateBuf::view);
    let by = view.as_ref().map_or(Issuer::SelfSigned, Issuer::Certificate);
    Ok(issue(tbs, by, signing_key)?)
}

/// The chain to a ticket or credential is one certificate longer from the root. [IEEE 1609.2 §6.4.16]
fn issuing<'a>(
    role: Role,
    tickets: &'a Permissions,
    credentials: &'a Permissions,
    authorities: &'a Permissions,
) -> Option<Vec<PsidGroupPermissions<'a>>> {
    match role {
        Role::Root => Some(vec![
            tickets.to_issuing(2, EndEntityType::APP),
            credentials.to_issuing(2, EndEntityType::ENROLL),
            authorities.to_issuing(1, EndEntityType::APP),
        ]),
        Role::TrustListManager | Role::Misbehaviour => None,
        Role::Enrolment => Some(vec![credentials.to_issuing(1, EndEntityType::ENROLL)]),
        Role::Authorization => Some(vec![tickets.to_issuing(1, EndEntityType::APP)]),
    }
}

/// Whether an authority may issue a certificate for this region: it is one, and all of it lies in the authority's own. One of
/// which that cannot be said is not issued, since a receiver could not say it either.
pub(super) fn check_region_below(issuer: &Certificate<'_>, region: Option<&GeographicRegion>) -> Result<(), PkiError> {
    let Some(region) = region else { return Ok(()) };
    check_region(region).map_err(|fault| PkiError::Region(format!("is none: {fault}")))?;
    let fit = issuer.to_be_signed.region.as_ref().map(|own| region_within(region, own, &NoGeography));
    match fit {
        None | Some(Containment::Inside) => Ok(()),
        Some(Containment::Outside) => Err(PkiError::Region("is not all inside that of the authority".into())),
        Some(Containment::Undecided) => Err(PkiError::Region("cannot be compared with that of the authority".into())),
    }
}

/// A station as its enrolment authority knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its canonical identifier.
    pub canonical_id: Vec<u8>,
    /// Public half of its canonical key.
    pub canonical_key: PublicPoint,
    /// What its tickets may allow.
    pub permissions: Permissions,
    /// True if it gets nothing any more.
    pub is_revoked: bool,
}

impl Station {
    /// The identifier in hexadecimal.
    pub fn name(&self) -> String {
        self.canonical_id.iter().map(|octet| format!("{octet:02x}")).collect()
    }
}

/// An enrolment credential and whose it is.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The credential.
    pub certificate: SignerCertificate,
    /// Its holder.
    pub station: Station,
}

/// What an enrolment authority remembers, the answers it gave among it.
pub trait StationStore: AnswerStore {
    /// The station of this canonical identifier.
    ///
    /// # Errors
    /// [`PkiError::Store`].
    fn station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, PkiError>;

    /// The credential of this identifier, if it was issued here.
    ///
    /// # Errors
    /// [`PkiError::Store`].
    fn credential(&mut self, id: HashedId8) -> Result<Option<Credential>, PkiError>;

    /// Remembers a credential, before it is given out.
    ///
    /// # Errors
    /// [`PkiError::Store`], and then it is not given out.
    fn add_credential(
        &mut self,
        id: HashedId8,
        certificate: &CertificateBuf,
        station: &Station,
    ) -> Result<(), PkiError>;

    /// Counts a ticket confirmed for `station` against those that are valid at some time of `period`, and remembers it
    /// with the `request` it was confirmed for. Gives back the period that counts: that of the first time if the same
    /// request was confirmed before. None, and nothing remembered, if that were more than `at_once_max`.
    ///
    /// # Errors
    /// [`PkiError::Store`]; [`PkiError::Forgotten`] if requests of that time are not remembered any more.
    fn add_confirmed(
        &mut self,
        station: &Station,
        request: DatedRequest,
        period: ValidityPeriod,
        at_once_max: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError>;
}

/// An authority of another root, and where it is.
#[derive(Clone, Debug)]
pub struct TrustedAuthority {
    /// Its certificate, checked up to a trusted root.
    pub certificate: SignerCertificate,
    /// Where to ask it.
    pub url: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{CertificateType, CurvePoint, HashAlgorithm, Received};
    use crate::types::{CircularRegion, IdentifiedRegion, IssuerIdentifier, PublicVerificationKey, TwoDLocation};

    fn round(radius: u16) -> GeographicRegion {
        let center = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };
        GeographicRegion::Circular(CircularRegion { center, radius })
    }

    #[test]
    fn issues_for_a_part_of_its_own_region_only() {
        let key = PublicVerificationKey::EcdsaNistP256(CurvePoint::CompressedY0([1; 32]));
        let validity = ValidityPeriod { start: Time32(0), duration: Duration::Years(1) };
        let key = VerificationKeyIndicator::VerificationKey(key);
        let mut issuer = Certificate {
            r#type: CertificateType::Explicit,
            issuer: IssuerIdentifier::SelfSigned(HashAlgorithm::Sha256),
            to_be_signed: ToBeSignedCertificate::new(CertificateId::None, validity, key),
            signature: None,
            received: Received::default(),
        };
        let none = GeographicRegion::Rectangular(vec![]);
        let germany = GeographicRegion::Identified(vec![IdentifiedRegion::CountryOnly(276)]);
        let reason = |issuer: &Certificate<'_>, region: Option<&GeographicRegion>| {
            check_region_below(issuer, region).unwrap_err().to_string()
        };
        // An authority without a region of its own, and one with.
        check_region_below(&issuer, Some(&round(901))).unwrap();
        assert_eq!(reason(&issuer, Some(&none)), "the region asked for is none: an empty list");
        issuer.to_be_signed.region = Some(round(900));
        check_region_below(&issuer, None).unwrap();
        check_region_below(&issuer, Some(&round(900))).unwrap();
        let outside = "the region asked for is not all inside that of the authority";
        assert_eq!(reason(&issuer, Some(&round(901))), outside);
        let unknown = "the region asked for cannot be compared with that of the authority";
        assert_eq!(reason(&issuer, Some(&germany)), unknown);
    }
}
