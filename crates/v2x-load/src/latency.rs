//! How long messages wait for their verdicts when nobody waits for the receiver.

use chronoseal_v2x::pipeline::{Class, Engine, Moment, Pipeline, PipelineConfig, QUEUE_LEN};
use chronoseal_v2x::verify::{Context, NoStopwatch, Verifier, VerifierConfig};
use chronoseal_v2x::vss::Audit;

use crate::LoadError;
use crate::clock::Clock;
use crate::stall::{Stalls, Step};
use crate::town::{Draft, NOW, Town};
use crate::traffic::{Arrival, Load, at};

/// One message, verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Its class.
    pub class: Class,
    /// From the instant it was due to its verdict `[ns]`.
    pub latency_ns: u64,
    /// Whether the host took the processor away in the meantime, for more than [`STALL_NS`](crate::STALL_NS).
    pub is_stalled: bool,
}

/// What became of a stream.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What verified.
    pub engine: Engine,
    /// Messages offered.
    pub offered: u64,
    /// Of those, emergencies.
    pub emergencies: u64,
    /// Messages with a verdict.
    pub verified: u64,
    /// Verdicts that were not `accepted`: every message is genuine, so this is a mistake, or it grew too old in waiting.
    pub refused: u64,
    /// Messages dropped, each written down.
    pub dropped: Audit,
    /// Dropped by class, as [`Class::ALL`].
    pub dropped_by_class: [u64; 3],
    /// Each verified message, in the order of verdicts.
    pub samples: Vec<Sample>,
    /// Stalls of the host, and how long they took together `[ns]`.
    pub stalls: (usize, u64),
    /// From the first instant to the last verdict `[ns]`.
    pub took_ns: u64,
}

impl Outcome {
    /// Latencies of a class, or of all, sorted `[ns]`; without those a stall of the host was part of, if asked.
    #[must_use]
    pub fn latencies_ns(&self, class: Option<Class>, stall_free: bool) -> Vec<u64> {
        let mut all: Vec<u64> = self
            .samples
            .iter()
            .filter(|sample| class.is_none_or(|class| sample.class == class))
            .filter(|sample| !stall_free || !sample.is_stalled)
            .map(|sample| sample.latency_ns)
            .collect();
        all.sort_unstable();
        all
    }
}

/// Offers a stream to a receiver that knows every signer, on this thread, and waits for it to end. The receiver never sleeps:
/// it has the processor to itself, and a processor that wakes up is slow at first.
///
/// # Errors
/// [`LoadError`] if messages cannot be made, or the receiver refuses the certificates.
pub fn offer(town: &mut Town, load: &Load, engine: Engine) -> Result<Outcome, LoadError> {
    let arrivals = load.arrivals(town)?;
    let config = PipelineConfig { engine, wait_max_ns: load.wait_max_ns, ..PipelineConfig::default() };
    let receiver = Receiver::new(receiver(town)?, config, arrivals.len());
    Ok(receiver.run(&arrivals))
}

/// How many messages one core verifies, and what verified.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// What verified.
    pub engine: Engine,
    /// Messages a second of processor time.
    pub per_s: f64,
}

/// How many messages a second one core verifies when they lie ready: the whole path, signers known, by processor time. What verifies
/// is `engine`, or what the processor has in its place.
///
/// # Errors
/// As [`offer`].
pub fn capacity(town: &mut Town, engine: Engine, messages: usize) -> Result<Capacity, LoadError> {
    let load = Load { offered_per_s: 1e9, ..Load::default() };
    let arrivals = load.some_arrivals(town, messages)?;
    let mut verifier = receiver(town)?;
    let mut pipeline = Pipeline::new(PipelineConfig { engine, ..PipelineConfig::default() });
    let (mut accepted, now) = (0, Moment { ns: 0, time: NOW.plus_us(1_000) });
    let start_ns = Clock::thread_ns();
    for some in arrivals.chunks(QUEUE_LEN) {
        for arrival in some {
            pipeline.receive(arrival, arrival.class, now);
        }
        while !pipeline.is_empty() {
            pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| {
                accepted += usize::from(judged.verdict.is_accepted());
            });
        }
    }
    let spent_ns = (Clock::thread_ns() - start_ns).max(1);
    if accepted < messages {
        return Err(LoadError::Refused(format!("{} of {messages}", messages - accepted)));
    }
    Ok(Capacity { engine: pipeline.engine(), per_s: messages as f64 * 1e9 / spent_ns as f64 })
}

/// A receiver that has every station's certificate.
fn receiver(town: &Town) -> Result<Verifier, LoadError> {
    let config = VerifierConfig { neighbours_max: town.stations.len().max(1_000), ..VerifierConfig::default() };
    let mut verifier = town.verifier(config)?;
    let drafts: Vec<Draft> = (0..town.stations.len())
        .map(|station| Draft { station, payload: b"here I am".to_vec(), generation_time: NOW, with_certificate: true })
        .collect();
    for message in town.sign_all(&drafts)? {
        let (verdict, _) = verifier.verify(&message, &Context::at(NOW), &mut NoStopwatch);
        if !verdict.is_accepted() {
            return Err(LoadError::Refused(verdict.to_string()));
        }
    }
    Ok(verifier)
}

struct Receiver<'t> {
    verifier: Verifier,
    pipeline: Pipeline<&'t Arrival>,
    clock: Clock,
    /// What the loop did, one after the other.
    steps: Vec<Step>,
    /// When each sample was due and done `[ns]`.
    spans: Vec<(u64, u64)>,
    /// What came during a batch and did not interrupt it.
    others: Vec<(&'t Arrival, Moment)>,
    outcome: Outcome,
}

impl<'t> Receiver<'t> {
    fn new(verifier: Verifier, config: PipelineConfig, messages: usize) -> Self {
        let (pipeline, clock) = (Pipeline::new(config), Clock::start());
        let outcome = Outcome {
            engine: pipeline.engine(),
            offered: 0,
            emergencies: 0,
            verified: 0,
            refused: 0,
            dropped: Audit::new(0),
            dropped_by_class: [0; 3],
            samples: Vec::with_capacity(messages),
            stalls: (0, 0),
            took_ns: 0,
        };
        let (steps, spans) = (Vec::with_capacity(messages), Vec::with_capacity(messages));
        Self { verifier, pipeline, clock, steps, spans, others: Vec::new(), outcome }
    }

    fn run(mut self, arrivals: &'t [Arrival]) -> Outcome {
        self.clock = Clock::start();
        let mut next = 0;
        let mut before_ns = self.clock.now_ns();
        while next < arrivals.len() || !self.pipeline.is_empty() {
            let now_ns = self.clock.now_ns();
            // Between two looks nothing was done: it should not be much later.
            self.steps.extend(Step::idle(before_ns, now_ns));
            let now = Moment { ns: now_ns, time: at(now_ns) };
            while let Some(arrival) = arrivals.get(next).filter(|arrival| arrival.due_ns <= now_ns) {
                self.let_in(arrival, now);
                next += 1;
            }
            if self.pipeline.is_due(now_ns) {
                next = self.verify(now, arrivals, next);
                before_ns = self.clock.now_ns();
                continue;
            }
            before_ns = now_ns;
        }
        self.outcome.took_ns = self.clock.now_ns();
        self.outcome.dropped = self.pipeline.audit().clone();
        let stalls = Stalls::of(&self.steps);
        self.outcome.stalls = (stalls.count(), stalls.total_ns());
        for (sample, (due_ns, done_ns)) in self.outcome.samples.iter_mut().zip(&self.spans) {
            sample.is_stalled = stalls.overlap(*due_ns, *done_ns);
        }
        self.outcome
    }

    fn let_in(&mut self, arrival: &'t Arrival, now: Moment) {
        self.outcome.offered += 1;
        self.outcome.emergencies += u64::from(arrival.class == Class::Emergency);
        if let Some((_, class)) = self.pipeline.receive(arrival, arrival.class, now) {
            self.outcome.dropped_by_class[class as usize] += 1;
        }
    }

    /// Verifies a batch. Takes emergencies that come meanwhile, and tells which arrival is the next.
    fn verify(&mut self, now: Moment, arrivals: &'t [Arrival], mut next: usize) -> usize {
        let Self { verifier, pipeline, clock, spans, outcome, others, .. } = self;
        let Outcome { offered, emergencies, verified, refused, samples, .. } = outcome;
        let emergency = || {
            let now_ns = clock.now_ns();
            let now = Moment { ns: now_ns, time: at(now_ns) };
            while let Some(arrival) = arrivals.get(next).filter(|arrival| arrival.due_ns <= now_ns) {
                next += 1;
                if arrival.class == Class::Emergency {
                    *offered += 1;
                    *emergencies += 1;
                    return Some((arrival, now));
                }
                others.push((arrival, now));
            }
            None
        };
        let count = pipeline.run_interruptibly(verifier, now, &mut NoStopwatch, emergency, |judged| {
            let (due_ns, done_ns) = (judged.message.due_ns, clock.now_ns());
            *verified += 1;
            *refused += u64::from(!judged.verdict.is_accepted());
            spans.push((due_ns, done_ns));
            let latency_ns = done_ns.saturating_sub(due_ns);
            samples.push(Sample { class: judged.class, latency_ns, is_stalled: false });
        });
        self.steps.push(Step { start_ns: now.ns, end_ns: self.clock.now_ns(), messages: count });
        for (arrival, now) in std::mem::take(&mut self.others) {
            self.let_in(arrival, now);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_v2x::vss::SkipReason;

    use super::*;

    #[test]
    fn every_message_is_verified_or_written_down() {
        let mut town = Town::new(5, 2).unwrap();
        for engine in [Engine::Scalar, Engine::Words, Engine::Lanes] {
            let load = Load { offered_per_s: 200_000.0, duration_ms: 40, ..Load::default() };
            let outcome = offer(&mut town, &load, engine).unwrap();
            let ran = if Engine::available().contains(&engine) { engine } else { Engine::fastest() };
            assert_eq!(outcome.engine, ran);
            assert_eq!(outcome.offered, 8_000);
            assert_eq!(outcome.verified + outcome.dropped.total(), outcome.offered);
            assert_eq!(outcome.refused, 0);
            assert_eq!(outcome.samples.len() as u64, outcome.verified);
        }
    }

    #[test]
    fn far_messages_are_dropped_first_and_emergencies_last() {
        let mut town = Town::new(5, 2).unwrap();
        let load = Load { offered_per_s: 500_000.0, duration_ms: 20, ..Load::default() };
        let outcome = offer(&mut town, &load, Engine::Scalar).unwrap();
        let [emergency, near, far] = outcome.dropped_by_class;
        assert!(far > 0 && outcome.dropped.count(SkipReason::Overload) == emergency + near + far);
        assert!(near == 0 || far > near, "{:?}", outcome.dropped_by_class);
        assert!(emergency == 0 || near > 0, "{:?}", outcome.dropped_by_class);
    }
}
