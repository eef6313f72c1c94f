//! A certificate authority for one test bed: a folder with its key, which signs who may be an agent and who may command agents.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::identity::{CA_FILE, CERTIFICATE_FILE, IdentityError, KEY_FILE, read_private};

/// The key in the folder of an authority.
const CA_KEY_FILE: &str = "ca-key.pem";

/// How long an authority lasts.
const CA_DAYS: u32 = 3_650;

/// A certificate is valid from this long before it is made, since clocks of hosts are not together.
const BACKDATED: Duration = Duration::from_secs(3_600);

/// What the owner of a certificate may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Serve runs (extended key usage `serverAuth`).
    Agent,
    /// Command agents (extended key usage `clientAuth`).
    Controller,
}

impl Role {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Controller => "controller",
        }
    }
}

/// Why there is no authority or identity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// It would take the place of another.
    #[error("{} is there already; nothing was written. Choose another folder, or remove it", .0.display())]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// As the host put it.
        reason: io::Error,
    },
    /// The authority cannot be used.
    #[error("{} is no authority of a test bed: {reason}. `chronoseal ca init FOLDER` makes one", folder.display())]
    Unusable {
        /// Its folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No certificate can have this name.
    #[error("`{0}` is no name for a certificate: write letters, digits and hyphens, at most 63, such as bench-1")]
    Name(String),
    /// A number of days.
    #[error("a certificate is valid for 1 to {CA_DAYS} days, not {0}")]
    Days(u32),
    /// A certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
}

/// An authority, with its key.
pub struct Authority {
    key: KeyPair,
    certificate: String,
}

impl Authority {
    /// Makes one in a folder, which is new or has none.
    ///
    /// # Errors
    /// [`AuthorityError`]; one that is there stays as it is.
    pub fn init(folder: &Path) -> Result<(), AuthorityError> {
        let (ca, key_file) = (folder.join(CA_FILE), folder.join(CA_KEY_FILE));
        if let Some(there) = [&ca, &key_file].into_iter().find(|file| file.exists()) {
            return Err(AuthorityError::Exists(there.clone()));
        }
        let key = KeyPair::generate()?;
        let certificate = params(&key, CA_DAYS)?.self_signed(&key)?.pem();
        make_folder(folder)?;
        write_new(&key_file, Zeroizing::new(key.serialize_pem()).as_bytes(), 0o600)?;
        write_new(&ca, certificate.as_bytes(), 0o644)
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`AuthorityError::Unusable`], such as for a key that others may read.
    pub fn open(folder: &Path) -> Result<Self, AuthorityError> {
        let unusable = |reason: String| AuthorityError::Unusable { folder: folder.to_owned(), reason };
        let key = read_private(&folder.join(CA_KEY_FILE)).map_err(|error| match error {
            IdentityError::Read { path, reason } => unusable(format!("cannot read {}: {reason}", path.display())),
            other => unusable(other.to_string()),
        })?;
        let key = std::str::from_utf8(&key).map_err(|error| unusable(error.to_string()))?;
        let key = KeyPair::from_pem(key).map_err(|error| unusable(format!("{CA_KEY_FILE}: {error}")))?;
        let certificate = std::fs::read_to_string(folder.join(CA_FILE))
            .map_err(|error| unusable(format!("cannot read {CA_FILE}: {error}")))?;
        Ok(Self { key, certificate })
    }

    /// Writes a new folder with a key, its certificate for `days`, and the authority's certificate.
    ///
    /// # Errors
    /// [`AuthorityError`]; a folder that is there stays as it is.
    pub fn enroll(&self, name: &str, role: Role, days: u32, folder: &Path) -> Result<(), AuthorityError> {
        if !(1..=CA_DAYS).contains(&days) {
            return Err(AuthorityError::Days(days));
        }
        let until = SystemTime::now() + Duration::from_secs(u64::from(days) * 86_400);
        self.enroll_until(name, role, until, folder)
    }

    /// [`Self::enroll`] until a time, which may be over.
    ///
    /// # Errors
    /// [`AuthorityError`].
    pub fn enroll_until(&self, name: &str, role: Role, until: SystemTime, folder: &Path) -> Result<(), AuthorityError> {
        if !is_name(name) {
            return Err(AuthorityError::Name(name.to_owned()));
        }
        if folder.exists() {
            return Err(AuthorityError::Exists(folder.to_owned()));
        }
        let key = KeyPair::generate()?;
        let mut certificate = CertificateParams::new(vec![name.to_owned()])?;
        certificate.distinguished_name = DistinguishedName::new();
        certificate.distinguished_name.push(DnType::CommonName, format!("{name} ({})", role.name()));
        certificate.not_before = (until.min(SystemTime::now()) - BACKDATED).into();
        certificate.not_after = until.into();
        certificate.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        certificate.extended_key_usages = vec![match role {
            Role::Agent => ExtendedKeyUsagePurpose::ServerAuth,
            Role::Controller => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        certificate.use_authority_key_identifier_extension = true;
        let issuer = Issuer::new(params(&self.key, CA_DAYS)?, &self.key);
        let certificate = certificate.signed_by(&key, &issuer)?.pem();
        make_folder(folder)?;
        write_new(&folder.join(KEY_FILE), Zeroizing::new(key.serialize_pem()).as_bytes(), 0o600)?;
        write_new(&folder.join(CERTIFICATE_FILE), certificate.as_bytes(), 0o644)?;
        write_new(&folder.join(CA_FILE), self.certificate.as_bytes(), 0o644)
    }
}

/// What the certificate of an authority says. Its name is made of its key, so that no two have one.
fn params(key: &KeyPair, days: u32) -> Result<CertificateParams, AuthorityError> {
    let mut name = "chronoseal test bed ".to_owned();
    for octet in Sha256::digest(key.der_bytes()).iter().take(8) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{octet:02x}");
    }
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.not_before = (SystemTime::now() - BACKDATED).into();
    params.not_after = (SystemTime::now() + Duration::from_secs(u64::from(days) * 86_400)).into();
    Ok(params)
}

/// True for what can be a DNS name of one label, in which form certificates carry it.
pub(crate) fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&name.len()) && name.bytes().all(is_inner) && !name.starts_with('-') && !name.ends_with('-')
}

fn make_folder(folder: &Path) -> Result<(), AuthorityError> {
    std::fs::create_dir_all(folder).map_err(|reason| AuthorityError::Write { path: folder.to_owned(), reason })
}

/// Writes a file that is not there yet; nobody else can read one of mode 0600 at any time.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), AuthorityError> {
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|reason| AuthorityError::Write { path: path.to_owned(), reason })
}
