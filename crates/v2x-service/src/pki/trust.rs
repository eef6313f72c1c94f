//! Authorities of other vendors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    CtlCommand, CtlEntry, ListKind, PkiError, Role, TrustedAuthority, check_issued_by, read_revocation_list,
    read_trust_list,
};
use chronoseal_v2x::types::{CertificateBuf, HashedId8};
use tokio::task::JoinSet;

use super::exchange::Gate;
use super::server::lock;
use super::{CRL_TYPE, CTL_TYPE, Clock, HttpClient, ServiceError, files};
use crate::store::Store;

/// How long a distribution centre that did not answer is not asked again.
const SILENT_FOR: Duration = Duration::from_secs(5);
/// How often one is asked, however many authorities are looked up.
const FETCH_EVERY: Duration = Duration::from_millis(50);

/// The authorities of the roots in a [`Store`], by the lists of their distribution centres.
///
/// The lists are fetched each time: what is revoked there is refused here at once, and nothing is trusted that cannot
/// be asked about. Nobody waits for a centre that did not answer the last time: it is tried again every five seconds, if it
/// is needed, and its authorities are trusted again once it has answered.
#[derive(Clone, Debug)]
pub struct TrustStore {
    store: Arc<Mutex<Store>>,
    http: HttpClient,
    clock: Clock,
    centres: Arc<Mutex<Centres>>,
}

impl TrustStore {
    /// By the roots in `store`.
    #[must_use]
    pub fn new(store: Arc<Mutex<Store>>, http: HttpClient) -> Self {
        Self { store, http, clock: Clock::default(), centres: Arc::default() }
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
        Ok(lock(&self.store).trust(root, url)?)
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

    /// The authority of this identifier in the lists of a trusted root, fetched after the call began. All distribution centres
    /// are asked at once, and one that does not answer is no reason to wait once another one has the authority.
    pub(super) async fn look_up(&self, gate: &Gate, role: Role, id: HashedId8) -> Result<TrustedAuthority, PkiError> {
        let began = Instant::now();
        let is_ea = role == Role::Enrolment;
        let unknown = || if is_ea { PkiError::UnknownEa(id) } else { PkiError::UntrustedAa(id) };
        let store = Arc::clone(&self.store);
        let roots = gate.work(move || lock(&store).trusted_roots()).await;
        let roots = roots.map_err(|_| PkiError::Store("it could not be asked".to_owned()))??;
        let mut answers = JoinSet::new();
        for (root, url) in roots {
            let centre = self.centre(&root, &url);
            let (http, clock, gate) = (self.http.clone(), self.clock.clone(), gate.clone());
            answers.spawn(async move {
                let fetch = move || Lists::fetch(&http, &clock, &root, &url);
                centre.newest(gate, began, fetch).await
            });
        }
        while let Some(answer) = answers.join_next().await {
            let Ok(Ok(lists)) = answer else { continue };
            if let Some(found) = lists.find(id, is_ea) {
                // What is on its way still is of use to whoever asks next.
                answers.detach_all();
                return match lists.is_revoked(id) {
                    false => Ok(found),
                    true if is_ea => Err(PkiError::RevokedEa(id)),
                    true => Err(PkiError::UntrustedAa(id)),
                };
            }
        }
        Err(unknown())
    }

    fn centre(&self, root: &SignerCertificate, url: &str) -> Arc<Centre> {
        Arc::clone(lock(&self.centres).entry((root.id(), url.to_owned())).or_default())
    }
}

/// By root and address.
type Centres = BTreeMap<(HashedId8, String), Arc<Centre>>;

/// The distribution centre of a root. One fetch is under way at a time, and serves all who wait for it. One that did not
/// answer is tried again without anybody waiting for it.
#[derive(Debug, Default)]
struct Centre {
    known: Mutex<Option<Fetched>>,
    fetching: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug)]
struct Fetched {
    began: Instant,
    ended: Instant,
    lists: Result<Arc<Lists>, Unfetched>,
}

/// Why there are no lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfetched {
    /// The centre did not answer.
    Silent,
    /// What it answered is of no use.
    Useless,
}

impl Centre {
    /// The lists, fetched not before `since`; at once if the centre did not answer the last time.
    async fn newest(
        self: Arc<Self>,
        gate: Gate,
        since: Instant,
        fetch: impl FnOnce() -> Result<Lists, ServiceError> + Send + 'static,
    ) -> Result<Arc<Lists>, Unfetched> {
        let known = || lock(&self.known).clone();
        let is_silent = |of: &Fetched| matches!(of.lists, Err(Unfetched::Silent));
        if let Some(silent) = known().filter(is_silent) {
            if silent.ended.elapsed() >= SILENT_FOR
                && let Ok(turn) = Arc::clone(&self.fetching).try_lock_owned()
            {
                let centre = Arc::clone(&self);
                tokio::spawn(async move {
                    let _ = centre.fetch(&gate, fetch).await;
                    drop(turn);
                });
            }
            return Err(Unfetched::Silent);
        }
        let _turn = self.fetching.lock().await;
        if let Some(last) = known() {
            if last.began >= since || is_silent(&last) {
                return last.lists;
            }
            // However many ask, a centre is asked so often and no oftener.
            tokio::time::sleep_until((last.began + FETCH_EVERY).into()).await;
        }
        self.fetch(&gate, fetch).await
    }

    async fn fetch(
        &self,
        gate: &Gate,
        fetch: impl FnOnce() -> Result<Lists, ServiceError> + Send + 'static,
    ) -> Result<Arc<Lists>, Unfetched> {
        let began = Instant::now();
        let lists = match gate.ask(fetch).await {
            Ok(Ok(lists)) => Ok(Arc::new(lists)),
            Ok(Err(ServiceError::Network { .. })) | Err(_) => Err(Unfetched::Silent),
            Ok(Err(_)) => Err(Unfetched::Useless),
        };
        *lock(&self.known) = Some(Fetched { began, ended: Instant::now(), lists: lists.clone() });
        lists
    }
}

/// What a distribution centre says of the authorities of its root.
#[derive(Debug)]
struct Lists {
    eas: Vec<TrustedAuthority>,
    aas: Vec<TrustedAuthority>,
    /// None if there is no revocation list.
    revoked: Option<Vec<HashedId8>>,
}

impl Lists {
    fn fetch(http: &HttpClient, clock: &Clock, root: &SignerCertificate, url: &str) -> Result<Self, ServiceError> {
        let message = http.get(&format!("{url}/getctl/{}", root.id()), CTL_TYPE)?;
        let list = read_trust_list(&message, ListKind::Root, root, clock.now())?;
        let mut lists = Self { eas: Vec::new(), aas: Vec::new(), revoked: None };
        for command in &list.ctl_commands {
            let (certificate, url, of) = match command {
                CtlCommand::Add(CtlEntry::Ea(entry)) => (&entry.ea_certificate, entry.aa_access_point, &mut lists.eas),
                CtlCommand::Add(CtlEntry::Aa(entry)) => (&entry.aa_certificate, entry.access_point, &mut lists.aas),
                _ => continue,
            };
            // One that is not valid, or not of this root, is not there; the others are.
            if let Ok(certificate) = signer(certificate)
                && check_issued_by(&certificate, root, clock.now()).is_ok()
            {
                of.push(TrustedAuthority { certificate, url: url.to_owned() });
            }
        }
        let revoked = http.get(&format!("{url}/getcrl/{}", root.id()), CRL_TYPE);
        let revoked =
            revoked.and_then(|message| Ok(read_revocation_list(&message, root, clock.now())?.entries.clone()));
        lists.revoked = revoked.ok();
        Ok(lists)
    }

    fn find(&self, id: HashedId8, is_ea: bool) -> Option<TrustedAuthority> {
        let among = if is_ea { &self.eas } else { &self.aas };
        among.iter().find(|authority| authority.certificate.id() == id).cloned()
    }

    /// Without a revocation list nobody can say that it is not on it.
    fn is_revoked(&self, id: HashedId8) -> bool {
        self.revoked.as_ref().is_none_or(|revoked| revoked.contains(&id))
    }
}

fn signer(certificate: &chronoseal_v2x::types::Certificate<'_>) -> Result<SignerCertificate, PkiError> {
    files::signer(CertificateBuf::new(certificate.received.0)?)
}
