//! A station at the authorities of any vendor.

use std::path::{Path, PathBuf};

use chronoseal_v2x::crypto::{Curve, SigningKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Applicant, Permissions, TicketWish, request_credential, request_ticket};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, ValidityPeriod};

use super::keys::rng;
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
#[derive(Clone, Debug)]
pub struct Client {
    directory: PathBuf,
    device: KeyDevice,
    ticket_device: KeyDevice,
    http: HttpClient,
    clock: Clock,
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
    /// CAM and DENM, on NIST P-256.
    fn default() -> Self {
        let permissions = "36:01ffff 37:01ffffff".parse().expect("well formed");
        Self { curve: Curve::NistP256, permissions, validity_period: None, with_encryption_key: false }
    }
}

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
        self.request_credential(Applicant::New { canonical_id, canonical_key: &mut canonical_key }, ea, curve)
    }

    /// A new credential for the current one.
    ///
    /// # Errors
    /// As [`Client::enrol`].
    pub fn renew(&self, ea: Endpoint<'_>, curve: Curve) -> Result<HashedId8, ServiceError> {
        let (credential, mut key) = self.credential()?;
        self.request_credential(Applicant::Enrolled { credential: &credential, key: &mut key }, ea, curve)
    }

    fn request_credential(
        &self,
        applicant: Applicant<'_>,
        ea: Endpoint<'_>,
        curve: Curve,
    ) -> Result<HashedId8, ServiceError> {
        let before = self.current_credential().ok();
        let handle = self.device.create(curve, "enrolment")?;
        let granted = (|| {
            let mut key = self.device.key(handle)?;
            let pending = request_credential(applicant, &mut key, ea.certificate, self.clock.now(), &mut rng()?)?;
            let answer = self.http.post(ea.url, pending.message())?;
            let certificate = pending.credential(&answer, self.clock.now())?;
            let meta = Meta { signing_key: handle, decryption_key: None };
            let id = self.keep("ec", &certificate, meta)?;
            // From here on it is the one in use; a crash before leaves the old one in use.
            files::write(&self.directory.join("ec/current"), id.to_string().as_bytes(), 0o644)?;
            Ok(id)
        })();
        if granted.is_ok()
            && let Some(path) = before
        {
            self.forget_credential(&path);
        }
        Self::or_discard(&self.device, granted, &[handle])
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

    /// The file of the credential in use.
    fn current_credential(&self) -> Result<PathBuf, ServiceError> {
        let current = files::read(&self.directory.join("ec/current"))?;
        let id = String::from_utf8_lossy(&current).trim().to_owned();
        Ok(self.directory.join("ec").join(format!("{id}.oer")))
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
        let (credential, mut credential_key) = self.credential()?;
        let handle = self.ticket_device.create(options.curve, "ticket")?;
        let mut handles = vec![handle];
        let granted = (|| {
            let decryption_key = match options.with_encryption_key {
                true => Some(self.ticket_device.create(Curve::NistP256, "ticket decryption")?),
                false => None,
            };
            handles.extend(decryption_key);
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
            let answer = self.http.post(aa.url, pending.message())?;
            let certificate = pending.ticket(&answer, self.clock.now())?;
            self.keep("at", &certificate, Meta { signing_key: handle, decryption_key })
        })();
        Self::or_discard(&self.ticket_device, granted, &handles)
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
        let path = self
            .current_credential()
            .map_err(|error| error.too_early(&self.directory, "enrolment credential", "enrol"))?;
        Ok((files::read_certificate(&path)?, self.device.key(Meta::read(&path)?.signing_key)?))
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

    fn or_discard(
        device: &KeyDevice,
        result: Result<HashedId8, ServiceError>,
        handles: &[KeyHandle],
    ) -> Result<HashedId8, ServiceError> {
        if result.is_err() {
            handles.iter().for_each(|handle| device.discard(*handle));
        }
        result
    }
}
