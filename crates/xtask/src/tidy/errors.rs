//! No text as an error in what a library shows: nobody can match it, and it says nothing of what to do.

use super::File;
use crate::finding::Finding;

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let is_library = |name: &str| files.iter().any(|file| file.path == format!("crates/{name}/src/lib.rs"));
    let mut findings = Vec::new();
    for file in files {
        let Some(name) = file.crate_name() else { continue };
        let is_source = file.path.starts_with(&format!("crates/{name}/src/")) && file.has_extension(&["rs"]);
        let is_program = file.path.contains("/src/bin/") || file.path.ends_with("/src/main.rs");
        let is_test = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
        if is_source && !is_program && !is_test && is_library(name) {
            check_file(file, &mut findings);
        }
    }
    findings
}

fn check_file(file: &File, findings: &mut Vec<Finding>) {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut in_public_trait = false;
    for (index, line) in lines.iter().enumerate() {
        // Tests stand last in a file.
        if line.trim_start().starts_with("#[cfg(test)]") {
            return;
        }
        // A closing brace in the first column ends whatever item it is.
        in_public_trait = line.starts_with("pub trait ") || in_public_trait && !line.starts_with('}');
        let is_public = line.trim_start().starts_with("pub ") || in_public_trait && line.starts_with("    fn ");
        if is_public && has_text_as_error(&declaration(&lines[index..])) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                "a public `Result<_, String>`",
                "return an enum with thiserror, `#[non_exhaustive]`, whose variants carry what a person needs to act",
            ));
        }
    }
}

/// A public item up to its body, its value or its end; of a field, or of a type's first line, its own line.
fn declaration(lines: &[&str]) -> String {
    let is_function = lines[0].contains(" fn ");
    let mut text = String::new();
    for line in lines {
        let end = line.find(['{', ';']);
        text += &line[..end.unwrap_or(line.len())];
        if end.is_some() || !is_function {
            break;
        }
        text.push(' ');
    }
    text
}

/// True if a `Result` of `text` has `String` for its second argument.
fn has_text_as_error(text: &str) -> bool {
    text.match_indices("Result<").any(|(at, name)| {
        let arguments = arguments(&text[at + name.len()..]);
        arguments.len() == 2 && arguments[1].rsplit("::").next() == Some("String")
    })
}

/// The arguments up to the bracket that closes them, blanks at their ends left out.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut found) = (0_u32, 0, Vec::new());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // The head of an arrow closes nothing.
            '>' if before == '-' => {}
            '>' | ')' | ']' if depth > 0 => depth -= 1,
            '>' => {
                found.push(text[begin..at].trim());
                break;
            }
            ',' if depth == 0 => {
                found.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    found.retain(|argument| !argument.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_at(path: &str, text: &str) -> Vec<String> {
        let library = File::new("crates/wire/src/lib.rs", "");
        check(&[library, File::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    fn findings(text: &str) -> Vec<String> {
        findings_at("crates/wire/src/frame.rs", text)
    }

    #[test]
    fn finds_a_text_as_error_on_one_line_or_several() {
        for text in [
            "pub fn f() -> Result<(), String> {\n",
            "pub const fn f() -> Result<Vec<(u8, Option<u8>)>, String> {\n",
            "impl A {\n    pub fn f(\n        &self,\n    ) -> Result<u8, std::string::String>\n    where\n        u8: Copy,\n    {\n",
            "pub type Make = fn(&[u8]) -> Result<Box<dyn FnMut() -> u8>, String>;\n",
            "pub struct A {\n    pub times: Result<Vec<u64>, String>,\n}\n",
            "pub fn f(answer: Result<&[u8], String>) {}\n",
            "pub trait A {\n    fn f(&self);\n}\npub fn f() -> Result<\n    u8,\n    String,\n> {\n",
            "pub trait A {\n    fn f(&self) -> Result<(), String>;\n}\n",
        ] {
            let found = findings(text);
            assert_eq!(found.len(), 1, "{text}{found:?}");
            assert!(found[0].contains("a public `Result<_, String>`"), "{found:?}");
        }
        assert!(findings("\npub fn f() -> Result<(), String> {\n")[0].starts_with("crates/wire/src/frame.rs:2:"));
    }

    #[test]
    fn texts_that_are_no_errors_pass_and_so_do_private_functions() {
        for text in [
            "pub fn f() -> Result<String, Error> {\n",
            "pub fn f() -> Result<String> {\n",
            "pub fn f() -> Result<Result<u8, Error>, Other<String>> {\n    Err(Result::<u8, String>::Ok(1))\n",
            "fn f() -> Result<(), String> {\n",
            "pub(crate) fn f() -> Result<(), String> {\n",
            "pub struct A {\n    pub name: String,\n    times: Result<u8, String>,\n}\n",
            "pub fn f() {}\n#[cfg(test)]\nmod tests {\n    pub fn f() -> Result<(), String> {\n",
        ] {
            assert_eq!(findings(text), [] as [String; 0], "{text}");
        }
    }

    #[test]
    fn programs_and_tests_may() {
        let text = "pub fn f() -> Result<(), String> {\n";
        for path in ["crates/wire/src/bin/a.rs", "crates/wire/src/can/tests.rs", "crates/wire/tests/a.rs"] {
            assert!(findings_at(path, text).is_empty(), "{path}");
        }
        assert!(findings_at("crates/xtask/src/tidy/mod.rs", text).is_empty(), "no library");
    }
}
