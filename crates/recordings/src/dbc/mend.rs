//! Takes a statement that cannot be read out of a database, so that it costs itself and nothing else.

use super::SECTIONS;

/// Lines of one statement, at most: a quote that is never closed would take the rest of the file with it.
const STATEMENT_LINES_MAX: usize = 200;

/// The text without the statement in which a line (from 1) stands: a signal is its line, a message goes with its signals, the definition
/// of an attribute with its values, and everything else ends with a semicolon. Lines keep their numbers. `None` if no such statement is there.
pub(super) fn without_statement(text: &str, line: u64) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let begins = |at: &usize| lines.get(*at).is_some_and(|line| keyword(line).is_some());
    let start = (at.saturating_sub(STATEMENT_LINES_MAX)..=at).rev().find(begins)?;
    let is_signal = |line: &&&str| keyword(line) == Some("SG_");
    let len = match keyword(lines[start])? {
        "SG_" => 1,
        "BO_" => 1 + lines[start + 1..].iter().take_while(is_signal).count(),
        _ => {
            let mut is_quoted = false;
            let ends = |line: &&str| {
                line.chars().any(|letter| {
                    is_quoted ^= letter == '"';
                    letter == ';' && !is_quoted
                })
            };
            1 + lines[start..].iter().take(STATEMENT_LINES_MAX).position(ends)?
        }
    };
    // What stands before the line of the error was read: it is another statement that is wrong.
    (at < start + len).then_some(())?;
    let unknown = attribute(lines[start], "BA_DEF_");
    let is_of_it =
        |line: &str| unknown.is_some() && attribute(line, "BA_") == unknown && line.trim_end().ends_with(';');
    let mut mended = String::with_capacity(text.len());
    for (number, line) in lines.iter().enumerate() {
        let is_left_out = (start..start + len).contains(&number) || is_of_it(line);
        mended.push_str(if is_left_out { "\n" } else { line });
    }
    Some(mended)
}

/// The attribute that a statement defines (`BA_DEF_`) or gives a value (`BA_`). Without its definition a value says nothing.
fn attribute<'t>(line: &'t str, statement: &str) -> Option<&'t str> {
    let rest = line.trim_start().strip_prefix(statement)?.strip_prefix(' ')?;
    rest.split('"').nth(1)
}

/// The word of a statement that may be left out, at the beginning of its line.
fn keyword(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    (matches!(word, "BO_" | "SG_") || SECTIONS.contains(&word)).then_some(word)
}
