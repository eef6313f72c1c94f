//! Every crate inherits the workspace's fields and lints, is named after its folder and says what it is. What it takes from others
//! it takes with the features that the workspace names, so that nothing is built twice with different ones.

use toml::{Table, Value};

use super::File;
use crate::finding::Finding;

/// Fields of `[package]` that come from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

/// Crates with lints of their own. `testbed` speaks to the kernel, `ecdsa-lanes` and `fourq-ifma` to vector registers, and
/// `fourq-mulx` is assembly, which takes `unsafe`.
const OWN_LINTS: &[&str] = &["testbed", "ecdsa-lanes", "fourq-ifma", "fourq-mulx"];

/// Crates not called `chronoseal-<folder>`. `xtask` is what `cargo xtask` looks for.
const OWN_NAME: &[&str] = &["xtask"];

/// Dependencies whose features are not the workspace's, by crate. Bare metal has no standard library, which they need there. And TLS has
/// a provider for each of two programs, of which the smaller one is built without AWS-LC, minutes of C.
const OWN_FEATURES: &[(&str, &[&str])] = &[
    ("crypto", &["ed25519-dalek", "p256", "x25519-dalek"]),
    ("remote", &["rustls"]),
    ("transports", &["rustls"]),
    ("v2x-service", &["rustls"]),
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let Some(name) = file.crate_name().filter(|name| file.path == format!("crates/{name}/Cargo.toml")) else {
            continue;
        };
        // Broken TOML is architecture's finding.
        if let Ok(manifest) = file.text.parse::<Table>() {
            check_manifest(file, name, &manifest, &mut findings);
        }
        if !has_docs(files, name) {
            findings.push(Finding::new(
                &format!("crates/{name}/src/lib.rs"),
                1,
                "this crate does not say what it is",
                "begin with `//!`: what it does not do, the types that matter, an example that compiles",
            ));
        }
    }
    findings
}

fn check_manifest(file: &File, name: &str, manifest: &Table, findings: &mut Vec<Finding>) {
    let mut report = |what: String, remedy: &str| findings.push(Finding::new(&file.path, 1, what, remedy));
    let package = manifest.get("package").and_then(Value::as_table).cloned().unwrap_or_default();
    let expected = if OWN_NAME.contains(&name) { name.to_owned() } else { format!("chronoseal-{name}") };
    if package.get("name").and_then(Value::as_str) != Some(&expected) {
        report(format!("the package is not called `{expected}`"), "name a package after its folder");
    }
    if package.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
        report("the package has no description".into(), "say in one line what it is");
    }
    for field in INHERITED {
        if !is_inherited(package.get(*field)) {
            report(format!("`{field}` does not come from the workspace"), &format!("write `{field}.workspace = true`"));
        }
    }
    for dependency in own_features(name, manifest) {
        report(
            format!("`{dependency}` does not come from the workspace with its features"),
            "write `.workspace = true`, and the features in the `Cargo.toml` of the root",
        );
    }
    if !OWN_LINTS.contains(&name) && !is_inherited(manifest.get("lints")) {
        report("the workspace's lints do not hold here".into(), "write `[lints]` and `workspace = true`");
    }
}

fn is_inherited(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

/// Dependencies that have features or a version of their own. Those of an optional one are part of the feature that takes it in.
fn own_features(name: &str, manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let holders = std::iter::once(manifest)
        .chain(targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table)));
    let allowed = OWN_FEATURES.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, names)| names);
    let mut found = Vec::new();
    for holder in holders {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (dependency, value) in holder.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
                let is_the_workspaces = is_inherited(Some(value)) && value.get("features").is_none();
                if !is_the_workspaces && !is_optional && !allowed.contains(&dependency.as_str()) {
                    found.push(dependency.clone());
                }
            }
        }
    }
    found
}

fn has_docs(files: &[File], name: &str) -> bool {
    files.iter().any(|file| {
        file.path == format!("crates/{name}/README.md")
            || ["lib", "main"].iter().any(|root| file.path == format!("crates/{name}/src/{root}.rs"))
                && file.text.trim_start().starts_with("//!")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"chronoseal-core\"\ndescription = \"Time\"\nversion.workspace = true\n\
                        edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
                        publish.workspace = true\n[lints]\nworkspace = true\n";

    fn findings(manifest: &str, lib: &str) -> Vec<String> {
        let files = [File::new("crates/core/Cargo.toml", manifest), File::new("crates/core/src/lib.rs", lib)];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_crate_passes() {
        assert!(findings(GOOD, "//! Time.\n").is_empty());
    }

    #[test]
    fn finds_missing_lints_docs_and_fields() {
        let no_lints = GOOD.replace("[lints]\nworkspace = true\n", "");
        assert!(findings(&no_lints, "//! Time.\n")[0].contains("lints do not hold"));
        assert!(findings(GOOD, "fn f() {}\n")[0].contains("does not say what it is"));
        let own_version = GOOD.replace("version.workspace = true\nedition", "version = \"9.0.0\"\nedition");
        assert!(findings(&own_version, "//! Time.\n")[0].contains("`version`"));
        assert!(findings(&GOOD.replace("chronoseal-core", "core"), "//! Time.\n")[0].contains("`chronoseal-core`"));
    }

    #[test]
    fn features_of_others_are_named_by_the_workspace() {
        let with = |lines: &str| findings(&format!("{GOOD}{lines}\n"), "//! Time.\n");
        assert!(with("[dependencies]\naes.workspace = true").is_empty());
        for kind in ["dependencies", "dev-dependencies", "target.'cfg(unix)'.dependencies"] {
            for value in ["\"0.9\"", "{ workspace = true, features = [\"zeroize\"] }"] {
                let found = with(&format!("[{kind}]\naes = {value}"));
                assert!(found.len() == 1 && found[0].contains("`aes` does not come from the workspace"), "{found:?}");
            }
        }
        let optional = "[dependencies]\naes = { workspace = true, features = [\"zeroize\"], optional = true }";
        assert!(with(optional).is_empty());
    }
}
