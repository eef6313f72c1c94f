//! The JSON Schema of a scenario: that of the types, with the tables of each kind of segment where they belong.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::{Map, Value as Json, json};

use crate::kinds::{KINDS, SegmentKind};
use crate::quantity;
use crate::spec::Spec;

/// The JSON Schema of a scenario.
pub fn schema() -> Json {
    schema_with(KINDS)
}

/// [`schema`] with other kinds of segments than [`KINDS`].
pub fn schema_with(kinds: &[&dyn SegmentKind]) -> Json {
    Schema::of(kinds).root.into_owned()
}

/// What one schema allows.
pub(crate) enum Shape<'s> {
    /// Keys that are known, those that have to be there, and by kind of segment what a table of a segment's name holds.
    Table {
        properties: &'s Map<String, Json>,
        required: Vec<&'s str>,
        of_segments: Option<&'s Map<String, Json>>,
    },
    /// A table of names that the scenario chooses.
    Names(&'s Json),
    /// One value for all, or a table of them.
    Either(&'s Json, &'s Json),
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

/// The JSON Schema of a scenario with the tables of some kinds of segments in it.
#[derive(Clone, Debug)]
pub(crate) struct Schema<'k> {
    root: Cow<'k, Json>,
}

/// In a schema: what a table of the name of a segment holds, by the kind of the segment.
const OF_SEGMENTS: &str = "x-tables-of-segments";

impl Schema<'static> {
    /// The schema with these kinds.
    pub(crate) fn of(kinds: &[&dyn SegmentKind]) -> Self {
        static BUILT_IN: OnceLock<Json> = OnceLock::new();
        if std::ptr::eq(kinds.as_ptr(), KINDS.as_ptr()) && kinds.len() == KINDS.len() {
            return Self { root: Cow::Borrowed(BUILT_IN.get_or_init(|| make(kinds))) };
        }
        Self { root: Cow::Owned(make(kinds)) }
    }
}

fn make(kinds: &[&dyn SegmentKind]) -> Json {
    let mut root = schemars::schema_for!(Spec).to_value();
    let mut segments = Vec::new();
    let (mut of_streams, mut of_threats) = (Map::new(), Map::new());
    for kind in kinds {
        let name = kind.name();
        let segment = include(&mut root, name, kind.segment_schema());
        segments.push(json!({
            "type": "object",
            "properties": { name: segment },
            "required": [name],
            "additionalProperties": false,
        }));
        of_streams.insert(name.to_owned(), include(&mut root, name, kind.stream_schema()));
        of_threats.insert(name.to_owned(), include(&mut root, name, kind.threat_schema()));
    }
    root["$defs"]["SegmentSpec"] = json!({ "description": "A segment, by its kind.", "oneOf": segments });
    root["properties"]["segments"]["additionalProperties"] = json!({ "$ref": "#/$defs/SegmentSpec" });
    let of_collects = of_streams.clone();
    let places = [("StreamSpec", of_streams), ("CollectSpec", of_collects), ("ThreatSpec", of_threats)];
    for (definition, tables) in places {
        let any: Vec<&Json> = tables.values().collect();
        root["$defs"][definition]["additionalProperties"] = json!({ "anyOf": any });
        root["$defs"][definition][OF_SEGMENTS] = Json::Object(tables);
    }
    root
}

/// Puts a schema and what it refers to among the definitions of `root`; gives back a reference to it. What another has
/// under the same name gets the kind's name before its own.
fn include(root: &mut Json, kind: &str, mut schema: Json) -> Json {
    let mut definitions = Map::new();
    if let Some(own) = schema.as_object_mut() {
        if let Some(Json::Object(inner)) = own.remove("$defs") {
            definitions = inner;
        }
        own.remove("$schema");
    }
    let title = schema.get("title").and_then(Json::as_str).unwrap_or("Table").to_owned();
    if let Some(own) = schema.as_object_mut() {
        own.remove("title");
    }
    definitions.insert(title.clone(), schema);
    let is_taken = |name: &String| root["$defs"].get(name).is_some_and(|other| *other != definitions[name]);
    let taken: Vec<String> = definitions.keys().filter(|name| is_taken(name)).cloned().collect();
    for (name, mut definition) in definitions {
        rename(&mut definition, kind, &taken);
        let name = if taken.contains(&name) { format!("{kind}-{name}") } else { name };
        root["$defs"][name] = definition;
    }
    let title = if taken.contains(&title) { format!("{kind}-{title}") } else { title };
    json!({ "$ref": format!("#/$defs/{title}") })
}

/// Puts the kind's name before those references that are `taken`.
fn rename(schema: &mut Json, kind: &str, taken: &[String]) {
    match schema {
        Json::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Json::String(reference) if key == "$ref" => {
                        let name = reference.trim_start_matches(DEFINITIONS);
                        if taken.iter().any(|other| other == name) {
                            *reference = format!("{DEFINITIONS}{kind}-{name}");
                        }
                    }
                    value => rename(value, kind, taken),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| rename(item, kind, taken)),
        _ => {}
    }
}

/// How references begin.
const DEFINITIONS: &str = "#/$defs/";

impl Schema<'_> {
    pub(crate) fn root(&self) -> &Json {
        &self.root
    }

    /// What has the key `name` where tables of segments stand, as a phrase, if anything has.
    pub(crate) fn has_key_beside_segments(&self, name: &str) -> Option<&'static str> {
        let places = [("StreamSpec", "streams"), ("CollectSpec", "`collect`"), ("ThreatSpec", "threats")];
        places
            .into_iter()
            .find_map(|(definition, what)| self.root["$defs"][definition]["properties"].get(name).map(|_| what))
    }

    /// What a stream's table for a segment of a kind looks like.
    pub(crate) fn stream_table_example(&self, kind: &str) -> String {
        self.example(&self.root["$defs"]["StreamSpec"][OF_SEGMENTS][kind])
    }

    /// Follows references, and leaves out the `null` of an optional key.
    pub(crate) fn resolved<'s>(&'s self, mut schema: &'s Json) -> &'s Json {
        loop {
            if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
                let name = reference.trim_start_matches(DEFINITIONS);
                schema = &self.root["$defs"][name];
            } else if let Some([only]) = options(schema).as_deref() {
                schema = only;
            } else {
                return schema;
            }
        }
    }

    pub(crate) fn shape<'s>(&'s self, schema: &'s Json) -> Shape<'s> {
        if let Some([one, many]) = options(schema).as_deref() {
            return Shape::Either(one, many);
        }
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
            Json::Array(names) => {
                names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("string")
            }
            name => name.as_str().unwrap_or("string"),
        };
        match type_name {
            "object" => {
                static NONE: OnceLock<Map<String, Json>> = OnceLock::new();
                let properties = schema.get("properties").and_then(Json::as_object);
                let of_segments = schema.get(OF_SEGMENTS).and_then(Json::as_object);
                if let (None, None, Some(content @ Json::Object(_))) =
                    (properties, of_segments, schema.get("additionalProperties"))
                {
                    return Shape::Names(content);
                }
                let required = schema.get("required").and_then(Json::as_array);
                Shape::Table {
                    properties: properties.unwrap_or_else(|| NONE.get_or_init(Map::new)),
                    required: required.into_iter().flatten().filter_map(Json::as_str).collect(),
                    of_segments,
                }
            }
            "array" => Shape::List(&schema["items"]),
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "boolean" => Shape::Boolean,
            _ => Shape::Text,
        }
    }

    /// What a value of this schema looks like.
    pub(crate) fn example(&self, schema: &Json) -> String {
        let schema = self.resolved(schema);
        match self.shape(schema) {
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
            Shape::Either(one, _) => self.example(one),
            Shape::Names(content) => format!("{{ NAME = {} }}", self.example(content)),
            Shape::Table { required, .. } => {
                let keys: Vec<String> = required.iter().map(|key| format!("{key} = …")).collect();
                if keys.is_empty() { "{}".into() } else { format!("{{ {} }}", keys.join(", ")) }
            }
        }
    }
}

/// The options of a schema but for `null`.
fn options(schema: &Json) -> Option<Vec<&Json>> {
    let options = schema.get("anyOf").and_then(Json::as_array)?;
    Some(options.iter().filter(|option| option.get("type").and_then(Json::as_str) != Some("null")).collect())
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
