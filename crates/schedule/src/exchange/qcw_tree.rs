//! Instance data of YANG modules as a tree, from JSON (RFC 7951) or XML (RFC 7950 section 9), without the modules.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use super::{Refusal, text};

/// Elements within elements, at most.
const DEPTH_MAX: usize = 64;

/// A node of the data: its name without its module, what is in it, and its line if that is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tree {
    pub(super) name: String,
    pub(super) line: Option<usize>,
    pub(super) text: String,
    pub(super) children: Vec<Tree>,
}

impl Tree {
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// From XML if the first character is `<`, else from JSON.
    pub(super) fn read(source: &str, bytes: &[u8]) -> Result<Self, Refusal> {
        let text = text(source, bytes)?.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('<') { from_xml(source, text) } else { from_json(source, text) }
    }
}

fn from_json(source: &str, text: &str) -> Result<Tree, Refusal> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let message = format!("this is no JSON: {error}");
        Refusal::new(source, Some(error.line()), message, "write instance data as RFC 7951 has it, or as XML")
    })?;
    let mut root = Tree::default();
    add_json(&mut root, "", &value);
    // The one object without a name.
    Ok(root.children.pop().unwrap_or_default())
}

/// serde_json refuses more than 128 levels by itself.
fn add_json(parent: &mut Tree, name: &str, value: &Value) {
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    let mut tree = Tree { name: name.into(), ..Tree::default() };
    match value {
        Value::Array(items) => return items.iter().for_each(|item| add_json(parent, name, item)),
        Value::Object(members) => members.iter().for_each(|(name, member)| add_json(&mut tree, name, member)),
        Value::String(text) => tree.text.clone_from(text),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => tree.text = value.to_string(),
    }
    parent.children.push(tree);
}

fn from_xml(source: &str, text: &str) -> Result<Tree, Refusal> {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Tree::default()];
    loop {
        let at = reader.buffer_position() as usize;
        let line = text.get(..at).map(|before| before.matches('\n').count() + 1);
        let refuse =
            |message: String| Refusal::new(source, line, message, "write instance data as RFC 7950 has it, or as JSON");
        let event = reader.read_event().map_err(|error| refuse(format!("this is no XML: {error}")))?;
        let start = |name: &str| Tree { name: name.into(), line, ..Tree::default() };
        match event {
            Event::Start(element) if open.len() < DEPTH_MAX => open.push(start(element.local_name().as_ref())),
            Event::Start(_) => return Err(refuse(format!("elements lie more than {DEPTH_MAX} deep in one another"))),
            Event::Empty(element) => {
                let tree = start(element.local_name().as_ref());
                open.last_mut().unwrap_or(&mut Tree::default()).children.push(tree);
            }
            Event::End(_) => {
                let mut tree = open.pop().unwrap_or_default();
                tree.text = tree.text.trim().into();
                match open.last_mut() {
                    Some(parent) => parent.children.push(tree),
                    None => return Err(refuse("an element ends that did not begin".into())),
                }
            }
            Event::Text(part) => open.last_mut().unwrap_or(&mut Tree::default()).text += &part,
            Event::GeneralRef(reference) => {
                let plain = match &*reference {
                    "gt" => ">",
                    "lt" => "<",
                    "amp" => "&",
                    "quot" => "\"",
                    "apos" => "'",
                    name => return Err(refuse(format!("there is no entity `&{name};`"))),
                };
                open.last_mut().unwrap_or(&mut Tree::default()).text += plain;
            }
            Event::Eof => break,
            _ => {}
        }
    }
    match (open.len(), open.pop()) {
        (1, Some(root)) => Ok(root),
        _ => Err(Refusal::new(source, None, "the file ends within an element", "close all elements")),
    }
}
