//! Two hosts and a controller, each a network namespace with a cable to a bridge between them: agents started by hand, as a person would.
//!
//! Everything runs in a user, network and process namespace of its own, made by `unshare`, which takes all with it that might be left. Where the
//! host refuses that it says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::print_stderr, clippy::print_stdout, clippy::unwrap_used, reason = "a test with a main of its own")]

mod hosts;
mod killed;
mod network;
mod ptp;
mod secured;

use std::process::{Command, ExitCode};

/// A test and its name.
type Test = (&'static str, fn(&network::Network));

/// The argument with which this program is the one in the namespaces.
const INSIDE: &str = "inside";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [INSIDE, wanted @ ..] = &words[..] {
        return inside(wanted.first().copied().unwrap_or_default());
    }
    if let ["hold", address] = words[..] {
        return network::hold(address);
    }
    let wanted = words.first().filter(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let unshare = ["--map-root-user", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"];
    let probe =
        Command::new("unshare").args(unshare).args(["ip", "link", "add", "name", "cs", "type", "bridge"]).output();
    let refusal = match probe {
        Ok(probe) if probe.status.success() => None,
        Ok(probe) => Some(String::from_utf8_lossy(&probe.stderr).trim().to_owned()),
        Err(error) => Some(format!("no unshare: {error}")),
    };
    if let Some(reason) = refusal {
        println!("skipped: this host refuses namespaces with a bridge, or has no `ip`: {reason}");
        let is_required = std::env::var("CHRONOSEAL_REQUIRE_LIVE").is_ok_and(|value| value == "1");
        return if is_required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let own = std::env::current_exe().unwrap();
    let status = Command::new("unshare").args(unshare).arg(own).args([INSIDE, wanted]).status().unwrap();
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn inside(wanted: &str) -> ExitCode {
    let all: Vec<Test> = [hosts::TESTS, killed::TESTS, ptp::TESTS, secured::TESTS].concat();
    let (chosen, others): (Vec<_>, Vec<_>) = all.iter().partition(|(name, _)| name.contains(wanted));
    println!("\nrunning {} tests", chosen.len());
    let network = network::Network::new();
    for (name, test) in &chosen {
        test(&network);
        network.nothing_is_left();
        println!("test {name} ... ok");
    }
    // A test that fails panics, so whoever gets here has seen none.
    let (passed, left) = (chosen.len(), others.len());
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {left} filtered out\n");
    ExitCode::SUCCESS
}
