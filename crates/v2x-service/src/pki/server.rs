//! Root, enrolment authority, authorization authority, misbehaviour authority, trust list manager and distribution centre behind
//! one port.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::crypto::{Curve, SigningKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    AaEntry, Authority, AuthorizationAuthority, AuthorizationResponseCode, AuthorizationValidationResponseCode,
    CtlCommand, CtlEntry, DcEntry, Decision, EaEntry, EnrolmentAuthority, EnrolmentPolicy, EnrolmentResponseCode,
    ListKind, LookUp, PkiError, Question, Role, RootCaEntry, Step, TicketPeriods, TlmEntry, TrustedAuthority, delta,
    issue_authority, own_trust_list, sign_revocation_list, sign_trust_list,
};
use chronoseal_v2x::types::{CertificateBuf, Duration as Validity, HashedId8, Time64};

use super::exchange::{Gate, reached};
use super::keys::rng;
use super::listening::{Listener, Running};
use super::shared::Shared;
use super::{Clock, HttpClient, KeyDevice, Meta, ServiceError, TrustStore, files};
use crate::hsm::HsmKey;
use crate::store::Store;

/// The signed lists that do not come from the store, kept until what they say changes.
#[derive(Debug, Default)]
struct Signed {
    revocations: Mutex<Option<Revocations>>,
    of_root: Mutex<Deltas>,
    of_tlm: Mutex<Deltas>,
}

#[derive(Debug)]
struct Revocations {
    entries: Vec<HashedId8>,
    signed_at: Time64,
    message: Vec<u8>,
}

/// What leads to the full list `newest`, by the number of the list it begins at.
#[derive(Debug, Default)]
struct Deltas {
    newest: Vec<u8>,
    messages: BTreeMap<u8, Vec<u8>>,
}

/// How long a trust list is good for `[s]`: a week.
const CTL_VALIDITY_S: u64 = 7 * 86_400;
/// How long a revocation list is good for `[s]`: a day. It is signed when it is asked for and another one than the last is
/// due, which is also so when half of that has passed.
const CRL_VALIDITY_S: u64 = 86_400;
/// How long an enrolment authority of another root may take to answer; a station waits ten seconds for its own answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(8);
/// How long a distribution centre of another root may take to send a list.
const LIST_TIME_MAX: Duration = Duration::from_secs(4);

/// Answers to give instead of the right ones, to see what stations and other authorities do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// To stations that want a credential.
    pub enrolment: Option<EnrolmentResponseCode>,
    /// To stations that want a ticket.
    pub authorization: Option<AuthorizationResponseCode>,
    /// To authorization authorities.
    pub validation: Option<AuthorizationValidationResponseCode>,
}

/// What kind of PKI to run.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Folder of the authorities' certificates, `rca.oer`, `tlm.oer`, `ea.oer`, `aa.oer`, `ma.oer`, each with a `.meta` file.
    pub directory: PathBuf,
    /// Where to listen; port 0 for any that is free.
    pub address: SocketAddr,
    /// Where others find it, as trust lists say; where it listens if not said.
    pub public_url: Option<String>,
    /// What the names of the authorities begin with.
    pub name: String,
    /// Curve of the enrolment and authorization authorities' keys; of 256 bits.
    pub curve: Curve,
    /// Curve of the root's and the trust list manager's keys.
    pub root_curve: Curve,
    /// Answers to give instead of the right ones.
    pub faults: Faults,
    /// The clock to go by.
    pub clock: Clock,
    /// When tickets begin and end.
    pub ticket_periods: TicketPeriods,
    /// How long an enrolment credential is valid.
    pub credential_validity: Validity,
}

impl ServerOptions {
    /// On a free port of this host, on NIST P-256.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            public_url: None,
            name: "chronoseal".to_owned(),
            curve: Curve::NistP256,
            root_curve: Curve::NistP256,
            faults: Faults::default(),
            clock: Clock::default(),
            ticket_periods: TicketPeriods::default(),
            credential_validity: EnrolmentPolicy::default().credential_validity,
        }
    }
}

/// A PKI that serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    // First, so that what the handlers share ends here and not in one of their threads: a connection to PostgreSQL cannot
    // be closed in there.
    http: Running,
    state: Arc<State>,
    url: String,
}

/// What the handlers share. No lock is held while another authority or a distribution centre is asked, so that one that
/// hangs stops nobody, and two such servers cannot wait for each other.
#[derive(Debug)]
pub(super) struct State {
    url: String,
    certificates: Vec<(Role, SignerCertificate)>,
    root: Mutex<Authority>,
    tlm: Mutex<Authority>,
    ea: Mutex<EnrolmentAuthority>,
    aa: Mutex<AuthorizationAuthority>,
    pub(super) ma: Mutex<Authority>,
    pub(super) store: Arc<Mutex<Store>>,
    pub(super) trust: TrustStore,
    pub(super) http: HttpClient,
    pub(super) gate: Gate,
    signed: Signed,
    pub(super) clock: Clock,
}

impl Server {
    /// Makes what is missing of the authorities, signs new lists and serves.
    ///
    /// # Errors
    /// [`ServiceError::PublicUrl`] if that is none; [`ServiceError::Network`] if the address is taken; else those of files,
    /// keys and the store.
    pub fn start(options: &ServerOptions, device: &KeyDevice, store: Store) -> Result<Self, ServiceError> {
        options.public_url.as_deref().map_or(Ok(()), check_public_url)?;
        let listener = Listener::bind(options.address)?;
        let listens_at = format!("http://{}", listener.address());
        let url = options.public_url.clone().unwrap_or_else(|| listens_at.clone());
        let http = HttpClient::new(ANSWER_TIME_MAX);
        let store = Arc::new(Mutex::new(store));
        let trust =
            TrustStore::new(Arc::clone(&store), HttpClient::new(LIST_TIME_MAX)).with_clock(options.clock.clone());

        let root = open(options, device, Role::Root, None)?;
        let tlm = open(options, device, Role::TrustListManager, None)?;
        let (ea, aa, ma) = {
            let mut root_key = root.key;
            let issuer = (root.certificate.certificate(), &mut root_key);
            let ea = open(options, device, Role::Enrolment, Some((issuer.0, &mut *issuer.1)))?;
            let aa = open(options, device, Role::Authorization, Some((issuer.0, &mut *issuer.1)))?;
            let ma = open(options, device, Role::Misbehaviour, Some((issuer.0, issuer.1)))?;
            (ea, aa, ma)
        };
        let root = open(options, device, Role::Root, None)?;
        let certificates =
            [&root, &tlm, &ea, &aa, &ma].map(|opened| (opened.role, opened.certificate.clone())).to_vec();
        let own_aa = aa.certificate.clone();
        let own_ea = TrustedAuthority { certificate: ea.certificate.clone(), url: format!("{url}/ea") };
        let mut enrolment = EnrolmentAuthority::new(ea.authority(), own_aa);
        enrolment.fault = options.faults.enrolment;
        enrolment.policy.ticket_periods = options.ticket_periods;
        enrolment.policy.credential_validity = options.credential_validity;
        enrolment.validation_fault = options.faults.validation;
        let mut authorization = AuthorizationAuthority::new(aa.authority(), own_ea);
        authorization.fault = options.faults.authorization;
        let state = Arc::new(State {
            url,
            certificates,
            root: Mutex::new(root.authority()),
            tlm: Mutex::new(tlm.authority()),
            ea: Mutex::new(enrolment),
            aa: Mutex::new(authorization),
            ma: Mutex::new(ma.authority()),
            store,
            trust,
            http,
            gate: Gate::default(),
            signed: Signed::default(),
            clock: options.clock.clone(),
        });
        state.forget()?;
        state.sign_lists()?;
        let http = listener.serve(Arc::clone(&state))?;
        Ok(Self { http, state, url: listens_at })
    }

    /// Where it listens, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where others find it, as trust lists say.
    #[must_use]
    pub fn public_url(&self) -> &str {
        &self.state.url
    }

    /// The certificate of one of the authorities.
    #[must_use]
    pub fn certificate(&self, role: Role) -> &SignerCertificate {
        self.state.certificate(role)
    }

    /// What it remembers.
    #[must_use]
    pub fn store(&self) -> Arc<Mutex<Store>> {
        Arc::clone(&self.state.store)
    }

    /// Whom it trusts.
    #[must_use]
    pub fn trust(&self) -> &TrustStore {
        &self.state.trust
    }

    /// Changes the answers it gives.
    pub fn set_faults(&self, faults: Faults) {
        let mut ea = lock(&self.state.ea);
        ea.fault = faults.enrolment;
        ea.validation_fault = faults.validation;
        lock(&self.state.aa).fault = faults.authorization;
    }

    /// Takes the authority `id` out of the trust list and puts it on the revocation list.
    ///
    /// # Errors
    /// Those of the store and the root's key.
    pub fn revoke_authority(&self, id: HashedId8) -> Result<(), ServiceError> {
        lock(&self.state.store).revoke_authority(id)?;
        self.state.sign_lists()
    }

    /// Waits until the process is told to end.
    pub fn wait(&self) {
        self.http.wait();
    }
}

/// A certificate and its keys, before they are used.
struct Opened {
    role: Role,
    certificate: SignerCertificate,
    key: HsmKey,
    decryption_key: Option<HsmKey>,
}

impl Opened {
    fn authority(self) -> Authority {
        Authority {
            certificate: self.certificate,
            signing_key: Box::new(self.key),
            decryption_key: self.decryption_key.map(|key| Box::new(key) as _),
        }
    }
}

/// Opens an authority, and makes it first if its certificate is not there.
fn open(
    options: &ServerOptions,
    device: &KeyDevice,
    role: Role,
    issuer: Option<(&CertificateBuf, &mut HsmKey)>,
) -> Result<Opened, ServiceError> {
    let path = options.directory.join(format!("{role}.oer"));
    if !path.exists() {
        create(options, device, role, issuer, &path)?;
    }
    let meta = Meta::read(&path)?;
    Ok(Opened {
        role,
        certificate: files::read_certificate(&path)?,
        key: device.key(meta.signing_key)?,
        decryption_key: meta.decryption_key.map(|handle| device.key(handle)).transpose()?,
    })
}

fn create(
    options: &ServerOptions,
    device: &KeyDevice,
    role: Role,
    issuer: Option<(&CertificateBuf, &mut HsmKey)>,
    path: &Path,
) -> Result<(), ServiceError> {
    let curve = if role.decrypts() { options.curve } else { options.root_curve };
    let signing_key = device.create(curve, role.name())?;
    let decryption_key = match role.decrypts() {
        true => Some(device.create(curve, &format!("{role} decryption"))?),
        false => None,
    };
    let mut key = device.key(signing_key)?;
    let public = SigningKey::public_point(&key);
    let encryption =
        decryption_key.map(|handle| device.key(handle)).transpose()?.map(|key| SigningKey::public_point(&key));
    let (issuer, issuing_key) = match issuer {
        Some((certificate, key)) => (Some(certificate), key),
        None => (None, &mut key),
    };
    let name = format!("{} {}", options.name, role.name().to_uppercase());
    let certificate =
        issue_authority(role, &name, &public, encryption.as_ref(), issuer, issuing_key, options.clock.now().time32())?;
    // The note first: a certificate in the folder promises that its keys can be found.
    Meta { signing_key, decryption_key }.write(path)?;
    files::write_certificate(path, &certificate)
}

impl State {
    pub(super) fn certificate(&self, role: Role) -> &SignerCertificate {
        let found = self.certificates.iter().find(|(of, _)| *of == role);
        &found.expect("there is one of each role").1
    }

    pub(super) fn handle_at_ea(&self, request: &[u8]) -> Result<Step, ServiceError> {
        let mut store = Shared(Arc::clone(&self.store));
        Ok(lock(&self.ea).handle(request, &mut store, self.clock.now(), &mut rng()?)?)
    }

    pub(super) fn resume_at_ea(
        &self,
        look_up: LookUp,
        found: Result<TrustedAuthority, PkiError>,
    ) -> Result<Decision, ServiceError> {
        let mut store = Shared(Arc::clone(&self.store));
        Ok(lock(&self.ea).resume_look_up(look_up, found, &mut store, self.clock.now(), &mut rng()?)?)
    }

    pub(super) fn handle_at_aa(&self, request: &[u8]) -> Result<Step, ServiceError> {
        let mut store = Shared(Arc::clone(&self.store));
        Ok(lock(&self.aa).handle(request, &mut store, self.clock.now(), &mut rng()?)?)
    }

    pub(super) fn resume_look_up_at_aa(
        &self,
        look_up: LookUp,
        found: Result<TrustedAuthority, PkiError>,
    ) -> Result<Step, ServiceError> {
        let mut store = Shared(Arc::clone(&self.store));
        Ok(lock(&self.aa).resume_look_up(look_up, found, &mut store, self.clock.now(), &mut rng()?)?)
    }

    pub(super) fn resume_at_aa(
        &self,
        question: &Question,
        answer: Result<Vec<u8>, ServiceError>,
    ) -> Result<Decision, ServiceError> {
        let mut store = Shared(Arc::clone(&self.store));
        Ok(lock(&self.aa).resume(question, reached(&answer), &mut store, self.clock.now(), &mut rng()?)?)
    }

    /// Forgets the answers to requests that are not taken any more, and the tickets that are over.
    pub(super) fn forget(&self) -> Result<(), ServiceError> {
        let (mut store, now) = (lock(&self.store), self.clock.now());
        store.forget_answers(now)?;
        Ok(store.forget_confirmed(now)?)
    }

    /// The newest full list.
    pub(super) fn list(&self, kind: ListKind) -> Result<Vec<u8>, ServiceError> {
        let newest = lock(&self.store).lists(kind)?.into_iter().next();
        let message = newest.ok_or(crate::store::StoreError::Damaged("trust lists"))?;
        // Halfway through its time a list is replaced, and at once when somebody on it is revoked.
        let renew_at = self.clock.now().plus_us(CTL_VALIDITY_S / 2 * 1_000_000);
        let revoked = lock(&self.store).revoked_authorities()?;
        let current = own_trust_list(&message)?;
        let is_revoked =
            |command: &CtlCommand<'_>| matches!(command, CtlCommand::Add(entry) if is_revoked(entry, &revoked));
        if current.next_update.time64() > renew_at && !current.ctl_commands.iter().any(is_revoked) {
            return Ok(message);
        }
        self.sign_lists()?;
        let newest = lock(&self.store).lists(kind)?.into_iter().next();
        newest.ok_or(crate::store::StoreError::Damaged("trust lists").into())
    }

    /// What changed since the list `sequence`, or none if that is not known any more.
    pub(super) fn delta(&self, kind: ListKind, sequence: u8) -> Result<Option<Vec<u8>>, ServiceError> {
        let newest = self.list(kind)?;
        let kept = lock(&self.store).lists(kind)?;
        let new = own_trust_list(&newest)?;
        let Some(old) = kept.iter().find(|old| own_trust_list(old).is_ok_and(|old| old.ctl_sequence == sequence))
        else {
            return Ok(None);
        };
        let mut signed = lock(match kind {
            ListKind::Root => &self.signed.of_root,
            ListKind::TrustListManager => &self.signed.of_tlm,
        });
        if signed.newest != newest {
            *signed = Deltas { newest: newest.clone(), messages: BTreeMap::new() };
        }
        if let Some(message) = signed.messages.get(&sequence) {
            return Ok(Some(message.clone()));
        }
        let commands = delta(&own_trust_list(old)?, &new)?;
        let mut authority = lock(self.signer_of(kind));
        let is_full_ctl = false;
        let header = (is_full_ctl, new.ctl_sequence);
        let message = sign_trust_list(&mut authority, kind, header, commands, self.clock.now(), CTL_VALIDITY_S)?;
        signed.messages.insert(sequence, message.clone());
        Ok(Some(message))
    }

    /// Who is revoked now.
    pub(super) fn revocation_list(&self) -> Result<Vec<u8>, ServiceError> {
        let entries = lock(&self.store).revoked_authorities()?;
        let now = self.clock.now();
        // Whoever asks while it is signed gets the same.
        let mut kept = lock(&self.signed.revocations);
        if let Some(last) = &*kept
            && last.entries == entries
            && last.signed_at <= now
            && now < last.signed_at.plus_us(CRL_VALIDITY_S / 2 * 1_000_000)
        {
            return Ok(last.message.clone());
        }
        let message = sign_revocation_list(&mut lock(&self.root), entries.clone(), now, CRL_VALIDITY_S)?;
        *kept = Some(Revocations { entries, signed_at: now, message: message.clone() });
        Ok(message)
    }

    fn signer_of(&self, kind: ListKind) -> &Mutex<Authority> {
        match kind {
            ListKind::Root => &self.root,
            ListKind::TrustListManager => &self.tlm,
        }
    }

    /// Signs both full lists anew, each under the next number.
    fn sign_lists(&self) -> Result<(), ServiceError> {
        let (ea_url, aa_url) = (format!("{}/ea", self.url), format!("{}/aa", self.url));
        let revoked = lock(&self.store).revoked_authorities()?;
        let [root, tlm, ea, aa, _] = Role::ALL.map(|role| self.certificate(role).certificate().view());
        let root_id = hashed_id8(&root).map_err(PkiError::from)?;
        let centre = CtlCommand::Add(CtlEntry::Dc(DcEntry { url: &self.url, cert: vec![root_id] }));
        let mut of_root = vec![
            CtlCommand::Add(CtlEntry::Ea(EaEntry {
                ea_certificate: ea,
                aa_access_point: &ea_url,
                its_access_point: Some(&ea_url),
            })),
            CtlCommand::Add(CtlEntry::Aa(AaEntry { aa_certificate: aa, access_point: &aa_url })),
            centre.clone(),
        ];
        of_root.retain(|command| !matches!(command, CtlCommand::Add(entry) if is_revoked(entry, &revoked)));
        let of_tlm = vec![
            CtlCommand::Add(CtlEntry::Tlm(TlmEntry {
                self_signed_tlm_certificate: tlm,
                successor_to: None,
                access_point: &self.url,
            })),
            CtlCommand::Add(CtlEntry::Rca(RootCaEntry { self_signed_root_ca: root, successor_to: None })),
            centre,
        ];
        self.sign_list(ListKind::Root, of_root)?;
        self.sign_list(ListKind::TrustListManager, of_tlm)
    }

    fn sign_list(&self, kind: ListKind, commands: Vec<CtlCommand<'_>>) -> Result<(), ServiceError> {
        let mut store = lock(&self.store);
        let last = store.lists(kind)?.into_iter().next();
        // [TS 102 941 §6.3.4] Numbers go round.
        let sequence = match last {
            Some(last) => own_trust_list(&last)?.ctl_sequence % 255 + 1,
            None => 1,
        };
        let mut authority = lock(self.signer_of(kind));
        let message =
            sign_trust_list(&mut authority, kind, (true, sequence), commands, self.clock.now(), CTL_VALIDITY_S)?;
        Ok(store.add_list(kind, &message)?)
    }
}

/// An address that paths can be put behind.
fn check_public_url(url: &str) -> Result<(), ServiceError> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let is_plain = |host: &str| {
        let reaches = !host.is_empty() && !host.starts_with(['/', ':']) && !host.ends_with('/');
        reaches && host.bytes().all(|octet| octet.is_ascii_graphic() && !b"?#\"<>@\\".contains(&octet))
    };
    match host.is_some_and(is_plain) {
        true => Ok(()),
        false => Err(ServiceError::PublicUrl { found: url.to_owned() }),
    }
}

fn is_revoked(entry: &CtlEntry<'_>, revoked: &[HashedId8]) -> bool {
    entry.certificate().is_some_and(|certificate| hashed_id8(certificate).is_ok_and(|id| revoked.contains(&id)))
}

/// Locks also after a panic elsewhere: what authorities and stores hold between calls is always whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
