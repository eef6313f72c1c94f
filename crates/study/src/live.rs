//! Live runs of a study, one after the other: each is stored in a folder of its own, with its report.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_catalog::Prepared;
use chronoseal_report::{Document, html, run_report};
use chronoseal_results::store;
use chronoseal_runner::{LiveOptions, MeasureError, Run, measure, versions};
use chronoseal_scenario::Scenario;

use crate::{StudyError, StudyOptions};

/// What all live runs of a study leave behind beside their figures.
#[derive(Default)]
pub(crate) struct LiveRuns {
    /// The report of each run, and where it belongs.
    pub(crate) pages: Vec<(PathBuf, String)>,
    /// Facts about host and emulator, from the last run.
    pub(crate) host: Vec<(String, String)>,
    /// What to know of them, with the names of the runs it is about.
    warnings: Vec<(String, Vec<String>)>,
}

impl LiveRuns {
    /// Runs a scenario with its capture, stores it under `name`, and gives its report as well; `None` once the user wants to stop.
    pub(crate) fn run(
        &mut self,
        options: &StudyOptions,
        stop: &AtomicBool,
        scenario: &Scenario,
        name: &str,
    ) -> Result<Option<(Run, Document)>, StudyError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let live_options = LiveOptions {
            capture: true,
            no_fifo: options.no_fifo,
            agent_command: options.agent_command.clone(),
            ..Default::default()
        };
        let run = measure(&Prepared::new(&scenario.plan)?, scenario.texts(), &live_options, stop)?;
        let folder = options.folder.join("live").join(name);
        store::write(&folder, &run.meta, &run.summary, &run.rows)?;
        let document = run_report(&run.meta, &run.summary, &run.rows);
        self.pages.push((folder.join("report.html"), html(&document)));
        self.host.clone_from(&run.meta.host);
        for warning in &run.meta.warnings {
            match self.warnings.iter_mut().find(|(known, _)| known == warning) {
                Some((_, runs)) => runs.push(name.to_owned()),
                None => self.warnings.push((warning.clone(), vec![name.to_owned()])),
            }
        }
        Ok(Some((run, document)))
    }

    /// Where and with what a report was made.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let mut facts = versions();
        facts.extend(self.host.iter().cloned());
        for (warning, runs) in &self.warnings {
            let runs = if runs.len() == 1 { runs[0].clone() } else { format!("{} live runs", runs.len()) };
            facts.push(("warning".to_owned(), format!("{runs}: {warning}")));
        }
        facts
    }
}

/// Why there is nothing, if the host refuses live runs; any other error is passed on.
pub(crate) fn refusal(result: Result<(), StudyError>) -> Result<Option<String>, StudyError> {
    match result {
        Ok(()) => Ok(None),
        Err(StudyError::Measure(MeasureError::Live(error))) if error.is_refusal() => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
