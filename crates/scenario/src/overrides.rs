//! `--set path=value`: changes to the document before anything is read from it.

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::limits::DEPTH_MAX;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;

/// Applies `sets` to `text` and gives back the changed text; comments and layout stay.
///
/// A path is keys and positions with dots between: `segments.backbone.ethernet.rate`, `streams.0.count`; an
/// entry of a list may also be named: `streams.wheel.count`. A value is read as TOML, and as a text if it is none. One of several
/// lines is read as a table, as it stands in a file.
pub(crate) fn apply(name: &str, text: String, sets: &[(String, String)]) -> Result<String, Problems> {
    if sets.is_empty() {
        return Ok(text);
    }
    // A document that is no TOML is reported by whoever reads it next, with all its errors.
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text) };
    let mut problems = Problems::new(name, "");
    for (path, value) in sets {
        if let Err(problem) = read(path, value).and_then(|value| set(document.as_item_mut(), path, value)) {
            problems.push(problem);
        }
    }
    problems.or(document.to_string())
}

/// What a value says.
fn read(path: &str, text: &str) -> Result<Item, Problem> {
    if let Ok(value) = text.trim().parse::<Value>() {
        return Ok(Item::Value(value));
    }
    if !text.contains('\n') {
        return Ok(Item::Value(Value::from(text)));
    }
    match text.parse::<DocumentMut>() {
        Ok(document) => {
            let mut table = document.as_table().clone();
            stand_anywhere(&mut table);
            Ok(Item::Table(table))
        }
        Err(error) => Err(Problem::new(
            Code::Override,
            format!("--set {}: what stands in the file is no table: {error}", shortened(path)),
        )
        .help("write the keys of the table into the file, a line each, such as `rate = \"1Gbit/s\"`")),
    }
}

/// A table knows where it stood in its own file; in another one that means nothing.
fn stand_anywhere(table: &mut Table) {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => stand_anywhere(table),
            Item::ArrayOfTables(list) => list.iter_mut().for_each(stand_anywhere),
            Item::Value(_) | Item::None => {}
        }
    }
}

/// A place in the document that can be entered or changed.
enum Place<'a> {
    Item(&'a mut Item),
    Table(&'a mut Table),
    Value(&'a mut Value),
}

fn set(root: &mut Item, path: &str, item: Item) -> Result<(), Problem> {
    let fail = |reason: String| {
        Problem::new(Code::Override, format!("--set {}: {reason}", shortened(path))).help(
            "write `--set duration=5s` or `--set streams.wheel.count=20`: keys, positions or names with dots between",
        )
    };
    let steps: Vec<&str> = path.split('.').map(str::trim).collect();
    let (last, way) = steps.split_last().expect("splitting gives at least one part");
    if steps.len() > DEPTH_MAX || steps.iter().any(|step| step.is_empty()) {
        return Err(fail("this is no path".into()));
    }
    let mut place = Place::Item(root);
    for step in way {
        place = enter(place, step).ok_or_else(|| fail(format!("there is no `{step}`")))?;
    }
    let done = match place {
        Place::Item(Item::Table(table)) | Place::Table(table) => {
            put(table, last, item);
            true
        }
        Place::Item(Item::Value(Value::InlineTable(table))) | Place::Value(Value::InlineTable(table)) => {
            put(table, last, within_a_line(item));
            true
        }
        Place::Item(Item::Value(Value::Array(list))) | Place::Value(Value::Array(list)) => {
            match (last.parse::<usize>(), item.into_value()) {
                (Ok(index), Ok(value)) if index < list.len() => {
                    list.replace(index, value);
                    true
                }
                _ => false,
            }
        }
        _ => false,
    };
    if done { Ok(()) } else { Err(fail(format!("`{last}` cannot be set there"))) }
}

/// Sets a key and keeps the comment behind its old value.
fn put(table: &mut dyn TableLike, key: &str, mut item: Item) {
    if let (Some(old), Some(value)) = (table.get(key).and_then(Item::as_value), item.as_value_mut()) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(key, item);
}

/// A table as it can stand in another one that is written in braces.
fn within_a_line(mut item: Item) -> Item {
    item.make_value();
    item
}

/// The entry of `place` called `step`; a table that lacks it gets an empty table there.
fn enter<'a>(place: Place<'a>, step: &str) -> Option<Place<'a>> {
    match place {
        Place::Item(Item::ArrayOfTables(list)) => {
            let named = |table: &Table| table.get("name").and_then(Item::as_str) == Some(step);
            let index = step.parse().ok().or_else(|| list.iter().position(named))?;
            list.get_mut(index).map(Place::Table)
        }
        Place::Item(Item::Table(table)) | Place::Table(table) => {
            Some(Place::Item(table.entry(step).or_insert_with(|| Item::Table(Table::new()))))
        }
        Place::Item(Item::Value(value)) | Place::Value(value) => match value {
            Value::Array(list) => {
                let named = |value: &Value| {
                    value.as_inline_table().and_then(|table| table.get("name")).and_then(Value::as_str) == Some(step)
                };
                let index = step.parse().ok().or_else(|| list.iter().position(named))?;
                list.get_mut(index).map(Place::Value)
            }
            Value::InlineTable(table) => {
                let empty = || Value::InlineTable(toml_edit::InlineTable::new());
                Some(Place::Value(table.entry(step).or_insert_with(empty)))
            }
            _ => None,
        },
        Place::Item(Item::None) => None,
    }
}
