//! `chronoseal bench`

use chronoseal_runner::processor_cost;

use crate::arguments::{Bench, Format};
use crate::printer::Printer;
use crate::{Status, Trouble};

pub(crate) fn run(options: &Bench, printer: &Printer) -> Result<Status, Trouble> {
    printer.hint("measuring on one processor; keep the machine quiet for a few seconds");
    let table = processor_cost(options.calls as usize);
    if options.platform {
        printer.data(&table.platform_toml("this-host"));
        return Ok(Status::Held);
    }
    if options.format == Format::Json {
        printer.data(&serde_json::to_string_pretty(&table)?);
    } else {
        printer.document(&chronoseal_study::cost_document(&table), options.format);
    }
    Ok(Status::Held)
}
