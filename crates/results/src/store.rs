//! A run is a folder: a manifest people can read, tables of raw samples, and the capture.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_core::SimTime;
use serde::{Deserialize, Serialize};

use crate::capture::write_capture;
use crate::disk::{self, Disk, Filling, HostDisk, UNFINISHED};
use crate::pending::Pending;
use crate::tables::{self, Damage, StoredFrame, TableWriter};
use crate::{EventRow, FrameFigures, FrameRow, HopRow, RunMeta, RunRows, RunSummary, Sink, WorkRow};

/// Version of the manifest and of every table; readers accept this one.
pub const SCHEMA_VERSION: u32 = 4;

const MANIFEST: &str = "manifest.json";
const CAPTURE: &str = "capture.pcapng";

/// Why a run could not be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder holds something already.
    #[error("{} is not empty; name another folder or remove it first", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The machine refused to write.
    #[error("cannot write {}: {source}; check that the folder exists, is yours and has room", path.display())]
    Write {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder is no run.
    #[error("{} holds no {MANIFEST}; give the folder a run was stored in", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// The program that filled the folder did not come to its end.
    #[error(
        "{} is marked as not whole by {UNFINISHED} in it: the command that filled it was stopped, or failed; repeat it, or give \
         one of the runs in the folder",
        path.display()
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest is not what this version writes.
    #[error("{} is not a manifest of a run: {source}; it was changed or cut off, so repeat the run", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// Another version wrote it.
    #[error(
        "{} has schema version {found}, this program reads {SCHEMA_VERSION}; read it with the program that wrote it, or repeat the run",
        path.display()
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A table could not be written or is no Parquet.
    #[error("table {}: {source}", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A table is Parquet, but not one of ours.
    #[error("table {} is damaged: {damage}; repeat the run", path.display())]
    Damaged {
        /// The table.
        path: PathBuf,
        /// What is wrong.
        damage: Damage,
    },
    /// The capture could not be written.
    #[error("capture {}: {source}", path.display())]
    Capture {
        /// The capture.
        path: PathBuf,
        /// Why.
        source: pcap_file::PcapError,
    },
}

impl StoreError {
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }
    /// A table was not written. A machine that refused to write is told as such, whatever the library made of its answer.
    pub(crate) fn table_write(path: &Path, source: parquet::errors::ParquetError) -> Self {
        match source {
            parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(refused) => Self::write(path, *refused),
                Err(inner) => Self::Table { path: path.into(), source: parquet::errors::ParquetError::External(inner) },
            },
            source => Self::Table { path: path.into(), source },
        }
    }
    fn capture_write(path: &Path, source: pcap_file::PcapError) -> Self {
        match source {
            pcap_file::PcapError::IoError(refused) => Self::write(path, refused),
            source => Self::Capture { path: path.into(), source },
        }
    }
}

/// What [`write()`] left behind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Written {
    /// The folder.
    pub path: PathBuf,
    /// Its tables and capture.
    pub files: Vec<StoredFile>,
}

/// One file of a stored run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its name in the folder.
    pub name: String,
    /// Rows or packets in it.
    pub rows: u64,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    schema_version: u32,
    run: RunMeta,
    summary: RunSummary,
    files: Vec<StoredFile>,
}

/// Stores a run in the new folder `path`, whole or not at all: everything is written beside it and then renamed.
/// An interrupted run is stored like any other and marked in its manifest.
///
/// # Errors
/// [`StoreError::Occupied`] if the folder is not empty, or what the machine refused.
pub fn write(path: &Path, meta: &RunMeta, summary: &RunSummary, rows: &RunRows) -> Result<Written, StoreError> {
    write_on(&HostDisk, path, meta, summary, rows)
}

/// [`write()`] on a disk of one's own.
///
/// # Errors
/// As [`write()`].
pub fn write_on(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    summary: &RunSummary,
    rows: &RunRows,
) -> Result<Written, StoreError> {
    let mut writer = Writer::begin_on(disk, path, meta)?;
    // Events before the frames that they are about.
    let mut events = rows.events.iter().peekable();
    for row in &rows.frames {
        let until = row.accepted_at.or(row.sent_at).unwrap_or(SimTime::ZERO);
        while let Some(event) = events.next_if(|event| event.time <= until) {
            writer.event(event);
        }
        writer.frame(row);
    }
    events.for_each(|event| writer.event(event));
    rows.hops.iter().for_each(|row| writer.hop(row));
    rows.work.iter().for_each(|row| writer.work(row));
    writer.finish(meta, summary, rows)
}

/// Stores a run while it goes on, so that its rows need not be kept. Until [`finish`](Self::finish) everything is in a hidden folder
/// beside `path`, marked as not whole; if the writer is dropped before, that folder goes. What a program that was killed has left there
/// is for [`sweep`](disk::sweep).
pub struct Writer<'d> {
    disk: &'d dyn Disk,
    path: PathBuf,
    partial: Partial,
    meta: RunMeta,
    frames: TableWriter<StoredFrame>,
    hops: TableWriter<HopRow>,
    events: TableWriter<EventRow>,
    pending: Pending,
    work: TableWriter<WorkRow>,
    /// Why nothing more is written.
    error: Option<StoreError>,
    has_failed: Arc<AtomicBool>,
}

/// A folder that goes if it is not put in its place.
struct Partial {
    folder: PathBuf,
    filling: Option<Filling>,
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.filling.is_some() {
            // Whoever drops this has an error of its own to report; what is left is only rubbish.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Writer<'static> {
    /// Begins to store a run in the new folder `path`; `meta` describes it, as far as is known.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn begin(path: &Path, meta: &RunMeta) -> Result<Self, StoreError> {
        Self::begin_on(&HostDisk, path, meta)
    }
}

impl<'d> Writer<'d> {
    /// [`begin`](Writer::begin) on a disk of one's own.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn begin_on(disk: &'d dyn Disk, path: &Path, meta: &RunMeta) -> Result<Self, StoreError> {
        if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
            return Err(StoreError::Occupied { path: path.into() });
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|source| StoreError::write(parent, source))?;
        let folder = disk::beside(path);
        fs::create_dir(&folder).map_err(|source| StoreError::write(&folder, source))?;
        let filling = Filling::begin(&folder).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let filling = Some(filling);
        let partial = Partial { folder, filling };
        let folder = &partial.folder;
        Ok(Self {
            disk,
            path: path.into(),
            meta: meta.clone(),
            frames: tables::FRAMES.begin(disk, folder, meta)?,
            hops: tables::HOPS.begin(disk, folder, meta)?,
            events: tables::EVENTS.begin(disk, folder, meta)?,
            pending: Pending::default(),
            work: tables::WORK.begin(disk, folder, meta)?,
            error: None,
            has_failed: Arc::default(),
            partial,
        })
    }

    /// True from when the machine has refused to write, so that there is no need to go on.
    pub fn has_failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_failed)
    }

    /// Writes the events that wait for no row.
    fn write_events(&mut self) {
        while let Some(row) = self.pending.next() {
            let written = self.events.push(&self.meta, &row);
            self.note(written);
        }
    }

    fn note(&mut self, written: Result<(), StoreError>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
            self.has_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Puts the run in its place. Of `rest` what is no row of a frame, a transmission, an event or a computation is stored too.
    ///
    /// # Errors
    /// The first refusal of the machine, whenever it was.
    pub fn finish(self, meta: &RunMeta, summary: &RunSummary, rest: &RunRows) -> Result<Written, StoreError> {
        let Self { disk, path, mut partial, meta: begun, frames, hops, mut events, pending, work, error, .. } = self;
        if let Some(error) = error {
            return Err(error);
        }
        for row in pending.rest() {
            events.push(&begun, &row)?;
        }
        let mut meta = meta.clone();
        meta.interrupted |= rest.interrupted;
        let (dir, meta) = (partial.folder.clone(), &meta);
        let mut files = vec![
            frames.finish(&begun)?,
            hops.finish(&begun)?,
            events.finish(&begun)?,
            tables::SEGMENTS.write(disk, &dir, meta, &tables::segment_values(&rest.segments))?,
            work.finish(&begun)?,
            tables::STALLS.write(disk, &dir, meta, &rest.stalls)?,
            tables::RELEASES.write(disk, &dir, meta, &rest.releases)?,
        ];
        if !rest.captures.is_empty() {
            let path = dir.join(CAPTURE);
            let refused = |source| StoreError::write(&path, source);
            let mut file = disk.create(&path).map_err(refused)?;
            write_capture(&mut file, meta, &rest.captures)
                .map_err(|source| StoreError::capture_write(&path, source))?;
            file.sync().map_err(refused)?;
            files.push(StoredFile { name: CAPTURE.into(), rows: rest.captures.len() as u64 });
        }
        write_manifest(disk, &dir, meta, summary, &files)?;
        if let Some(filling) = &partial.filling {
            filling.unmark()?;
        }
        fs::rename(&dir, &path).map_err(|source| StoreError::write(&path, source))?;
        partial.filling = None;
        Ok(Written { path, files })
    }
}

impl Sink for Writer<'_> {
    fn frame(&mut self, row: &FrameRow) {
        if self.error.is_none() {
            let told = self.pending.frame(row);
            let written = self.frames.push(&self.meta, &StoredFrame { frame: *row, told });
            self.note(written);
            self.write_events();
        }
    }
    fn hop(&mut self, row: &HopRow) {
        if self.error.is_none() {
            let written = self.hops.push(&self.meta, row);
            self.note(written);
        }
    }
    fn event(&mut self, row: &EventRow) {
        if self.error.is_none() {
            self.pending.event(row);
            self.write_events();
        }
    }
    fn work(&mut self, row: &WorkRow) {
        if self.error.is_none() {
            let written = self.work.push(&self.meta, row);
            self.note(written);
        }
    }
}

fn write_manifest(
    disk: &dyn Disk,
    dir: &Path,
    meta: &RunMeta,
    summary: &RunSummary,
    files: &[StoredFile],
) -> Result<(), StoreError> {
    let manifest =
        Manifest { schema_version: SCHEMA_VERSION, run: meta.clone(), summary: summary.clone(), files: files.to_vec() };
    let path = dir.join(MANIFEST);
    let write = || -> io::Result<()> {
        let mut file = disk.create(&path)?;
        serde_json::to_writer_pretty(&mut file, &manifest)?;
        file.write_all(b"\n")?;
        file.sync()
    };
    write().map_err(|source| StoreError::write(&path, source))
}

/// The description and the summary of a stored run.
///
/// # Errors
/// [`StoreError::NoRun`] if the folder is none, [`StoreError::Unfinished`] if it is marked as not whole, [`StoreError::Version`] if another version wrote it,
/// [`StoreError::Manifest`] if it is damaged.
pub fn read(path: &Path) -> Result<(RunMeta, RunSummary), StoreError> {
    disk::check_finished(path)?;
    let manifest = path.join(MANIFEST);
    let text = match fs::read(&manifest) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::NoRun { path: path.into() }),
        Err(source) => return Err(StoreError::Read { path: manifest, source }),
    };
    let damaged = |source| StoreError::Manifest { path: manifest.clone(), source };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
    match value.get("schema_version").and_then(serde_json::Value::as_u64) {
        Some(found) if found != u64::from(SCHEMA_VERSION) => {
            return Err(StoreError::Version { path: manifest.clone(), found });
        }
        _ => {}
    }
    // From the text, not the value: only the text gives an error a line and a column.
    let Manifest { run, summary, .. } = serde_json::from_slice(&text).map_err(damaged)?;
    Ok((run, summary))
}

/// The frames of a stored run; times as whole nanoseconds.
///
/// # Errors
/// [`StoreError::Read`], [`StoreError::Table`] or [`StoreError::Damaged`].
pub fn read_frames(path: &Path) -> Result<Vec<FrameRow>, StoreError> {
    tables::read_frames(path)
}

/// The frames, transmissions, events, series of segments, stalls and releases of a stored run; times as whole nanoseconds.
/// Computations and the capture stay in their files: reports use their summary.
///
/// # Errors
/// As [`read`] and [`read_frames`].
pub fn read_rows(path: &Path) -> Result<RunRows, StoreError> {
    let (meta, _) = read(path)?;
    tables::check_scenario(path, &meta.scenario_hash)?;
    Ok(RunRows {
        frames: read_frames(path)?,
        hops: tables::read_hops(path)?,
        segments: tables::read_segments(path)?,
        events: tables::read_events(path)?,
        stalls: tables::read_stalls(path)?,
        releases: tables::read_releases(path)?,
        interrupted: meta.interrupted,
        ..RunRows::default()
    })
}

/// A stored run, and of its rows what reports show: series of segments, stalls, releases, and the [figures](RunRows::figures) of its
/// frames, which are read one by one.
///
/// # Errors
/// As [`read`] and [`read_frames`].
pub fn read_figures(path: &Path) -> Result<(RunMeta, RunSummary, RunRows), StoreError> {
    let (meta, summary) = read(path)?;
    tables::check_scenario(path, &meta.scenario_hash)?;
    let mut figures = FrameFigures::new(&meta);
    tables::read_each_frame(path, &mut |row| figures.add(&meta, &summary, &row))?;
    let rows = RunRows {
        segments: tables::read_segments(path)?,
        stalls: tables::read_stalls(path)?,
        releases: tables::read_releases(path)?,
        interrupted: meta.interrupted,
        figures: Some(Box::new(figures)),
        ..RunRows::default()
    };
    Ok((meta, summary, rows))
}
