//! Data on standard output, everything else on standard error; progress only on a terminal.

use std::io::{ErrorKind, IsTerminal, Write};

use chronoseal_report::{Document, TerminalStyle, csv, json, terminal};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Format;

/// The one place that decides how loud the command is.
pub(crate) struct Printer {
    quiet: bool,
    colour: bool,
}

impl Printer {
    pub(crate) fn new(quiet: bool) -> Self {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { quiet, colour }
    }

    /// Data, to standard output. A reader that has gone away (`| head`) ends the program quietly; anything else that keeps it
    /// from being written, such as a full disk, ends it with an error.
    pub(crate) fn data(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let written = out
            .write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
        match written.and_then(|()| out.flush()) {
            Ok(()) => {}
            // Nobody reads any more, so nothing is left to say.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
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
    pub(crate) fn document(&self, document: &Document, format: Format) {
        match format {
            Format::Human => {
                self.data(&terminal(document, TerminalStyle { colour: self.colour, ..Default::default() }))
            }
            Format::Json => self.data(&json(document)),
            Format::Csv => self.data(&csv(document)),
        }
    }

    /// A line for people, to standard error.
    pub(crate) fn note(&self, text: &str) {
        // Standard error may be closed; there is nowhere left to say so.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A line for people that `--quiet` leaves out.
    pub(crate) fn hint(&self, text: &str) {
        if !self.quiet {
            self.note(text);
        }
    }

    /// A bar for long work; hidden where nobody watches.
    pub(crate) fn progress(&self, total: u64, what: &str) -> ProgressBar {
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
