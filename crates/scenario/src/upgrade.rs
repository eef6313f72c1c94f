//! A scenario of an earlier form of the format, rewritten in the current one: text to text, so that comments and order stay.

pub(crate) mod buses;
mod can;
mod entries;
mod ethernet;

use toml_edit::{DocumentMut, Item, Value};

use crate::load::toml_from_json;
use crate::problem::{Code, Problem, Problems};
use crate::source::{Source, at, utf8};
use crate::spec::VERSION;
use entries::{Entries, inner, renamed, wrapped};

/// A scenario in the current version of the format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upgraded {
    /// The scenario.
    pub text: String,
    /// The version that it was written in.
    pub from: u32,
    /// True if the text is another one than before.
    is_changed: bool,
}

impl Upgraded {
    /// True if the text is another one than before.
    pub const fn is_changed(&self) -> bool {
        self.is_changed
    }
}

/// Rewrites a scenario of an earlier version of the format in the current one. Comments and the order of everything stay; a
/// scenario in the current form comes back as it is. A text that begins with `{` is JSON, and comes back as JSON.
///
/// The Ethernet of version 1 becomes the segment `network`, its CAN bus the segment `bus`, and its group key the key `bus`.
/// A CAN segment of several buses, of either version, becomes a segment for each and a gateway node that passes every frame on.
/// What is wrong with the scenario stays wrong: whoever loads it next reports that.
///
/// # Errors
/// If the text is no TOML or JSON, or says no version that is known.
pub fn upgrade(source_name: &str, text: &str) -> Result<Upgraded, Problems> {
    let text = utf8(source_name, text.as_bytes())?;
    if !text.trim_start().starts_with('{') {
        return upgrade_toml(source_name, text);
    }
    let upgraded = upgrade_toml(source_name, toml_from_json(source_name, &text)?)?;
    if !upgraded.is_changed() {
        return Ok(Upgraded { text, ..upgraded });
    }
    let json: serde_json::Value = toml::from_str(&upgraded.text).map_err(|error| {
        let problem = Problem::new(Code::Syntax, error.message()).label(error.span().unwrap_or(0..0), "");
        Problems::one(source_name, &upgraded.text, problem)
    })?;
    Ok(Upgraded { text: format!("{json:#}\n"), ..upgraded })
}

fn upgrade_toml(source_name: &str, text: String) -> Result<Upgraded, Problems> {
    let source = Source::parse(source_name, text)?;
    let text = &source.text;
    let document = text.parse::<DocumentMut>();
    let mut document = document.map_err(|error| {
        let problem = Problem::new(Code::Syntax, error.message()).label(error.span().unwrap_or(0..0), "");
        Problems::one(source_name, text, problem)
    })?;
    let from = version(&source, &document)?;
    let is_of_version_1 = from != VERSION;
    let mut root = Entries::take(document.as_item_mut());
    if is_of_version_1 {
        of_version_1(&mut root);
    }
    if !buses::split(&mut root) && !is_of_version_1 {
        return Ok(Upgraded { text: source.text, from, is_changed: false });
    }
    root.put_back(document.as_item_mut());
    Ok(Upgraded { text: document.to_string(), from, is_changed: true })
}

/// The version that a document says it is of.
fn version(source: &Source, document: &DocumentMut) -> Result<u32, Problems> {
    let key = "schema_version";
    let fail = |code, message: &str, help: String| {
        let problem = Problem::new(code, message).label(source.span(at![key]), "").help(help);
        Problems::one(&source.name, &source.text, problem)
    };
    let Some(written) = document.get(key) else {
        return Err(fail(Code::MissingKey, "the scenario has no `schema_version`", format!("add `{key} = {VERSION}`")));
    };
    let number = written.as_integer().and_then(|number| u32::try_from(number).ok());
    number.filter(|version| (1..=VERSION).contains(version)).ok_or_else(|| {
        fail(Code::OutOfRange, "this is no version of the format", format!("write a number from 1 to {VERSION}"))
    })
}

/// The whole of a document of version 1.
fn of_version_1(root: &mut Entries) {
    if let Some(Item::Value(version)) = root.get_mut("schema_version") {
        let decor = version.decor().clone();
        *version = Value::from(i64::from(VERSION));
        *version.decor_mut() = decor;
    }
    let has = |network: &Item, kind: &str| network.as_table_like().is_some_and(|table| table.contains_key(kind));
    let Some(network) = root.get_mut("network") else { return };
    let (old, kind, name) = if has(network, "can_bus") {
        ("can_bus", "can", can::SEGMENT)
    } else {
        ("time_triggered_ethernet", "ethernet", ethernet::SEGMENT)
    };
    inner(network, |entries| entries.rename(old, kind));
    root.replace("network", |key, network| vec![(renamed(&key, "segments"), wrapped(network, &[name]))]);
    match kind {
        "can" => can::upgrade(root),
        _ => ethernet::upgrade(root),
    }
}
