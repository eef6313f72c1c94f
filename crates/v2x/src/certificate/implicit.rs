//! Implicit certificates, IEEE 1609.2 clauses 5.3.2 and 6.4.5: they carry no signature; their holder's public key is
//! reconstructed from them and their issuer's key. NIST P-256 only, as the structure has a point of 256 bits and no
//! curve.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{CertificateError, CertificateForm, CertificateHash, certificate_digest, certificate_hash};
use crate::crypto::{
    Curve, KeyError, PublicPoint, SoftwareKey, reconstruct_private, reconstruct_public, reconstruction_point,
    reconstruction_value,
};
use crate::types::{
    Certificate, CertificateBuf, CertificateType, HashAlgorithm, IssuerIdentifier, Received, ToBeSignedCertificate,
    VerificationKeyIndicator,
};

/// [IEEE 1609.2-2022 §5.3.2] What is hashed is as for a signature: H(H(certificate) || H(issuer's)).
fn hash_of(certificate: &Certificate<'_>, issuer_hash: &CertificateHash) -> Result<[u8; 32], CertificateError> {
    let digest = certificate_digest(certificate, Some(issuer_hash))?;
    digest.as_bytes().try_into().map_err(|_| CertificateError::WrongType)
}

fn reconstruction(certificate: &Certificate<'_>) -> Result<PublicPoint, CertificateError> {
    match &certificate.to_be_signed.verify_key_indicator {
        VerificationKeyIndicator::ReconstructionValue(point) if certificate.r#type == CertificateType::Implicit => {
            Ok(PublicPoint::from_curve_point(Curve::NistP256, point)?)
        }
        _ => Err(CertificateError::WrongType),
    }
}

/// The public key of an implicit certificate. There is no signature to be wrong: a changed certificate gives another
/// key, under which nothing verifies.
///
/// # Errors
/// [`CertificateError::WrongIssuer`], [`CertificateError::WrongType`] for an explicit one, [`CertificateError::Key`].
pub fn implicit_public_key(
    certificate: &Certificate<'_>,
    issuer_hash: &CertificateHash,
    issuer_key: &PublicPoint,
) -> Result<PublicPoint, CertificateError> {
    let hash = hash_of(certificate, issuer_hash)?;
    Ok(reconstruct_public(&hash, &reconstruction(certificate)?, issuer_key)?)
}

/// The private key of an implicit certificate, checked against its public half. `value` came beside the certificate.
///
/// # Errors
/// As [`implicit_public_key`], and [`CertificateError::WrongSignature`] if the two halves do not fit.
pub fn implicit_private_key(
    certificate: &Certificate<'_>,
    issuer_hash: &CertificateHash,
    issuer_key: &PublicPoint,
    request: &SoftwareKey,
    value: &[u8; 32],
) -> Result<SoftwareKey, CertificateError> {
    let hash = hash_of(certificate, issuer_hash)?;
    let key = reconstruct_private(&hash, request, value)?;
    if key.public_point() == implicit_public_key(certificate, issuer_hash, issuer_key)? {
        Ok(key)
    } else {
        Err(CertificateError::WrongSignature)
    }
}

/// Issues an implicit certificate to the holder of `request`'s private half. The key indicator of `to_be_signed` is
/// replaced. Gives back the certificate and the value that has to reach the holder, and nobody else, beside it.
///
/// The issuer's key has to be in memory: no token computes with it what is needed here.
///
/// # Errors
/// [`CertificateError::Key`] for another curve than NIST P-256, [`CertificateError::Encode`].
pub fn issue_implicit(
    to_be_signed: ToBeSignedCertificate<'_>,
    issuer: &Certificate<'_>,
    issuer_key: &SoftwareKey,
    request: &PublicPoint,
    rng: &mut impl CryptoRng,
) -> Result<(CertificateBuf, Zeroizing<[u8; 32]>), CertificateError> {
    let issuer_hash = certificate_hash(issuer, CertificateForm::Canonical)?;
    if issuer_hash.algorithm != HashAlgorithm::Sha256 {
        let found = issuer_key.curve();
        return Err(KeyError::CurveMismatch { expected: Curve::NistP256, found }.into());
    }
    let ephemeral = SoftwareKey::generate(Curve::NistP256, rng);
    let point = reconstruction_point(request, &ephemeral)?;
    let mut to_be_signed = to_be_signed;
    to_be_signed.verify_key_indicator = VerificationKeyIndicator::ReconstructionValue(point.to_p256_curve_point()?);
    let certificate = Certificate {
        r#type: CertificateType::Implicit,
        issuer: IssuerIdentifier::Sha256AndDigest(issuer_hash.id()),
        to_be_signed,
        signature: None,
        received: Received::default(),
    }
    .canonical();
    let value = reconstruction_value(&hash_of(&certificate, &issuer_hash)?, &ephemeral, issuer_key)?;
    Ok((CertificateBuf::encoded(&certificate)?, value))
}
