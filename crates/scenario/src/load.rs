//! From bytes to a plan.

use std::cmp::Ordering;

use chronoseal_plan::Plan;
use toml_edit::DocumentMut;

use crate::kinds::{KINDS, SegmentKind};
use crate::mend::mend;
use crate::problem::{Code, Problem, Problems};
use crate::resolve::resolve_with;
use crate::source::{Node, Source, Step, Value, at, utf8};
use crate::spec::{Spec, VERSION};
use crate::{inputs, overrides, shape};

/// What a scenario refers to by path.
pub trait Files {
    /// The bytes of `path`, which is as written in the scenario.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;
}

/// Why a file that a scenario refers to cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There are no files where the scenario is read.
    #[error("files cannot be read here")]
    NoFiles,
    /// There are some, and this is none of them.
    #[error("it is not one of the files that belong to the scenario")]
    Unknown,
    /// The host does not give it out.
    #[error("{place}: {reason}")]
    Unreadable {
        /// Where it was looked for.
        place: String,
        /// What the host said.
        #[source]
        reason: std::io::Error,
    },
}

/// No files at all: for scenarios that refer to none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::NoFiles)
    }
}

/// Reads a scenario, applies `sets` (`path`, `value`), and checks everything.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(source_name: &str, bytes: &[u8], sets: &[(String, String)], files: &dyn Files) -> Result<Plan, Problems> {
    load_with(KINDS, source_name, bytes, sets, files)
}

/// [`load`] with other kinds of segments than [`KINDS`].
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_with(
    kinds: &[&dyn SegmentKind],
    source_name: &str,
    bytes: &[u8],
    sets: &[(String, String)],
    files: &dyn Files,
) -> Result<Plan, Problems> {
    let (source, mut problems) = shaped(kinds, source_name, bytes, sets)?;
    if problems.is_empty() {
        return resolve_with(kinds, &spec(source)?, files);
    }
    // What is sure about its meaning in spite of its shape is told along with it.
    if let Some(mended) = mend(&source, kinds).filter(|_| !problems.is_full())
        && let Err(others) = resolve_with(kinds, &mended.spec, files)
    {
        others.list().iter().filter(|problem| mended.is_of_the_text(problem)).for_each(|problem| {
            problems.push(problem.clone());
        });
    }
    problems.or(()).and_then(|()| resolve_with(kinds, &spec(source)?, files))
}

/// A schedule that does not fit, found after the scenario was read: points at the stream, or the task `node/task`, that
/// finds no place.
pub(crate) fn does_not_fit(spec: &Spec, name: &str, message: &str, help: &str) -> Problems {
    let stream = spec.streams.iter().position(|stream| {
        let number = name.strip_prefix(&stream.name).and_then(|rest| rest.strip_prefix('.'));
        stream.name == name || (stream.count.is_some() && number.is_some_and(|text| text.parse::<u32>().is_ok()))
    });
    let task = spec.nodes.iter().enumerate().find_map(|(i, node)| {
        let task = name.strip_prefix(&node.name)?.strip_prefix('/')?;
        Some((i, node.tasks.iter().position(|other| other.name == task)?))
    });
    let span = match (stream, task) {
        (Some(i), _) => spec.source.span(at!["streams", i, "name"]),
        (None, Some((i, k))) => spec.source.span(at!["nodes", i, "tasks", k, "name"]),
        (None, None) => 0..0,
    };
    let mut problem =
        Problem::new(Code::DoesNotFit, message).label(span, format!("`{name}` finds no place")).help(help);
    let kind = chronoseal_plan::ETHERNET;
    let mut scheduled = spec.segments_in_order().into_iter().filter(|(_, segment)| segment.kind() == kind);
    if let (Some((segment, _)), None) = (scheduled.next(), scheduled.next()) {
        let cycle = spec.source.span(at!["segments", segment, kind, "cluster_cycle"]);
        problem = problem.label(cycle, "in this cycle");
    }
    Problems::one(&spec.source.name, &spec.source.text, problem)
}

/// Reads a scenario: TOML, or JSON if it begins with `{`.
///
/// # Errors
/// Everything that is wrong with its syntax and shape. Problems of a JSON text point at the same scenario as TOML.
pub fn parse(source_name: &str, bytes: &[u8]) -> Result<Spec, Problems> {
    parse_with_overrides(source_name, bytes, &[])
}

/// [`parse`] after setting `path` to `value` for each of `sets`, in their order.
///
/// A path is keys, positions and names of list entries with dots between: `duration`, `streams.wheel.count`. A value
/// is read as TOML, and as a text if it is none: `2s` needs no quotes.
///
/// # Errors
/// As [`parse`]; they point at the text after the changes.
pub fn parse_with_overrides(source_name: &str, bytes: &[u8], sets: &[(String, String)]) -> Result<Spec, Problems> {
    parse_with(KINDS, source_name, bytes, sets)
}

/// [`parse_with_overrides`] with other kinds of segments than [`KINDS`].
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    kinds: &[&dyn SegmentKind],
    source_name: &str,
    bytes: &[u8],
    sets: &[(String, String)],
) -> Result<Spec, Problems> {
    let (source, problems) = shaped(kinds, source_name, bytes, sets)?;
    problems.or(())?;
    spec(source)
}

/// The text with the places of everything in it, and what about it is not shaped as a scenario.
fn shaped(
    kinds: &[&dyn SegmentKind],
    source_name: &str,
    bytes: &[u8],
    sets: &[(String, String)],
) -> Result<(Source, Problems), Problems> {
    let mut text = utf8(source_name, bytes)?;
    let mut name = source_name.to_owned();
    if text.trim_start().starts_with('{') {
        text = toml_from_json(source_name, &text)?;
        name.push_str(" (as TOML)");
    }
    of_this_version(source_name, &name, &text)?;
    if !sets.is_empty() {
        text = overrides::apply(source_name, text, sets)?;
        let list: Vec<String> = sets.iter().map(|(path, value)| format!("{path}={}", shown(value))).collect();
        name = format!("{name} with --set {}", list.join(" "));
    }
    let source = Source { inputs: inputs::of_text(bytes, sets), ..Source::parse(&name, text)? };
    let mut problems = Problems::new(&source.name, &source.text);
    shape::check(&source, kinds, &mut problems);
    Ok((source, problems))
}

/// A value as it is called in messages: one of several lines comes from a file.
fn shown(value: &str) -> &str {
    if value.contains('\n') { "@…" } else { value }
}

/// Refuses a scenario of another version, whose keys would all be problems.
fn of_this_version(file: &str, name: &str, text: &str) -> Result<(), Problems> {
    // What is no TOML is reported by whoever reads it next.
    let Ok(source) = Source::parse(name, text.to_owned()) else { return Ok(()) };
    let written = source.root.child(Step::Key("schema_version")).map(|entry| &entry.node);
    let Some(Node { value: Value::Integer(Some(version)), span }) = written else { return Ok(()) };
    let problem = match version.cmp(&i64::from(VERSION)) {
        _ if *version < 1 => return Ok(()),
        Ordering::Equal => {
            let Some(buses) = crate::upgrade::buses::written(&source) else { return Ok(()) };
            let message = "buses of one segment have become segments of their own, with a gateway between them";
            Problem::new(Code::OldVersion, message)
                .label(buses, "an earlier form")
                .help(format!("run `chronoseal scenario upgrade {file}`: it writes the scenario in the current form"))
        }
        Ordering::Less => {
            let message = format!("this scenario is of version {version} of the format, which is at version {VERSION}");
            Problem::new(Code::OldVersion, message)
                .label(span.clone(), "an earlier version")
                .help(format!("run `chronoseal scenario upgrade {file}`: it writes the scenario in version {VERSION}"))
        }
        Ordering::Greater => {
            let message =
                format!("this scenario is of version {version} of the format; the latest known here is {VERSION}");
            Problem::new(Code::OutOfRange, message)
                .label(span.clone(), "a later version")
                .help("use a later chronoseal, or write the scenario in this version")
        }
    };
    Err(Problems::one(name, text, problem))
}

/// A text that is shaped as a scenario.
///
/// Its types are read from JSON values here and in [`mend`]: a second deserialiser of them all would take the compiler long.
fn spec(source: Source) -> Result<Spec, Problems> {
    let json = toml::from_str::<serde_json::Value>(&source.text).map_err(|error| error.to_string());
    match json.and_then(|json| serde_json::from_value::<Spec>(json).map_err(|error| error.to_string())) {
        Ok(mut spec) => {
            spec.source = source;
            Ok(spec)
        }
        // The schema says less than the types: nothing known gets here, and nothing may slip through.
        Err(reason) => {
            let problem = Problem::new(Code::WrongType, reason).label(0..0, "").help("see the file format");
            Err(Problems::one(&source.name, &source.text, problem))
        }
    }
}

/// The same document in TOML, whose places can be pointed at.
pub(crate) fn toml_from_json(name: &str, text: &str) -> Result<String, Problems> {
    let fail = |error: &dyn std::fmt::Display, line: usize, column: usize, eof: bool| {
        let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let at = (line_start + column.saturating_sub(1)).min(text.len());
        let problem = if eof {
            Problem::new(Code::Truncated, format!("the file ends too early: {error}")).help("get the whole file")
        } else {
            Problem::new(Code::Syntax, format!("this is no JSON: {error}"))
                .help("a text that begins with `{` is read as JSON")
        };
        Problems::one(name, text, problem.label(at..at, "here"))
    };
    let value: toml_edit::Value = {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| fail(&error, error.line(), error.column(), error.is_eof()))?;
        json_value(&value).ok_or_else(|| fail(&"it has a null or a number that TOML cannot hold", 1, 1, false))?
    };
    let toml_edit::Value::InlineTable(table) = value else {
        return Err(fail(&"a scenario is an object", 1, 1, false));
    };
    let mut document = DocumentMut::new();
    for (key, value) in table {
        let item = match value {
            toml_edit::Value::InlineTable(table) => toml_edit::Item::Table(table.into_table()),
            toml_edit::Value::Array(list) if !list.is_empty() && list.iter().all(toml_edit::Value::is_inline_table) => {
                toml_edit::Item::Value(toml_edit::Value::Array(list))
                    .into_array_of_tables()
                    .map_or(toml_edit::Item::None, toml_edit::Item::ArrayOfTables)
            }
            value => toml_edit::Item::Value(value),
        };
        document.insert(&key, item);
    }
    Ok(document.to_string())
}

fn json_value(value: &serde_json::Value) -> Option<toml_edit::Value> {
    Some(match value {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(flag) => (*flag).into(),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None if number.is_f64() => number.as_f64()?.into(),
            None => return None,
        },
        serde_json::Value::String(text) => text.as_str().into(),
        serde_json::Value::Array(items) => {
            toml_edit::Value::Array(items.iter().map(json_value).collect::<Option<toml_edit::Array>>()?)
        }
        serde_json::Value::Object(entries) => {
            let mut table = toml_edit::InlineTable::new();
            for (key, value) in entries {
                table.insert(key, json_value(value)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}
