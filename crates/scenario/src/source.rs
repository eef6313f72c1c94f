//! A scenario's text and where everything in it stands.

use std::ops::Range;

use chronoseal_plan::Inputs;
use toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use crate::limits::{DEPTH_MAX, FILE_LEN_MAX};
use crate::problem::{Code, Problem, Problems};

/// One step from a table or list to something in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// To the value of a key.
    Key(&'a str),
    /// To an entry of a list, from 0.
    Index(usize),
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}
impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// The way from the document to something in it: `at!["streams", 2, "period"]`.
macro_rules! at {
    ($($step:expr),* $(,)?) => { &[$($crate::source::Step::from($step)),*][..] };
}
pub(crate) use at;

/// A value and where it stands `[byte]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Table(Vec<Entry>),
    List(Vec<Node>),
    Text(String),
    /// As written; its value if it fits.
    Integer(Option<i64>),
    Float,
    Boolean(bool),
    Datetime,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

impl Default for Value {
    fn default() -> Self {
        Self::Table(Vec::new())
    }
}

impl Value {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::List(_) => "a list",
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float => "a number with decimals",
            Self::Boolean(_) => "true or false",
            Self::Datetime => "a date or time",
        }
    }
}

impl Node {
    pub(crate) fn child(&self, step: Step<'_>) -> Option<&Entry> {
        match (&self.value, step) {
            (Value::Table(entries), Step::Key(key)) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }
}

/// A text with its name and the places of everything in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) root: Node,
    /// What the text was made from.
    pub(crate) inputs: Inputs,
}

impl Source {
    /// Reads the structure of `text`, which is TOML.
    pub(crate) fn parse(name: &str, text: String) -> Result<Self, Problems> {
        let mut problems = Problems::new(name, &text);
        let (table, errors) = DeTable::parse_recoverable(&text);
        let told = errors.iter().map(|error| syntax_problem(&text, error));
        match (errors.first().and_then(|first| never_closed(&text, first)), errors.len()) {
            // Everything behind it is read as a part of it, and none of that makes sense.
            (Some(problem), 2..) => problems.push(problem),
            _ => told.for_each(|problem| problems.push(problem)),
        }
        let root = Node { span: 0..0, value: Value::Table(entries(table.into_inner(), 0, &mut problems)) };
        problems.or(())?;
        Ok(Self { name: name.into(), text, root, inputs: Inputs::default() })
    }

    /// The segments with the names of their kinds, as far as they are written so.
    pub(crate) fn kinds_of_segments(&self) -> Vec<(&str, &str)> {
        let Some(Entry { node: Node { value: Value::Table(segments), .. }, .. }) =
            self.root.child(Step::Key("segments"))
        else {
            return Vec::new();
        };
        segments
            .iter()
            .map(|segment| match &segment.node.value {
                Value::Table(kinds) => (segment.key.as_str(), kinds.first().map_or("", |kind| kind.key.as_str())),
                _ => (segment.key.as_str(), ""),
            })
            .collect()
    }

    /// Where the key at the end of `keys` begins in the text; behind everything if it is not written.
    pub(crate) fn key_start(&self, keys: &[&str]) -> usize {
        let mut node = &self.root;
        let mut start = usize::MAX;
        for key in keys {
            let Some(entry) = node.child(Step::Key(key)) else { return usize::MAX };
            (node, start) = (&entry.node, entry.key_span.start);
        }
        start
    }

    /// Where the value at `path` stands; the nearest thing around it if it is not written.
    pub(crate) fn span(&self, path: &[Step<'_>]) -> Range<usize> {
        let mut node = &self.root;
        let mut span = node.span.clone();
        for step in path {
            let next = match (&node.value, *step) {
                (Value::List(items), Step::Index(index)) => items.get(index),
                (_, step) => node.child(step).map(|entry| &entry.node),
            };
            let Some(next) = next else { break };
            node = next;
            span = node.span.clone();
        }
        span
    }
}

/// The bytes as text, or where they stop being text.
pub(crate) fn utf8(name: &str, bytes: &[u8]) -> Result<String, Problems> {
    if bytes.len() > FILE_LEN_MAX {
        let problem = Problem::new(
            Code::FileTooLong,
            format!("the file is too long: a scenario has at most {FILE_LEN_MAX} bytes"),
        )
        .help("write streams that are alike once, with `count`");
        return Err(Problems::one(name, "", problem));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let at = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes).into_owned();
            // The replacement character takes the place of the first bad byte.
            let span = at..(at + char::REPLACEMENT_CHARACTER.len_utf8());
            let (code, message, help) = match error.error_len() {
                None => (
                    Code::Truncated,
                    format!("the file ends in the middle of a character, at byte {at}"),
                    "the file was cut off; get it whole",
                ),
                Some(_) => (
                    Code::NotUtf8,
                    format!("byte {at} (0x{:02x}) is no UTF-8 text", bytes[at]),
                    "save the file as UTF-8; a scenario is plain text",
                ),
            };
            Err(Problems::one(name, &text, Problem::new(code, message).label(span, "here").help(help)))
        }
    }
}

fn syntax_problem(text: &str, error: &toml::de::Error) -> Problem {
    let end = text.trim_end().len();
    let span = error.span().unwrap_or(end..end);
    let message = error.message().to_owned();
    let unclosed = message.starts_with("unclosed");
    let rest_is_last = text.get(span.start.min(text.len())..).is_some_and(|rest| !rest.trim_end().contains('\n'));
    if span.start >= end
        || (unclosed && span.end >= end)
        || (rest_is_last && message.starts_with("invalid") && open_quote(text, &span))
    {
        let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
        let message = if text[..end].ends_with('=') { "a value is missing" } else { message.as_str() };
        return Problem::new(Code::Truncated, format!("the file ends too early: {message}"))
            .label(end - last..end, "something is missing here")
            .help("close what was opened, or get the whole file");
    }
    let problem = Problem::new(Code::Syntax, format!("this is no TOML: {message}")).label(span, "");
    match message.as_str() {
        "duplicate key" => problem.help("write each key once; give several tables of one kind with `[[…]]`"),
        _ => problem.help(
            "quote texts and quantities (`\"10ms\"`), one `key = value` a line, `[[…]]` for each entry of a list",
        ),
    }
}

/// The bracket in front of `error` that nothing closes, if the text goes on behind it.
fn never_closed(text: &str, error: &toml::de::Error) -> Option<Problem> {
    let noticed = error.span()?.start;
    if noticed >= text.trim_end().len() {
        return None;
    }
    let mut open = Vec::new();
    for token in toml_parser::Source::new(text).lex() {
        let closing = match token.kind() {
            TokenKind::LeftCurlyBracket => '}',
            TokenKind::LeftSquareBracket => ']',
            kind @ (TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket) => {
                let is_curly = kind == TokenKind::RightCurlyBracket;
                let _ = open.pop_if(|(closing, _)| (*closing == '}') == is_curly);
                continue;
            }
            _ => continue,
        };
        open.push((closing, token.span().start()));
    }
    let (closing, at) = open.into_iter().rfind(|(_, at)| *at < noticed)?;
    let opening = if closing == '}' { '{' } else { '[' };
    Some(
        Problem::new(Code::Syntax, format!("this is no TOML: `{opening}` is never closed"))
            .label(at..at + 1, "opened here")
            .help(format!("write `{closing}` where it ends; until then everything is read as a part of it")),
    )
}

/// The last line opens a quote and never closes it.
fn open_quote(text: &str, span: &Range<usize>) -> bool {
    let line_start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    text[line_start..].matches('"').count() % 2 == 1
}

fn entries(table: DeTable<'_>, depth: usize, problems: &mut Problems) -> Vec<Entry> {
    table
        .into_iter()
        .map(|(key, value)| {
            let key_span = key.span();
            Entry { key: key.into_inner().into_owned(), key_span, node: node(value, depth + 1, problems) }
        })
        .collect()
}

fn node(value: toml::Spanned<DeValue<'_>>, depth: usize, problems: &mut Problems) -> Node {
    let span = value.span();
    if depth > DEPTH_MAX {
        problems.push(
            Problem::new(Code::Syntax, format!("tables and lists are nested more than {DEPTH_MAX} deep"))
                .label(span.clone(), "")
                .help("no scenario needs that"),
        );
        return Node { span, value: Value::Boolean(false) };
    }
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            Value::Integer(i64::from_str_radix(&digits, number.radix()).ok())
        }
        DeValue::Float(_) => Value::Float,
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => Value::List(items.into_iter().map(|item| node(item, depth + 1, problems)).collect()),
        DeValue::Table(table) => Value::Table(entries(table, depth, problems)),
    };
    Node { span, value }
}
