//! `chronoseal scenario from`

use chronoseal_scenario::import;

use crate::arguments::{Scenario, ScenarioAction};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Scenario, printer: &Printer) -> Result<Status, Trouble> {
    let ScenarioAction::From(options) = &options.action;
    let bytes = input::read(&options.file)?;
    let name = options.file.display().to_string();
    let imported = import::from_any(&name, &bytes);
    let text = imported.map_err(|problems| Trouble(format!("{}\nerror: no scenario was made", problems.render())))?;
    match &options.out {
        None => printer.data(&text),
        Some(path) => {
            input::write(path, &text)?;
            printer.hint(&format!("scenario: {0}\nnext: chronoseal check {0}", path.display()));
        }
    }
    Ok(Status::Held)
}
