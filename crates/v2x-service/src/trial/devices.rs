//! How long every device of this host takes, and the same program built otherwise.

use std::path::{Path, PathBuf};
use std::process::Command;

use chronoseal_v2x::crypto::Curve;

use crate::hsm::measure::{Samples, measure_each};
use crate::hsm::{BackEnd, HsmError, Operation, local};

/// Calls of each operation, as many as the source printed.
const CALLS: usize = 10;

/// A signature and a verification on P-256, each ten times, on every device that is there: name, and times or why not.
pub fn measure_devices(folder: &Path) -> Vec<(&'static str, Result<Samples, HsmError>)> {
    let devices: [(_, Result<BackEnd, HsmError>); 4] = [
        ("key files", Ok(BackEnd::Software { folder: folder.join("keys"), predefined: None })),
        ("SoftHSM", fresh(folder, "softhsm").and_then(|folder| local::softhsm(&folder, PIN))),
        ("software TPM", fresh(folder, "tpm").and_then(|folder| local::swtpm(&folder))),
        ("RTL, simulated", local::rtl(Some(&folder.join("flash-of-times")))),
    ];
    devices.into_iter().map(|(name, back_end)| (name, times(back_end))).collect()
}

const PIN: &str = "4711";

fn fresh(folder: &Path, name: &str) -> Result<PathBuf, HsmError> {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder)
        .map_err(|error| HsmError::Io { path: folder.clone(), reason: error.to_string() })?;
    Ok(folder)
}

fn times(back_end: Result<BackEnd, HsmError>) -> Result<Samples, HsmError> {
    let back_end = back_end?;
    // Foreign code runs in a process of its own.
    let mut hsm = match back_end {
        BackEnd::Pkcs11 { .. } => back_end.open_apart(local::worker()?, PIN)?,
        other => other.open(PIN)?,
    };
    measure_each(&mut *hsm, &[Operation::Sign(Curve::NistP256), Operation::Verify(Curve::NistP256)], CALLS)
}

/// Why another build of this program has no times.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtherBuildError {
    /// It is not there.
    #[error("not built: cargo build --profile {profile} -p chronoseal-v2x-load --bin chronoseal-v2x-timing")]
    NotBuilt {
        /// Profile of cargo it was looked for under.
        profile: String,
    },
    /// It cannot be started.
    #[error("{}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It printed no table of as many runs as asked for, or one with a failed run.
    #[error("{} printed {found:?}, no table of {CALLS} runs", program.display())]
    Output {
        /// The program.
        program: PathBuf,
        /// What it printed.
        found: String,
    },
}

/// What `chronoseal-v2x-timing`, built under this profile, prints: ten times of a signature and a verification `[ns]`.
///
/// # Errors
/// [`OtherBuildError`]: it is not built, does not start, or prints something else.
pub fn other_build(profile: &str) -> Result<Vec<[u64; 2]>, OtherBuildError> {
    let program = std::env::current_exe().ok().and_then(|own| {
        let folders = own.ancestors().skip(1).take(3).flat_map(|folder| {
            [folder.join("chronoseal-v2x-timing"), folder.join("../").join(profile).join("chronoseal-v2x-timing")]
        });
        let is_of_profile = |path: &PathBuf| {
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            folder.is_some_and(|folder| folder.file_name().is_some_and(|name| name == profile)) && path.exists()
        };
        {
            let mut folders = folders;
            folders.find(is_of_profile)
        }
    });
    let program = program.ok_or_else(|| OtherBuildError::NotBuilt { profile: profile.to_owned() })?;
    let run = match Command::new(&program).output() {
        Ok(run) => run,
        Err(source) => return Err(OtherBuildError::Start { program, source }),
    };
    let text = String::from_utf8_lossy(&run.stdout);
    let runs: Option<Vec<[u64; 2]>> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',').skip(1);
            let times = [cells.next()?.parse().ok()?, cells.next()?.parse().ok()?];
            (cells.next()? == "yes").then_some(times)
        })
        .collect();
    runs.filter(|runs| runs.len() == CALLS).ok_or_else(|| OtherBuildError::Output { program, found: text.into_owned() })
}
