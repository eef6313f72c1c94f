//! `chronoseal study`

use chronoseal_console::{Printer, Status, Trouble, study};
use chronoseal_study::{V2X_VSS, studies};

use crate::arguments::{Study, StudyAction};
use crate::other_program;

pub(crate) fn run(options: &Study, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        StudyAction::List => {
            let here = studies().iter().map(|study| (study.name, study.title));
            for (name, title) in here.chain([(V2X_VSS.name, V2X_VSS.title)]) {
                printer.data(&format!("{name:16} {title}"));
            }
            Ok(Status::Held)
        }
        StudyAction::Run(options) if options.name == V2X_VSS.name => other_program::hand_over(other_program::V2X),
        StudyAction::Run(options) => study::reproduce(studies(), options, printer),
    }
}
