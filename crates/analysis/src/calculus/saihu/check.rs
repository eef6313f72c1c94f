//! What every reader of a JSON file needs: where a value stands, and what was expected there.

use chronoseal_schedule::exchange::{Refusal, text};
use serde_json::{Map, Value};

/// An object or list that is read, and its way from the beginning of the file, such as `flows[2].arrival_curve`.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) source: &'a str,
    pub(super) path: &'a str,
}

/// Reads JSON whose outermost value is an object.
pub(super) fn object(source: &str, bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    const HELP: &str =
        "write one object, as Saihu does; where no bound is known write null, since JSON has no infinity";
    let text = text(source, bytes)?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Refusal::new(source, Some(error.line()), format!("this is no JSON: {error}"), HELP))?;
    match value {
        Value::Object(members) => Ok(members),
        other => Err(Refusal::new(source, None, format!("the file holds {} and no object", kind(&other)), HELP)),
    }
}

/// What a value is, for a message.
pub(super) fn kind(value: &Value) -> String {
    const SHOWN_MAX: usize = 40;
    match value {
        Value::Null => "null".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) => {
            let shown: String = text.chars().take(SHOWN_MAX).collect();
            let rest = if shown.len() < text.len() { "…" } else { "" };
            format!("\"{shown}{rest}\"")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

impl At<'_> {
    /// The way to a member.
    pub(super) fn of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// A refusal of what stands at a place.
    pub(super) fn refuse(&self, place: &str, found: impl std::fmt::Display, help: impl Into<String>) -> Refusal {
        Refusal::new(self.source, None, format!("`{place}` {found}"), help)
    }

    /// A refusal of a value that is something else than expected.
    pub(super) fn wrong(&self, place: &str, value: &Value, expected: &str) -> Refusal {
        self.refuse(place, format!("is {}", kind(value)), format!("write {expected}"))
    }

    fn missing(&self, name: &str, expected: &str) -> Refusal {
        self.refuse(&self.of(name), "is missing", format!("write {expected}"))
    }

    /// Refuses members that mean nothing, so that a slip of the pen changes no bound.
    pub(super) fn only(&self, members: &Map<String, Value>, known: &[&str]) -> Result<(), Refusal> {
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(self.refuse(
                &self.of(name),
                "is no attribute of this format",
                format!("remove it, or write one of {}", known.join(", ")),
            )),
        }
    }

    pub(super) fn text<'v>(&self, members: &'v Map<String, Value>, name: &str) -> Result<&'v str, Refusal> {
        const EXPECTED: &str = "a name between quotes";
        match members.get(name) {
            None => Err(self.missing(name, EXPECTED)),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(self.wrong(&self.of(name), other, EXPECTED)),
        }
    }

    pub(super) fn list<'v>(
        &self,
        members: &'v Map<String, Value>,
        name: &str,
        expected: &str,
    ) -> Result<&'v [Value], Refusal> {
        match members.get(name) {
            None => Err(self.missing(name, expected)),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(&self.of(name), other, expected)),
        }
    }

    pub(super) fn object<'v>(
        &self,
        members: &'v Map<String, Value>,
        name: &str,
        expected: &str,
    ) -> Result<&'v Map<String, Value>, Refusal> {
        match members.get(name) {
            None => Err(self.missing(name, expected)),
            Some(value) => self.member(&self.of(name), value, expected),
        }
    }

    /// A value that has to be an object.
    pub(super) fn member<'v>(
        &self,
        place: &str,
        value: &'v Value,
        expected: &str,
    ) -> Result<&'v Map<String, Value>, Refusal> {
        value.as_object().ok_or_else(|| self.wrong(place, value, expected))
    }

    pub(super) fn flag(&self, members: &Map<String, Value>, name: &str) -> Result<bool, Refusal> {
        match members.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(&self.of(name), other, "true or false")),
        }
    }
}
