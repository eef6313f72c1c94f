//! Received messages, verified in batches, the most relevant first.

use std::collections::VecDeque;

use chronoseal_v2x::crypto::HashValue;
use chronoseal_v2x::types::{HashedId8, Ieee1609Dot2Data, Time64};
use chronoseal_v2x::verify::{Begun, Context, ResultCode, Stopwatch, Verdict, Verifier};
use chronoseal_v2x::vss::{Audit, SkipReason, Skipped};

use crate::Engine;
use crate::batch::{self, MESSAGES_MAX};

/// Messages of [`PipelineConfig::default`] that wait at most.
pub const QUEUE_LEN: usize = 256;

/// Signatures verified with an emergency, unless a whole batch waits: what fills the lanes once.
const URGENT_LEN: usize = 8;
/// Where one signature takes less time than eight lanes, so many emergencies are verified one by one.
const ALONE_MAX: usize = 2;
/// Emergencies that interrupt a batch, at most: one that is always interrupted would never end.
const INTERRUPTIONS_MAX: usize = 2;
/// Messages refused before their signature that one call looks at, at most.
const REFUSED_MAX: usize = 256;

/// What a message is worth by what it says before anything of it is verified, the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Never waits for another class, nor for a batch to fill.
    Emergency,
    /// Of a station near by.
    Near,
    /// Of one far away.
    Far,
}

impl Class {
    /// All of them, the most relevant first.
    pub const ALL: [Self; 3] = [Self::Emergency, Self::Near, Self::Far];

    /// As shown to people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emergency => "emergency",
            Self::Near => "near",
            Self::Far => "far",
        }
    }
}

/// A received message, and what its receiver knows of it.
pub trait Message {
    /// The message.
    fn bytes(&self) -> &[u8];

    /// What is known besides; nothing but the time unless this is overridden.
    fn context(&self, now: Time64) -> Context<'_> {
        Context::at(now)
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
    /// Of a clock that is never set [ns].
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
    /// How long a message waits for others at most, emergencies not at all [ns].
    pub wait_max_ns: u64,
    /// Dropped messages kept in the audit; it counts and chains all.
    pub audit_len: usize,
}

impl Default for PipelineConfig {
    /// Lanes, [`QUEUE_LEN`] messages, no waiting, 1,000 dropped messages kept.
    fn default() -> Self {
        Self { engine: Engine::Lanes, queue_len_max: QUEUE_LEN, wait_max_ns: 0, audit_len: 1_000 }
    }
}

/// A message that has its verdict.
#[derive(Debug)]
pub struct Judged<'a, M> {
    /// As it was received.
    pub message: &'a M,
    /// Its class.
    pub class: Class,
    /// When it was received, by the caller's clock [ns].
    pub received_ns: u64,
    /// Each check.
    pub verdict: Verdict,
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
/// use chronoseal_v2x::verify::{NoStopwatch, ResultCode, Verifier, VerifierConfig};
/// use chronoseal_v2x_load::{Class, Moment, NOW, Pipeline, PipelineConfig};
///
/// let mut verifier = Verifier::new(VerifierConfig::default());
/// let mut pipeline = Pipeline::new(PipelineConfig { wait_max_ns: 200_000, ..PipelineConfig::default() });
/// assert!(pipeline.receive(&b"no message"[..], Class::Far, Moment { ns: 1_000, time: NOW }).is_none());
/// assert!(pipeline.due_at_ns() <= Some(201_000));
/// pipeline.run(&mut verifier, Moment { ns: 201_000, time: NOW }, &mut NoStopwatch, |judged| {
///     assert_eq!(judged.verdict.result(), ResultCode::SpduParsingInvalidInput);
/// });
/// assert!(pipeline.is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline<M> {
    config: PipelineConfig,
    /// By class, the oldest first.
    waiting: [VecDeque<Waiting<M>>; 3],
    audit: Audit,
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
        if chronoseal_ecdsa_lanes::engine() == chronoseal_ecdsa_lanes::Engine::Scalar {
            // Nobody should wait for others that are verified one by one.
            config.engine = Engine::Scalar;
        }
        if config.engine == Engine::Lanes {
            chronoseal_ecdsa_lanes::prepare(chronoseal_ecdsa_lanes::Curve::NistP256);
            chronoseal_ecdsa_lanes::prepare(chronoseal_ecdsa_lanes::Curve::BrainpoolP256r1);
        }
        let waiting = std::array::from_fn(|_| VecDeque::with_capacity(config.queue_len_max + 1));
        Self { config, waiting, audit: Audit::new(config.audit_len) }
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
        let message = HashValue::sha256(dropped.message.bytes()).hashed_id8();
        self.audit.record(Skipped { at_us: now.time.0, message, reason: SkipReason::Overload });
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

    /// What was dropped.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// When [`run`](Self::run) should be called; none if nothing waits [ns].
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

    /// Signatures of the next batch, and what verifies them. The fewer wait, the shorter an emergency's batch is kept.
    fn next_batch(&self) -> (usize, Engine) {
        let engine = self.config.engine;
        let emergencies = self.waiting[Class::Emergency as usize].len();
        if emergencies == 0 || self.is_backlog() {
            (engine.batch_len(), engine)
        } else if batch::IS_ONE_FAST && emergencies <= ALONE_MAX {
            (1, Engine::Scalar)
        } else {
            (engine.batch_len().min(URGENT_LEN), engine)
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
        self.run_interruptibly(verifier, now, stopwatch, || None, judge)
    }

    /// As [`run`](Self::run), asking `emergency` every few microseconds for one that has come in meanwhile, which is verified
    /// at once, by itself, while the batch stands still. With a backlog, or after a few, nobody asks: what comes then is
    /// [received](Self::receive) by the caller as ever.
    pub fn run_interruptibly(
        &mut self,
        verifier: &mut Verifier,
        now: Moment,
        stopwatch: &mut impl Stopwatch,
        mut emergency: impl FnMut() -> Option<(M, Moment)>,
        mut judge: impl FnMut(Judged<'_, M>),
    ) -> usize {
        let (jobs_max, engine) = self.next_batch();
        let mut interruptions = Interruptions {
            left: if self.is_backlog() { 0 } else { INTERRUPTIONS_MAX },
            engine: if batch::IS_ONE_FAST { Engine::Scalar } else { self.config.engine },
            put_off: Vec::new(),
            count: 0,
            took_ns: 0,
        };
        let mut taken = [0; Class::ALL.len()];
        {
            let mut batch = Batch::new();
            let mut refused = 0;
            let all = Class::ALL
                .into_iter()
                .flat_map(|class| self.waiting[class as usize].iter().map(move |one| (one, class)));
            for (one, class) in all {
                let begun = verifier.begin(one.message.bytes(), &one.message.context(now.time), stopwatch);
                let jobs = begun.jobs().count();
                if jobs == 0 && batch.signers.have_that_of(&begun) {
                    break;
                }
                if jobs == 0 {
                    let (verdict, data) = verifier.finish(begun, &[], 0);
                    judge(Judged { message: &one.message, class, received_ns: one.received_ns, verdict, data });
                    refused += 1;
                } else if batch.jobs > 0 && batch.jobs + jobs > jobs_max {
                    // It begins anew with the next batch.
                    break;
                } else {
                    batch.push(one, class, begun, jobs);
                }
                taken[class as usize] += 1;
                if batch.jobs >= jobs_max || refused == REFUSED_MAX {
                    break;
                }
            }
            batch.finish(engine, verifier, stopwatch, &mut interruptions, &mut emergency, judge);
        }
        for (waiting, taken) in self.waiting.iter_mut().zip(taken) {
            waiting.drain(..taken);
        }
        self.waiting[Class::Emergency as usize].extend(interruptions.put_off);
        taken.iter().sum::<usize>() + interruptions.count
    }
}

/// Emergencies in the middle of a batch.
struct Interruptions<M> {
    /// So many more may come.
    left: usize,
    engine: Engine,
    /// Those whose certificate is in the batch: they go first after it.
    put_off: Vec<Waiting<M>>,
    /// Verified.
    count: usize,
    took_ns: u64,
}

impl<M: Message> Interruptions<M> {
    fn verify(
        &mut self,
        message: M,
        received: Moment,
        signers: &Signers,
        verifier: &mut Verifier,
        stopwatch: &mut impl Stopwatch,
        judge: &mut impl FnMut(Judged<'_, M>),
    ) {
        self.left -= 1;
        let (start_ns, received_ns) = (stopwatch.now_ns(), received.ns);
        let begun = verifier.begin(message.bytes(), &message.context(received.time), stopwatch);
        if begun.jobs().next().is_none() && signers.have_that_of(&begun) {
            drop(begun);
            self.put_off.push(Waiting { message, received_ns });
        } else {
            let signature_ns = stopwatch.now_ns();
            let mut begun = [Some(begun)];
            let [answers, ..] = batch::verify(&mut begun, self.engine, &mut || ());
            let took_ns = stopwatch.now_ns().saturating_sub(signature_ns);
            if let [Some(begun)] = begun {
                let (verdict, data) = verifier.finish(begun, &answers, took_ns);
                judge(Judged { message: &message, class: Class::Emergency, received_ns, verdict, data });
            }
            self.count += 1;
        }
        self.took_ns += stopwatch.now_ns().saturating_sub(start_ns);
    }
}

/// Who signed the messages of a batch.
#[derive(Clone, Copy)]
struct Signers([Option<HashedId8>; MESSAGES_MAX]);

impl Signers {
    /// Whether this one was refused for a certificate that is in the batch, and will be known after it.
    fn have_that_of(&self, refused: &Begun<'_>) -> bool {
        let verdict = refused.verdict();
        verdict.result() == ResultCode::SpduParsingCertificateNotFound
            && verdict.signer.is_some()
            && self.0.contains(&verdict.signer)
    }
}

/// Messages begun together.
struct Batch<'a, M> {
    begun: [Option<Begun<'a>>; MESSAGES_MAX],
    members: [Option<(&'a Waiting<M>, Class)>; MESSAGES_MAX],
    signers: Signers,
    count: usize,
    /// Signatures.
    jobs: usize,
}

impl<'a, M: Message> Batch<'a, M> {
    fn new() -> Self {
        Self {
            begun: [const { None }; MESSAGES_MAX],
            members: [const { None }; MESSAGES_MAX],
            signers: Signers([None; MESSAGES_MAX]),
            count: 0,
            jobs: 0,
        }
    }

    /// The caller looks that there is room: each message has a job, and there are at most as many jobs as messages
    /// have room.
    fn push(&mut self, one: &'a Waiting<M>, class: Class, begun: Begun<'a>, jobs: usize) {
        self.signers.0[self.count] = begun.verdict().signer;
        (self.begun[self.count], self.members[self.count]) = (Some(begun), Some((one, class)));
        self.count += 1;
        self.jobs += jobs;
    }

    fn finish(
        mut self,
        engine: Engine,
        verifier: &mut Verifier,
        stopwatch: &mut impl Stopwatch,
        interruptions: &mut Interruptions<M>,
        emergency: &mut impl FnMut() -> Option<(M, Moment)>,
        mut judge: impl FnMut(Judged<'_, M>),
    ) {
        if self.count == 0 {
            return;
        }
        let start_ns = stopwatch.now_ns();
        let signers = self.signers;
        let answers = batch::verify(&mut self.begun[..self.count], engine, &mut || {
            while interruptions.left > 0
                && let Some((message, received)) = emergency()
            {
                interruptions.verify(message, received, &signers, verifier, stopwatch, &mut judge);
            }
        });
        let took_ns = stopwatch.now_ns().saturating_sub(start_ns).saturating_sub(interruptions.took_ns);
        for ((begun, member), answers) in self.begun.into_iter().zip(self.members).zip(answers) {
            let (Some(begun), Some((one, class))) = (begun, member) else { break };
            let (verdict, data) = verifier.finish(begun, &answers, took_ns);
            judge(Judged { message: &one.message, class, received_ns: one.received_ns, verdict, data });
        }
    }
}

#[cfg(test)]
mod tests;
