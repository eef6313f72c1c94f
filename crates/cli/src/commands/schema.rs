//! `chronoseal schema`

use chronoseal_console::{Printer, Status, Trouble};

use crate::arguments::{Schema, SchemaOf};

pub(crate) fn run(options: &Schema, printer: &Printer) -> Result<Status, Trouble> {
    let schema = match options.of {
        SchemaOf::Scenario => chronoseal_scenario::schema(),
        SchemaOf::Check => chronoseal_check::schema(),
    };
    printer.data(&serde_json::to_string_pretty(&schema)?);
    Ok(Status::Held)
}
