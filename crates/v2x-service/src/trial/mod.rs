//! The test cases of a field trial, run against this crate: two vendors' authorities, keys in software and in simulated
//! hardware, the nine services of a station.
//!
//! It judges nothing by itself: each case does what the published one did and says what it saw. What is not installed is
//! no failure but [`Outcome::NotApplicable`] with the reason.
//!
//! # Source
//! PRESERVE, deliverable D3.1.1 "FOT Trial 1 Results", 2013, section 2.2.

mod car;
mod devices;
mod hands;
mod requests;
mod services;
mod vendor;

use std::path::{Path, PathBuf};

pub use devices::{OtherBuildError, measure_devices, other_build};
pub use vendor::SecondVendor;

use crate::hsm::HsmError;
use crate::pki::{Clock, ServiceError};
use crate::vss::VssError;
use hands::Hands;
use vendor::Vendor;

/// What became of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// As it should be; what was seen.
    Passed(String),
    /// Not as it should be.
    Failed(String),
    /// It could not be tried here, and why.
    NotApplicable(String),
}

/// One test case, or one of the nine services.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// As the source names it.
    pub name: &'static str,
    /// What became of it.
    pub outcome: Outcome,
    /// Where its keys are.
    pub device: String,
    /// Whether that device is a simulation.
    pub is_simulated: bool,
}

/// Everything that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// The 15 test cases, in the source's order.
    pub cases: Vec<Case>,
    /// The nine services.
    pub services: Vec<Case>,
    /// Who the second vendor was.
    pub second_vendor: String,
}

/// Why a step of a case failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// An exchange with an authority.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A service of the station.
    #[error(transparent)]
    Vss(#[from] VssError),
    /// The keys.
    #[error(transparent)]
    Hsm(#[from] HsmError),
    /// A file.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Something was seen that should not be.
    #[error("{0}")]
    Wrong(String),
}

impl TrialError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// Runs all of it in an empty folder; `progress` is told the name of each case before it begins.
///
/// # Errors
/// [`TrialError`] if not even our own authorities can be started; what goes wrong later is the outcome of its case.
pub fn run(folder: &Path, second: &SecondVendor, progress: &mut dyn FnMut(&str)) -> Result<Trial, TrialError> {
    run_by(&Clock::default(), folder, second, progress)
}

/// As [`run`], by another clock than the system's; authorities in processes of their own have theirs.
///
/// # Errors
/// As [`run`].
pub fn run_by(
    clock: &Clock,
    folder: &Path,
    second: &SecondVendor,
    progress: &mut dyn FnMut(&str),
) -> Result<Trial, TrialError> {
    std::fs::create_dir_all(folder).map_err(TrialError::file(folder))?;
    // Stations of the services run ahead of any clock, at ten messages a second: their authorities go with them.
    let hands = Hands::new(clock);
    let clock = hands.clock();
    progress("authorities of two vendors");
    let first = Vendor::ours(&folder.join("pki-a"), "first", clock)?;
    let second = second.start(folder, clock)?;
    let trusted = first.trust(&second).and_then(|()| second.trust(&first));
    let mut cases = requests::all(clock, folder, (&first, &second), progress);
    if let Err(error) = trusted {
        for case in cases.iter_mut().filter(|case| ["Test_PSNYMREQ_VB_03", "Test_PSNYMREQ_VB_04"].contains(&case.name))
        {
            case.outcome = Outcome::Failed(format!("the authorities could not be told of each other: {error}"));
        }
    }
    let (of_services, services) = services::all(&hands, folder, &first, progress);
    cases.extend(of_services);
    Ok(Trial { cases, services, second_vendor: second.description().to_owned() })
}

/// What a step said, as an outcome.
fn outcome(result: Result<String, TrialError>) -> Outcome {
    match result {
        Ok(seen) => Outcome::Passed(seen),
        Err(TrialError::Hsm(HsmError::NoDevice(reason))) => Outcome::NotApplicable(reason),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Holds, or is what is wrong.
fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), TrialError> {
    if holds { Ok(()) } else { Err(TrialError::Wrong(wrong())) }
}
