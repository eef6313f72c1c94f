//! A station's security subsystem: the nine services as a library ([`Vss`]) and as a daemon ([`Server`]).
//!
//! What is decided, [`chronoseal_v2x::vss`] decides; here are the clock, the disk, the HSM and the socket.
//!
//! | service of the source | here |
//! |---|---|
//! | `createSignature` | [`Vss::create_signature`] |
//! | `verifySignature` | [`Vss::verify_signature`]; of many at once, [`Vss::receive`] and [`Vss::verify_waiting`] |
//! | `encryptSendingFrame` | [`Vss::encrypt_sending_frame`] |
//! | `decryptReceivedFrame` | [`Vss::decrypt_received_frame`] |
//! | `changePseudonym` | [`Vss::change_pseudonym`] |
//! | `blockPseudonymChange` | [`Vss::block_pseudonym_change`] |
//! | `freePseudonymChange` | [`Vss::free_pseudonym_change`] |
//! | `registerRequestNetworkIdChange` | [`Vss::register_request_network_id_change`] |
//! | `indicateNetworkIdChange` | [`Vss::indicate_network_id_change`] |

mod authority;
mod config;
mod config_error;
mod connection;
mod credential;
mod lists;
mod misbehaviour;
mod overview;
mod protocol;
mod receiving;
mod ring;
mod server;
mod service;
mod statistics;
mod store;
mod tickets;

pub use crate::pki::now;
pub use authority::{pseudonym_source, pseudonym_source_beside};
pub use config::{Authority, Lists, Logging, Pseudonyms, Socket, Trust, Verification, VssConfig};
pub use config_error::ConfigError;
pub use credential::CredentialKeeper;
pub use lists::{ListSource, Offered, Wanted};
pub use misbehaviour::{Misbehaviour, Reporter};
pub use overview::{Enrolment, KeyRow, Overview};
pub use protocol::PROTOCOL_VERSION;
pub use receiving::{Asker, Verified, summary};
pub use server::{PseudonymSource, Server};
pub use service::{Claims, Notice, Vss, Warnings};
pub use statistics::{EventLog, Histogram, Memory, Statistics, memory_len};
pub use store::{Folder, Found, Stored};

use std::path::{Path, PathBuf};

use chronoseal_v2x::certificate::CertificateError;
use chronoseal_v2x::coer::{DecodeError, EncodeError};
use chronoseal_v2x::message::{DecryptError, EncryptError};
use chronoseal_v2x::types::HashedId8;
use chronoseal_v2x::vss::{ChangeRefusal, SignRefusal};
use zeroize::Zeroizing;

use crate::hsm::HsmError;

/// Why a station cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VssError {
    /// The configuration file.
    #[error("{}: {reason}", .file.display())]
    Config {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what to write.
        reason: ConfigError,
    },
    /// A file that cannot be read or written; a full disk is one.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{} is damaged: {reason}; restore it from a copy, or move it away to start without it", .file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A certificate that others may have meant so.
    #[error("{} is well formed, but not in canonical form: {reason}; if it is meant so, set trust.lenient = true", .file.display())]
    NotCanonical {
        /// The file.
        file: PathBuf,
        /// Where.
        reason: DecodeError,
    },
    /// Another process has this station open.
    #[error("the station in {} is open in another process already: end its daemon, or ask that over its socket", .0.display())]
    StationInUse(PathBuf),
    /// The authority that issued the station's ticket is revoked, or one above it.
    #[error("nothing is signed: the authority {0} of this station's ticket is revoked")]
    OwnAuthorityRevoked(HashedId8),
    /// The HSM.
    #[error(transparent)]
    Hsm(#[from] HsmError),
    /// A key of the HSM.
    #[error("key: {0}")]
    Key(String),
    /// A certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// No signature.
    #[error(transparent)]
    Sign(#[from] SignRefusal),
    /// No change of pseudonym.
    #[error(transparent)]
    Change(#[from] ChangeRefusal),
    /// It cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
    /// It cannot be decrypted.
    #[error(transparent)]
    Decrypt(#[from] DecryptError),
    /// It is encrypted to others.
    #[error("none of the message's recipients is a certificate of this station with a key to decrypt")]
    NotForUs,
    /// It is not encrypted.
    #[error("the message is not encrypted")]
    NotEncrypted,
    /// Bytes that are no message.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A value that has no encoding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The authority, or the way there.
    #[error(transparent)]
    Authority(#[from] crate::pki::ServiceError),
    /// The operating system has no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
}

impl VssError {
    pub(crate) fn io(file: &Path, error: std::io::Error) -> Self {
        Self::Io { file: file.to_owned(), error }
    }
}

/// The first line of a file.
///
/// # Errors
/// [`VssError::Io`], or [`VssError::Config`] if there is none.
pub fn read_pin(file: &Path) -> Result<Zeroizing<String>, VssError> {
    let text = Zeroizing::new(std::fs::read_to_string(file).map_err(|error| VssError::io(file, error))?);
    match text.lines().next() {
        Some(pin) if !pin.is_empty() => Ok(Zeroizing::new(pin.to_owned())),
        _ => Err(VssError::Config { file: file.to_owned(), reason: ConfigError::NoPin }),
    }
}
