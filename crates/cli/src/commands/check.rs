//! `chronoseal check`

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], options.format)?;
    let checked = chronoseal_study::check(&scenario.plan).map_err(|error| Trouble(format!("error: {error}")))?;
    // A schedule that does not fit is bad input: the file cannot be run as it is. People are shown why at its place in the text,
    // and not once more before that.
    let prepared = input::prepare(&scenario, &options.scenario.file, options.format);
    match (options.format, &prepared) {
        (Format::Json, _) => printer.data(&checked.json),
        (_, Ok(_)) => printer.document(&checked.document, options.format),
        (_, Err(_)) => {}
    }
    prepared?;
    Ok(if checked.holds { Status::Held } else { Status::Failed })
}
