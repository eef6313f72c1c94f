//! Signing.

use crate::certificate::{CertificateError, CertificateForm, CertificateHash, certificate_hash, verification_curve};
use crate::coer::{Encode, EncodeError, Writer};
use crate::crypto::{Curve, EcdsaSignature, HashValue, KeyError, SigningKey, hash};
use crate::types::{CertificateBuf, HashAlgorithm, HashedId8, Ieee1609Dot2Data, ToBeSignedData};

/// Why a message could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// A part of it is out of bounds.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The key does not work.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The payload was said to be left out, and is not there to be hashed; or the other way round.
    #[error("an omitted payload has to be handed in, and only an omitted one")]
    OmittedPayload,
}

/// A certificate to sign under, with what is needed of it each time.
#[derive(Clone, Debug)]
pub struct SignerCertificate {
    certificate: CertificateBuf,
    hash: CertificateHash,
    curve: Curve,
}

impl SignerCertificate {
    /// Hashes `certificate`.
    ///
    /// # Errors
    /// [`CertificateError`] if it has no usable key.
    pub fn new(certificate: CertificateBuf) -> Result<Self, CertificateError> {
        let view = certificate.view();
        let curve = verification_curve(&view)?;
        let hash = certificate_hash(&view, CertificateForm::Canonical)?;
        Ok(Self { certificate, hash, curve })
    }

    /// The certificate.
    pub fn certificate(&self) -> &CertificateBuf {
        &self.certificate
    }

    /// Its hash.
    pub fn hash(&self) -> &CertificateHash {
        &self.hash
    }

    /// Its identifier.
    pub fn id(&self) -> HashedId8 {
        self.hash.id()
    }

    /// The curve of its key.
    pub fn curve(&self) -> Curve {
        self.curve
    }
}

/// How the signer is named in the message.
#[derive(Clone, Copy, Debug)]
pub enum SignerForm<'a> {
    /// By its certificate's identifier.
    Digest(&'a SignerCertificate),
    /// By its certificate.
    Certificate(&'a SignerCertificate),
    /// By its certificate and those above it, each followed by its issuer's.
    Chain(&'a SignerCertificate, &'a [CertificateBuf]),
    /// Not at all: the payload contains the key.
    SelfSigned,
}

impl SignerForm<'_> {
    /// The signer's certificate.
    fn certificate(&self) -> Option<&SignerCertificate> {
        match self {
            Self::Digest(signer) | Self::Certificate(signer) | Self::Chain(signer, _) => Some(signer),
            Self::SelfSigned => None,
        }
    }

    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Digest(signer) => writer.alternative(0, &signer.id()),
            Self::Certificate(signer) => {
                writer.tag(1);
                writer.unsigned(1);
                writer.raw(signer.certificate.as_bytes());
            }
            Self::Chain(signer, above) => {
                writer.tag(1);
                writer.unsigned(above.len() as u64 + 1);
                writer.raw(signer.certificate.as_bytes());
                above.iter().for_each(|certificate| writer.raw(certificate.as_bytes()));
            }
            Self::SelfSigned => writer.tag(2),
        }
    }
}

/// A message that lacks only its signature: for keys that sign many at once.
#[derive(Clone, Debug)]
pub struct PreparedMessage {
    bytes: Vec<u8>,
    digest: HashValue,
    curve: Curve,
}

impl PreparedMessage {
    /// What is to be signed.
    pub fn digest(&self) -> &HashValue {
        &self.digest
    }

    /// By a key of which curve.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// The whole message.
    ///
    /// # Errors
    /// [`KeyError::CurveMismatch`].
    pub fn complete(self, signature: &EcdsaSignature) -> Result<Vec<u8>, SignError> {
        let (expected, found) = (self.curve, signature.curve());
        if expected != found {
            return Err(KeyError::CurveMismatch { expected, found }.into());
        }
        let mut writer = Writer::append_to(self.bytes);
        signature.to_signature().encode(&mut writer);
        Ok(writer.finish()?)
    }
}

/// The digest a message's signature is over: H(H(what is signed) || H(the signer's certificate)), with the hash of
/// nothing if it signs for itself. IEEE 1609.2 clause 5.3.1.
///
/// `tbs` are the bytes as they are in the message. `omitted` is the payload if the message says that it left it out; its
/// hash is appended to `tbs` (clause 6.3.6).
///
/// # Errors
/// [`KeyError::Unsupported`] for SM3.
pub fn message_digest(
    algorithm: HashAlgorithm,
    tbs: &[u8],
    omitted: Option<&[u8]>,
    signer_hash: Option<&HashValue>,
) -> Result<HashValue, KeyError> {
    let tbs_hash = match omitted {
        Some(payload) => hash(algorithm, &[tbs, hash(algorithm, &[payload])?.as_bytes()])?,
        None => hash(algorithm, &[tbs])?,
    };
    let of_nothing;
    let signer_hash = match signer_hash {
        Some(signer_hash) => signer_hash,
        None => {
            of_nothing = hash(algorithm, &[])?;
            &of_nothing
        }
    };
    hash(algorithm, &[tbs_hash.as_bytes(), signer_hash.as_bytes()])
}

/// Encodes all of a message but its signature. `curve` is that of the key, and the certificate's if there is one.
///
/// # Errors
/// [`SignError`]; [`KeyError::CurveMismatch`] if certificate and key are of different curves.
pub fn prepare(
    tbs_data: &ToBeSignedData<'_>,
    omitted: Option<&[u8]>,
    signer: SignerForm<'_>,
    curve: Curve,
) -> Result<PreparedMessage, SignError> {
    if tbs_data.payload.omitted != omitted.is_some() {
        return Err(SignError::OmittedPayload);
    }
    let certificate = signer.certificate();
    if let Some(expected) = certificate.map(SignerCertificate::curve).filter(|expected| *expected != curve) {
        return Err(KeyError::CurveMismatch { expected, found: curve }.into());
    }
    let mut writer = Writer::append_to(Vec::with_capacity(512));
    writer.u8(Ieee1609Dot2Data::PROTOCOL_VERSION);
    writer.tag(1);
    curve.hash().encode(&mut writer);
    let start = writer.position();
    tbs_data.encode(&mut writer);
    let end = writer.position();
    signer.encode(&mut writer);
    let bytes = writer.finish()?;
    let signer_hash = certificate.map(|certificate| &certificate.hash.value);
    let digest = message_digest(curve.hash(), &bytes[start..end], omitted, signer_hash)?;
    Ok(PreparedMessage { bytes, digest, curve })
}

/// Signs a message: gives back the bytes of an `Ieee1609Dot2Data`.
///
/// # Errors
/// As [`prepare`], and that of the key.
pub fn sign(
    tbs_data: &ToBeSignedData<'_>,
    signer: SignerForm<'_>,
    key: &mut (impl SigningKey + ?Sized),
) -> Result<Vec<u8>, SignError> {
    let prepared = prepare(tbs_data, None, signer, key.curve())?;
    let signature = key.sign_digest(prepared.digest.as_bytes())?;
    prepared.complete(&signature)
}
