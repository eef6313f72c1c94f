//! What it says of itself, and what it refuses.

use std::process::{Command, Output};

fn say(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chronoseal-v2x")).args(words).output().unwrap()
}

#[test]
fn every_help_text_shows_a_command_to_type() {
    for words in [&["pki"][..], &["vss"], &["study", "run"], &[]] {
        let said = say(&[words, &["--help"]].concat());
        let help = String::from_utf8(said.stdout).unwrap();
        assert!(said.status.success(), "{words:?}");
        assert!(help.contains("Usage: chronoseal "), "{words:?} is typed as a command of chronoseal:\n{help}");
        assert!(help.lines().any(|line| line.starts_with("  chronoseal ")), "{words:?} shows no example:\n{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{words:?} is too wide:\n{help}");
    }
}

#[test]
fn an_option_that_the_study_does_not_use_is_refused() {
    for option in ["--full", "--no-fifo"] {
        let said = say(&["study", "run", "v2x-vss", option]);
        let error = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{error}");
        for word in ["v2x-vss", option, "leave it out", "it takes", "--seed"] {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
    let said = say(&["study", "run", "tte-hmac"]);
    assert!(String::from_utf8(said.stderr).unwrap().contains("no study named tte-hmac"));
}
