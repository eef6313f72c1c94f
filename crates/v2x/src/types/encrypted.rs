//! Encrypted data, IEEE 1609.2 clauses 6.3.31 to 6.3.43.

use super::{CurvePoint, EccP256CurvePoint, HashedId8};
use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};

/// Encrypted data and who can read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedData<'a> {
    /// Each gets the key in its own way.
    pub recipients: Vec<RecipientInfo<'a>>,
    /// A message, encrypted.
    pub ciphertext: SymmetricCiphertext<'a>,
}

impl<'a> Decode<'a> for EncryptedData<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            recipients: reader.field("recipients", |reader| reader.list(0, RecipientInfo::decode))?,
            ciphertext: reader.component("ciphertext")?,
        })
    }
}

impl Encode for EncryptedData<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.list("recipients", 0, &self.recipients, |writer, recipient| recipient.encode(writer));
        self.ciphertext.encode(writer);
    }
}

/// How one recipient gets the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipientInfo<'a> {
    /// It has it already; the identifier is of the COER-encoded `SymmetricEncryptionKey`.
    PreSharedKey(HashedId8),
    /// Encrypted with a symmetric key it has.
    Symmetric {
        /// Identifier of that key.
        recipient_id: HashedId8,
        /// The key, encrypted.
        enc_key: SymmetricCiphertext<'a>,
    },
    /// Encrypted with the key in its certificate; the identifier is of the certificate.
    Certificate(PkRecipientInfo),
    /// Encrypted with a key from a signed message; the identifier is of that message.
    SignedData(PkRecipientInfo),
    /// Encrypted with a key that came in another way; the identifier is of the `PublicEncryptionKey`.
    Rek(PkRecipientInfo),
}

impl RecipientInfo<'_> {
    /// How the ASN.1 calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PreSharedKey(_) => "pskRecipInfo",
            Self::Symmetric { .. } => "symmRecipInfo",
            Self::Certificate(_) => "certRecipInfo",
            Self::SignedData(_) => "signedDataRecipInfo",
            Self::Rek(_) => "rekRecipInfo",
        }
    }

    /// By what the recipient knows itself.
    pub fn recipient_id(&self) -> HashedId8 {
        match self {
            Self::PreSharedKey(id) | Self::Symmetric { recipient_id: id, .. } => *id,
            Self::Certificate(info) | Self::SignedData(info) | Self::Rek(info) => info.recipient_id,
        }
    }
}

impl<'a> Decode<'a> for RecipientInfo<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::PreSharedKey(reader.component("pskRecipInfo")?),
            1 => reader.field("symmRecipInfo", |reader| {
                Ok(Self::Symmetric {
                    recipient_id: reader.component("recipientId")?,
                    enc_key: reader.component("encKey")?,
                })
            })?,
            2 => Self::Certificate(reader.component("certRecipInfo")?),
            3 => Self::SignedData(reader.component("signedDataRecipInfo")?),
            4 => Self::Rek(reader.component("rekRecipInfo")?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for RecipientInfo<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::PreSharedKey(id) => writer.alternative(0, id),
            Self::Symmetric { recipient_id, enc_key } => {
                writer.tag(1);
                recipient_id.encode(writer);
                enc_key.encode(writer);
            }
            Self::Certificate(info) => writer.alternative(2, info),
            Self::SignedData(info) => writer.alternative(3, info),
            Self::Rek(info) => writer.alternative(4, info),
        }
    }
}

/// A key encrypted to a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PkRecipientInfo {
    /// What the public key was found in.
    pub recipient_id: HashedId8,
    /// The key, encrypted.
    pub enc_key: EncryptedDataEncryptionKey,
}

impl<'a> Decode<'a> for PkRecipientInfo {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { recipient_id: reader.component("recipientId")?, enc_key: reader.component("encKey")? })
    }
}

impl Encode for PkRecipientInfo {
    fn encode(&self, writer: &mut Writer) {
        self.recipient_id.encode(writer);
        self.enc_key.encode(writer);
    }
}

/// A key encrypted to a public key, by algorithm and curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum EncryptedDataEncryptionKey {
    EciesNistP256(EciesP256EncryptedKey),
    EciesBrainpoolP256r1(EciesP256EncryptedKey),
    /// SM2, which can be carried, not opened.
    EcencSm2256 {
        v: EccP256CurvePoint,
        c: [u8; 16],
        t: [u8; 32],
    },
}

impl<'a> Decode<'a> for EncryptedDataEncryptionKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::EciesNistP256(reader.component("eciesNistP256")?),
            1 => Self::EciesBrainpoolP256r1(reader.component("eciesBrainpoolP256r1")?),
            2 => reader.open_type(|reader| {
                Ok(Self::EcencSm2256 { v: reader.component("v")?, c: reader.array()?, t: reader.array()? })
            })?,
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for EncryptedDataEncryptionKey {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::EciesNistP256(key) => writer.alternative(0, key),
            Self::EciesBrainpoolP256r1(key) => writer.alternative(1, key),
            Self::EcencSm2256 { v, c, t } => {
                writer.tag(2);
                writer.open_type(|writer| {
                    v.encode(writer);
                    writer.raw(c);
                    writer.raw(t);
                });
            }
        }
    }
}

/// A key encrypted by ECIES, IEEE 1609.2 clause 5.3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EciesP256EncryptedKey {
    /// The sender's ephemeral public key.
    pub v: EccP256CurvePoint,
    /// The key, masked.
    pub c: [u8; 16],
    /// Its tag.
    pub t: [u8; 16],
}

impl<'a> Decode<'a> for EciesP256EncryptedKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            v: reader.field("v", CurvePoint::decode)?,
            c: reader.field("c", Reader::array)?,
            t: reader.field("t", Reader::array)?,
        })
    }
}

impl Encode for EciesP256EncryptedKey {
    fn encode(&self, writer: &mut Writer) {
        self.v.encode(writer);
        writer.raw(&self.c);
        writer.raw(&self.t);
    }
}

/// Ciphertext of a block cipher in CCM mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum SymmetricCiphertext<'a> {
    Aes128Ccm(CcmCiphertext<'a>),
    Sm4Ccm(CcmCiphertext<'a>),
}

impl<'a> Decode<'a> for SymmetricCiphertext<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Aes128Ccm(reader.component("aes128ccm")?),
            1 => Self::Sm4Ccm(reader.open_type(|reader| reader.component("sm4Ccm"))?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for SymmetricCiphertext<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Aes128Ccm(ciphertext) => writer.alternative(0, ciphertext),
            Self::Sm4Ccm(ciphertext) => writer.extension_alternative(1, ciphertext),
        }
    }
}

/// Nonce, ciphertext and tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcmCiphertext<'a> {
    /// Never twice with one key.
    pub nonce: [u8; 12],
    /// As long as the plaintext and 16 octets more.
    pub ccm_ciphertext: &'a [u8],
}

impl<'a> Decode<'a> for CcmCiphertext<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            nonce: reader.field("nonce", Reader::array)?,
            ccm_ciphertext: reader.field("ccmCiphertext", Reader::octets)?,
        })
    }
}

impl Encode for CcmCiphertext<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.raw(&self.nonce);
        writer.octets(self.ccm_ciphertext);
    }
}
