//! A plan in the simulator.

use chronoseal_catalog::{BuildError, Prepared};
use chronoseal_core::SimTime;
use chronoseal_media::topology::Topology;
use chronoseal_plan::{Fidelity, Plan};
use chronoseal_results::{Engine, RunMeta, Sink};
use chronoseal_sim::{Fingerprint, Finished, Observer, Tally};

use crate::apart::{has_second_processor, watched_apart};
use crate::divide::Divider;
use crate::record::{Follow, Keep, Recorder, Span};
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
    /// Events the simulator handled; another simulator may need more or fewer for the same result.
    pub events: u64,
}

/// Simulates a plan and keeps every row; with `capture`, every frame too.
///
/// # Errors
/// [`BuildError`] if a node or a segment cannot be made as the plan has it.
pub fn simulate(
    prepared: &Prepared<'_>,
    capture: bool,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Run, BuildError> {
    Ok(simulate_watched(prepared, (Keep::All, capture), (), keep_going)?.0)
}

/// [`simulate`] that also follows each frame: its summary divides latencies step by step, and says what links were used for.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_followed(
    prepared: &Prepared<'_>,
    capture: bool,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Run, BuildError> {
    let (mut run, divider) = simulate_watched(prepared, (Keep::All, capture), Divider::new(prepared), keep_going)?;
    divider.finish(&mut run);
    Ok(run)
}

/// [`simulate_followed`] that counts each row, hands it to `sink` and forgets it: of [`Run::rows`] there is what is known of the run as a
/// whole, and with `capture` every frame. On a second processor, if this process may use one.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_folded(
    prepared: &Prepared<'_>,
    span: Span,
    capture: bool,
    sink: &mut (dyn Sink + Send),
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<Run, BuildError> {
    let (meta, recorder) = recorded(prepared, (Keep::Settled(span, sink), capture), Divider::new(prepared));
    let (over, recorder) = match has_second_processor() {
        true => {
            let (over, recorder) =
                watched_apart(recorder, |relay| watched(prepared, relay, keep_going).map(|(over, _)| over));
            (over?, recorder)
        }
        false => watched(prepared, recorder, keep_going)?,
    };
    let (mut run, divider) = over.run(prepared, meta, *recorder);
    divider.finish(&mut run);
    Ok(run)
}

/// [`simulate`] with somebody else who watches.
pub(crate) fn simulate_watched<W: Follow>(
    prepared: &Prepared<'_>,
    keep: (Keep<'_>, bool),
    watcher: W,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<(Run, W), BuildError> {
    let (meta, recorder) = recorded(prepared, keep, watcher);
    let (over, recorder) = watched(prepared, recorder, keep_going)?;
    Ok(over.run(prepared, meta, *recorder))
}

/// What records a run, with the description of that.
fn recorded<'p, 's, W: Follow>(
    prepared: &Prepared<'p>,
    (keep, capture): (Keep<'s>, bool),
    watcher: W,
) -> (RunMeta, Box<Recorder<'p, 's, W>>) {
    let mut meta = describe(prepared, Engine::Sim);
    meta.clock_source = "virtual".into();
    let recorder = Box::new(Recorder::new(prepared, &meta, keep, capture, watcher));
    (meta, recorder)
}

/// A simulation that is over.
struct Over {
    medium: Topology,
    fingerprint: String,
    is_whole: bool,
}

fn watched<O: Observer>(
    prepared: &Prepared<'_>,
    observer: O,
    keep_going: &mut dyn FnMut(SimTime) -> bool,
) -> Result<(Over, O), BuildError> {
    let Finished { medium, observer: (fingerprint, observer), is_whole, .. } =
        chronoseal_sim::run(prepared, (new_fingerprint(prepared.plan()), observer), keep_going)?;
    Ok((Over { medium, fingerprint: fingerprint.finish(), is_whole }, observer))
}

impl Over {
    /// What it came to.
    fn run<W: Follow>(self, prepared: &Prepared<'_>, mut meta: RunMeta, recorder: Recorder<'_, '_, W>) -> (Run, W) {
        let (summary, rows, watcher) = recorder.finish(prepared.plan(), &self.medium, self.is_whole);
        (meta.interrupted, meta.fingerprint) = (!self.is_whole, Some(self.fingerprint));
        (Run { meta, summary, rows }, watcher)
    }
}

/// Simulates a plan for counts, latencies and fingerprint alone.
///
/// # Errors
/// As [`simulate`].
pub fn tally(prepared: &Prepared<'_>, keep_going: &mut dyn FnMut(SimTime) -> bool) -> Result<Simulated, BuildError> {
    let observer = (new_fingerprint(prepared.plan()), Tally::default());
    let Finished { observer: (fingerprint, tally), is_whole, events, .. } =
        chronoseal_sim::run(prepared, observer, keep_going)?;
    Ok(Simulated { fingerprint: fingerprint.finish(), tally, finished: is_whole, events })
}

/// The fingerprint of a plan's simulation.
///
/// # Errors
/// As [`simulate`].
pub fn fingerprint(prepared: &Prepared<'_>) -> Result<String, BuildError> {
    let finished = chronoseal_sim::run(prepared, new_fingerprint(prepared.plan()), &mut |_| true)?;
    Ok(finished.observer.finish())
}

fn new_fingerprint(plan: &Plan) -> Fingerprint {
    match plan.fidelity {
        Fidelity::Bytes => Fingerprint::of_bytes(),
        Fidelity::Timing => Fingerprint::of_headers(),
    }
}
