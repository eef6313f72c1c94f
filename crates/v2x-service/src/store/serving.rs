//! One server for each file: what a server holds in memory beside its store is right only while nobody else serves from it.
//!
//! Commands that register, revoke and show go on beside the server; their statements are transactions of SQLite.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::StoreError;

/// Stands beside the store, behind its name.
const SUFFIX: &str = "-serving";

/// A store that a server has for itself.
#[derive(Debug)]
pub(super) struct Serving(File);

impl Serving {
    /// Locks a file's store, by whatever path somebody came to it.
    pub(super) fn begin(store: &Path) -> Result<Self, StoreError> {
        let failed = |path: &Path, source| StoreError::File { path: path.to_owned(), source };
        let store = store.canonicalize().map_err(|source| failed(store, source))?;
        let mut name = OsString::from(&store);
        name.push(SUFFIX);
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(|source| failed(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::Served(store)),
            Err(TryLockError::Error(source)) => Err(failed(&path, source)),
        }
    }
}

impl Drop for Serving {
    /// Closing the file is not enough: a program that another thread is just starting holds a copy of it until it runs.
    fn drop(&mut self) {
        // It fails only for a file that is not open.
        let _ = self.0.unlock();
    }
}
