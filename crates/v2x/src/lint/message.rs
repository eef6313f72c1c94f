//! Messages: IEEE 1609.2 clause 6.3, TS 103 097 clauses 5 and 7.1.

use super::certificate::{self, hash_of, unsupported, unsupported_encryption};
use super::{FORM, Lint, known_as, read_pki, trust_list};
use crate::certificate::{certificate_hash, verification_curve};
use crate::crypto::{EcdsaSignature, VerifyingKey};
use crate::message::message_digest;
use crate::pki::EtsiTs102941DataContent;
use crate::types::{
    Certificate, EncryptedData, EncryptedDataEncryptionKey, EncryptionKey, HashAlgorithm, HashedData, HashedId8,
    Ieee1609Dot2Content, Ieee1609Dot2Data, InnerData, Psid, RecipientInfo, Signature, SignedData, SignerIdentifier,
    SymmetricCiphertext, SymmetricEncryptionKey, VerificationKeyIndicator,
};

/// The list a message holds, if it holds one.
pub(super) fn list_of<'a>(message: &Ieee1609Dot2Data<'a>) -> Option<EtsiTs102941DataContent<'a>> {
    let payload = message.signed_data()?.tbs_data.payload.unsecured_payload()?;
    let (data, _) = read_pki(payload).ok()?;
    matches!(
        data.content,
        EtsiTs102941DataContent::CertificateRevocationList(_)
            | EtsiTs102941DataContent::CertificateTrustListTlm(_)
            | EtsiTs102941DataContent::CertificateTrustListRca(_)
    )
    .then_some(data.content)
}

pub(super) fn message(lint: &mut Lint<'_>, whole: &[u8], message: &Ieee1609Dot2Data<'_>) {
    match &message.content {
        Ieee1609Dot2Content::UnsecuredData(payload) => lint.fact("unsecured", format!("{} bytes", payload.len())),
        Ieee1609Dot2Content::SignedData(signed) => signed_data(&mut lint.below("content.signedData"), whole, signed),
        Ieee1609Dot2Content::EncryptedData(encrypted) => {
            encrypted_data(&mut lint.below("content.encryptedData"), encrypted);
        }
        Ieee1609Dot2Content::SignedCertificateRequest(_) | Ieee1609Dot2Content::SignedX509CertificateRequest(_) => {
            lint.violation("content", "a certificate request of 1609.2.1, which has to be absent (TS 103 097 5.1)");
        }
        Ieee1609Dot2Content::Unknown(unknown) => {
            lint.note("content", format!("alternative {} of a later version", unknown.number));
        }
    }
}

fn encrypted_data(lint: &mut Lint<'_>, encrypted: &EncryptedData<'_>) {
    lint.fact(
        "recipients",
        encrypted.recipients.iter().map(|one| one.recipient_id().to_string()).collect::<Vec<_>>().join(", "),
    );
    if matches!(encrypted.ciphertext, SymmetricCiphertext::Sm4Ccm(_)) {
        unsupported(lint, "ciphertext", "SM4");
    }
    for (index, recipient) in encrypted.recipients.iter().enumerate() {
        let path = format!("recipients[{index}]");
        match recipient {
            RecipientInfo::Certificate(info) | RecipientInfo::SignedData(info) | RecipientInfo::Rek(info)
                if matches!(info.enc_key, EncryptedDataEncryptionKey::EcencSm2256 { .. }) =>
            {
                unsupported(lint, &format!("{path}.encKey"), "SM2");
            }
            RecipientInfo::Symmetric { enc_key: SymmetricCiphertext::Sm4Ccm(_), .. } => {
                unsupported(lint, &format!("{path}.encKey"), "SM4");
            }
            _ => {}
        }
        match recipient {
            RecipientInfo::Certificate(_) | RecipientInfo::SignedData(_) => {}
            // Answers of authorities come this way, TS 102 941 6.2.3.2.2.
            RecipientInfo::PreSharedKey(_) => {
                lint.note(&path, "a pre-shared key: answers of authorities only (TS 103 097 5.3)")
            }
            RecipientInfo::Symmetric { .. } | RecipientInfo::Rek(_) => {
                lint.violation(&path, "neither a certificate's nor a signed message's key (TS 103 097 5.3)");
            }
        }
    }
}

fn signed_data(lint: &mut Lint<'_>, whole: &[u8], signed: &SignedData<'_>) {
    let header = &signed.tbs_data.header_info;
    lint.fact("psid", header.psid.0);
    if let Some(time) = header.generation_time {
        lint.fact("generationTime", format!("{} us (TAI since 2004)", time.0));
    }
    let path = "tbsData.headerInfo";
    match (header.generation_time, header.expiry_time) {
        (None, _) => lint.violation(&format!("{path}.generationTime"), "absent (TS 103 097 5.2)"),
        (Some(made), Some(expires)) if expires <= made => {
            lint.violation(&format!("{path}.expiryTime"), "not after the generation time (IEEE 1609.2 5.2.3.2.2)");
        }
        _ => {}
    }
    if header.p2pcd_learning_request.is_some() {
        lint.violation(&format!("{path}.p2pcdLearningRequest"), "has to be absent (TS 103 097 5.2)");
    }
    if header.missing_crl_identifier.is_some() {
        lint.violation(&format!("{path}.missingCrlIdentifier"), "has to be absent (TS 103 097 5.2)");
    }
    let hash = hash_of(&signed.signature);
    if matches!(signed.signature, Signature::Sm2 { .. }) {
        unsupported(lint, "signature", "SM2");
    }
    if signed.hash_id == HashAlgorithm::Sm3 {
        unsupported(lint, "hashId", "SM3");
    }
    if matches!(signed.tbs_data.payload.ext_data_hash, Some(HashedData::Sm3(_))) {
        unsupported(lint, "tbsData.payload.extDataHash", "SM3");
    }
    match &header.encryption_key {
        Some(EncryptionKey::Public(key)) => unsupported_encryption(lint, &format!("{path}.encryptionKey"), key),
        Some(EncryptionKey::Symmetric(SymmetricEncryptionKey::Sm4Ccm(_))) => {
            unsupported(lint, &format!("{path}.encryptionKey"), "SM4");
        }
        _ => {}
    }
    if signed.hash_id != hash {
        let what = format!("{:?}, while the signature's curve goes with {hash:?} (IEEE 1609.2 5.3.1)", signed.hash_id);
        lint.violation("hashId", what);
    }
    service(lint, signed);
    signer(lint, signed);
    let is_checked = payload(lint, whole, signed);
    if let (SignerIdentifier::Digest(id), false) = (&signed.signer, is_checked) {
        by_digest(lint, signed, *id);
    }
}

/// The signature of a message that only refers to its signer's certificate.
fn by_digest(lint: &mut Lint<'_>, signed: &SignedData<'_>, id: HashedId8) {
    match known_as(lint.known, id).first() {
        Some((first, _)) => {
            consistency(lint, signed, first);
            signature(lint, signed, first);
        }
        None => {
            let because = format!("the certificate of its signer {id} is not at hand; name its file beside this one");
            lint.not_checked("signature", &because);
        }
    }
}

/// What TS 103 097 clause 7.1 says of a service's messages.
fn service(lint: &mut Lint<'_>, signed: &SignedData<'_>) {
    let header = &signed.tbs_data.header_info;
    let is_certificate = matches!(signed.signer, SignerIdentifier::Certificate(_));
    match header.psid {
        Psid::CAM
            if header.generation_location.is_some()
                || header.expiry_time.is_some()
                || header.encryption_key.is_some() =>
        {
            let what = "a CAM has neither location, expiry nor key in its header (TS 103 097 7.1.1)";
            lint.violation("tbsData.headerInfo", what);
        }
        Psid::DENM => {
            if header.generation_location.is_none() {
                lint.violation("tbsData.headerInfo.generationLocation", "absent from a DENM (TS 103 097 7.1.2)");
            }
            if !is_certificate {
                lint.violation("signer", "a DENM holds its signer's certificate (TS 103 097 7.1.2)");
            }
            if header.inline_p2pcd_request.is_some() || header.requested_certificate.is_some() {
                lint.violation(
                    "tbsData.headerInfo",
                    "a DENM asks for no certificates and brings none (TS 103 097 7.1.2)",
                );
            }
        }
        _ => {}
    }
    if let Some(requested) = &header.requested_certificate {
        certificate::certificate(&mut lint.below("tbsData.headerInfo.requestedCertificate"), requested);
    }
}

fn signer(lint: &mut Lint<'_>, signed: &SignedData<'_>) {
    match &signed.signer {
        SignerIdentifier::Digest(id) => lint.fact("signer", id),
        SignerIdentifier::SelfSigned => lint.fact("signer", "itself"),
        SignerIdentifier::Unknown(unknown) => {
            lint.note("signer", format!("alternative {} of a later version", unknown.number));
        }
        SignerIdentifier::Certificate(chain) => {
            if chain.len() != 1 {
                lint.violation(
                    "signer.certificate",
                    format!("{} certificates instead of one (TS 103 097 5.2)", chain.len()),
                );
            }
            for (index, one) in chain.iter().enumerate() {
                certificate::certificate(&mut lint.below(&format!("signer.certificate[{index}]")), one);
            }
            if let Some(first) = chain.first() {
                consistency(lint, signed, first);
                signature(lint, signed, first);
            }
        }
    }
}

/// IEEE 1609.2 clause 5.2.3.2: what the header says has to be covered by the certificate.
fn consistency(lint: &mut Lint<'_>, signed: &SignedData<'_>, signer: &Certificate<'_>) {
    let header = &signed.tbs_data.header_info;
    let tbs = &signer.to_be_signed;
    let permits = |list: &Vec<crate::types::PsidSsp<'_>>| list.iter().any(|one| one.psid == header.psid);
    if !tbs.app_permissions.as_ref().is_some_and(permits) {
        let what = format!("{} is none of the signer's permissions (IEEE 1609.2 5.2.3.2.2)", header.psid.0);
        lint.violation("tbsData.headerInfo.psid", what);
    }
    if header.generation_time.is_some_and(|time| !tbs.validity_period.contains(time)) {
        let path = "tbsData.headerInfo.generationTime";
        lint.violation(path, "outside the validity of the signer's certificate (IEEE 1609.2 5.2.3.2.2)");
    }
}

fn signature(lint: &mut Lint<'_>, signed: &SignedData<'_>, signer: &Certificate<'_>) {
    let VerificationKeyIndicator::VerificationKey(key) = &signer.to_be_signed.verify_key_indicator else { return };
    // Named already.
    if matches!(signed.signature, Signature::Sm2 { .. }) || signed.hash_id == HashAlgorithm::Sm3 {
        return;
    }
    let (Ok(key), Ok(hash), Ok(signature), Ok(_)) = (
        VerifyingKey::from_verification_key(key),
        certificate_hash(signer, FORM),
        EcdsaSignature::from_signature(&signed.signature),
        verification_curve(signer),
    ) else {
        lint.violation("signature", "key and signature of no use with each other (IEEE 1609.2 5.3.1)");
        return;
    };
    if signed.tbs_data.payload.omitted {
        lint.not_checked("signature", "the payload is not in the message");
        return;
    }
    let digest = message_digest(signed.hash_id, signed.tbs_data.received.0, None, Some(&hash.value));
    if digest.is_ok_and(|digest| key.verify_digest(digest.as_bytes(), &signature)) {
        lint.fact("signature", "by its signer's certificate, and right");
    } else {
        lint.violation("signature", "not by its signer's certificate (IEEE 1609.2 5.3.1)");
    }
}

/// Looks at what is signed; true if a list in it holds the certificate of its signer, by which its signature was checked.
fn payload(lint: &mut Lint<'_>, whole: &[u8], signed: &SignedData<'_>) -> bool {
    match &signed.tbs_data.payload.data {
        None => {}
        Some(InnerData::Nested(inner)) => message(&mut lint.below("tbsData.payload.data"), whole, inner),
        Some(InnerData::Unsecured(payload)) => {
            lint.fact("payload", format!("{} bytes", payload.len()));
            let is_pki = [Psid::CERTIFICATE_REQUEST, Psid::CRL, Psid::CTL].contains(&signed.tbs_data.header_info.psid);
            if is_pki {
                let offset = offset_of(whole, payload);
                let lint = &mut lint.below("tbsData.payload.data.content.unsecuredData");
                return trust_list::pki(lint, offset, payload, signed);
            }
        }
    }
    false
}

/// Where in `whole` the part `part` begins; 0 if it is none of it.
fn offset_of(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize).filter(|offset| *offset <= whole.len()).unwrap_or(0)
}
