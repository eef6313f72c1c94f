//! Files that a person names, and folders for results.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chronoseal_results::disk::{self, HostDisk};

use crate::Trouble;

/// The longest file that a command line can name `[byte]`, such as a capture to import.
const FILE_NAMED_LEN_MAX: u64 = 1_000_000_000;

/// What this program has read, so that it does not write over it.
static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn remember(path: &Path) {
    if let Ok(path) = path.canonicalize() {
        READ.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }
}

fn was_read(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&path))
}

/// Reads a file, but no more of it than it may have.
///
/// # Errors
/// As the host has it, or that it is longer.
pub fn read_limited(path: &Path, len_max: u64) -> std::io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    remember(path);
    let too_long =
        || std::io::Error::other(format!("it is longer than {len_max} bytes, which is the most that is read"));
    // What is too long is not read; of what has no length, such as a pipe, that shows only then.
    if file.metadata()?.len() > len_max {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(len_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > len_max { Err(too_long()) } else { Ok(bytes) }
}

/// Reads a file, but of a longer one only `len_max` bytes and one more, by which whoever takes them sees that they are too many.
///
/// # Errors
/// [`Trouble`]: that it cannot be read, with what to do.
pub fn read_start(path: &Path, len_max: u64) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    remember(path);
    std::fs::File::open(path)
        .and_then(|file| file.take(len_max + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

/// Reads a file, with an error that says what to do.
///
/// # Errors
/// [`Trouble`]: that it cannot be read, with what to do.
pub fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    read_limited(path, FILE_NAMED_LEN_MAX).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble(format!(
        "error: cannot read {}: {error}\nhelp: give the path of a file; `ls scenarios` shows examples",
        path.display()
    ))
}

/// Writes a file, whole or not at all, with an error that says what to do.
///
/// # Errors
/// [`Trouble`]: that it cannot be written, or was read, with what to do.
pub fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    write_bytes(path, text.as_bytes())
}

/// `write` for what is no text.
///
/// # Errors
/// [`Trouble`]: as [`write()`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    spare(path)?;
    replace(path, bytes)
}

/// Makes sure that a place is none from which something was read; before long work whose result is to stand there.
///
/// # Errors
/// [`Trouble`]: that it is.
pub fn spare(path: &Path) -> Result<(), Trouble> {
    match was_read(path) {
        true => Err(Trouble(format!(
            "error: {} is what was read, and it would be lost\nhelp: choose another place",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// [`write_bytes`], also over what was read: for a command that says that it changes its file.
///
/// # Errors
/// [`Trouble`]: that it cannot be written, with what to do.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    disk::put(&HostDisk, path, bytes).map_err(|error| {
        let before = if path.exists() { "; what was there is as it was" } else { "" };
        Trouble(format!("error: {error}{before}\nhelp: make room or choose another place with --out"))
    })
}

/// Makes sure that results can be written to `folder`, which is new or empty.
///
/// # Errors
/// [`Trouble`]: that it is not empty or cannot be made.
pub fn claim(folder: &Path) -> Result<(), Trouble> {
    const HELP: &str = "help: name another folder with --out";
    if folder.is_file() || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Trouble(format!("error: {} is not empty; nothing was run\n{HELP}", folder.display())));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Trouble(format!("error: cannot create {}: {error}; nothing was run\n{HELP}", folder.display()))
    })
}

/// Removes a folder that was claimed, if nothing came of it.
pub fn release(folder: &Path) {
    // Only if it is still empty; the error to tell is another one.
    let _ = std::fs::remove_dir(folder);
}

/// `results/NAME`, or with a number behind it if that exists.
pub fn fresh_folder(name: &str) -> PathBuf {
    let plain = Path::new("results").join(name);
    if !plain.exists() {
        return plain;
    }
    (2u32..)
        .map(|number| Path::new("results").join(format!("{name}-{number}")))
        .find(|path| !path.exists())
        .unwrap_or(plain)
}
