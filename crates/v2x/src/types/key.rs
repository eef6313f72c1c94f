//! Algorithms, keys and signatures, IEEE 1609.2 clauses 6.3.5, 6.3.18, 6.3.30 to 6.3.43 and 6.4.38.

use super::{CurvePoint, EccP256CurvePoint, EccP384CurvePoint};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, Reader, Writer};

/// A hash function. SM3 can be named, not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum HashAlgorithm {
    Sha256,
    Sha384,
    Sm3,
}

impl<'a> Decode<'a> for HashAlgorithm {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.enumerated()? {
            0 => Self::Sha256,
            1 => Self::Sha384,
            2 => Self::Sm3,
            value => return Err(reader.error(DecodeErrorKind::UnknownItem { value })),
        })
    }
}

impl Encode for HashAlgorithm {
    fn encode(&self, writer: &mut Writer) {
        writer.enumerated(*self as u8);
    }
}

/// A block cipher in CCM mode. SM4 can be named, not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum SymmAlgorithm {
    Aes128Ccm,
    Sm4Ccm,
}

impl<'a> Decode<'a> for SymmAlgorithm {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.enumerated()? {
            0 => Self::Aes128Ccm,
            1 => Self::Sm4Ccm,
            value => return Err(reader.error(DecodeErrorKind::UnknownItem { value })),
        })
    }
}

impl Encode for SymmAlgorithm {
    fn encode(&self, writer: &mut Writer) {
        writer.enumerated(*self as u8);
    }
}

/// An ECDSA signature: r as a point or its x, and s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EcdsaSignatureValue<const N: usize> {
    /// The point whose x is r; canonical is [`CurvePoint::XOnly`].
    pub r_sig: CurvePoint<N>,
    /// s, big-endian.
    pub s_sig: [u8; N],
}

impl<'a, const N: usize> Decode<'a> for EcdsaSignatureValue<N> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { r_sig: reader.field("rSig", CurvePoint::decode_r)?, s_sig: reader.field("sSig", Reader::array)? })
    }
}

impl<const N: usize> Encode for EcdsaSignatureValue<N> {
    fn encode(&self, writer: &mut Writer) {
        self.r_sig.encode(writer);
        writer.raw(&self.s_sig);
    }
}

/// A signature, by algorithm and curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum Signature {
    EcdsaNistP256(EcdsaSignatureValue<32>),
    EcdsaBrainpoolP256r1(EcdsaSignatureValue<32>),
    EcdsaBrainpoolP384r1(EcdsaSignatureValue<48>),
    EcdsaNistP384(EcdsaSignatureValue<48>),
    /// SM2, which can be carried, not verified.
    Sm2 {
        r_sig: [u8; 32],
        s_sig: [u8; 32],
    },
}

impl Signature {
    /// The same signature with an r that is x-only.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        match &mut self {
            Self::EcdsaNistP256(value) | Self::EcdsaBrainpoolP256r1(value) => value.r_sig = value.r_sig.x_only(),
            Self::EcdsaBrainpoolP384r1(value) | Self::EcdsaNistP384(value) => value.r_sig = value.r_sig.x_only(),
            Self::Sm2 { .. } => {}
        }
        self
    }
}

impl<'a> Decode<'a> for Signature {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::EcdsaNistP256(reader.component("ecdsaNistP256Signature")?),
            1 => Self::EcdsaBrainpoolP256r1(reader.component("ecdsaBrainpoolP256r1Signature")?),
            2 => Self::EcdsaBrainpoolP384r1(
                reader.open_type(|reader| reader.component("ecdsaBrainpoolP384r1Signature"))?,
            ),
            3 => Self::EcdsaNistP384(reader.open_type(|reader| reader.component("ecdsaNistP384Signature"))?),
            4 => reader.open_type(|reader| Ok(Self::Sm2 { r_sig: reader.array()?, s_sig: reader.array()? }))?,
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for Signature {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::EcdsaNistP256(value) => writer.alternative(0, value),
            Self::EcdsaBrainpoolP256r1(value) => writer.alternative(1, value),
            Self::EcdsaBrainpoolP384r1(value) => writer.extension_alternative(2, value),
            Self::EcdsaNistP384(value) => writer.extension_alternative(3, value),
            Self::Sm2 { r_sig, s_sig } => {
                writer.tag(4);
                writer.open_type(|writer| {
                    writer.raw(r_sig);
                    writer.raw(s_sig);
                });
            }
        }
    }
}

/// A key to verify signatures with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum PublicVerificationKey {
    EcdsaNistP256(EccP256CurvePoint),
    EcdsaBrainpoolP256r1(EccP256CurvePoint),
    EcdsaBrainpoolP384r1(EccP384CurvePoint),
    EcdsaNistP384(EccP384CurvePoint),
    EcsigSm2(EccP256CurvePoint),
}

impl PublicVerificationKey {
    /// The same key as a compressed point.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        match &mut self {
            Self::EcdsaNistP256(point) | Self::EcdsaBrainpoolP256r1(point) | Self::EcsigSm2(point) => {
                *point = point.compressed();
            }
            Self::EcdsaBrainpoolP384r1(point) | Self::EcdsaNistP384(point) => *point = point.compressed(),
        }
        self
    }
}

impl<'a> Decode<'a> for PublicVerificationKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::EcdsaNistP256(reader.field("ecdsaNistP256", CurvePoint::decode_public)?),
            1 => Self::EcdsaBrainpoolP256r1(reader.field("ecdsaBrainpoolP256r1", CurvePoint::decode_public)?),
            2 => Self::EcdsaBrainpoolP384r1(
                reader.open_type(|reader| reader.field("ecdsaBrainpoolP384r1", CurvePoint::decode_public))?,
            ),
            3 => Self::EcdsaNistP384(
                reader.open_type(|reader| reader.field("ecdsaNistP384", CurvePoint::decode_public))?,
            ),
            4 => Self::EcsigSm2(reader.open_type(|reader| reader.field("ecsigSm2", CurvePoint::decode_public))?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for PublicVerificationKey {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::EcdsaNistP256(point) => writer.alternative(0, point),
            Self::EcdsaBrainpoolP256r1(point) => writer.alternative(1, point),
            Self::EcdsaBrainpoolP384r1(point) => writer.extension_alternative(2, point),
            Self::EcdsaNistP384(point) => writer.extension_alternative(3, point),
            Self::EcsigSm2(point) => writer.extension_alternative(4, point),
        }
    }
}

/// A key to encrypt to, and the cipher its owner supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicEncryptionKey {
    /// The cipher.
    pub supported_symm_alg: SymmAlgorithm,
    /// The key.
    pub public_key: BasePublicEncryptionKey,
}

impl PublicEncryptionKey {
    /// The same key as a compressed point.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        self.public_key = self.public_key.canonical();
        self
    }
}

impl<'a> Decode<'a> for PublicEncryptionKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            supported_symm_alg: reader.component("supportedSymmAlg")?,
            public_key: reader.component("publicKey")?,
        })
    }
}

impl Encode for PublicEncryptionKey {
    fn encode(&self, writer: &mut Writer) {
        self.supported_symm_alg.encode(writer);
        self.public_key.encode(writer);
    }
}

/// A point to encrypt to, by algorithm and curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum BasePublicEncryptionKey {
    EciesNistP256(EccP256CurvePoint),
    EciesBrainpoolP256r1(EccP256CurvePoint),
    EcencSm2(EccP256CurvePoint),
}

impl BasePublicEncryptionKey {
    /// The same key as a compressed point.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        match &mut self {
            Self::EciesNistP256(point) | Self::EciesBrainpoolP256r1(point) | Self::EcencSm2(point) => {
                *point = point.compressed();
            }
        }
        self
    }
}

impl<'a> Decode<'a> for BasePublicEncryptionKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::EciesNistP256(reader.field("eciesNistP256", CurvePoint::decode_public)?),
            1 => Self::EciesBrainpoolP256r1(reader.field("eciesBrainpoolP256r1", CurvePoint::decode_public)?),
            2 => Self::EcencSm2(reader.open_type(|reader| reader.field("ecencSm2", CurvePoint::decode_public))?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for BasePublicEncryptionKey {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::EciesNistP256(point) => writer.alternative(0, point),
            Self::EciesBrainpoolP256r1(point) => writer.alternative(1, point),
            Self::EcencSm2(point) => writer.extension_alternative(2, point),
        }
    }
}

/// A symmetric key. Whoever holds one wipes it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the algorithms")]
pub enum SymmetricEncryptionKey {
    Aes128Ccm([u8; 16]),
    Sm4Ccm([u8; 16]),
}

impl core::fmt::Debug for SymmetricEncryptionKey {
    /// Not the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Aes128Ccm(_) => "Aes128Ccm(..)",
            Self::Sm4Ccm(_) => "Sm4Ccm(..)",
        })
    }
}

impl<'a> Decode<'a> for SymmetricEncryptionKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Aes128Ccm(reader.array()?),
            1 => Self::Sm4Ccm(reader.open_type(Reader::array)?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for SymmetricEncryptionKey {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Aes128Ccm(key) => {
                writer.tag(0);
                writer.raw(key);
            }
            Self::Sm4Ccm(key) => {
                writer.tag(1);
                writer.octets(key);
            }
        }
    }
}

/// A key that an answer is to be encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the kinds")]
pub enum EncryptionKey {
    Public(PublicEncryptionKey),
    Symmetric(SymmetricEncryptionKey),
}

impl<'a> Decode<'a> for EncryptionKey {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.tag()? {
            0 => Self::Public(reader.component("public")?),
            1 => Self::Symmetric(reader.component("symmetric")?),
            number => return Err(reader.unknown_alternative(number)),
        })
    }
}

impl Encode for EncryptionKey {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Public(key) => writer.alternative(0, key),
            Self::Symmetric(key) => writer.alternative(1, key),
        }
    }
}
