//! `chronoseal check`

use chronoseal_analysis::candidates;

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[])?;
    let report = candidates::check(&scenario.plan);
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&report)?);
    } else {
        printer.document(&chronoseal_study::check_document(&report), options.format);
    }
    // A schedule that does not fit is bad input: the file cannot be run as it is.
    if report.infeasible.is_some() {
        return Err(Trouble(format!("error: {}", report.verdict)));
    }
    Ok(if report.holds { Status::Held } else { Status::Failed })
}
