//! What can be wrong with a station's configuration.

use chronoseal_v2x::pki::PermissionsError;
use chronoseal_v2x::vss::Preset;

/// What is wrong with a station's configuration, and what to write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// The file is no TOML, or has an entry that is none.
    #[error(transparent)]
    Syntax(#[from] toml::de::Error),
    /// The file of the PIN is empty.
    #[error("the first line should be the PIN")]
    NoPin,
    /// A policy of changes that is none.
    #[error("pseudonyms.policy = {found:?} is none of {}", Preset::ALL.map(Preset::name).join(", "))]
    PseudonymPolicy {
        /// What is written.
        found: String,
    },
    /// A policy of verification that is none.
    #[error("verification.policy = {found:?} is none of always, sampling, threshold, relevance, on-demand")]
    VerificationPolicy {
        /// What is written.
        found: String,
    },
    /// Sampling one of none.
    #[error("verification.value = 0 samples nothing; write 1 or more")]
    SamplesNothing,
    /// Pseudonyms would be requested up to fewer than those that make the station request some.
    #[error("pseudonyms.preload = {preload} is below low_water = {low_water}; write at least {low_water}")]
    Preload {
        /// Up to how many.
        preload: usize,
        /// With fewer than these.
        low_water: usize,
    },
    /// A number beyond what the station can do.
    #[error("{entry} = {found} is out of range; write {min} to {max}")]
    OutOfRange {
        /// Which entry, with its table.
        entry: &'static str,
        /// What is written.
        found: usize,
        /// At least.
        min: usize,
        /// At most.
        max: usize,
    },
    /// Log files that take turns, and none of them.
    #[error("logging.circular = 0 names no file; write 1 or more, or leave it out")]
    NoLogFile,
    /// A word that is no policy for lists that are too old.
    #[error("lists.overdue = {found:?} is none of warn, refuse")]
    Overdue {
        /// What is written.
        found: String,
    },
    /// Lists fetched without a pause.
    #[error("lists.refresh_s = 0 leaves no pause; write 1 or more")]
    NoRefresh,
    /// A list whose signer nobody named.
    #[error("lists.ectl is the list of a trust list manager; name the file of its certificate in trust.tlm")]
    NoManager,
    /// A user this host does not know.
    #[error("socket.users: this host knows no user {found:?}; write the name or the number of one")]
    User {
        /// What is written.
        found: String,
    },
    /// Permissions that are none.
    #[error("authority.permissions: {0}")]
    Permissions(#[from] PermissionsError),
}
