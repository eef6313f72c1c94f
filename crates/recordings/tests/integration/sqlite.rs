//! python-can's SQLite logs: one that it wrote, and small ones made here byte by byte.

use chronoseal_recordings::{Format, Place, Problem, Recording, Warning, read};

use crate::integration::samples::frames;
use crate::integration::{good, lines, refused};

/// 300 frames that python-can 4.1.0 wrote by Python's sqlite3: `fixtures/make.py`.
const WRITTEN: &[u8] = include_bytes!("../fixtures/python_can.db");
const SQL: &str = "CREATE TABLE messages\n (ts REAL, arbitration_id INTEGER, extended INTEGER, remote INTEGER, error INTEGER, dlc \
                   INTEGER, data BLOB)";
const PAGE: usize = 512;

#[derive(Clone)]
enum Value {
    Null,
    Whole(i32),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}
use Value::{Blob, Null, Real, Text, Whole};

fn words(text: &str) -> Value {
    Text(text.as_bytes().to_vec())
}

/// Two bytes, which hold what the rows here need.
fn varint(value: usize) -> [u8; 2] {
    [0x80 | (value >> 7) as u8, value as u8 & 0x7f]
}

fn row(values: &[Value]) -> Vec<u8> {
    let (mut kinds, mut body) = (Vec::new(), Vec::new());
    for value in values {
        let (kind, bytes) = match value {
            Null => (0, Vec::new()),
            Whole(value) => (4, value.to_be_bytes().to_vec()),
            Real(value) => (7, value.to_be_bytes().to_vec()),
            Blob(bytes) => (bytes.len() * 2 + 12, bytes.clone()),
            Text(bytes) => (bytes.len() * 2 + 13, bytes.clone()),
        };
        kinds.extend(varint(kind));
        body.extend(bytes);
    }
    let record = [&varint(kinds.len() + 2)[..], &kinds, &body].concat();
    [&varint(record.len())[..], &[1], &record].concat()
}

/// A leaf whose own header begins at `at`.
fn leaf(at: usize, rows: &[Vec<u8>]) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    page[at] = 13;
    page[at + 3..at + 5].copy_from_slice(&(rows.len() as u16).to_be_bytes());
    let mut end = PAGE;
    for (i, row) in rows.iter().enumerate() {
        end -= row.len();
        page[end..end + row.len()].copy_from_slice(row);
        page[at + 8 + 2 * i..at + 10 + 2 * i].copy_from_slice(&(end as u16).to_be_bytes());
    }
    page
}

/// A file with this list of tables, and these pages from the second on.
fn file(tables: &[(&str, &str)], pages: &[Vec<u8>]) -> Vec<u8> {
    let schema: Vec<_> = tables
        .iter()
        .map(|(name, sql)| row(&[words("table"), words(name), words(name), Whole(2), words(sql)]))
        .collect();
    let mut file = leaf(100, &schema);
    file[..16].copy_from_slice(b"SQLite format 3\0");
    file[16..18].copy_from_slice(&(PAGE as u16).to_be_bytes());
    file[28..32].copy_from_slice(&(pages.len() as u32 + 1).to_be_bytes());
    file[56..60].copy_from_slice(&1u32.to_be_bytes());
    file.extend(pages.concat());
    file
}

fn log(rows: &[Vec<u8>]) -> Vec<u8> {
    file(&[("messages", SQL)], &[leaf(0, rows)])
}

fn frame(time_s: f64, id: i32, data: &[u8]) -> [Value; 7] {
    [Real(time_s), Whole(id), Whole(0), Whole(0), Whole(0), Whole(data.len() as i32), Blob(data.to_vec())]
}

fn damaged(recording: &Recording) -> Option<(u64, String)> {
    recording.warnings.iter().find_map(|warning| match warning {
        Warning::Damaged { count, first } => Some((*count, first.to_string())),
        _ => None,
    })
}

#[test]
fn reads_the_database_of_python_can() {
    let recording = good(WRITTEN);
    assert_eq!(recording.format, Format::Sqlite);
    // The table has no channel and does not tell FD.
    let expected = frames().into_iter().take(300).map(|(at_us, _, frame)| {
        let frame = frame.replace("##5", "##4").replace("##7", "##4");
        let frame = if frame == "101##4" { "101#".into() } else { frame };
        format!("{} can {frame}", at_us * 1000)
    });
    assert_eq!(lines(&recording), expected.collect::<Vec<_>>());
    assert_eq!(recording.start_ns, 1_000_000_000_000);
    assert!(damaged(&recording).is_none());
}

#[test]
fn a_time_since_1970_is_exact_to_the_microsecond() {
    let recording =
        good(log(&[row(&frame(1_732_000_000.123_456, 1, &[])), row(&frame(1_732_000_000.123_457, 2, &[]))]));
    assert_eq!((recording.start_ns, recording.frames[1].at_ns), (1_732_000_000_123_456_000, 1_000));
    let mut whole = frame(0.0, 1, &[]);
    whole[0] = Whole(7);
    let recording = good(log(&[row(&whole), row(&frame(7.000_000_001, 2, &[]))]));
    assert_eq!((recording.start_ns, recording.frames[1].at_ns), (7_000_000_000, 1));
}

#[test]
fn a_file_cut_anywhere_says_so_and_keeps_what_is_there() {
    let whole = good(WRITTEN);
    let mut most = 0;
    for cut in (16..WRITTEN.len()).step_by(37) {
        let error = refused(&WRITTEN[..cut]);
        assert!(matches!(error.problem, Problem::Truncated { format: Format::Sqlite, .. }), "{cut}: {error}");
        assert!(error.read.frames.iter().all(|frame| {
            whole.frames.iter().any(|known| {
                (known.frame, known.at_ns) == (frame.frame, frame.at_ns + error.read.start_ns - whole.start_ns)
            })
        }));
        most = most.max(error.read.frames.len());
    }
    assert!((200..300).contains(&most), "{most}");
}

#[test]
fn no_changed_bit_stops_the_reader_or_makes_more_of_a_file_than_is_in_it() {
    for at in (0..WRITTEN.len()).step_by(7) {
        let mut changed = WRITTEN.to_vec();
        changed[at] ^= 1 << (at % 8);
        let frames = match read(&changed) {
            Ok(recording) => recording.frames.len() + recording.errors.len(),
            Err(error) => error.read.frames.len() + error.read.errors.len(),
        };
        assert!(frames <= 600, "byte {at}: {frames}");
    }
}

#[test]
fn a_bad_row_costs_itself_and_is_counted() {
    let sound = [row(&frame(1.0, 0x123, &[1, 2])), row(&frame(2.0, 0x123, &[3, 4]))];
    let with = |change: fn(&mut [Value; 7])| {
        let mut bad = frame(1.5, 0x100, &[1]);
        change(&mut bad);
        let recording = good(log(&[sound[0].clone(), row(&bad), sound[1].clone()]));
        assert_eq!(recording.frames.len(), 2);
        damaged(&recording).unwrap()
    };
    for (change, words) in [
        ((|it| it[0] = Real(-1.0)) as fn(&mut [Value; 7]), "a time in seconds was expected, found `-1`"),
        (|it| it[0] = Real(f64::NAN), "a time in seconds was expected, found `NaN`"),
        (|it| it[0] = Real(1e300), "a time in seconds"),
        (|it| it[0] = words("now"), "a time in seconds was expected, found `now`"),
        (|it| it[1] = Whole(0x800), "an identifier of 11 bits was expected, found `2048`"),
        (|it| (it[1], it[2]) = (Whole(1 << 29), Whole(1)), "an identifier of 29 bits"),
        (|it| it[1] = Whole(-1), "an identifier of 11 bits was expected, found `-1`"),
        (|it| it[1] = Null, "found `NULL`"),
        (|it| it[3] = Whole(2), "a flag of 0 or 1 was expected, found `2`"),
        (|it| it[5] = Whole(2), "as many bytes of data as the length says was expected, found `1 bytes`"),
        (|it| it[5] = Whole(65), "a length up to 64"),
        (|it| (it[5], it[6]) = (Whole(9), Blob(vec![0; 9])), "no CAN frame has that many"),
        (|it| it[6] = words("1"), "data as a blob"),
        (|it| (it[3], it[5]) = (Whole(1), Whole(16)), "a data length code of 0 to 15"),
    ] {
        let (count, first) = with(change);
        assert!(count == 1 && first.contains(words), "{first}");
        assert!(first.starts_with("python-can's SQLite, byte "), "{first}");
    }
    // A row that says that it is longer than its page, and one that ends before its last column.
    let mut long = row(&frame(1.5, 1, &[]));
    long[..2].copy_from_slice(&[0xff, 0x7f]);
    let recording = good(log(&[sound[0].clone(), long, sound[1].clone()]));
    assert_eq!((recording.frames.len(), damaged(&recording).map(|it| it.0)), (2, Some(1)));
    let recording = good(log(&[sound[0].clone(), row(&frame(1.5, 1, &[])[..6]), sound[1].clone()]));
    assert_eq!((recording.frames.len(), recording.frames[1].frame.data().len()), (3, 0));
    // More bad rows than sound ones are no log.
    let mut bad = frame(1.5, 0x100, &[1]);
    bad[4] = Null;
    let error = refused(log(&[sound[0].clone(), row(&bad), row(&bad)]));
    assert!(error.to_string().contains("a flag of 0 or 1"), "{error}");
}

#[test]
fn pages_that_lie_cost_themselves() {
    let rows = [row(&frame(1.0, 1, &[])), row(&frame(2.0, 2, &[])), row(&frame(3.0, 3, &[]))];
    // A page above: to a leaf twice, to itself, to a page that is none, to one that is not there.
    let mut above = vec![0; PAGE];
    above[0] = 5;
    let below = [3u32, 3, 2, 0, 9];
    above[3..5].copy_from_slice(&(below.len() as u16 - 1).to_be_bytes());
    above[8..12].copy_from_slice(&below[4].to_be_bytes());
    for (i, number) in below[..4].iter().enumerate() {
        let at = PAGE - 8 * (i + 1);
        above[at..at + 4].copy_from_slice(&number.to_be_bytes());
        above[12 + 2 * i..14 + 2 * i].copy_from_slice(&(at as u16).to_be_bytes());
    }
    let recording = good(file(&[("messages", SQL)], &[above.clone(), leaf(0, &[&rows[..], &rows].concat())]));
    let (count, first) = damaged(&recording).unwrap();
    assert_eq!((recording.frames.len(), count), (6, 4));
    assert!(first.contains("a page that nothing else refers to was expected, found `3`"), "{first}");
    // A page of an index, and more cells than a page holds.
    for (at, value, words) in
        [(0, 2, "a page of a table, type 5 or 13 was expected, found `type 2`"), (3, 0xff, "as many cells as")]
    {
        let mut page = leaf(0, &rows);
        page[at] = value;
        let error = refused(file(&[("messages", SQL)], &[page]));
        assert!(error.to_string().contains(words), "{error}");
    }
    // Pages above each other without end.
    let chain = |number: u32| {
        let mut page = vec![0; PAGE];
        page[0] = 5;
        page[8..12].copy_from_slice(&(number + 1).to_be_bytes());
        page
    };
    let error = refused(file(&[("messages", SQL)], &(2..100).map(chain).collect::<Vec<_>>()));
    assert!(error.to_string().contains("at most 20 pages above each other"), "{error}");
}

#[test]
fn what_is_no_log_is_refused_with_what_it_is() {
    let rows = [row(&frame(1.0, 1, &[])), row(&frame(2.0, 2, &[]))];
    let error = refused(file(&[("stations", "CREATE TABLE stations (id INTEGER, name TEXT)")], &[leaf(0, &rows)]));
    assert!(
        error.to_string().contains("a database of stations is not supported; python-can's has a table `messages`"),
        "{error}"
    );
    assert!(refused(file(&[], &[])).to_string().contains("a database without a table"));
    for (from, to) in [("BLOB)", "BLOB) WITHOUT ROWID"), ("ts REAL", "ts REAL, later REAL AS (ts + 1)")] {
        let error = refused(file(&[("messages", &SQL.replace(from, to))], &[leaf(0, &rows)]));
        assert!(matches!(error.problem, Problem::Unsupported { .. }), "{error}");
    }
    let mut odd = log(&rows);
    odd[16..18].copy_from_slice(&1000u16.to_be_bytes());
    assert!(matches!(refused(&odd).problem, Problem::Malformed { place: Place::Byte(16), .. }));
    assert!(matches!(refused(&odd[..50]).problem, Problem::Truncated { .. }));
}

#[test]
fn a_log_under_another_name_or_with_more_columns_is_read() {
    let rows = [row(&frame(1.0, 1, &[])), row(&frame(2.0, 2, &[]))];
    assert_eq!(good(file(&[("drive", SQL)], &[leaf(0, &rows)])).frames.len(), 2);
    let other = ("stations", "CREATE TABLE stations (id INTEGER)");
    assert_eq!(good(file(&[other, ("messages", SQL)], &[leaf(0, &rows)])).frames.len(), 2);
    // Of two logs, the one that has python-can's name, and none if neither has.
    let short = "CREATE TABLE b(ts,arbitration_id,extended,remote,error,dlc,data)";
    assert_eq!(good(file(&[("b", short), ("Messages", SQL)], &[leaf(0, &rows)])).frames.len(), 2);
    assert!(refused(file(&[("a", short), ("b", short)], &[leaf(0, &rows)])).to_string().contains("several logs"));
    let more = "CREATE TABLE \"messages\" (id INTEGER PRIMARY KEY, [ts] REAL, `arbitration_id` INT CHECK (dlc IN (1, 2)), extended, \
                remote, error, dlc, 'data' BLOB, note TEXT DEFAULT 'a,b')";
    let with = |values: [Value; 7]| row(&[&[Null], &values[..], &[words("seen")]].concat());
    let recording =
        good(file(&[("messages", more)], &[leaf(0, &[with(frame(1.0, 5, &[7])), with(frame(2.0, 6, &[8]))])]));
    assert_eq!(lines(&recording), ["0 can 005#07", "1000000000 can 006#08"]);
    // UTF-16, as a database can be.
    for (encoding, wide) in [(2u32, u16::to_le_bytes as fn(u16) -> [u8; 2]), (3, u16::to_be_bytes)] {
        let text = |text: &str| Text(text.encode_utf16().flat_map(wide).collect());
        let mut wide = file(&[], &[leaf(0, &rows)]);
        let table = row(&[text("table"), text("messages"), Null, Whole(2), text(short)]);
        wide[100..PAGE].copy_from_slice(&leaf(100, &[table])[100..]);
        wide[56..60].copy_from_slice(&encoding.to_be_bytes());
        assert_eq!(good(wide).frames.len(), 2);
    }
}

#[test]
fn a_log_whose_writer_may_be_at_work_says_that_some_may_be_missing() {
    let mut bytes = log(&[row(&frame(1.0, 1, &[])), row(&frame(2.0, 2, &[]))]);
    (bytes[18], bytes[19]) = (2, 2);
    let recording = good(bytes);
    assert!(recording.warnings.iter().any(|warning| warning.to_string().contains("write-ahead log")));
}
