//! What of a middleware is on this host: its version, its adapter built from source, keys for a run.

use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::stat::Mode;
use xxhash_rust::xxh3::Xxh3;

use crate::{Adapter, MiddlewareError};

/// Says that what is in a folder was built whole, and from what.
const STAMP: &str = ".built";

/// Where adapters are kept once they are built.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    /// In this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Where a user's programs keep such things (XDG base directories). What is there is run, so it is no folder that others may write to.
    ///
    /// # Errors
    /// [`MiddlewareError::NoCache`] if this user has none.
    pub fn of_user() -> Result<Self, MiddlewareError> {
        let of_home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(of_home);
        let cache = cache.filter(|cache| cache.is_absolute()).ok_or(MiddlewareError::NoCache)?;
        Ok(Self::new(cache.join("chronoseal/adapters")))
    }

    /// Messages of real sensor data, [`crate::Data::recorded`], made by the script beside the adapters in `folder` if they never were or it has changed.
    ///
    /// # Errors
    /// [`MiddlewareError::Bodies`] with what the script said.
    pub fn bodies(&self, folder: &Path) -> Result<PathBuf, MiddlewareError> {
        let wrong = MiddlewareError::Bodies;
        let script = folder.join("sensors.py");
        let bytes = std::fs::read(&script).map_err(|error| wrong(format!("{}: {error}", script.display())))?;
        let stamp = format!("{:032x}\n", xxhash_rust::xxh3::xxh3_128(&bytes));
        let place = self.0.join("bodies");
        if std::fs::read_to_string(place.join(STAMP)).is_ok_and(|known| known == stamp) {
            return Ok(place);
        }
        std::fs::create_dir_all(&place).map_err(|error| wrong(format!("{}: {error}", place.display())))?;
        let place = place.canonicalize().map_err(|error| wrong(error.to_string()))?;
        let mut command = Command::new(&script);
        let output = command.arg(&place).stdin(Stdio::null()).output().map_err(|error| wrong(error.to_string()))?;
        if !output.status.success() {
            return Err(wrong(said(&output)));
        }
        std::fs::write(place.join(STAMP), stamp).map_err(|error| wrong(error.to_string()))?;
        Ok(place)
    }

    /// The adapter, built; builds it if it never was or its sources have changed.
    ///
    /// # Errors
    /// [`MiddlewareError::Build`] with what the compiler said.
    pub fn built(&self, adapter: &Adapter) -> Result<PathBuf, MiddlewareError> {
        let wrong = |what: String| MiddlewareError::Build { adapter: adapter.name.clone(), what };
        let place = self.0.join(&adapter.name);
        let common = adapter.folder.parent().map(|parent| parent.join("common"));
        let mut hash = Xxh3::new();
        let sources: Vec<PathBuf> = adapter.sources.iter().map(|source| adapter.folder.join(source)).collect();
        for folder in std::iter::once(&adapter.folder).chain(&common).chain(&sources) {
            digest(folder, folder, &mut hash).map_err(|error| wrong(format!("{}: {error}", folder.display())))?;
        }
        let stamp = format!("{:032x}\n", hash.digest128());
        if std::fs::read_to_string(place.join(STAMP)).is_ok_and(|known| known == stamp) {
            return Ok(place);
        }
        // What was there before is of other sources.
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).map_err(|error| wrong(format!("{}: {error}", place.display())))?;
        let place = place.canonicalize().map_err(|error| wrong(error.to_string()))?;
        let output = script(adapter, "build.sh", &[place.as_os_str()]).map_err(|error| wrong(error.to_string()))?;
        if !output.status.success() {
            return Err(wrong(said(&output)));
        }
        std::fs::write(place.join(STAMP), stamp).map_err(|error| wrong(error.to_string()))?;
        Ok(place)
    }
}

/// What Cargo builds within an adapter's folder, for who works on it: no source.
const NO_SOURCE: &str = "target";

/// Every file of a folder, by its name within `root`: the same sources are the same wherever they are, and from wherever they are named.
fn digest(root: &Path, folder: &Path, hash: &mut Xxh3) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = match folder.read_dir() {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.ends_with(NO_SOURCE) {
                digest(root, &path, hash)?;
            }
            continue;
        }
        hash.update(path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes());
        hash.update(&std::fs::read(&path)?);
    }
    Ok(())
}

impl Adapter {
    /// Which version of the middleware is installed; `None` if none is.
    pub fn version(&self) -> Option<String> {
        let (program, words) = self.version.split_first()?;
        let output = Command::new(program).args(words).current_dir(&self.folder).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
        output.status.success().then_some(line)
    }

    /// That another version is installed than the one that it was tried with, as a sentence.
    pub fn other_version(&self) -> Option<String> {
        let (tried, installed) = self.tried.as_ref().zip(self.version())?;
        (!installed.starts_with(tried)).then(|| {
            format!(
                "{}: version {installed} is installed, and what its adapter says of figures and attacks is of {tried}: hold runs against those of one version only, \
                 and run adapters/middleware/conformance.py {} before you trust them",
                self.title, self.name
            )
        })
    }

    /// The command that installs it on Debian, and what no package of Debian has.
    pub fn install_command(&self) -> String {
        let needs = self.needs.as_ref().map_or_else(String::new, |needs| format!(", and {needs}"));
        format!("apt-get install {}{needs}", self.packages.join(" "))
    }

    /// Makes keys of this level, for all nodes of a run, in a folder that ends with it.
    ///
    /// # Errors
    /// [`MiddlewareError::Keys`] with what the script said.
    pub fn keys(&self, level: &str) -> Result<Keys, MiddlewareError> {
        let wrong = |what: String| MiddlewareError::Keys { adapter: self.name.clone(), level: level.into(), what };
        let keys = Keys::fresh(&keys_place()).map_err(wrong)?;
        let words = [keys.folder().as_os_str(), level.as_ref()];
        let output = script(self, "keys.sh", &words).map_err(|error| wrong(error.to_string()))?;
        if output.status.success() { Ok(keys) } else { Err(wrong(said(&output))) }
    }
}

/// Where keys of runs are: in memory where the user has such a folder (XDG base directories), else where temporary files are.
fn keys_place() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|place| place.is_absolute() && place.is_dir()) {
        Some(place) => place.join("chronoseal-keys"),
        None => std::env::temp_dir().join(format!("chronoseal-keys-{}", nix::unistd::getuid())),
    }
}

/// Keys of one run. Their folder is locked while they are there, so that what a run left that was ended by force is known and goes when the
/// next keys are made.
#[derive(Debug)]
pub struct Keys {
    folder: PathBuf,
    _lock: Flock<OwnedFd>,
}

impl Keys {
    /// An empty folder in `place`, into which nobody else may look, and nothing left there of runs that are over.
    fn fresh(place: &Path) -> Result<Self, String> {
        let of_place = |error: &dyn std::fmt::Display| format!("{}: {error}", place.display());
        match DirBuilder::new().mode(0o700).create(place) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(of_place(&error)),
            _ => {}
        }
        let found = place.symlink_metadata().map_err(|error| of_place(&error))?;
        if !found.is_dir() || found.uid() != nix::unistd::getuid().as_raw() || found.mode() & 0o077 != 0 {
            return Err(of_place(
                &"it is not a folder of this user alone; remove it, or set XDG_RUNTIME_DIR or TMPDIR to another place",
            ));
        }
        // One at a time looks for what is left.
        let _alone = lock(place, FlockArg::LockExclusive).map_err(|error| of_place(&error))?;
        for entry in place.read_dir().map_err(|error| of_place(&error))?.flatten() {
            if lock(&entry.path(), FlockArg::LockExclusiveNonblock).is_ok() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let folder = nix::unistd::mkdtemp(&place.join("run-XXXXXX")).map_err(|error| of_place(&error))?;
        let lock = lock(&folder, FlockArg::LockExclusiveNonblock).map_err(|error| of_place(&error))?;
        Ok(Self { folder, _lock: lock })
    }

    /// A folder for each node.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn lock(folder: &Path, how: FlockArg) -> std::io::Result<Flock<OwnedFd>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let opened = nix::fcntl::open(folder, flags, Mode::empty())?;
    Flock::lock(opened, how).map_err(|(_, error)| error.into())
}

fn script(adapter: &Adapter, name: &str, words: &[&std::ffi::OsStr]) -> std::io::Result<Output> {
    Command::new(adapter.folder.join(name)).args(words).stdin(Stdio::null()).output()
}

/// The end of what a script printed, which is where compilers say what is wrong.
fn said(output: &Output) -> String {
    let printed = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = text.lines().collect();
    format!("{}\n{}", output.status, lines[lines.len().saturating_sub(20)..].join("\n"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// One test at a time writes programs and starts some: a program that another process has open cannot be started.
    pub(crate) fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn adapter(folder: &Path, build: &str, keys: &str) -> Adapter {
        for (name, text) in [("build.sh", build), ("keys.sh", keys)] {
            std::fs::write(folder.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Adapter {
            name: "own".into(),
            folder: folder.into(),
            title: "Own".into(),
            version: vec!["echo".into(), "1.2".into()],
            tried: None,
            packages: vec!["one".into(), "two".into()],
            needs: None,
            limits: Vec::new(),
            sources: Vec::new(),
            configurations: Vec::new(),
        }
    }

    #[test]
    fn an_adapter_is_built_once_for_each_state_of_its_sources() {
        let _alone = alone();
        let (sources, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = adapter(sources.path(), "date +%s%N > $1/when", "");
        let cache = Cache::new(cache.path());
        let when = || std::fs::read_to_string(cache.built(&own).unwrap().join("when")).unwrap();
        let first = when();
        assert_eq!(when(), first);
        let elsewhere = Adapter { folder: sources.path().join("."), ..own.clone() };
        assert_eq!(std::fs::read_to_string(cache.built(&elsewhere).unwrap().join("when")).unwrap(), first);
        std::fs::write(sources.path().join("adapter.c"), "int x;").unwrap();
        assert_ne!(when(), first);
    }

    #[test]
    fn a_build_that_fails_says_why_and_is_tried_again() {
        let _alone = alone();
        let (sources, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = adapter(sources.path(), "echo no such header >&2; exit 3", "");
        for _ in 0..2 {
            let error = Cache::new(cache.path()).built(&own).unwrap_err().to_string();
            assert!(error.contains("no such header") && error.contains("own"), "{error}");
        }
    }

    #[test]
    fn keys_are_gone_with_their_run() {
        let _alone = alone();
        let sources = tempfile::tempdir().unwrap();
        let own = adapter(sources.path(), "", "echo $2 > $1/robot");
        let keys = own.keys("encrypt").unwrap();
        let folder = keys.folder().to_owned();
        assert_eq!(std::fs::read_to_string(folder.join("robot")).unwrap(), "encrypt\n");
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o077, 0);
        drop(keys);
        assert!(!folder.exists());
    }

    #[test]
    fn keys_of_a_run_that_was_ended_by_force_go_with_the_next() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("keys");
        let (held, left) = (Keys::fresh(&place).unwrap(), Keys::fresh(&place).unwrap());
        // As after a kill: the lock is gone, the folder is not.
        let left_folder = left.folder().to_owned();
        drop(left);
        std::fs::create_dir(&left_folder).unwrap();
        std::fs::write(left_folder.join("key.pem"), "secret").unwrap();
        let next = Keys::fresh(&place).unwrap();
        assert!(!left_folder.exists() && held.folder().exists() && next.folder().exists());
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Keys::fresh(&place).unwrap_err().contains("not a folder of this user alone"));
    }

    #[test]
    fn what_is_missing_has_no_version_and_a_command() {
        let _alone = alone();
        let sources = tempfile::tempdir().unwrap();
        let mut own = adapter(sources.path(), "", "");
        assert_eq!(own.version().as_deref(), Some("1.2"));
        own.tried = Some("1.2".into());
        assert_eq!(own.other_version(), None);
        own.tried = Some("1.1".into());
        assert!(
            own.other_version()
                .is_some_and(|text| text.contains("version 1.2 is installed") && text.contains("of 1.1"))
        );
        own.version = vec!["false".into()];
        assert_eq!(own.version(), None);
        own.version = vec!["no-such-program".into()];
        assert_eq!((own.version(), own.install_command()), (None, "apt-get install one two".into()));
    }
}
