//! Which files may name a kind of segment. Everything else treats all kinds alike and asks the tables of kinds.

use super::File;
use super::architecture::is_source;
use crate::finding::Finding;

/// Where kinds are at home: files, or folders that end in `/`.
const AT_HOME: &[&str] = &[
    // The kinds' own modules, and the tables with a row for each.
    "crates/scenario/src/kinds/",
    "crates/plan/src/can.rs",
    "crates/plan/src/ethernet/",
    "crates/plan/src/radio.rs",
    "crates/plan/src/link.rs",
    "crates/catalog/src/can/",
    "crates/catalog/src/ethernet/",
    "crates/catalog/src/radio/",
    "crates/catalog/src/link/",
    "crates/catalog/src/lib.rs",
    "crates/analysis/src/can/",
    "crates/analysis/src/segment/",
    "crates/check/",
    // Formats of frames and files, media, and what a wire ends at in a live run.
    "crates/wire/",
    "crates/media/",
    "crates/recordings/",
    // A description of buses and networks has both.
    "crates/scenario/src/import/arxml/",
    "crates/testbed/",
    // Vehicles on the air are on no other kind.
    "crates/v2x-fleet/",
    // Published works are each about one kind.
    "crates/study/src/can_group_key/",
    "crates/study/src/ethernet_classes/",
    "crates/study/src/tte_hmac/",
    "crates/v2x-study/src/",
    // Draws networks of every kind.
    "crates/random-networks/src/",
];

/// Other files, or folders that end in `/`, that name one, and why. An entry goes when nothing there names one any more; none
/// is added without need.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/scenario/src/upgrade/buses.rs", "what earlier versions of the format said of buses"),
    ("crates/analysis/src/bounds.rs", "bounds of slots, which only Ethernet has"),
    (
        "crates/analysis/src/candidates.rs",
        "what is left of slots, and how often a forger can guess, which depends on the kind",
    ),
    ("crates/analysis/src/synthesis/", "makes schedule tables, which only Ethernet has"),
    ("crates/analysis/src/testing.rs", "plans of each kind for tests"),
    ("crates/catalog/src/error.rs", "hands on what the buses of a plan refuse"),
    ("crates/scenario/src/load.rs", "an infeasible plan points at the segment's own keys"),
    ("crates/scenario/src/upgrade.rs", "version 1 of the format was one per kind"),
    ("crates/cli/src/commands/fleet/", "v2x fleet is a short way to a scenario with a radio"),
    ("crates/runner/src/fleet.rs", "what v2x fleet prints of its vehicles"),
    ("crates/groupkey/src/profile.rs", "key agreement on a bus has a form for each frame format"),
];

/// What names a kind, as a whole word of code.
const NAMES: &[&str] = &[
    "Can",
    "Ethernet",
    "Radio",
    "CAN",
    "ETHERNET",
    "RADIO",
    "CanKind",
    "EthernetKind",
    "RadioKind",
    "CanHop",
    "EthernetHop",
    "RadioHop",
    "CanSegment",
    "EthernetSegment",
    "RadioSegment",
    "LinkHop",
    "LinkSegment",
    "CanMessage",
    "CanRecording",
    "EthernetStream",
    "\"can\"",
    "\"ethernet\"",
    "\"radio\"",
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; EXCEPTIONS.len()];
    let is_ours = |file: &&File| file.crate_name().is_some_and(|name| name != "xtask") && is_source(&file.path);
    for file in files.iter().filter(is_ours) {
        let Some((line, name)) = named(&file.text) else { continue };
        if let Some(index) = EXCEPTIONS.iter().position(|(place, _)| covers(place, &file.path)) {
            needed[index] = true;
        } else if !AT_HOME.iter().any(|home| covers(home, &file.path)) {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("`{name}`: this file names a kind of segment"),
                "ask the row of the kind (`catalog::Kind`, `scenario::SegmentKind`, `analysis::BOUNDS`); where kinds are \
                 at home is AT_HOME in crates/xtask/src/tidy/kinds.rs",
            ));
        }
    }
    for ((place, _), _) in EXCEPTIONS.iter().zip(needed).filter(|(_, is_needed)| !is_needed) {
        // Only of a place that was looked at.
        if files.iter().any(|file| covers(place, &file.path)) {
            findings.push(Finding::new(
                place,
                1,
                "no kind of segment is named here any more",
                "remove the line from EXCEPTIONS in crates/xtask/src/tidy/kinds.rs",
            ));
        }
    }
    findings
}

fn covers(place: &str, path: &str) -> bool {
    if place.ends_with('/') { path.starts_with(place) } else { path == place }
}

/// The first line that names a kind, and the name. Comments and tests at the end do not count, nor does what stands in
/// quotes, unless it is the name of a kind alone.
fn named(text: &str) -> Option<(usize, &'static str)> {
    for (number, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]") {
            return None;
        }
        if code.starts_with("//") {
            continue;
        }
        let words = words(code);
        if let Some(name) = NAMES.iter().find(|name| words.contains(*name)) {
            return Some((number + 1, name));
        }
    }
    None
}

/// Identifiers of a line of code, and its texts in their quotes.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in code.split('"').enumerate() {
        if index % 2 == 0 {
            words.extend(part.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()));
        } else {
            // With its quotes, which stand beside it in the line.
            let start = part.as_ptr() as usize - code.as_ptr() as usize;
            words.extend(code.get(start - 1..start + part.len() + 1));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&[File::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_that_names_a_kind_is_found_with_its_line() {
        for code in [
            "let view = Can::of(plan, segment);",
            "use chronoseal_plan::{CAN, Plan};",
            "if meta.kind == \"ethernet\" {}",
            "fn f(hop: &CanHop) {}",
            "fn f(view: Ethernet<'_>) {}",
        ] {
            let found = findings("crates/runner/src/facts.rs", &format!("\n{code}\n"));
            assert_eq!(found.len(), 1, "{code}: {found:?}");
            assert!(found[0].starts_with("crates/runner/src/facts.rs:2: `"), "{found:?}");
        }
    }

    #[test]
    fn kinds_are_named_at_home_and_in_tests_and_comments() {
        let code = "let view = Can::of(plan, segment);\n";
        for path in [
            "crates/catalog/src/can/agent.rs",
            "crates/catalog/src/lib.rs",
            "crates/sim/tests/can.rs",
            "crates/xtask/src/a.rs",
        ] {
            assert!(findings(path, code).is_empty(), "{path}");
        }
        for code in [
            "// Can::of is not for us\n",
            "/// On a CAN bus.\n",
            "#[error(\"the scenario has no CAN segment\")]\n",
            "let canned = Candidate { can_guest: true };\n",
            "#[cfg(test)]\nmod tests {\n    fn f(hop: CanHop) {}\n}\n",
        ] {
            assert_eq!(findings("crates/runner/src/facts.rs", code), [] as [String; 0]);
        }
    }

    #[test]
    fn an_exception_that_is_none_any_more_has_to_go() {
        for (place, why) in EXCEPTIONS {
            let path = if place.ends_with('/') { format!("{place}a.rs") } else { (*place).to_owned() };
            assert!(!why.is_empty() && !AT_HOME.iter().any(|home| covers(home, &path)), "{place}");
            assert!(findings(&path, "const KIND: &str = CAN;\n").is_empty());
            let found = findings(&path, "fn f() {}\n");
            assert!(found.len() == 1 && found[0].contains("EXCEPTIONS"), "{found:?}");
        }
    }
}
