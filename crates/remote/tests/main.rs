//! Agents and controllers in one process, on the loopback interface: who is let in, what is refused, and what comes of clocks.
//!
//! A main of its own, since its executable is also the stations' program.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test with a main of its own")]

mod bench;
mod clocks;
mod refusals;
mod runs;

use std::process::ExitCode;

use chronoseal_scenario::Texts;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("agent") {
        return chronoseal_runner::agent_main(|texts: &Texts| texts.plan().map_err(|problems| problems.render()));
    }
    let wanted = argument.filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let all = [refusals::TESTS, runs::TESTS, clocks::TESTS].concat();
    let (chosen, others): (Vec<_>, Vec<_>) = all.iter().partition(|(name, _)| name.contains(&wanted));
    println!("\nrunning {} tests", chosen.len());
    for (name, test) in &chosen {
        test();
        println!("test {name} ... ok");
    }
    // A test that fails panics, so whoever gets here has seen none.
    let (passed, left) = (chosen.len(), others.len());
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {left} filtered out\n");
    ExitCode::SUCCESS
}
