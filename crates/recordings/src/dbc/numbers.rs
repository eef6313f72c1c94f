//! Numbers of messages that are no identifiers, taken out of the parser's way.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::EXTENDED_FLAG;

/// What a database says of its messages' numbers.
pub(super) struct Numbers<'a> {
    /// The line of each message, in order.
    pub(super) lines: Vec<u64>,
    /// Numbers that are no identifier, and for each an identifier that nothing else has and that stands in for it.
    pub(super) misnumbered: BTreeMap<u64, u64>,
    /// The text with those in their places.
    pub(super) text: Cow<'a, str>,
}

/// Words after which a message's number comes.
const BEFORE_NUMBER: [&str; 9] =
    ["BO_", "SG_", "VAL_", "BO_TX_BU_", "SIG_GROUP_", "SIG_VALTYPE_", "SG_MUL_VAL_", "SIG_TYPE_REF_", "SGTYPE_VAL_"];

/// Finds the numbers of all messages, and takes those that are no identifier out of the parser's way: it would keep some of
/// their bits, and so give what is said of such a message to another.
pub(super) fn numbers(text: &str) -> Numbers<'_> {
    let mut lines = Vec::new();
    let mut known = BTreeSet::new();
    let mut bad = BTreeSet::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(raw) = line.trim_start().strip_prefix("BO_ ") else { continue };
        let digits = raw.trim_start();
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        if digits.is_empty() {
            continue;
        }
        lines.push(number);
        let raw = digits.parse::<u64>().unwrap_or(u64::MAX);
        // 0xC0000000 is the message of independent signals.
        let is_id = raw <= 0x7ff || (EXTENDED_FLAG..EXTENDED_FLAG | 0x6000_0000).contains(&raw);
        let _ = if is_id { known.insert(raw) } else { bad.insert(raw) };
    }
    let mut free = (EXTENDED_FLAG..EXTENDED_FLAG | 0x2000_0000).rev().filter(|raw| !known.contains(raw));
    let misnumbered: BTreeMap<u64, u64> = bad.into_iter().filter_map(|raw| Some((raw, free.next()?))).collect();
    let text = if misnumbered.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(renumbered(text, &misnumbered)) };
    Numbers { lines, misnumbered, text }
}

/// The text with other numbers of messages. What is in quotes stays as it is.
fn renumbered(text: &str, numbers: &BTreeMap<u64, u64>) -> String {
    let mut out = String::with_capacity(text.len());
    // A quote ends a word, and what is between two is no place for a number.
    for (index, part) in text.split('"').enumerate() {
        if index > 0 {
            out.push('"');
        }
        if index % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut before = "";
        for word in part.split_inclusive(char::is_whitespace) {
            let plain = word.trim_end();
            let digits = &plain[..plain.find(|c: char| !c.is_ascii_digit()).unwrap_or(plain.len())];
            let stands_in =
                digits.parse().ok().or((!digits.is_empty()).then_some(u64::MAX)).and_then(|raw| numbers.get(&raw));
            match stands_in.filter(|_| BEFORE_NUMBER.contains(&before)) {
                Some(number) => {
                    out.push_str(&number.to_string());
                    out.push_str(&word[digits.len()..]);
                }
                None => out.push_str(word),
            }
            if !plain.is_empty() {
                before = plain;
            }
        }
    }
    out
}
