//! Round trips: messages that were answered, lost on the way out, and lost on the way back.
//!
//! Counts are those of the accounts of both streams, each counted by itself; times are of the pairs of rows of a message and of its answer,
//! which have one number.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, NodeId, SimTime, StreamId};
use serde::{Deserialize, Serialize};

use super::streams::Divided;
use super::{Account, Spread, StreamSummary};
use crate::{FrameRow, Outcome, RunMeta, TriggerMeta};

/// A stream and the stream of its answers.
///
/// `asked` is the sum of `not_sent`, `lost_out`, `not_answered`, `lost_back`, `answered` and `under_way`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RoundTripSummary {
    /// The stream that is answered.
    pub stream: String,
    /// The stream of the answers.
    pub answer: String,
    /// Who answers.
    pub relay: String,
    /// In a closed loop, when an answer was waited for no more `[ns]`. Its latencies hide what waits before it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop_ns: Option<i64>,
    /// Messages that were due for the relay.
    pub asked: u64,
    /// Of these, not sent.
    pub not_sent: u64,
    /// Sent and not accepted by the relay.
    pub lost_out: u64,
    /// Accepted by the relay, which did not send the answer.
    pub not_answered: u64,
    /// Answered, and the answer was not accepted.
    pub lost_back: u64,
    /// Answered, and the answer was accepted.
    pub answered: u64,
    /// On either way, or at the relay, when the run ended.
    pub under_way: u64,
    /// From when a message was due to when its answer had been accepted.
    pub from_due: Spread,
    /// From when a message was sent to when its answer had been accepted.
    pub from_sent: Spread,
}

/// What is known of a round trip of which one half has come.
enum Half {
    Asked { due: Option<SimTime>, sent: Option<SimTime>, stalled: bool },
    Answered { at: SimTime, stalled: bool },
    Lost,
}

struct Pair {
    question: StreamId,
    answer: StreamId,
    relay: NodeId,
    open: BTreeMap<u64, Half>,
    from_due: Divided,
    from_sent: Divided,
}

/// Every round trip of a run.
pub(crate) struct RoundTrips(Vec<Pair>);

impl RoundTrips {
    pub(crate) fn new(meta: &RunMeta) -> Self {
        let pair = |(answer, stream): (u16, &crate::StreamMeta)| match stream.trigger {
            Some(TriggerMeta::Answers { stream: question }) => Some(Pair {
                question: StreamId(question),
                answer: StreamId(answer),
                relay: NodeId(stream.sender),
                open: BTreeMap::new(),
                from_due: Divided::default(),
                from_sent: Divided::default(),
            }),
            _ => None,
        };
        Self((0..).zip(&meta.streams).filter_map(pair).collect())
    }

    /// Takes in a frame of which it is known how it ended.
    pub(crate) fn frame(&mut self, row: &FrameRow) {
        // A copy is no end of anything.
        if row.attack.is_some() || row.outcome == Outcome::Discarded(DiscardReason::CopyEliminated) {
            return;
        }
        for pair in &mut self.0 {
            if row.stream == pair.question && row.at == pair.relay && row.accepted_at.is_some() {
                let asked = Half::Asked { due: row.due_at, sent: row.sent_at, stalled: row.stalled };
                pair.take(row.sequence, asked);
            } else if row.stream == pair.answer {
                let back = row.accepted_at.map_or(Half::Lost, |at| Half::Answered { at, stalled: row.stalled });
                pair.take(row.sequence, back);
            }
        }
    }

    /// What became of each, by the accounts of its streams.
    pub(crate) fn finish(self, meta: &RunMeta, streams: &[StreamSummary]) -> Vec<RoundTripSummary> {
        let summary = |pair: Pair| {
            let (question, answer) = (meta.streams.get(pair.question.index())?, meta.streams.get(pair.answer.index())?);
            let account = |id: StreamId, receiver: u16| {
                let place = meta.streams[id.index()].receivers.iter().position(|known| *known == receiver)?;
                streams.get(id.index())?.receivers.get(place)
            };
            let out = account(pair.question, pair.relay.0)?;
            let back = account(pair.answer, question.sender)?;
            let accepted = |account: &Account| account.in_time + account.late;
            let lost = |account: &Account| {
                account.missing + account.replaced + account.unaccounted + account.startup + account.discarded_total()
            };
            let known = out.not_sent + lost(out) + back.not_sent + lost(back) + accepted(back);
            Some(RoundTripSummary {
                stream: question.name.clone(),
                answer: answer.name.clone(),
                relay: meta.node_name(pair.relay.0),
                closed_loop_ns: match question.trigger {
                    Some(TriggerMeta::ClosedLoop { timeout_ns, .. }) => Some(timeout_ns),
                    _ => None,
                },
                asked: out.due,
                not_sent: out.not_sent,
                lost_out: lost(out),
                not_answered: back.not_sent,
                lost_back: lost(back),
                answered: accepted(back),
                under_way: out.due.saturating_sub(known),
                from_due: pair.from_due.finish().0,
                from_sent: pair.from_sent.finish().0,
            })
        };
        self.0.into_iter().filter_map(summary).collect()
    }
}

impl Pair {
    /// Takes in one half of a round trip, whichever comes first.
    fn take(&mut self, number: u64, half: Half) {
        let Some(other) = self.open.remove(&number) else {
            self.open.insert(number, half);
            return;
        };
        match (half, other) {
            (Half::Asked { due, sent, stalled: out }, Half::Answered { at, stalled: back })
            | (Half::Answered { at, stalled: back }, Half::Asked { due, sent, stalled: out }) => {
                self.from_due.push(due, Some(at), out || back);
                self.from_sent.push(sent, Some(at), out || back);
            }
            // The answer was lost, or one half was told twice: there is nothing to time.
            _ => {}
        }
    }
}
