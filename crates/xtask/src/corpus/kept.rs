//! The kept list: which files are refused, and why that is right.

use std::path::Path;

use crate::Failure;

/// A line of the list.
struct Line {
    number: usize,
    /// Path below the folder of all repositories; `*` stands for anything.
    pattern: String,
    /// Words of the refusal.
    reason: String,
    is_used: bool,
}

/// The whole list.
pub(super) struct Kept {
    lines: Vec<Line>,
}

impl Kept {
    /// Reads `path<TAB>words of the refusal<TAB>why that is right`, a line each; `#` begins a remark.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let text =
            std::fs::read_to_string(file).map_err(|error| Failure::because(format!("{}: {error}", file.display())))?;
        let mut lines = Vec::new();
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [pattern, reason, why] = fields[..] else {
                let place = format!("{}:{number}", file.display());
                return Err(Failure::because(format!(
                    "{place}: a line is `path`, words of the refusal and why that is right, with a tab between each"
                )));
            };
            if why.trim().is_empty() || reason.trim().is_empty() {
                return Err(Failure::because(format!("{}:{number}: a reason is missing", file.display())));
            }
            lines.push(Line { number, pattern: pattern.into(), reason: reason.into(), is_used: false });
        }
        Ok(Self { lines })
    }

    /// True if the list has the file with these words, which are noted as needed.
    pub(super) fn allows(&mut self, name: &str, refusal: &str) -> bool {
        let fits = |line: &&mut Line| matches(&line.pattern, name) && refusal.contains(&line.reason);
        let found = self.lines.iter_mut().find(fits);
        found.is_some_and(|line| {
            line.is_used = true;
            true
        })
    }

    /// Lines that no file needed, of repositories that are there.
    pub(super) fn unused(&self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let repository = |line: &Line| line.pattern.split('/').next().unwrap_or("").to_owned();
        let unused = self.lines.iter().filter(|line| !line.is_used && is_there(&repository(line)));
        unused.map(|line| format!("line {} (`{}`)", line.number, line.pattern)).collect()
    }
}

/// Whether a pattern with `*` for anything fits the whole name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, behind)) => name.strip_prefix(before).is_some_and(|rest| {
            let cuts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            cuts.into_iter().any(|at| matches(behind, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("a/b.dbc", "a/b.dbc", true),
            ("a/b.dbc", "a/b.dbcx", false),
            ("a/*.dbc", "a/c/d.dbc", true),
            ("a/*.dbc", "b/d.dbc", false),
            ("*", "", true),
            ("*x*", "axb", true),
            ("*x*", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_refusal_is_allowed_for_its_own_words_only() {
        let line =
            |pattern: &str| Line { number: 1, pattern: pattern.into(), reason: "no message".into(), is_used: false };
        let mut kept = Kept { lines: vec![line("a/*.dbc"), line("b/*")] };
        assert!(!kept.allows("a/x.dbc", "line 3: cannot be read"));
        assert!(kept.allows("a/x.dbc", "the database has no message; a message begins"));
        assert!(!kept.allows("c/x.dbc", "the database has no message"));
        assert_eq!(kept.unused(|repository| repository == "b"), ["line 1 (`b/*`)"]);
        assert!(kept.unused(|repository| repository == "a").is_empty());
    }
}
