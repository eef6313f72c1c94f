//! The shape of a document against the schema: every unknown key, wrong type and missing unit at once.
//!
//! Deserialising stops at its first error, so this goes first; after it, deserialising only fails on what a schema
//! cannot say.

use chronoseal_core::QuantityError;
use serde_json::{Map, Value as Json};

use crate::kinds::SegmentKind;
use crate::limits::NAME_LEN_MAX;
use crate::near::{nearest, suggest};
use crate::problem::{Code, Problem, Problems};
use crate::quantity;
use crate::schema::{Schema, Shape, Variant};
use crate::source::{Entry, Node, Source, Value};

/// Reports everything in `source` that is not shaped as a scenario.
pub(crate) fn check(source: &Source, kinds: &[&dyn SegmentKind], problems: &mut Problems) {
    let schema = Schema::of(kinds);
    Checker { text: &source.text, schema: &schema, segments: source.kinds_of_segments(), problems }.node(
        &source.root,
        schema.root(),
        "the scenario",
    );
}

struct Checker<'a> {
    text: &'a str,
    schema: &'a Schema<'a>,
    /// The segments of the text with the names of their kinds.
    segments: Vec<(&'a str, &'a str)>,
    problems: &'a mut Problems,
}

impl Checker<'_> {
    fn node(&mut self, node: &Node, schema: &Json, what: &str) {
        let schema = self.schema.resolved(schema);
        let wrong = |expected: &str, example: &str| {
            Problem::new(Code::WrongType, format!("{what} is {}; {expected} belongs here", node.value.kind()))
                .label(node.span.clone(), format!("{expected} belongs here"))
                .help(format!("write {example}"))
        };
        match (self.schema.shape(schema), &node.value) {
            (Shape::Table { properties, required, of_segments }, Value::Table(_)) => {
                self.table(node, (properties, of_segments), &required, what);
            }
            (Shape::Names(content), Value::Table(entries)) => self.names(node, entries, schema, content, what),
            (Shape::Either(one, _), Value::Text(_)) => self.node(node, one, what),
            (Shape::Either(_, many), Value::Table(_)) => self.node(node, many, what),
            (Shape::Either(one, _), _) => self.node(node, one, what),
            (Shape::Table { .. } | Shape::Names(_), _) => {
                self.problems.push(wrong("a table", "`{ key = value }` or a `[table]`"))
            }
            (Shape::List(item_schema), Value::List(items)) => self.list(node, items, schema, item_schema, what),
            (Shape::List(_), Value::Text(text)) if text.len() <= NAME_LEN_MAX => {
                self.problems.push(wrong("a list", &format!("`[\"{text}\"]`")));
            }
            (Shape::List(_), _) => self.problems.push(wrong("a list", "`[…]`, or `[[…]]` for each entry")),
            (Shape::Choice(variants), value) => self.choice(node, value, &variants, what),
            (Shape::Quantity(name), Value::Text(text)) => self.quantity(node, text, name, what),
            (Shape::Quantity(name), Value::Integer(_) | Value::Float) => {
                let number = self.text.get(node.span.clone()).unwrap_or("1");
                let help = match quantity::check(name, number) {
                    (Err(QuantityError::MissingUnit(units)), _) => with_units(number, units),
                    (_, example) => format!("write it with its unit, in quotes, such as `\"{example}\"`"),
                };
                self.problems.push(
                    Problem::new(Code::MissingUnit, format!("{what} is a bare number; a {name} has a unit"))
                        .label(node.span.clone(), "no unit")
                        .help(help),
                );
            }
            (Shape::Quantity(name), _) => {
                let example = quantity::check(name, "").1;
                self.problems.push(wrong(&format!("a {name}"), &format!("it with its unit, such as `\"{example}\"`")));
            }
            (Shape::Text, Value::Text(_)) | (Shape::Boolean, Value::Boolean(_)) => {}
            // The one letter in every way to write a number that is none, and that is infinite.
            (Shape::Number, Value::Float)
                if self.text.get(node.span.clone()).is_some_and(|text| text.contains('n')) =>
            {
                self.problems.push(wrong("a finite number", "digits, without quotes"));
            }
            (Shape::Number, Value::Integer(Some(_)) | Value::Float) => {}
            (Shape::Text, _) => self.problems.push(wrong("a text", "it in quotes, such as `\"ecu1\"`")),
            (Shape::Boolean, _) => self.problems.push(wrong("true or false", "`true` or `false`, without quotes")),
            (Shape::Number, _) => self.problems.push(wrong("a number", "digits, without quotes")),
            (Shape::Integer, Value::Integer(number)) => self.integer(node, *number, schema, what),
            (Shape::Integer, _) => self.problems.push(wrong("a whole number", "digits, without quotes")),
        }
    }

    fn table(
        &mut self,
        node: &Node,
        (properties, of_segments): (&Map<String, Json>, Option<&Map<String, Json>>),
        required: &[&str],
        what: &str,
    ) {
        let Value::Table(entries) = &node.value else { return };
        for entry in entries {
            if let Some(schema) = properties.get(&entry.key) {
                self.node(&entry.node, schema, &format!("`{}`", entry.key));
            } else if let Some(by_kind) = of_segments
                && let Some((name, kind)) = self.segments.iter().copied().find(|(name, _)| *name == entry.key)
            {
                self.of_segment(entry, by_kind, name, kind);
            } else if of_segments.is_some() && self.segments.is_empty() && matches!(entry.node.value, Value::Table(_)) {
                // It may be that of a segment: where there are none, that is the problem.
            } else {
                self.unknown_key(entry, properties, of_segments.is_some(), what);
            }
        }
        for key in required.iter().filter(|key| !entries.iter().any(|entry| entry.key == **key)) {
            let hint = properties.get(*key).map(|schema| self.schema.example(schema)).unwrap_or_default();
            self.problems.push(
                Problem::new(Code::MissingKey, format!("{what} has no `{key}`"))
                    .label(node.span.clone(), format!("`{key}` is missing"))
                    .help(format!("add `{key} = {hint}`")),
            );
        }
    }

    /// A table of the name of a segment; nothing is known of it if the segment is of no known kind.
    fn of_segment(&mut self, entry: &Entry, by_kind: &Map<String, Json>, name: &str, kind: &str) {
        let Some(schema) = by_kind.get(kind) else { return };
        // A key that another kind has is no typing error.
        let mut others = Vec::new();
        if let (Value::Table(entries), Shape::Table { properties, .. }) =
            (&entry.node.value, self.schema.shape(self.schema.resolved(schema)))
        {
            for inner in entries.iter().filter(|inner| !properties.contains_key(&inner.key)) {
                let has_it = |(other, schema): &(&String, &Json)| {
                    other.as_str() != kind && self.schema.resolved(schema)["properties"].get(&inner.key).is_some()
                };
                if let Some((other, _)) = by_kind.iter().find(has_it) {
                    others.push((inner.key_span.clone(), inner.key.clone(), other.clone()));
                }
            }
        }
        if others.is_empty() {
            self.node(&entry.node, schema, &format!("`{}`", entry.key));
        }
        for (span, key, other) in others {
            self.problems.push(
                Problem::new(
                    Code::SegmentTable,
                    format!("`{key}` is for segments of kind `{other}`, and `{name}` is of kind `{kind}`"),
                )
                .label(span, "of another kind")
                .help("leave it out"),
            );
        }
    }

    fn unknown_key(&mut self, entry: &Entry, properties: &Map<String, Json>, has_segments: bool, what: &str) {
        if self.problems.is_full() {
            self.problems.push(Problem::new(Code::UnknownKey, ""));
            return;
        }
        let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
        if has_segments {
            names.extend(self.segments.iter().map(|(name, _)| *name));
        }
        let top_level = self.schema.root()["properties"].get(&entry.key).is_some();
        let help = if nearest(&entry.key, names.iter().copied()).is_none() && top_level {
            format!("`{}` belongs to the scenario as a whole: move it above the first `[table]`", entry.key)
        } else {
            suggest(&entry.key, &names, "keys here")
        };
        self.problems.push(
            Problem::new(Code::UnknownKey, format!("{what} has no key `{}`", shortened(&entry.key)))
                .label(entry.key_span.clone(), "unknown key")
                .help(help),
        );
    }

    fn names(&mut self, node: &Node, entries: &[Entry], schema: &Json, content: &Json, what: &str) {
        let limit = |key: &str| schema.get(key).and_then(Json::as_u64).map(|limit| limit as usize);
        if let Some(max) = limit("maxProperties").filter(|max| entries.len() > *max) {
            self.problems.push(
                Problem::new(
                    Code::TooMany,
                    format!("{what} has {} entries; at most {max} are possible", entries.len()),
                )
                .label(entries[max].key_span.clone(), "one of them")
                .help("split the scenario"),
            );
            return;
        }
        if let Some(min) = limit("minProperties").filter(|min| entries.len() < *min) {
            self.problems.push(
                Problem::new(Code::MissingKey, format!("{what} is empty; at least {min} is needed"))
                    .label(node.span.clone(), "empty")
                    .help("add an entry"),
            );
        }
        for entry in entries {
            self.node(&entry.node, content, &format!("`{}`", shortened(&entry.key)));
        }
    }

    fn list(&mut self, node: &Node, items: &[Node], schema: &Json, item_schema: &Json, what: &str) {
        let limit = |key: &str| schema.get(key).and_then(Json::as_u64).map(|limit| limit as usize);
        if let Some(max) = limit("maxItems").filter(|max| items.len() > *max) {
            self.problems.push(
                Problem::new(Code::TooMany, format!("{what} has {} entries; at most {max} are possible", items.len()))
                    .label(items[max].span.clone(), format!("entry {}", max + 1))
                    .help("write streams that are alike once, with `count`, or split the scenario"),
            );
            return;
        }
        if let Some(min) = limit("minItems").filter(|min| items.len() < *min) {
            self.problems.push(
                Problem::new(Code::MissingKey, format!("{what} is empty; at least {min} is needed"))
                    .label(node.span.clone(), "empty")
                    .help("add an entry"),
            );
        }
        for item in items {
            self.node(item, item_schema, &format!("an entry of {what}"));
        }
    }

    fn choice(&mut self, node: &Node, value: &Value, variants: &[Variant<'_>], what: &str) {
        let schema = self.schema;
        let written = |variant: &Variant<'_>| match variant.content {
            None => format!("\"{}\"", variant.name),
            Some(content) => format!("{{ {} = {} }}", variant.name, schema.example(content)),
        };
        let all = variants.iter().map(|variant| format!("`{}`", written(variant))).collect::<Vec<_>>().join(", ");
        let find = |name: &str| variants.iter().find(|variant| variant.name == name);
        let near = |name: &str| {
            nearest(name, variants.iter().map(|variant| variant.name)).and_then(find).map_or_else(
                || format!("write one of {all}"),
                |variant| format!("did you mean `{}`?", written(variant)),
            )
        };
        let unknown = |name: &str, span: std::ops::Range<usize>| {
            Problem::new(Code::UnknownValue, format!("{what} cannot be `{}`", shortened(name)))
                .label(span, "not possible here")
                .help(near(name))
        };
        match value {
            Value::Text(text) => match find(text) {
                Some(Variant { content: None, .. }) => {}
                Some(variant) => self.problems.push(
                    Problem::new(Code::WrongType, format!("{what} `{text}` needs its details"))
                        .label(node.span.clone(), "a table belongs here")
                        .help(format!("write `{}`", written(variant))),
                ),
                None => self.problems.push(unknown(text, node.span.clone())),
            },
            Value::Table(entries) if !entries.is_empty() => {
                for entry in entries {
                    match find(&entry.key) {
                        Some(Variant { content: Some(schema), name }) => {
                            self.node(&entry.node, schema, &format!("`{name}`"));
                        }
                        Some(variant) => self.problems.push(
                            Problem::new(Code::WrongType, format!("{what} `{}` has no details", entry.key))
                                .label(entry.key_span.clone(), "a word belongs here")
                                .help(format!("write `{}`", written(variant))),
                        ),
                        None => self.problems.push(unknown(&entry.key, entry.key_span.clone())),
                    }
                }
                if entries.len() > 1 {
                    let mut problem = Problem::new(Code::ChooseOne, format!("{what} is several things at once"));
                    for entry in entries {
                        problem = problem.label(entry.key_span.clone(), "");
                    }
                    self.problems.push(problem.help("keep one of them"));
                }
            }
            _ => self.problems.push(
                Problem::new(Code::WrongType, format!("{what} is {}, which says nothing here", value.kind()))
                    .label(node.span.clone(), "not possible here")
                    .help(format!("write one of {all}")),
            ),
        }
    }

    fn quantity(&mut self, node: &Node, text: &str, name: &str, what: &str) {
        let (Err(error), example) = quantity::check(name, text) else { return };
        let number = text.trim();
        let (code, label, help) = match error {
            QuantityError::MissingUnit(units) => (Code::MissingUnit, "no unit", with_units(number, units)),
            _ => (Code::BadQuantity, "cannot be read", format!("write a {name} such as `\"{example}\"`")),
        };
        self.problems.push(
            Problem::new(code, format!("{what} is no {name}: {error}")).label(node.span.clone(), label).help(help),
        );
    }

    fn integer(&mut self, node: &Node, number: Option<i64>, schema: &Json, what: &str) {
        let min = schema.get("minimum").and_then(Json::as_i64).unwrap_or(0);
        let max = schema.get("maximum").and_then(Json::as_i64).unwrap_or(i64::MAX);
        if number.is_some_and(|number| (min..=max).contains(&number)) {
            return;
        }
        let help = if min == max { format!("write {min}") } else { format!("write a number from {min} to {max}") };
        self.problems.push(
            Problem::new(Code::OutOfRange, format!("{what} is out of range"))
                .label(node.span.clone(), format!("{min} to {max}"))
                .help(help),
        );
    }
}

/// The number with each of the units it could mean.
fn with_units(number: &str, units: &[&str]) -> String {
    let choices: Vec<String> = units.iter().map(|unit| format!("`\"{number}{unit}\"`")).collect();
    format!("write one of {}", choices.join(", "))
}

/// A key or value short enough to stand in a sentence.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return text.into();
    }
    text.chars().take(SHOWN_MAX).chain("…".chars()).collect()
}
