//! Files and folders that nobody but their owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Opens a file to append to it; made if it is not there, and closed to others if it was open to them.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    close_to_others(&file)?;
    Ok(file)
}

/// Closes a file to all but its owner, if it is a file of ours.
pub(crate) fn close_to_others(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    let is_ours = metadata.uid() == nix::unistd::geteuid().as_raw();
    if metadata.is_file() && is_ours && metadata.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(metadata.mode() & 0o700))?;
    }
    Ok(())
}

/// Replaces a file in one step: after a crash there is the old one or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    })();
    if written.is_err() {
        // What could not be written whole is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Makes a folder that is not there; closed to others if it is ours and was open to them.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::metadata(path)?;
    if metadata.uid() == nix::unistd::geteuid().as_raw() && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(metadata.mode() & 0o700))?;
    }
    Ok(())
}

/// What to say of a file with a secret that others than its owner can read; nothing if they cannot, or there is none.
pub(crate) fn warning_if_readable(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let mode = metadata.mode() & 0o777;
    (metadata.is_file() && mode & 0o044 != 0).then(|| {
        let path = path.display();
        format!("{path}: others than its owner can read this PIN (mode {mode:03o}); close it to them: chmod 600 {path}")
    })
}
