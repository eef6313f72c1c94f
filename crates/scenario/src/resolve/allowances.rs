//! Losses that a scenario allows.

use chronoseal_core::{DiscardReason, StreamId};
use chronoseal_plan::{AllowancePlan, StreamPlan};

use crate::kinds::Context;
use crate::problem::Code;
use crate::source::at;

/// Why a frame is not in time without having been thrown away.
const WITHOUT_DISCARD: [&str; 7] = ["late", "missing", "not-sent", "overdue", "replaced", "unaccounted", "withheld"];

impl Context<'_> {
    /// What the scenario allows, by stream of the plan.
    pub(super) fn allowances(&mut self, streams: &[StreamPlan]) -> Vec<AllowancePlan> {
        let streams: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
        let discards = DiscardReason::ALL.iter().map(|reason| reason.name());
        let reasons: Vec<&str> = WITHOUT_DISCARD.into_iter().chain(discards).collect();
        let mut found: Vec<(usize, AllowancePlan)> = Vec::new();
        for (i, spec) in self.spec.allowances.iter().enumerate() {
            let stream = self.find(&spec.stream, &streams, at!["allowances", i, "stream"], "stream", "streams");
            let reason = self.find(&spec.reason, &reasons, at!["allowances", i, "reason"], "reason", "reasons");
            let (Some(stream), Some(reason)) = (stream, reason) else { continue };
            let allowance = AllowancePlan {
                stream: StreamId(stream as u16),
                reason: reasons[reason].to_owned(),
                frames: spec.frames,
            };
            let is_same =
                |known: &AllowancePlan| (known.stream, &known.reason) == (allowance.stream, &allowance.reason);
            if let Some((first, _)) = found.iter().find(|(_, known)| is_same(known)) {
                self.report_both(
                    Code::DuplicateName,
                    (at!["allowances", i], "again"),
                    (at!["allowances", *first], "here first"),
                    format!("`{}` has two allowances for `{}`", spec.stream, spec.reason),
                    "write one of them, with the sum of both",
                );
            }
            found.push((i, allowance));
        }
        found.into_iter().map(|(_, allowance)| allowance).collect()
    }
}
