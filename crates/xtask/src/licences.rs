//! Which licences dependencies may have. The project is `MIT OR Apache-2.0`; nothing it ships may ask for more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::{Failure, TaskResult, process};

/// Fine anywhere.
const ALLOWED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unicode-3.0",
    "BSL-1.0",
    "CC0-1.0",
    "Unlicense",
];
/// Fine where nothing is shipped: tests, benches, and adapters, which a user builds for himself.
const ALLOWED_IN_DEV: &[&str] = &["MPL-2.0", "CDLA-Permissive-2.0"];

pub(crate) fn run(root: &Path) -> TaskResult {
    judge_all(root, true)
}

/// Those of a workspace of programs that a user builds for himself: nothing of it is shipped.
pub(crate) fn of_adapter(folder: &Path) -> TaskResult {
    judge_all(folder, false)
}

fn judge_all(root: &Path, ships: bool) -> TaskResult {
    let metadata = process::output(root, &["cargo", "metadata", "--format-version", "1", "--locked"])?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| Failure::because(format!("cargo metadata: {error}")))?;
    let packages = metadata["packages"].as_array().ok_or_else(|| Failure::because("cargo metadata has no packages"))?;
    let shipped = shipped_packages(&metadata);

    let mut refused = 0;
    let mut checked = 0;
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        checked += 1;
        let id = package["id"].as_str().unwrap_or_default();
        if let Err(reason) = judge(package["license"].as_str(), ships && shipped.contains(id)) {
            refused += 1;
            let name = package["name"].as_str().unwrap_or("?");
            let version = package["version"].as_str().unwrap_or("?");
            println!(
                "{}:1: {name} {version}: {reason}\n    use another crate, or add its licence to crates/xtask/src/licences.rs with a reason",
                root.join("Cargo.lock").display()
            );
        }
    }
    if refused > 0 {
        return Err(Failure::CheckFailed);
    }
    println!("licences: {}: {checked} dependencies, all allowed", root.display());
    Ok(())
}

/// Identifiers of packages reached from the workspace without passing a dev-dependency.
fn shipped_packages(metadata: &Value) -> BTreeSet<String> {
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let mut open: Vec<&str> =
        metadata["workspace_members"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id.to_owned()) {
            continue;
        }
        let edges = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        open.extend(edges.filter(|edge| is_shipped(edge)).filter_map(|edge| edge["pkg"].as_str()));
    }
    reached
}

fn is_shipped(edge: &Value) -> bool {
    edge["dep_kinds"].as_array().is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"].as_str() != Some("dev")))
}

fn judge(expression: Option<&str>, is_shipped: bool) -> Result<(), String> {
    let expression = expression.ok_or("names no licence expression")?;
    let is_allowed = |licence: &str| ALLOWED.contains(&licence) || (!is_shipped && ALLOWED_IN_DEV.contains(&licence));
    match holds(expression, &is_allowed) {
        Some(true) => Ok(()),
        Some(false) => Err(format!("licence `{expression}` is not allowed here")),
        None => Err(format!("licence `{expression}` is no expression I can read")),
    }
}

/// Whether an SPDX expression can be met with allowed licences; `None` if it is malformed.
///
/// Grammar (SPDX 2.3, annex D): OR binds weaker than AND, WITH adds an exception and so only permits more. The old
/// `A/B` of crates.io means OR.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &tokens[..];
    let value = any_of(&mut rest, is_allowed)?;
    rest.is_empty().then_some(value)
}

fn any_of(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut value = all_of(rest, is_allowed)?;
    while take(rest, "OR") {
        value |= all_of(rest, is_allowed)?;
    }
    Some(value)
}

fn all_of(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut value = one(rest, is_allowed)?;
    while take(rest, "AND") {
        value &= one(rest, is_allowed)?;
    }
    Some(value)
}

fn one(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    if take(rest, "(") {
        let value = any_of(rest, is_allowed)?;
        return take(rest, ")").then_some(value);
    }
    let name = word(rest)?;
    if take(rest, "WITH") {
        word(rest)?;
    }
    Some(is_allowed(name))
}

fn word<'a>(rest: &mut &[&'a str]) -> Option<&'a str> {
    let (first, tail) = rest.split_first()?;
    if ["OR", "AND", "WITH", "(", ")"].contains(first) {
        return None;
    }
    *rest = tail;
    Some(first)
}

fn take(rest: &mut &[&str], token: &str) -> bool {
    let found = rest.first() == Some(&token);
    if found {
        *rest = &rest[1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_expressions_that_can_be_met() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        ] {
            assert_eq!(judge(Some(expression), true), Ok(()), "{expression}");
        }
    }

    #[test]
    fn refuses_copyleft_missing_and_malformed_licences() {
        for expression in ["GPL-3.0-only", "MIT AND LGPL-2.1-only", "MIT OR", "(MIT", "MIT Apache-2.0", ""] {
            assert!(judge(Some(expression), true).is_err(), "{expression}");
        }
        assert!(judge(None, true).is_err());
    }

    #[test]
    fn and_binds_stronger_than_or() {
        assert_eq!(judge(Some("MIT OR GPL-3.0-only AND LGPL-3.0-only"), true), Ok(()));
        assert!(judge(Some("(MIT OR ISC) AND GPL-3.0-only"), true).is_err());
    }

    #[test]
    fn file_copyleft_is_for_development_only() {
        assert_eq!(judge(Some("MPL-2.0"), false), Ok(()));
        assert!(judge(Some("MPL-2.0"), true).is_err());
    }

    #[test]
    fn what_only_tests_need_is_not_shipped() {
        let metadata = serde_json::json!({
            "workspace_members": ["ours"],
            "resolve": { "nodes": [
                { "id": "ours", "deps": [
                    { "pkg": "a", "dep_kinds": [{ "kind": null }] },
                    { "pkg": "t", "dep_kinds": [{ "kind": "dev" }] },
                ] },
                { "id": "a", "deps": [{ "pkg": "b", "dep_kinds": [{ "kind": "build" }] }] },
                { "id": "b", "deps": [] },
                { "id": "t", "deps": [{ "pkg": "u", "dep_kinds": [{ "kind": null }] }] },
                { "id": "u", "deps": [] },
            ] },
        });
        let shipped = shipped_packages(&metadata);
        assert_eq!(shipped.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "ours"]);
    }
}
