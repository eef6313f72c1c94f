//! Received messages, verified in batches, the most relevant first.
//!
//! Clocks, threads and sockets are the caller's. The daemon of `chronoseal-v2x-service` and the measurements of
//! `chronoseal-v2x-load` verify by this one [`Pipeline`]; its tests that need many stations stand beside the latter.

mod batch;
mod checks;
mod class;
mod signatures;

use std::collections::VecDeque;

use crate::types::{Ieee1609Dot2Data, Time64};
use crate::verify::{Context, Stopwatch, Verdict, Verifier};
use crate::vss::{Audit, Demand, DemandPolicy, PerSecond, Relevance, SkipReason};

use batch::{Batch, Interruptions};
use checks::{Checks, Gate};
use signatures::MESSAGES_MAX;

pub use class::Class;
pub use signatures::Engine;

/// Messages of [`PipelineConfig::default`] that wait at most.
pub const QUEUE_LEN: usize = 256;

/// Certificates of [`PipelineConfig::default`] that are learned a second from messages left out: a full road begins to be heard
/// within a second or two.
pub const CERTIFICATES_PER_SECOND: u32 = 200;

/// Signatures verified with an emergency, unless a whole batch waits: what fills the lanes once.
const URGENT_LEN: usize = 8;
/// So many are verified one by one: the first of two has its verdict in less time than eight take, the second little later.
const ALONE_MAX: usize = 2;
/// Emergencies that interrupt a batch, at most: one that is always interrupted would never end.
const INTERRUPTIONS_MAX: usize = 2;
/// A received message, and what its receiver knows of it.
pub trait Message {
    /// The message.
    fn bytes(&self) -> &[u8];

    /// What is known besides; nothing but the time unless this is overridden.
    fn context(&self, now: Time64) -> Context<'_> {
        Context::at(now)
    }

    /// What [`PipelineConfig::demand`] is told of it; nothing unless this is overridden.
    fn relevance(&self) -> Relevance {
        Relevance::default()
    }
}

impl Message for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Message for &[u8] {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The time by two clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Of a clock that is never set `[ns]`.
    pub ns: u64,
    /// What messages are judged by.
    pub time: Time64,
}

/// How a [`Pipeline`] is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PipelineConfig {
    /// What verifies.
    pub engine: Engine,
    /// Messages that wait at most; one more, and the oldest of the least relevant is dropped.
    pub queue_len_max: usize,
    /// How long a message waits for others at most, emergencies not at all `[ns]`.
    pub wait_max_ns: u64,
    /// Which signatures are verified, of messages that pass every other check.
    pub demand: DemandPolicy,
    /// Certificates of messages left out by `demand` that are verified and learned all the same, so that later messages by
    /// digest have a signer; the first so many of each second.
    pub certificates_per_second: u32,
    /// Messages dropped or skipped that are kept in the audit; it counts and chains all.
    pub audit_len: usize,
}

impl Default for PipelineConfig {
    /// Lanes, [`QUEUE_LEN`] messages, no waiting, everything verified, [`CERTIFICATES_PER_SECOND`], 1,000 dropped messages kept.
    fn default() -> Self {
        Self {
            engine: Engine::Lanes,
            queue_len_max: QUEUE_LEN,
            wait_max_ns: 0,
            demand: DemandPolicy::Always,
            certificates_per_second: CERTIFICATES_PER_SECOND,
            audit_len: 1_000,
        }
    }
}

/// A message that has its verdict.
#[derive(Debug)]
pub struct Judged<'a, M> {
    /// As it was received.
    pub message: &'a M,
    /// Its class.
    pub class: Class,
    /// When it was received, by the caller's clock `[ns]`.
    pub received_ns: u64,
    /// Each check.
    pub verdict: Verdict,
    /// Why its signature was not verified, if a policy left it out.
    pub skipped: Option<SkipReason>,
    /// What verified its signature; none if it did not come to that.
    pub engine: Option<Engine>,
    /// What it says, if it could be decoded; worth nothing unless the verdict accepts it.
    pub data: Option<Ieee1609Dot2Data<'a>>,
}

/// Messages wait in it until they make up a batch, their time has come, or one is an emergency.
///
/// It reads no clock and has no thread: [`receive`](Self::receive) lets a message in, [`due_at_ns`](Self::due_at_ns) tells
/// when to call [`run`](Self::run), which takes the most relevant ones through all checks, their signatures together. Nothing
/// is allocated for a message signed by digest. A call wants about 600 KB of stack. While few wait,
/// [`run_interruptibly`](Self::run_interruptibly) lets an emergency into the middle of a batch.
///
/// Classes are the caller's guess at unverified messages: whoever calls everything an emergency is first in line, until
/// the caller stops believing it. A message by digest whose certificate waits in a lower class is refused as of an
/// unknown signer; within a class order is kept.
///
/// ```
/// use chronoseal_v2x::pipeline::{Class, Moment, Pipeline, PipelineConfig};
/// use chronoseal_v2x::types::Time64;
/// use chronoseal_v2x::verify::{NoStopwatch, ResultCode, Verifier, VerifierConfig};
///
/// let time = Time64::from_unix_us(1_795_000_000_000_000);
/// let mut verifier = Verifier::new(VerifierConfig::default());
/// let mut pipeline = Pipeline::new(PipelineConfig { wait_max_ns: 200_000, ..PipelineConfig::default() });
/// assert!(pipeline.receive(&b"no message"[..], Class::Far, Moment { ns: 1_000, time }).is_none());
/// assert!(pipeline.due_at_ns() <= Some(201_000));
/// pipeline.run(&mut verifier, Moment { ns: 201_000, time }, &mut NoStopwatch, |judged| {
///     assert_eq!(judged.verdict.result(), ResultCode::SpduParsingInvalidInput);
/// });
/// assert!(pipeline.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline<M> {
    config: PipelineConfig,
    /// By class, the oldest first.
    waiting: [VecDeque<Waiting<M>>; 3],
    gate: Gate,
}

#[derive(Clone, Debug)]
struct Waiting<M> {
    message: M,
    received_ns: u64,
}

impl<M: Message> Pipeline<M> {
    /// With nothing in it. Works out the lanes' tables, which takes some 20 ms the first time.
    #[must_use]
    pub fn new(mut config: PipelineConfig) -> Self {
        if !Engine::available().contains(&config.engine) {
            config.engine = Engine::fastest();
        }
        if Engine::fastest() != Engine::Lanes {
            // Nobody should wait for others that are verified one after the other.
            config.wait_max_ns = 0;
        }
        if config.engine != Engine::Scalar {
            chronoseal_ecdsa_lanes::prepare(chronoseal_ecdsa_lanes::Curve::NistP256);
            chronoseal_ecdsa_lanes::prepare(chronoseal_ecdsa_lanes::Curve::BrainpoolP256r1);
        }
        let waiting = std::array::from_fn(|_| VecDeque::with_capacity(config.queue_len_max + 1));
        let gate = Gate {
            demand: Demand::new(config.demand),
            audit: Audit::new(config.audit_len),
            certificates: PerSecond::default(),
            certificates_per_second: config.certificates_per_second,
        };
        Self { config, waiting, gate }
    }

    /// What verifies batches: that of the configuration, or the fastest of a processor that lacks it.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.config.engine
    }

    /// Lets a message in. What comes back was dropped for it, if too many wait, and is in the audit: the oldest of the
    /// least relevant, which may be the message itself.
    pub fn receive(&mut self, message: M, class: Class, now: Moment) -> Option<(M, Class)> {
        self.waiting[class as usize].push_back(Waiting { message, received_ns: now.ns });
        if self.len() <= self.config.queue_len_max {
            return None;
        }
        let mut classes = Class::ALL.into_iter().rev();
        let (class, dropped) = classes.find_map(|class| Some((class, self.waiting[class as usize].pop_front()?)))?;
        self.gate.write_down(dropped.message.bytes(), now.time, SkipReason::Overload);
        Some((dropped.message, class))
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.iter().all(VecDeque::is_empty)
    }

    /// What was dropped, and what the policy left out.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.gate.audit
    }

    /// When [`run`](Self::run) should be called; none if nothing waits `[ns]`.
    #[must_use]
    pub fn due_at_ns(&self) -> Option<u64> {
        let oldest_ns = self.waiting.iter().filter_map(|class| Some(class.front()?.received_ns)).min()?;
        if let Some(emergency) = self.waiting[Class::Emergency as usize].front() {
            return Some(emergency.received_ns);
        }
        let wait_ns = if self.len() >= self.config.engine.batch_len() { 0 } else { self.config.wait_max_ns };
        Some(oldest_ns.saturating_add(wait_ns))
    }

    /// Whether [`run`](Self::run) should be called now.
    #[must_use]
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.due_at_ns().is_some_and(|due_ns| due_ns <= now_ns)
    }

    /// Whether so many wait that full batches matter most.
    fn is_backlog(&self) -> bool {
        self.len() >= MESSAGES_MAX
    }

    /// Most signatures of the next batch. The fewer are urgent, the shorter it is kept: emergencies, or the only ones that
    /// wait if nothing can interrupt it.
    fn jobs_max(&self, is_interruptible: bool) -> usize {
        let emergencies = self.waiting[Class::Emergency as usize].len();
        let urgent = if emergencies == 0 && !is_interruptible { self.len() } else { emergencies };
        let batch_len = self.config.engine.batch_len();
        if self.is_backlog() || urgent == 0 {
            batch_len
        } else if urgent <= ALONE_MAX {
            1
        } else if emergencies > 0 {
            batch_len.min(URGENT_LEN)
        } else {
            batch_len
        }
    }

    /// Verifies one batch of those that wait, due or not, and hands each verdict to `judge`. Tells how many there were.
    pub fn run(
        &mut self,
        verifier: &mut Verifier,
        now: Moment,
        stopwatch: &mut impl Stopwatch,
        judge: impl FnMut(Judged<'_, M>),
    ) -> usize {
        let jobs_max = self.jobs_max(false);
        self.run_batch(jobs_max, Interruptions::new(0, self.config.engine, || None), verifier, now, stopwatch, judge)
    }

    /// As [`run`](Self::run), asking `emergency` every few microseconds for one that has come in meanwhile, which is verified
    /// at once, by itself, while the batch stands still. With a backlog, or after a few, nobody asks: what comes then is
    /// [received](Self::receive) by the caller as ever.
    pub fn run_interruptibly(
        &mut self,
        verifier: &mut Verifier,
        now: Moment,
        stopwatch: &mut impl Stopwatch,
        emergency: impl FnMut() -> Option<(M, Moment)>,
        judge: impl FnMut(Judged<'_, M>),
    ) -> usize {
        let jobs_max = self.jobs_max(true);
        let interruptions_max = if self.is_backlog() { 0 } else { INTERRUPTIONS_MAX };
        let interruptions = Interruptions::new(interruptions_max, self.config.engine, emergency);
        self.run_batch(jobs_max, interruptions, verifier, now, stopwatch, judge)
    }

    fn run_batch(
        &mut self,
        jobs_max: usize,
        mut interruptions: Interruptions<M, impl FnMut() -> Option<(M, Moment)>>,
        verifier: &mut Verifier,
        now: Moment,
        stopwatch: &mut impl Stopwatch,
        judge: impl FnMut(Judged<'_, M>),
    ) -> usize {
        let Self { config, waiting, gate } = self;
        let all = Class::ALL.into_iter().flat_map(|class| waiting[class as usize].iter().map(move |one| (one, class)));
        let checks = Checks { verifier, stopwatch, gate };
        let taken = if jobs_max == 1 {
            Batch::<_, 1>::new(config.engine, jobs_max, now).pass(all, checks, &mut interruptions, judge)
        } else {
            Batch::<_, MESSAGES_MAX>::new(config.engine, jobs_max, now).pass(all, checks, &mut interruptions, judge)
        };
        for (waiting, taken) in waiting.iter_mut().zip(taken) {
            waiting.drain(..taken);
        }
        waiting[Class::Emergency as usize].extend(interruptions.put_off);
        taken.iter().sum::<usize>() + interruptions.count
    }

    /// Verifies a message that does not wait with the others: by the same rules, as an emergency, here and now.
    pub fn verify<N: Message>(
        &mut self,
        message: N,
        verifier: &mut Verifier,
        now: Moment,
        stopwatch: &mut impl Stopwatch,
        judge: impl FnMut(Judged<'_, N>),
    ) {
        let one = Waiting { message, received_ns: now.ns };
        let checks = Checks { verifier, stopwatch, gate: &mut self.gate };
        let mut undisturbed = Interruptions::new(0, self.config.engine, || None);
        let alone = std::iter::once((&one, Class::Emergency));
        Batch::<_, 1>::new(self.config.engine, 1, now).pass(alone, checks, &mut undisturbed, judge);
    }
}

#[cfg(test)]
mod tests;
