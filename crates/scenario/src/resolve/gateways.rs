//! What gateways do beside forwarding: they start anew.

use chronoseal_core::Duration;
use chronoseal_plan::RebootPlan;

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
}
