//! The lists a station holds: whom the trust list manager and the roots name, and whom they revoked.
//!
//! It does *not* fetch or store anything. Whatever comes, from a file or a distribution centre, is [offered](HeldLists::offer);
//! what is taken replaces what was held, whatever is refused leaves it as it was.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CtlCommand, CtlDelete, CtlEntry, CtlFormat, EtsiTs102941DataContent, ListKind, PkiError, SignedMessage,
    ToBeSignedCrl,
};
use crate::certificate::{CertificateForm, hashed_id8};
use crate::coer::{Decode, Rules};
use crate::message::SignerCertificate;
use crate::types::{CertificateBuf, HashedId8, Ieee1609Dot2Data, Psid, SignerIdentifier, Time32, Time64};
use crate::verify::{TrustError, TrustStore};

/// Numbers of trust lists go from 1 to this, and round. [TS 102 941 §6.3.4]
const NUMBERS: u16 = 255;

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListName {
    /// The trust list manager's.
    Ectl(HashedId8),
    /// A root's trust list.
    Ctl(HashedId8),
    /// A root's revocation list.
    Crl(HashedId8),
}

impl core::fmt::Display for ListName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ectl(id) => write!(f, "ectl-{id}"),
            Self::Ctl(id) => write!(f, "ctl-{id}"),
            Self::Crl(id) => write!(f, "crl-{id}"),
        }
    }
}

/// Why a list is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListRefusal {
    /// It is no list, or its signature is wrong.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// Nobody who is trusted signed it.
    #[error("signed by {0}, which is neither a trusted root nor the trust list manager")]
    Foreign(HashedId8),
    /// It is older than the one that is held.
    #[error("it is older than the one that is held: number {offered} after number {held}")]
    Rollback {
        /// Number of the one that is held.
        held: u8,
        /// Number of the one that came.
        offered: u8,
    },
    /// A revocation list that is older than the one that is held.
    #[error("it is older than the one that is held: of {offered} s after {held} s of TAI since 2004")]
    OldRevocations {
        /// When the one that is held was issued `[s]`.
        held: u32,
        /// When the one that came was issued `[s]`.
        offered: u32,
    },
    /// What it changes is not held.
    #[error("it says what changed up to number {offered}, and number {} is held", held.map_or_else(|| "none".to_owned(), |held| held.to_string()))]
    Gap {
        /// Number of the one that is held, if there is one.
        held: Option<u8>,
        /// Number of the one that came.
        offered: u8,
    },
}

/// What became of a list that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It replaces what was held, or changes it.
    New(ListName),
    /// It says what was held, and is good for longer.
    Renewed(ListName),
    /// It is the one that is held.
    Held(ListName),
}

impl Taken {
    /// Which list.
    pub fn name(self) -> ListName {
        match self {
            Self::New(name) | Self::Renewed(name) | Self::Held(name) => name,
        }
    }
}

/// A trust list as it stands: the last full one, and what changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HeldTrustList {
    number: u8,
    generated: Time64,
    next_update: Time32,
    /// Roots, or authorization authorities.
    certificates: BTreeMap<HashedId8, CertificateBuf>,
    /// Distribution centres, and the roots whose lists they have.
    centres: BTreeMap<String, Vec<HashedId8>>,
    /// As they came: the full list, and those that changed it.
    messages: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HeldRevocationList {
    this_update: Time32,
    next_update: Time32,
    revoked: BTreeSet<HashedId8>,
    message: Vec<u8>,
}

/// Roots and authorities that are trusted of old, and every list that was taken.
#[derive(Clone, Debug)]
pub struct HeldLists {
    rules: Rules,
    form: CertificateForm,
    roots: BTreeMap<HashedId8, SignerCertificate>,
    authorities: Vec<CertificateBuf>,
    manager: Option<SignerCertificate>,
    ectl: Option<HeldTrustList>,
    ctls: BTreeMap<HashedId8, HeldTrustList>,
    crls: BTreeMap<HashedId8, HeldRevocationList>,
}

impl HeldLists {
    /// Trusts `roots` whatever any list says, the authorities below them, and whom the list of `manager` names. Certificates in
    /// lists are read by `rules` and identified by `form`.
    #[must_use]
    pub fn new(
        roots: impl IntoIterator<Item = SignerCertificate>,
        authorities: Vec<CertificateBuf>,
        manager: Option<SignerCertificate>,
        (rules, form): (Rules, CertificateForm),
    ) -> Self {
        let roots = roots.into_iter().map(|root| (root.id(), root)).collect();
        Self { rules, form, roots, authorities, manager, ectl: None, ctls: BTreeMap::new(), crls: BTreeMap::new() }
    }

    /// Every root that is trusted: those from the beginning, and those of the trust list manager's list.
    pub fn roots(&self) -> BTreeMap<HashedId8, SignerCertificate> {
        let mut roots = self.roots.clone();
        for (id, certificate) in self.ectl.iter().flat_map(|list| &list.certificates) {
            if let Ok(root) = SignerCertificate::new(certificate.clone()) {
                roots.entry(*id).or_insert(root);
            }
        }
        roots
    }

    /// Distribution centres that the lists name, each with the roots whose lists it has.
    pub fn centres(&self) -> BTreeMap<String, Vec<HashedId8>> {
        let lists = self.ectl.iter().chain(self.ctls.values());
        lists.flat_map(|list| list.centres.clone()).collect()
    }

    /// The trust list manager.
    pub fn manager(&self) -> Option<HashedId8> {
        self.manager.as_ref().map(SignerCertificate::id)
    }

    /// The number of a trust list that is held.
    pub fn number(&self, name: ListName) -> Option<u8> {
        match name {
            ListName::Ectl(_) => self.ectl.as_ref().map(|list| list.number),
            ListName::Ctl(root) => self.ctls.get(&root).map(|list| list.number),
            ListName::Crl(_) => None,
        }
    }

    /// The messages a list is made of, to be offered again in this order after a restart.
    pub fn messages(&self, name: ListName) -> Vec<&[u8]> {
        match name {
            ListName::Ectl(_) => self.ectl.iter().flat_map(|list| &list.messages).map(Vec::as_slice).collect(),
            ListName::Ctl(root) => {
                self.ctls.get(&root).into_iter().flat_map(|list| &list.messages).map(Vec::as_slice).collect()
            }
            ListName::Crl(root) => self.crls.get(&root).into_iter().map(|list| list.message.as_slice()).collect(),
        }
    }

    /// Lists that should have been replaced by `now`.
    pub fn overdue(&self, now: Time64) -> Vec<ListName> {
        let is_over = |next: Time32| next.time64() <= now;
        let manager = self.manager();
        let ectl =
            self.ectl.iter().filter(|list| is_over(list.next_update)).filter_map(|_| manager.map(ListName::Ectl));
        let ctls = self.ctls.iter().filter(|(_, list)| is_over(list.next_update)).map(|(id, _)| ListName::Ctl(*id));
        let crls = self.crls.iter().filter(|(_, list)| is_over(list.next_update)).map(|(id, _)| ListName::Crl(*id));
        ectl.chain(ctls).chain(crls).collect()
    }

    /// Takes a list of any kind, full or of changes, if somebody signed it who is trusted to, and it is not older than what is
    /// held. One that should have been replaced by `now` is taken all the same: it is better than an older one.
    ///
    /// # Errors
    /// [`ListRefusal`]; what is held stays as it was.
    pub fn offer(&mut self, bytes: &[u8], now: Time64) -> Result<Taken, ListRefusal> {
        let (data, _) = Ieee1609Dot2Data::from_coer_with(bytes, self.rules).map_err(PkiError::from)?;
        let message = SignedMessage::new(data)?;
        let signer = signer_of(&message)?;
        let generated = message.generation_time()?;
        if let Some(manager) = self.manager.clone().filter(|manager| manager.id() == signer) {
            message.check_list_signer(&manager, Psid::CTL, now)?;
            let EtsiTs102941DataContent::CertificateTrustListTlm(list) = message.content_with(self.rules)? else {
                return Err(PkiError::WrongContent { expected: "a trust list manager's trust list" }.into());
            };
            let name = ListName::Ectl(signer);
            let Some(new) =
                self.follow(self.ectl.as_ref(), (&list, generated), bytes, ListKind::TrustListManager, now)?
            else {
                return Ok(Taken::Held(name));
            };
            self.ectl = Some(new);
            return Ok(Taken::New(name));
        }
        let root = self.roots().remove(&signer).ok_or(ListRefusal::Foreign(signer))?;
        match message.content_with(self.rules)? {
            EtsiTs102941DataContent::CertificateTrustListRca(list) => {
                message.check_list_signer(&root, Psid::CTL, now)?;
                let held = self.ctls.get(&signer);
                let Some(new) = self.follow(held, (&list, generated), bytes, ListKind::Root, now)? else {
                    return Ok(Taken::Held(ListName::Ctl(signer)));
                };
                self.ctls.insert(signer, new);
                Ok(Taken::New(ListName::Ctl(signer)))
            }
            EtsiTs102941DataContent::CertificateRevocationList(list) => {
                message.check_list_signer(&root, Psid::CRL, now)?;
                self.take_revocations(signer, &list, bytes)
            }
            _ => Err(PkiError::WrongContent { expected: "a trust list or a revocation list" }.into()),
        }
    }

    fn take_revocations(
        &mut self,
        root: HashedId8,
        list: &ToBeSignedCrl<'_>,
        bytes: &[u8],
    ) -> Result<Taken, ListRefusal> {
        let ToBeSignedCrl { this_update, next_update, entries, .. } = list;
        let revoked: BTreeSet<HashedId8> = entries.iter().copied().collect();
        if let Some(held) = self.crls.get(&root) {
            if *this_update < held.this_update {
                let (held, offered) = (held.this_update.0, this_update.0);
                return Err(ListRefusal::OldRevocations { held, offered });
            }
            if (held.this_update, &held.revoked) == (*this_update, &revoked) {
                return Ok(Taken::Held(ListName::Crl(root)));
            }
        }
        let is_same = self.crls.get(&root).is_some_and(|held| held.revoked == revoked);
        let (this_update, next_update) = (*this_update, *next_update);
        self.crls.insert(root, HeldRevocationList { this_update, next_update, revoked, message: bytes.to_vec() });
        let name = ListName::Crl(root);
        Ok(if is_same { Taken::Renewed(name) } else { Taken::New(name) })
    }

    /// What `list` makes of `held`; none if it is the same.
    fn follow(
        &self,
        held: Option<&HeldTrustList>,
        (list, generated): (&CtlFormat<'_>, Time64),
        bytes: &[u8],
        kind: ListKind,
        now: Time64,
    ) -> Result<Option<HeldTrustList>, ListRefusal> {
        let offered = list.ctl_sequence;
        if let Some(held) = held {
            let ahead = (u16::from(offered) + NUMBERS - u16::from(held.number)) % NUMBERS;
            // The same number again is the same list, unless it was signed anew to be good for longer.
            let is_prolonged = list.is_full_ctl && generated > held.generated && list.next_update > held.next_update;
            if ahead == 0 && !is_prolonged {
                return Ok(None);
            }
            // Numbers go round: after a long time away the one that is ahead can look as if it were behind.
            let is_newer = ahead <= NUMBERS / 2 || held.next_update.time64() <= now;
            if !is_newer || generated < held.generated {
                return Err(ListRefusal::Rollback { held: held.number, offered });
            }
            if !list.is_full_ctl && ahead != 1 {
                return Err(ListRefusal::Gap { held: Some(held.number), offered });
            }
        }
        let mut new = match (list.is_full_ctl, held) {
            (true, _) => HeldTrustList::default(),
            (false, Some(held)) => held.clone(),
            (false, None) => return Err(ListRefusal::Gap { held: None, offered }),
        };
        (new.number, new.generated, new.next_update) = (offered, generated, list.next_update);
        new.messages.push(bytes.to_vec());
        for command in &list.ctl_commands {
            self.perform(&mut new, command, kind)?;
        }
        Ok(Some(new))
    }

    fn perform(&self, list: &mut HeldTrustList, command: &CtlCommand<'_>, kind: ListKind) -> Result<(), PkiError> {
        let certificate = match (kind, command) {
            (ListKind::Root, CtlCommand::Add(CtlEntry::Aa(entry))) => &entry.aa_certificate,
            (ListKind::TrustListManager, CtlCommand::Add(CtlEntry::Rca(entry))) => &entry.self_signed_root_ca,
            (_, CtlCommand::Add(CtlEntry::Dc(entry))) => {
                list.centres.insert(entry.url.trim_end_matches('/').to_owned(), entry.cert.clone());
                return Ok(());
            }
            (_, CtlCommand::Delete(CtlDelete::Cert(id))) => {
                list.certificates.remove(id);
                return Ok(());
            }
            (_, CtlCommand::Delete(CtlDelete::Dc(url))) => {
                list.centres.remove(url.trim_end_matches('/'));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let id = hashed_id8(certificate)?;
        list.certificates.insert(id, CertificateBuf::with_rules(certificate.received.0, self.rules)?);
        Ok(())
    }

    /// Whom to trust by all of this, made anew; with what cannot be trusted although it is named, and why.
    pub fn trust(&self) -> (TrustStore, Vec<(HashedId8, TrustError)>) {
        let mut trust = TrustStore::new(self.form);
        let mut problems = Vec::new();
        for (id, root) in self.roots() {
            if let Err(error) = trust.insert_root(&root.certificate().view()) {
                problems.push((id, error));
            }
        }
        let listed = self.ctls.values().flat_map(|list| list.certificates.values());
        for certificate in self.authorities.iter().chain(listed) {
            let view = certificate.view();
            if let Err(error) = trust.insert_authority(&view) {
                problems.push((hashed_id8(&view).unwrap_or(HashedId8([0; 8])), error));
            }
        }
        // Last: who is revoked stays known as such.
        for (root, list) in &self.crls {
            trust.set_revocation_list(*root, list.revoked.iter().copied(), self.next_update(*root, list.next_update));
        }
        (trust, problems)
    }

    /// When the first of a root's lists is due.
    fn next_update(&self, root: HashedId8, of_revocations: Time32) -> Time32 {
        self.ctls.get(&root).map_or(of_revocations, |list| list.next_update.min(of_revocations))
    }
}

/// Who says to have signed a list: by an identifier, or by the certificate that travels along.
fn signer_of(message: &SignedMessage<'_>) -> Result<HashedId8, PkiError> {
    match &message.signed().signer {
        SignerIdentifier::Certificate(chain) if !chain.is_empty() => Ok(hashed_id8(&chain[0])?),
        _ => message.signer_id(),
    }
}
