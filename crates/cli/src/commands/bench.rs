//! `chronoseal bench`

use chronoseal_console::{Format, Printer, Status, Trouble};
use chronoseal_runner::{processor_cost, suite_cost};
use serde_json::json;

use crate::arguments::Bench;

pub(crate) fn run(options: &Bench, printer: &Printer) -> Result<Status, Trouble> {
    printer.hint("measuring on one processor; keep the machine quiet for a few seconds");
    let frames = processor_cost(options.calls as usize);
    // A public-key operation takes a hundred times as long as a tag.
    let suites = suite_cost((options.calls as usize / 10).max(100));
    if options.platform {
        printer.data(&frames.platform_toml("this-host"));
        printer.data(&suites.platform_costs_toml());
        return Ok(Status::Held);
    }
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&json!({ "frames": frames, "suites": suites }))?);
    } else {
        printer.document(&chronoseal_study::cost_document(&frames, &suites), options.format);
    }
    Ok(Status::Held)
}
