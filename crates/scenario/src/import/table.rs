//! A table of streams.

use chronoseal_core::{Bytes, Duration};

use super::rows::{Layout, Row, line};
use super::{Found, PROTECTION, schedulable, write};
use crate::limits::{PERIOD_MIN, STREAMS_MAX};
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;
use crate::source::utf8;

const EXAMPLE: &str = "write `name,from,to,period,frame,class,protection` and, for each stream, \
                       `speed,wheel,brake;logger,10ms,60B,time-triggered,none`";

const LAYOUT: Layout = Layout {
    required: &["name", "from", "to", "period", "frame"],
    optional: &["class", "protection"],
    what: "streams",
    rows_max: STREAMS_MAX as usize,
    example: EXAMPLE,
};

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
    let mut found: Vec<Found> = Vec::new();
    for row in LAYOUT.rows(&text, &mut problems)? {
        found.extend(stream(&row, &mut problems));
    }
    if found.is_empty() && problems.count() == 0 {
        problems.push(
            Problem::new(Code::ImportCsv, "the table has no streams").label(0..text.len().min(1), "").help(EXAMPLE),
        );
    }
    let slotted = found.iter().filter(|stream| stream.priority.is_none());
    let cycle = schedulable(slotted.map(|stream| stream.period));
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

fn stream(row: &Row, problems: &mut Problems) -> Option<Found> {
    let field = |i: usize| row.fields[i].as_str();
    let before = problems.count();
    let mut wrong = |message: String, help: &str| {
        problems.push(Problem::new(Code::ImportCsv, message).label(row.span.clone(), "").help(help));
    };
    for (i, name) in LAYOUT.required.iter().enumerate() {
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
    })
}
