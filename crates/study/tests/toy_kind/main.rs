//! A kind of segment that nothing else of the workspace knows, and all that is done with a scenario that has it.
//!
//! The files beside this one are the kind; `docs/guide/a-kind-of-segment.md` explains them one by one. A main of its own,
//! since its executable is also the stations' program in live runs. Where the host refuses to start them the live part
//! reports that and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test with a main of its own")]

mod bounds;
mod frame;
mod guide;
mod kind;
mod medium;
mod page;
mod refused;
mod runs;
mod spec;
mod station;
mod tables;

use std::process::ExitCode;

use chronoseal_runner::agent_main_with;
use chronoseal_scenario::Texts;
use chronoseal_testbed::NoTransports;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("agent") {
        return agent_main_with(tables::kinds(), &NoTransports, |texts: &Texts| {
            texts.plan_with(&tables::SCENARIO).map_err(|problems| problems.render())
        });
    }
    let wanted = argument.filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let tests: &[(&str, fn())] = &[
        ("a_frame_is_read_as_it_was_written", refused::a_frame_is_read_as_it_was_written),
        ("what_is_wrong_with_a_scenario_is_reported_at_its_place", refused::what_is_wrong_with_a_scenario_is_reported),
        ("a_row_that_is_missing_is_reported_with_its_table", refused::a_row_that_is_missing_is_reported),
        ("a_station_reports_bad_frames_and_sends_what_goes_on", refused::a_station_reports_bad_frames),
        ("a_station_keeps_the_contract_of_nodes", refused::a_station_keeps_the_contract_of_nodes),
        ("an_attack_on_it_is_refused", refused::an_attack_on_it_is_refused),
        ("check_bounds_the_stream_and_says_if_it_can_be_late", runs::check_bounds_the_stream),
        ("a_simulation_is_the_same_twice_and_within_its_bound", runs::a_simulation_is_the_same_twice),
        ("a_run_is_stored_and_reported_like_any_other", runs::a_run_is_stored_and_reported),
        ("a_capture_has_the_link_type_of_the_kind", runs::a_capture_has_the_link_type_of_the_kind),
        ("a_gateway_joins_it_to_a_bus", runs::a_gateway_joins_it_to_a_bus),
        ("it_runs_live", runs::it_runs_live),
        ("the_guide_shows_these_very_files", guide::the_guide_shows_these_very_files),
    ];
    let (chosen, others): (Vec<_>, Vec<_>) = tests.iter().partition(|(name, _)| name.contains(&wanted));
    println!("\nrunning {} tests", chosen.len());
    for (name, test) in &chosen {
        test();
        println!("test {name} ... ok");
    }
    // A test that fails panics, so whoever gets here has seen none.
    let (passed, left) = (chosen.len(), others.len());
    println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {left} filtered out\n");
    ExitCode::SUCCESS
}
