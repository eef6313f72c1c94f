//! How frames in slots share the wires with those of other classes (SAE AS6802), checked and counted.

use chronoseal_core::Duration;
use chronoseal_media::ethernet::Integration;
use chronoseal_wire::ethernet::VLAN_TAG_LEN;

use super::plan::Ethernet;
use super::spec::{AccountingSpec, DispatchSpec, EthernetSegmentSpec, IntegrationSpec};
use super::wiring::LinkParameters;
use crate::kinds::{Context, Table};
use crate::limits::{FRAME_LEN_MAX, FRAME_LEN_MIN};
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

impl Ethernet<'_> {
    /// How long a frame in a slot can wait in front of a link for a frame of another class, from when it should start.
    ///
    /// With shuffling that is one longest frame of the lower classes, and with preemption the gap behind what was cut off
    /// (SAE AS6802).
    pub fn integration_wait(self, link: LinkParameters) -> Duration {
        match self.segment.integration {
            Integration::TimelyBlock => Duration::ZERO,
            Integration::Shuffling => self.segment.frame_time_over(link, self.lower_len_max()),
            Integration::Preemption => link.rate.time_of(self.segment.accounting.gap_bytes()),
        }
    }

    /// The longest frame without a slot, without checksum `[byte]`: of a stream, a protocol control frame, or whatever an
    /// attacker sends.
    fn lower_len_max(self) -> u32 {
        if !self.plan.threats.is_empty() {
            return FRAME_LEN_MAX + VLAN_TAG_LEN as u32;
        }
        let lower = self.streams().filter(|stream| !stream.class.is_time_triggered());
        lower.map(|stream| self.secured_len(&stream)).fold(FRAME_LEN_MIN, u32::max)
    }
}
