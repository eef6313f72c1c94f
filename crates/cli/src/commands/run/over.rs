//! Streams that go over a robot middleware: its programs, started for the run.

use std::path::Path;

use chronoseal_console::{Printer, Trouble, input};
use chronoseal_middleware::{Cache, Host, Started, adapters, is_over};
use chronoseal_results::RunMeta;
use chronoseal_runner::MeasureError;
use chronoseal_scenario::Scenario;

use super::seed_set;
use crate::arguments::{EngineName, Run};

/// What was made ready. Keys are there as long as this is.
pub(super) struct Over {
    _host: Host,
    started: Started,
}

impl Over {
    /// Of a scenario that is run live: what its streams go over, made ready, and the scenario with these programs at its nodes. Another
    /// scenario stays as it is.
    pub(super) fn of(
        scenario: Scenario,
        options: &Run,
        printer: &Printer,
    ) -> Result<(Scenario, Option<Self>), Trouble> {
        if options.engine != EngineName::Live || !is_over(&scenario.plan) {
            return Ok((scenario, None));
        }
        // Programs of the scenario's own are another matter than those of the adapters.
        if let Some(node) = scenario.plan.nodes.iter().find(|node| node.program.is_some() && !options.programs) {
            let command = node.program.iter().flat_map(|program| program.command.clone()).collect::<Vec<_>>().join(" ");
            return Err(MeasureError::Programs { node: node.name.clone(), command }.into());
        }
        let adapters = adapters(Path::new(&options.adapters))?;
        let mut host = Host::new(Cache::of_user()?, None);
        let bar = printer.progress(1, "building adapters, making keys");
        let started = host.started(&scenario.plan, &adapters)?;
        bar.finish_and_clear();
        let sets: Vec<_> = seed_set(options.seed).into_iter().chain(started.sets.iter().cloned()).collect();
        let scenario = input::scenario(&options.scenario, &sets, options.format)?;
        Ok((scenario, Some(Self { _host: host, started })))
    }

    /// Writes down of a run what its streams went over, and what is known to be wrong with that.
    pub(super) fn told(&self, meta: &mut RunMeta) {
        meta.versions.extend(self.started.versions.iter().cloned());
        meta.warnings.extend(self.started.limits.iter().cloned());
    }
}
