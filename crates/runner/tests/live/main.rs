//! What comes of a scenario live, beside what comes of it in the simulator.
//!
//! A main of its own, since its executable is also the stations' program. Where the host refuses to start them it says
//! so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure. The parts run one after the other, each as on a machine of
//! its own.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test with a main of its own")]

mod attacks;
mod bridges;
mod classes;
mod collected;
mod engines;
mod gateways;
mod links;
mod middleware;
mod patience;
mod programs;
mod radio;
#[path = "../recorded.rs"]
mod recorded;
mod relays;
mod segmented;
#[path = "../street.rs"]
mod street;
mod zones;

use std::process::ExitCode;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("agent") {
        return engines::agent_main();
    }
    if argument.as_deref() == Some(programs::PROGRAM) {
        return programs::main(&std::env::args().skip(2).collect::<Vec<_>>());
    }
    let wanted = argument.filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let parts: [(&str, fn()); 11] = [
        ("attacks", attacks::run_all),
        ("bridges", bridges::run_all),
        ("classes", classes::run_all),
        ("collected", collected::run_all),
        ("gateways", gateways::run_all),
        ("links", links::run_all),
        ("middleware", middleware::run_all),
        ("programs", programs::run_all),
        ("radio", radio::run_all),
        ("relays", relays::run_all),
        ("segmented", segmented::run_all),
    ];
    let (chosen, others): (Vec<_>, Vec<_>) = parts.iter().partition(|(name, _)| name.contains(&wanted));
    println!("\nrunning {} tests", chosen.len());
    for (name, run_all) in &chosen {
        run_all();
        println!("test {name} ... ok");
    }
    // A test that fails panics, so whoever gets here has seen none.
    let (passed, left) = (chosen.len(), others.len());
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {left} filtered out\n");
    ExitCode::SUCCESS
}
