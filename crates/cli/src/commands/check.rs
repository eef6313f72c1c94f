//! `chronoseal check`

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], options.format)?;
    let checked = chronoseal_study::check(&scenario.plan).map_err(|error| Trouble(format!("error: {error}")))?;
    if options.format == Format::Json {
        printer.data(&checked.json);
    } else {
        printer.document(&checked.document, options.format);
    }
    // A schedule that does not fit is bad input: the file cannot be run as it is.
    input::prepare(&scenario, &options.scenario.file, options.format)?;
    Ok(if checked.holds { Status::Held } else { Status::Failed })
}
