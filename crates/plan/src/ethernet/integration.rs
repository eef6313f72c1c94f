//! How frames in slots share the wires with those of other classes (SAE AS6802).

use chronoseal_core::Duration;
use chronoseal_media::ethernet::Integration;
use chronoseal_wire::ethernet::VLAN_TAG_LEN;

use super::{Ethernet, FRAME_LEN_MAX, FRAME_LEN_MIN, LinkParameters};

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
