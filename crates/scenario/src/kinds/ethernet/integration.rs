//! How frames in slots share the wires with those of other classes (SAE AS6802), checked.

use chronoseal_media::ethernet::Integration;

use super::spec::{AccountingSpec, DispatchSpec, EthernetSegmentSpec, IntegrationSpec};
use crate::kinds::{Context, Table};
use crate::problem::Code;

/// How frames in slots share the wires, if the segment's other keys allow that.
pub(super) fn resolve(table: &Table<'_>, spec: &EthernetSegmentSpec, context: &mut Context<'_>) -> Integration {
    let (policy, name) = match spec.integration_policy {
        IntegrationSpec::TimelyBlock => return Integration::TimelyBlock,
        IntegrationSpec::Shuffling => (Integration::Shuffling, "shuffling"),
        IntegrationSpec::Preemption => (Integration::Preemption, "preemption"),
    };
    let at = table.at("integration_policy");
    if spec.dispatch == DispatchSpec::Immediate {
        context.report_both(
            Code::BadIntegration,
            (&at, "delays frames in slots"),
            (&table.at("dispatch"), "passes the delay on"),
            format!(
                "with {name} a frame in a slot can be late at every switch, and a switch that does not wait adds it up"
            ),
            "write `dispatch = \"scheduled\"`, or leave `integration_policy` out",
        );
        return Integration::TimelyBlock;
    }
    if policy == Integration::Preemption && spec.accounting == AccountingSpec::AsPublished {
        context.report_both(
            Code::BadIntegration,
            (&at, "needs a gap"),
            (&table.at("accounting"), "counts none"),
            "a frame that is cut off is followed by the gap between two frames, which `as-published` does not count \
             (IEEE 802.3-2022 §4.4.2, interPacketGap)",
            "write `accounting = \"on-wire\"`, or another `integration_policy`",
        );
        return Integration::TimelyBlock;
    }
    policy
}
