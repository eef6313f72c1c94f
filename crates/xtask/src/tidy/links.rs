//! Relative links in Markdown lead to a file, and to a heading of it if they name one.

use std::collections::BTreeMap;

use super::File;
use crate::finding::Finding;

/// `exists` answers for a path from the root.
pub(super) fn check(files: &[File], exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let texts: BTreeMap<&str, &str> = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(&["md"])) {
        for (line, target) in targets(&file.text) {
            if let Some(problem) = problem_of(&file.path, target, &texts, exists) {
                let remedy = "mend the path, or remove the link";
                findings.push(Finding::new(&file.path, line, format!("link `{target}`: {problem}"), remedy));
            }
        }
    }
    findings
}

fn problem_of(
    from: &str,
    target: &str,
    texts: &BTreeMap<&str, &str>,
    exists: &dyn Fn(&str) -> bool,
) -> Option<&'static str> {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return None;
    }
    if target.starts_with('/') {
        return Some("starts at the root of a disk");
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { Some(from.to_owned()) } else { resolve(from, path) };
    let Some(path) = path else { return Some("leads out of the project") };
    if !exists(&path) {
        return Some("leads nowhere");
    }
    if !heading.is_empty() && texts.get(path.as_str()).is_some_and(|text| !has_heading(text, heading)) {
        return Some("that file has no such heading");
    }
    None
}

/// `path` as seen from the folder of `from`, or `None` if it leaves the root.
fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Every link target with its line, code left out.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in prose(text) {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((inside, tail)) = after.split_once(')') else { break };
            // A title may follow the target.
            let target = inside.split_whitespace().next().unwrap_or("");
            if !is_in_code(line, line.len() - after.len()) {
                found.push((index + 1, target));
            }
            rest = tail;
        }
    }
    found
}

/// Lines outside fenced blocks, counted from 0.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    })
}

fn is_in_code(line: &str, at: usize) -> bool {
    line[..at].matches('`').count() % 2 == 1
}

fn has_heading(text: &str, anchor: &str) -> bool {
    prose(text).any(|(_, line)| line.starts_with('#') && anchor_of(line) == anchor)
}

/// The anchor a heading gets: small letters, blanks to hyphens, punctuation dropped.
fn anchor_of(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    };
    heading.trim_start_matches('#').trim().to_lowercase().chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let files = [File::new("docs/a.md", text), File::new("docs/b.md", "# One Thing: `x`\n")];
        let exists = |path: &str| ["docs/a.md", "docs/b.md", "README.md", "docs"].contains(&path);
        check(&files, &exists).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "# Top\n[b](b.md) [up](../README.md \"title\") [web](https://example.org/x) [h](b.md#one-thing-x) [t](#top)\n";
        assert_eq!(findings(text), Vec::<String>::new());
    }

    #[test]
    fn finds_links_that_lead_nowhere() {
        assert!(findings("x\n\n[c](c.md)\n")[0].starts_with("docs/a.md:3: link `c.md`: leads nowhere"));
        assert!(findings("[c](../../c.md)\n")[0].contains("leads out of the project"));
        assert!(findings("[c](/etc)\n")[0].contains("root of a disk"));
        assert!(findings("[c](b.md#two)\n")[0].contains("no such heading"));
        assert_eq!(findings("[c](c.md) and ![d](d.png)\n").len(), 2);
    }

    #[test]
    fn code_is_not_searched() {
        assert!(findings("```text\n[c](c.md)\n```\nand `[c](c.md)`\n").is_empty());
    }
}
