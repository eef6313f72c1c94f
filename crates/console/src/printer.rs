//! Data on standard output, everything else on standard error; progress only on a terminal.

use std::io::{ErrorKind, IsTerminal, Write};

use chronoseal_report::{Document, TerminalStyle, csv, json, terminal};
use indicatif::{ProgressBar, ProgressStyle};

use crate::Format;

/// The one place that decides how loud the command is.
#[derive(Debug)]
pub struct Printer {
    quiet: bool,
    colour: bool,
}

impl Printer {
    /// `quiet` leaves hints and progress out.
    pub fn new(quiet: bool) -> Self {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { quiet, colour }
    }

    /// Data, to standard output. Where its reader has gone away (`| head`) nothing more is printed, and the work goes on to its end and its
    /// status; anything else that keeps it from being written, such as a full disk, ends the program with an error.
    pub fn data(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
        match written.and_then(|()| out.flush()) {
            Ok(()) => {}
            // What is stored and the verdict's status are for others than the reader.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => {
                self.note(&format!(
                    "error: cannot write standard output: {error}; what is there is cut off\n\
                     help: make room, or send it elsewhere"
                ));
                std::process::exit(2);
            }
        }
    }

    /// A document, as asked for.
    pub fn document(&self, document: &Document, format: Format) {
        match format {
            Format::Human => {
                self.data(&terminal(document, TerminalStyle { colour: self.colour, ..Default::default() }))
            }
            Format::Json => self.data(&json(document)),
            Format::Csv => self.data(&csv(document)),
        }
    }

    /// A line for people, to standard error.
    pub fn note(&self, text: &str) {
        // Standard error may be closed; there is nowhere left to say so.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A line for people that `--quiet` leaves out.
    pub fn hint(&self, text: &str) {
        if !self.quiet {
            self.note(text);
        }
    }

    /// A bar for long work; hidden where nobody watches.
    pub fn progress(&self, total: u64, what: &str) -> ProgressBar {
        if self.quiet {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} % {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what.to_owned());
        bar
    }
}
