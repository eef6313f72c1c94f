//! Reproductions of published works: what was printed, what its own formulas give, what the simulator shows, and what
//! is measured live, side by side in one report.
//!
//! A study is prose and data under `studies/NAME` and one module here; it contains no protocol and no measurement of
//! its own. It opens no file but through `results`, and reads no clock.
//!
//! [`studies`] lists them; each has a `run` that takes [`StudyOptions`] and gives a [`StudyOutcome`]. The documents of
//! `chronoseal bench` and `chronoseal v2x fleet` are made here too, since studies show the same.
//!
//! ```
//! let names: Vec<_> = chronoseal_study::studies().iter().map(|study| study.name).collect();
//! assert!(names.contains(&"tte-hmac"));
//! ```

pub mod can_group_key;
mod cost;
pub mod ethernet_classes;
mod fleet;
mod live;
pub mod robot_middleware;
pub mod tte_hmac;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::{BuildError, PrepareError};
use chronoseal_report::Document;
use chronoseal_runner::MeasureError;
use chronoseal_testbed::AgentCommand;

pub use self::cost::{cost_chart, cost_document, cost_table};
pub use self::fleet::{FleetRow, fleet_chart, fleet_document, fleet_footnotes, fleet_table};

/// A study.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// As typed.
    pub name: &'static str,
    /// As read.
    pub title: &'static str,
    /// Which options change what it does. It has nothing that the others could act on.
    pub honours: &'static [StudyOption],
    /// Reproduces it.
    pub run: fn(&StudyOptions, &AtomicBool, &mut Progress<'_>) -> Result<StudyOutcome, StudyError>,
}

impl Study {
    /// Refuses an option that this study does not honour.
    ///
    /// # Errors
    /// [`StudyError::UnusedOption`] for the first such of those `given`.
    pub fn check(&self, given: &[StudyOption]) -> Result<(), StudyError> {
        match given.iter().find(|option| !self.honours.contains(option)) {
            None => Ok(()),
            Some(option) => Err(StudyError::UnusedOption { study: self.name, option: *option, honours: self.honours }),
        }
    }
}

/// What a person can ask of a study: the fields of [`StudyOptions`] that may or may not have an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StudyOption {
    /// [`StudyOptions::full`].
    Full,
    /// [`StudyOptions::live`], turned off.
    NoLive,
    /// [`StudyOptions::functional`].
    Functional,
    /// [`StudyOptions::no_fifo`].
    NoFifo,
    /// [`StudyOptions::seed`].
    Seed,
    /// [`StudyOptions::only`].
    Only,
    /// [`StudyOptions::resumes`].
    Resume,
}

impl StudyOption {
    /// As typed on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "--full",
            Self::NoLive => "--no-live",
            Self::Functional => "--functional",
            Self::NoFifo => "--no-fifo",
            Self::Seed => "--seed",
            Self::Only => "--only",
            Self::Resume => "--resume",
        }
    }
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
    /// Only what works or does not, by the clock of the host: no row that takes time to measure or to simulate.
    pub functional: bool,
    /// Do without `SCHED_FIFO` even where it is granted.
    pub no_fifo: bool,
    /// Seed of all chance.
    pub seed: u64,
    /// Of what it would measure, only what has these names; all if there are none.
    pub only: Vec<String>,
    /// The folder has what an earlier run measured, with which it goes on.
    pub resumes: bool,
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
    /// An option that would have no effect.
    #[error(
        "{} would change nothing in the study {study}; leave it out (it takes {})",
        option.name(),
        names(honours)
    )]
    UnusedOption {
        /// Name of the study.
        study: &'static str,
        /// The option.
        option: StudyOption,
        /// Those that have an effect.
        honours: &'static [StudyOption],
    },
    /// A name that nothing it measures has.
    #[error("--only {name}: nothing that this study measures has that name; write some of {}", known.join(", "))]
    Only {
        /// As typed.
        name: String,
        /// What may be typed.
        known: Vec<String>,
    },
    /// A scenario of the study does not load; it was changed or is not ours.
    #[error("scenario of the study: {0}")]
    Scenario(String),
    /// A schedule of the study does not fit.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A part of a network cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A live run failed in a way that another try would not mend.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// There is no middleware to measure.
    #[error(transparent)]
    Middleware(#[from] chronoseal_middleware::MiddlewareError),
    /// A run could not be stored.
    #[error(transparent)]
    Store(#[from] chronoseal_results::StoreError),
}

fn names(options: &[StudyOption]) -> String {
    match options {
        [] => "none of these options".to_owned(),
        _ => options.iter().map(|option| option.name()).collect::<Vec<_>>().join(", "),
    }
}

/// A study that another program holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StudyElsewhere {
    /// As typed.
    pub name: &'static str,
    /// As read.
    pub title: &'static str,
}

/// The study of the program `chronoseal-v2x`, in the crate `v2x-study`.
pub const V2X_VSS: StudyElsewhere =
    StudyElsewhere { name: "v2x-vss", title: "V2X security subsystem (PRESERVE D3.1.1, 2013)" };

/// Every study but [`V2X_VSS`].
pub const fn studies() -> &'static [Study] {
    use StudyOption::{Full, NoFifo, NoLive, Only, Resume, Seed};
    &[
        Study { name: "tte-hmac", title: tte_hmac::TITLE, honours: &[Full, NoLive, NoFifo, Seed], run: tte_hmac::run },
        Study { name: "can-group-key", title: can_group_key::TITLE, honours: &[Seed], run: can_group_key::run },
        Study {
            name: "ethernet-classes",
            title: ethernet_classes::TITLE,
            honours: &[Full, NoLive, NoFifo, Seed],
            run: ethernet_classes::run,
        },
        Study {
            name: "robot-middleware",
            title: robot_middleware::TITLE,
            honours: &[Full, NoLive, NoFifo, Seed, Only, Resume],
            run: robot_middleware::run,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_refuses_the_option_it_does_not_honour_and_says_which_it_takes() {
        let [tte, can] = ["tte-hmac", "can-group-key"]
            .map(|name| studies().iter().find(|study| study.name == name).expect("it is listed"));
        let all = [StudyOption::Seed, StudyOption::NoLive, StudyOption::Full, StudyOption::NoFifo];
        assert!(tte.check(&all).is_ok());
        assert!(tte.check(&[StudyOption::Functional]).is_err());
        assert!(can.check(&all[..1]).is_ok());
        for study in [can] {
            for option in &all[1..] {
                let error = study.check(&[StudyOption::Seed, *option]).expect_err("it has no effect").to_string();
                assert!(error.contains(study.name) && error.contains(option.name()), "{error}");
                assert!(error.contains("takes --") && error.contains("--seed"), "{error}");
            }
        }
    }
}
