//! What a certificate is referred to by.

use super::CertificateError;
use crate::coer::{Encode, EncodeError};
use crate::crypto::{Curve, HashValue, KeyError, hash};
use crate::types::{Certificate, HashAlgorithm, HashedId8, PublicVerificationKey, VerificationKeyIndicator};

/// Over which encoding a certificate is hashed.
///
/// The standard says the canonical one. There are issuers whose certificates spell defaults out, and stations that refer
/// to them by the hash of what they received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CertificateForm {
    /// The canonical encoding, made from whatever was received.
    #[default]
    Canonical,
    /// The canonical encoding, and a certificate that came in another one is an error.
    CanonicalOnly,
    /// The bytes as received.
    AsReceived,
}

/// The canonical encoding of a certificate, IEEE 1609.2 clause 6.4.3: defaults left out, points compressed, the
/// signature's r an x coordinate.
///
/// # Errors
/// [`EncodeError`] for one that was built out of bounds; none that was received.
pub fn canonical_bytes(certificate: &Certificate<'_>) -> Result<Vec<u8>, EncodeError> {
    certificate.canonical().to_coer()
}

/// The curve of a certificate's verification key; NIST P-256 for an implicit certificate.
///
/// # Errors
/// [`CertificateError::NoVerificationKey`] for a kind of key that is not known, [`KeyError::Unsupported`] for SM2.
pub fn verification_curve(certificate: &Certificate<'_>) -> Result<Curve, CertificateError> {
    match &certificate.to_be_signed.verify_key_indicator {
        VerificationKeyIndicator::VerificationKey(key) => match key {
            PublicVerificationKey::EcdsaNistP256(_) => Ok(Curve::NistP256),
            PublicVerificationKey::EcdsaBrainpoolP256r1(_) => Ok(Curve::BrainpoolP256r1),
            PublicVerificationKey::EcdsaBrainpoolP384r1(_) => Ok(Curve::BrainpoolP384r1),
            PublicVerificationKey::EcdsaNistP384(_) => Ok(Curve::NistP384),
            PublicVerificationKey::EcsigSm2(_) => Err(KeyError::Unsupported("SM2").into()),
        },
        VerificationKeyIndicator::ReconstructionValue(_) => Ok(Curve::NistP256),
        VerificationKeyIndicator::Unknown(_) => Err(CertificateError::NoVerificationKey),
    }
}

/// A certificate's hash, by the algorithm of its own key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateHash {
    /// The algorithm: that of the certificate's curve.
    pub algorithm: HashAlgorithm,
    /// The hash.
    pub value: HashValue,
}

impl CertificateHash {
    /// The end of it: what certificates are referred to by.
    pub fn id(&self) -> HashedId8 {
        self.value.hashed_id8()
    }
}

/// Hashes a certificate by the algorithm of its own key, IEEE 1609.2 clause 6.4.3.
///
/// # Errors
/// [`CertificateError::NotCanonical`] if `form` asks for it; [`CertificateError::Key`] for SM2.
pub fn certificate_hash(
    certificate: &Certificate<'_>,
    form: CertificateForm,
) -> Result<CertificateHash, CertificateError> {
    let algorithm = verification_curve(certificate)?.hash();
    let received = certificate.received.0;
    let value = if form == CertificateForm::AsReceived && !received.is_empty() {
        hash(algorithm, &[received])?
    } else {
        let canonical = canonical_bytes(certificate)?;
        if form == CertificateForm::CanonicalOnly && !received.is_empty() && received != canonical {
            return Err(CertificateError::NotCanonical);
        }
        hash(algorithm, &[&canonical])?
    };
    Ok(CertificateHash { algorithm, value })
}

/// The identifier of a certificate, from its canonical encoding.
///
/// # Errors
/// As [`certificate_hash`].
pub fn hashed_id8(certificate: &Certificate<'_>) -> Result<HashedId8, CertificateError> {
    Ok(certificate_hash(certificate, CertificateForm::Canonical)?.id())
}
