//! Files that are there whole or not at all.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::PkiError;
use chronoseal_v2x::types::CertificateBuf;
use serde::{Deserialize, Serialize};

use super::ServiceError;
use crate::hsm::KeyHandle;

/// Replaces a file in one step: a crash leaves the old content or the new one.
pub(super) fn write(path: &Path, content: &[u8], mode: u32) -> Result<(), ServiceError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(ServiceError::file(folder))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.join(format!(".{name}.{}.part", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&part)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&part, path)
    })();
    written.map_err(|error| {
        // What is left of it is in nobody's way; that it could not be written is what is to be told.
        let _ = fs::remove_file(&part);
        ServiceError::file(path)(error)
    })
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, ServiceError> {
    fs::read(path).map_err(ServiceError::file(path))
}

/// Reads a certificate, which is to be in canonical form.
///
/// # Errors
/// [`ServiceError::File`] or [`ServiceError::Content`].
pub fn read_certificate(path: &Path) -> Result<SignerCertificate, ServiceError> {
    let certificate = CertificateBuf::new(read(path)?).map_err(ServiceError::decode(path))?;
    SignerCertificate::new(certificate).map_err(|error| ServiceError::content(path, error))
}

pub(super) fn write_certificate(path: &Path, certificate: &CertificateBuf) -> Result<(), ServiceError> {
    write(path, certificate.as_bytes(), 0o644)
}

/// Which keys belong to a certificate: the content of the `.meta` file beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The key to sign with.
    pub signing_key: KeyHandle,
    /// The key to decrypt with, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption_key: Option<KeyHandle>,
}

impl Meta {
    /// Reads the note beside the certificate `path`.
    ///
    /// # Errors
    /// [`ServiceError::File`] or [`ServiceError::Content`].
    pub fn read(path: &Path) -> Result<Self, ServiceError> {
        let path = path.with_extension("meta");
        serde_json::from_slice(&read(&path)?).map_err(|error| ServiceError::content(&path, error))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), ServiceError> {
        let path = path.with_extension("meta");
        let text = serde_json::to_vec_pretty(self).map_err(|error| ServiceError::content(&path, error))?;
        write(&path, &text, 0o644)
    }
}

/// The certificate's own words for what is wrong with it.
pub(super) fn signer(certificate: CertificateBuf) -> Result<SignerCertificate, PkiError> {
    Ok(SignerCertificate::new(certificate)?)
}
