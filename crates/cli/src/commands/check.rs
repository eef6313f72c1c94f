//! `chronoseal check`

use chronoseal_analysis::candidates;
use chronoseal_report::Held;
use chronoseal_runner::AnyScenario;
use chronoseal_scenario::plan::CanPlan;

use crate::arguments::{Check, Format};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = match input::scenario(&options.scenario, &[], options.format)? {
        AnyScenario::Ethernet(scenario) => *scenario,
        AnyScenario::Can(scenario) => return on_bus(&scenario.plan, options, printer),
    };
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

/// What a bus does to the messages of a plan, by analysis.
fn on_bus(plan: &CanPlan, options: &Check, printer: &Printer) -> Result<Status, Trouble> {
    let document = chronoseal_study::can_check_document(plan);
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&document)?);
    } else {
        printer.document(&document, options.format);
    }
    Ok(if document.verdict.held == Held::Yes { Status::Held } else { Status::Failed })
}
