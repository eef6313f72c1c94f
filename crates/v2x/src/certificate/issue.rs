//! Issuing explicit certificates, and verifying that one was issued.

use super::{CertificateError, CertificateForm, CertificateHash, certificate_hash};
use crate::coer::Encode;
use crate::crypto::{EcdsaSignature, HashValue, KeyError, SigningKey, VerifyingKey, hash};
use crate::types::{
    Certificate, CertificateBuf, CertificateType, HashAlgorithm, IssuerIdentifier, Received, ToBeSignedCertificate,
    VerificationKeyIndicator,
};

/// Who issues.
#[derive(Clone, Copy, Debug)]
pub enum Issuer<'a> {
    /// The holder itself: roots and trust list managers.
    SelfSigned,
    /// The holder of this certificate.
    Certificate(&'a Certificate<'a>),
}

impl Issuer<'_> {
    /// How certificates of this issuer name it, and its hash in their signatures.
    fn identify(&self, signing_hash: HashAlgorithm) -> Result<(IssuerIdentifier, HashValue), CertificateError> {
        match self {
            Self::SelfSigned => Ok((IssuerIdentifier::SelfSigned(signing_hash), hash(signing_hash, &[])?)),
            Self::Certificate(certificate) => {
                let CertificateHash { algorithm, value } = certificate_hash(certificate, CertificateForm::Canonical)?;
                let id = value.hashed_id8();
                let identifier = match algorithm {
                    HashAlgorithm::Sha256 => IssuerIdentifier::Sha256AndDigest(id),
                    HashAlgorithm::Sha384 => IssuerIdentifier::Sha384AndDigest(id),
                    HashAlgorithm::Sm3 => IssuerIdentifier::Sm3AndDigest(id),
                };
                Ok((identifier, value))
            }
        }
    }
}

/// Issues an explicit certificate: names the issuer, puts every point in its canonical form, and signs with `key`,
/// which is the issuer's.
///
/// ```
/// use chronoseal_v2x::certificate::{Issuer, hashed_id8, issue, verify_certificate_signature};
/// use chronoseal_v2x::crypto::{Curve, SoftwareKey, VerifyingKey};
/// use chronoseal_v2x::types::{
///     CertificateId, Duration, Psid, PsidGroupPermissions, SubjectPermissions, Time32, ToBeSignedCertificate,
///     ValidityPeriod, VerificationKeyIndicator,
/// };
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// let mut key = SoftwareKey::generate(Curve::BrainpoolP256r1, &mut ChaCha20Rng::seed_from_u64(1));
/// let mut tbs = ToBeSignedCertificate::new(
///     CertificateId::Name("root"),
///     ValidityPeriod { start: Time32(700_000_000), duration: Duration::Years(3) },
///     VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key()),
/// );
/// tbs.cert_issue_permissions = Some(vec![PsidGroupPermissions::new(SubjectPermissions::All)]);
/// let root = issue(tbs, Issuer::SelfSigned, &mut key)?;
///
/// println!("{}", hashed_id8(&root.view())?);
/// let public = VerifyingKey::new(key.public_point());
/// verify_certificate_signature(&root.view(), None, &public)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CertificateError::Encode`] if `to_be_signed` is out of bounds, [`CertificateError::Key`] if a key does not work,
/// [`CertificateError::WrongType`] if it has no verification key.
pub fn issue(
    to_be_signed: ToBeSignedCertificate<'_>,
    issuer: Issuer<'_>,
    key: &mut (impl SigningKey + ?Sized),
) -> Result<CertificateBuf, CertificateError> {
    if !matches!(to_be_signed.verify_key_indicator, VerificationKeyIndicator::VerificationKey(_)) {
        return Err(CertificateError::WrongType);
    }
    let algorithm = key.curve().hash();
    let (identifier, issuer_hash) = issuer.identify(algorithm)?;
    let unsigned = Certificate {
        r#type: CertificateType::Explicit,
        issuer: identifier,
        to_be_signed,
        signature: None,
        received: Received::default(),
    };
    let mut certificate = unsigned.canonical();
    let tbs = certificate.to_be_signed.to_coer()?;
    let tbs_hash = hash(algorithm, &[&tbs])?;
    let digest = hash(algorithm, &[tbs_hash.as_bytes(), issuer_hash.as_bytes()])?;
    certificate.signature = Some(key.sign_digest(digest.as_bytes())?.to_signature());
    Ok(CertificateBuf::encoded(&certificate)?)
}

/// The digest a certificate's signature is over: H(H(what it says) || H(its issuer's certificate)), with the hash of
/// nothing for one that is its own issuer. IEEE 1609.2 clause 5.3.1.
///
/// `issuer_hash` is the whole issuer certificate's.
///
/// # Errors
/// [`CertificateError::WrongIssuer`] if the certificate names another issuer, or itself.
pub fn certificate_digest(
    certificate: &Certificate<'_>,
    issuer_hash: Option<&CertificateHash>,
) -> Result<HashValue, CertificateError> {
    let (algorithm, issuer_hash) = match (certificate.issuer, issuer_hash) {
        (IssuerIdentifier::SelfSigned(algorithm), None) => (algorithm, hash(algorithm, &[])?),
        (IssuerIdentifier::Sha256AndDigest(id), Some(issuer))
            if issuer.algorithm == HashAlgorithm::Sha256 && issuer.id() == id =>
        {
            (issuer.algorithm, issuer.value)
        }
        (IssuerIdentifier::Sha384AndDigest(id), Some(issuer))
            if issuer.algorithm == HashAlgorithm::Sha384 && issuer.id() == id =>
        {
            (issuer.algorithm, issuer.value)
        }
        (IssuerIdentifier::Sm3AndDigest(_), _) => return Err(KeyError::Unsupported("SM3").into()),
        _ => return Err(CertificateError::WrongIssuer),
    };
    let encoded;
    let tbs = match certificate.to_be_signed.received.0 {
        [] => {
            encoded = certificate.to_be_signed.to_coer()?;
            &encoded[..]
        }
        received => received,
    };
    let tbs_hash = hash(algorithm, &[tbs])?;
    Ok(hash(algorithm, &[tbs_hash.as_bytes(), issuer_hash.as_bytes()])?)
}

/// Verifies the signature of an explicit certificate; `issuer_hash` is none for one that is its own issuer.
///
/// # Errors
/// [`CertificateError::WrongSignature`], [`CertificateError::WrongIssuer`], or [`CertificateError::WrongType`] for an
/// implicit one.
pub fn verify_certificate_signature(
    certificate: &Certificate<'_>,
    issuer_hash: Option<&CertificateHash>,
    issuer_key: &VerifyingKey,
) -> Result<(), CertificateError> {
    let signature = certificate.signature.as_ref().ok_or(CertificateError::WrongType)?;
    let digest = certificate_digest(certificate, issuer_hash)?;
    let signature = EcdsaSignature::from_signature(signature)?;
    if issuer_key.verify_digest(digest.as_bytes(), &signature) { Ok(()) } else { Err(CertificateError::WrongSignature) }
}
