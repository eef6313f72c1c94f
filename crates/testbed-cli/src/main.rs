//! The program `chronoseal-testbed`: `chronoseal controller`, `chronoseal agent serve` and `chronoseal ca`, which `chronoseal` hands over
//! to it.

mod commands;

use std::process::ExitCode;

use chronoseal_catalog::Kinds;
use chronoseal_console::{Printer, Trouble, ended};
use chronoseal_runner::agent_main_with;
use chronoseal_scenario::Texts;
use chronoseal_testbed::has_controller;
use chronoseal_transports::Secured;
use clap::{Parser, Subcommand};

/// The commands of chronoseal for runs over several hosts; `chronoseal` hands them over to this program.
#[derive(Parser, Debug)]
#[command(
    name = "chronoseal-testbed",
    bin_name = "chronoseal",
    version,
    max_term_width = 100,
    after_help = "\
First steps:
  chronoseal ca init ca                                an authority of your own
  chronoseal ca enroll ca robot                        the identity of an agent, in the folder robot
  chronoseal ca enroll ca bench --controller           that of the controller
  chronoseal agent serve --identity robot --listen 10.0.0.1:7600 --data 10.0.0.1
  chronoseal controller two.toml --identity bench --agents agents.toml

The whole way: docs/guide/testbed.md.

Exit status: 0 all that was checked holds, 1 something failed, 2 could not run,
3 nothing failed, but something is not proven or not checked (0 with --allow-unchecked)."
)]
struct Arguments {
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Exit with 0 instead of 3 where nothing failed, but something is not proven or not checked
    #[arg(long, global = true)]
    allow_unchecked: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a scenario over several hosts, on each of which an agent waits
    Controller(commands::controller::Controller),
    /// Take part in runs over several hosts
    Agent(commands::agent::Agent),
    /// Make the certificates of agents and controllers
    Ca(commands::ca::Ca),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.quiet);
    let result = match &arguments.command {
        Command::Agent(commands::agent::Agent { action: None }) if !has_controller() => {
            Err(Trouble("error: say what the agent is to do\nhelp: chronoseal agent serve --help".into()))
        }
        // Started for a station of a run.
        Command::Agent(commands::agent::Agent { action: None }) => {
            return agent_main_with(Kinds::BUILT_IN, &Secured, |texts: &Texts| {
                texts.plan().map_err(|problems| problems.render())
            });
        }
        Command::Agent(commands::agent::Agent { action: Some(action) }) => commands::agent::run(action, &printer),
        Command::Ca(options) => commands::ca::run(options, &printer),
        Command::Controller(options) => commands::controller::run(options, &printer),
    };
    ended(result, arguments.allow_unchecked, &printer)
}
