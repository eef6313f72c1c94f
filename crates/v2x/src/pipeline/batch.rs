//! Messages begun together, and emergencies that come before they are done.

use super::checks::Checks;
use super::signatures;
use super::{Class, Engine, Judged, Message, Moment, Waiting};
use crate::types::HashedId8;
use crate::verify::{Begun, ResultCode, Stopwatch};

/// Messages done with before their signature that one call looks at, at most.
const SETTLED_MAX: usize = 256;

/// Messages whose signatures are verified together, at most `MAX`: there is room for no more, since to clear the places of 32 takes
/// as long as a tenth of a verification with a table.
pub(super) struct Batch<'a, M, const MAX: usize> {
    engine: Engine,
    now: Moment,
    begun: [Option<Begun<'a>>; MAX],
    members: [Option<(&'a Waiting<M>, Class)>; MAX],
    signers: [Option<HashedId8>; MAX],
    count: usize,
    /// Signatures.
    jobs: usize,
    jobs_max: usize,
}

impl<'a, M: Message, const MAX: usize> Batch<'a, M, MAX> {
    pub(super) fn new(engine: Engine, jobs_max: usize, now: Moment) -> Self {
        Self {
            engine,
            now,
            begun: [const { None }; MAX],
            members: [const { None }; MAX],
            signers: [None; MAX],
            count: 0,
            jobs: 0,
            jobs_max,
        }
    }

    /// Takes the first of these messages through all checks, as many as make up the batch; tells how many of each class.
    pub(super) fn pass<S: Stopwatch>(
        &mut self,
        messages: impl Iterator<Item = (&'a Waiting<M>, Class)>,
        mut checks: Checks<'_, S>,
        interruptions: &mut Interruptions<M, impl FnMut() -> Option<(M, Moment)>>,
        mut judge: impl FnMut(Judged<'_, M>),
    ) -> [usize; Class::ALL.len()] {
        let mut taken = [0; Class::ALL.len()];
        let mut settled = 0;
        for (one, class) in messages {
            let begun = checks.begin(&one.message, self.now.time);
            let jobs = begun.jobs().count();
            if self.comes_before(&begun, jobs) {
                break;
            }
            let skipped = if jobs == 0 { None } else { checks.skips(&one.message, self.now.time) };
            if jobs == 0 || skipped.is_some() {
                judge(checks.end(begun, skipped, self.now.time).of(one, class));
                settled += 1;
            } else {
                self.push(one, class, begun, jobs);
            }
            taken[class as usize] += 1;
            if self.jobs >= self.jobs_max || settled == SETTLED_MAX {
                break;
            }
        }
        if self.count > 0 {
            self.finish(&mut checks, interruptions, judge);
        }
        taken
    }

    /// Whether this message has to begin anew after the batch: there is no room for its signatures, or it was refused for
    /// a certificate that is in the batch, and will be known then.
    fn comes_before(&self, begun: &Begun<'_>, jobs: usize) -> bool {
        if jobs > 0 { self.jobs > 0 && self.jobs + jobs > self.jobs_max } else { have_that_of(&self.signers, begun) }
    }

    /// Each message has a job, and there are at most as many jobs as messages have room, so there is room.
    fn push(&mut self, one: &'a Waiting<M>, class: Class, begun: Begun<'a>, jobs: usize) {
        self.signers[self.count] = begun.verdict().signer;
        (self.begun[self.count], self.members[self.count]) = (Some(begun), Some((one, class)));
        self.count += 1;
        self.jobs += jobs;
    }

    fn finish<S: Stopwatch>(
        &mut self,
        checks: &mut Checks<'_, S>,
        interruptions: &mut Interruptions<M, impl FnMut() -> Option<(M, Moment)>>,
        mut judge: impl FnMut(Judged<'_, M>),
    ) {
        let start_ns = checks.stopwatch.now_ns();
        let begun = &mut self.begun[..self.count];
        // An emergency gains nothing by standing still for the next.
        let is_emergency = self.jobs_max == 1;
        let answers = signatures::verify(begun, self.engine, &mut || {
            while !is_emergency
                && interruptions.left > 0
                && let Some((message, received)) = (interruptions.emergency)()
            {
                interruptions.verify(message, received, &self.signers, checks, &mut judge);
            }
        });
        let took_ns = checks.stopwatch.now_ns().saturating_sub(start_ns).saturating_sub(interruptions.took_ns);
        for ((begun, member), answers) in self.begun[..self.count].iter_mut().zip(&mut self.members).zip(answers) {
            let (Some(begun), Some((one, class))) = (begun.take(), member.take()) else { break };
            judge(checks.finish(begun, &answers, took_ns, self.engine).of(one, class));
        }
    }
}

/// Whether this one was refused for a certificate that is in the batch of these signers, and will be known after it.
fn have_that_of(signers: &[Option<HashedId8>], refused: &Begun<'_>) -> bool {
    let verdict = refused.verdict();
    verdict.result() == ResultCode::SpduParsingCertificateNotFound
        && verdict.signer.is_some()
        && signers.contains(&verdict.signer)
}

/// Emergencies in the middle of a batch.
pub(super) struct Interruptions<M, E> {
    /// So many more may come.
    left: usize,
    engine: Engine,
    /// Tells of one that has come.
    emergency: E,
    /// Those whose certificate is in the batch: they go first after it.
    pub(super) put_off: Vec<Waiting<M>>,
    /// Verified.
    pub(super) count: usize,
    took_ns: u64,
}

impl<M: Message, E: FnMut() -> Option<(M, Moment)>> Interruptions<M, E> {
    /// At most so many.
    pub(super) fn new(left: usize, engine: Engine, emergency: E) -> Self {
        Self { left, engine, emergency, put_off: Vec::new(), count: 0, took_ns: 0 }
    }

    fn verify<S: Stopwatch>(
        &mut self,
        message: M,
        received: Moment,
        signers: &[Option<HashedId8>],
        checks: &mut Checks<'_, S>,
        judge: &mut impl FnMut(Judged<'_, M>),
    ) {
        self.left -= 1;
        let start_ns = checks.stopwatch.now_ns();
        let one = Waiting { message, received_ns: received.ns };
        let begun = checks.begin(&one.message, received.time);
        let is_refused = begun.jobs().next().is_none();
        if is_refused && have_that_of(signers, &begun) {
            drop(begun);
            self.put_off.push(one);
        } else {
            let skipped = if is_refused { None } else { checks.skips(&one.message, received.time) };
            let end = if is_refused || skipped.is_some() {
                checks.end(begun, skipped, received.time)
            } else {
                checks.verify_alone(begun, self.engine)
            };
            judge(end.of(&one, Class::Emergency));
            self.count += 1;
        }
        self.took_ns += checks.stopwatch.now_ns().saturating_sub(start_ns);
    }
}
