//! `chronoseal compare`

use chronoseal_console::{Printer, Status, Trouble};
use std::path::{Path, PathBuf};

use chronoseal_report::compare::Run;
use chronoseal_report::{compare, compare_document, scenarios_of};
use chronoseal_results::{RunMeta, store};

use crate::arguments::Compare;

pub(crate) fn run(options: &Compare, printer: &Printer) -> Result<Status, Trouble> {
    let (a, b) = (runs(&options.a)?, runs(&options.b)?);
    let report = compare(&a, &b);
    let (name_a, name_b) = (options.a.display().to_string(), options.b.display().to_string());
    let names = (name_a.as_str(), name_b.as_str());
    let mut document = compare_document(&report, names);
    let metas = |runs: &[Run]| runs.iter().map(|(meta, _)| meta.clone()).collect::<Vec<RunMeta>>();
    document.verdict.points.extend(scenarios_of(&metas(&a), &metas(&b), names));
    printer.document(&document, options.format);
    if !report.has_enough() {
        printer.hint("next: chronoseal run FILE --repeat 10 --out FOLDER for each side");
    }
    Ok(report.word.status())
}

const HELP: &str = "help: give a folder written by `chronoseal run FILE --repeat 10 --out FOLDER`";

/// Descriptions and summaries of every run in a folder, by name; of the folder itself if it is a run.
fn runs(folder: &Path) -> Result<Vec<Run>, Trouble> {
    if folder.join("manifest.json").exists() {
        return Ok(vec![store::read(folder)?]);
    }
    let entries = std::fs::read_dir(folder)
        .map_err(|error| Trouble(format!("error: cannot read {}: {error}\n{HELP}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.join("manifest.json").exists());
    paths.sort();
    if paths.is_empty() {
        return Err(Trouble(format!("error: {} holds no run\n{HELP}", folder.display())));
    }
    let runs = paths.iter().map(|path| store::read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some((other, _)) = runs.iter().find(|(meta, _)| meta.engine != runs[0].0.engine) {
        let (first, other) = (runs[0].0.engine.evidence(), other.engine.evidence());
        return Err(Trouble(format!(
            "error: {} holds {first} and {other} runs, and only runs of one kind are a side of a comparison\n\
             help: name the folder of one of them, such as {}",
            folder.display(),
            paths[0].display()
        )));
    }
    Ok(runs)
}
