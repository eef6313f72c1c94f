//! What robot middleware took of messages, from a file.

use std::collections::BTreeSet;

use chronoseal_core::{Bytes, Duration};
use chronoseal_plan::{MeasuredLength, MeasuredMiddleware};
use serde::Deserialize;

use crate::kinds::{Context, SegmentRequest};
use crate::limits::{DELAY_MAX, LINK_MESSAGE_MAX, RECORDING_LEN_MAX};
use crate::problem::Code;
use crate::quantity::Quantity;
use crate::shape::shortened;

/// What a file may say of middleware and host `[byte]`: it stands in every report.
const SOURCE_LEN_MAX: usize = 300;
/// Bytes on the wire that one message may have taken `[byte]`.
const WIRE_MAX: u32 = 2 * LINK_MESSAGE_MAX;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSpec {
    configurations: Vec<ConfigurationSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationSpec {
    name: String,
    source: String,
    lengths: Vec<LengthSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LengthSpec {
    length: Quantity<Bytes>,
    wire: Quantity<Bytes>,
    /// The messages that came, for people.
    #[serde(rename = "messages")]
    _messages: u64,
    times: Vec<Quantity<Duration>>,
}

/// What a file says; what is wrong with it is a problem.
pub(super) fn resolve(request: &SegmentRequest<'_>, path: &str, context: &mut Context<'_>) -> Vec<MeasuredMiddleware> {
    match read(request, path) {
        Ok(measured) => measured,
        Err(message) => {
            context.report(
                Code::BadRecording,
                &request.table.at("measured"),
                format!("{}: {message}", shortened(path)),
                "cannot be used",
                "name a file that `chronoseal middleware profile` has written",
            );
            Vec::new()
        }
    }
}

fn read(request: &SegmentRequest<'_>, path: &str) -> Result<Vec<MeasuredMiddleware>, String> {
    let bytes = request.files.read(path).map_err(|why| why.to_string())?;
    if bytes.len() > RECORDING_LEN_MAX {
        return Err(format!("it has {} bytes; at most {RECORDING_LEN_MAX} are read", bytes.len()));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is no UTF-8 text".to_owned())?;
    let file: FileSpec = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    let twice = file.configurations.iter().find(|one| !names.insert(one.name.as_str()));
    match twice {
        Some(one) => Err(format!("it has `{}` twice", shortened(&one.name))),
        None => file.configurations.into_iter().map(configuration).collect(),
    }
}

fn configuration(spec: ConfigurationSpec) -> Result<MeasuredMiddleware, String> {
    let name = shortened(&spec.name);
    if spec.source.len() > SOURCE_LEN_MAX {
        return Err(format!("`{name}` has a `source` of {} bytes; write {SOURCE_LEN_MAX} at most", spec.source.len()));
    }
    let lengths: Vec<MeasuredLength> =
        spec.lengths.into_iter().map(length).collect::<Result<_, _>>().map_err(|what| format!("`{name}` {what}"))?;
    if lengths.is_empty() || !lengths.is_sorted_by(|one, next| one.length < next.length) {
        return Err(format!("`{name}` must have lengths, the shortest first and each once"));
    }
    Ok(MeasuredMiddleware { configuration: spec.name, source: spec.source, lengths })
}

fn length(spec: LengthSpec) -> Result<MeasuredLength, String> {
    let Quantity(length) = spec.length;
    let in_range = |bytes: Bytes, max: u32| u32::try_from(bytes.0).ok().filter(|len| (1..=max).contains(len));
    let (Some(len), Some(wire)) = (in_range(length, LINK_MESSAGE_MAX), in_range(spec.wire.0, WIRE_MAX)) else {
        return Err(format!(
            "has a message of {length} and {} on the wire; 1B to {LINK_MESSAGE_MAX}B are possible, and twice that on the wire",
            spec.wire.0
        ));
    };
    let times: Vec<Duration> = spec.times.into_iter().map(|Quantity(time)| time).collect();
    if times.len() != MeasuredLength::QUANTILES {
        return Err(format!(
            "has {} times of {length}; the least, each percentile and the longest are {}",
            times.len(),
            MeasuredLength::QUANTILES
        ));
    }
    if !times.is_sorted() || times.iter().any(|time| *time < Duration::ZERO || *time > DELAY_MAX) {
        return Err(format!("has times of {length} that do not rise from 0s to {DELAY_MAX} at most"));
    }
    Ok(MeasuredLength { length: len, wire, times })
}
