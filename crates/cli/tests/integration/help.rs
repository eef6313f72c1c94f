//! The command line teaches, and bears readers that go away.

use std::io::Read;
use std::process::Stdio;

use crate::integration::support::{Bench, forty_frames, said};

/// Every command a person can type.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["check"],
    &["run"],
    &["study"],
    &["study", "list"],
    &["study", "run"],
    &["report"],
    &["compare"],
    &["saturate"],
    &["scenario"],
    &["scenario", "from"],
    &["scenario", "upgrade"],
    &["bounds"],
    &["bounds", "network"],
    &["bounds", "export"],
    &["schedule"],
    &["schedule", "make"],
    &["schedule", "add"],
    &["schedule", "remove"],
    &["schedule", "replay"],
    &["bench"],
    &["doctor"],
    &["middleware"],
    &["middleware", "run"],
    &["middleware", "attack"],
    &["middleware", "audit"],
    &["schema"],
    &["v2x"],
    &["v2x", "fleet"],
];

#[test]
fn every_help_text_shows_a_command_to_type() {
    let bench = Bench::new();
    for command in COMMANDS {
        let said = bench.say(&[command, &["--help"][..]].concat());
        let help = &said.assert_code(0).out;
        let usage = help.split_once("Options:").unwrap().1;
        assert!(usage.lines().any(|line| line.starts_with("  chronoseal ")), "{command:?} shows no example:\n{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command:?} is too wide:\n{help}");
        assert!(!help.contains("\n\n\n"), "{command:?}:\n{help}");
    }
}

#[test]
fn every_command_is_in_the_list_above() {
    let help = Bench::new().say(&["--help"]).out;
    let commands = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0.to_owned();
    let names =
        commands.lines().filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| !["help", "pki", "vss", "controller", "ca", "agent"].contains(name)) {
        assert!(COMMANDS.iter().any(|command| command.first() == Some(&name)), "{name}");
    }
}

/// What commands of other programs say when these are nowhere, and that they hand over all words where they are.
#[test]
fn commands_of_other_programs_are_handed_over_to_them() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let alone = bench.path("chronoseal");
    std::fs::copy(env!("CARGO_BIN_EXE_chronoseal"), &alone).unwrap();
    let say = |words: &[&str]| {
        let output = std::process::Command::new(&alone).args(words).env("PATH", "").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let of_v2x = ("chronoseal-v2x", "--bin chronoseal-v2x");
    let of_testbed = ("chronoseal-testbed", "--package chronoseal-testbed-cli");
    let commands: [(_, &[&str]); 7] = [
        (of_v2x, &["pki", "--help"]),
        (of_v2x, &["-q", "pki", "serve"]),
        (of_v2x, &["vss", "show", "x"]),
        (of_v2x, &["study", "run", "v2x-vss", "--seed", "3"]),
        (of_testbed, &["controller", "two.toml", "--agents", "agents.toml"]),
        (of_testbed, &["agent", "serve", "--help"]),
        (of_testbed, &["ca", "init", "x"]),
    ];
    for ((name, build), words) in commands {
        let (code, _, error) = say(words);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(name) && error.contains(&format!("cargo build --release {build}")), "{error}");
    }
    // A live run is this program's, and its stations are the other's.
    let stream = "[[streams]]\nname = \"s\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"64B\"\nair = { transport = \"quic\" }";
    let nodes = "[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n";
    let text = format!("schema_version = 2\nname = \"x\"\nduration = \"1s\"\n[segments.air.link]\n{nodes}{stream}\n");
    bench.write("quic.toml", text);
    let file = bench.path("quic.toml").display().to_string();
    let (code, _, error) = say(&["run", &file, "--engine", "live", "--no-store"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("stream `s` goes over QUIC, so its stations are processes of the program"), "{error}");
    assert!(error.contains("cargo build --release --package chronoseal-testbed-cli"), "{error}");
    for ((name, _), words) in commands {
        let other = bench.path(name);
        std::fs::write(&other, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (code, out, _) = say(words);
        assert_eq!((code, out.trim_end()), (Some(7), words.join(" ").as_str()));
    }
}

#[test]
fn wrong_arguments_are_refused_with_a_hint() {
    let bench = Bench::new();
    bench.say(&["chek"]).assert_refused(&["check"]);
    bench.say(&["run"]).assert_refused(&["<FILE>"]);
    bench.say(&["run", "x.toml", "--engine", "simulator"]).assert_refused(&["sim", "live"]);
    bench.say(&["run", "x.toml", "--repeat", "0"]).assert_refused(&["1..=1000"]);
    bench.say(&["run", "x.toml", "--no-store", "--out", "y"]).assert_refused(&["cannot be used with"]);
    bench.say(&[]).assert_refused(&["Usage:"]);
}

/// `chronoseal … | head`: the reader closes the pipe while there is more to say.
#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let bench = Bench::new();
    bench.write("forty.toml", forty_frames());
    for arguments in
        [&["schema"][..], &["check", "forty.toml"], &["run", "forty.toml", "--no-store", "--quiet"], &["--help"]]
    {
        let mut child = bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut one = [0];
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut one).unwrap();
        drop(pipe);
        let said = said(child.wait_with_output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
