//! A document that is not shaped as a scenario, with everything that stands in the way of reading it replaced.
//!
//! What it means can then be checked too, so that all problems of a text come at once. Nothing is ever run from it.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use crate::kinds::SegmentKind;
use crate::problem::{Code, Problem};
use crate::quantity;
use crate::schema::{Schema, Shape};
use crate::source::{Entry, Node, Source, Value};
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
pub(crate) fn mend(source: &Source, kinds: &[&dyn SegmentKind]) -> Option<Mended> {
    let mut made_up = MadeUp::default();
    let schema = Schema::of(kinds);
    let mender = Mender { schema: &schema, segments: source.kinds_of_segments() };
    let json = mender.value(&source.root, schema.root(), &mut made_up);
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
            | Code::BadIntegration
            | Code::TagLength
            | Code::FreshnessLength
            | Code::BadKey
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

/// What the values of a document are mended by.
struct Mender<'s> {
    schema: &'s Schema<'s>,
    /// The segments of the document with the names of their kinds.
    segments: Vec<(&'s str, &'s str)>,
}

impl Mender<'_> {
    fn value(&self, node: &Node, schema: &Json, made_up: &mut MadeUp) -> Json {
        let schema = self.schema.resolved(schema);
        let usable = match (self.schema.shape(schema), &node.value) {
            (Shape::Table { properties, required, of_segments }, Value::Table(entries)) => {
                let mut table = Map::new();
                for entry in entries {
                    let of_segment = || {
                        let (_, kind) = self.segments.iter().find(|(name, _)| *name == entry.key)?;
                        of_segments?.get(*kind)
                    };
                    match properties.get(&entry.key).or_else(of_segment) {
                        Some(schema) => drop(table.insert(entry.key.clone(), self.value(&entry.node, schema, made_up))),
                        None => made_up.left_out = true,
                    }
                }
                for key in required.iter().filter(|key| !entries.iter().any(|entry| entry.key == **key)) {
                    made_up.names |= *key == "name" || *key == "segments";
                    made_up.completed.push(node.span.clone());
                    table.insert((*key).to_owned(), self.stand_in(&properties[*key]));
                }
                Some(Json::Object(table))
            }
            (Shape::Names(content), Value::Table(entries))
                if within(schema, "minProperties", "maxProperties", entries.len() as i64) =>
            {
                let value = |entry: &Entry, made_up: &mut MadeUp| self.value(&entry.node, content, made_up);
                Some(entries.iter().map(|entry| (entry.key.clone(), value(entry, made_up))).collect())
            }
            (Shape::Either(one, _), Value::Text(_)) => Some(self.value(node, one, made_up)),
            (Shape::Either(_, many), Value::Table(_)) => Some(self.value(node, many, made_up)),
            (Shape::List(item), Value::List(items)) if within(schema, "minItems", "maxItems", items.len() as i64) => {
                Some(items.iter().map(|node| self.value(node, item, made_up)).collect())
            }
            (Shape::Choice(variants), Value::Text(text)) => variants
                .iter()
                .any(|variant| variant.content.is_none() && variant.name == text)
                .then(|| Json::String(text.clone())),
            (Shape::Choice(variants), Value::Table(entries)) => match &entries[..] {
                [entry] => variants.iter().find(|variant| variant.name == entry.key).and_then(|variant| {
                    let content = self.value(&entry.node, variant.content?, made_up);
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
            (Shape::Boolean, Value::Boolean(value)) => Some(Json::Bool(*value)),
            _ => None,
        };
        usable.unwrap_or_else(|| {
            made_up.replaced.push(node.span.clone());
            // A text may be a name, a table or list may hold some, and a count makes them.
            let shape = self.schema.shape(schema);
            made_up.names |= !matches!(shape, Shape::Quantity(_) | Shape::Choice(_));
            made_up.choices |= !matches!(shape, Shape::Quantity(_));
            self.stand_in(schema)
        })
    }

    /// The smallest value of a schema.
    fn stand_in(&self, schema: &Json) -> Json {
        let schema = self.schema.resolved(schema);
        match self.schema.shape(schema) {
            Shape::Table { properties, required, .. } => {
                required.iter().map(|key| ((*key).to_owned(), self.stand_in(&properties[*key]))).collect()
            }
            Shape::Names(content) => {
                let count = schema.get("minProperties").and_then(Json::as_u64).unwrap_or(0);
                (0..count).map(|i| (format!("x{i}"), self.stand_in(content))).collect()
            }
            Shape::Either(one, _) => self.stand_in(one),
            Shape::List(item) => {
                let len = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
                (0..len).map(|_| self.stand_in(item)).collect()
            }
            Shape::Choice(variants) => match variants.first() {
                Some(variant) => match variant.content {
                    Some(content) => Json::Object(Map::from_iter([(variant.name.to_owned(), self.stand_in(content))])),
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
}

fn within(schema: &Json, min: &str, max: &str, number: i64) -> bool {
    let limit = |key: &str| schema.get(key).and_then(Json::as_i64);
    limit(min).unwrap_or(0) <= number && number <= limit(max).unwrap_or(i64::MAX)
}
