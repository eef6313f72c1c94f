//! Builds the contract itself, which is written in C one folder up, and what makes its structures readable from Rust.

fn main() {
    let sources = ["../contract.c", "../bodies.c", "../buffers.c", "../keys.c", "bindings.c"];
    cc::Build::new()
        .files(sources)
        .include("..")
        .opt_level(2)
        .warnings_into_errors(true)
        .compile("chronoseal_contract");
    println!("cargo::rustc-link-lib=z");
    for file in sources.into_iter().chain(["../contract.h", "../bodies.h", "../buffers.h", "../keys.h"]) {
        println!("cargo::rerun-if-changed={file}");
    }
}
