//! A document that is not shaped as a scenario, with everything that stands in the way of reading it replaced.
//!
//! What it means can then be checked too, so that all problems of a text come at once. Nothing is ever run from it.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use crate::problem::{Code, Problem};
use crate::quantity;
use crate::shape::{Shape, resolved, root, shape};
use crate::source::{Node, Source, Value};
use crate::spec::Spec;

/// A scenario that can be read, and what of it was not written.
pub(crate) struct Mended {
    pub(crate) spec: Spec,
    made_up: MadeUp,
}

#[derive(Default)]
struct MadeUp {
    /// Values that stand in for unusable ones.
    replaced: Vec<Range<usize>>,
    /// Tables that something missing was added to.
    completed: Vec<Range<usize>>,
    /// Something may have lost its name.
    names: bool,
    /// Something that decides what other values mean.
    choices: bool,
    /// A key was left out because nothing has it.
    left_out: bool,
}

/// The scenario that `source` would be without its problems of shape; `None` if little is left of it.
pub(crate) fn mend(source: &Source) -> Option<Mended> {
    let mut made_up = MadeUp::default();
    let json = made_up.value(&source.root, root());
    let mut spec: Spec = serde_json::from_value(json).ok()?;
    spec.source = source.clone();
    Some(Mended { spec, made_up })
}

impl Mended {
    /// Whether `problem` is one of the text as it was written. In doubt it is not: once the others are mended, the text is
    /// checked again.
    pub(crate) fn is_of_the_text(&self, problem: &Problem) -> bool {
        let MadeUp { replaced, completed, names, choices, left_out } = &self.made_up;
        let touches = |span: &Range<usize>| {
            completed.contains(span) || replaced.iter().any(|other| span.start < other.end && other.start < span.end)
        };
        if problem.labels.iter().any(|(span, _)| touches(span)) {
            return false;
        }
        match problem.code {
            // About one value, or two that are both pointed at.
            Code::BadName
            | Code::JitterOrder
            | Code::BadMarker
            | Code::TagLength
            | Code::FreshnessLength
            | Code::BadKey
            | Code::FrameTooShort
            | Code::NoReceivers
            | Code::SenderReceives
            | Code::IntegrationCycleNotDividing => true,
            // Best-effort traffic may have any period.
            Code::PeriodNotDividing => !choices,
            Code::ChooseOne => !left_out,
            Code::UnknownName | Code::DuplicateName => !names,
            // These weigh several values of which not all are pointed at.
            _ => false,
        }
    }
}

impl MadeUp {
    fn value(&mut self, node: &Node, schema: &Json) -> Json {
        let schema = resolved(schema);
        let usable = match (shape(schema), &node.value) {
            (Shape::Table(properties, required), Value::Table(entries)) => {
                let mut table = Map::new();
                for entry in entries {
                    match properties.get(&entry.key) {
                        Some(schema) => drop(table.insert(entry.key.clone(), self.value(&entry.node, schema))),
                        None => self.left_out = true,
                    }
                }
                for key in required.iter().filter(|key| !entries.iter().any(|entry| entry.key == **key)) {
                    self.names |= *key == "name";
                    self.completed.push(node.span.clone());
                    table.insert((*key).to_owned(), stand_in(&properties[*key]));
                }
                Some(Json::Object(table))
            }
            (Shape::List(item), Value::List(items)) if within(schema, "minItems", "maxItems", items.len() as i64) => {
                Some(items.iter().map(|node| self.value(node, item)).collect())
            }
            (Shape::Choice(variants), Value::Text(text)) => variants
                .iter()
                .any(|variant| variant.content.is_none() && variant.name == text)
                .then(|| Json::String(text.clone())),
            (Shape::Choice(variants), Value::Table(entries)) => match &entries[..] {
                [entry] => variants.iter().find(|variant| variant.name == entry.key).and_then(|variant| {
                    let content = self.value(&entry.node, variant.content?);
                    Some(Json::Object(Map::from_iter([(entry.key.clone(), content)])))
                }),
                _ => None,
            },
            (Shape::Quantity(name), Value::Text(text)) => {
                quantity::check(name, text).0.is_ok().then(|| Json::String(text.clone()))
            }
            (Shape::Text, Value::Text(text)) => Some(Json::String(text.clone())),
            (Shape::Integer, Value::Integer(Some(number))) => {
                within(schema, "minimum", "maximum", *number).then(|| Json::from(*number))
            }
            (Shape::Number, Value::Integer(Some(number))) => Some(Json::from(*number)),
            _ => None,
        };
        usable.unwrap_or_else(|| {
            self.replaced.push(node.span.clone());
            // A text may be a name, a table or list may hold some, and a count makes them.
            self.names |= !matches!(shape(schema), Shape::Quantity(_) | Shape::Choice(_));
            self.choices |= !matches!(shape(schema), Shape::Quantity(_));
            stand_in(schema)
        })
    }
}

fn within(schema: &Json, min: &str, max: &str, number: i64) -> bool {
    let limit = |key: &str| schema.get(key).and_then(Json::as_i64);
    limit(min).unwrap_or(0) <= number && number <= limit(max).unwrap_or(i64::MAX)
}

/// The smallest value of a schema.
fn stand_in(schema: &Json) -> Json {
    let schema = resolved(schema);
    match shape(schema) {
        Shape::Table(properties, required) => {
            required.iter().map(|key| ((*key).to_owned(), stand_in(&properties[*key]))).collect()
        }
        Shape::List(item) => {
            let len = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
            (0..len).map(|_| stand_in(item)).collect()
        }
        Shape::Choice(variants) => match variants.first() {
            Some(variant) => match variant.content {
                Some(content) => Json::Object(Map::from_iter([(variant.name.to_owned(), stand_in(content))])),
                None => Json::String(variant.name.to_owned()),
            },
            None => Json::Null,
        },
        Shape::Quantity(name) => Json::String(quantity::check(name, "").1.to_owned()),
        Shape::Text => Json::String("x".into()),
        Shape::Integer | Shape::Number => Json::from(schema.get("minimum").and_then(Json::as_i64).unwrap_or(1)),
        Shape::Boolean => Json::Bool(false),
    }
}
