//! Streams on their way over a segment.

use chronoseal_core::{Rate, StreamId};
use chronoseal_wire::ethernet::{VLAN_TAG_LEN, VlanTag};
use chronoseal_wire::r_tag::R_TAG_LEN;
use chronoseal_wire::virtual_link::SequenceNumber;

use super::{BENCH_HEADER_LEN, Copies, Datagram, FRAME_LEN_MAX, FRAME_LEN_MIN, HEADER_LEN, NetworkName, StreamClass};
use crate::{HopPlan, StreamPlan};

/// A stream's way over an Ethernet segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EthernetHop {
    /// Its traffic class.
    pub class: StreamClass,
    /// The switches that it may pass, those of its ends besides; `None`: any.
    pub over: Option<Vec<u16>>,
    /// The VLAN tag of its frames.
    pub tag: Option<VlanTag>,
    /// The bucket to which asynchronous shapers hold it.
    pub committed: Option<Committed>,
    /// How many copies of its frames are sent, and over what.
    pub copies: Copies,
    /// Its messages, if they are longer than a frame.
    pub datagram: Option<Datagram>,
    /// The scenario's entry that it comes from, if it is one of its own.
    pub entry: Option<usize>,
}

impl EthernetHop {
    /// What its tags add to a frame `[byte]`.
    pub fn tags_len(&self) -> u32 {
        tags_len(self.tag, &self.copies)
    }

    /// What a frame has behind everything else: a sequence number, if it has one `[byte]`.
    pub fn trailer_len(&self) -> u32 {
        trailer_len(&self.class, &self.copies)
    }
}

impl From<StreamClass> for EthernetHop {
    fn from(class: StreamClass) -> Self {
        let copies = Copies::One(NetworkName::A);
        Self { class, over: None, tag: None, committed: None, copies, datagram: None, entry: None }
    }
}

/// The bucket of an asynchronously shaped stream, with all that keeps the wire for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Its rate.
    pub rate: Rate,
    /// Its burst `[byte]`.
    pub burst: u64,
}

/// A stream's hop on an Ethernet segment.
#[derive(Clone, Copy, Debug)]
pub struct EthernetStream<'p> {
    /// Its number.
    pub id: StreamId,
    /// The stream.
    pub stream: &'p StreamPlan,
    /// Its way over this segment.
    pub hop: &'p HopPlan,
    /// Its traffic class.
    pub class: StreamClass,
    /// The switches that it may pass, those of its ends besides; `None`: any.
    pub over: Option<&'p [u16]>,
    /// The VLAN tag of its frames.
    pub tag: Option<VlanTag>,
    /// The bucket to which asynchronous shapers hold it, if it is written.
    pub committed: Option<Committed>,
    /// How many copies of its frames are sent, and over what.
    pub copies: &'p Copies,
    /// Its messages, if they are longer than a frame: its frames are fragments of them.
    pub datagram: Option<Datagram>,
    /// The scenario's entry that it comes from, if it is one of its own.
    pub entry: Option<usize>,
}

impl<'p> EthernetStream<'p> {
    pub(super) fn of(id: StreamId, stream: &'p StreamPlan, hop: &'p HopPlan) -> Option<Self> {
        let EthernetHop { class, over, tag, committed, copies, datagram, entry } = hop.facet.get()?;
        let (over, tag, committed, datagram) = (over.as_deref(), *tag, *committed, *datagram);
        Some(Self { id, stream, hop, class: *class, over, tag, committed, copies, datagram, entry: *entry })
    }

    /// How many frames a message of it has.
    pub fn frames(&self) -> u32 {
        Datagram::frames_of(self.datagram.as_ref())
    }

    /// Of a stream in slots: which frame of its message goes in the slot with this number in the cluster cycle, from 0.
    pub fn frame_in(&self, instance: u32) -> u32 {
        instance % self.frames()
    }

    /// True if the last frame of a message goes in the slot with this number in the cluster cycle.
    pub fn is_last_in(&self, instance: u32) -> bool {
        self.frame_in(instance) + 1 == self.frames()
    }

    /// What its tags add to a frame `[byte]`.
    pub fn tag_len(&self) -> u32 {
        tags_len(self.tag, self.copies)
    }

    /// What a frame has behind everything else: a sequence number, if it has one `[byte]`.
    pub fn trailer_len(&self) -> u32 {
        trailer_len(&self.class, self.copies)
    }
}

fn trailer_len(class: &StreamClass, copies: &Copies) -> u32 {
    if class.has_number(copies) { SequenceNumber::LEN as u32 } else { 0 }
}

fn tags_len(tag: Option<VlanTag>, copies: &Copies) -> u32 {
    let r_tag_len = if copies.have_r_tag() { R_TAG_LEN as u32 } else { 0 };
    if tag.is_some() { VLAN_TAG_LEN as u32 + r_tag_len } else { 0 }
}

/// A frame of a stream that gateways carry, without what its protection adds `[byte]`. With it the frame is as long as its
/// headers, its PDU and the protection, and not below the shortest there is.
pub fn relayed_frame_len(pdu_len: u32, overhead: u32) -> u32 {
    let len = HEADER_LEN + BENCH_HEADER_LEN + pdu_len;
    (len.saturating_add(overhead)).clamp(FRAME_LEN_MIN, FRAME_LEN_MAX).saturating_sub(overhead)
}
