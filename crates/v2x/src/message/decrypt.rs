//! Decrypting.

use super::{SessionKey, symmetric_key_id};
use crate::certificate::{CertificateError, canonical_bytes, hashed_id8};
use crate::coer::Encode;
use crate::crypto::{AgreementKey, Curve, HashValue, KeyError, ccm_open, decrypt_key};
use crate::types::{
    Certificate, EncryptedData, EncryptedDataEncryptionKey, HashedId8, PkRecipientInfo, RecipientInfo,
    SymmetricCiphertext,
};

/// Why a message could not be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecryptError {
    /// It is for others.
    #[error("no recipient has the identifier of this key")]
    NotARecipient,
    /// It names this key as found in something else than it was: what is encrypted to a certificate's key does not open as
    /// encrypted to a message's, and the other way round.
    #[error("the message has this key's identifier as {found}, which it is not: it is {expected}")]
    OtherKind {
        /// The alternative of `RecipientInfo` that goes with where the key was found.
        expected: &'static str,
        /// The one that the message has.
        found: &'static str,
    },
    /// The encrypted key was changed, or is for another use of the key.
    #[error("the encrypted key does not open")]
    WrongKey,
    /// The text was changed.
    #[error("the ciphertext does not open")]
    WrongCiphertext,
    /// The key does not work.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The certificate the key was found in has no identifier.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// What the sender found the public half of a key in, as [`super::Recipient`] has it: by this the message names it.
#[derive(Clone, Copy, Debug)]
pub enum KeySource<'a> {
    /// This certificate.
    Certificate(&'a Certificate<'a>),
    /// The header of this signed message, here with all its bytes.
    SignedData(&'a [u8]),
    /// The key came in another way.
    Elsewhere,
}

impl KeySource<'_> {
    /// How the ASN.1 calls the alternative of `RecipientInfo`.
    fn name(&self) -> &'static str {
        match self {
            Self::Certificate(_) => "certRecipInfo",
            Self::SignedData(_) => "signedDataRecipInfo",
            Self::Elsewhere => "rekRecipInfo",
        }
    }

    /// The part of a recipient's information that is of this kind.
    fn info<'r>(&self, recipient: &'r RecipientInfo<'_>) -> Option<&'r PkRecipientInfo> {
        match (self, recipient) {
            (Self::Certificate(_), RecipientInfo::Certificate(info))
            | (Self::SignedData(_), RecipientInfo::SignedData(info))
            | (Self::Elsewhere, RecipientInfo::Rek(info)) => Some(info),
            _ => None,
        }
    }

    /// The identifier, and the hash that is bound into the encryption (P1).
    fn identify(&self, key: &dyn AgreementKey) -> Result<(HashedId8, HashValue), DecryptError> {
        // [IEEE 1609.2-2022 §5.3.5, §6.3.33] P1 is the hash of what the public key was found in; of nothing for a bare key.
        Ok(match self {
            Self::Certificate(certificate) => {
                let bytes = canonical_bytes(certificate).map_err(CertificateError::from)?;
                (hashed_id8(certificate)?, HashValue::sha256(&bytes))
            }
            Self::SignedData(message) => {
                let hash = HashValue::sha256(message);
                (hash.hashed_id8(), hash)
            }
            Self::Elsewhere => {
                let public = key.public_point().to_encryption_key()?.to_coer().map_err(CertificateError::from)?;
                (HashValue::sha256(&public).hashed_id8(), HashValue::sha256(&[]))
            }
        })
    }
}

/// What to decrypt with.
pub enum DecryptionKey<'a> {
    /// A symmetric key, of an earlier message or agreed on otherwise.
    Symmetric(&'a SessionKey),
    /// A private key.
    Private {
        /// What its public half was found in.
        source: KeySource<'a>,
        /// The key.
        key: &'a mut dyn AgreementKey,
    },
}

impl core::fmt::Debug for DecryptionKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Symmetric(key) => write!(f, "Symmetric({key:?})"),
            Self::Private { source, .. } => write!(f, "Private({})", source.name()),
        }
    }
}

/// What was in a message.
#[derive(Clone, Debug)]
pub struct Decrypted {
    /// An encoded `Ieee1609Dot2Data`, if the sender followed the standard.
    pub plaintext: Vec<u8>,
    /// The key it was encrypted with, for the answer.
    pub session_key: SessionKey,
}

/// Decrypts a message. Each kind of recipient is what it says: a key from a certificate opens a `certRecipInfo` only, one
/// from a signed message a `signedDataRecipInfo`, another one a `rekRecipInfo`, a symmetric one `pskRecipInfo` and
/// `symmRecipInfo`.
///
/// # Errors
/// [`DecryptError`].
pub fn decrypt(encrypted: &EncryptedData<'_>, key: DecryptionKey<'_>) -> Result<Decrypted, DecryptError> {
    let session_key = match key {
        DecryptionKey::Symmetric(key) => find_symmetric(encrypted, key)?,
        DecryptionKey::Private { source, key } => find_private(encrypted, source, key)?,
    };
    let SymmetricCiphertext::Aes128Ccm(ciphertext) = encrypted.ciphertext else {
        return Err(KeyError::Unsupported("SM4").into());
    };
    let plaintext = ccm_open(&session_key.0, &ciphertext.nonce, ciphertext.ccm_ciphertext);
    Ok(Decrypted { plaintext: plaintext.ok_or(DecryptError::WrongCiphertext)?, session_key })
}

fn find_symmetric(encrypted: &EncryptedData<'_>, key: &SessionKey) -> Result<SessionKey, DecryptError> {
    let id = symmetric_key_id(&key.0);
    for recipient in &encrypted.recipients {
        match recipient {
            RecipientInfo::PreSharedKey(recipient_id) if *recipient_id == id => return Ok(key.clone()),
            RecipientInfo::Symmetric { recipient_id, enc_key } if *recipient_id == id => {
                let SymmetricCiphertext::Aes128Ccm(ciphertext) = enc_key else {
                    return Err(KeyError::Unsupported("SM4").into());
                };
                let opened = ccm_open(&key.0, &ciphertext.nonce, ciphertext.ccm_ciphertext);
                // [IEEE 1609.2-2022 §6.3.35] What is encrypted is a COER-encoded SymmetricEncryptionKey.
                return match opened.as_deref() {
                    Some([0x80, octets @ ..]) => match octets.try_into() {
                        Ok(octets) => Ok(SessionKey(octets)),
                        Err(_) => Err(DecryptError::WrongKey),
                    },
                    _ => Err(DecryptError::WrongKey),
                };
            }
            _ => {}
        }
    }
    Err(DecryptError::NotARecipient)
}

fn find_private(
    encrypted: &EncryptedData<'_>,
    source: KeySource<'_>,
    key: &mut dyn AgreementKey,
) -> Result<SessionKey, DecryptError> {
    let (id, p1) = source.identify(key)?;
    let ours = || encrypted.recipients.iter().filter(|recipient| recipient.recipient_id() == id);
    let mut result = Err(match ours().next() {
        Some(other) => DecryptError::OtherKind { expected: source.name(), found: other.name() },
        None => DecryptError::NotARecipient,
    });
    for info in ours().filter_map(|recipient| source.info(recipient)) {
        let (curve, encrypted_key) = match &info.enc_key {
            EncryptedDataEncryptionKey::EciesNistP256(key) => (Curve::NistP256, key),
            EncryptedDataEncryptionKey::EciesBrainpoolP256r1(key) => (Curve::BrainpoolP256r1, key),
            EncryptedDataEncryptionKey::EcencSm2256 { .. } => return Err(KeyError::Unsupported("SM2").into()),
        };
        if curve != key.curve() {
            result = Err(KeyError::CurveMismatch { expected: key.curve(), found: curve }.into());
            continue;
        }
        match decrypt_key(key, p1.as_bytes(), encrypted_key)? {
            Some(session_key) => return Ok(SessionKey(*session_key)),
            None => result = Err(DecryptError::WrongKey),
        }
    }
    result
}
