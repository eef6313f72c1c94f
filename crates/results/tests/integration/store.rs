use std::fs;

use chronoseal_core::{Event, EventKind, StreamId};
use chronoseal_results::store::{read, read_frames, read_rows, write};
use chronoseal_results::{BoundMeta, EventRow, HopRow, RunMeta, RunRows, StoreError, summarise};

use crate::sample::{acquired, meta, rows, spoofed};

fn stored(meta: &RunMeta, rows: &RunRows) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    write(&dir.path().join("run"), meta, &summarise(meta, rows), rows).expect("a run is stored in a new folder");
    dir
}

#[test]
fn a_stored_run_reads_back_whole() {
    let (meta, mut rows) = (meta(), rows(400));
    for reason in chronoseal_core::DiscardReason::ALL {
        rows.frames.push(spoofed(3, chronoseal_results::Outcome::Discarded(reason)));
    }
    for kind in EventKind::all() {
        rows.events.push(EventRow { event: Event::of(kind, StreamId(0), 0), ..acquired(0, 12_000) });
    }
    let dir = stored(&meta, &rows);
    let run = dir.path().join("run");
    assert_eq!(read(&run).unwrap(), (meta.clone(), summarise(&meta, &rows)));
    assert_eq!(read_frames(&run).unwrap(), rows.frames);
    let again = read_rows(&run).unwrap();
    assert_eq!((again.hops, again.segments), (rows.hops, rows.segments));
    assert_eq!((again.events, again.stalls, again.releases), (rows.events, rows.stalls, rows.releases));
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["run"], "nothing partial stays beside the run");
}

/// `tests/stored/` holds the tables of `rows(3)` as the library for Arrow wrote them until November 2026, with Arrow's own schema
/// in their metadata.
#[test]
fn tables_with_a_schema_of_arrow_are_read() {
    let (folder, rows) = (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored"), rows(3));
    let dir = stored(&meta(), &RunRows::default());
    let run = dir.path().join("run");
    for table in ["frames", "hops", "events", "segments", "stalls", "releases"] {
        let file = format!("{table}.parquet");
        fs::copy(format!("{folder}/{file}"), run.join(file)).expect("the folder is ours");
    }
    let read = read_rows(&run).expect("they are tables of this version");
    assert!(read.hops.iter().any(|hop| !hop.origins.is_empty()), "a list that is not empty is among them");
    assert_eq!((read.frames, read.hops, read.events), (rows.frames, rows.hops, rows.events));
    assert_eq!((read.segments, read.stalls, read.releases), (rows.segments, rows.stalls, rows.releases));
}

#[test]
fn rows_of_another_scenario_are_refused_by_its_hash() {
    let of = |hash: &str| RunMeta { scenario_hash: hash.into(), ..meta() };
    let (dir, other) = (stored(&of("ab"), &rows(3)), stored(&of("cd"), &rows(3)));
    let run = dir.path().join("run");
    assert!(read_rows(&run).is_ok());
    fs::copy(other.path().join("run/events.parquet"), run.join("events.parquet")).expect("the folder is ours");
    let error = read_rows(&run).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    let error = error.to_string();
    assert!(error.contains("events.parquet") && error.contains("of scenario cd, and the manifest is of ab"), "{error}");
}

#[test]
fn many_rows_with_lists_read_back_in_order() {
    let first = rows(0).hops.remove(0);
    let hop = |frame| HopRow {
        frame,
        received_at: first.received_at.filter(|_| frame % 3 > 0),
        origins: (0..frame % 4).map(|back| frame - back).collect(),
        ..first.clone()
    };
    let rows = RunRows { hops: (0..70_000).map(hop).collect(), ..RunRows::default() };
    let dir = stored(&meta(), &rows);
    assert!(read_rows(&dir.path().join("run")).expect("it was just stored").hops == rows.hops);
}

#[test]
fn an_empty_run_is_a_run() {
    let (meta, rows) = (meta(), RunRows::default());
    let dir = stored(&meta, &rows);
    assert_eq!(read_frames(&dir.path().join("run")).unwrap(), []);
}

#[test]
fn an_interrupted_run_is_kept_and_marked() {
    let rows = RunRows { interrupted: true, ..rows(3) };
    let dir = stored(&meta(), &rows);
    let (meta, summary) = read(&dir.path().join("run")).unwrap();
    assert!(meta.interrupted && summary.interrupted);
    assert_eq!(read_frames(&dir.path().join("run")).unwrap().len(), 4);
}

#[test]
fn columns_carry_units_and_files_their_version() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let dir = stored(&meta(), &rows(3));
    let file = fs::File::open(dir.path().join("run/frames.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata().file_metadata();
    let names: Vec<_> = metadata.schema_descr().columns().iter().map(|column| column.name().to_owned()).collect();
    assert!(names.contains(&"sent_after_ns".into()) && names.contains(&"len_bytes".into()), "{names:?}");
    let remarks = metadata.key_value_metadata().unwrap();
    assert!(remarks.iter().any(|r| r.key == "chronoseal.schema_version" && r.value.as_deref() == Some("4")));
}

#[test]
fn the_reference_names_every_column_of_every_table() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reference =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/results.md")).unwrap();
    let dir = stored(&meta(), &rows(3));
    let mut tables = 0;
    for file in fs::read_dir(dir.path().join("run")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        tables += 1;
        let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
        for field in reader.metadata().file_metadata().schema().get_fields() {
            assert!(reference.contains(&format!("`{}`", field.name())), "{}: {}", path.display(), field.name());
        }
        assert!(reference.contains(&*path.file_name().unwrap().to_string_lossy()), "{}", path.display());
    }
    assert_eq!(tables, 7);
}

#[test]
fn refuses_to_write_over_a_run() {
    let dir = stored(&meta(), &rows(3));
    let run = dir.path().join("run");
    let before = fs::read(run.join("manifest.json")).unwrap();
    let error = write(&run, &meta(), &summarise(&meta(), &rows(9)), &rows(9)).unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error}");
    assert_eq!(fs::read(run.join("manifest.json")).unwrap(), before);
}

#[test]
fn says_what_is_wrong_with_a_folder_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let error = read(dir.path()).unwrap_err();
    assert!(error.to_string().contains("give the folder a run was stored in"), "{error}");

    fs::write(dir.path().join("manifest.json"), r#"{"schema_version": 99}"#).unwrap();
    assert!(matches!(read(dir.path()), Err(StoreError::Version { found: 99, .. })));
    // A run of a bus as an earlier version stored it.
    fs::write(dir.path().join("manifest.json"), r#"{"schema_version": 1, "run": {"bus": {"bit_rate": 500000}}}"#)
        .unwrap();
    let error = read(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains("has schema version 1, this program reads 4") && error.contains("repeat the run"),
        "{error}"
    );

    for text in [&b"{\"schema_version\": 3, \"run\": {"[..], b"\xff\xfe", b"", b"[]", b"{}"] {
        fs::write(dir.path().join("manifest.json"), text).unwrap();
        let error = read(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::Manifest { .. }), "{error}");
        assert!(error.to_string().contains("manifest.json"), "{error}");
    }

    fs::write(dir.path().join("frames.parquet"), b"PAR1 cut off").unwrap();
    assert!(matches!(read_frames(dir.path()), Err(StoreError::Table { .. })));
}

#[test]
fn a_capture_is_written_where_frames_were_captured() {
    let captured = rows(3);
    let plain = RunRows { captures: Vec::new(), ..captured.clone() };
    for (rows, packets) in [(captured, Some(2)), (plain, None)] {
        let dir = tempfile::tempdir().expect("the machine has room for a folder");
        let run = dir.path().join("run");
        let written = write(&run, &meta(), &summarise(&meta(), &rows), &rows).expect("the folder is new");
        let capture = written.files.iter().find(|file| file.name == "capture.pcapng");
        assert_eq!(capture.map(|file| file.rows), packets);
        assert_eq!(run.join("capture.pcapng").exists(), packets.is_some());
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_not_taken_for_a_folder_without_a_run() {
    let dir = tempfile::tempdir().expect("the machine has room for a folder");
    fs::create_dir(dir.path().join("manifest.json")).expect("the folder is empty");
    assert!(matches!(read(dir.path()), Err(StoreError::Read { .. })));
}

#[test]
fn refuses_a_table_of_another_kind() {
    let dir = stored(&meta(), &rows(3));
    let run = dir.path().join("run");
    fs::copy(run.join("stalls.parquet"), run.join("frames.parquet")).unwrap();
    let error = read_frames(&run).unwrap_err();
    assert!(error.to_string().contains("`stream_id` is absent"), "{error}");
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "in the way").unwrap();
    let error = write(&dir.path().join("file/run"), &meta(), &summarise(&meta(), &rows(1)), &rows(1)).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn deadlines_and_bounds_are_kept_and_runs_without_them_still_read() {
    let mut meta = meta();
    meta.streams[0].deadline_ns = Some(5_000_000);
    meta.streams[0].bound = Some(BoundMeta { total_ns: 7, parts: vec![("can".into(), 3), ("gateway".into(), 4)] });
    let dir = stored(&meta, &rows(3));
    assert_eq!(read(&dir.path().join("run")).expect("a stored run reads back").0, meta);

    let old = crate::sample::meta();
    let text = serde_json::to_string(&old).expect("a description is plain data");
    for field in ["deadline_ns", "\"bound\"", "unbounded"] {
        assert!(!text.contains(field), "what is not known is not written: {field}");
    }
    assert_eq!(serde_json::from_str::<RunMeta>(&text).expect("what was written is read"), old);
}
