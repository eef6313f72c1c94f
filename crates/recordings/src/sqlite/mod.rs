//! python-can's SQLite logs: a table `messages` of `ts, arbitration_id, extended, remote, error, dlc, data`. Source:
//! `can/io/sqlite.py` of python-can.
//!
//! The file is read, never changed, and by the few pages of its format that a table is made of: no index, no journal, no query.

mod pages;
mod record;

use chronoseal_wire::can::FrameKind;

use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::can_id;

use pages::Pages;
use record::{Value, columns, text, values};

/// How every file begins.
pub(crate) const BEGINNING: &[u8] = b"SQLite format 3\0";

const HELP: &str = "`sqlite3 FILE 'pragma integrity_check'` says what is wrong, `.recover` saves the rest";
const COLUMNS: [&str; 7] = ["ts", "arbitration_id", "extended", "remote", "error", "dlc", "data"];
/// That python-can gives its table unless told otherwise.
const TABLE: &str = "messages";
/// Columns of a table that are looked at.
const COLUMNS_MAX: usize = 64;
/// Tables that are looked at.
const TABLES_MAX: usize = 1_000;
/// From here on, a time of 64 bits holds no nanoseconds `[s]`.
const COARSE_FROM_S: f64 = 4_194_304.0;

/// A table with the columns of a log.
struct Table {
    name: String,
    root: u32,
    /// Where each of [`COLUMNS`] is in a row.
    places: [usize; 7],
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let mut pages = Pages::new(bytes, to)?;
    let mut tables: Vec<Table> = Vec::new();
    let (mut names, encoding) = (Vec::new(), pages.encoding);
    pages.rows(1, to, &mut |to, place, row| {
        let Some(row) = values(row, 5) else { return Err(to.malformed(place, "a row", "one that is too short", HELP)) };
        let [Value::Text(kind), Value::Text(name), _, Value::Integer(root), Value::Text(sql)] = row[..] else {
            return Ok(());
        };
        if text(kind, encoding) != "table" || names.len() == TABLES_MAX {
            return Ok(());
        }
        let name = text(name, encoding);
        let places = places(&text(sql, encoding));
        if let (Some(places), Ok(root)) = (places, u32::try_from(root)) {
            tables.push(Table { name: name.clone(), root, places });
        }
        names.push(name);
        Ok(())
    })?;
    let is_usual = |table: &&Table| table.name.eq_ignore_ascii_case(TABLE);
    let table = match &tables[..] {
        [only] => Some(only),
        several => several.iter().find(is_usual),
    };
    let Some(table) = table else {
        if pages.is_cut {
            return Err(to.truncated(Place::Byte(bytes.len() as u64), "the list of tables"));
        }
        let what = match tables.len() {
            0 if names.is_empty() => "a database without a table".to_owned(),
            0 => format!("a database of {}", names.join(", ")),
            _ => "a database with several logs".to_owned(),
        };
        let help = "python-can's has a table `messages` with ts, arbitration_id, extended, remote, error, dlc and data";
        return Err(to.unsupported(Place::Byte(0), what, help));
    };
    // Its writer may still have been at work.
    if bytes[18] == 2 || bytes[19] == 2 {
        to.miss("the database has a write-ahead log: frames that are still in the file FILE-wal are not read");
    }
    pages.rows(table.root, to, &mut |to, place, row| frame(row, &table.places, place, to))?;
    if pages.is_cut { Err(to.truncated(Place::Byte(bytes.len() as u64), "the database")) } else { Ok(()) }
}

/// Where the columns of a log are in a table that is made so.
fn places(sql: &str) -> Option<[usize; 7]> {
    let columns = columns(sql).filter(|columns| columns.len() <= COLUMNS_MAX)?;
    let mut places = [0; 7];
    for (place, wanted) in places.iter_mut().zip(COLUMNS) {
        *place = columns.iter().position(|column| column == wanted)?;
    }
    Some(places)
}

fn frame(row: &[u8], places: &[usize; 7], place: Place, to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, expected, found: Value<'_>| Err(to.malformed(place, expected, shown(found), HELP));
    let last = places.iter().max().map_or(0, |last| last + 1);
    let Some(row) = values(row, last) else {
        return Err(to.malformed(place, "a row", "one whose values do not fit into it", HELP));
    };
    let [time, id, extended, remote, error, len, data] = places.map(|at| row.get(at).copied().unwrap_or(Value::Null));
    let Some(at_ns) = time_ns(time) else { return wrong(to, "a time in seconds", time) };
    let [extended, remote, error] = [extended, remote, error].map(|flag| match flag {
        Value::Integer(flag @ 0..=1) => Ok(flag == 1),
        other => Err(other),
    });
    let (extended, remote, error) = match (extended, remote, error) {
        (Ok(extended), Ok(remote), Ok(error)) => (extended, remote, error),
        (Err(other), ..) | (_, Err(other), _) | (.., Err(other)) => return wrong(to, "a flag of 0 or 1", other),
    };
    let channel = to.channel("can", place)?;
    if error {
        return to.push_error(place, RecordedError { at_ns, channel, class: 0, details: [0; 8] });
    }
    let Some(id) = unsigned(id).and_then(|raw| can_id(raw, extended)) else {
        return wrong(to, if extended { "an identifier of 29 bits" } else { "an identifier of 11 bits" }, id);
    };
    let Some(count) = unsigned(len).filter(|count| *count <= 64) else { return wrong(to, "a length up to 64", len) };
    if remote {
        let frame = to.remote_frame(place, id, count)?;
        return to.push(place, at_ns, channel, frame);
    }
    let bytes = match data {
        Value::Blob(bytes) => bytes,
        Value::Null => &[],
        other => return wrong(to, "data as a blob", other),
    };
    if bytes.len() != count as usize {
        return wrong(to, "as many bytes of data as the length says", data);
    }
    let kind = if count > 8 { FrameKind::Fd { brs: false, esi: false } } else { FrameKind::Classical };
    if kind.is_fd() {
        to.miss("the format does not tell FD frames: longer ones are taken as FD without bit rate switch");
    }
    let frame = to.data_frame(place, id, kind, bytes)?;
    to.push(place, at_ns, channel, frame)
}

/// Seconds as nanoseconds. Of a time since 1970, whole microseconds: a number of 64 bits holds no more.
fn time_ns(time: Value<'_>) -> Option<u64> {
    match time {
        Value::Integer(seconds) => u64::try_from(seconds).ok()?.checked_mul(1_000_000_000),
        Value::Real(seconds) if (0.0..COARSE_FROM_S).contains(&seconds) => Some((seconds * 1e9).round() as u64),
        Value::Real(seconds) if (0.0..1.8e10).contains(&seconds) => Some((seconds * 1e6).round() as u64 * 1_000),
        _ => None,
    }
}

fn unsigned(value: Value<'_>) -> Option<u32> {
    match value {
        Value::Integer(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned(),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
