//! What the continuous integration runs once the tools are there. In order of how soon a mistake shows.

use std::path::Path;

use crate::{TaskResult, built, docs, generate, licences, process, test, tidy};

#[rustfmt::skip]
const CLIPPY: &[&str] =
    &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];

pub(crate) fn run(root: &Path) -> TaskResult {
    let linted = lint(root);
    let tested = test::run(root);
    linted.and(tested)
}

/// Everything but tests. The documentation of crates is made where their examples are tested.
pub(crate) fn lint(root: &Path) -> TaskResult {
    step("format");
    process::run(root, &["cargo", "fmt", "--all", "--check"])?;
    step("tidy");
    tidy::run(root)?;
    step("licences");
    licences::run(root)?;
    step("lints");
    if compiler_lints() {
        built::all_tests(root)?;
    } else {
        process::run(root, CLIPPY)?;
    }
    step("generated documents");
    generate::run(root, generate::Mode::Check)?;
    step("what pages say that commands print");
    docs::run(root, &["--quick"])
}

/// `clippy-driver` stands in for the compiler, as in `.ci/run`: what is built for the tests is looked at on the way, and nothing is compiled
/// for the lints alone.
fn compiler_lints() -> bool {
    let wrapper = std::env::var_os("RUSTC_WORKSPACE_WRAPPER");
    wrapper.is_some_and(|wrapper| Path::new(&wrapper).file_name().is_some_and(|name| name == "clippy-driver"))
}

fn step(name: &str) {
    eprintln!("== {name}");
}
