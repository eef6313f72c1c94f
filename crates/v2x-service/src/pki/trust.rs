//! Authorities of other vendors.

use std::sync::{Arc, Mutex, PoisonError};

use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    CtlCommand, CtlEntry, ListKind, PkiError, TrustSource, TrustedAuthority, check_issued_by, read_revocation_list,
    read_trust_list,
};
use chronoseal_v2x::types::{CertificateBuf, HashedId8};

use super::{CRL_TYPE, CTL_TYPE, Clock, HttpClient, ServiceError, files};
use crate::store::Store;

/// The authorities of the roots in a [`Store`], by the lists of their distribution centres.
///
/// The lists are fetched each time: what is revoked there is refused here at once, and nothing is trusted that cannot
/// be asked about.
#[derive(Clone, Debug)]
pub struct TrustStore {
    store: Arc<Mutex<Store>>,
    http: HttpClient,
    clock: Clock,
}

impl TrustStore {
    /// By the roots in `store`.
    #[must_use]
    pub fn new(store: Arc<Mutex<Store>>, http: HttpClient) -> Self {
        Self { store, http, clock: Clock::default() }
    }

    /// Goes by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Trusts a root whose distribution centre is at `url`.
    ///
    /// # Errors
    /// [`ServiceError::Pki`] if it is no root that is valid now.
    pub fn add(&self, root: &SignerCertificate, url: &str) -> Result<(), ServiceError> {
        check_issued_by(root, root, self.clock.now())?;
        Ok(self.lock().trust(root, url)?)
    }

    /// Trusts every root of a trust list manager's list that has a distribution centre there. Gives back which.
    ///
    /// # Errors
    /// [`ServiceError::Network`], or [`ServiceError::Pki`] for a list that does not verify.
    pub fn add_listed(&self, tlm: &SignerCertificate, url: &str) -> Result<Vec<HashedId8>, ServiceError> {
        check_issued_by(tlm, tlm, self.clock.now())?;
        let message = self.http.get(url, CTL_TYPE)?;
        let list = read_trust_list(&message, ListKind::TrustListManager, tlm, self.clock.now())?;
        let mut added = Vec::new();
        for command in &list.ctl_commands {
            let CtlCommand::Add(CtlEntry::Rca(entry)) = command else { continue };
            let id = hashed_id8(&entry.self_signed_root_ca).map_err(PkiError::from)?;
            let centre = list.ctl_commands.iter().find_map(|command| match command {
                CtlCommand::Add(CtlEntry::Dc(entry)) if entry.cert.contains(&id) => Some(entry.url),
                _ => None,
            });
            if let Some(centre) = centre {
                self.add(&signer(&entry.self_signed_root_ca)?, centre)?;
                added.push(id);
            }
        }
        Ok(added)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The authority, or none; `Err` if it is revoked. What goes wrong with one root is no reason not to ask the next.
    fn find(&self, id: HashedId8, is_ea: bool) -> Result<Option<TrustedAuthority>, PkiError> {
        let roots = self.lock().trusted_roots()?;
        for (root, centre) in roots {
            if let Ok(Some(found)) = self.ask(&root, &centre, id, is_ea) {
                return match self.is_revoked(&root, &centre, id) {
                    // Without a revocation list nobody can say that it is not on it.
                    Ok(false) => Ok(Some(found)),
                    Ok(true) | Err(_) if is_ea => Err(PkiError::RevokedEa(id)),
                    Ok(true) | Err(_) => Err(PkiError::UntrustedAa(id)),
                };
            }
        }
        Ok(None)
    }

    fn ask(
        &self,
        root: &SignerCertificate,
        centre: &str,
        id: HashedId8,
        is_ea: bool,
    ) -> Result<Option<TrustedAuthority>, ServiceError> {
        let message = self.http.get(&format!("{centre}/getctl/{}", root.id()), CTL_TYPE)?;
        let list = read_trust_list(&message, ListKind::Root, root, self.clock.now())?;
        for command in &list.ctl_commands {
            let (certificate, url) = match command {
                CtlCommand::Add(CtlEntry::Ea(entry)) if is_ea => (&entry.ea_certificate, entry.aa_access_point),
                CtlCommand::Add(CtlEntry::Aa(entry)) if !is_ea => (&entry.aa_certificate, entry.access_point),
                _ => continue,
            };
            if hashed_id8(certificate).map_err(PkiError::from)? == id {
                let certificate = signer(certificate)?;
                check_issued_by(&certificate, root, self.clock.now())?;
                return Ok(Some(TrustedAuthority { certificate, url: url.to_owned() }));
            }
        }
        Ok(None)
    }

    fn is_revoked(&self, root: &SignerCertificate, centre: &str, id: HashedId8) -> Result<bool, ServiceError> {
        let message = self.http.get(&format!("{centre}/getcrl/{}", root.id()), CRL_TYPE)?;
        Ok(read_revocation_list(&message, root, self.clock.now())?.entries.contains(&id))
    }
}

fn signer(certificate: &chronoseal_v2x::types::Certificate<'_>) -> Result<SignerCertificate, PkiError> {
    files::signer(CertificateBuf::new(certificate.received.0)?)
}

impl TrustSource for TrustStore {
    fn enrolment_authority(&mut self, id: HashedId8) -> Result<TrustedAuthority, PkiError> {
        self.find(id, true)?.ok_or(PkiError::UnknownEa(id))
    }

    fn authorization_authority(&mut self, id: HashedId8) -> Result<TrustedAuthority, PkiError> {
        self.find(id, false)?.ok_or(PkiError::UntrustedAa(id))
    }
}
