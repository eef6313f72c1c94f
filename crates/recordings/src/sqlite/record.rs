//! The values of a row, and the columns of a table.

use super::pages::varint;

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// In the encoding of the file.
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// The first `count` values of a row; fewer if it has fewer. `None` if they do not fit into its bytes.
pub(super) fn values(row: &[u8], count: usize) -> Option<Vec<Value<'_>>> {
    let mut at = 0;
    let header_len = usize::try_from(varint(row, &mut at)?).ok()?;
    let header = row.get(..header_len)?;
    let mut body = row.get(header_len..)?;
    let mut values = Vec::with_capacity(count);
    while at < header.len() && values.len() < count {
        let kind = varint(header, &mut at)?;
        let len = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let (bytes, rest) = body.split_at_checked(len)?;
        body = rest;
        values.push(match kind {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            1..=6 => Value::Integer(integer(bytes)),
            7 => Value::Real(f64::from_be_bytes(*bytes.first_chunk()?)),
            _ if kind.is_multiple_of(2) => Value::Blob(bytes),
            _ => Value::Text(bytes),
        });
    }
    Some(values)
}

/// High byte first, with a sign.
fn integer(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if is_negative { -1 } else { 0 }, |value, byte| value << 8 | i64::from(*byte))
}

/// A text in the encoding of its file.
pub(super) fn text(bytes: &[u8], encoding: u32) -> String {
    let wide = |word: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| word([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match encoding {
        2 => wide(u16::from_le_bytes),
        3 => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The names of the columns in a `CREATE TABLE`, in order and in small letters. `None` for a table whose rows do not have all of its
/// columns in order: one without row numbers, or with computed columns.
pub(super) fn columns(sql: &str) -> Option<Vec<String>> {
    let (_, definitions) = sql.split_once('(')?;
    let (mut depth, mut quote) = (0, None);
    let mut parts = vec![String::new()];
    let mut rest = definitions.chars();
    for letter in rest.by_ref() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => {}
            '"' | '\'' | '`' => quote = Some(letter),
            '[' => quote = Some(']'),
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(letter);
    }
    let has = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|it| it.eq_ignore_ascii_case(word))
    };
    if has(rest.as_str(), "without") || parts.iter().any(|part| has(part, "as")) {
        return None;
    }
    let name = |part: &String| {
        let part = part.trim();
        let end = match part.chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => part[1..].find(quote).map(|at| at + 1),
            Some('[') => part.find(']'),
            _ => part.find(|c: char| c.is_whitespace() || c == '('),
        };
        part[..end.unwrap_or(part.len())].trim_start_matches(['"', '\'', '`', '[']).to_ascii_lowercase()
    };
    Some(parts.iter().map(name).collect())
}
