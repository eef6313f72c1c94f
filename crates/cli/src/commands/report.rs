//! `chronoseal report`

use chronoseal_report::{html, run_report};
use chronoseal_results::store;

use crate::arguments::Report;
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Report, printer: &Printer) -> Result<Status, Trouble> {
    let (meta, summary) = store::read(&options.run)?;
    let rows = store::read_rows(&options.run)?;
    let document = run_report(&meta, &summary, &rows);
    let page = options.out.clone().unwrap_or_else(|| options.run.join("report.html"));
    input::write(&page, &html(&document))?;
    printer.document(&document, options.format);
    printer.hint(&format!("report: {}", page.display()));
    Ok(Status::Held)
}
