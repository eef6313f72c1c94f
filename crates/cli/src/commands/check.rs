//! `chronoseal check`

use chronoseal_check::{Refused, Tried};

use crate::arguments::Check;
use chronoseal_console::input;
use chronoseal_console::{Format, Printer, Status, Trouble};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], options.format)?;
    let applied = |name: &str| match scenario.protected(name) {
        Ok((plan, kept)) => Ok(Tried { plan, kept }),
        Err(problems) => Err(Refused(problems.first())),
    };
    let checked =
        chronoseal_check::check(&scenario.plan, &applied).map_err(|error| Trouble(format!("error: {error}")))?;
    // A schedule that does not fit is bad input: the file cannot be run as it is. People are shown why once, at its place in the
    // text, behind what the candidates would need.
    let prepared = input::prepare(&scenario, &options.scenario.file, options.format);
    if options.format == Format::Json {
        printer.data(&checked.json);
    } else {
        let mut document = checked.document;
        if prepared.is_err() {
            document.verdict.text = "The schedule does not fit; the problem below says why.".into();
        }
        printer.document(&document, options.format);
    }
    prepared?;
    Ok(checked.word.status())
}
