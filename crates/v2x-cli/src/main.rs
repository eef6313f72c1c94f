//! The program `chronoseal-v2x`: `chronoseal vss`, `chronoseal pki` and the study v2x-vss, which `chronoseal` hands over to it.

mod commands;

use std::process::ExitCode;

use chronoseal_console::study::{StudyRun, reproduce};
use chronoseal_console::{Printer, ended};
use chronoseal_v2x_study::STUDY;
use clap::{Args, Parser, Subcommand};

/// The commands of chronoseal that serve V2X; `chronoseal` hands them over to this program.
#[derive(Parser, Debug)]
#[command(
    name = "chronoseal-v2x",
    bin_name = "chronoseal",
    version,
    max_term_width = 100,
    after_help = "\
First steps:
  chronoseal pki serve --dir pki --port 8080
  chronoseal vss serve vss.toml --socket /run/vss
  chronoseal study run v2x-vss

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
    /// Serve a V2X station's security services
    Vss(commands::vss::Vss),
    /// Run authorities for V2X stations, or be a station at those of any vendor
    Pki(commands::pki::Pki),
    /// Reproduce the study v2x-vss
    Study(Study),
    /// Holds a PKCS#11 module for another process of this program; not for people
    #[command(hide = true)]
    HsmWorker,
}

#[derive(Args, Debug)]
struct Study {
    #[command(subcommand)]
    action: StudyAction,
}

#[derive(Subcommand, Debug)]
enum StudyAction {
    /// Reproduce it: printed, recomputed, simulated, measured, in one report
    Run(StudyRun),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if matches!(arguments.command, Command::HsmWorker) {
        return chronoseal_v2x_service::hsm::worker::main();
    }
    chronoseal_v2x_aws_lc::install();
    let printer = Printer::new(arguments.quiet);
    let result = match &arguments.command {
        Command::HsmWorker => unreachable!("handled above"),
        Command::Pki(options) => commands::pki::run(options, &printer),
        Command::Study(Study { action: StudyAction::Run(options) }) => reproduce(&[STUDY], options, &printer),
        Command::Vss(options) => commands::vss::run(options, &printer),
    };
    ended(result, arguments.allow_unchecked, &printer)
}
