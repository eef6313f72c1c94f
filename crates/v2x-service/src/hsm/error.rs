//! What can go wrong with a key store or a token, and whose fault it is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use chronoseal_v2x::crypto::KeyError;

use super::key::KeyHandle;

/// Why a call on an HSM failed.
///
/// Nothing is lost by any of these except where [`HsmError::DeviceLost`] names volatile keys.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HsmError {
    /// The device says beforehand that it does not do this.
    #[error("this device cannot {operation}: {reason}")]
    Unsupported {
        /// What was asked.
        operation: String,
        /// What it lacks.
        reason: String,
    },
    /// The PIN does not open the store or token.
    #[error("wrong PIN")]
    WrongPin,
    /// Too many wrong PINs: the device takes none any more, or not for a while.
    #[error("the device is locked after too many wrong PINs")]
    PinLocked,
    /// The device or its process went away in the middle of something.
    #[error(
        "the device is gone: {} persistent keys are in its store, {} volatile keys are lost",
        persistent.len(),
        volatile.len()
    )]
    DeviceLost {
        /// Keys that will be there again after [`Hsm::recover`](super::Hsm::recover).
        persistent: Vec<KeyHandle>,
        /// Keys that ended with it.
        volatile: Vec<KeyHandle>,
    },
    /// There is no such key.
    #[error("the device has no key {0}: what names it belongs to another device, or the key was deleted")]
    NotFound(KeyHandle),
    /// The key is there and of another kind than the operation needs.
    #[error("key {handle} is {kind}, which cannot {operation}")]
    WrongKind {
        /// Which key.
        handle: KeyHandle,
        /// What it is.
        kind: String,
        /// What was asked.
        operation: String,
    },
    /// The key belongs to the predefined range, which is neither written nor deleted through this seam.
    #[error("key {0} is predefined")]
    Predefined(KeyHandle),
    /// Part of a key store is not what was written.
    #[error("key store is damaged: {}: {reason}", path.display())]
    StoreCorrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no key store at this place.
    #[error("no key store in {}", .0.display())]
    NoStore(PathBuf),
    /// There is a key store at this place already, and a new one was to be made.
    #[error("{} holds a key store already", .0.display())]
    StoreExists(PathBuf),
    /// Another process changes the store, and does not come to an end.
    #[error("another process has been changing the key store {} for ten seconds; see which one has its file `lock` open", .0.display())]
    StoreInUse(PathBuf),
    /// No room for one more key file. What was there before is untouched.
    #[error("no room on the disk of {}", .0.display())]
    DiskFull(PathBuf),
    /// The device has no room for one more key.
    #[error("no room in the device: {0}")]
    DeviceFull(String),
    /// The caller's argument makes no sense.
    #[error("invalid argument: {0}")]
    InvalidArgument(String),
    /// A ciphertext, its key and its tag do not fit.
    #[error("the ciphertext is not authentic")]
    NotAuthentic,
    /// No such device, module or token.
    #[error("no device: {0}")]
    NoDevice(String),
    /// The device refused for a reason of its own.
    #[error("the device refused to {operation}: {reason}")]
    Device {
        /// What was asked.
        operation: String,
        /// What it said.
        reason: String,
    },
    /// The device answered something that is no answer.
    #[error("the device broke its protocol: {0}")]
    Protocol(String),
    /// The operating system refused.
    #[error("{}: {reason}", path.display())]
    Io {
        /// File, socket or program.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl HsmError {
    /// An error of the file system, a full disk apart from others.
    pub(super) fn file(path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            // A quota and a limit on the length of files are a full disk to the one who writes.
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge => {
                Self::DiskFull(path.to_owned())
            }
            _ => Self::Io { path: path.to_owned(), reason: error.to_string() },
        }
    }
}

impl From<KeyError> for HsmError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Device(reason) => Self::Device { operation: "use a key".into(), reason },
            // Everything else is about what the caller handed in.
            error => Self::InvalidArgument(error.to_string()),
        }
    }
}
