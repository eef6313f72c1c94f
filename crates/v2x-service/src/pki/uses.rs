//! What the keys of a station are for, as the files of its folder say.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use chronoseal_v2x::message::SignerCertificate;
use serde::Deserialize;

use super::{Meta, ServiceError, files};
use crate::hsm::KeyHandle;

/// What a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyUse {
    /// The canonical key.
    Canonical,
    /// The enrolment credential of this identifier.
    Credential(String),
    /// The ticket of this identifier.
    Ticket(String),
    /// As before, to decrypt with.
    TicketDecryption(String),
    /// A request whose answer has not come.
    Request,
}

impl fmt::Display for KeyUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Canonical => f.write_str("canonical key"),
            Self::Credential(id) => write!(f, "credential {id}"),
            Self::Ticket(id) => write!(f, "ticket {id}"),
            Self::TicketDecryption(id) => write!(f, "ticket {id}, to decrypt"),
            Self::Request => f.write_str("request under way"),
        }
    }
}

/// The part of a request's file that names keys.
#[derive(Deserialize)]
struct Request {
    keys: Meta,
}

/// The keys that the files in a station's folder name. What cannot be read names none.
///
/// # Errors
/// [`ServiceError::File`] of a folder.
pub fn key_uses(station: &Path) -> Result<BTreeMap<KeyHandle, KeyUse>, ServiceError> {
    let mut uses = BTreeMap::new();
    if let Ok(meta) = Meta::read(&station.join("canonical")) {
        uses.insert(meta.signing_key, KeyUse::Canonical);
    }
    for path in paths(&station.join("requests"), "json")? {
        let request = files::read(&path).ok().and_then(|text| serde_json::from_slice::<Request>(&text).ok());
        let keys =
            request.into_iter().flat_map(|request| [Some(request.keys.signing_key), request.keys.decryption_key]);
        uses.extend(keys.flatten().map(|handle| (handle, KeyUse::Request)));
    }
    for path in paths(&station.join("ec"), "oer")? {
        if let Ok(meta) = Meta::read(&path) {
            uses.insert(meta.signing_key, KeyUse::Credential(stem(&path)));
        }
    }
    for path in paths(&station.join("at"), "oer")? {
        if let Ok(meta) = Meta::read(&path) {
            uses.insert(meta.signing_key, KeyUse::Ticket(stem(&path)));
            uses.extend(meta.decryption_key.map(|handle| (handle, KeyUse::TicketDecryption(stem(&path)))));
        }
    }
    Ok(uses)
}

/// The certificate of the credential in use; none if there is none.
///
/// # Errors
/// [`ServiceError::File`] or [`ServiceError::Content`] of one that cannot be read.
pub fn certificate_in_use(station: &Path) -> Result<Option<SignerCertificate>, ServiceError> {
    match current_credential(station) {
        Ok(path) => files::read_certificate(&path).map(Some),
        Err(ServiceError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The file of the credential in use.
pub(super) fn current_credential(station: &Path) -> Result<PathBuf, ServiceError> {
    let current = files::read(&station.join("ec/current"))?;
    let id = String::from_utf8_lossy(&current).trim().to_owned();
    Ok(station.join("ec").join(format!("{id}.oer")))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of this extension in a folder, which need not be there.
fn paths(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, ServiceError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ServiceError::file(folder)(error)),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    Ok(paths)
}
