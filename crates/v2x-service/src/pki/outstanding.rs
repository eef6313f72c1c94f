//! Requests that were sent, or are about to be, and whose answer has not come: a file each in the station's folder
//! `requests`, for its owner alone since it holds the secret that opens the answer.
//!
//! A file is locked while a process waits for its answer, so that another one leaves it alone; when that process ends, in
//! whatever way, it is not any more.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use chronoseal_v2x::crypto::PublicPoint;
use chronoseal_v2x::message::{SessionKey, SignerCertificate};
use chronoseal_v2x::pki::{CLOCK_DIFFERENCE_MAX_S, Pending, Permissions, SealedRequest};
use chronoseal_v2x::types::{HashedId8, Time64};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::{Meta, ServiceError};
use crate::private::private_folder;

/// How much later than another one a ticket may begin to be as good `[s]`: as long as a request may be under way.
const START_LATER_MAX_S: u32 = 2 * CLOCK_DIFFERENCE_MAX_S as u32;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// An enrolment credential.
    Credential,
    /// An authorization ticket.
    Ticket,
}

impl Kind {
    /// Where in a station's folder certificates of this kind are.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Credential => "ec",
            Self::Ticket => "at",
        }
    }
}

/// By what requests for the same thing are known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wish {
    /// All but the beginning.
    pub(super) what: String,
    /// When it is to begin to be valid, if that was said.
    pub(super) start: Option<u32>,
}

impl Wish {
    /// Whether who asks for `other` is as well served with this.
    pub(super) fn is_as_good_as(&self, other: &Self) -> bool {
        let is_soon_enough = match (self.start, other.start) {
            (Some(own), Some(other)) => own.abs_diff(other) <= START_LATER_MAX_S,
            (own, other) => own == other,
        };
        self.what == other.what && is_soon_enough
    }
}

/// What is in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    kind: Kind,
    wish: Wish,
    /// The authority's identifier.
    authority: String,
    /// When the request was made `[us since 2004]`.
    made_at: u64,
    permissions: String,
    keys: Meta,
    /// The octets that are sent.
    message: String,
    session_key: String,
}

impl Drop for Content {
    fn drop(&mut self) {
        self.session_key.zeroize();
    }
}

/// A request, and the lock on its file.
pub(super) struct Outstanding {
    path: PathBuf,
    content: Content,
    /// Holds the lock.
    _file: File,
}

/// The file of a request that cannot be read as one.
pub(super) struct Damaged(PathBuf);

impl Outstanding {
    /// Writes a request down, before it is sent.
    pub(super) fn keep(
        station: &Path,
        kind: Kind,
        wish: &Wish,
        authority: &SignerCertificate,
        pending: &Pending,
        keys: Meta,
        now: Time64,
    ) -> Result<Self, ServiceError> {
        let sealed = pending.sealed();
        let content = Content {
            kind,
            wish: wish.clone(),
            authority: authority.id().to_string(),
            made_at: now.0,
            permissions: pending.permissions().to_string(),
            keys,
            message: Base64::encode_string(&sealed.message),
            session_key: Base64::encode_string(&sealed.session_key.0),
        };
        let folder = station.join("requests");
        private_folder(&folder).map_err(ServiceError::file(&folder))?;
        let name: String = sealed.hash().iter().map(|octet| format!("{octet:02x}")).collect();
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_vec_pretty(&content).map_err(|error| ServiceError::content(&path, error))?;
        let text = Zeroizing::new(text);
        let part = folder.join(format!("{name}.part"));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
            file.lock()?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&part, &path)?;
            File::open(&folder)?.sync_all()?;
            Ok(file)
        })();
        match written {
            Ok(file) => Ok(Self { path, content, _file: file }),
            Err(error) => {
                let _ = fs::remove_file(&part);
                Err(ServiceError::file(&path)(error))
            }
        }
    }

    /// Those in a station's folder that no process waits for, and the files that are none.
    pub(super) fn read_all(station: &Path) -> Result<(Vec<Self>, Vec<Damaged>), ServiceError> {
        let folder = station.join("requests");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(error) => return Err(ServiceError::file(&folder)(error)),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let (mut all, mut damaged) = (Vec::new(), Vec::new());
        for path in paths {
            let extension = path.extension().unwrap_or_default();
            let Some(mut file) = Self::lock(&path).map_err(ServiceError::file(&path))? else { continue };
            let mut text = Zeroizing::new(Vec::new());
            file.read_to_end(&mut text).map_err(ServiceError::file(&path))?;
            if extension == "part" {
                // Its process ended before the request was sent.
                let _ = fs::remove_file(&path);
            } else if extension == "json" {
                match serde_json::from_slice(&text) {
                    Ok(content) => all.push(Self { path, content, _file: file }),
                    Err(_) => damaged.push(Damaged(path)),
                }
            }
        }
        Ok((all, damaged))
    }

    /// The file, locked; none if a process waits for its answer, or had it meanwhile.
    fn lock(path: &Path) -> std::io::Result<Option<File>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(file).filter(|file| file.metadata().is_ok_and(|metadata| metadata.nlink() > 0))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.content.kind
    }

    pub(super) fn wish(&self) -> &Wish {
        &self.content.wish
    }

    /// Its keys.
    pub(super) fn meta(&self) -> Meta {
        self.content.keys
    }

    /// Whether it is one of this kind to this authority.
    pub(super) fn is_to(&self, kind: Kind, authority: HashedId8) -> bool {
        self.content.kind == kind && HashedId8::from_hex(&self.content.authority) == Some(authority)
    }

    /// Whether no authority takes it any more, or not for long enough to be worth it.
    pub(super) fn is_over(&self, now: Time64) -> bool {
        now.0.abs_diff(self.content.made_at) / 1_000_000 >= CLOCK_DIFFERENCE_MAX_S
    }

    /// The request as the station knows it, with its key in the device.
    pub(super) fn restore(&self, authority: SignerCertificate, key: &PublicPoint) -> Result<Pending, ServiceError> {
        let damaged = |what: &str| ServiceError::content(&self.path, format!("{what} is damaged; remove the file"));
        let message = Base64::decode_vec(&self.content.message).map_err(|_| damaged("message"))?;
        let mut session_key = SessionKey([0; 16]);
        let decoded = Base64::decode(self.content.session_key.as_bytes(), &mut session_key.0);
        if decoded.map_or(0, <[u8]>::len) != 16 {
            return Err(damaged("session_key"));
        }
        let permissions: Permissions = self.content.permissions.parse().map_err(|_| damaged("permissions"))?;
        Ok(Pending::restore(SealedRequest { message, session_key }, authority, key, permissions))
    }

    /// The answer is there, or none will come.
    pub(super) fn remove(self) {
        // If it stays it is asked for once more, and answered the same.
        let _ = fs::remove_file(&self.path);
    }

    /// Puts a file that is none out of the way.
    pub(super) fn set_aside(damaged: Damaged) {
        let _ = fs::rename(&damaged.0, damaged.0.with_extension("damaged"));
    }
}
