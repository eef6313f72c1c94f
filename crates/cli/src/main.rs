//! The `chronoseal` command. One file a subcommand, in `commands`.

mod arguments;
mod commands;
mod input;
mod printer;

use std::process::ExitCode;

use chronoseal_scenario::Texts;
use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::printer::Printer;

/// How a command ended (0 all checks held, 1 a check failed, 2 could not run).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Held,
    Failed,
}

/// Why a command could not run, for a person, ready to print.
struct Trouble(String);

impl<E: std::error::Error> From<E> for Trouble {
    fn from(error: E) -> Self {
        let mut last = error.to_string();
        let mut text = format!("error: {last}");
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // An error that ends with its cause has said it.
            if !last.ends_with(&cause_text) {
                text += &format!("\n  because: {cause_text}");
            }
            last = cause_text;
            source = cause.source();
        }
        Self(text)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if matches!(arguments.command, Command::Agent) {
        return chronoseal_runner::agent_main(|texts: &Texts| texts.plan().map_err(|problems| problems.render()));
    }
    if matches!(arguments.command, Command::HsmWorker) {
        return chronoseal_v2x_service::hsm::worker::main();
    }
    let printer = Printer::new(arguments.quiet);
    let result = match &arguments.command {
        Command::Agent | Command::HsmWorker => unreachable!("handled above"),
        Command::Bench(options) => commands::bench::run(options, &printer),
        Command::Bounds(options) => commands::bounds::run(options, &printer),
        Command::Check(options) => commands::check::run(options, &printer),
        Command::Compare(options) => commands::compare::run(options, &printer),
        Command::Doctor(options) => commands::doctor::run(options, &printer),
        Command::Pki(options) => commands::pki::run(options, &printer),
        Command::Report(options) => commands::report::run(options, &printer),
        Command::Run(options) => commands::run::run(options, &printer),
        Command::Scenario(options) => commands::scenario::run(options, &printer),
        Command::Schedule(options) => commands::schedule::run(options, &printer),
        Command::Schema => commands::schema::run(&printer),
        Command::Study(options) => commands::study::run(options, &printer),
        Command::V2x(options) => commands::v2x::run(options, &printer),
        Command::Vss(options) => commands::vss::run(options, &printer),
    };
    match result {
        Ok(Status::Held) => ExitCode::SUCCESS,
        Ok(Status::Failed) => ExitCode::from(1),
        Err(Trouble(text)) => {
            printer.note(&text);
            ExitCode::from(2)
        }
    }
}
