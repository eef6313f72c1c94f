//! Logs as CSV with a header of their own.
//!
//! - SavvyCAN's native format, GVRET: `Time Stamp,ID,Extended,Dir,Bus,LEN,D1,…`, times in microseconds, identifiers and data in
//!   hexadecimal. Source: `framefileio.cpp` of collin80/SavvyCAN, and its example `GVRET_Log.csv`. Logs before 2021 have no `Dir`.
//! - python-can's: `timestamp,arbitration_id,extended,remote,error,dlc,data`, times in seconds, data in base64. Source:
//!   `can/io/csv.py` of python-can.

use chronoseal_wire::can::FrameKind;

use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::{can_id, hex_number, lines, number, seconds_ns};

const GVRET_HELP: &str = "a line is `microseconds,identifier,true|false,Rx|Tx,bus,length,bytes`";
const PYTHON_HELP: &str = "a line is `seconds,identifier,1|0,1|0,1|0,length,data in base64`";

/// Columns of python-can's format.
const PYTHON_COLUMNS: [&str; 7] = ["timestamp", "arbitration_id", "extended", "remote", "error", "dlc", "data"];

/// True for the header of SavvyCAN's format.
pub(crate) fn is_gvret_header(line: &str) -> bool {
    gvret_columns(line).is_some()
}

/// True for the header of python-can's format.
pub(crate) fn is_python_header(line: &str) -> bool {
    fields(line).eq(PYTHON_COLUMNS)
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.trim_start_matches('\u{feff}').split(',').map(str::trim)
}

/// Whether the header of SavvyCAN's format has a direction; `None` if it is none.
fn gvret_columns(line: &str) -> Option<bool> {
    let columns: Vec<&str> = fields(line).take(6).collect();
    match columns[..] {
        ["Time Stamp", "ID", "Extended", "Dir", "Bus", "LEN"] => Some(true),
        ["Time Stamp", "ID", "Extended", "Bus", "LEN", ..] => Some(false),
        _ => None,
    }
}

pub(crate) fn read_gvret(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let mut has_direction = None;
    for line in lines(bytes) {
        let Some(has_direction) = has_direction else {
            has_direction = gvret_columns(&line.text);
            continue;
        };
        let outcome = gvret_frame(&line.text, line.place, has_direction, to);
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        to.spare(outcome)?;
    }
    Ok(())
}

fn gvret_frame(text: &str, place: Place, has_direction: bool, to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, expected, found: &str| Err(to.malformed(place, expected, found, GVRET_HELP));
    let mut fields: Vec<&str> = fields(text).collect();
    if has_direction && fields.len() > 3 {
        fields.remove(3);
    }
    let [time, id, extended, bus, len, data @ ..] = fields.as_slice() else {
        return wrong(to, "five fields and data", text);
    };
    // Some exporters write seconds with a point.
    let at_ns = match time.contains('.') {
        true => seconds_ns(time),
        false => time.parse::<u64>().ok().and_then(|us| us.checked_mul(1_000)),
    };
    let Some(at_ns) = at_ns else { return wrong(to, "a time in microseconds", time) };
    let extended = match extended.to_ascii_lowercase().as_str() {
        "true" | "1" => true,
        "false" | "0" => false,
        _ => return wrong(to, "`true` or `false`", extended),
    };
    let Some(id) = hex_number(id).filter(|_| !id.is_empty()).and_then(|raw| can_id(raw, extended)) else {
        return wrong(to, if extended { "an identifier of 29 bits" } else { "an identifier of 11 bits" }, id);
    };
    let Some(len) = number(len, 10).filter(|len| *len <= 64) else { return wrong(to, "a length up to 64", len) };
    let data: Option<Vec<u8>> = data.iter().take(len as usize).map(|byte| byte_of(byte)).collect();
    let Some(data) = data.filter(|data| data.len() == len as usize) else {
        return wrong(to, "as many bytes as the length says", text);
    };
    to.miss("the format does not tell remote frames: they are taken as data frames");
    let channel = to.channel(bus, place)?;
    push(to, place, (at_ns, channel), id, &data)
}

fn byte_of(text: &str) -> Option<u8> {
    let is_byte = (1..=2).contains(&text.len());
    is_byte.then(|| hex_number(text)).flatten().and_then(|byte| u8::try_from(byte).ok())
}

pub(crate) fn read_python(bytes: &[u8], to: &mut Collector) -> Result<(), Problem> {
    for line in lines(bytes).skip_while(|line| !is_python_header(&line.text)).skip(1) {
        let outcome = python_frame(&line.text, line.place, to);
        if line.is_open && outcome.is_err() {
            return Err(to.truncated(line.place, "a frame"));
        }
        to.spare(outcome)?;
    }
    Ok(())
}

fn python_frame(text: &str, place: Place, to: &mut Collector) -> Result<(), Problem> {
    let wrong = |to: &Collector, expected, found: &str| Err(to.malformed(place, expected, found, PYTHON_HELP));
    let fields: Vec<&str> = fields(text).collect();
    let [time, id, extended, remote, error, len, data] = fields[..] else { return wrong(to, "seven fields", text) };
    let Some(at_ns) = seconds_ns(time) else { return wrong(to, "a time in seconds", time) };
    let [extended, remote, error] = [extended, remote, error].map(|flag| match flag {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    });
    let (Some(extended), Some(remote), Some(error)) = (extended, remote, error) else {
        return wrong(to, "`1` or `0` for extended, remote and error", text);
    };
    let channel = to.channel("can", place)?;
    if error {
        return to.push_error(place, RecordedError { at_ns, channel, class: 0, details: [0; 8] });
    }
    let digits = id.strip_prefix("0x").unwrap_or(id);
    let Some(id) = hex_number(digits).filter(|_| !digits.is_empty()).and_then(|raw| can_id(raw, extended)) else {
        return wrong(to, if extended { "an identifier of 29 bits" } else { "an identifier of 11 bits" }, id);
    };
    let Some(len) = number(len, 10) else { return wrong(to, "a length", len) };
    if remote {
        let frame = to.remote_frame(place, id, len)?;
        return to.push(place, at_ns, channel, frame);
    }
    let Some(data) = base64(data).filter(|data| data.len() == len as usize) else {
        return wrong(to, "as many bytes in base64 as the length says", data);
    };
    push(to, place, (at_ns, channel), id, &data)
}

/// Takes a data frame, as FD if it is longer than 8 bytes.
fn push(
    to: &mut Collector,
    place: Place,
    (at_ns, channel): (u64, u16),
    id: chronoseal_wire::can::CanId,
    data: &[u8],
) -> Result<(), Problem> {
    let kind = if data.len() > 8 { FrameKind::Fd { brs: false, esi: false } } else { FrameKind::Classical };
    if kind.is_fd() {
        to.miss("the format does not tell FD frames: longer ones are taken as FD without bit rate switch");
    }
    let frame = to.data_frame(place, id, kind, data)?;
    to.push(place, at_ns, channel, frame)
}

/// Base64 with padding (RFC 4648 section 4).
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let value = |digit: u8| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(digits.len() * 3 / 4), 0u32, 0u32);
    for digit in digits.bytes() {
        bits = bits << 6 | u32::from(value(digit)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // What is left are zeros.
    (bits == 0).then_some(bytes)
}
