//! What goes wrong around the exchanges: files, keys, the network.

use std::path::{Path, PathBuf};

use chronoseal_v2x::coer::DecodeError;
use chronoseal_v2x::pki::PkiError;

use crate::hsm::HsmError;
use crate::store::StoreError;

/// Why a station or an authority cannot do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The other side says no, or what it says is of no use.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// A key cannot be used.
    #[error(transparent)]
    Hsm(#[from] HsmError),
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody is there, or not in time.
    #[error("{url}: {reason}")]
    Network {
        /// Who should be.
        url: String,
        /// What happened instead.
        reason: String,
    },
    /// An answer, but none of the protocol.
    #[error("{url} answered {found}, where {expected} is needed")]
    Http {
        /// Who.
        url: String,
        /// The status, if that is what is wrong.
        status: Option<u16>,
        /// What was needed.
        expected: String,
        /// What came.
        found: String,
    },
    /// An address that cannot be put into trust lists.
    #[error(
        "public URL `{found}`: write http://HOST or http://HOST:PORT, with the path that comes before /ea and /aa if there \
         is one, and no slash at the end"
    )]
    PublicUrl {
        /// What was given.
        found: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A station that is not that far yet.
    #[error("{}: this station has no {what} yet; next: chronoseal pki {command} --help", directory.display())]
    TooEarly {
        /// Its folder.
        directory: PathBuf,
        /// What it lacks.
        what: &'static str,
        /// What gets it.
        command: &'static str,
    },
    /// A file that is not what it should be.
    #[error("{}: {reason}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl ServiceError {
    /// With the name of the file.
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    /// Whether a server said that it has no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Http { status: Some(404), .. })
    }

    /// Of a station, if a file is not there that `command` would have written.
    pub(super) fn too_early(self, directory: &Path, what: &'static str, command: &'static str) -> Self {
        match self {
            Self::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Self::TooEarly { directory: directory.to_owned(), what, command }
            }
            other => other,
        }
    }

    /// With the name of the file.
    pub(super) fn content(path: &Path, reason: impl ToString) -> Self {
        Self::Content { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn decode(path: &Path) -> impl FnOnce(DecodeError) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Content { path, reason: error.to_string() }
    }
}
