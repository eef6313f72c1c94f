//! What every program of chronoseal is to a person: how it prints, how it fails, where its results go, and how it runs a study.
//!
//! It holds no command: those are in `cli` and `v2x-cli`.

pub mod files;
pub mod input;
mod printer;
mod run;
pub mod study;

use std::process::ExitCode;

use clap::ValueEnum;

pub use chronoseal_report::Status;
pub use printer::Printer;
pub use run::{PAGE, run_json};

/// How data is written to standard output.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Text for people
    Human,
    /// One JSON object
    Json,
    /// Tables, one after another
    Csv,
}

/// Why a command could not run, for a person, ready to print.
#[derive(Debug)]
pub struct Trouble(pub String);

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

/// The exit status of a program whose command ended so, where what is not proven or checked may be allowed. What it could not do is
/// said on standard error.
pub fn ended(result: Result<Status, Trouble>, allow_unchecked: bool, printer: &Printer) -> ExitCode {
    match result {
        Ok(Status::Unproven) if allow_unchecked => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(status.code()),
        Err(Trouble(text)) => {
            printer.note(&text);
            ExitCode::from(2)
        }
    }
}
