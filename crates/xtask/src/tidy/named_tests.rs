//! Tests that a page names are there.

use super::File;
use crate::finding::Finding;

/// The pages that name tests, as `FILE::TEST` in backquotes.
const PAGES: &[&str] = &["docs/reference/v2x-conformance.md"];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in files.iter().filter(|file| PAGES.contains(&file.path.as_str())) {
        for (index, line) in page.text.lines().enumerate() {
            // What stands between two backquotes is at every second place.
            for (path, name) in line.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::")) {
                let path = format!("{path}.rs");
                let what = match files.iter().find(|file| file.path == path) {
                    None => format!("names a test of `{path}`, which is not there"),
                    Some(file) if !has_test(&file.text, name) => {
                        format!("names the test `{name}`, which `{path}` lacks")
                    }
                    Some(_) => continue,
                };
                findings.push(Finding::new(
                    &page.path,
                    index + 1,
                    what,
                    "name the test that covers it, or say it is not covered",
                ));
            }
        }
    }
    findings
}

fn has_test(text: &str, name: &str) -> bool {
    let function = format!("fn {name}(");
    text.match_indices(&function).any(|(at, _)| {
        // The attribute stands above, with others and comments between at most.
        text[..at]
            .rfind("#[test]")
            .is_some_and(|test| !text[test..at].contains("\nfn ") && !text[test..at].contains('}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(page: &str) -> Vec<String> {
        let source = "#[test]\nfn it_holds() {\n}\nfn helper() {\n}\n";
        let files = [File::new(PAGES[0], page), File::new("crates/a/tests/b.rs", source)];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_test_that_is_there_passes() {
        assert_eq!(findings("| X | `crates/a/tests/b.rs::it_holds` | `fn` |\n"), Vec::<String>::new());
    }

    #[test]
    fn finds_tests_and_files_that_are_not_there_and_helpers_that_are_no_tests() {
        assert!(
            findings("\n| X | `crates/a/tests/b.rs::it_held` |\n")[0]
                .starts_with("docs/reference/v2x-conformance.md:2: names")
        );
        assert!(findings("`crates/a/tests/c.rs::it_holds`\n")[0].contains("which is not there"));
        assert_eq!(findings("`crates/a/tests/b.rs::it_holds` and `crates/a/tests/b.rs::helper`\n").len(), 1);
    }
}
