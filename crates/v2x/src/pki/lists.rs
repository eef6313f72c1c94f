//! Trust lists and revocation lists: signing them, reading those of any vendor.

use super::{
    Authority, CtlCommand, CtlDelete, CtlEntry, CtlFormat, DcEntry, EtsiTs102941Data, EtsiTs102941DataContent,
    PkiError, SignedMessage, ToBeSignedCrl, sign_content,
};
use crate::certificate::hashed_id8;
use crate::coer::{Decode, ExtensionAdditions};
use crate::message::SignerCertificate;
use crate::types::{HashedId8, Psid, Time64};

/// Whose list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// A root's: its authorities and distribution centres.
    Root,
    /// The trust list manager's: roots and their distribution centres.
    TrustListManager,
}

/// Signs a trust list that is to be replaced `validity_s` from now.
///
/// # Errors
/// [`PkiError::Sign`] or [`PkiError::Encode`].
pub fn sign_trust_list(
    authority: &mut Authority,
    kind: ListKind,
    (is_full_ctl, ctl_sequence): (bool, u8),
    ctl_commands: Vec<CtlCommand<'_>>,
    now: Time64,
    validity_s: u64,
) -> Result<Vec<u8>, PkiError> {
    let list = CtlFormat {
        next_update: now.plus_us(validity_s * 1_000_000).time32(),
        is_full_ctl,
        ctl_sequence,
        ctl_commands,
        extensions: ExtensionAdditions::default(),
    };
    let content = match kind {
        ListKind::Root => EtsiTs102941DataContent::CertificateTrustListRca(list),
        ListKind::TrustListManager => EtsiTs102941DataContent::CertificateTrustListTlm(list),
    };
    let (form, key) = authority.signer();
    sign_content(content, Psid::CTL, form, key, now)
}

/// Signs a revocation list that is to be replaced `validity_s` from now.
///
/// # Errors
/// [`PkiError::Sign`].
pub fn sign_revocation_list(
    root: &mut Authority,
    entries: Vec<HashedId8>,
    now: Time64,
    validity_s: u64,
) -> Result<Vec<u8>, PkiError> {
    let list = ToBeSignedCrl {
        this_update: now.time32(),
        next_update: now.plus_us(validity_s * 1_000_000).time32(),
        entries,
        extensions: ExtensionAdditions::default(),
    };
    let (form, key) = root.signer();
    sign_content(EtsiTs102941DataContent::CertificateRevocationList(list), Psid::CRL, form, key, now)
}

/// Verifies a trust list and reads it: `payload` becomes what the list borrows from.
///
/// # Errors
/// [`PkiError::Outdated`], [`PkiError::WrongSigner`] or [`PkiError::WrongSignature`] above all.
pub fn read_trust_list<'a>(
    message: &'a [u8],
    kind: ListKind,
    signer: &SignerCertificate,
    now: Time64,
) -> Result<CtlFormat<'a>, PkiError> {
    let message = SignedMessage::decode(message)?;
    message.check_list_signer(signer, Psid::CTL, now)?;
    let list = match (kind, message.content()?) {
        (ListKind::Root, EtsiTs102941DataContent::CertificateTrustListRca(list))
        | (ListKind::TrustListManager, EtsiTs102941DataContent::CertificateTrustListTlm(list)) => list,
        (ListKind::Root, _) => return Err(PkiError::WrongContent { expected: "a root's trust list" }),
        (ListKind::TrustListManager, _) => {
            return Err(PkiError::WrongContent { expected: "a trust list manager's trust list" });
        }
    };
    if list.next_update.time64() <= now { Err(PkiError::Outdated) } else { Ok(list) }
}

/// Verifies a revocation list and reads it.
///
/// # Errors
/// As [`read_trust_list`].
pub fn read_revocation_list<'a>(
    message: &'a [u8],
    root: &SignerCertificate,
    now: Time64,
) -> Result<ToBeSignedCrl<'a>, PkiError> {
    let message = SignedMessage::decode(message)?;
    message.check_list_signer(root, Psid::CRL, now)?;
    let EtsiTs102941DataContent::CertificateRevocationList(list) = message.content()? else {
        return Err(PkiError::WrongContent { expected: "a revocation list" });
    };
    if list.next_update.time64() <= now { Err(PkiError::Outdated) } else { Ok(list) }
}

/// The list inside a signed trust list of one's own, not verified.
///
/// # Errors
/// [`PkiError::Decode`] or [`PkiError::WrongContent`].
pub fn own_trust_list(message: &[u8]) -> Result<CtlFormat<'_>, PkiError> {
    let payload = SignedMessage::decode(message)?.payload()?;
    match EtsiTs102941Data::from_coer(payload)?.content {
        EtsiTs102941DataContent::CertificateTrustListRca(list)
        | EtsiTs102941DataContent::CertificateTrustListTlm(list) => Ok(list),
        _ => Err(PkiError::WrongContent { expected: "a trust list" }),
    }
}

/// What leads from the full list `old` to the full list `new`: the commands of a delta list. [TS 102 941 §6.3.4]
///
/// # Errors
/// [`PkiError::Certificate`] if an entry has a certificate without an identifier.
pub fn delta<'a>(old: &CtlFormat<'a>, new: &CtlFormat<'a>) -> Result<Vec<CtlCommand<'a>>, PkiError> {
    let mut commands = Vec::new();
    for command in old.ctl_commands.iter().filter(|command| !new.ctl_commands.contains(command)) {
        let CtlCommand::Add(entry) = command else { continue };
        match (entry, entry.certificate()) {
            (_, Some(certificate)) => {
                let id = hashed_id8(certificate)?;
                // An entry whose address alone changed is added again, which replaces it.
                if !contains_certificate(new, id)? {
                    commands.push(CtlCommand::Delete(CtlDelete::Cert(id)));
                }
            }
            (CtlEntry::Dc(DcEntry { url, .. }), None) => commands.push(CtlCommand::Delete(CtlDelete::Dc(url))),
            (_, None) => {}
        }
    }
    commands.extend(new.ctl_commands.iter().filter(|command| !old.ctl_commands.contains(command)).cloned());
    Ok(commands)
}

fn contains_certificate(list: &CtlFormat<'_>, id: HashedId8) -> Result<bool, PkiError> {
    for command in &list.ctl_commands {
        if let CtlCommand::Add(entry) = command
            && let Some(certificate) = entry.certificate()
            && hashed_id8(certificate)? == id
        {
            return Ok(true);
        }
    }
    Ok(false)
}
