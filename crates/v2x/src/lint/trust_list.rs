//! Messages of the PKI, and the lists of whom to trust: TS 102 941 clause 6.3.

use std::collections::BTreeMap;

use super::certificate;
use super::{FORM, Lint, read_pki};
use crate::certificate::{CertificateHash, certificate_hash, verify_certificate_signature};
use crate::crypto::VerifyingKey;
use crate::pki::{CtlCommand, CtlEntry, CtlFormat, EtsiTs102941DataContent};
use crate::types::{Certificate, HashedId8, Psid, SignedData, SignerIdentifier, VerificationKeyIndicator};

/// True if a list in it holds the certificate of its signer, by which its signature was checked.
pub(super) fn pki(lint: &mut Lint<'_>, offset: usize, payload: &[u8], signed: &SignedData<'_>) -> bool {
    let (data, deviations) = match read_pki(payload) {
        Ok(read) => read,
        Err(error) => {
            lint.unreadable(offset, &error);
            return false;
        }
    };
    lint.deviations(offset, deviations);
    let psid = signed.tbs_data.header_info.psid;
    let expect = |lint: &mut Lint<'_>, expected: Psid| {
        if psid != expected {
            lint.violation("", format!("under PSID {} instead of {} (TS 103 097 7.1)", psid.0, expected.0));
        }
    };
    match &data.content {
        EtsiTs102941DataContent::CertificateRevocationList(list) => {
            expect(lint, Psid::CRL);
            lint.fact("revoked", list.entries.len());
            if list.next_update <= list.this_update {
                lint.violation(
                    "content.certificateRevocationList.nextUpdate",
                    "not after this update (TS 102 941 6.3.3)",
                );
            }
        }
        EtsiTs102941DataContent::CertificateTrustListTlm(list) => {
            expect(lint, Psid::CTL);
            return entries(&mut lint.below("content.certificateTrustListTlm"), list, signed, |entry| {
                matches!(entry, CtlEntry::Rca(_) | CtlEntry::Dc(_) | CtlEntry::Tlm(_) | CtlEntry::Unknown(_))
            });
        }
        EtsiTs102941DataContent::CertificateTrustListRca(list) => {
            expect(lint, Psid::CTL);
            return entries(&mut lint.below("content.certificateTrustListRca"), list, signed, |entry| {
                matches!(entry, CtlEntry::Ea(_) | CtlEntry::Aa(_) | CtlEntry::Dc(_) | CtlEntry::Unknown(_))
            });
        }
        _ => expect(lint, Psid::CERTIFICATE_REQUEST),
    }
    false
}

fn entries(
    lint: &mut Lint<'_>,
    list: &CtlFormat<'_>,
    signed: &SignedData<'_>,
    belongs: impl Fn(&CtlEntry<'_>) -> bool,
) -> bool {
    lint.fact("list", format!("{}, number {}", if list.is_full_ctl { "full" } else { "delta" }, list.ctl_sequence));
    lint.fact("entries", list.ctl_commands.len());
    let mut seen: BTreeMap<HashedId8, usize> = BTreeMap::new();
    let mut is_checked = false;
    for (index, command) in list.ctl_commands.iter().enumerate() {
        let CtlCommand::Add(entry) = command else { continue };
        let path = format!("ctlCommands[{index}].add");
        if !belongs(entry) {
            lint.violation(&path, "an entry that is none of this kind of list (TS 102 941 6.3.4)");
        }
        let Some(found) = entry.certificate() else { continue };
        certificate::certificate(&mut lint.below(&format!("{path}.{}", field(entry))), found);
        let Ok(hash) = certificate_hash(found, FORM) else { continue };
        if let Some(earlier) = seen.insert(hash.id(), index) {
            lint.violation(&path, format!("the same certificate as entry {earlier}"));
        }
        is_checked |= signed_by(lint, signed, found, &hash);
    }
    is_checked
}

fn field(entry: &CtlEntry<'_>) -> &'static str {
    match entry {
        CtlEntry::Rca(_) => "rca.selfsignedRootCa",
        CtlEntry::Ea(_) => "ea.eaCertificate",
        CtlEntry::Aa(_) => "aa.aaCertificate",
        CtlEntry::Dc(_) => "dc",
        CtlEntry::Tlm(_) => "tlm.selfSignedTLMCertificate",
        CtlEntry::Unknown(_) => "unknown",
    }
}

/// A trust list manager's list holds its own certificate: the list's signature can be verified with it. False if this is not it.
fn signed_by(lint: &mut Lint<'_>, signed: &SignedData<'_>, found: &Certificate<'_>, hash: &CertificateHash) -> bool {
    if !matches!(signed.signer, SignerIdentifier::Digest(id) if id == hash.id()) {
        return false;
    }
    let VerificationKeyIndicator::VerificationKey(key) = &found.to_be_signed.verify_key_indicator else { return false };
    let Ok(key) = VerifyingKey::from_verification_key(key) else { return false };
    if verify_certificate_signature(found, None, &key).is_err() {
        return false;
    }
    let digest = crate::message::message_digest(signed.hash_id, signed.tbs_data.received.0, None, Some(&hash.value));
    let signature = crate::crypto::EcdsaSignature::from_signature(&signed.signature);
    match (digest, signature) {
        (Ok(digest), Ok(signature)) if key.verify_digest(digest.as_bytes(), &signature) => {
            lint.fact("signature", format!("by {}, which is in the list, and right", hash.id()));
        }
        _ => lint
            .violation("", format!("the list's signature is not by {}, which it names (IEEE 1609.2 5.3.1)", hash.id())),
    }
    true
}
