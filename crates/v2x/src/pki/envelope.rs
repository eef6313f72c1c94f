//! What every exchange has in common: signed inside, encrypted outside, and the answer under the request's key.

use rand_core::CryptoRng;

use super::{EtsiTs102941Data, EtsiTs102941DataContent, PkiError, RequestHash};
use crate::coer::{Decode, Encode, Rules};
use crate::crypto::{AgreementKey, Curve, EcdsaSignature, HashValue, SigningKey, VerifyingKey};
use crate::message::{
    Decrypted, DecryptionKey, KeySource, Recipient, SessionKey, SignerCertificate, SignerForm, decrypt, encrypt,
    encrypt_with_session_key, message_digest, sign,
};
use crate::types::{
    HashedData, HashedId8, HeaderInfo, Ieee1609Dot2Data, Psid, PublicVerificationKey, SignedData, SignedDataPayload,
    SignerIdentifier, Time64, ToBeSignedData,
};

/// How far the time in a request or an answer may be from the receiver's `[s]`.
pub const CLOCK_DIFFERENCE_MAX_S: u64 = 300;

/// A request on its way, and what its answer is recognised by.
#[derive(Clone, Debug)]
pub struct SealedRequest {
    /// What to send.
    pub message: Vec<u8>,
    /// What the answer will be encrypted with.
    pub session_key: SessionKey,
}

impl SealedRequest {
    /// Encrypts `plaintext`, a signed message, to an authority with a new key.
    ///
    /// # Errors
    /// [`PkiError::Encrypt`].
    pub fn new(plaintext: &[u8], authority: &SignerCertificate, rng: &mut impl CryptoRng) -> Result<Self, PkiError> {
        let (message, session_key) =
            encrypt(plaintext, &[Recipient::Certificate(&authority.certificate().view())], rng)?;
        Ok(Self { message, session_key })
    }

    /// By what the answer will say which request it is to.
    pub fn hash(&self) -> RequestHash {
        request_hash(&self.message)
    }

    /// Opens the answer.
    ///
    /// # Errors
    /// [`PkiError::Decode`], [`PkiError::WrongContent`] or [`PkiError::Decrypt`].
    pub fn open_answer(&self, answer: &[u8]) -> Result<Vec<u8>, PkiError> {
        let data = Ieee1609Dot2Data::from_coer(answer)?;
        let encrypted = data.encrypted_data().ok_or(PkiError::WrongContent { expected: "encrypted" })?;
        Ok(decrypt(encrypted, DecryptionKey::Symmetric(&self.session_key))?.plaintext)
    }
}

/// The hash of a request, over its bytes as sent, encryption included. [TS 102 941 §6.2.3.2.2]
pub fn request_hash(message: &[u8]) -> RequestHash {
    let mut half = RequestHash::default();
    half.copy_from_slice(&HashValue::sha256(message).as_bytes()[..16]);
    half
}

/// Opens what was encrypted to the holder of `certificate`.
///
/// # Errors
/// [`PkiError::Decode`], [`PkiError::WrongContent`] or [`PkiError::Decrypt`].
pub fn open_request(
    message: &[u8],
    certificate: &SignerCertificate,
    key: &mut dyn AgreementKey,
) -> Result<Decrypted, PkiError> {
    open_encrypted(&Ieee1609Dot2Data::from_coer(message)?, certificate, key)
}

/// As [`open_request`], decoded already.
pub(super) fn open_encrypted(
    data: &Ieee1609Dot2Data<'_>,
    certificate: &SignerCertificate,
    key: &mut dyn AgreementKey,
) -> Result<Decrypted, PkiError> {
    let encrypted = data.encrypted_data().ok_or(PkiError::WrongContent { expected: "encrypted" })?;
    // [TS 103 097 §5.3] To the holder of a certificate.
    let source = KeySource::Certificate(&certificate.certificate().view());
    Ok(decrypt(encrypted, DecryptionKey::Private { source, key })?)
}

/// Encrypts the answer to a request with the request's key.
///
/// # Errors
/// [`PkiError::Encrypt`].
pub fn seal_answer(plaintext: &[u8], key: &SessionKey, rng: &mut impl CryptoRng) -> Result<Vec<u8>, PkiError> {
    Ok(encrypt_with_session_key(plaintext, &[Recipient::PreSharedKey], key, rng)?)
}

/// Signs `content`.
///
/// # Errors
/// [`PkiError::Sign`] or [`PkiError::Encode`].
pub fn sign_content(
    content: EtsiTs102941DataContent<'_>,
    psid: Psid,
    signer: SignerForm<'_>,
    key: &mut dyn SigningKey,
    now: Time64,
) -> Result<Vec<u8>, PkiError> {
    let payload = EtsiTs102941Data::new(content).to_coer()?;
    sign_payload(SignedDataPayload::unsecured(&payload), psid, signer, key, now)
}

/// Signs any payload.
pub(super) fn sign_payload(
    payload: SignedDataPayload<'_>,
    psid: Psid,
    signer: SignerForm<'_>,
    key: &mut dyn SigningKey,
    now: Time64,
) -> Result<Vec<u8>, PkiError> {
    let mut header_info = HeaderInfo::new(psid);
    header_info.generation_time = Some(now);
    let tbs_data = ToBeSignedData { payload, header_info, received: Default::default() };
    Ok(sign(&tbs_data, signer, key)?)
}

/// A signed message as it came. Nothing in it is to be believed before one of the checks passed.
#[derive(Clone, Debug)]
pub struct SignedMessage<'a> {
    data: SignedData<'a>,
}

impl<'a> SignedMessage<'a> {
    /// Takes a message apart.
    ///
    /// # Errors
    /// [`PkiError::Decode`], or [`PkiError::WrongContent`] if it is not signed.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, PkiError> {
        Self::new(Ieee1609Dot2Data::from_coer(bytes)?)
    }

    /// As [`SignedMessage::decode`], decoded already.
    ///
    /// # Errors
    /// [`PkiError::WrongContent`] if it is not signed.
    pub fn new(data: Ieee1609Dot2Data<'a>) -> Result<Self, PkiError> {
        match data.signed_data() {
            Some(data) => Ok(Self { data: data.clone() }),
            None => Err(PkiError::WrongContent { expected: "signed" }),
        }
    }

    /// True if it names no certificate.
    pub fn is_self_signed(&self) -> bool {
        self.data.signer == SignerIdentifier::SelfSigned
    }

    /// The identifier of the signer's certificate.
    ///
    /// # Errors
    /// [`PkiError::WrongContent`] if it is not said by an identifier.
    pub fn signer_id(&self) -> Result<HashedId8, PkiError> {
        match self.data.signer {
            SignerIdentifier::Digest(id) => Ok(id),
            _ => Err(PkiError::WrongContent { expected: "signed by digest" }),
        }
    }

    /// Checks a signature that names no certificate.
    ///
    /// # Errors
    /// [`PkiError::WrongSignature`] above all.
    pub fn check_self_signed(&self, key: &PublicVerificationKey, psid: Psid, now: Time64) -> Result<(), PkiError> {
        if !self.is_self_signed() {
            return Err(PkiError::WrongContent { expected: "signed without a certificate" });
        }
        self.check_time(now)?;
        self.check_signature(&VerifyingKey::from_verification_key(key)?, None, psid)
    }

    /// Checks that the holder of `certificate` signed, which is to be valid at `now`.
    ///
    /// # Errors
    /// [`PkiError::WrongSigner`], [`PkiError::WrongSignature`], [`PkiError::NotValidNow`], [`PkiError::OutOfSync`].
    pub fn check_signer(&self, certificate: &SignerCertificate, psid: Psid, now: Time64) -> Result<(), PkiError> {
        let found = self.signer_id()?;
        if found != certificate.id() {
            return Err(PkiError::WrongSigner { expected: certificate.id(), found });
        }
        self.check_time(now)?;
        self.check_certificate_signature(certificate, psid, now)
    }

    /// As [`SignedMessage::check_signer`] for a list, which may be old, and may contain its signer's certificate.
    ///
    /// # Errors
    /// [`PkiError::WrongSigner`], [`PkiError::WrongSignature`] or [`PkiError::NotValidNow`].
    pub fn check_list_signer(&self, certificate: &SignerCertificate, psid: Psid, now: Time64) -> Result<(), PkiError> {
        let found = match &self.data.signer {
            // The chain is not under the signature: what is in it must be what is trusted already.
            SignerIdentifier::Certificate(chain) => match chain.as_slice() {
                [embedded] if embedded.received.0 == certificate.certificate().as_bytes() => certificate.id(),
                [embedded, ..] => crate::certificate::hashed_id8(embedded)?,
                [] => return Err(PkiError::WrongContent { expected: "signed" }),
            },
            _ => self.signer_id()?,
        };
        if found != certificate.id() {
            return Err(PkiError::WrongSigner { expected: certificate.id(), found });
        }
        self.check_certificate_signature(certificate, psid, now)
    }

    /// Checks that the holder of `certificate`, which is to be valid at `now`, signed, however the message names it.
    pub(crate) fn check_certificate_signature(
        &self,
        certificate: &SignerCertificate,
        psid: Psid,
        now: Time64,
    ) -> Result<(), PkiError> {
        check_valid_now(certificate, now)?;
        let view = certificate.certificate().view();
        let key = verification_key(&view)?;
        self.check_signature(&key, Some(&certificate.hash().value), psid)
    }

    /// When it says that it was made.
    ///
    /// # Errors
    /// [`PkiError::Incomplete`] if it does not say.
    pub fn generation_time(&self) -> Result<Time64, PkiError> {
        self.data.tbs_data.header_info.generation_time.ok_or(PkiError::Incomplete("generationTime"))
    }

    /// What is signed, and by whom.
    pub(crate) fn signed(&self) -> &SignedData<'a> {
        &self.data
    }

    fn check_time(&self, now: Time64) -> Result<(), PkiError> {
        let generated = self.generation_time()?;
        let difference_s = generated.0.abs_diff(now.0) / 1_000_000;
        if difference_s > CLOCK_DIFFERENCE_MAX_S { Err(PkiError::OutOfSync { difference_s }) } else { Ok(()) }
    }

    fn check_signature(&self, key: &VerifyingKey, signer: Option<&HashValue>, psid: Psid) -> Result<(), PkiError> {
        let found = self.data.tbs_data.header_info.psid;
        if found != psid {
            return Err(PkiError::WrongPsid { expected: psid, found });
        }
        if self.data.hash_id != key.curve().hash() || self.data.tbs_data.payload.omitted {
            return Err(PkiError::WrongSignature);
        }
        let digest = message_digest(self.data.hash_id, self.data.tbs_data.received.0, None, signer)?;
        let signature = EcdsaSignature::from_signature(&self.data.signature)?;
        if key.verify_digest(digest.as_bytes(), &signature) { Ok(()) } else { Err(PkiError::WrongSignature) }
    }

    /// What was signed.
    ///
    /// # Errors
    /// [`PkiError::WrongContent`] if nothing is embedded.
    pub fn payload(&self) -> Result<&'a [u8], PkiError> {
        self.data
            .tbs_data
            .payload
            .unsecured_payload()
            .ok_or(PkiError::WrongContent { expected: "signed over a payload" })
    }

    /// What was signed, as a message of the PKI.
    ///
    /// # Errors
    /// [`PkiError::WrongContent`] or [`PkiError::Decode`].
    pub fn content(&self) -> Result<EtsiTs102941DataContent<'a>, PkiError> {
        self.content_with(Rules::STRICT)
    }

    /// As [`SignedMessage::content`], by rules that may allow other encodings than the canonical one.
    ///
    /// # Errors
    /// As [`SignedMessage::content`].
    pub fn content_with(&self, rules: Rules) -> Result<EtsiTs102941DataContent<'a>, PkiError> {
        Ok(EtsiTs102941Data::from_coer_with(self.payload()?, rules)?.0.content)
    }

    /// Checks that `payload`, which is not in the message, is what was signed.
    ///
    /// # Errors
    /// [`PkiError::WrongSignature`].
    pub fn check_external_payload(&self, payload: &[u8]) -> Result<(), PkiError> {
        match self.data.tbs_data.payload.ext_data_hash {
            Some(HashedData::Sha256(hash)) if hash == HashValue::sha256(payload).hashed_id32() => Ok(()),
            _ => Err(PkiError::WrongSignature),
        }
    }
}

/// The key of a certificate.
pub(super) fn verification_key(certificate: &crate::types::Certificate<'_>) -> Result<VerifyingKey, PkiError> {
    match &certificate.to_be_signed.verify_key_indicator {
        crate::types::VerificationKeyIndicator::VerificationKey(key) => Ok(VerifyingKey::from_verification_key(key)?),
        _ => Err(crate::certificate::CertificateError::NoVerificationKey.into()),
    }
}

/// Checks that a certificate is valid at `now`.
///
/// # Errors
/// [`PkiError::NotValidNow`].
pub fn check_valid_now(certificate: &SignerCertificate, now: Time64) -> Result<(), PkiError> {
    if certificate.certificate().view().to_be_signed.validity_period.contains(now) {
        Ok(())
    } else {
        Err(PkiError::NotValidNow(certificate.id()))
    }
}

/// Checks that `issuer` issued `certificate`, or, if they are the same, that it issued itself; and that it is valid at
/// `now`. Whether the issuer may issue it is another question.
///
/// # Errors
/// [`PkiError::Certificate`] or [`PkiError::NotValidNow`].
pub fn check_issued_by(
    certificate: &SignerCertificate,
    issuer: &SignerCertificate,
    now: Time64,
) -> Result<(), PkiError> {
    let view = certificate.certificate().view();
    let issuer_view = issuer.certificate().view();
    let issuer_hash = if view.issuer.digest().is_some() {
        Some(issuer.hash())
    } else if certificate.certificate().as_bytes() == issuer.certificate().as_bytes() {
        None
    } else {
        return Err(crate::certificate::CertificateError::WrongIssuer.into());
    };
    crate::certificate::verify_certificate_signature(&view, issuer_hash, &verification_key(&issuer_view)?)?;
    check_valid_now(certificate, now)
}

/// The curves keys to decrypt with can be on.
pub fn can_encrypt(curve: Curve) -> bool {
    matches!(curve, Curve::NistP256 | Curve::BrainpoolP256r1)
}
