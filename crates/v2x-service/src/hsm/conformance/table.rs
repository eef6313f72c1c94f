//! The list of several back ends side by side.

use std::fmt::Write as _;

use super::{Outcome, Row};

/// Operations down, back ends across; reasons as numbered notes below.
#[must_use]
pub fn table(columns: &[(&str, &[Row])]) -> String {
    let mut notes: Vec<String> = Vec::new();
    let mut lines = vec![std::iter::once("operation".to_owned()).chain(columns.iter().map(|c| c.0.into())).collect()];
    let operations = columns.first().map_or(&[][..], |(_, rows)| rows);
    for (index, first) in operations.iter().enumerate() {
        let mut line = vec![first.operation.to_string()];
        line.extend(columns.iter().map(|(_, rows)| match rows.get(index).map(|row| &row.outcome) {
            None => String::new(),
            Some(Outcome::Held) => "ok".into(),
            Some(Outcome::HeldShared(part)) => format!("ok ({})", note(&mut notes, part)),
            Some(Outcome::Unsupported(reason)) => format!("unsupported ({})", note(&mut notes, reason)),
            Some(Outcome::Failed(what)) => format!("FAILED ({})", note(&mut notes, what)),
        }));
        lines.push(line);
    }
    let mut text = aligned(&lines);
    for (index, note) in notes.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "({}) {note}", index + 1);
    }
    text
}

/// Number of a note, the same for the same text.
fn note(notes: &mut Vec<String>, text: &str) -> usize {
    if let Some(index) = notes.iter().position(|note| note == text) {
        return index + 1;
    }
    notes.push(text.to_owned());
    notes.len()
}

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let padded: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hsm::Operation;

    #[test]
    fn same_reason_gets_one_note() {
        let row = |operation, outcome| Row { operation, outcome };
        let why = || Outcome::Unsupported("no AES".into());
        let one = [row(Operation::Encrypt, why()), row(Operation::Decrypt, why())];
        let two = [row(Operation::Encrypt, Outcome::Held), row(Operation::Decrypt, Outcome::HeldShared("tag".into()))];
        let expected = "\
operation        a                b
encrypt AES-CCM  unsupported (1)  ok
decrypt AES-CCM  unsupported (1)  ok (2)
(1) no AES
(2) tag
";
        assert_eq!(table(&[("a", &one), ("b", &two)]), expected);
    }
}
