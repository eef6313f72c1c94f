//! What tests of many parts of the format do alike.

use chronoseal_plan::Plan;
use chronoseal_scenario::{Code, NoFiles, Problems, load};

/// The plan of a scenario that is right.
pub(crate) fn plan(text: &str) -> Plan {
    load("scenario.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// A scenario with one thing in it changed, in a case of this name.
pub(crate) fn changed(name: &str, text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{name}: the scenario has no {old}");
    text.replacen(old, new, 1)
}

/// What is wrong with a scenario in a case of this name. A problem with this code is among it, says where it is, and what helps.
pub(crate) fn refused(name: &str, file: &str, text: &str, code: Code) -> Problems {
    let problems = load(file, text.as_bytes(), &[], &NoFiles).expect_err(name);
    let found = problems.list().iter().find(|problem| problem.code == code);
    let found = found.unwrap_or_else(|| panic!("{name}: {}", problems.render()));
    assert!(!found.labels.is_empty() && found.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
    problems
}
