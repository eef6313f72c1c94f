//! `chronoseal schema`
use chronoseal_console::{Printer, Status, Trouble};

pub(crate) fn run(printer: &Printer) -> Result<Status, Trouble> {
    printer.data(&serde_json::to_string_pretty(&chronoseal_scenario::schema())?);
    Ok(Status::Held)
}
