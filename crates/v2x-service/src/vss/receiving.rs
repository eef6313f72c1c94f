//! `verifySignature`: alone, or together with what else waits.

use std::time::{Duration, Instant};

use chronoseal_v2x::coer::Encode;
use chronoseal_v2x::crypto::one_by_one_by;
use chronoseal_v2x::pipeline::{Class, Engine, Judged, Message, Moment, Pipeline};
use chronoseal_v2x::types::{Ieee1609Dot2Data, InnerData, Time64};
use chronoseal_v2x::verify::{CheckKind, Context, Outcome, ReplayCache, Verdict};
use chronoseal_v2x::vss::{Audit, Relevance, SkipReason};

use super::ConfigError;
use super::config::VssConfig;
use super::misbehaviour::watch;
use super::service::{Vss, nanoseconds};
use super::statistics::Record;

/// What became of a received message.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Each check.
    pub verdict: Verdict,
    /// Why its signature was not verified, if a policy left it out, or too much came.
    pub skipped: Option<SkipReason>,
    /// What it says; only of messages that were not refused.
    pub payload: Option<Vec<u8>>,
    /// When it was made.
    pub generation_time: Option<Time64>,
}

/// Who wants a verdict, and on which of his messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asker {
    /// A number of his own.
    pub client: u64,
    /// Of the question.
    pub number: u64,
}

/// A message that waits among others.
struct Received {
    asker: Asker,
    message: Vec<u8>,
    relevance: Relevance,
}

impl Message for Received {
    fn bytes(&self) -> &[u8] {
        &self.message
    }

    fn relevance(&self) -> Relevance {
        self.relevance
    }
}

/// A message that does not.
struct Lone<'a> {
    message: &'a [u8],
    relevance: &'a Relevance,
    context: &'a Context<'a>,
}

impl Message for Lone<'_> {
    fn bytes(&self) -> &[u8] {
        self.message
    }

    fn context(&self, _: Time64) -> Context<'_> {
        *self.context
    }

    fn relevance(&self) -> Relevance {
        *self.relevance
    }
}

/// Received messages, what is near to them, and the clock they wait by.
pub(super) struct Waiting {
    pipeline: Pipeline<Received>,
    distance_m: u32,
    time_to_collision_ms: u32,
    clock: Instant,
}

impl Waiting {
    pub(super) fn new(config: &VssConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            pipeline: Pipeline::new(config.pipeline()?),
            distance_m: config.verification.distance_m,
            time_to_collision_ms: config.verification.time_to_collision_ms,
            clock: Instant::now(),
        })
    }

    pub(super) fn engine(&self) -> Engine {
        self.pipeline.engine()
    }

    fn moment(&self, time: Time64) -> Moment {
        Moment { ns: nanoseconds(self.clock), time }
    }
}

impl Vss {
    /// What was not verified.
    pub fn audit(&self) -> &Audit {
        self.waiting.pipeline.audit()
    }

    /// What verifies many, and who verifies one by one.
    pub fn engines(&self) -> (Engine, String) {
        (self.waiting.engine(), one_by_one_by())
    }

    /// `verifySignature`, as the policy has it, past all messages that wait.
    pub fn verify_signature(&mut self, message: &[u8], relevance: &Relevance, context: &Context<'_>) -> Verified {
        let Self { waiting, verifier, record, detector, .. } = self;
        let (now, clock) = (waiting.moment(context.now), waiting.clock);
        let mut verified = None;
        let lone = Lone { message, relevance, context };
        waiting.pipeline.verify(lone, verifier, now, &mut || nanoseconds(clock), |judged| {
            watch(detector, &judged, |id| record.own.contains(&id));
            verified = Some(record.judged(judged, now.time, clock));
        });
        record.replay_windows(verifier.replays());
        // One message in is one verdict out.
        verified.unwrap_or_else(|| Verified::unseen(SkipReason::Overload))
    }

    /// Lets a message wait for its verdict, by [`Vss::verify_waiting`]. What comes back had to make room for it and is in
    /// the audit: the oldest of the least relevant, which may be the message itself.
    pub fn receive(
        &mut self,
        asker: Asker,
        message: Vec<u8>,
        relevance: Relevance,
        now: Time64,
    ) -> Option<(Asker, Verified)> {
        let Waiting { distance_m, time_to_collision_ms, .. } = self.waiting;
        let class = Class::of(&relevance, distance_m, time_to_collision_ms);
        let moment = self.waiting.moment(now);
        let (dropped, class) = self.waiting.pipeline.receive(Received { asker, message, relevance }, class, moment)?;
        self.record.statistics.count("verifications", SkipReason::Overload.name());
        self.record.statistics.count("dropped", class.name());
        Some((dropped.asker, Verified::unseen(SkipReason::Overload)))
    }

    /// How long until [`Vss::verify_waiting`] should be called; none if nothing waits.
    pub fn due_in(&self) -> Option<Duration> {
        let due_at_ns = self.waiting.pipeline.due_at_ns()?;
        Some(Duration::from_nanos(due_at_ns.saturating_sub(nanoseconds(self.waiting.clock))))
    }

    /// Verifies the most relevant of the messages that wait, as many as go together, and delivers what became of each.
    /// Tells how many there were.
    pub fn verify_waiting(&mut self, now: Time64, mut deliver: impl FnMut(Asker, Verified)) -> usize {
        let Self { waiting, verifier, record, detector, .. } = self;
        let (moment, clock) = (waiting.moment(now), waiting.clock);
        let count = waiting.pipeline.run(verifier, moment, &mut || nanoseconds(clock), |judged| {
            let asker = judged.message.asker;
            watch(detector, &judged, |id| record.own.contains(&id));
            deliver(asker, record.judged(judged, now, clock));
        });
        record.replay_windows(verifier.replays());
        count
    }
}

impl Record {
    /// Counts how often so many messages came that some were forgotten while a copy would still be fresh.
    fn replay_windows(&mut self, replays: &ReplayCache) {
        while self.statistics.counted("replay_windows", "cut_short") < replays.cut_short_count() {
            self.statistics.count("replay_windows", "cut_short");
        }
    }

    /// Counts a verdict and takes out of it what is delivered.
    fn judged<M>(&mut self, judged: Judged<'_, M>, now: Time64, clock: Instant) -> Verified {
        let Judged { received_ns, verdict, skipped, engine, data, .. } = judged;
        let statistics = &mut self.statistics;
        statistics.checkpoint("verifySignature", nanoseconds(clock).saturating_sub(received_ns));
        for check in &verdict.checks {
            if check.took_ns > 0 {
                statistics.time(check.kind.name(), u64::from(check.took_ns));
            }
        }
        if let Some(engine) = engine {
            statistics.count("verified_by", engine.name());
        }
        let kind = match (verdict.failure(), skipped) {
            (Some((_, code)), _) => code.name(),
            (None, Some(reason)) => reason.name(),
            (None, None) => "accepted",
        };
        statistics.count("verifications", kind);
        let result = if kind == "accepted" { "success" } else { kind };
        self.result(now, "verifySignature", result);
        if verdict.failure().is_some() {
            let who = match verdict.signer {
                Some(id) if self.own.contains(&id) => format!("this station{}", self.name_of(id)),
                Some(id) => id.to_string(),
                None => "nobody known".to_owned(),
            };
            self.note(now, &format!("message of {who} {verdict}"));
        }
        let signed = data.as_ref().and_then(Ieee1609Dot2Data::signed_data).filter(|_| verdict.failure().is_none());
        let payload = signed.and_then(|signed| match &signed.tbs_data.payload.data {
            Some(InnerData::Unsecured(payload)) => Some(payload.to_vec()),
            Some(InnerData::Nested(inner)) => inner.to_coer().ok(),
            None => None,
        });
        let generation_time = signed.and_then(|signed| signed.tbs_data.header_info.generation_time);
        Verified { verdict, skipped, payload, generation_time }
    }
}

impl Verified {
    /// Nobody has looked at it.
    fn unseen(reason: SkipReason) -> Self {
        Self { verdict: Verdict::postponed(), skipped: Some(reason), payload: None, generation_time: None }
    }
}

/// The first check that has something to say of a verdict, for people.
pub fn summary(verified: &Verified) -> String {
    match verified.skipped {
        Some(reason) => format!("not verified: {}", reason.name()),
        None => {
            let skipped =
                verified.verdict.checks.iter().filter(|check| matches!(check.outcome, Outcome::Skipped(_))).count();
            format!("{}; {skipped} of {} checks had nothing to do", verified.verdict, CheckKind::ALL.len())
        }
    }
}
