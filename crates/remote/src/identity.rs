//! Who an agent or a controller is: a folder with its certificate, its key and the certificate of its authority.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::{Zeroize, Zeroizing};

pub(crate) const CA_FILE: &str = "ca.pem";
pub(crate) const CERTIFICATE_FILE: &str = "certificate.pem";
pub(crate) const KEY_FILE: &str = "key.pem";

/// A certificate with its key, and the authority that both sides trust.
pub struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) authority: CertificateDer<'static>,
    name: String,
}

/// Why an identity cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A file cannot be read.
    #[error("cannot read {}: {reason}. `chronoseal ca enroll` writes a folder with {CERTIFICATE_FILE}, {KEY_FILE} and {CA_FILE}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// As the host put it.
        reason: io::Error,
    },
    /// Others can read a key.
    #[error("{} can be read by others (mode {mode:04o}): it is no secret any more. Enroll again, or `chmod 600` it if you know that nobody has", path.display())]
    Readable {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A file holds something else.
    #[error("{} holds {reason}, and not what `chronoseal ca enroll` writes there", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What, as far as can be said.
        reason: String,
    },
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl Identity {
    /// Reads the folder that [`crate::Authority::enroll`] wrote.
    ///
    /// # Errors
    /// [`IdentityError`], also for a key that others may read.
    pub fn read(folder: &Path) -> Result<Self, IdentityError> {
        let certificate = |name: &str| {
            let path = folder.join(name);
            let bytes = std::fs::read(&path).map_err(|reason| IdentityError::Read { path: path.clone(), reason })?;
            CertificateDer::from_pem_slice(&bytes).map_err(|error| content(&path, error))
        };
        let (own, authority) = (certificate(CERTIFICATE_FILE)?, certificate(CA_FILE)?);
        let path = folder.join(KEY_FILE);
        let key = PrivateKeyDer::from_pem_slice(&read_private(&path)?).map_err(|error| content(&path, error))?;
        let name =
            name_of(&own).ok_or_else(|| content(&folder.join(CERTIFICATE_FILE), "a certificate without a name"))?;
        Ok(Self { certificate: own, key, authority, name })
    }

    /// The name in its certificate.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn content(path: &Path, reason: impl ToString) -> IdentityError {
    IdentityError::Content { path: path.to_owned(), reason: reason.to_string() }
}

/// The name in a certificate that an authority of a test bed signed.
pub(crate) fn name_of(certificate: &CertificateDer<'_>) -> Option<String> {
    let parsed = webpki::EndEntityCert::try_from(certificate).ok()?;
    parsed.valid_dns_names().next().map(str::to_owned)
}

/// Reads a file that nobody but its owner may read.
pub(crate) fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    let read = |reason| IdentityError::Read { path: path.to_owned(), reason };
    let mode = std::fs::metadata(path).map_err(read)?.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(IdentityError::Readable { path: path.to_owned(), mode });
    }
    Ok(Zeroizing::new(std::fs::read(path).map_err(read)?))
}
