//! The folder of key files: written whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::hsm::{HsmError, KeyHandle};

/// Longest file that is read `[byte]`; ours are below 300.
const FILE_LEN_MAX: u64 = 4096;
const STORE_FILE: &str = "store.hsm";
const LOCK_FILE: &str = "lock";
const KEY_SUFFIX: &str = ".key";
const NEW_SUFFIX: &str = ".new";

/// How long a change waits for that of another process. One takes some milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// From one look at the lock to the next.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A folder of key files, which several processes may have open.
///
/// What is in it is changed under a lock that is held for that change alone. A file is replaced in one step, so that who reads
/// needs no lock.
pub(super) struct Folder {
    path: PathBuf,
}

/// Nobody else changes the folder for as long as this is there.
pub(super) struct Changing<'a> {
    folder: &'a Folder,
    lock: File,
}

impl Drop for Changing<'_> {
    /// Closing the file is not enough: a program that another thread is just starting holds a copy of it until it runs, and the
    /// lock with it.
    fn drop(&mut self) {
        // It fails only for a file that is not open.
        let _ = self.lock.unlock();
    }
}

impl Folder {
    /// A folder for a store, made if it is missing, for its owner alone.
    pub(super) fn create(path: &Path) -> Result<Self, HsmError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| HsmError::file(path, &e))?;
        Ok(Self { path: path.to_owned() })
    }

    /// A folder that holds a store.
    pub(super) fn open(path: &Path) -> Result<Self, HsmError> {
        if !path.join(STORE_FILE).exists() {
            return Err(HsmError::NoStore(path.to_owned()));
        }
        let folder = Self { path: path.to_owned() };
        folder.change()?.remove_unfinished()?;
        Ok(folder)
    }

    /// Waits until no other process changes the folder.
    pub(super) fn change(&self) -> Result<Changing<'_>, HsmError> {
        let lock_path = self.path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(&lock_path).map_err(|e| HsmError::file(&lock_path, &e))?;
        let began = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Changing { folder: self, lock }),
                Err(TryLockError::WouldBlock) if began.elapsed() < WAIT_MAX => std::thread::sleep(LOOK_EVERY),
                Err(TryLockError::WouldBlock) => return Err(HsmError::StoreInUse(self.path.clone())),
                Err(TryLockError::Error(error)) => return Err(HsmError::file(&lock_path, &error)),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn store_path(&self) -> PathBuf {
        self.path.join(STORE_FILE)
    }

    pub(super) fn key_path(&self, handle: KeyHandle) -> PathBuf {
        self.path.join(format!("{handle}{KEY_SUFFIX}"))
    }

    /// Handles that have a file, ascending.
    pub(super) fn handles(&self) -> Result<Vec<KeyHandle>, HsmError> {
        let mut handles = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(|e| HsmError::file(&self.path, &e))? {
            let entry = entry.map_err(|e| HsmError::file(&self.path, &e))?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(KEY_SUFFIX)).filter(|stem| stem.len() == 8);
            handles.extend(number.and_then(|stem| u32::from_str_radix(stem, 16).ok()).map(KeyHandle));
        }
        handles.sort_unstable();
        Ok(handles)
    }

    /// The whole file; none if it is not there.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, HsmError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|e| HsmError::file(path, &e))?,
        };
        let mut bytes = Vec::new();
        file.take(FILE_LEN_MAX + 1).read_to_end(&mut bytes).map_err(|e| HsmError::file(path, &e))?;
        if bytes.len() as u64 > FILE_LEN_MAX {
            return Err(HsmError::StoreCorrupt { path: path.to_owned(), reason: "too long".into() });
        }
        Ok(Some(bytes))
    }

    /// A rename or removal is on the disk only when its folder is.
    fn sync(&self) -> std::io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Changing<'_> {
    /// Puts `bytes` under `path`: after a crash or on a full disk there is the old file or the new one, never half.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), HsmError> {
        let new = with_suffix(path);
        let written =
            write_and_sync(&new, bytes).and_then(|()| fs::rename(&new, path)).and_then(|()| self.folder.sync());
        written.map_err(|error| {
            // What is left of it only takes room; that it cannot be removed changes nothing for the caller.
            let _ = fs::remove_file(&new);
            HsmError::file(path, &error)
        })
    }

    pub(super) fn remove(&self, path: &Path) -> Result<(), HsmError> {
        match fs::remove_file(path) {
            // Another process was quicker.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| self.folder.sync()).map_err(|e| HsmError::file(path, &e)),
        }
    }

    /// Files a crash left half written; they were never a key.
    fn remove_unfinished(&self) -> Result<(), HsmError> {
        let folder = &self.folder.path;
        for entry in fs::read_dir(folder).map_err(|e| HsmError::file(folder, &e))? {
            let path = entry.map_err(|e| HsmError::file(folder, &e))?.path();
            let ours = path.to_str().and_then(|path| path.strip_suffix(NEW_SUFFIX));
            if ours.is_some_and(|path| path.ends_with(KEY_SUFFIX) || path.ends_with(STORE_FILE)) {
                fs::remove_file(&path).map_err(|e| HsmError::file(&path, &e))?;
            }
        }
        Ok(())
    }
}

fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(NEW_SUFFIX);
    PathBuf::from(name)
}

fn write_and_sync(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
