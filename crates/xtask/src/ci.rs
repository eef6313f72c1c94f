//! What the continuous integration runs once the tools are there. In order of how soon a mistake shows.

use std::path::Path;

use crate::test::Part;
use crate::{TaskResult, docs, generate, licences, process, test, tidy};

#[rustfmt::skip]
const CLIPPY: &[&str] =
    &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];

/// What is compared with what our programs print.
const DOCUMENTS: &[Part] = &[
    ("generated documents", |root| generate::run(root, generate::Mode::Check)),
    ("what pages say that commands print", |root| docs::run(root, &["--quick"])),
];

/// Documents are compared while tests run, some of which wait for most of their time.
pub(crate) fn run(root: &Path) -> TaskResult {
    let sources = sources(root);
    let linted = if compiler_lints() { Ok(()) } else { clippy(root) };
    let tested = test::run(root, DOCUMENTS);
    sources.and(linted).and(tested)
}

/// Everything but tests. The documentation of crates is made where their examples are tested.
pub(crate) fn lint(root: &Path) -> TaskResult {
    sources(root)?;
    clippy(root)?;
    for &(name, compare) in DOCUMENTS {
        step(name);
        compare(root)?;
    }
    Ok(())
}

/// What needs no build of the workspace.
fn sources(root: &Path) -> TaskResult {
    step("format");
    process::run(root, &["cargo", "fmt", "--all", "--check"])?;
    step("tidy");
    tidy::run(root)?;
    step("licences");
    licences::run(root)
}

fn clippy(root: &Path) -> TaskResult {
    step("lints");
    process::run(root, CLIPPY)
}

/// `rustc.sh` stands in for the compiler, as in `.ci/run`: clippy looks at what is built for the tests on the way, and nothing is compiled
/// for the lints alone.
fn compiler_lints() -> bool {
    let wrapper = std::env::var_os("RUSTC_WORKSPACE_WRAPPER");
    wrapper.is_some_and(|wrapper| Path::new(&wrapper).file_name().is_some_and(|name| name == "rustc.sh"))
}

fn step(name: &str) {
    eprintln!("== {name}");
}
