//! The class of a stream: its own, the one that the segment gives it by name, or the segment's for all others.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value as Json;

use super::Memo;
use super::spec::{ClassSpec, ClassesSpec};
use crate::kinds::{Context, HopRequest, OnSegment, Place, Segment};
use crate::problem::Code;
use crate::shape::shortened;

/// The classes that a segment gives by name.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    entries: Vec<ClassesSpec>,
    /// The entry of each name, the first of several.
    by_name: BTreeMap<String, usize>,
}

impl Classes {
    pub(super) fn new(entries: Vec<ClassesSpec>) -> Self {
        let mut by_name = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            for name in &entry.streams {
                by_name.entry(name.clone()).or_insert(number);
            }
        }
        Self { entries, by_name }
    }
}

/// The class of a stream, and where it is written.
pub(super) fn of<'a>(
    request: &HopRequest<'a>,
    own: Option<ClassSpec>,
    memo: &Memo,
    context: &mut Context<'_>,
) -> (ClassSpec, Place<'a>) {
    let name = request.stream.spec.name.as_str();
    let by_name = memo.classes.by_name.get(name).copied();
    let named = |entry: usize| request.segment.table.at("classes").entry(entry);
    match (own, by_name) {
        (Some(class), None) => (class, request.table.at("class")),
        (Some(class), Some(entry)) => {
            let at = request.table.at("class");
            context.report_both(
                Code::DuplicateName,
                (&at, "one class"),
                (&named(entry).key("streams"), "and another"),
                format!("stream `{}` has two classes on `{}`", shortened(name), request.segment.name),
                "leave out one of the two",
            );
            (class, at)
        }
        (None, Some(entry)) => (memo.classes.entries[entry].class, named(entry).key("class")),
        (None, None) => (memo.class, request.segment.table.at("class")),
    }
}

/// Where the segment gives a stream a class by name, if it does.
pub(super) fn named<'a>(request: &HopRequest<'a>, memo: &Memo) -> Option<Place<'a>> {
    let entry = memo.classes.by_name.get(&request.stream.spec.name)?;
    Some(request.segment.table.at("classes").entry(*entry).key("streams"))
}

/// The class of a stream whose table for the segment is known to be one.
pub(super) fn written(name: &str, table: Option<&Json>, memo: &Memo) -> Option<ClassSpec> {
    let own = table.and_then(|table| ClassSpec::deserialize(table.get("class")?).ok());
    let by_name = memo.classes.by_name.get(name).and_then(|entry| memo.classes.entries.get(*entry));
    own.or(by_name.map(|entry| entry.class)).or(Some(memo.class))
}

/// Whether each name in `classes` is that of a stream on the segment, and is there once.
pub(super) fn check(segment: &Segment<'_>, streams: &[OnSegment<'_>], context: &mut Context<'_>) {
    let Some(memo) = segment.memo::<Memo>() else { return };
    let mut entries: Vec<usize> = streams.iter().map(|stream| stream.entry).collect();
    entries.dedup();
    let known: Vec<String> =
        entries.iter().filter_map(|entry| Some(context.spec().streams.get(*entry)?.name.clone())).collect();
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let is_known: BTreeSet<&str> = names.iter().copied().collect();
    let at = |entry: usize| segment.table.at("classes").entry(entry).key("streams");
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, entry) in memo.classes.entries.iter().enumerate() {
        for (place, name) in entry.streams.iter().enumerate() {
            if !is_known.contains(name.as_str()) {
                context.not_on(segment.name, name, &names, &at(number).entry(place));
                continue;
            }
            if let Some(first) = seen.insert(name, number) {
                context.report_both(
                    Code::DuplicateName,
                    (&at(number).entry(place), "here again"),
                    (&at(first), "has a class here"),
                    format!("`classes` names stream `{}` twice", shortened(name)),
                    "leave out one of the two",
                );
            }
        }
    }
}
