//! Decrypting.

use super::{SessionKey, symmetric_key_id};
use crate::crypto::{AgreementKey, Curve, KeyError, ccm_open, decrypt_key};
use crate::types::{EncryptedData, EncryptedDataEncryptionKey, HashedId8, RecipientInfo, SymmetricCiphertext};

/// Why a message could not be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecryptError {
    /// It is for others.
    #[error("no recipient has the identifier of this key")]
    NotARecipient,
    /// The encrypted key was changed, or is for another use of the key.
    #[error("the encrypted key does not open")]
    WrongKey,
    /// The text was changed.
    #[error("the ciphertext does not open")]
    WrongCiphertext,
    /// The key does not work.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// What to decrypt with.
pub enum DecryptionKey<'a> {
    /// A symmetric key, of an earlier message or agreed on otherwise.
    Symmetric(&'a SessionKey),
    /// A private key, and what its public half was found in.
    Private {
        /// The identifier of that: certificate, signed message or key.
        recipient_id: HashedId8,
        /// SHA-256 of the certificate or message; of nothing for a bare key.
        p1: [u8; 32],
        /// The key.
        key: &'a mut dyn AgreementKey,
    },
}

impl core::fmt::Debug for DecryptionKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Symmetric(key) => write!(f, "Symmetric({key:?})"),
            Self::Private { recipient_id, .. } => write!(f, "Private({recipient_id:?})"),
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

/// Decrypts a message.
///
/// # Errors
/// [`DecryptError`].
pub fn decrypt(encrypted: &EncryptedData<'_>, key: DecryptionKey<'_>) -> Result<Decrypted, DecryptError> {
    let session_key = match key {
        DecryptionKey::Symmetric(key) => find_symmetric(encrypted, key)?,
        DecryptionKey::Private { recipient_id, p1, key } => find_private(encrypted, recipient_id, &p1, key)?,
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
    id: HashedId8,
    p1: &[u8; 32],
    key: &mut dyn AgreementKey,
) -> Result<SessionKey, DecryptError> {
    let infos = encrypted.recipients.iter().filter_map(|recipient| match recipient {
        RecipientInfo::Certificate(info) | RecipientInfo::SignedData(info) | RecipientInfo::Rek(info) => Some(info),
        _ => None,
    });
    let mut result = Err(DecryptError::NotARecipient);
    for info in infos.filter(|info| info.recipient_id == id) {
        let (curve, encrypted_key) = match &info.enc_key {
            EncryptedDataEncryptionKey::EciesNistP256(key) => (Curve::NistP256, key),
            EncryptedDataEncryptionKey::EciesBrainpoolP256r1(key) => (Curve::BrainpoolP256r1, key),
            EncryptedDataEncryptionKey::EcencSm2256 { .. } => return Err(KeyError::Unsupported("SM2").into()),
        };
        if curve != key.curve() {
            result = Err(KeyError::CurveMismatch { expected: key.curve(), found: curve }.into());
            continue;
        }
        match decrypt_key(key, p1, encrypted_key)? {
            Some(session_key) => return Ok(SessionKey(*session_key)),
            None => result = Err(DecryptError::WrongKey),
        }
    }
    result
}
