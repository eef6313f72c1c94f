//! A table of streams.

use std::ops::Range;

use chronoseal_core::{Bytes, Duration};

use super::{Found, PROTECTION, schedulable, write};
use crate::limits::{PERIOD_MIN, STREAMS_MAX};
use crate::near::nearest;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;
use crate::source::utf8;

const REQUIRED: [&str; 5] = ["name", "from", "to", "period", "frame"];
const OPTIONAL: [&str; 2] = ["class", "protection"];
const EXAMPLE: &str = "write `name,from,to,period,frame,class,protection` and, for each stream, \
                       `speed,wheel,brake;logger,10ms,60B,time-triggered,none`";

/// A scenario from a CSV with the columns `name,from,to,period,frame` and, if wanted, `class,protection`, in any order.
///
/// `to` holds receivers with `;` between. `class` is `time-triggered` (if empty) or `best-effort`. `protection` is
/// `none` (if empty) or `sha256-16`, which the scenario declares. Lines that begin with `#` are skipped.
///
/// # Errors
/// Every line that cannot be read; or what is wrong with the scenario the lines describe.
pub fn from_csv(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    let text = utf8(source_name, bytes)?;
    let mut problems = Problems::new(source_name, &text);
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());

    let mut columns: Option<Vec<usize>> = None;
    let mut found: Vec<Found> = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                problems
                    .push(Problem::new(Code::ImportCsv, format!("the table cannot be read: {error}")).help(EXAMPLE));
                break;
            }
        };
        let span = line(&text, record.position().map_or(0, |position| position.byte() as usize));
        match &columns {
            None => columns = Some(header(&record, span, &mut problems)?),
            Some(_) if found.len() >= STREAMS_MAX as usize => {
                problems.push(
                    Problem::new(Code::TooMany, format!("the table has more than {STREAMS_MAX} streams"))
                        .label(span, "too many")
                        .help("split the table"),
                );
                break;
            }
            Some(columns) => found.extend(stream(&record, columns, &span, &mut problems)),
        }
    }
    if found.is_empty() && problems.count() == 0 {
        problems.push(
            Problem::new(Code::ImportCsv, "the table has no streams").label(0..text.len().min(1), "").help(EXAMPLE),
        );
    }
    let cycle = schedulable(&found);
    if cycle.is_none() && problems.count() == 0 {
        problems.push(
            Problem::new(Code::ImportCsv, "no cluster cycle up to 10s suits all time-triggered periods")
                .label(line(&text, 0), "")
                .help("write periods of which the longer are multiples of the shorter, or `best-effort`"),
        );
    }
    problems.or(())?;

    let mut nodes: Vec<String> = Vec::new();
    for name in found.iter().flat_map(|stream| std::iter::once(&stream.from).chain(&stream.to)) {
        if !nodes.contains(name) {
            nodes.push(name.clone());
        }
    }
    let about = [format!("{} streams of {} nodes, from {source_name}.", found.len(), nodes.len())];
    write(
        source_name,
        &about.map(|line| line.replace(char::is_control, " ")),
        &nodes,
        &found,
        cycle.unwrap_or_default(),
    )
}

/// Where each of [`REQUIRED`] and [`OPTIONAL`] stands; `usize::MAX` if it does not.
fn header(record: &csv::StringRecord, span: Range<usize>, problems: &mut Problems) -> Result<Vec<usize>, Problems> {
    let known: Vec<&str> = REQUIRED.iter().chain(&OPTIONAL).copied().collect();
    for column in record.iter().filter(|column| !known.contains(column)) {
        let near =
            nearest(column, known.iter().copied()).map_or(EXAMPLE.into(), |name| format!("did you mean `{name}`?"));
        problems.push(
            Problem::new(Code::ImportCsv, format!("there is no column `{}`", shortened(column)))
                .label(span.clone(), "header")
                .help(near),
        );
    }
    let position = |name: &&str| record.iter().position(|column| column == *name);
    for name in REQUIRED.iter().filter(|name| position(name).is_none()) {
        problems.push(
            Problem::new(Code::ImportCsv, format!("the column `{name}` is missing"))
                .label(span.clone(), "header")
                .help(EXAMPLE),
        );
    }
    problems.clone().or(known.iter().map(|name| position(name).unwrap_or(usize::MAX)).collect())
}

fn stream(
    record: &csv::StringRecord,
    columns: &[usize],
    span: &Range<usize>,
    problems: &mut Problems,
) -> Option<Found> {
    let field = |i: usize| record.get(columns[i]).unwrap_or("");
    let before = problems.count();
    let mut wrong = |message: String, help: &str| {
        problems.push(Problem::new(Code::ImportCsv, message).label(span.clone(), "").help(help));
    };
    for (i, name) in REQUIRED.iter().enumerate() {
        if field(i).is_empty() {
            wrong(format!("`{name}` is empty"), EXAMPLE);
        }
    }
    let period = field(3).parse::<Duration>();
    if let (Err(error), false) = (&period, field(3).is_empty()) {
        wrong(format!("the period `{}` cannot be read: {error}", shortened(field(3))), "write it as `10ms`");
    }
    if period.as_ref().is_ok_and(|period| *period < PERIOD_MIN) {
        wrong(format!("the period `{}` is too short", field(3)), "write at least 1us");
    }
    let frame = field(4).parse::<Bytes>();
    if let (Err(error), false) = (&frame, field(4).is_empty()) {
        wrong(format!("the frame `{}` cannot be read: {error}", shortened(field(4))), "write it as `60B`");
    }
    let priority = match field(5) {
        "" | "time-triggered" => None,
        "best-effort" => Some(0),
        other => {
            wrong(format!("there is no class `{}`", shortened(other)), "write `time-triggered` or `best-effort`");
            None
        }
    };
    let protection = match field(6) {
        "" => "none",
        known if known == "none" || known == PROTECTION => known,
        other => {
            wrong(
                format!("there is no protection `{}`", shortened(other)),
                "write `none` or `sha256-16`; declare others in the scenario afterwards",
            );
            "none"
        }
    };
    if problems.count() > before {
        return None;
    }
    Some(Found {
        name: field(0).into(),
        from: field(1).into(),
        to: field(2).split(';').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
        period: period.ok()?,
        frame_len: frame.ok()?.0,
        priority,
        protection: protection.into(),
        comment: None,
    })
}

/// The line of the record that begins at the byte `at`, or after blank lines and remarks there.
fn line(text: &str, at: usize) -> Range<usize> {
    let mut start = at.min(text.len());
    for line in text.get(start..).unwrap_or("").split_inclusive('\n') {
        if !line.trim().is_empty() && !line.starts_with('#') {
            return start..start + line.trim_end().len();
        }
        start += line.len();
    }
    0..0
}
