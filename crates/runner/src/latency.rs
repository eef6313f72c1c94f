//! What frames took in a simulation, stream by stream, for plans that nothing bounds on paper.

use chronoseal_catalog::{BuildError, Describe, Prepared};
use chronoseal_core::{Event, EventKind, NodeId, SimTime};
use chronoseal_results::Distribution;
use chronoseal_sim::{FrameContext, Observer};

/// Simulates a plan and gives, by stream, the spread of the time from a frame's first bit to its acceptance by a receiver;
/// `None` for a stream of which nothing was received.
///
/// # Errors
/// [`BuildError`] if a node or a segment cannot be made as the plan has it.
pub fn simulated_latencies(prepared: &Prepared<'_>) -> Result<Vec<Option<Distribution>>, BuildError> {
    let samples = vec![Vec::new(); prepared.plan().streams.len()];
    let observer = Latencies { describers: prepared.describers(), samples };
    let finished = chronoseal_sim::run(prepared, observer, &mut |_| true)?;
    Ok(finished.observer.samples.into_iter().map(|mut samples| Distribution::of(&mut samples)).collect())
}

struct Latencies {
    /// By segment.
    describers: Vec<Box<dyn Describe>>,
    /// By stream `[ns]`.
    samples: Vec<Vec<i64>>,
}

impl Observer for Latencies {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        let (EventKind::Delivered, Some(frame)) = (event.kind, frame) else { return };
        let describer = &self.describers[usize::from(frame.label.segment)];
        let stream = describer.stream_of(frame.bytes);
        if frame.label.attack.is_none()
            && describer.is_for(stream, node)
            && let Some(samples) = self.samples.get_mut(stream.index())
        {
            samples.push((at - frame.label.sent_at).as_ns());
        }
    }
}
