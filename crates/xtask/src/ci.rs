//! What the continuous integration runs once the tools are there. In order of how soon a mistake shows.

use std::path::Path;

use crate::{Failure, TaskResult, generate, licences, process, tidy};

/// Links a `no_std` static library without allocator against the protocol crates.
const NO_STD_CHECK: &str = "nostd-link/check.sh";

pub(crate) fn run(root: &Path) -> TaskResult {
    step("format");
    process::run(root, &["cargo", "fmt", "--all", "--check"])?;
    step("tidy");
    tidy::run(root)?;
    step("licences");
    licences::run(root)?;
    step("lints");
    process::run(root, &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    step("generated documents");
    generate::run(root, generate::Mode::Check)?;
    step("no-std link");
    if !root.join(NO_STD_CHECK).is_file() {
        return Err(Failure::because(format!("{NO_STD_CHECK} is missing; it proves that no std or alloc creeps in")));
    }
    process::run(root, &["bash", NO_STD_CHECK])?;
    step("tests");
    process::run(root, &["cargo", "test", "--workspace", "--locked"])
}

fn step(name: &str) {
    eprintln!("== {name}");
}
