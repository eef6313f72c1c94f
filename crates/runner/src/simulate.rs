//! A plan in the simulator.

use chronoseal_catalog::Describer;
use chronoseal_core::SimTime;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_results::Engine;
use chronoseal_scenario::plan::{Fidelity, Plan};
use chronoseal_sim::{Fingerprint, Tally};

use crate::record::Recorder;
use crate::{Run, describe};

/// What a simulation gives that keeps no rows.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Of the event trace.
    pub fingerprint: String,
    /// Counts and latencies by stream.
    pub tally: Tally,
    /// False if it was stopped.
    pub finished: bool,
}

/// Simulates a plan and keeps every row; with `capture`, every frame too.
pub fn simulate(
    plan: &Plan,
    schedule: &ScheduleTable,
    capture: bool,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Run {
    let recorder = Recorder::new(Describer::new(plan, schedule), plan.switch_id(), capture);
    let ((fingerprint, recorder), finished) =
        chronoseal_sim::run(plan, schedule, (new_fingerprint(plan), recorder), keep_going);
    let mut rows = recorder.into_rows();
    rows.interrupted = !finished;
    let mut meta = describe(plan, schedule, Engine::Sim);
    meta.clock_source = "virtual".into();
    meta.fingerprint = Some(fingerprint.finish());
    Run::new(meta, rows)
}

/// Simulates a plan for counts, latencies and fingerprint alone.
pub fn tally(plan: &Plan, schedule: &ScheduleTable, keep_going: &mut dyn FnMut(SimTime) -> bool) -> Simulated {
    let ((fingerprint, tally), finished) =
        chronoseal_sim::run(plan, schedule, (new_fingerprint(plan), Tally::default()), keep_going);
    Simulated { fingerprint: fingerprint.finish(), tally, finished }
}

/// The fingerprint of a plan's simulation.
pub fn fingerprint(plan: &Plan, schedule: &ScheduleTable) -> String {
    chronoseal_sim::run(plan, schedule, new_fingerprint(plan), &mut |_| true).0.finish()
}

fn new_fingerprint(plan: &Plan) -> Fingerprint {
    match plan.fidelity {
        Fidelity::Bytes => Fingerprint::of_bytes(),
        Fidelity::Timing => Fingerprint::of_headers(),
    }
}
