//! Files that are there whole or not at all, and a mark on folders that are not whole yet.
//!
//! A disk gets full in the middle of a file. Nobody may then find half a table, half a page or half a study that looks like a
//! whole one. So a file is written beside its place and moved there when the machine has said that all of it is on the
//! disk, and a folder that is filled over hours holds a file named [`UNFINISHED`] until it is full.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// Name of the file that marks a folder as not whole.
pub const UNFINISHED: &str = "UNFINISHED.txt";

const MARK: &str = "What is in this folder is not whole. The program that fills it is still at work, or it was stopped or had to \
stop before its end: a full disk, for instance. Its error message says which.\n\
Each folder in here that has a manifest.json is a whole run. Repeat the command for the rest, with another folder or \
after this one was removed.\n";

/// Where files are made: the machine's disk, or one that a test can fill up.
pub trait Disk: Sync {
    /// A new, empty file.
    ///
    /// # Errors
    /// What the machine refused.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
}

/// A file that is being written.
pub trait DiskFile: Write + Send {
    /// Waits until everything written is on the disk. A full disk may say so only here.
    ///
    /// # Errors
    /// What the machine refused.
    fn sync(&mut self) -> io::Result<()>;
}

/// The machine's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostDisk;

impl Disk for HostDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(BufWriter::new(File::create(path)?)))
    }
}

impl DiskFile for BufWriter<File> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_ref().sync_all()
    }
}

/// Puts a file in its place, whole or not at all: if this fails, what was there before is there still. Behind a link it is the
/// file it leads to; its permissions stay. A device or a pipe is written to directly.
///
/// # Errors
/// [`StoreError::Write`] with what the machine refused.
pub fn put(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |source| StoreError::write(path, source);
    let place = path.canonicalize().unwrap_or_else(|_| path.into());
    let before = fs::metadata(&place).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&place)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(failed);
    }
    let part = beside(&place);
    let written = (|| {
        let mut file = disk.create(&part)?;
        file.write_all(bytes)?;
        file.sync()?;
        if let Some(before) = before {
            fs::set_permissions(&part, before.permissions())?;
        }
        fs::rename(&part, &place)
    })();
    written.map_err(|error| {
        // What went wrong is worth telling, not that a part could not be removed as well.
        let _ = fs::remove_file(&part);
        failed(error)
    })
}

/// Where a file or folder is made before it is moved to its place; the name says that it is not whole.
pub(crate) fn beside(place: &Path) -> PathBuf {
    place.with_file_name(format!("{}{}", prefix_beside(place), std::process::id()))
}

fn prefix_beside(place: &Path) -> String {
    format!(".{}.partial-", place.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes the folders beside `place` in which programs were making it that were killed; returns which.
///
/// Whoever fills a folder holds the lock of the mark in it, and the system lets go of it when the program ends in whatever way. So a
/// folder stays that is being filled, has no mark, or is on a disk that has no locks.
pub fn sweep(place: &Path) -> Vec<PathBuf> {
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = prefix_beside(place);
    let is_left = |folder: &Path| {
        let is_part = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        is_part && File::open(folder.join(UNFINISHED)).is_ok_and(|mark| mark.try_lock().is_ok())
    };
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|folder| is_left(folder) && fs::remove_dir_all(folder).is_ok()).collect()
}

/// A folder that is being filled. Until [`Self::finish`] it holds the file [`UNFINISHED`]; if it is dropped before that, the
/// mark stays, unless nothing else is in the folder: then both go.
#[derive(Debug)]
pub struct Filling {
    folder: PathBuf,
    /// The mark, locked.
    _mark: File,
}

impl Filling {
    /// Marks a folder that exists.
    ///
    /// # Errors
    /// [`StoreError::Write`] with what the machine refused.
    pub fn begin(folder: &Path) -> Result<Self, StoreError> {
        let place = folder.join(UNFINISHED);
        let part = beside(&place);
        let marked = || {
            let mut mark = File::create(&part)?;
            // Before it is in its place, so that nobody finds it there without. A disk that has no locks keeps the folder all the same.
            let _ = mark.lock();
            mark.write_all(MARK.as_bytes())?;
            mark.sync_all()?;
            fs::rename(&part, &place)?;
            Ok(mark)
        };
        let marked = marked().inspect_err(|_| drop(fs::remove_file(&part)));
        let mark = marked.map_err(|source| StoreError::write(&place, source))?;
        Ok(Self { folder: folder.into(), _mark: mark })
    }

    /// Takes the mark away: everything is in the folder.
    ///
    /// # Errors
    /// [`StoreError::Write`] with what the machine refused.
    pub fn finish(self) -> Result<(), StoreError> {
        self.unmark()
    }

    pub(crate) fn unmark(&self) -> Result<(), StoreError> {
        let mark = self.folder.join(UNFINISHED);
        fs::remove_file(&mark).map_err(|source| StoreError::write(&mark, source))
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        let mark = self.folder.join(UNFINISHED);
        let is_empty = fs::read_dir(&self.folder).is_ok_and(|entries| entries.count() == 1) && mark.is_file();
        if is_empty {
            // Whoever drops this has an error of its own to tell.
            let _ = fs::remove_file(&mark).and_then(|()| fs::remove_dir(&self.folder));
        }
    }
}

/// Refuses a folder that is not whole.
///
/// # Errors
/// [`StoreError::Unfinished`] if it bears the mark.
pub fn check_finished(folder: &Path) -> Result<(), StoreError> {
    if folder.join(UNFINISHED).exists() { Err(StoreError::Unfinished { path: folder.into() }) } else { Ok(()) }
}
