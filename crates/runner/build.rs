//! Notes the commit and compiler a binary was built from, so that every result can name them.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/logs/HEAD");
    println!("cargo:rustc-env=CHRONOSEAL_COMMIT={}", first_line("git", &["describe", "--always", "--dirty"]));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo:rustc-env=CHRONOSEAL_RUSTC={}", first_line(&rustc, &["--version"]));
}

/// What a command prints first; empty if it cannot be run.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
    output
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.lines().next().map(str::to_owned))
        .unwrap_or_default()
}
