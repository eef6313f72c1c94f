//! `chronoseal check`

use chronoseal_analysis::candidates;

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], options.format)?;
    let report = candidates::check(&scenario.plan);
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&report)?);
    } else {
        printer.document(&chronoseal_study::check_document(&report), options.format);
    }
    // A schedule that does not fit is bad input: the file cannot be run as it is.
    input::schedule(&scenario, &options.scenario.file, options.format)?;
    Ok(if report.holds { Status::Held } else { Status::Failed })
}
