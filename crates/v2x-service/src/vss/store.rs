//! A station's tickets and state as files.
//!
//! `HASHEDID8.oer` is a ticket, `HASHEDID8.meta` says which keys belong to it ([`crate::pki::Meta`]), `state.json` which
//! is in use and whether a change has begun. `lock` is locked for as long as a station is open, since two that change pseudonyms by
//! themselves would put each other on the air; who only looks ([`look`]) does not need it. It is the folder that [`crate::pki::Client`] keeps tickets in. Each file is written whole beside its place, flushed to the disk, and moved
//! there: after a crash there is the old one or the new one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chronoseal_v2x::types::{CertificateBuf, HashedId8};
use chronoseal_v2x::vss::PoolRecord;
use serde::{Deserialize, Serialize};

use super::VssError;
use crate::pki::Meta;
use crate::private::{private_folder, replace};

/// Which pseudonym is in use.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct State {
    current: Option<String>,
    begun: Option<String>,
}

/// A ticket with what is known of it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its identifier.
    pub id: HashedId8,
    /// The certificate.
    pub certificate: CertificateBuf,
    /// Its keys.
    pub meta: Meta,
}

/// The folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    state: State,
    lock: File,
}

impl Drop for Folder {
    /// Closing the file is not enough: a program that another thread is just starting holds a copy of it until it runs.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

const LOCK_FILE: &str = "lock";
const STATE_FILE: &str = "state.json";

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Certificates, by identifier.
    pub stored: Vec<Stored>,
    /// Files that are not what their name says, and why.
    pub damaged: Vec<(PathBuf, String)>,
    /// The pseudonym in use.
    pub current: Option<HashedId8>,
    /// The pseudonym a change that was not finished led to.
    pub begun: Option<HashedId8>,
}

/// Reads all there is in the folder `path`, and changes nothing.
///
/// # Errors
/// [`VssError::Io`], or [`VssError::Corrupt`] if the state file is none.
pub(super) fn look(path: &Path) -> Result<Found, VssError> {
    Ok(read_all(path)?.1)
}

/// Whether a station is open in the folder `path`: a daemon serves it.
pub(super) fn is_open(path: &Path) -> bool {
    let lock = File::open(path.join(LOCK_FILE));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn read_all(path: &Path) -> Result<(State, Found), VssError> {
    let at = |error| VssError::io(path, error);
    let state_path = path.join(STATE_FILE);
    let state: State = match fs::read(&state_path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
        Err(error) => return Err(VssError::io(&state_path, error)),
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| VssError::Corrupt { file: state_path.clone(), reason: error.to_string() })?,
    };
    let mut names: Vec<PathBuf> = Vec::new();
    match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries.map_err(at)? {
                let name = entry.map_err(at)?.path();
                if name.extension().is_some_and(|extension| extension == "oer") {
                    names.push(name);
                }
            }
        }
    }
    names.sort();
    let id = |text: &Option<String>| text.as_deref().and_then(HashedId8::from_hex);
    let mut found = Found { current: id(&state.current), begun: id(&state.begun), ..Found::default() };
    for name in names {
        match read_pair(&name) {
            Ok(stored) => found.stored.push(stored),
            Err(reason) => found.damaged.push((name, reason)),
        }
    }
    Ok((state, found))
}

impl Folder {
    /// Opens the folder, made if there is none, and reads all there is. A file that cannot be read as what it should be
    /// is set aside in `damaged/`, never deleted.
    ///
    /// # Errors
    /// [`VssError::StationInUse`] if another process has it open, [`VssError::Io`], or [`VssError::Corrupt`] if the state file is none.
    pub fn open(path: &Path) -> Result<(Self, Found), VssError> {
        private_folder(path).map_err(|error| VssError::io(path, error))?;
        let lock_path = path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&lock_path);
        let lock = opened.map_err(|error| VssError::io(&lock_path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(VssError::StationInUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(VssError::io(&lock_path, error)),
        }
        let (state, found) = read_all(path)?;
        let folder = Self { path: path.to_owned(), state, lock };
        for (name, _) in &found.damaged {
            folder.set_aside(name)?;
        }
        Ok((folder, found))
    }

    fn set_aside(&self, certificate: &Path) -> Result<(), VssError> {
        let aside = self.path.join("damaged");
        fs::create_dir_all(&aside).map_err(|error| VssError::io(&aside, error))?;
        for name in [certificate.to_owned(), certificate.with_extension("meta")] {
            let Some(file) = name.file_name() else { continue };
            match fs::rename(&name, aside.join(file)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                result => result.map_err(|error| VssError::io(&name, error))?,
            }
        }
        Ok(())
    }

    /// Reads the ticket `id`, which somebody else has put there.
    ///
    /// # Errors
    /// [`VssError::Corrupt`] if it is not there or not what it should be.
    pub fn read(&self, id: HashedId8) -> Result<Stored, VssError> {
        let file = self.path.join(format!("{id}.oer"));
        read_pair(&file).map_err(|reason| VssError::Corrupt { file, reason })
    }

    /// Writes a ticket and what is known of it; the ticket last, so that one that is there has its `.meta`.
    ///
    /// # Errors
    /// [`VssError::Io`]; a full disk is one. Nothing that was there is lost by it.
    pub fn add(&self, stored: &Stored) -> Result<(), VssError> {
        let meta = json(&stored.meta);
        self.replace(&format!("{}.meta", stored.id), &meta)?;
        self.replace(&format!("{}.oer", stored.id), stored.certificate.as_bytes())
    }

    /// Removes a ticket and what is known of it.
    ///
    /// # Errors
    /// [`VssError::Io`]; one that is not there is none.
    pub fn remove(&self, id: HashedId8) -> Result<(), VssError> {
        for extension in ["oer", "meta"] {
            let name = self.path.join(format!("{id}.{extension}"));
            match fs::remove_file(&name) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                result => result.map_err(|error| VssError::io(&name, error))?,
            }
        }
        Ok(())
    }

    /// Writes down what a pool says.
    ///
    /// # Errors
    /// [`VssError::Io`]. The state on the disk is then the one before.
    pub fn persist(&mut self, record: &PoolRecord) -> Result<(), VssError> {
        let mut state = self.state.clone();
        let mut removes = None;
        match record {
            PoolRecord::ChangeBegun { to, .. } => state.begun = Some(to.to_string()),
            PoolRecord::ChangeAbandoned => state.begun = None,
            PoolRecord::Changed { from, to, deletes } => {
                state = State { current: Some(to.to_string()), begun: None };
                removes = from.filter(|_| *deletes);
            }
            PoolRecord::Expired(id) => removes = Some(*id),
        }
        if state != self.state {
            let bytes = json(&state);
            self.replace(STATE_FILE, &bytes)?;
            self.state = state;
        }
        removes.map_or(Ok(()), |id| self.remove(id))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), VssError> {
        let place = self.path.join(name);
        replace(&place, bytes).map_err(|error| VssError::io(&place, error))
    }
}

/// What a structure of plain names and values is in JSON.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).expect("plain values have a JSON form")
}

fn read_pair(certificate: &Path) -> Result<Stored, String> {
    let bytes = fs::read(certificate).map_err(|error| error.to_string())?;
    let buf = CertificateBuf::new(bytes).map_err(|error| error.to_string())?;
    let id = chronoseal_v2x::certificate::hashed_id8(&buf.view()).map_err(|error| error.to_string())?;
    let stem = certificate.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if HashedId8::from_hex(stem) != Some(id) {
        return Err(format!("it is the certificate {id}"));
    }
    let meta = fs::read(certificate.with_extension("meta")).map_err(|error| format!("its .meta: {error}"))?;
    let meta = serde_json::from_slice(&meta).map_err(|error| format!("its .meta: {error}"))?;
    Ok(Stored { id, certificate: buf, meta })
}
