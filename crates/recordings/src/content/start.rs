//! The beginning of a file as the table looks at it.

use std::borrow::Cow;

use super::{Purpose, STREAM_COLUMNS};
use crate::collector::shortened;

/// Bytes that are looked at: licences and comments stand before what a file is.
const LOOKED_AT: usize = 64 * 1024;

/// The beginning of a file.
pub(super) struct Start<'a> {
    /// All of it, for readers that know their own beginning.
    pub(super) bytes: &'a [u8],
    text: Option<Cow<'a, str>>,
    /// The first element of XML.
    root: Option<String>,
    /// The fields of the first line that is no remark, if it has commas or semicolons.
    header: Vec<String>,
}

impl<'a> Start<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let text = text(&bytes[..bytes.len().min(LOOKED_AT)]);
        let root = text.as_deref().and_then(root);
        let header = text.as_deref().map(header).unwrap_or_default();
        Self { bytes, text, root, header }
    }

    /// The beginning as text; empty if it is none.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or("")
    }

    /// Its lines without blanks around them, empty ones left out.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text().lines().map(str::trim).filter(|line| !line.is_empty())
    }

    pub(super) fn is_xml(&self) -> bool {
        self.root.is_some()
    }

    pub(super) fn has_root(&self, name: &str) -> bool {
        self.root.as_deref() == Some(name)
    }

    /// How many of the columns the first line of a table has.
    pub(super) fn columns(&self, names: &[&str]) -> usize {
        names.iter().filter(|name| self.header.iter().any(|column| column.eq_ignore_ascii_case(name))).count()
    }

    /// How it begins, for a person.
    pub(super) fn shown(&self) -> String {
        match (&self.text, self.bytes) {
            (_, []) => "the file is empty".into(),
            (Some(_), _) => format!("it is text that begins with `{}`", shortened(self.lines().next().unwrap_or(""))),
            (None, bytes) => {
                let digits: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                format!("it is no text and begins with the bytes {}", digits.join(" "))
            }
        }
    }

    /// The nearest that is read, of what is in no table.
    pub(super) fn nearest(&self, wanted: Purpose) -> &'static str {
        match wanted {
            Purpose::Import if self.text.is_none() => {
                "give a capture or a log as its tool wrote it, or export it as pcapng or ASC"
            }
            Purpose::Import if self.header.len() > 1 => {
                "a table of streams begins with the line `name,from,to,period,frame`"
            }
            Purpose::Import => "export a capture as pcapng, a CAN log as ASC, a database as DBC",
            _ => "give what its tool wrote",
        }
    }
}

/// True for a table whose header is that of streams, with no more than two mistakes in its names.
pub(super) fn is_stream_table(start: &Start<'_>) -> bool {
    start.columns(&STREAM_COLUMNS) >= 3
}

/// Text in UTF-8, UTF-16 with its mark, or Windows-1252; nothing if control characters stand in it.
fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |pairs: &[u8], word: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = pairs.chunks_exact(2).map(|pair| word([pair[0], pair[1]])).collect();
        Some(Cow::Owned(String::from_utf16_lossy(&units)))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => return wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return wide(rest, u16::from_be_bytes),
        _ => {}
    }
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1a);
    if bytes.is_empty() || bytes.iter().any(is_control) {
        return None;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes))
}

/// The name of the first element, without its prefix, behind declarations and remarks.
fn root(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    loop {
        let inner = rest.strip_prefix('<')?;
        let end = match inner {
            _ if inner.starts_with("!--") => inner.find("-->").map(|at| at + 3)?,
            _ if inner.starts_with(['?', '!']) => inner.find('>').map(|at| at + 1)?,
            _ => {
                let name = inner.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
                let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
                return name.starts_with(|c: char| c.is_alphabetic() || c == '_').then(|| name.to_owned());
            }
        };
        rest = inner[end..].trim_start();
    }
}

fn header(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else { return Vec::new() };
    let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| first.matches(*separator).count());
    let fields = first.split(separator.unwrap_or(','));
    fields.map(|field| field.trim().trim_matches('"').to_owned()).collect()
}
