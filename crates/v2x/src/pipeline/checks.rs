//! The way of one message: its checks, the policy, its verdict.

use super::signatures;
use super::{Class, Engine, Judged, Message, Waiting};
use crate::crypto::HashValue;
use crate::types::{Ieee1609Dot2Data, Time64};
use crate::verify::{self, Begun, Stopwatch, Verdict, Verifier};
use crate::vss::{Audit, Demand, PerSecond, SkipReason, Skipped};

/// Which signatures are verified, and which were not.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) demand: Demand,
    pub(super) audit: Audit,
    /// Certificates learned from messages left out.
    pub(super) certificates: PerSecond,
    pub(super) certificates_per_second: u32,
}

impl Gate {
    pub(super) fn write_down(&mut self, message: &[u8], time: Time64, reason: SkipReason) {
        let message = HashValue::sha256(message).hashed_id8();
        self.audit.record(Skipped { at_us: time.0, message, reason });
    }
}

/// What takes messages through all that.
pub(super) struct Checks<'t, S> {
    pub(super) verifier: &'t mut Verifier,
    pub(super) stopwatch: &'t mut S,
    pub(super) gate: &'t mut Gate,
}

impl<S: Stopwatch> Checks<'_, S> {
    pub(super) fn begin<'m>(&mut self, message: &'m impl Message, time: Time64) -> Begun<'m> {
        self.verifier.begin(message.bytes(), &message.context(time), self.stopwatch)
    }

    /// Whether the policy leaves out the signature of a message that has passed all other checks.
    pub(super) fn skips(&mut self, message: &impl Message, time: Time64) -> Option<SkipReason> {
        let reason = self.gate.demand.decide(time.0, &message.relevance()).err()?;
        self.gate.write_down(message.bytes(), time, reason);
        Some(reason)
    }

    /// The end of a message whose signature is not verified: it was refused before, or left out. One that is left out teaches
    /// its certificate, within the budget; if that is wrong, the message is refused.
    pub(super) fn end<'m>(&mut self, mut begun: Begun<'m>, skipped: Option<SkipReason>, time: Time64) -> End<'m> {
        let teaches = skipped.is_some()
            && begun.has_new_certificates()
            && self.gate.certificates.takes(time.0, self.gate.certificates_per_second);
        let skipped = if teaches && !self.verifier.learn(&mut begun) { None } else { skipped };
        let (verdict, data) = match skipped {
            Some(_) => begun.skip(verify::SkipReason::Postponed),
            None => self.verifier.finish(begun, &[], 0),
        };
        End { verdict, skipped, engine: None, data }
    }

    /// The end of one whose signatures are verified.
    pub(super) fn finish<'m>(&mut self, begun: Begun<'m>, answers: &[bool], took_ns: u64, engine: Engine) -> End<'m> {
        let (verdict, data) = self.verifier.finish(begun, answers, took_ns);
        End { verdict, skipped: None, engine: Some(engine), data }
    }

    /// Verifies the signatures of one message by themselves.
    pub(super) fn verify_alone<'m>(&mut self, begun: Begun<'m>, engine: Engine) -> End<'m> {
        let start_ns = self.stopwatch.now_ns();
        let mut begun = [Some(begun)];
        let answers = signatures::verify(&mut begun, engine, &mut || ());
        let took_ns = self.stopwatch.now_ns().saturating_sub(start_ns);
        let [begun] = begun.map(|begun| begun.expect("it was put there, and nobody takes it out"));
        self.finish(begun, &answers[0], took_ns, engine)
    }
}

/// What became of a message.
pub(super) struct End<'m> {
    verdict: Verdict,
    skipped: Option<SkipReason>,
    engine: Option<Engine>,
    data: Option<Ieee1609Dot2Data<'m>>,
}

impl<'m> End<'m> {
    pub(super) fn of<M>(self, one: &'m Waiting<M>, class: Class) -> Judged<'m, M> {
        let Self { verdict, skipped, engine, data } = self;
        Judged { message: &one.message, class, received_ns: one.received_ns, verdict, skipped, engine, data }
    }
}
