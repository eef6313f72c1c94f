//! What anybody can read in a certificate, field by field, to be compared with what is in another one.

use crate::coer::Encode;
use crate::types::{Certificate, ToBeSignedCertificate};

/// A field and its value as it is encoded; empty if it is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegibleField {
    /// By the names of the ASN.1.
    pub name: &'static str,
    /// Its encoding.
    pub value: Vec<u8>,
    /// True for a key or a signature: each certificate should have its own.
    pub is_own: bool,
}

/// Octets of a key's or a signature's encoding that say of which kind it is, and in which form its point is.
const KIND_LEN: usize = 2;

/// Every field of a certificate, in one order for all certificates. Keys and signature are there twice: as their kind, and whole.
pub fn legible_fields(certificate: &Certificate<'_>) -> Vec<LegibleField> {
    // Destructured, so that a new field is not forgotten here.
    let Certificate { r#type, issuer, to_be_signed, signature, received } = certificate;
    let ToBeSignedCertificate {
        id,
        craca_id,
        crl_series,
        validity_period,
        region,
        assurance_level,
        app_permissions,
        cert_issue_permissions,
        cert_request_permissions,
        can_request_rollover,
        encryption_key,
        verify_key_indicator,
        flags,
        app_extensions,
        cert_issue_extensions,
        cert_request_extension,
        extensions,
        received: _,
    } = to_be_signed;
    let (encryption_key, verification_key, signature) =
        (encryption_key.as_ref().map_or_else(Vec::new, bytes), bytes(verify_key_indicator), signature.as_ref());
    let signature = signature.map_or_else(Vec::new, bytes);
    let kind = |key: &[u8]| key[..key.len().min(KIND_LEN)].to_vec();
    let field = |name, value| LegibleField { name, value, is_own: false };
    let own = |name, value| LegibleField { name, value, is_own: true };
    vec![
        field("type", bytes(r#type)),
        field("issuer", bytes(issuer)),
        field("toBeSigned.id", bytes(id)),
        field("toBeSigned.cracaId", bytes(craca_id)),
        field("toBeSigned.crlSeries", crl_series.to_be_bytes().to_vec()),
        field(START, validity_period.start.0.to_be_bytes().to_vec()),
        field(DURATION, bytes(&validity_period.duration)),
        field("toBeSigned.region", region.as_ref().map_or_else(Vec::new, bytes)),
        field("toBeSigned.assuranceLevel", assurance_level.iter().copied().collect()),
        field("toBeSigned.appPermissions", list(app_permissions)),
        field("toBeSigned.certIssuePermissions", list(cert_issue_permissions)),
        field("toBeSigned.certRequestPermissions", list(cert_request_permissions)),
        field("toBeSigned.canRequestRollover", can_request_rollover.then_some(1).into_iter().collect()),
        field("toBeSigned.encryptionKey, kind", kind(&encryption_key)),
        own("toBeSigned.encryptionKey", encryption_key),
        field("toBeSigned.verifyKeyIndicator, kind", kind(&verification_key)),
        own("toBeSigned.verifyKeyIndicator", verification_key),
        field("toBeSigned.flags", flags.iter().copied().collect()),
        field("toBeSigned.appExtensions", list(app_extensions)),
        field("toBeSigned.certIssueExtensions", list(cert_issue_extensions)),
        field("toBeSigned.certRequestExtension", list(cert_request_extension)),
        field("toBeSigned, later additions", format!("{extensions:?}").into_bytes()),
        field("signature, kind", kind(&signature)),
        own("signature", signature),
        field("length", received.0.len().to_be_bytes().to_vec()),
    ]
}

/// The field in which a ticket says when it begins.
pub(crate) const START: &str = "toBeSigned.validityPeriod.start";
/// The field in which it says for how long.
pub(crate) const DURATION: &str = "toBeSigned.validityPeriod.duration";

/// What is out of bounds came in by lenient rules, and is alike only to itself.
fn bytes<T: Encode + core::fmt::Debug>(value: &T) -> Vec<u8> {
    value.to_coer().unwrap_or_else(|_| format!("{value:?}").into_bytes())
}

/// A list that is there and empty differs from one that is not there.
fn list<T: Encode + core::fmt::Debug>(list: &Option<Vec<T>>) -> Vec<u8> {
    let Some(list) = list else { return Vec::new() };
    let count = (list.len() as u32).to_be_bytes();
    count.into_iter().chain(list.iter().flat_map(bytes)).collect()
}
