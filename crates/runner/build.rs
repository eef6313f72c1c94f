//! Notes the commit, compiler and profile a binary was built from, so that every result can name them.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    println!("cargo:rustc-env=CHRONOSEAL_COMMIT={}", first_line("git", &["describe", "--always", "--dirty"]));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo:rustc-env=CHRONOSEAL_RUSTC={}", first_line(&rustc, &["--version"]));
    println!("cargo:rustc-env=CHRONOSEAL_PROFILE={}", profile());
}

/// The folder of the profile, such as `debug`, `release` or `dist`: `OUT_DIR` is `target/PROFILE/build/PACKAGE-HASH/out`. What cargo
/// calls the profile of a build script is `release` for all that inherit from it.
fn profile() -> String {
    let out = std::env::var_os("OUT_DIR").map(std::path::PathBuf::from).unwrap_or_default();
    out.ancestors()
        .nth(3)
        .and_then(|folder| folder.file_name())
        .map_or_else(String::new, |name| name.to_string_lossy().into())
}

/// What a command prints first; empty if it cannot be run.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
    output
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.lines().next().map(str::to_owned))
        .unwrap_or_default()
}
