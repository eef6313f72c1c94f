//! `chronoseal report`

use chronoseal_console::{PAGE, Printer, Status, Trouble, files};
use std::path::Path;

use chronoseal_report::{Document, RunView, html, pair_report, run_report};
use chronoseal_results::{RunMeta, RunRows, RunSummary, disk, store};

use super::run::{LIVE, SIM};
use crate::arguments::Report;

pub(crate) fn run(options: &Report, printer: &Printer) -> Result<Status, Trouble> {
    let document = document(&options.run)?;
    let page = options.out.clone().unwrap_or_else(|| options.run.join(PAGE));
    files::write(&page, &html(&document))?;
    printer.document(&document, options.format);
    printer.hint(&format!("report: {}", page.display()));
    Ok(Status::Held)
}

/// Of the run in a folder, or of those of both engines below it.
fn document(folder: &Path) -> Result<Document, Trouble> {
    disk::check_finished(folder)?;
    let (sim, live) = (folder.join(SIM), folder.join(LIVE));
    if sim.is_dir() && live.is_dir() {
        let (sim, live) = (store::read_figures(&sim)?, store::read_figures(&live)?);
        return Ok(pair_report(view(&sim), view(&live)));
    }
    let (meta, summary, rows) = store::read_figures(folder)?;
    Ok(run_report(&meta, &summary, &rows))
}

fn view((meta, summary, rows): &(RunMeta, RunSummary, RunRows)) -> RunView<'_> {
    RunView { meta, summary, rows }
}
