//! The shape of a document against the schema: every unknown key, wrong type and missing unit at once.
//!
//! Deserialising stops at its first error, so this goes first; after it, deserialising only fails on what a schema
//! cannot say.

use std::sync::OnceLock;

use chronoseal_core::QuantityError;
use serde_json::{Map, Value as Json};

use crate::limits::NAME_LEN_MAX;
use crate::near::{nearest, suggest};
use crate::problem::{Code, Problem, Problems};
use crate::source::{Node, Source, Value};
use crate::{quantity, spec::Spec};

/// The JSON Schema of a scenario.
pub fn schema() -> Json {
    root().clone()
}

pub(crate) fn root() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(Spec).to_value())
}

/// Reports everything in `source` that is not shaped as a scenario.
pub(crate) fn check(source: &Source, problems: &mut Problems) {
    Checker { text: &source.text, problems }.node(&source.root, root(), "the scenario");
}

struct Checker<'a> {
    text: &'a str,
    problems: &'a mut Problems,
}

/// What one schema allows.
pub(crate) enum Shape<'s> {
    Table(&'s Map<String, Json>, Vec<&'s str>),
    List(&'s Json),
    Choice(Vec<Variant<'s>>),
    Quantity(&'s str),
    Text,
    Integer,
    Number,
    Boolean,
}

/// One variant of an enum: a word, or a table of one key.
pub(crate) struct Variant<'s> {
    pub(crate) name: &'s str,
    pub(crate) content: Option<&'s Json>,
}

impl Checker<'_> {
    fn node(&mut self, node: &Node, schema: &Json, what: &str) {
        let schema = resolved(schema);
        let wrong = |expected: &str, example: &str| {
            Problem::new(Code::WrongType, format!("{what} is {}; {expected} belongs here", node.value.kind()))
                .label(node.span.clone(), format!("{expected} belongs here"))
                .help(format!("write {example}"))
        };
        match (shape(schema), &node.value) {
            (Shape::Table(properties, required), Value::Table(_)) => self.table(node, properties, &required, what),
            (Shape::Table(..), _) => self.problems.push(wrong("a table", "`{ key = value }` or a `[table]`")),
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
            (Shape::Text, Value::Text(_)) | (Shape::Boolean, Value::Boolean) => {}
            (Shape::Number, Value::Integer(Some(_)) | Value::Float) => {}
            (Shape::Text, _) => self.problems.push(wrong("a text", "it in quotes, such as `\"ecu1\"`")),
            (Shape::Boolean, _) => self.problems.push(wrong("true or false", "`true` or `false`, without quotes")),
            (Shape::Number, _) => self.problems.push(wrong("a number", "digits, without quotes")),
            (Shape::Integer, Value::Integer(number)) => self.integer(node, *number, schema, what),
            (Shape::Integer, _) => self.problems.push(wrong("a whole number", "digits, without quotes")),
        }
    }

    fn table(&mut self, node: &Node, properties: &Map<String, Json>, required: &[&str], what: &str) {
        let Value::Table(entries) = &node.value else { return };
        for entry in entries {
            if let Some(schema) = properties.get(&entry.key) {
                self.node(&entry.node, schema, &format!("`{}`", entry.key));
                continue;
            }
            if self.problems.is_full() {
                self.problems.push(Problem::new(Code::UnknownKey, ""));
                continue;
            }
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let top_level = root()["properties"].get(&entry.key).is_some();
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
        for key in required.iter().filter(|key| !entries.iter().any(|entry| entry.key == **key)) {
            let hint = properties.get(*key).map(example).unwrap_or_default();
            self.problems.push(
                Problem::new(Code::MissingKey, format!("{what} has no `{key}`"))
                    .label(node.span.clone(), format!("`{key}` is missing"))
                    .help(format!("add `{key} = {hint}`")),
            );
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
        let written = |variant: &Variant<'_>| match variant.content {
            None => format!("\"{}\"", variant.name),
            Some(content) => format!("{{ {} = {} }}", variant.name, example(content)),
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

/// Follows references, and leaves out the `null` of an optional key.
pub(crate) fn resolved(mut schema: &Json) -> &Json {
    loop {
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            let name = reference.trim_start_matches("#/$defs/");
            schema = &root()["$defs"][name];
        } else if let Some(options) = schema.get("anyOf").and_then(Json::as_array) {
            schema = options
                .iter()
                .find(|option| option.get("type").and_then(Json::as_str) != Some("null"))
                .expect("an option is something besides null");
        } else {
            return schema;
        }
    }
}

pub(crate) fn shape(schema: &Json) -> Shape<'_> {
    if let Some(options) = schema.get("oneOf").and_then(Json::as_array) {
        return Shape::Choice(options.iter().flat_map(variants).collect());
    }
    if schema.get("enum").is_some() {
        return Shape::Choice(variants(schema));
    }
    if let Some(name) = schema.get("x-quantity").and_then(Json::as_str) {
        return Shape::Quantity(name);
    }
    let type_name = match &schema["type"] {
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("string"),
        name => name.as_str().unwrap_or("string"),
    };
    match type_name {
        "object" => {
            static NONE: OnceLock<Map<String, Json>> = OnceLock::new();
            let properties = schema.get("properties").and_then(Json::as_object);
            let required = schema.get("required").and_then(Json::as_array);
            Shape::Table(
                properties.unwrap_or_else(|| NONE.get_or_init(Map::new)),
                required.into_iter().flatten().filter_map(Json::as_str).collect(),
            )
        }
        "array" => Shape::List(&schema["items"]),
        "integer" => Shape::Integer,
        "number" => Shape::Number,
        "boolean" => Shape::Boolean,
        _ => Shape::Text,
    }
}

fn variants(option: &Json) -> Vec<Variant<'_>> {
    if let Some(name) = option.get("const").and_then(Json::as_str) {
        return vec![Variant { name, content: None }];
    }
    if let Some(names) = option.get("enum").and_then(Json::as_array) {
        return names.iter().filter_map(Json::as_str).map(|name| Variant { name, content: None }).collect();
    }
    let properties = option.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, content)| Variant { name, content: Some(content) }).collect()
}

/// What a value of this schema looks like.
fn example(schema: &Json) -> String {
    let schema = resolved(schema);
    match shape(schema) {
        Shape::Quantity(name) => format!("\"{}\"", quantity::check(name, "").1),
        Shape::Choice(variants) => match variants.first() {
            Some(Variant { name, content: None }) => format!("\"{name}\""),
            Some(Variant { name, .. }) => format!("{{ {name} = … }}"),
            None => "…".into(),
        },
        Shape::Text => "\"…\"".into(),
        Shape::Integer | Shape::Number => schema.get("minimum").map_or("1".into(), Json::to_string),
        Shape::Boolean => "true".into(),
        Shape::List(_) => "[…]".into(),
        Shape::Table(_, required) => {
            let keys: Vec<String> = required.iter().map(|key| format!("{key} = …")).collect();
            if keys.is_empty() { "{}".into() } else { format!("{{ {} }}", keys.join(", ")) }
        }
    }
}

/// A key or value short enough to stand in a sentence.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return text.into();
    }
    text.chars().take(SHOWN_MAX).chain("…".chars()).collect()
}
