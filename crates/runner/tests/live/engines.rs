//! One run on either engine.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_runner::{LiveOptions, MeasureError, Run, measure, simulate};
use chronoseal_scenario::{Files, Scenario, Texts};
use chronoseal_testbed::{LiveError, Placement};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    Sim,
    Live,
}

/// The life of a station's process.
pub(crate) fn agent_main() -> ExitCode {
    chronoseal_runner::agent_main(|texts: &Texts| texts.plan().map_err(|problems| problems.render()))
}

/// The scenario `text`, which is one.
pub(crate) fn load(text: &str, files: &dyn Files) -> Scenario {
    Scenario::load("scenario.toml", text.as_bytes(), &[], files)
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// Runs a scenario and keeps all frames' bytes. `None` where the host refuses, which `CHRONOSEAL_REQUIRE_LIVE=1` makes a failure.
pub(crate) fn run(engine: Engine, scenario: &Scenario) -> Option<Run> {
    if engine == Engine::Sim {
        let prepared = Prepared::new(&scenario.plan).unwrap();
        return Some(simulate(&prepared, true, &mut |_| true).unwrap());
    }
    run_with(scenario, |_| {})
}

/// A live run with other options than usual.
pub(crate) fn run_with(scenario: &Scenario, change: impl FnOnce(&mut LiveOptions)) -> Option<Run> {
    let prepared = Prepared::new(&scenario.plan).unwrap();
    let (no_fifo, placement) = (true, Some(Placement::Free));
    let mut options = LiveOptions { no_fifo, capture: true, programs: true, placement, ..LiveOptions::default() };
    change(&mut options);
    let refusal = match measure(&prepared, scenario.texts(), &options, &AtomicBool::new(false)) {
        Ok(run) => return Some(run),
        Err(MeasureError::Live(LiveError::Start(error))) => error.to_string(),
        Err(MeasureError::Live(error)) if error.is_refusal() => error.to_string(),
        Err(error) => panic!("{error}"),
    };
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "no live run: {refusal}");
    println!("skipped: {refusal}");
    None
}
