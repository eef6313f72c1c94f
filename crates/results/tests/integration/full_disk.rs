//! A disk that refuses at some byte, wherever that byte is.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chronoseal_results::disk::{Disk, DiskFile, Filling, HostDisk, UNFINISHED, check_finished, put};
use chronoseal_results::store::{read, read_rows, write, write_on};
use chronoseal_results::{RunRows, StoreError, summarise};

use crate::sample::{meta, rows};

/// Room for so many bytes in all files together.
struct Small {
    left: Arc<AtomicU64>,
    /// A full disk is noticed when bytes are written, or only when they are to be on the disk.
    says_so_late: bool,
}

struct SmallFile {
    file: File,
    left: Arc<AtomicU64>,
    says_so_late: bool,
    is_full: bool,
}

impl Small {
    fn new(room: u64, says_so_late: bool) -> Self {
        Self { left: Arc::new(AtomicU64::new(room)), says_so_late }
    }
}

impl Disk for Small {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let (file, left) = (File::create(path)?, self.left.clone());
        Ok(Box::new(SmallFile { file, left, says_so_late: self.says_so_late, is_full: false }))
    }
}

impl Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        let fits = (bytes.len() as u64).min(left) as usize;
        self.left.store(left - fits as u64, Ordering::Relaxed);
        self.file.write_all(&bytes[..fits])?;
        if fits == bytes.len() || fits > 0 && !self.says_so_late {
            return Ok(fits);
        }
        self.is_full = true;
        if self.says_so_late { Ok(bytes.len()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for SmallFile {
    fn sync(&mut self) -> io::Result<()> {
        if self.is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_run_is_whole_or_not_there_wherever_the_disk_gets_full() {
    let (meta, rows) = (meta(), rows(20));
    let summary = summarise(&meta, &rows);
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    let store = |room: u64, says_so_late: bool| {
        let disk = Small::new(room, says_so_late);
        let run = dir.path().join("run");
        let stored = write_on(&disk, &run, &meta, &summary, &rows).map(|_| disk.left.load(Ordering::Relaxed));
        (run, stored)
    };
    let (run, stored) = store(1 << 30, false);
    let needed = (1 << 30) - stored.expect("there is room for a gigabyte");
    fs::remove_dir_all(run).expect("it was stored");
    for says_so_late in [false, true] {
        let mut refusals = 0;
        for room in (0..needed).step_by(251).chain(needed.saturating_sub(40)..needed) {
            let (run, stored) = store(room, says_so_late);
            let error = stored.expect_err("one byte is missing at least");
            let told = error.to_string();
            assert!(matches!(error, StoreError::Write { .. }), "room for {room} of {needed}: {told}");
            assert!(told.contains("has room"), "what to do: {told}");
            assert!(!run.exists(), "half a run after {room} of {needed} bytes");
            assert_eq!(fs::read_dir(dir.path()).expect("it is ours").count(), 0, "a part is left after {room} bytes");
            refusals += 1;
        }
        assert!(refusals > 50, "{refusals}");
        let (run, stored) = store(needed, says_so_late);
        assert_eq!(stored.expect("it just fits"), 0);
        assert_eq!(read_rows(&run).expect("a stored run is read").frames, rows.frames);
        fs::remove_dir_all(run).expect("it was stored");
    }
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    let page = dir.path().join("page.html");
    for room in 0..9 {
        put(&Small::new(room, false), &page, b"nine byte").expect_err("one byte is missing at least");
        assert_eq!(fs::read_dir(dir.path()).expect("it is ours").count(), 0);
    }
    put(&HostDisk, &page, b"before").expect("there is room");
    for says_so_late in [false, true] {
        put(&Small::new(4, says_so_late), &page, b"after").expect_err("no room for five");
        assert_eq!(fs::read(&page).expect("it is there"), b"before");
        assert_eq!(fs::read_dir(dir.path()).expect("it is ours").count(), 1, "no part beside it");
    }
    put(&Small::new(5, false), &page, b"after").expect("room for five");
    assert_eq!(fs::read(&page).expect("it is there"), b"after");
}

#[test]
fn a_file_behind_a_link_stays_there_and_keeps_who_may_read_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::write(&real, "before").expect("there is room");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("it is ours");
    symlink(&real, &link).expect("there is no such name yet");
    put(&HostDisk, &link, b"after").expect("there is room");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(fs::read(&real).expect("it is there"), b"after");
    assert_eq!(fs::metadata(&real).expect("it is there").permissions().mode() & 0o777, 0o600);
    // A device is no file to be replaced.
    put(&HostDisk, Path::new("/dev/null"), b"gone").expect("it takes anything");
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn a_folder_that_is_not_whole_says_so() {
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    let folder = dir.path().join("both");
    let begin = || {
        fs::create_dir_all(&folder).expect("there is room");
        Filling::begin(&folder).expect("there is room")
    };
    drop(begin());
    assert!(!folder.exists(), "nothing was made, so nothing stays");

    let filling = begin();
    let run = (meta(), RunRows::default());
    write(&folder.join("sim"), &run.0, &summarise(&run.0, &run.1), &run.1).expect("there is room");
    drop(filling);
    let error = check_finished(&folder).expect_err("it is marked").to_string();
    assert!(error.contains(UNFINISHED) && error.contains("repeat it"), "{error}");
    assert!(matches!(read(&folder), Err(StoreError::Unfinished { .. })));
    read(&folder.join("sim")).expect("the run in it is whole");

    begin().finish().expect("the mark can be removed");
    check_finished(&folder).expect("it is whole now");
}
