//! `chronoseal scenario`

use chronoseal_console::{Printer, Status, Trouble, files};
use std::path::Path;

use chronoseal_scenario::limits::FILE_LEN_MAX;
use chronoseal_scenario::{Problems, import, upgrade};

use crate::arguments::{Scenario, ScenarioAction, ScenarioFrom, ScenarioUpgrade};

pub(crate) fn run(options: &Scenario, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        ScenarioAction::From(options) => from(options, printer),
        ScenarioAction::Upgrade(options) => upgrade_file(options, printer),
    }
}

fn from(options: &ScenarioFrom, printer: &Printer) -> Result<Status, Trouble> {
    let mut files = Vec::new();
    for file in &options.files {
        files.push((file.display().to_string(), files::read(file)?));
    }
    // What no stream describes becomes a recording, if there is a folder for it.
    let beside = options.out.as_deref().filter(|path| *path != Path::new("-"));
    let mut recordings = Vec::new();
    let text = match (&files[..], &options.routes) {
        ([(name, bytes)], None) if beside.is_some() => import::with_recordings(name, bytes).map(|imported| {
            recordings = imported.recordings;
            imported.text
        }),
        ([(name, bytes)], None) => import::from_any(name, bytes),
        (_, None) => {
            return Err(Trouble(format!(
                "error: {} files, and nothing that says what goes from one to another\n\
                 help: add `--routes routes.csv` with the columns `message,from,to,gateway`, or give one file",
                files.len()
            )));
        }
        (_, Some(routes)) => {
            let databases: Vec<_> =
                files.iter().map(|(source_name, bytes)| import::Database { source_name, bytes }).collect();
            import::from_databases(&databases, &routes.display().to_string(), &files::read(routes)?)
        }
    };
    let text = text.map_err(|problems| nothing_made(&problems, "no scenario was made"))?;
    for warning in import::warnings(&text) {
        printer.note(&format!("warning: {warning}"));
    }
    match options.out.as_deref() {
        None => printer.data(&text),
        Some(path) => {
            for (name, bytes) in recordings {
                let file = path.with_file_name(name);
                files::write_bytes(&file, &bytes)?;
                printer.hint(&format!("recording: {}", file.display()));
            }
            written(path, &text, printer)?;
        }
    }
    Ok(Status::Held)
}

/// Writes a scenario to a file, or to standard output if that is `-`.
fn written(path: &Path, text: &str, printer: &Printer) -> Result<(), Trouble> {
    if path == Path::new("-") {
        printer.data(text);
        return Ok(());
    }
    files::write(path, text)?;
    printer.hint(&format!("scenario: {0}\nnext: chronoseal check {0}", path.display()));
    Ok(())
}

fn upgrade_file(options: &ScenarioUpgrade, printer: &Printer) -> Result<Status, Trouble> {
    let name = options.file.display().to_string();
    let text = String::from_utf8(files::read_start(&options.file, FILE_LEN_MAX as u64)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Trouble(format!("error: {name} is no text: byte {at} is not UTF-8\nhelp: save the scenario as UTF-8"))
    })?;
    let upgraded = upgrade(&name, &text).map_err(|problems| nothing_made(&problems, "nothing was written"))?;
    match options.out.as_deref() {
        Some(path) => written(path, &upgraded.text, printer)?,
        None if upgraded.is_changed() => {
            files::replace(&options.file, upgraded.text.as_bytes())?;
            printer.hint(&format!(
                "{name}: rewritten from version {} of the format\nnext: chronoseal check {name}",
                upgraded.from
            ));
        }
        None => printer.hint(&format!("{name} is of the current version already; nothing was written")),
    }
    Ok(Status::Held)
}

fn nothing_made(problems: &Problems, outcome: &str) -> Trouble {
    Trouble(format!("{}\nerror: {outcome}", problems.render()))
}
