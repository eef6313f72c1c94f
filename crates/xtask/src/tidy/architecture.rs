//! Which crate may use which, and what it may touch of the world. The reasons are in `ARCHITECTURE.md`.

use toml::{Table, Value};

use super::File;
use crate::finding::Finding;

/// Something of the world that makes a run depend on more than scenario and seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touch {
    Files,
    Sockets,
    Clocks,
    Threads,
    Programs,
}
use Touch::{Clocks, Files, Programs, Sockets, Threads};

/// One crate's place in the house.
struct Place {
    /// Folder below `crates/`.
    name: &'static str,
    /// Crates of the workspace it may depend on.
    uses: &'static [&'static str],
    /// What its sources may touch, tests excluded.
    touches: &'static [Touch],
}

/// The whole rule. `sim` and `testbed` are two drivers of the same nodes and never see each other.
const PLACES: &[Place] = &[
    Place { name: "core", uses: &[], touches: &[] },
    Place { name: "core-testing", uses: &["core"], touches: &[] },
    Place { name: "wire", uses: &["core"], touches: &[] },
    Place { name: "fourq-mulx", uses: &[], touches: &[] },
    Place { name: "fourq-ifma", uses: &[], touches: &[] },
    Place { name: "fourq", uses: &["fourq-ifma", "fourq-mulx"], touches: &[] },
    Place { name: "ecdsa-lanes", uses: &[], touches: &[] },
    Place { name: "crypto", uses: &["core", "fourq"], touches: &[] },
    Place { name: "frameauth", uses: &["core", "wire", "crypto"], touches: &[] },
    Place { name: "groupkey", uses: &["core", "wire", "crypto", "frameauth"], touches: &[] },
    Place { name: "clocksync", uses: &["core", "wire"], touches: &[] },
    Place { name: "media", uses: &["core", "wire", "frameauth", "clocksync"], touches: &[] },
    Place { name: "rational", uses: &[], touches: &[] },
    Place { name: "schedule", uses: &["core"], touches: &[] },
    Place { name: "recordings", uses: &["core", "wire"], touches: &[] },
    Place { name: "v2x", uses: &["ecdsa-lanes"], touches: &[] },
    // What a vehicle and its authorities need of a host.
    Place {
        name: "v2x-service",
        uses: &["core", "v2x", "wire"],
        touches: &[Files, Sockets, Clocks, Threads, Programs],
    },
    // C code, so nothing that the first build needs depends on it.
    Place { name: "v2x-aws-lc", uses: &["v2x"], touches: &[] },
    // A receiver, measured. Threads: it sleeps between messages.
    Place { name: "v2x-load", uses: &["core", "ecdsa-lanes", "v2x", "v2x-aws-lc"], touches: &[Clocks, Threads] },
    Place { name: "nodes", uses: IN_STATIONS, touches: &[] },
    Place { name: "v2x-fleet", uses: &["core", "media", "nodes", "v2x", "wire"], touches: &[] },
    Place { name: "plan", uses: PROTOCOLS, touches: &[] },
    // The parser: whatever stands below it here does without, but studies and the command line.
    Place { name: "scenario", uses: WITH_PLAN, touches: &[] },
    Place { name: "analysis", uses: WITH_SCHEDULES, touches: &[] },
    // What both drivers build from a plan, so that neither has its own version.
    Place { name: "catalog", uses: WITH_ANALYSIS, touches: &[] },
    Place { name: "results", uses: &["core"], touches: &[Files] },
    Place { name: "sim", uses: OF_A_DRIVER, touches: &[] },
    // Files: device nodes and /proc only.
    Place { name: "testbed", uses: OF_A_DRIVER, touches: &[Files, Sockets, Clocks, Threads, Programs] },
    Place { name: "report", uses: &["core", "results"], touches: &[] },
    // Where a plan meets an engine, for command line and studies.
    // Threads: one, which is told what a simulation tells, in its order (`apart.rs`).
    Place { name: "runner", uses: WITH_DRIVERS, touches: &[Threads] },
    // The pages of `check`, for command line and studies.
    Place { name: "check", uses: WITH_REPORT, touches: &[] },
    // Files: adapters, what was built of them, keys for a run. Programs: their builds.
    Place {
        name: "middleware",
        uses: &["core", "plan", "catalog", "results", "report", "runner", "scenario"],
        touches: &[Files, Programs],
    },
    // A published work as code: what its tables hold and how each is made.
    Place { name: "study", uses: WITH_CHECK, touches: &[] },
    // How programs print and fail; folders for results.
    Place {
        name: "console",
        uses: &["catalog", "scenario", "report", "results", "study", "testbed"],
        touches: &[Files],
    },
    // Agents and controller of runs over several hosts. Files: identities, limits, tables of agents.
    Place { name: "remote", uses: OF_HOSTS, touches: &[Files, Sockets, Clocks, Threads] },
    // TLS and QUIC, which only the stations of `testbed-cli` have. Clocks: a run's certificates, timers of QUIC.
    Place { name: "transports", uses: &["testbed"], touches: &[Sockets, Clocks] },
    Place { name: "testbed-cli", uses: OF_HOSTS_PROGRAM, touches: &[] },
    Place { name: "v2x-study", uses: OF_V2X, touches: &[] },
    Place { name: "v2x-cli", uses: OF_V2X_PROGRAM, touches: &[Files] },
    // Clocks: the day in a run's manifest, processor time in its figures.
    Place { name: "cli", uses: WITH_STUDIES, touches: &[Files, Clocks, Programs] },
    // Texts of scenarios and nothing else, so that `xtask` needs no crate that may not compile.
    Place { name: "random-networks", uses: &[], touches: &[] },
    Place { name: "xtask", uses: &["random-networks"], touches: &[Files, Programs, Clocks, Threads] },
];

const IN_STATIONS: &[&str] = &["core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media"];
#[rustfmt::skip]
const PROTOCOLS: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "v2x-fleet",
];
#[rustfmt::skip]
const WITH_PLAN: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan",
    "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const WITH_SCHEDULES: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "rational", "recordings", "schedule",
    "plan", "v2x", "v2x-fleet",
];
/// A segment with slots has a table before it is built.
#[rustfmt::skip]
const WITH_ANALYSIS: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan", "analysis",
    "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const OF_A_DRIVER: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan", "catalog", "results",
    "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const WITH_DRIVERS: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan", "analysis",
    "catalog", "results", "sim", "testbed", "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const WITH_REPORT: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan", "analysis",
    "catalog", "results", "report", "runner", "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const WITH_CHECK: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "plan", "scenario", "analysis",
    "catalog", "results", "sim", "testbed", "report", "runner", "check", "middleware",
    "v2x", "v2x-fleet",
];
#[rustfmt::skip]
const OF_V2X: &[&str] = &[
    "core", "wire", "media", "results", "testbed", "report", "runner", "study", "console",
    "v2x", "v2x-aws-lc", "v2x-fleet", "v2x-load", "v2x-service",
];
const OF_V2X_PROGRAM: &[&str] = &["testbed", "console", "v2x", "v2x-aws-lc", "v2x-service", "v2x-study"];
#[rustfmt::skip]
const WITH_STUDIES: &[&str] = &[
    "core", "wire", "crypto", "frameauth", "groupkey", "clocksync", "media", "nodes", "recordings", "schedule", "plan", "scenario",
    "analysis", "catalog", "results", "sim", "testbed", "report", "runner", "check", "middleware", "study", "console",
    "v2x", "v2x-fleet",
];

const OF_HOSTS: &[&str] = &["core", "catalog", "plan", "results", "runner", "scenario", "testbed"];
#[rustfmt::skip]
const OF_HOSTS_PROGRAM: &[&str] = &[
    "core", "catalog", "results", "report", "runner", "scenario", "testbed", "console", "remote", "transports",
];

/// What tests and benches may use besides: they read scenarios, a simulated figure is held against its bound, a daemon is sent a
/// town's messages.
const TESTS_USE: &[(&str, &[&str])] = &[
    ("analysis", &["scenario"]),
    ("catalog", &["scenario"]),
    ("check", &["scenario"]),
    ("sim", &["analysis", "random-networks", "scenario", "schedule"]),
    ("remote", &["report"]),
    ("runner", &["scenario"]),
    ("testbed", &["analysis", "v2x", "v2x-fleet"]),
    ("v2x-cli", &["wire"]),
    ("v2x-service", &["v2x-load"]),
];

/// What the tests of every crate may use: the suites that each node and each driver has to pass.
const SUITES: &str = "core-testing";

/// Words in a source line that give away what it touches.
const MARKS: &[(&str, Touch)] = &[
    ("std::fs", Files),
    ("File::open", Files),
    ("std::net", Sockets),
    ("std::os::unix::net", Sockets),
    ("UdpSocket", Sockets),
    ("TcpStream", Sockets),
    ("Instant::now", Clocks),
    ("SystemTime::now", Clocks),
    ("clock_gettime", Clocks),
    ("thread::spawn", Threads),
    ("thread::sleep", Threads),
    ("thread::scope", Threads),
    ("std::process::Command", Programs),
    ("Command::new", Programs),
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let Some(name) = file.crate_name() else { continue };
        let place = PLACES.iter().find(|place| place.name == name);
        if file.path == format!("crates/{name}/Cargo.toml") {
            match place {
                Some(place) => check_dependencies(file, place, &mut findings),
                None => findings.push(Finding::new(
                    &file.path,
                    1,
                    format!("crate `{name}` has no place in the house"),
                    "add a line to PLACES in crates/xtask/src/tidy/architecture.rs and a row to ARCHITECTURE.md",
                )),
            }
        } else if let Some(place) = place.filter(|_| is_source(&file.path)) {
            check_touches(file, place, &mut findings);
        }
    }
    findings
}

fn check_dependencies(file: &File, place: &Place, findings: &mut Vec<Finding>) {
    let Ok(manifest) = file.text.parse::<Table>() else {
        findings.push(Finding::new(&file.path, 1, "this manifest is no TOML", "mend it"));
        return;
    };
    for (used, is_for_tests) in workspace_dependencies(&manifest) {
        let in_tests = TESTS_USE.iter().find(|(name, _)| *name == place.name).map_or(&[][..], |(_, uses)| uses);
        let is_allowed = place.uses.contains(&used.as_str())
            || is_for_tests && (used == SUITES || in_tests.contains(&used.as_str()));
        if used == place.name || is_allowed {
            continue;
        }
        let line = line_of(&file.text, &format!("chronoseal-{used}"));
        findings.push(Finding::new(
            &file.path,
            line,
            format!("`{}` may not depend on `{used}`", place.name),
            "move what is needed down to a crate both may use; the table is PLACES in \
             crates/xtask/src/tidy/architecture.rs",
        ));
    }
}

/// Folder names of the workspace's crates a manifest names, in every kind of dependency and for every target, and
/// whether only tests use them.
fn workspace_dependencies(manifest: &Table) -> Vec<(String, bool)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let holders = std::iter::once(manifest)
        .chain(targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table)));
    let mut names = Vec::new();
    for holder in holders {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (key, value) in holder.get(kind).and_then(Value::as_table).into_iter().flatten() {
                // A renamed dependency carries its real name in `package`.
                let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
                if let Some(name) = name.strip_prefix("chronoseal-") {
                    names.push((name.to_owned(), kind == "dev-dependencies"));
                }
            }
        }
    }
    names
}

/// Rust below `src/`, tests left out: they may write temporary files.
pub(super) fn is_source(path: &str) -> bool {
    path.ends_with(".rs") && path.contains("/src/") && !path.ends_with("/tests.rs") && !path.contains("/tests/")
}

fn check_touches(file: &File, place: &Place, findings: &mut Vec<Finding>) {
    for (number, line) in file.text.lines().enumerate() {
        let code = line.trim_start();
        // Tests stand last in a file.
        if code.starts_with("#[cfg(test)]") {
            return;
        }
        if code.starts_with("//") {
            continue;
        }
        // A mark in quotes is a text about it, as in the table above.
        let mark = MARKS.iter().find(|(mark, _)| code.contains(mark) && !code.contains(&format!("\"{mark}\"")));
        let Some((mark, touch)) = mark.filter(|(_, touch)| !place.touches.contains(touch)) else { continue };
        findings.push(Finding::new(
            &file.path,
            number + 1,
            format!("`{mark}` in `{}`, which may not touch {}", place.name, name_of(*touch)),
            "take bytes, a time or a seeded generator as an argument; the table is PLACES in \
             crates/xtask/src/tidy/architecture.rs",
        ));
    }
}

fn name_of(touch: Touch) -> &'static str {
    match touch {
        Files => "files",
        Sockets => "sockets",
        Clocks => "clocks",
        Threads => "threads",
        Programs => "other programs",
    }
}

fn line_of(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.contains(word)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&[File::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn table_has_no_cycle_and_no_unknown_name() {
        for (index, place) in PLACES.iter().enumerate() {
            for used in place.uses {
                let at = PLACES.iter().position(|other| other.name == *used);
                let at = at.unwrap_or_else(|| panic!("{} uses unknown {used}", place.name));
                assert!(at < index, "{} stands above {used}, which it uses", place.name);
            }
        }
    }

    #[test]
    fn drivers_do_not_see_each_other_even_in_tests() {
        for (one, other) in [("sim", "testbed"), ("testbed", "sim")] {
            let text = format!("[dev-dependencies]\nchronoseal-{other}.workspace = true\n");
            let found = findings(&format!("crates/{one}/Cargo.toml"), &text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("crates/{one}/Cargo.toml:2: `{one}` may not depend on `{other}`")));
        }
    }

    #[test]
    fn tests_of_a_driver_may_hold_it_against_its_bound() {
        let analysis = "chronoseal-analysis.workspace = true\n";
        assert!(findings("crates/sim/Cargo.toml", &format!("[dev-dependencies]\n{analysis}")).is_empty());
        assert_eq!(findings("crates/sim/Cargo.toml", &format!("[dependencies]\n{analysis}")).len(), 1);
    }

    #[test]
    fn finds_renamed_and_target_dependencies() {
        let renamed = "[dependencies]\nx = { package = \"chronoseal-cli\", path = \"../cli\" }\n";
        assert_eq!(findings("crates/core/Cargo.toml", renamed).len(), 1);
        let target = "[target.'cfg(unix)'.dependencies]\nchronoseal-cli.workspace = true\n";
        assert_eq!(findings("crates/core/Cargo.toml", target).len(), 1);
    }

    #[test]
    fn allowed_dependencies_pass() {
        let text = "[dependencies]\nchronoseal-core.workspace = true\nserde.workspace = true\n";
        assert!(findings("crates/wire/Cargo.toml", text).is_empty());
    }

    #[test]
    fn new_crate_needs_a_place() {
        assert!(findings("crates/garage/Cargo.toml", "[package]\n")[0].contains("no place in the house"));
    }

    #[test]
    fn files_sockets_and_clocks_stay_where_they_belong() {
        let code = "fn f() {\n    let t = std::time::Instant::now();\n}\n";
        assert!(findings("crates/sim/src/lib.rs", code)[0].starts_with("crates/sim/src/lib.rs:2: `Instant::now`"));
        assert!(findings("crates/testbed/src/lib.rs", code).is_empty());
        assert_eq!(findings("crates/scenario/src/lib.rs", "use std::fs;\n").len(), 1);
        assert!(findings("crates/results/src/lib.rs", "use std::fs;\n").is_empty());
        assert_eq!(findings("crates/results/src/lib.rs", "use std::net::UdpSocket;\n").len(), 1);
    }

    #[test]
    fn tests_and_comments_may_name_them() {
        let code = "// std::fs is not for us\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert!(findings("crates/sim/src/lib.rs", code).is_empty());
        assert!(findings("crates/sim/tests/trace.rs", "use std::fs;\n").is_empty());
    }
}
