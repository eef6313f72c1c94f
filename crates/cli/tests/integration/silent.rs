//! Nothing is taken in silence: a name that means nothing, a file that never ends, a line that nobody can read.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::integration::support::{Bench, said};

const PAIR: &str = "schema_version = 2
name = \"pair\"
duration = \"100ms\"
[segments.network.ethernet]
rate = \"100Mbit/s\"
cluster_cycle = \"10ms\"
guard_period = \"100us\"
[[nodes]]
name = \"a\"
[[nodes]]
name = \"b\"
[[streams]]
name = \"speed\"
from = \"a\"
to = [\"b\"]
period = \"10ms\"
length = \"46B\"
";

#[test]
fn a_cost_of_an_operation_that_nobody_has_is_refused_with_the_nearest_name() {
    let bench = Bench::new();
    // The other one is attacked, which paper does not check.
    for (file, is_right) in [("op", false), ("op2", true)] {
        let name = format!("{file}.toml");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/defects").join(&name);
        bench.write(&name, std::fs::read_to_string(source).unwrap());
        bench.say(&["scenario", "upgrade", &name]);
        let said = bench.say(&["check", &name]);
        match is_right {
            true => drop(said.assert_code(3)),
            false => drop(
                said.assert_refused(&["there is no operation named `hmac-sha256`", "did you mean `hmac-sha-256`?"]),
            ),
        }
    }
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let bench = Bench::new();
    let unclosed = format!("schema_version = 2\nname = \"{}\n", "a".repeat(70_000));
    let dotted = format!("{PAIR}{} = 1\n", vec!["key"; 30_000].join("."));
    let wide = format!("{PAIR}\n[[nodes]]\nname = \"{}\"  # \u{e9}\nx = 1\n", "\u{e9}".repeat(90_000));
    for (text, code) in [(unclosed, "scenario::"), (dotted, "scenario::"), (wide, "scenario::")] {
        bench.write("long.toml", &text);
        let said = bench.say(&["check", "long.toml"]);
        said.assert_refused(&[code]);
        assert!(!said.err.contains("panicked") && said.err.len() < 60_000, "{} bytes", said.err.len());
    }
}

#[test]
fn a_recording_that_is_no_ordinary_file_is_refused_before_it_is_read() {
    let bench = Bench::new();
    let fifo = bench.path("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for file in ["/dev/zero", "pipe", "."] {
        let recording = format!(
            "payload = {{ recording = \"r\" }}\n[[recordings]]\nname = \"r\"\nsignal = {{ file = \"{file}\", name = \"x\" }}\n"
        );
        bench.write("device.toml", format!("{PAIR}{recording}"));
        bench.say(&["check", "device.toml"]).assert_refused(&["it is no ordinary file"]);
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_with_the_limit() {
    let bench = Bench::new();
    bench.write("long.toml", format!("{PAIR}# {}\n", "x".repeat(4_000_001)));
    bench.say(&["check", "long.toml"]).assert_refused(&["a scenario has at most 4000000"]);
}

#[test]
fn a_file_of_gigabytes_is_refused_without_being_read() {
    let bench = Bench::new();
    let huge = std::fs::File::create(bench.path("huge.toml")).unwrap();
    huge.set_len(3_000_000_000).unwrap();
    // Whoever reads 1 GB of it needs more memory than this.
    let limited = |arguments: &str| {
        let program = env!("CARGO_BIN_EXE_chronoseal");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v 1000000; exec {program} {arguments}")]).current_dir(bench.path(""));
        said(command.output().unwrap())
    };
    limited("check huge.toml").assert_refused(&["a scenario has at most 4000000"]);
    limited("run huge.toml").assert_refused(&["a scenario has at most 4000000"]);
    limited("scenario upgrade huge.toml").assert_refused(&["a scenario has at most 4000000"]);
    limited("scenario from huge.toml").assert_refused(&["longer than 1000000000 bytes"]);
}

#[test]
fn several_runs_are_one_list_for_programs() {
    let bench = Bench::new();
    bench.write("pair.toml", PAIR);
    let list = |arguments: &[&str]| -> Vec<Value> {
        let said = bench.say(&[&["run", "pair.toml", "--format", "json", "--quiet"], arguments].concat());
        serde_json::from_str(&said.assert_code(0).out).unwrap()
    };
    let seeds: Vec<_> =
        list(&["--repeat", "3", "--no-store"]).iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [1, 2, 3]);
    assert_eq!(list(&["--repeat", "2", "--count", "--allow-unchecked"]).len(), 2);
}

#[test]
fn why_a_schedule_does_not_fit_is_said_once() {
    let bench = Bench::new();
    bench.write("tight.toml", PAIR.replace("100us", "10ms"));
    let said = bench.say(&["check", "tight.toml"]);
    said.assert_code(2);
    assert_eq!(
        (said.out.matches("alone needs").count(), said.err.matches("alone needs").count()),
        (0, 1),
        "{}",
        said.err
    );
}
