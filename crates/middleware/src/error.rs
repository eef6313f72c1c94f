//! What can go wrong before anything is sent.

use std::path::PathBuf;

/// Why a middleware cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MiddlewareError {
    /// There are no adapters where they were looked for.
    #[error(
        "there are no adapters in {}: {reason}; name their folder with --adapters, which is adapters/middleware in chronoseal's sources",
        folder.display()
    )]
    NoAdapters {
        /// Where.
        folder: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A description that cannot be used.
    #[error("{}: {what}", file.display())]
    Description {
        /// Its file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An adapter that cannot be built.
    #[error("the adapter {adapter} cannot be built: {what}")]
    Build {
        /// Its name.
        adapter: String,
        /// What the build said.
        what: String,
    },
    /// Nowhere to keep what is built.
    #[error("there is no folder to keep built adapters in: set XDG_CACHE_HOME or HOME to a folder of your own")]
    NoCache,
    /// Messages that cannot be made of recordings.
    #[error("messages of sensor data cannot be made: {0}")]
    Bodies(String),
    /// Cells of an earlier run that cannot be used, or none that can be kept.
    #[error("{0}")]
    Kept(String),
    /// A user's recording that cannot be read.
    #[error("{0}")]
    Recording(String),
    /// Keys that cannot be made.
    #[error("keys of the adapter {adapter} for `{level}` cannot be made: {what}")]
    Keys {
        /// Its name.
        adapter: String,
        /// What they are for.
        level: String,
        /// What was said.
        what: String,
    },
}
