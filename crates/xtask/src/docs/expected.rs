//! Whether a command printed what its page says.

/// Stands on a page for whatever may be there.
const ANYTHING: char = '…';

/// The first part of `expected` that `printed` does not have behind the parts before it, if there is one. White space is all the
/// same, and with `varies` so are all numbers.
pub(crate) fn missing(expected: &str, printed: &str, varies: bool) -> Option<String> {
    let plain = |text: &str| {
        // The line under the head of a table is left out on pages.
        let is_rule = |word: &&str| word.len() > 1 && word.chars().all(|c| c == '-');
        let text = text.split_whitespace().filter(|word| !is_rule(word)).collect::<Vec<_>>().join(" ");
        if varies { without_numbers(&text) } else { text }
    };
    let printed = plain(printed);
    let mut rest = printed.as_str();
    for part in expected.split(ANYTHING) {
        let part = plain(part);
        match rest.find(&part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return Some(longest_found(&part, rest)),
        }
    }
    None
}

/// What of `part` is not in `text`, with the last words that are there before it.
fn longest_found(part: &str, text: &str) -> String {
    let ends = part.char_indices().map(|(at, _)| at).chain([part.len()]);
    let found = ends.take_while(|end| text.contains(&part[..*end])).last().unwrap_or(0);
    let from = part[..found].rmatch_indices(' ').nth(3).map_or(0, |(at, _)| at + 1);
    part[from..].chars().take(160).collect()
}

/// Each number in its place is a `#`.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out.replace("#.#", "#").replace("# #", "#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_to_come_in_their_order() {
        let printed = "Title\n\nHELD\n  a   12.5 us\n  b   13.5 us\n";
        assert_eq!(missing("HELD\na 12.5 us\n", printed, false), None);
        assert_eq!(missing("a b\n1 2\n", "a  b\n---  ---\n1  2\n", false), None);
        assert_eq!(missing("HELD\n…\nb 13.5 us\n", printed, false), None);
        assert_eq!(missing("a … us\n…\nb … us\n", printed, false), None);
        assert_eq!(missing("b 13.5\n…\na 12.5", printed, false).as_deref(), Some("a 12.5"));
        assert_eq!(missing("HELD a 12.5 ms", printed, false).as_deref(), Some("HELD a 12.5 ms"));
    }

    #[test]
    fn numbers_are_all_the_same_where_they_vary() {
        assert_eq!(missing("a 99.25 us", "a 12 us", true), None);
        assert_eq!(missing("a 10 000.0 us", "a 7 us", true), None);
        assert!(missing("a 99.25 us", "a 12 ms", true).is_some());
    }
}
