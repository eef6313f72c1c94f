//! Reproductions of published works: what was printed, what its own formulas give, what the simulator shows, and what
//! is measured live, side by side in one report.
//!
//! A study is prose and data under `studies/NAME` and one module here; it contains no protocol and no measurement of
//! its own. It opens no file but through `results`, and reads no clock.
//!
//! [`studies`] lists them; each has a `run` that takes [`StudyOptions`] and gives a [`StudyOutcome`]. The documents of
//! `chronoseal check`, `chronoseal bench` and `chronoseal v2x fleet` are made here too: no crate below knows both
//! `report` and what they are about.
//!
//! ```
//! let names: Vec<_> = chronoseal_study::studies().iter().map(|study| study.name).collect();
//! assert!(names.contains(&"tte-hmac"));
//! ```

mod can_check;
pub mod can_group_key;
mod check;
mod cost;
mod fleet;
pub mod tte_hmac;
pub mod v2x_vss;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chronoseal_report::Document;
use chronoseal_runner::MeasureError;
use chronoseal_testbed::AgentCommand;

pub use self::can_check::can_check_document;
pub use self::check::check_document;
pub use self::cost::{cost_chart, cost_document, cost_table};
pub use self::fleet::{FleetRow, fleet_document};

/// A study.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// As typed.
    pub name: &'static str,
    /// As read.
    pub title: &'static str,
    /// Reproduces it.
    pub run: fn(&StudyOptions, &AtomicBool, &mut Progress<'_>) -> Result<StudyOutcome, StudyError>,
}

/// Told now and then how much is done (0..=1), and what comes next.
pub type Progress<'a> = dyn FnMut(f64, &str) + 'a;

/// How a study is run.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// Capture as long as the source did.
    pub full: bool,
    /// Measure live as well.
    pub live: bool,
    /// Do without `SCHED_FIFO` even where it is granted.
    pub no_fifo: bool,
    /// Seed of all chance.
    pub seed: u64,
    /// Where the live runs are stored, each in a folder of its own.
    pub folder: PathBuf,
    /// How to start an agent; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
}

/// What a study gives.
#[derive(Clone, Debug)]
pub struct StudyOutcome {
    /// Further pages, such as the report of each live run, and where they belong.
    pub pages: Vec<(PathBuf, String)>,
    /// The report.
    pub document: Document,
}

/// Why a study could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A scenario of the study does not load; it was changed or is not ours.
    #[error("scenario of the study: {0}")]
    Scenario(String),
    /// A live run failed in a way that another try would not mend.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A run could not be stored.
    #[error(transparent)]
    Store(#[from] chronoseal_results::StoreError),
}

/// Every study.
pub const fn studies() -> &'static [Study] {
    &[
        Study { name: "tte-hmac", title: tte_hmac::TITLE, run: tte_hmac::run },
        Study { name: "can-group-key", title: can_group_key::TITLE, run: can_group_key::run },
        Study { name: "v2x-vss", title: v2x_vss::TITLE, run: v2x_vss::run },
    ]
}
