//! `chronoseal check`

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

const NOTHING_KNOWN: &str = "error: no segment of this scenario is of a kind that can be checked on paper
help: simulate it with `chronoseal run`";

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], options.format)?;
    let checked = chronoseal_study::check(&scenario.plan).ok_or_else(|| Trouble(NOTHING_KNOWN.into()))?;
    if options.format == Format::Json {
        printer.data(&checked.json);
    } else {
        printer.document(&checked.document, options.format);
    }
    // A schedule that does not fit is bad input: the file cannot be run as it is.
    input::prepare(&scenario, &options.scenario.file, options.format)?;
    Ok(if checked.holds { Status::Held } else { Status::Failed })
}
