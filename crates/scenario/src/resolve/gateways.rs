//! What gateways do beside forwarding: they start anew.

use chronoseal_core::Duration;
use chronoseal_plan::{HopPlan, Plan, RebootPlan, StreamPlan};

use crate::kinds::Context;
use crate::limits::PERIOD_MIN;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::RebootSpec;

impl Context<'_> {
    /// When a gateway starts anew.
    pub(super) fn reboot(&mut self, node: usize, spec: &RebootSpec) -> RebootPlan {
        let duration = self.spec.duration.0;
        let path = at!["nodes", node, "gateway", "reboot", "takes"];
        let takes = self.within(path, "the time of the reboot", spec.takes.0, PERIOD_MIN, duration.max(PERIOD_MIN));
        let path = at!["nodes", node, "gateway", "reboot", "at"];
        if spec.at.0 >= duration || spec.at.0 < Duration::ZERO {
            self.report_both(
                Code::OutOfRange,
                (path, "not within the run"),
                (at!["duration"], "the run ends here"),
                format!(
                    "`{}` reboots at {}, and the run lasts {duration}",
                    shortened(&self.spec.nodes[node].name),
                    spec.at.0
                ),
                "write an earlier time, or a longer duration",
            );
        }
        RebootPlan { at: spec.at.0.clamp(Duration::ZERO, duration), takes }
    }

    /// Refuses nonces that would come twice: a gateway that has started anew counts from the beginning under the same key.
    pub(super) fn nonces_after_reboots(&mut self, plan: &Plan) {
        for (i, node) in plan.nodes.iter().enumerate() {
            if node.gateway.as_ref().is_none_or(|gateway| gateway.reboot.is_none()) {
                continue;
            }
            let seals = |stream: &StreamPlan| {
                let of_hop = |(place, hop): (usize, &HopPlan)| {
                    let is_sealed = place == 0 || hop.protection.is_some();
                    let mac = plan.protection_on(stream, hop).profile()?.mac();
                    (is_sealed && hop.from.index() == i && mac.needs_nonce()).then_some(mac)
                };
                stream.hops.iter().enumerate().find_map(of_hop)
            };
            let found = plan.streams.iter().find_map(|stream| Some((stream, seals(stream)?)));
            if let Some((stream, mac)) = found {
                self.report(
                    Code::BadFreshness,
                    at!["nodes", i, "gateway", "reboot"],
                    format!(
                        "`{}` seals stream `{}` with {mac}, and would use its nonces again after the reboot",
                        shortened(&node.name),
                        shortened(&stream.name)
                    ),
                    "counts from the beginning",
                    "protect the stream with another algorithm, such as `blake3`, or leave `reboot` out",
                );
            }
        }
    }
}
