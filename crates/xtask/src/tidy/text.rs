//! Length of files, blanks at line ends, tabs, and words that do not belong here.

use super::File;
use crate::finding::Finding;

/// Longest file that people write `[line]`. There are no exceptions.
const LINES_MAX: usize = 1000;

/// What people write. Data, vectors, captures and generated schemas are left as they are.
const WRITTEN: &[&str] = &["rs", "md", "toml", "sh", "cc", "h", "sv", "svh", "py", "js", "css", "html"];

/// What must not appear, put together here so that this file passes its own check, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("../sha", "red"), "a path outside the project"),
    (concat!("../.lib", "rary"), "a path outside the project"),
    (concat!("FIX", "ME"), "an open end; finish it or write it down where users see it"),
    (concat!("to", "do!("), "an open end; finish it or write it down where users see it"),
    (concat!("unimple", "mented!("), "an open end; return an error that says so"),
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension(WRITTEN)) {
        check_file(file, &mut findings);
    }
    findings
}

fn check_file(file: &File, findings: &mut Vec<Finding>) {
    let mut report = |line: usize, what: String, remedy: &str| {
        findings.push(Finding::new(&file.path, line, what, remedy));
    };
    let lines = file.text.lines().count();
    if lines > LINES_MAX {
        report(
            LINES_MAX + 1,
            format!("{lines} lines; at most {LINES_MAX} are read"),
            "split it: there are two files inside",
        );
    }
    for (index, line) in file.text.lines().enumerate() {
        let number = index + 1;
        if line.ends_with([' ', '\t']) {
            report(number, "a blank at the end of the line".into(), "delete it");
        }
        if file.has_extension(&["rs"]) && line.contains('\t') {
            report(number, "a tab".into(), "indent with four spaces; write \\t in texts");
        }
        for (word, why) in FORBIDDEN {
            if line.contains(word) {
                report(number, format!("`{word}`: {why}"), "the project speaks of itself alone and runs anywhere");
            }
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        report(lines, "no newline at the end".into(), "add one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&[File::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn finds_blanks_tabs_and_a_missing_newline() {
        assert!(findings("a.rs", "fn f() {} \n")[0].starts_with("a.rs:1: a blank"));
        assert!(findings("a.rs", "\n\tfn f() {}\n")[0].starts_with("a.rs:2: a tab"));
        assert!(findings("a.md", "text")[0].contains("no newline"));
        assert!(findings("Makefile", "\tcc\n").is_empty());
    }

    #[test]
    fn finds_paths_of_one_machine() {
        for (word, _) in FORBIDDEN {
            assert_eq!(findings("docs/a.md", &format!("see {word}x\n")).len(), 1, "{word}");
        }
    }

    #[test]
    fn the_thousandth_line_is_the_last() {
        assert!(findings("a.rs", &"x\n".repeat(LINES_MAX)).is_empty());
        assert!(findings("a.rs", &"x\n".repeat(LINES_MAX + 1))[0].starts_with("a.rs:1001: 1001 lines"));
        assert!(findings("a.csv", &"x\n".repeat(LINES_MAX + 1)).is_empty());
    }
}
