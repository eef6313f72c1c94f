//! Recordings as CSV: a signal's values (`time_us,name,value`) or raw CAN frames (`time_us,can_id,data`).
//!
//! Lines that begin with `#` say where it comes from. `# unit: heading rad` gives a signal's unit.

use chronoseal_core::Duration;
use chronoseal_plan::{Recording, Sample};

use crate::limits::{DURATION_MAX, SAMPLES_MAX};
use crate::near::suggest;
use crate::shape::shortened;

/// A recording of one sample starts again after this.
pub(crate) const LENGTH_MIN: Duration = Duration::from_ms(1);

/// A recording kept in the project.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl Builtin {
    /// `data/SOURCES.md` says where they come from.
    pub(crate) const ALL: &'static [Self] = &[
        Self { name: "vessel-nmea2000", bytes: include_bytes!("../../../data/can/vessel_nmea2000.csv") },
        Self { name: "car-frames", bytes: include_bytes!("../../../data/can/car_frames.csv") },
    ];
}

/// Why a recording cannot be used.
#[derive(Debug)]
pub(crate) struct RecordingError {
    pub(crate) message: String,
    pub(crate) help: String,
    /// True if the file is right and what was chosen from it is not there.
    pub(crate) about_selection: bool,
}

fn malformed(source: &str, line: u64, what: impl std::fmt::Display, columns: &str) -> RecordingError {
    RecordingError {
        message: format!("{source}, line {line}: {what}"),
        help: format!("a recording is CSV with the columns `{columns}`, times rising"),
        about_selection: false,
    }
}

/// The samples of the signal `wanted`.
pub(crate) fn signal(
    name: &str,
    source: &str,
    bytes: &[u8],
    wanted: &str,
    unit: Option<&str>,
) -> Result<Recording, RecordingError> {
    const COLUMNS: &str = "time_us,name,value";
    let mut samples = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let comments = rows(source, bytes, COLUMNS, |line, time, fields| {
        let value = fields[2].parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value
            .ok_or_else(|| malformed(source, line, format_args!("`{}` is no number", shortened(fields[2])), COLUMNS))?;
        if fields[1] == wanted {
            samples.push(Sample { at: time, value: Some(value), bytes: value.to_be_bytes().to_vec() });
        } else if names.len() < 1000 && !names.iter().any(|known| known == fields[1]) {
            names.push(fields[1].to_owned());
        }
        Ok(())
    })?;
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let from_comment = comments.iter().find_map(|comment| {
        comment.strip_prefix("unit:")?.trim().strip_prefix(wanted)?.strip_prefix(' ').map(|unit| unit.trim().to_owned())
    });
    let unit = unit.map(str::to_owned).or(from_comment).unwrap_or_default();
    finish(name, source, unit, &comments, samples).ok_or_else(|| RecordingError {
        message: format!("{source} has no signal `{}`", shortened(wanted)),
        help: suggest(wanted, &known, "signals"),
        about_selection: true,
    })
}

/// The frames with identifier `wanted`, or all.
pub(crate) fn frames(
    name: &str,
    source: &str,
    bytes: &[u8],
    wanted: Option<&str>,
) -> Result<Recording, RecordingError> {
    const COLUMNS: &str = "time_us,can_id,data";
    let wanted = wanted
        .map(|text| {
            can_id(text).ok_or_else(|| RecordingError {
                message: format!("`{}` is no CAN identifier", shortened(text)),
                help: "write it in hexadecimal, such as `\"0x21A\"`".into(),
                about_selection: true,
            })
        })
        .transpose()?;
    let mut samples = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let comments = rows(source, bytes, COLUMNS, |line, time, fields| {
        let bad = |text: &str, what: &str| {
            malformed(source, line, format_args!("`{}` is no {what}", shortened(text)), COLUMNS)
        };
        let id = can_id(fields[1]).ok_or_else(|| bad(fields[1], "CAN identifier"))?;
        let data = hex(fields[2]).ok_or_else(|| bad(fields[2], "data in hexadecimal, 64 bytes or fewer"))?;
        if wanted.is_none_or(|wanted| wanted == id) {
            let bytes = id.to_be_bytes().into_iter().chain(data).collect();
            samples.push(Sample { at: time, value: None, bytes });
        } else if ids.len() < 1000 {
            let id = format!("{id:#x}");
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(())
    })?;
    let known: Vec<&str> = ids.iter().map(String::as_str).collect();
    finish(name, source, String::new(), &comments, samples).ok_or_else(|| RecordingError {
        message: match wanted {
            Some(id) => format!("{source} has no frame {id:#x}"),
            None => format!("{source} has no frames"),
        },
        help: suggest("", &known, "identifiers"),
        about_selection: wanted.is_some(),
    })
}

/// Calls `each` with line, time from the first row and fields of every row; gives back the comments.
fn rows(
    source: &str,
    bytes: &[u8],
    columns: &str,
    mut each: impl FnMut(u64, Duration, &[&str]) -> Result<(), RecordingError>,
) -> Result<Vec<String>, RecordingError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        malformed(source, line, "no UTF-8 text", columns)
    })?;
    let mut comments = Vec::new();
    let mut header_seen = false;
    let (mut first, mut last, mut count) = (0u64, 0u64, 0usize);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            comments.push(comment.trim().to_owned());
            continue;
        }
        if text.is_empty() {
            continue;
        }
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        if !header_seen {
            if fields.join(",") != columns {
                return Err(malformed(source, line, "the header is another one", columns));
            }
            header_seen = true;
            continue;
        }
        if fields.len() != 3 {
            return Err(malformed(source, line, format_args!("{} fields instead of 3", fields.len()), columns));
        }
        let time = fields[0].parse::<u64>().ok();
        let time = time.ok_or_else(|| malformed(source, line, "the time is no whole number", columns))?;
        if count == 0 {
            first = time;
        } else if time < last {
            return Err(malformed(source, line, "the time runs backwards", columns));
        }
        last = time;
        count += 1;
        if count > SAMPLES_MAX {
            return Err(malformed(source, line, format_args!("more than {SAMPLES_MAX} samples"), columns));
        }
        let since_first = i64::try_from(time - first).ok().and_then(|us| Duration::from_us(1).checked_mul(us));
        let since_first = since_first.filter(|time| *time <= DURATION_MAX);
        let since_first = since_first.ok_or_else(|| malformed(source, line, "longer than a day", columns))?;
        each(line, since_first, &fields)?;
    }
    if header_seen { Ok(comments) } else { Err(malformed(source, 1, "there is no header", columns)) }
}

/// The recording from its first sample on, or `None` if there is none.
fn finish(name: &str, source: &str, unit: String, comments: &[String], mut samples: Vec<Sample>) -> Option<Recording> {
    let start = samples.first()?.at;
    for sample in &mut samples {
        sample.at -= start;
    }
    // The last sample holds as long as samples do on average.
    let span = samples.last()?.at;
    let gaps = samples.len() as i64 - 1;
    let length = if gaps > 0 { (span + span / gaps).max(LENGTH_MIN) } else { LENGTH_MIN };
    let origin: Vec<&str> = comments.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    let source = if origin.is_empty() { source.to_owned() } else { format!("{source}: {}", origin.join(" ")) };
    Some(Recording { name: name.to_owned(), source, unit, samples, length })
}

fn can_id(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u32::from_str_radix(digits, 16).ok().filter(|id| *id < 1 << 29 && !digits.starts_with('+'))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || text.len() > 128 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}
