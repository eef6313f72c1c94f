//! `chronoseal scenario from`

use chronoseal_scenario::import;

use crate::arguments::{Scenario, ScenarioAction};
use crate::printer::Printer;
use crate::{Status, Trouble, input};

pub(crate) fn run(options: &Scenario, printer: &Printer) -> Result<Status, Trouble> {
    let ScenarioAction::From(options) = &options.action;
    let bytes = input::read(&options.file)?;
    let name = options.file.display().to_string();
    // The first bytes of pcap in either byte order and resolution, and of pcapng.
    let is_capture =
        [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]]
            .iter()
            .chain(&[[0x0a, 0x0d, 0x0d, 0x0a]])
            .any(|magic| bytes.starts_with(magic));
    let imported = if is_capture { import::from_capture(&name, &bytes) } else { import::from_csv(&name, &bytes) };
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
