//! Cells that are kept as soon as they are measured, a file each, so that hours of them outlive a run that is ended.

use std::fs;
use std::path::{Path, PathBuf};

use chronoseal_results::disk::{HostDisk, put};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Measured, MiddlewareError};

/// The folder of cells, in one of results.
const FOLDER: &str = "cells";
/// What they have in common.
const TERMS: &str = "terms.json";
/// A longer file is none of ours: a cell has a few thousand latencies `[byte]`.
const FILE_LEN_MAX: u64 = 16 << 20;

/// Which cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CellName {
    /// The configuration.
    pub configuration: String,
    /// The data.
    pub data: String,
    /// The profile of the network.
    pub network: String,
    /// The round.
    pub round: u64,
}

/// What cells have to have in common to stand in one table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// Of the first round.
    pub seed: u64,
    /// Of a cell `[ns]`.
    pub duration_ns: i64,
    /// Of the program that measures, as its reports have them.
    pub versions: Vec<(String, String)>,
}

/// The cells of a folder; the default keeps none.
#[derive(Debug, Default)]
pub struct Kept {
    folder: Option<PathBuf>,
    trouble: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Cell<N, M> {
    cell: N,
    measured: M,
}

impl Kept {
    /// In a folder that has none yet.
    ///
    /// # Errors
    /// [`MiddlewareError::Kept`] if nothing can be written there.
    pub fn begin(folder: &Path, terms: &Terms) -> Result<Self, MiddlewareError> {
        let folder = folder.join(FOLDER);
        let made = fs::create_dir_all(&folder).map_err(|error| error.to_string());
        let made = made.and_then(|()| write(&folder.join(TERMS), terms));
        made.map_err(|error| MiddlewareError::Kept(format!("{}: {error}", folder.display())))?;
        Ok(Self { folder: Some(folder), trouble: None })
    }

    /// With the cells of an earlier run, to go on with.
    ///
    /// # Errors
    /// [`MiddlewareError::Kept`] if there are none, or if they were measured on other terms.
    pub fn resume(folder: &Path, terms: &Terms) -> Result<Self, MiddlewareError> {
        let folder = folder.join(FOLDER);
        let wrong = |what: &str| MiddlewareError::Kept(format!("{}: {what}", folder.display()));
        let earlier: Terms = read(&folder.join(TERMS)).map_err(|error| {
            wrong(&format!("{TERMS}: {error}; there is nothing to go on with: name the folder of a run that was ended"))
        })?;
        if earlier != *terms {
            return Err(wrong(
                "its cells were measured with another seed, for another time or by another build, and stand in no table with others: \
                 give the same options, or begin anew with --out",
            ));
        }
        Ok(Self { folder: Some(folder), trouble: None })
    }

    /// What an earlier run has measured. A file that cannot be read is as one that is not there, and what is measured now takes its place.
    pub fn get(&self, name: &CellName) -> Option<Measured> {
        let Cell { cell, measured }: Cell<CellName, Measured> = read(&place(self.folder.as_ref()?, name)).ok()?;
        (cell == *name).then_some(measured)
    }

    /// Keeps a cell. After the first that cannot be kept, none is.
    pub fn keep(&mut self, name: &CellName, measured: &Measured) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(&place(folder, name), &Cell { cell: name, measured }) {
            self.trouble = Some(format!("From some cell on none was kept: {error}."));
            self.folder = None;
        }
    }

    /// Why cells are not kept, as a sentence.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

/// The file of a cell. A configuration is named by whoever wrote its adapter, so its name is in no path.
fn place(folder: &Path, CellName { configuration, data, network, round }: &CellName) -> PathBuf {
    let name = format!("{configuration}\0{data}\0{network}\0{round}");
    folder.join(format!("{:032x}.json", xxhash_rust::xxh3::xxh3_128(name.as_bytes())))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let len = path.metadata().map_err(|error| error.to_string())?.len();
    if len > FILE_LEN_MAX {
        return Err(format!("it has {len} bytes, and at most {FILE_LEN_MAX} are read"));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let bytes = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    put(&HostDisk, path, &bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms { seed: 1, duration_ns: 5, versions: vec![("chronoseal".into(), "0.1.0".into())] }
    }

    fn name(round: u64) -> CellName {
        CellName { configuration: "raw/udp".into(), data: "laser".into(), network: "wifi".into(), round }
    }

    fn measured(came: u64) -> Measured {
        let latency = chronoseal_results::Distribution::of(&mut (1..=came as i64).collect::<Vec<_>>());
        Measured { due: came, came, latencies_ns: (1..=came as i64).collect(), latency, ..Measured::default() }
    }

    #[test]
    fn what_was_kept_is_there_for_the_next_run_and_a_cut_file_is_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = Kept::begin(folder.path(), &terms()).unwrap();
        kept.keep(&name(0), &measured(3));
        assert!(kept.trouble().is_none() && kept.get(&name(1)).is_none());
        let mut again = Kept::resume(folder.path(), &terms()).unwrap();
        assert_eq!(format!("{:?}", again.get(&name(0)).unwrap()), format!("{:?}", measured(3)));
        let path = place(&folder.path().join(FOLDER), &name(0));
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(again.get(&name(0)).is_none(), "{cut}");
        }
        again.keep(&name(0), &measured(4));
        assert_eq!(again.get(&name(0)).map(|one| one.came), Some(4));
        // As under a name that hashes alike.
        fs::copy(&path, place(&folder.path().join(FOLDER), &name(7))).unwrap();
        assert!(again.get(&name(7)).is_none());
    }

    #[test]
    fn other_terms_and_other_folders_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |terms: &Terms| Kept::resume(folder.path(), terms).unwrap_err().to_string();
        assert!(refusal(&terms()).contains("nothing to go on with"));
        let mut kept = Kept::begin(folder.path(), &terms()).unwrap();
        assert!(refusal(&Terms { seed: 2, ..terms() }).contains("another seed"));
        let path = folder.path().join(FOLDER).join(TERMS);
        fs::write(&path, vec![b' '; FILE_LEN_MAX as usize + 1]).unwrap();
        assert!(refusal(&terms()).contains("at most"));
        fs::write(&path, "{}").unwrap();
        assert!(refusal(&terms()).contains("seed"), "{}", refusal(&terms()));
        fs::remove_dir_all(folder.path().join(FOLDER)).unwrap();
        kept.keep(&name(0), &measured(1));
        assert!(kept.trouble().is_some_and(|text| text.contains("none was kept")));
        assert!(Kept::default().get(&name(0)).is_none());
    }
}
