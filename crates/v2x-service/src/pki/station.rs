//! A station at the authorities of any vendor.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chronoseal_v2x::crypto::{Curve, SigningKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{
    Applicant, AuthorizationResponseCode, Pending, Permissions, PkiError, TicketWish, request_credential,
    request_ticket,
};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, ValidityPeriod};

use super::keys::rng;
use super::outstanding::{Kind, Outstanding, Wish};
use super::server::lock;
use super::uses::current_credential;
use super::{Clock, HttpClient, KeyDevice, Meta, ServiceError, files, public_key_pem};
use crate::hsm::{HsmKey, KeyHandle};
use crate::private::private_folder;

/// A station: its keys in a device, its certificates in a folder, each with a `.meta` file that says which key is its.
///
/// | file | content |
/// |---|---|
/// | `canonical.meta`, `canonical.pub.pem` | the key the enrolment authority is told about |
/// | `ec/HASHEDID8.oer`, `.meta`; `ec/current` | the enrolment credential; its identifier |
/// | `at/HASHEDID8.oer`, `.meta` | tickets |
/// | `requests/*.json` | requests whose answer has not come, with the secret that opens it |
///
/// A request is on the disk before it is sent. If its answer is lost, or the process ends, the same octets are sent again the
/// next time the same is asked for, for as long as the authority takes them (300 s): an authority that has granted it
/// gives the same answer, and counts nothing a second time.
#[derive(Clone, Debug)]
pub struct Client {
    directory: PathBuf,
    device: KeyDevice,
    ticket_device: KeyDevice,
    http: HttpClient,
    clock: Clock,
    /// Held while the credential's key is used or ended, so that a request that is being made keeps the key it signs with.
    credential_key: Arc<Mutex<()>>,
}

/// An authority and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    /// Its certificate.
    pub certificate: &'a SignerCertificate,
    /// Its address.
    pub url: &'a str,
}

/// A ticket asked for.
///
/// Whatever differs here between two clients can be read in their tickets, and a station may use both: every client asks for
/// [`TicketOptions::default`], but for what its user has said.
#[derive(Clone, Debug)]
pub struct TicketOptions {
    /// The curve of its key.
    pub curve: Curve,
    /// What it is to allow.
    pub permissions: Permissions,
    /// When; the authority's choice if not said.
    pub validity_period: Option<ValidityPeriod>,
    /// True if others are to be able to encrypt to it.
    pub with_encryption_key: bool,
}

impl Default for TicketOptions {
    /// CAM and DENM, on NIST P-256, with a key that others can encrypt to: a station that decrypts needs it.
    fn default() -> Self {
        let permissions = "36:01ffff 37:01ffffff".parse().expect("well formed");
        Self { curve: Curve::NistP256, permissions, validity_period: None, with_encryption_key: true }
    }
}

impl TicketOptions {
    /// By what a request for such a ticket is known.
    fn wish(&self, ea: &SignerCertificate) -> Wish {
        let Self { curve, permissions, validity_period, with_encryption_key } = self;
        let duration = validity_period.map(|period| period.duration);
        Wish {
            what: format!("{permissions} by {}, on {curve}, {duration:?}, to encrypt {with_encryption_key}", ea.id()),
            start: validity_period.map(|period| period.start.0),
        }
    }
}

/// Whether the authority has decided, so that asking for the same again is of no use. What does not verify may be by
/// anybody on the way, and if an enrolment authority was not reached, it may have counted the ticket.
fn is_final(error: &ServiceError) -> bool {
    match error {
        ServiceError::Pki(error) => match error {
            PkiError::AuthorizationRefused(code) => *code != AuthorizationResponseCode::AaEaCantReachEa,
            PkiError::Decode(_)
            | PkiError::Decrypt(_)
            | PkiError::WrongContent { .. }
            | PkiError::WrongPsid { .. }
            | PkiError::WrongSigner { .. }
            | PkiError::WrongSignature
            | PkiError::AnotherRequest
            | PkiError::OutOfSync { .. } => false,
            _ => true,
        },
        _ => false,
    }
}

/// How long to wait before a request is sent again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

impl Client {
    /// The station in `directory`, with its keys in `device`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>, device: KeyDevice) -> Self {
        Self {
            directory: directory.into(),
            ticket_device: device.clone(),
            device,
            http: HttpClient::default(),
            clock: Clock::default(),
            credential_key: Arc::default(),
        }
    }

    /// Keeps the keys of tickets in another device: one that is slow, or has room for few, may have the canonical key
    /// and that of the credential alone.
    #[must_use]
    pub fn with_ticket_device(mut self, device: KeyDevice) -> Self {
        self.ticket_device = device;
        self
    }

    /// Asks by other means.
    #[must_use]
    pub fn with_http(mut self, http: HttpClient) -> Self {
        self.http = http;
        self
    }

    /// Goes by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Makes the canonical key, if it is not there yet, and writes its public half into `canonical.pub.pem`.
    ///
    /// # Errors
    /// [`ServiceError::Hsm`] or [`ServiceError::File`].
    pub fn canonical_key(&self, curve: Curve) -> Result<HsmKey, ServiceError> {
        let path = self.directory.join("canonical");
        if path.with_extension("meta").exists() {
            return Ok(self.device.key(Meta::read(&path)?.signing_key)?);
        }
        let handle = self.device.create(curve, "canonical")?;
        let key = self.device.key(handle)?;
        files::write(
            &self.directory.join("canonical.pub.pem"),
            public_key_pem(&SigningKey::public_point(&key)).as_bytes(),
            0o644,
        )?;
        Meta { signing_key: handle, decryption_key: None }.write(&path)?;
        Ok(key)
    }

    /// The first enrolment, with the canonical key.
    ///
    /// # Errors
    /// [`ServiceError::Pki`] if the authority refuses; any other if it does not get that far. The credential in use, if
    /// any, stays.
    pub fn enrol(&self, canonical_id: &[u8], ea: Endpoint<'_>, curve: Curve) -> Result<HashedId8, ServiceError> {
        let meta = Meta::read(&self.directory.join("canonical"))
            .map_err(|error| error.too_early(&self.directory, "canonical key", "keygen"))?;
        let mut canonical_key = self.device.key(meta.signing_key)?;
        let id: String = canonical_id.iter().map(|octet| format!("{octet:02x}")).collect();
        let what = format!("for {id} with key {}", meta.signing_key);
        self.request_credential(Applicant::New { canonical_id, canonical_key: &mut canonical_key }, what, ea, curve)
    }

    /// A new credential for the current one.
    ///
    /// # Errors
    /// As [`Client::enrol`].
    pub fn renew(&self, ea: Endpoint<'_>, curve: Curve) -> Result<HashedId8, ServiceError> {
        let (credential, mut key) = self.credential()?;
        let what = format!("for that of {}", credential.id());
        self.request_credential(Applicant::Enrolled { credential: &credential, key: &mut key }, what, ea, curve)
    }

    fn request_credential(
        &self,
        applicant: Applicant<'_>,
        what: String,
        ea: Endpoint<'_>,
        curve: Curve,
    ) -> Result<HashedId8, ServiceError> {
        let before = current_credential(&self.directory).ok();
        let id =
            self.request(Kind::Credential, ea, &Wish { what: format!("{what}, on {curve}"), start: None }, |made| {
                let handle = self.device.create(curve, "enrolment")?;
                made.push(handle);
                let mut key = self.device.key(handle)?;
                let pending = request_credential(applicant, &mut key, ea.certificate, self.clock.now(), &mut rng()?)?;
                Ok((pending, Meta { signing_key: handle, decryption_key: None }))
            })?;
        if let Some(path) = before
            && path.file_stem().is_none_or(|stem| *stem != *id.to_string())
        {
            let _unused = lock(&self.credential_key);
            self.forget_credential(&path);
        }
        Ok(id)
    }

    /// The answer to a request: to one that was sent before and is as good, or else to the one that `make` makes, which
    /// notes the keys it creates.
    fn request(
        &self,
        kind: Kind,
        authority: Endpoint<'_>,
        wish: &Wish,
        make: impl FnOnce(&mut Vec<KeyHandle>) -> Result<(Pending, Meta), ServiceError>,
    ) -> Result<HashedId8, ServiceError> {
        for outstanding in self.outstanding()? {
            if outstanding.is_to(kind, authority.certificate.id()) && outstanding.wish().is_as_good_as(wish) {
                return self.repeat(outstanding, authority);
            }
        }
        let mut handles = Vec::new();
        let kept = make(&mut handles).and_then(|(pending, meta)| {
            let now = self.clock.now();
            let kept = Outstanding::keep(&self.directory, kind, wish, authority.certificate, &pending, meta, now)?;
            Ok((kept, pending))
        });
        match kept {
            Ok((kept, pending)) => self.finish(kept, &pending, authority.url),
            Err(error) => {
                let device = self.device_of(kind);
                handles.iter().for_each(|handle| device.discard(*handle));
                Err(error)
            }
        }
    }

    /// The requests whose answer has not come and that nobody waits for. Those that no authority takes any more are ended.
    fn outstanding(&self) -> Result<Vec<Outstanding>, ServiceError> {
        let now = self.clock.now();
        let (all, damaged) = Outstanding::read_all(&self.directory)?;
        damaged.into_iter().for_each(Outstanding::set_aside);
        let (over, good): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.is_over(now));
        over.into_iter().for_each(|one| self.end(one));
        Ok(good)
    }

    fn device_of(&self, kind: Kind) -> &KeyDevice {
        match kind {
            Kind::Credential => &self.device,
            Kind::Ticket => &self.ticket_device,
        }
    }

    /// Ends a request and its keys, unless they are those of a certificate that was granted to it: the process may have ended
    /// when that was written and the request was not yet removed.
    fn end(&self, outstanding: Outstanding) {
        let (device, meta) = (self.device_of(outstanding.kind()), outstanding.meta());
        let is_granted = self.is_kept(outstanding.kind(), meta);
        outstanding.remove();
        if is_granted {
            return;
        }
        [Some(meta.signing_key), meta.decryption_key].into_iter().flatten().for_each(|handle| device.discard(handle));
    }

    /// Whether a certificate in the folder has these keys.
    fn is_kept(&self, kind: Kind, meta: Meta) -> bool {
        let Ok(entries) = std::fs::read_dir(self.directory.join(kind.folder())) else { return false };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut certificates = paths.filter(|path| path.extension().is_some_and(|extension| extension == "oer"));
        certificates.any(|path| Meta::read(&path).is_ok_and(|kept| kept.signing_key == meta.signing_key))
    }

    /// Sends a request that was sent before.
    fn repeat(&self, outstanding: Outstanding, authority: Endpoint<'_>) -> Result<HashedId8, ServiceError> {
        let key = self.device_of(outstanding.kind()).key(outstanding.meta().signing_key);
        let restored = key
            .map_err(ServiceError::from)
            .and_then(|key| outstanding.restore(authority.certificate.clone(), &SigningKey::public_point(&key)));
        match restored {
            Ok(pending) => self.finish(outstanding, &pending, authority.url),
            Err(error) => {
                // Without its key the answer is of no use.
                self.end(outstanding);
                Err(error)
            }
        }
    }

    /// Sends a request that is on the disk, and keeps what is granted to it.
    fn finish(&self, outstanding: Outstanding, pending: &Pending, url: &str) -> Result<HashedId8, ServiceError> {
        let answered = self.post(url, pending.message()).and_then(|answer| {
            let now = self.clock.now();
            Ok(match outstanding.kind() {
                Kind::Credential => pending.credential(&answer, now)?,
                Kind::Ticket => pending.ticket(&answer, now)?,
            })
        });
        match answered {
            Ok(certificate) => {
                let id = self.keep(outstanding.kind().folder(), &certificate, outstanding.meta())?;
                if outstanding.kind() == Kind::Credential {
                    // From here on it is the one in use; a crash before leaves the old one in use.
                    files::write(&self.directory.join("ec/current"), id.to_string().as_bytes(), 0o644)?;
                }
                outstanding.remove();
                Ok(id)
            }
            Err(error) => {
                if is_final(&error) {
                    self.end(outstanding);
                }
                Err(error)
            }
        }
    }

    /// Sends a request, the same octets again if no answer comes and there is time left.
    fn post(&self, url: &str, message: &[u8]) -> Result<Vec<u8>, ServiceError> {
        for pause in PAUSES {
            match self.http.post(url, message) {
                Err(ServiceError::Network { .. }) => std::thread::sleep(pause),
                answered => return answered,
            }
        }
        self.http.post(url, message)
    }

    /// Repeats the requests for tickets at `aa` whose answer has not come, but for one that is as good as `but`, and gives back
    /// the tickets. One that is refused now is ended.
    ///
    /// # Errors
    /// [`ServiceError`] if the authority cannot be asked; the requests are kept then.
    pub fn settle(
        &self,
        aa: Endpoint<'_>,
        but: Option<(&SignerCertificate, &TicketOptions)>,
    ) -> Result<Vec<HashedId8>, ServiceError> {
        let but = but.map(|(ea, options)| options.wish(ea));
        let mut tickets = Vec::new();
        for outstanding in self.outstanding()? {
            if !outstanding.is_to(Kind::Ticket, aa.certificate.id())
                || but.as_ref().is_some_and(|but| outstanding.wish().is_as_good_as(but))
            {
                continue;
            }
            match self.repeat(outstanding, aa) {
                Ok(id) => tickets.push(id),
                Err(error) if is_final(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(tickets)
    }

    /// Ends the key of a credential that was replaced: a device with room for few would be full after some renewals. What is left
    /// behind if that fails, or after a crash, costs room and nothing more.
    fn forget_credential(&self, path: &Path) {
        if let Ok(meta) = Meta::read(path)
            && std::fs::remove_file(path).is_ok()
        {
            let _ = std::fs::remove_file(path.with_extension("meta"));
            self.device.discard(meta.signing_key);
        }
    }

    /// A ticket of `aa` with the credential of `ea`, whose root may be another one.
    ///
    /// # Errors
    /// As [`Client::enrol`].
    pub fn authorize(
        &self,
        aa: Endpoint<'_>,
        ea: &SignerCertificate,
        options: &TicketOptions,
    ) -> Result<HashedId8, ServiceError> {
        self.request(Kind::Ticket, aa, &options.wish(ea), |made| {
            let _in_use = lock(&self.credential_key);
            let (credential, mut credential_key) = self.credential()?;
            let handle = self.ticket_device.create(options.curve, "ticket")?;
            made.push(handle);
            let decryption_key = match options.with_encryption_key {
                true => Some(self.ticket_device.create(Curve::NistP256, "ticket decryption")?),
                false => None,
            };
            made.extend(decryption_key);
            let encryption_key = decryption_key.map(|handle| self.ticket_device.key(handle)).transpose()?;
            let encryption_key = encryption_key.map(|key| SigningKey::public_point(&key));
            let wish = TicketWish {
                permissions: options.permissions.clone(),
                validity_period: options.validity_period,
                region: None,
                encryption_key: encryption_key.as_ref(),
            };
            let mut key = self.ticket_device.key(handle)?;
            let signer = (&credential, &mut credential_key as &mut dyn SigningKey);
            let pending = request_ticket(&wish, &mut key, signer, (aa.certificate, ea), self.clock.now(), &mut rng()?)?;
            Ok((pending, Meta { signing_key: handle, decryption_key }))
        })
    }

    /// Keeps a ticket that was granted for a key that was in the device before.
    ///
    /// # Errors
    /// [`ServiceError::File`].
    pub fn keep_ticket(&self, ticket: &CertificateBuf, signing_key: KeyHandle) -> Result<HashedId8, ServiceError> {
        self.keep("at", ticket, Meta { signing_key, decryption_key: None })
    }

    /// The credential in use, and its key.
    ///
    /// # Errors
    /// [`ServiceError::TooEarly`] if there is none; [`ServiceError::File`], [`ServiceError::Content`].
    pub fn credential(&self) -> Result<(SignerCertificate, HsmKey), ServiceError> {
        let path = current_credential(&self.directory)
            .map_err(|error| error.too_early(&self.directory, "enrolment credential", "enrol"))?;
        Ok((files::read_certificate(&path)?, self.device.key(Meta::read(&path)?.signing_key)?))
    }

    /// The certificate of the credential in use.
    ///
    /// # Errors
    /// As [`Client::credential`].
    pub fn credential_certificate(&self) -> Result<SignerCertificate, ServiceError> {
        let path = current_credential(&self.directory)
            .map_err(|error| error.too_early(&self.directory, "enrolment credential", "enrol"))?;
        files::read_certificate(&path)
    }

    /// The tickets in the folder, by identifier, with their notes.
    ///
    /// # Errors
    /// [`ServiceError::File`] or [`ServiceError::Content`].
    pub fn tickets(&self) -> Result<Vec<(SignerCertificate, Meta)>, ServiceError> {
        let folder = self.directory.join("at");
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ServiceError::file(&folder)(error)),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "oer"));
        paths.sort();
        paths.iter().map(|path| Ok((files::read_certificate(path)?, Meta::read(path)?))).collect()
    }

    /// The note first: a certificate in the folder promises that its key can be found.
    fn keep(&self, folder: &str, certificate: &CertificateBuf, meta: Meta) -> Result<HashedId8, ServiceError> {
        let id = files::signer(certificate.clone())?.id();
        let folder = self.directory.join(folder);
        // Who can list the tickets can link them.
        private_folder(&folder).map_err(ServiceError::file(&folder))?;
        let path = folder.join(format!("{id}.oer"));
        meta.write(&path)?;
        files::write_certificate(&path, certificate)?;
        Ok(id)
    }
}
