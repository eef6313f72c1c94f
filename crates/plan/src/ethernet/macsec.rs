//! MACsec on the links of a segment (IEEE 802.1AE-2018).
//!
//! The frame that leaves a link is the one that entered it, so nothing above the link knows of MACsec: filters, meters, queues and
//! end-to-end protection have the frame as it was. What it costs is on the link: bytes on the wire, and a delay at both ends.

use chronoseal_core::Duration;
use chronoseal_frameauth::macsec::{CipherSuite, Confidentiality};
use chronoseal_media::line::{LineProtection, LineSpeed};
use chronoseal_wire::macsec::overhead_len;

use super::{EthernetSegment, LinkParameters};

/// What protects a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Macsec {
    /// How frames are encrypted and authenticated.
    pub cipher_suite: CipherSuite,
    /// Every SecTAG names its secure channel.
    pub includes_sci: bool,
    /// What of a frame is encrypted.
    pub confidentiality: Confidentiality,
    /// So far below the next expected packet number frames are still taken.
    pub replay_window: u32,
    /// At the sending end of a link.
    pub protect: Processing,
    /// At the receiving end.
    pub check: Processing,
}

/// A delay of every frame at one end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Processing {
    /// For any frame.
    pub base: Duration,
    /// For each byte of a frame, without checksum and MACsec.
    pub per_byte: Duration,
}

impl Macsec {
    /// What it adds to a frame `[byte]`.
    pub const fn added_bytes(&self) -> u64 {
        overhead_len(self.includes_sci) as u64
    }

    /// What it costs on a link.
    pub fn line_protection(&self) -> LineProtection {
        LineProtection {
            added_bytes: self.added_bytes(),
            base: self.protect.base + self.check.base,
            per_byte: self.protect.per_byte + self.check.per_byte,
        }
    }
}

impl LinkParameters {
    /// What its protection costs: nothing if it has none.
    pub fn protection(&self) -> LineProtection {
        self.macsec.map(|macsec| macsec.line_protection()).unwrap_or_default()
    }

    /// From the last bit on one end until a frame of `len` bytes is at the other end, checked.
    pub fn delay(&self, len: u32) -> Duration {
        self.propagation_delay + self.protection().delay(u64::from(len))
    }
}

impl EthernetSegment {
    /// How long frames take on a link. All that engines, schedules and bounds say of that comes from here.
    pub fn speed_over(&self, link: LinkParameters) -> LineSpeed {
        let (overhead, gap) = (self.accounting.overhead_bytes(), self.accounting.gap_bytes());
        LineSpeed::new(link.rate, overhead, gap, link.propagation_delay)
            .protected(link.protection())
            .counting(self.counted_bytes())
    }

    /// What a frame counts beyond its own length wherever one figure has to do for all links, as for the bucket of a stream: the most
    /// that a link adds to it `[byte]`.
    pub fn counted_bytes(&self) -> u64 {
        self.accounting.overhead_bytes() + self.macsec.map_or(0, |macsec| macsec.added_bytes())
    }
}
