//! Files of other tools: unpacked, and refused by name where they are something else than what is wanted.

use std::borrow::Cow;
use std::path::Path;

use chronoseal_console::{Trouble, files};
use chronoseal_recordings::content::{Purpose, expect};

/// Reads a file for a purpose. One that is not recognised is left to the reader of what is wanted.
pub(crate) fn read(path: &Path, wanted: Purpose) -> Result<Vec<u8>, Trouble> {
    let bytes = unpacked(path, files::read(path)?)?;
    expect(&bytes, wanted).map_err(|error| Trouble(format!("error: {}: {error}", path.display())))?;
    Ok(bytes)
}

/// What is in a file that may be packed with gzip.
pub(crate) fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Trouble> {
    let failed =
        |error| Trouble(format!("error: {}: {error}\nhelp: `gzip -t FILE` says whether it is whole", path.display()));
    match chronoseal_recordings::unpacked(&bytes).map_err(failed)? {
        Cow::Borrowed(_) => Ok(bytes),
        Cow::Owned(unpacked) => Ok(unpacked),
    }
}
