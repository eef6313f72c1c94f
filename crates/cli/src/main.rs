//! The `chronoseal` command. One file a subcommand, in `commands`.

mod arguments;
mod commands;
mod other_program;

use std::ffi::OsString;
use std::process::ExitCode;

use chronoseal_console::{Printer, ended};
use chronoseal_scenario::Texts;
use chronoseal_testbed::has_controller;
use clap::Parser;

use crate::arguments::{Arguments, Command, Words};
use crate::other_program::{TESTBED, V2X};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // A person is told by the other program what can be typed.
    let is_started = |words: &[OsString]| words.is_empty() && has_controller();
    if matches!(&arguments.command, Command::Agent(Words { words }) if is_started(words)) {
        return chronoseal_runner::agent_main(|texts: &Texts| texts.plan().map_err(|problems| problems.render()));
    }
    let printer = Printer::new(arguments.quiet);
    let result = match &arguments.command {
        Command::Agent(_) | Command::Ca(_) | Command::Controller(_) => other_program::hand_over(TESTBED),
        Command::Bench(options) => commands::bench::run(options, &printer),
        Command::Bounds(options) => commands::bounds::run(options, &printer),
        Command::Check(options) => commands::check::run(options, &printer),
        Command::Compare(options) => commands::compare::run(options, &printer),
        Command::Doctor(options) => commands::doctor::run(options, &printer),
        Command::Middleware(options) => commands::middleware::run(options, &printer),
        Command::Pki(_) | Command::Vss(_) => other_program::hand_over(V2X),
        Command::Report(options) => commands::report::run(options, &printer),
        Command::Run(options) => commands::run::run(options, &printer),
        Command::Saturate(options) => commands::saturate::run(options, &printer),
        Command::Scenario(options) => commands::scenario::run(options, &printer),
        Command::Schedule(options) => commands::schedule::run(options, &printer),
        Command::Schema(options) => commands::schema::run(options, &printer),
        Command::Study(options) => commands::study::run(options, &printer),
        Command::V2x(options) => commands::v2x::run(options, &printer),
    };
    ended(result, arguments.allow_unchecked, &printer)
}
