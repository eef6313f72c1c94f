//! Messages longer than a frame: UDP datagrams in fragments of IPv4 (RFC 791), one after the other.

use chronoseal_core::Duration;
use chronoseal_wire::ethernet::PAYLOAD_LEN_MAX;
use chronoseal_wire::{ipv4, udp};

use super::{FRAME_LEN_MIN, HEADER_LEN};

/// A message that does not fit a frame: a UDP datagram, cut into fragments that do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Payload and protection, behind a test-bed header if gateways carry the stream: the data of the datagram `[byte]`.
    pub data_len: u32,
    /// What a frame has behind its fragment: the sequence number of a virtual link `[byte]`.
    pub trailer_len: u32,
    /// What tags add to each frame `[byte]`.
    pub tags_len: u32,
    /// A receiver gives a message up of which so long after the first fragment not all have come.
    pub timeout: Duration,
}

impl Datagram {
    /// How it is cut.
    pub const fn cut(&self) -> ipv4::Cut {
        let mtu = PAYLOAD_LEN_MAX - self.trailer_len as usize;
        ipv4::Cut::new(udp::HEADER_LEN + self.data_len as usize, mtu)
    }

    /// How many frames it takes.
    pub const fn frames(&self) -> u32 {
        self.cut().fragments() as u32
    }

    /// How many frames a message takes: one, if it fits a frame.
    pub const fn frames_of(datagram: Option<&Self>) -> u32 {
        match datagram {
            Some(datagram) => datagram.frames(),
            None => 1,
        }
    }

    /// The longest of them, which is every one but the last, without checksum `[byte]`.
    pub fn longest(&self) -> u32 {
        self.frame_len(self.cut().fragment_len)
    }

    /// The last of them, without checksum `[byte]`.
    pub fn last(&self) -> u32 {
        self.frame_len(self.cut().last_len())
    }

    /// All of them, without checksums `[byte]`.
    pub fn total(&self) -> u64 {
        u64::from(self.longest()) * u64::from(self.frames() - 1) + u64::from(self.last())
    }

    /// A frame with so much data of the datagram `[byte]`.
    pub fn frame_len(&self, data_len: usize) -> u32 {
        let len = HEADER_LEN + (ipv4::HEADER_LEN + data_len) as u32 + self.trailer_len;
        len.max(FRAME_LEN_MIN) + self.tags_len
    }
}
