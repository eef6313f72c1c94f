//! Encrypting.

use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::certificate::{CertificateError, canonical_bytes, hashed_id8};
use crate::coer::{Encode, EncodeError};
use crate::crypto::{Curve, HashValue, KeyError, PublicPoint, ccm_seal, encrypt_key};
use crate::types::{
    CcmCiphertext, Certificate, EncryptedData, EncryptedDataEncryptionKey, HashedId8, Ieee1609Dot2Content,
    Ieee1609Dot2Data, PkRecipientInfo, PublicEncryptionKey, RecipientInfo, SymmetricCiphertext, SymmetricEncryptionKey,
};

/// Why a message could not be encrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptError {
    /// 2^24 octets or more.
    #[error("the plaintext is too long for the cipher's nonce")]
    TooLong,
    /// The recipient's certificate has no key to encrypt to.
    #[error("the recipient's certificate has no encryption key")]
    NoEncryptionKey,
    /// Nobody to encrypt to.
    #[error("a message needs a recipient")]
    NoRecipient,
    /// A recipient's key is of no use.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A recipient's certificate is of no use.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A part of the message is out of bounds.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// The symmetric key of one message, and of the answer to it in TS 102 941; wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SessionKey(pub [u8; 16]);

impl SessionKey {
    /// A new key.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = Self([0; 16]);
        rng.fill_bytes(&mut key.0);
        key
    }

    /// By what an answer encrypted with it refers to it.
    pub fn id(&self) -> HashedId8 {
        symmetric_key_id(&self.0)
    }
}

impl core::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SessionKey(hidden)")
    }
}

/// The identifier of an AES key: of its COER encoding as `SymmetricEncryptionKey`, 0x80 and the key. IEEE 1609.2
/// clause 6.3.34.
pub fn symmetric_key_id(key: &[u8; 16]) -> HashedId8 {
    let mut encoded = [0x80; 17];
    encoded[1..].copy_from_slice(key);
    let id = HashValue::sha256(&encoded).hashed_id8();
    encoded.zeroize();
    id
}

/// Who can read a message.
#[derive(Clone, Copy, Debug)]
pub enum Recipient<'a> {
    /// The holder of this certificate.
    Certificate(&'a Certificate<'a>),
    /// Whoever sent this signed message, whose header contains the key.
    SignedData {
        /// The bytes of the message.
        message: &'a [u8],
        /// The key in it.
        key: &'a PublicEncryptionKey,
    },
    /// The holder of a key that came in another way.
    Key(&'a PublicEncryptionKey),
    /// Whoever has the session key already.
    PreSharedKey,
}

impl Recipient<'_> {
    fn info(&self, key: &SessionKey, rng: &mut impl CryptoRng) -> Result<RecipientInfo<'static>, EncryptError> {
        // [IEEE 1609.2-2022 §5.3.5, §6.3.33] P1 is the hash of what the recipient's key was found in.
        match self {
            Self::Certificate(certificate) => {
                let public = certificate.to_be_signed.encryption_key.ok_or(EncryptError::NoEncryptionKey)?;
                let p1 = HashValue::sha256(&canonical_bytes(certificate)?);
                let recipient_id = hashed_id8(certificate)?;
                let enc_key = encrypted_key(&public, &p1, key, rng)?;
                Ok(RecipientInfo::Certificate(PkRecipientInfo { recipient_id, enc_key }))
            }
            Self::SignedData { message, key: public } => {
                let p1 = HashValue::sha256(message);
                let enc_key = encrypted_key(public, &p1, key, rng)?;
                Ok(RecipientInfo::SignedData(PkRecipientInfo { recipient_id: p1.hashed_id8(), enc_key }))
            }
            Self::Key(public) => {
                let recipient_id = HashValue::sha256(&public.canonical().to_coer()?).hashed_id8();
                let enc_key = encrypted_key(public, &HashValue::sha256(&[]), key, rng)?;
                Ok(RecipientInfo::Rek(PkRecipientInfo { recipient_id, enc_key }))
            }
            Self::PreSharedKey => Ok(RecipientInfo::PreSharedKey(key.id())),
        }
    }
}

fn encrypted_key(
    public: &PublicEncryptionKey,
    p1: &HashValue,
    key: &SessionKey,
    rng: &mut impl CryptoRng,
) -> Result<EncryptedDataEncryptionKey, KeyError> {
    let point = PublicPoint::from_encryption_key(public)?;
    let encrypted = encrypt_key(&point, p1.as_bytes(), &key.0, rng)?;
    Ok(match point.curve() {
        Curve::BrainpoolP256r1 => EncryptedDataEncryptionKey::EciesBrainpoolP256r1(encrypted),
        _ => EncryptedDataEncryptionKey::EciesNistP256(encrypted),
    })
}

/// Encrypts `plaintext`, an encoded `Ieee1609Dot2Data`, to all of `recipients` with a new key. Gives back the message,
/// and the key, which the answer may come encrypted with.
///
/// # Errors
/// [`EncryptError`].
pub fn encrypt(
    plaintext: &[u8],
    recipients: &[Recipient<'_>],
    rng: &mut impl CryptoRng,
) -> Result<(Vec<u8>, SessionKey), EncryptError> {
    let key = SessionKey::generate(rng);
    let message = encrypt_with_session_key(plaintext, recipients, &key, rng)?;
    Ok((message, key))
}

/// As [`encrypt`] with a key that is there: the answer to an encrypted request is encrypted with the request's key and
/// [`Recipient::PreSharedKey`].
///
/// # Errors
/// [`EncryptError`].
pub fn encrypt_with_session_key(
    plaintext: &[u8],
    recipients: &[Recipient<'_>],
    key: &SessionKey,
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, EncryptError> {
    if recipients.is_empty() {
        return Err(EncryptError::NoRecipient);
    }
    let recipients = recipients.iter().map(|recipient| recipient.info(key, rng)).collect::<Result<Vec<_>, _>>()?;
    let mut nonce = [0; 12];
    rng.fill_bytes(&mut nonce);
    let ccm_ciphertext = ccm_seal(&key.0, &nonce, plaintext)?;
    let ciphertext = SymmetricCiphertext::Aes128Ccm(CcmCiphertext { nonce, ccm_ciphertext: &ccm_ciphertext });
    let content = Ieee1609Dot2Content::EncryptedData(EncryptedData { recipients, ciphertext });
    Ok(Ieee1609Dot2Data { content }.to_coer()?)
}

/// `SymmetricEncryptionKey` of a session key, for a header.
impl From<&SessionKey> for SymmetricEncryptionKey {
    fn from(key: &SessionKey) -> Self {
        Self::Aes128Ccm(key.0)
    }
}
