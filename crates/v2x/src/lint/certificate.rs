//! Certificates: IEEE 1609.2 clause 6.4, TS 103 097 clauses 6 and 7.2.

use std::collections::BTreeSet;

use super::{FORM, Lint, known_as};
use crate::certificate::{
    CertificateError, canonical_bytes, certificate_hash, verification_curve, verify_certificate_signature,
};
use crate::crypto::{Curve, HashValue, KeyError, VerifyingKey, hash};
use crate::region::check_region;
use crate::types::{
    BasePublicEncryptionKey, Certificate, CertificateId, CertificateType, HashAlgorithm, HashedId3, HashedId8,
    IssuerIdentifier, Psid, PsidSsp, PublicEncryptionKey, PublicVerificationKey, Signature, SubjectPermissions,
    SymmAlgorithm, VerificationKeyIndicator,
};

/// How far ahead a certificate may begin to be valid without a note: tickets are preloaded for three months.
const FAR_FUTURE_US: u64 = 366 * 86_400 * 1_000_000;

pub(super) fn certificate(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    identity(lint, certificate);
    profile(lint, certificate);
    permissions(lint, certificate);
    algorithms(lint, certificate);
    region(lint, certificate);
}

fn region(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    if let Some(Err(fault)) = certificate.to_be_signed.region.as_ref().map(check_region) {
        lint.violation("toBeSigned.region", format!("{fault} (IEEE 1609.2 6.4.17)"));
    }
}

/// What it is called, and whether that depends on the form it came in.
fn identity(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    let canonical = match certificate_hash(certificate, FORM) {
        Ok(canonical) => canonical,
        // Named among the algorithms.
        Err(CertificateError::Key(KeyError::Unsupported(_))) => return,
        Err(_) => {
            let what = "no key that anybody could verify with (IEEE 1609.2 6.4.36)";
            lint.violation("toBeSigned.verifyKeyIndicator", what);
            return;
        }
    };
    lint.fact("hashedId8", canonical.id());
    lint.fact("hash", format!("{:?}", canonical.algorithm));
    lint.fact(
        "issuer",
        match certificate.issuer {
            IssuerIdentifier::SelfSigned(_) => "itself".to_owned(),
            other => other.digest().map_or_else(|| "unknown".to_owned(), |id| id.to_string()),
        },
    );
    let tbs = &certificate.to_be_signed;
    lint.fact(
        "id",
        match &tbs.id {
            CertificateId::Name(name) => format!("{name:?}"),
            CertificateId::None => "none".to_owned(),
            CertificateId::BinaryId(octets) => format!("{} octets", octets.len()),
            CertificateId::LinkageData(_) => "linkage data".to_owned(),
            CertificateId::Unknown(_) => "unknown".to_owned(),
        },
    );
    lint.fact(
        "valid",
        format!(
            "{} to {} UTC ({} s from {} s TAI since 2004)",
            tbs.validity_period.start.time64().date(),
            tbs.validity_period.end().date(),
            tbs.validity_period.duration.us() / 1_000_000,
            tbs.validity_period.start.0
        ),
    );
    let received = certificate.received.0;
    if received.is_empty() || canonical_bytes(certificate).is_ok_and(|bytes| bytes == received) {
        return;
    }
    let raw = hash(canonical.algorithm, &[received]).map(|hash: HashValue| hash.hashed_id8());
    if let Ok(raw) = raw {
        lint.violation(
            "",
            format!(
                "not in its canonical form: identified by {}, while a hash of these bytes gives {raw} (IEEE 1609.2 6.4.3)",
                canonical.id()
            ),
        );
    }
}

/// What TS 103 097 rules out or asks for.
fn profile(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    let tbs = &certificate.to_be_signed;
    if certificate.r#type == CertificateType::Implicit {
        lint.note("type", "implicit: TS 103 097 knows explicit certificates only (TS 103 097 6)");
    }
    if matches!(tbs.id, CertificateId::LinkageData(_) | CertificateId::BinaryId(_)) {
        lint.violation("toBeSigned.id", "neither a name nor none (TS 103 097 6)");
    }
    if tbs.craca_id != HashedId3([0; 3]) {
        lint.violation("toBeSigned.cracaId", format!("{} instead of 000000 (TS 103 097 6)", tbs.craca_id));
    }
    if tbs.crl_series != 0 {
        lint.violation("toBeSigned.crlSeries", format!("{} instead of 0 (TS 103 097 6)", tbs.crl_series));
    }
    if tbs.cert_request_permissions.is_some() {
        lint.violation("toBeSigned.certRequestPermissions", "has to be absent (TS 103 097 6)");
    }
    if tbs.can_request_rollover {
        lint.violation("toBeSigned.canRequestRollover", "has to be absent (TS 103 097 6)");
    }
    if tbs.validity_period.duration.us() == 0 {
        lint.violation("toBeSigned.validityPeriod.duration", "never valid (IEEE 1609.2 6.4.16)");
    }
    let start = tbs.validity_period.start.time64();
    if lint.now.is_some_and(|now| start > now.plus_us(FAR_FUTURE_US)) {
        lint.note("toBeSigned.validityPeriod.start", format!("far in the future: {} UTC", start.date()));
    }
    // An enrolment credential asks authorities, and is none itself. [TS 103 097 7.2.2]
    let asks = |list: &Vec<PsidSsp<'_>>| list.iter().any(|one| one.psid == Psid::CERTIFICATE_REQUEST);
    let is_credential = tbs.cert_issue_permissions.is_none()
        && !matches!(certificate.issuer, IssuerIdentifier::SelfSigned(_))
        && tbs.app_permissions.as_ref().is_some_and(asks);
    if is_credential && !matches!(tbs.id, CertificateId::Name(_)) {
        lint.violation(
            "toBeSigned.id",
            "an enrolment credential without a name, which others take for a ticket (TS 103 097 7.2.2)",
        );
    }
    let is_ticket = tbs.cert_issue_permissions.is_none()
        && matches!(&tbs.app_permissions, Some(list) if !list.iter().any(|one| is_of_authorities(one.psid)));
    if is_ticket && matches!(tbs.id, CertificateId::Name(_)) {
        lint.violation("toBeSigned.id", "an authorization ticket with a name (TS 103 097 7.2.1)");
    }
}

/// Application areas that are about certificates themselves.
fn is_of_authorities(psid: Psid) -> bool {
    [Psid::CERTIFICATE_REQUEST, Psid::CRL, Psid::CTL].contains(&psid)
}

fn permissions(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    let tbs = &certificate.to_be_signed;
    let is_there =
        [tbs.app_permissions.is_some(), tbs.cert_issue_permissions.is_some(), tbs.cert_request_permissions.is_some()];
    if !is_there.contains(&true) {
        lint.violation(
            "toBeSigned",
            "permits nothing: neither application, issue nor request permissions (IEEE 1609.2 6.4.8)",
        );
    }
    if let Some(list) = &tbs.app_permissions {
        lint.fact("permissions", list.iter().map(|one| one.psid.0.to_string()).collect::<Vec<_>>().join(", "));
        app_permissions(lint, list);
    }
    let groups = [
        ("certIssuePermissions", &tbs.cert_issue_permissions),
        ("certRequestPermissions", &tbs.cert_request_permissions),
    ];
    for (field, list) in groups {
        let Some(list) = list else { continue };
        if list.is_empty() {
            lint.violation(&format!("toBeSigned.{field}"), "an empty list (IEEE 1609.2 6.4.8)");
        }
        for (index, group) in list.iter().enumerate() {
            let path = format!("toBeSigned.{field}[{index}]");
            if group.min_chain_length < 1 {
                lint.violation(&format!("{path}.minChainLength"), "less than one (IEEE 1609.2 6.4.30)");
            }
            if group.chain_length_range < -1 {
                lint.violation(&format!("{path}.chainLengthRange"), "less than -1 (IEEE 1609.2 6.4.30)");
            }
            if matches!(&group.subject_permissions, SubjectPermissions::Explicit(list) if list.is_empty()) {
                lint.violation(&format!("{path}.subjectPermissions"), "an empty list (IEEE 1609.2 6.4.31)");
            }
        }
    }
}

fn app_permissions(lint: &mut Lint<'_>, list: &[PsidSsp<'_>]) {
    let mut seen = BTreeSet::new();
    if list.is_empty() {
        lint.violation("toBeSigned.appPermissions", "an empty list (IEEE 1609.2 6.4.8)");
    }
    for (index, one) in list.iter().enumerate() {
        if !seen.insert(one.psid) {
            let path = format!("toBeSigned.appPermissions[{index}].psid");
            lint.violation(&path, format!("{} for the second time (IEEE 1609.2 6.4.8)", one.psid.0));
        }
    }
}

/// Notes an algorithm that is decoded and never computed here: a receiver refuses what depends on it as
/// `unsupportedAlgorithm`.
pub(super) fn unsupported(lint: &mut Lint<'_>, path: &str, algorithm: &str) {
    lint.note(path, format!("{algorithm}, an unsupported algorithm: read, but neither verified nor opened here"));
}

/// Notes those of a public key to encrypt to.
pub(super) fn unsupported_encryption(lint: &mut Lint<'_>, path: &str, key: &PublicEncryptionKey) {
    if matches!(key.public_key, BasePublicEncryptionKey::EcencSm2(_)) {
        unsupported(lint, path, "SM2");
    }
    if key.supported_symm_alg == SymmAlgorithm::Sm4Ccm {
        unsupported(lint, path, "SM4");
    }
}

/// Hash, curve and signature have to go together.
fn algorithms(lint: &mut Lint<'_>, certificate: &Certificate<'_>) {
    let key = &certificate.to_be_signed.verify_key_indicator;
    if matches!(key, VerificationKeyIndicator::VerificationKey(PublicVerificationKey::EcsigSm2(_))) {
        unsupported(lint, "toBeSigned.verifyKeyIndicator.verificationKey", "SM2");
    }
    if matches!(certificate.signature, Some(Signature::Sm2 { .. })) {
        unsupported(lint, "signature", "SM2");
    }
    if let Some(key) = &certificate.to_be_signed.encryption_key {
        unsupported_encryption(lint, "toBeSigned.encryptionKey", key);
    }
    let hash_of_issuer = match certificate.issuer {
        IssuerIdentifier::Sha256AndDigest(_) => HashAlgorithm::Sha256,
        IssuerIdentifier::Sha384AndDigest(_) => HashAlgorithm::Sha384,
        IssuerIdentifier::Sm3AndDigest(_) => HashAlgorithm::Sm3,
        IssuerIdentifier::SelfSigned(algorithm) => algorithm,
    };
    if hash_of_issuer == HashAlgorithm::Sm3 {
        unsupported(lint, "issuer", "SM3");
    }
    lint.fact(
        "key",
        match (&certificate.to_be_signed.verify_key_indicator, verification_curve(certificate)) {
            (VerificationKeyIndicator::ReconstructionValue(_), _) => "implicit".to_owned(),
            (_, Ok(curve)) => format!("{curve:?}"),
            (_, Err(error)) => error.to_string(),
        },
    );
    let Some(signature) = &certificate.signature else { return };
    let hash_of_signature = hash_of(signature);
    if hash_of_signature != hash_of_issuer {
        lint.violation(
            "issuer",
            format!(
                "{hash_of_issuer:?}, while the signature's curve goes with {hash_of_signature:?} (IEEE 1609.2 5.3.1)"
            ),
        );
        return;
    }
    if let Some(issuer) = certificate.issuer.digest() {
        return by_issuer(lint, certificate, issuer);
    }
    if !matches!(certificate.issuer, IssuerIdentifier::SelfSigned(_)) {
        return;
    }
    let VerificationKeyIndicator::VerificationKey(key) = &certificate.to_be_signed.verify_key_indicator else { return };
    match VerifyingKey::from_verification_key(key) {
        Err(KeyError::Unsupported(_)) => {}
        Err(error) => {
            lint.violation("toBeSigned.verifyKeyIndicator.verificationKey", format!("{error} (IEEE 1609.2 6.4.38)"))
        }
        Ok(key) => match verify_certificate_signature(certificate, None, &key) {
            Ok(()) => lint.fact("signature", "its own, and right"),
            Err(CertificateError::WrongSignature) => {
                lint.violation("signature", "not by the certificate's own key (IEEE 1609.2 5.3.1)");
            }
            Err(error) => lint.violation("signature", format!("{error} (IEEE 1609.2 5.3.1)")),
        },
    }
}

/// The signature of a certificate that another one was issued with.
fn by_issuer(lint: &mut Lint<'_>, certificate: &Certificate<'_>, issuer: HashedId8) {
    // Named already.
    if matches!(certificate.signature, Some(Signature::Sm2 { .. })) {
        return;
    }
    let known = known_as(lint.known, issuer);
    if known.is_empty() {
        let because = format!("the certificate of its issuer {issuer} is not at hand; name its file beside this one");
        return lint.not_checked("signature", &because);
    }
    let is_right = known.iter().any(|(issuer, hash)| {
        let VerificationKeyIndicator::VerificationKey(key) = &issuer.to_be_signed.verify_key_indicator else {
            return false;
        };
        let key = VerifyingKey::from_verification_key(key);
        key.is_ok_and(|key| verify_certificate_signature(certificate, Some(hash), &key).is_ok())
    });
    match is_right {
        true => lint.fact("signature", format!("by its issuer {issuer}, and right")),
        false => lint.violation("signature", format!("not by the key of its issuer {issuer} (IEEE 1609.2 5.3.1)")),
    }
}

/// The hash that goes with a signature's curve.
pub(super) fn hash_of(signature: &Signature) -> HashAlgorithm {
    match signature {
        Signature::EcdsaNistP256(_) => Curve::NistP256.hash(),
        Signature::EcdsaBrainpoolP256r1(_) => Curve::BrainpoolP256r1.hash(),
        Signature::EcdsaBrainpoolP384r1(_) => Curve::BrainpoolP384r1.hash(),
        Signature::EcdsaNistP384(_) => Curve::NistP384.hash(),
        Signature::Sm2 { .. } => HashAlgorithm::Sm3,
    }
}
