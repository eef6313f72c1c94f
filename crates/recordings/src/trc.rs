//! PEAK's TRC, versions 1.0 to 1.3, 2.0 and 2.1: `1     17535.400 DT 1  00000100 Tx -  8    00 00 00 00 00 00 00 00`
//!
//! Source: PEAK-System, "Documentation CAN TRC File Format", version 1.0 to 2.1.

use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind};

use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::{can_id, hex_number, lines, milliseconds_ns, number};

const HELP: &str = "the columns are those of the file's version; export the trace again with PEAK's converter";

/// A column of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    /// Not looked at: number, direction, reserved.
    Other,
    /// Offset from the start `[ms]`.
    Time,
    /// Kind, of versions 2; kind and direction in one, of versions 1.
    Kind,
    Bus,
    Id,
    /// As on the wire.
    Dlc,
    /// `[byte]`
    Len,
    Data,
}
use Column::{Bus, Data, Dlc as DlcColumn, Id, Kind, Len, Other, Time};

/// Columns of the versions that do not name them.
fn columns_of(version: &str) -> Option<&'static [Column]> {
    Some(match version {
        "1.0" => &[Other, Time, Id, Len, Data],
        "1.1" => &[Other, Time, Kind, Id, Len, Data],
        "1.2" => &[Other, Time, Bus, Kind, Id, Len, Data],
        "1.3" => &[Other, Time, Bus, Kind, Id, Other, Len, Data],
        _ => return None,
    })
}

/// Columns as `$COLUMNS` of versions 2 names them.
fn columns_named(names: &str) -> Vec<Column> {
    let column = |name| match name {
        "O" => Time,
        "T" => Kind,
        "B" => Bus,
        "I" => Id,
        "L" => DlcColumn,
        "l" => Len,
        "D" => Data,
        _ => Other,
    };
    names.split(',').map(|name| column(name.trim())).collect()
}

pub(crate) fn read(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    // Version 1.0 does not say which it is.
    let mut columns = columns_of("1.0").map(<[Column]>::to_vec).unwrap_or_default();
    for line in lines(bytes) {
        let outcome = match line.text.strip_prefix(';') {
            Some(remark) => header(remark.trim(), line.place, &mut columns, to),
            None => frame(&line.text, line.place, &columns, to),
        };
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        outcome?;
    }
    Ok(())
}

fn header(remark: &str, place: Place, columns: &mut Vec<Column>, to: &Collector) -> Result<(), Problem> {
    if let Some(version) = remark.strip_prefix("$FILEVERSION=") {
        match columns_of(version.trim()) {
            Some(known) => *columns = known.to_vec(),
            // Their columns are named in a line of their own.
            None if matches!(version.trim(), "2.0" | "2.1") => {}
            None => {
                let help = "versions 1.0 to 1.3, 2.0 and 2.1 are read";
                return Err(to.unsupported(place, format_args!("version {version}"), help));
            }
        }
    } else if let Some(names) = remark.strip_prefix("$COLUMNS=") {
        *columns = columns_named(names);
        if let Some(missing) = [Time, Kind, Id, Data].iter().find(|column| !columns.contains(column)) {
            let found = format_args!("{names} without {missing:?}");
            return Err(to.malformed(place, "columns O, T, I, D and L or l", found, HELP));
        }
    }
    Ok(())
}

fn frame(text: &str, place: Place, columns: &[Column], to: &mut Collector) -> Result<(), Problem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = |column: Column| columns.iter().position(|one| *one == column);
    let word = |column: Column| at(column).and_then(|at| words.get(at).copied());
    let need = |column: Column, what: &'static str, to: &Collector| {
        word(column).ok_or_else(|| to.malformed(place, what, text, HELP))
    };
    let time = need(Time, "a time in milliseconds", to)?;
    let at_ns = milliseconds_ns(time).ok_or_else(|| to.malformed(place, "a time in milliseconds", time, HELP))?;
    let kind = if at(Kind).is_some() { need(Kind, "a kind of message", to)? } else { "DT" };
    let frame_kind = match kind {
        "DT" | "Rx" | "Tx" => FrameKind::Classical,
        "RR" => FrameKind::Remote,
        "FD" => FrameKind::Fd { brs: false, esi: false },
        "FB" => FrameKind::Fd { brs: true, esi: false },
        "FE" => FrameKind::Fd { brs: false, esi: true },
        "BI" => FrameKind::Fd { brs: true, esi: true },
        "ER" | "Error" => {
            let channel = to.channel(word(Bus).unwrap_or("1"), place)?;
            return to.push_error(place, RecordedError { at_ns, channel, class: 0, details: [0; 8] });
        }
        "ST" | "EC" | "EV" | "Warng" => {
            to.leave_out("messages of the hardware", place);
            return Ok(());
        }
        other => return Err(to.malformed(place, "a kind of message", other, HELP)),
    };
    let id = need(Id, "an identifier", to)?;
    // Version 1.0 has the hardware's messages under this identifier.
    if id == "FFFFFFFF" {
        to.leave_out("messages of the hardware", place);
        return Ok(());
    }
    let id =
        identifier(id).ok_or_else(|| to.malformed(place, "an identifier of 4 or 8 hexadecimal digits", id, HELP))?;
    let data_at = at(Data).unwrap_or(columns.len());
    let data = words.get(data_at..).unwrap_or(&[]);
    // Versions 1 write remote frames as data frames with a word for data.
    let is_remote = frame_kind == FrameKind::Remote || data.first() == Some(&"RTR");
    let len = length(&words, columns, frame_kind).ok_or_else(|| to.malformed(place, "a length", text, HELP))?;
    let frame = if is_remote {
        to.remote_frame(place, id, u32::from(len.1.raw()))?
    } else {
        data_frame(id, frame_kind, len, data, place, to)?
    };
    let channel = to.channel(word(Bus).unwrap_or("1"), place)?;
    to.push(place, at_ns, channel, frame)
}

fn identifier(word: &str) -> Option<CanId> {
    can_id(hex_number(word)?, word.len() > 4)
}

/// The length of the data `[byte]` and its code.
fn length(words: &[&str], columns: &[Column], kind: FrameKind) -> Option<(usize, Dlc)> {
    let at = columns.iter().position(|column| matches!(column, Len | DlcColumn))?;
    let value = number(words.get(at)?, 10)? as usize;
    if columns[at] == Len {
        return Some((value, Dlc::of_len(value)?));
    }
    let dlc = Dlc::new(u8::try_from(value).ok()?)?;
    Some((if kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() }, dlc))
}

fn data_frame(
    id: CanId,
    kind: FrameKind,
    (len, dlc): (usize, Dlc),
    words: &[&str],
    place: Place,
    to: &Collector,
) -> Result<CanFrame, Problem> {
    let bytes: Option<Vec<u8>> =
        words.iter().take(len).map(|word| hex_number(word).and_then(|byte| u8::try_from(byte).ok())).collect();
    let Some(bytes) = bytes.filter(|bytes| bytes.len() == len) else {
        return Err(to.malformed(place, "as many bytes as the length says", words.join(" "), HELP));
    };
    if kind == FrameKind::Classical && dlc.raw() > 8 && len == 8 {
        return Ok(CanFrame::new(id, kind, dlc, &bytes));
    }
    to.data_frame(place, id, kind, &bytes)
}
