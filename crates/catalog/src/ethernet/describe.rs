//! Which slot a frame seen on a wire belongs to.

use chronoseal_core::{Duration, MessagePart, NodeId, Priority, SimTime, StreamId};
use chronoseal_media::schedule::{ScheduleTable, Slot};
use chronoseal_nodes::end_system::sub_link_of;
use chronoseal_plan::{Ethernet, EthernetStream, LinkParameters, NetworkName};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, Frame, MacAddress, TypeOrLength};
use chronoseal_wire::gptp::ETHERTYPE_PTP;
use chronoseal_wire::ipv4::{ETHERTYPE_IPV4, Packet};
use chronoseal_wire::macsec::SecTag;
use chronoseal_wire::protocol_control_frame::ETHERTYPE_PROTOCOL_CONTROL;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::{udp, virtual_link};

use crate::{Describe, Description};

/// Describes the frames of one segment.
#[derive(Clone, Debug)]
pub(super) struct Describer {
    ct_marker: [u8; 4],
    cluster_cycle: Duration,
    precision: Duration,
    /// By stream of the plan; `None` if it does not come by here.
    streams: Vec<Option<Known>>,
    /// `by_ct_id[id]` is whose that identifier is.
    by_ct_id: Vec<Named>,
}

/// Whose a critical-traffic identifier is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Named {
    Nobody,
    /// That of one stream.
    One(StreamId),
    /// That of a virtual link which several streams share; the first of them.
    Shared(StreamId),
}

#[derive(Clone, Debug)]
struct Known {
    sender: NodeId,
    period: Duration,
    /// How many frames a message has; each has a slot, if any has.
    frames: u32,
    /// Each with the end of its last turn.
    slots: Vec<(Slot, Duration)>,
    priority: Priority,
    /// Time of a frame on the wire of its sender.
    reception: Duration,
    is_replicated: bool,
    ct_id: Option<u16>,
    /// Which of those that share its virtual link it is.
    sub_link: Option<u8>,
    /// So much later than its slot says a stamp shows its departure from the last switch, at most: it can wait for another frame
    /// there, and a sniffing switch adds to the stamp.
    stamped_later: Duration,
}

impl Describer {
    /// For the frames of a segment.
    pub(super) fn new(view: Ethernet<'_>, schedule: &ScheduleTable) -> Self {
        let mut streams: Vec<Option<Known>> = view.plan.streams.iter().map(|_| None).collect();
        let mut by_ct_id = Vec::new();
        for stream in view.streams() {
            let own = view.segment.link_in(stream.copies.first_network(), stream.hop.from).parameters;
            streams[stream.id.index()] = Some(Known {
                sender: stream.stream.sender,
                period: stream.stream.period,
                frames: stream.frames(),
                slots: slots(view, schedule, &stream),
                priority: stream.class.priority(),
                reception: view.segment.frame_time_over(own, view.secured_len(&stream))
                    + own.protection().delay(u64::from(view.secured_len(&stream))),
                is_replicated: stream.copies.are_several(),
                ct_id: stream.class.ct_id(),
                sub_link: view.sub_link(&stream),
                stamped_later: stamped_later(view, &stream) + waits(view, &stream),
            });
            if let Some(ct_id) = stream.class.ct_id() {
                by_ct_id.resize(by_ct_id.len().max(usize::from(ct_id) + 1), Named::Nobody);
                let named = &mut by_ct_id[usize::from(ct_id)];
                *named = match *named {
                    Named::Nobody => Named::One(stream.id),
                    Named::One(first) | Named::Shared(first) => Named::Shared(first),
                };
            }
        }
        let (cluster_cycle, precision) = (view.segment.cluster_cycle, view.segment.precision);
        Self { ct_marker: view.segment.ct_marker, cluster_cycle, precision, streams, by_ct_id }
    }

    fn known(&self, stream: StreamId) -> Option<&Known> {
        self.streams.get(stream.index())?.as_ref()
    }

    /// The stream a frame's destination names.
    fn named(&self, bytes: &[u8]) -> Option<StreamId> {
        let frame = Frame::new_checked(bytes).ok();
        // MACsec makes frames longer than others may be.
        let is_protected = || SecTag::parse(bytes).is_ok();
        let destination = bytes.first_chunk().copied().map(MacAddress).filter(|_| frame.is_some() || is_protected())?;
        match virtual_link::ct_id(destination, self.ct_marker) {
            Some(ct_id) => match self.by_ct_id.get(usize::from(ct_id)).copied() {
                Some(Named::One(stream)) => Some(stream),
                Some(Named::Shared(first)) => Some(frame.and_then(|frame| self.sharer(ct_id, &frame)).unwrap_or(first)),
                Some(Named::Nobody) | None => None,
            },
            None => virtual_link::stream(destination).filter(|stream| self.known(*stream).is_some()),
        }
    }

    /// The stream that a frame of a shared virtual link says it is of, if it is one of those that share it.
    #[cold]
    fn sharer(&self, ct_id: u16, frame: &Frame<'_>) -> Option<StreamId> {
        if frame.type_or_length() == TypeOrLength::EtherType(ETHERTYPE_IPV4) {
            let sub_link = Some(sub_link_of(Packet::parse(frame.payload()).ok()?.identification));
            let is_its = |known: &Known| known.ct_id == Some(ct_id) && known.sub_link == sub_link;
            let place = self.streams.iter().position(|known| known.as_ref().is_some_and(is_its))?;
            return Some(StreamId(place as u16));
        }
        let header = TestBedHeader::parse(frame.payload()).ok()?;
        self.known(header.stream).filter(|known| known.ct_id == Some(ct_id)).map(|_| header.stream)
    }

    /// Describes what should have been seen in the slot nearest to a time; of messages in several slots, in the first of them.
    fn at_slot(&self, stream: StreamId, sequence: u64, at: SimTime) -> Description {
        let cycle_len = self.cluster_cycle;
        let Some(known) = self.known(stream) else { return self.outside(stream, sequence, at) };
        let nearest = known
            .slots
            .iter()
            .filter(|(slot, _)| slot.instance.is_multiple_of(known.frames))
            .map(|(slot, over)| {
                // The repetition of the slot whose start lies nearest.
                let cycle = (at.since_zero() - slot.start + cycle_len / 2).div_floor(cycle_len);
                ((slot, *over), SimTime::ZERO + cycle_len * cycle)
            })
            .min_by_key(|((slot, _), cycle_start)| (at - (*cycle_start + slot.start)).abs());
        let Some((slot, cycle_start)) = nearest else { return self.outside(stream, sequence, at) };
        self.in_slot(stream, sequence, at, slot, cycle_start)
    }

    fn in_slot(
        &self,
        stream: StreamId,
        sequence: u64,
        at: SimTime,
        (slot, over): (&Slot, Duration),
        cycle_start: SimTime,
    ) -> Description {
        let of = |what: fn(&Known) -> Duration| self.known(stream).map_or(Duration::ZERO, what);
        let frames = self.known(stream).map_or(1, |known| known.frames);
        let period_end = of(|known| known.period) * (i64::from(slot.instance / frames) + 1);
        // A message leaves with its last frame.
        let last = slot.instance - slot.instance % frames + frames - 1;
        let of_last = self.known(stream).and_then(|known| known.slots.iter().find(|(slot, _)| slot.instance == last));
        let over = of_last.map_or(over, |(_, over)| *over);
        Description {
            cycle_start,
            slot_start: Some(cycle_start + slot.start),
            // The end of its last turn, or of its period if that is earlier, and the precision of the cluster's clocks; by the stamps
            // that it is held against.
            leaves_by: Some(cycle_start + over.min(period_end) + self.precision + of(|known| known.stamped_later)),
            ..self.outside(stream, sequence, at)
        }
    }

    fn outside(&self, stream: StreamId, sequence: u64, at: SimTime) -> Description {
        let cycle_start = at - at.since_zero().rem_floor(self.cluster_cycle);
        Description {
            stream,
            sequence: Some(sequence),
            sender: self.known(stream).map(|known| known.sender),
            cycle_start,
            slot_start: None,
            leaves_by: None,
            received_by: None,
            is_received_when_checked: false,
        }
    }
}

/// By how much a sniffing switch makes stamps of a stream's frames later: it stores and forwards each of them, as it does the beacon
/// that stamps are compared with.
fn stamped_later(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Duration {
    if !view.segment.sniffing_switch {
        return Duration::ZERO;
    }
    let longer = |link: LinkParameters| {
        let time_of = |len: u32| view.segment.frame_time_over(link, len) + link.protection().delay(u64::from(len));
        time_of(view.secured_len(stream)) - time_of(FRAME_LEN_MIN as u32)
    };
    last_links(view, stream).map(longer).max().unwrap_or_default()
}

/// The links to the receivers of a stream, in each network that it goes over.
fn last_links<'a>(view: Ethernet<'a>, stream: &'a EthernetStream<'a>) -> impl Iterator<Item = LinkParameters> {
    let in_network = move |name: &NetworkName| {
        let name = *name;
        stream.hop.to.iter().map(move |node| view.segment.link_in(name, *node).parameters)
    };
    stream.copies.networks().iter().flat_map(in_network)
}

/// What a frame in a slot can wait in front of its receivers' links.
fn waits(view: Ethernet<'_>, stream: &EthernetStream<'_>) -> Duration {
    last_links(view, stream).map(|link| view.integration_wait(link)).max().unwrap_or_default()
}

/// The slots of a stream, each with the end of the last turn of its frame, or of one of its copies, at a switch.
fn slots(view: Ethernet<'_>, schedule: &ScheduleTable, stream: &EthernetStream<'_>) -> Vec<(Slot, Duration)> {
    let hops = view.hops(stream).map_or(0, |hops| hops.len());
    let own = schedule.slots.iter().enumerate().filter(|(_, slot)| slot.stream == stream.id);
    let over = |(index, slot): (usize, &Slot)| {
        let turns = (0..hops).filter_map(|hop| schedule.turn(index, hop));
        (*slot, turns.map(|turn| turn.end).fold(slot.end, Duration::max))
    };
    own.map(over).collect()
}

/// What a frame of a stream whose messages are longer than one begins with, and what of its message it is.
fn piece<'a>(frame: &Frame<'a>) -> Option<(&'a [u8], MessagePart)> {
    if frame.type_or_length() != TypeOrLength::EtherType(ETHERTYPE_IPV4) {
        return None;
    }
    let packet = Packet::parse(frame.payload()).ok()?;
    match (packet.is_whole(), packet.offset) {
        (true, _) => None,
        (false, 0) => Some((packet.data.get(udp::HEADER_LEN..)?, MessagePart::Begins)),
        (false, _) => Some((&[], MessagePart::Continues)),
    }
}

impl Describe for Describer {
    fn stream_of(&self, bytes: &[u8]) -> StreamId {
        self.named(bytes).unwrap_or(StreamId::NONE)
    }

    fn describe(&self, bytes: &[u8], sent_at: SimTime) -> Description {
        let Some(stream) = self.named(bytes) else {
            return self.outside(StreamId::NONE, 0, sent_at);
        };
        let number = |payload: &[u8]| TestBedHeader::parse(payload).map_or(0, |header| u64::from(header.sequence));
        let sequence = match (SecTag::parse(bytes), Frame::new_checked(bytes)) {
            // Its number cannot be read: that in the SecTAG counts all that the station sends.
            (Ok(_), _) => None,
            (Err(_), Err(_)) => Some(0),
            (Err(_), Ok(frame)) => match piece(&frame) {
                None => Some(number(frame.payload())),
                Some((message, MessagePart::Begins)) => Some(number(message)),
                // Only who has put it together with the others knows.
                Some(_) => None,
            },
        };
        Description { sequence, ..self.at_slot(stream, sequence.unwrap_or(0), sent_at) }
    }

    fn part(&self, bytes: &[u8]) -> MessagePart {
        let frame = Frame::new_checked(bytes).ok();
        frame.and_then(|frame| piece(&frame)).map_or(MessagePart::Whole, |(_, part)| part)
    }

    /// A receiver counts the slots of a stream since the cluster started, and says which of them was empty. When it says so
    /// depends on what else it had to do.
    fn missing(&self, stream: StreamId, sequence: u64, at: SimTime) -> Option<Description> {
        let slots = self.known(stream).map_or(&[][..], |known| &known.slots);
        let Some(in_cycle) = sequence.checked_rem(slots.len() as u64) else {
            return Some(self.outside(stream, sequence, at));
        };
        let cycle = (sequence / slots.len() as u64) as i64;
        let (slot, over) = &slots[in_cycle as usize];
        Some(self.in_slot(stream, sequence, at, (slot, *over), SimTime::ZERO + self.cluster_cycle * cycle))
    }

    fn priority(&self, bytes: &[u8]) -> Priority {
        // What belongs to no stream waits behind everything that does.
        self.named(bytes).and_then(|stream| self.known(stream)).map_or(Priority(0), |known| known.priority)
    }

    /// The network interface keeps the clock, so control frames end in it.
    fn host_class(&self, bytes: &[u8]) -> Option<Priority> {
        let control = [ETHERTYPE_PROTOCOL_CONTROL, ETHERTYPE_PTP].map(TypeOrLength::EtherType);
        let is_control = Frame::new_checked(bytes).is_ok_and(|frame| control.contains(&frame.type_or_length()));
        (!is_control).then(|| self.priority(bytes))
    }

    fn reception(&self, bytes: &[u8]) -> Duration {
        self.named(bytes).and_then(|stream| self.known(stream)).map_or(Duration::ZERO, |known| known.reception)
    }

    fn payload_len(&self, bytes: &[u8]) -> u64 {
        Frame::new_checked(bytes).map_or(0, |frame| frame.payload().len() as u64)
    }

    fn is_judged(&self, stream: StreamId) -> bool {
        self.known(stream).is_some_and(|known| !known.slots.is_empty())
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn is_replicated(&self, stream: StreamId) -> bool {
        self.known(stream).is_some_and(|known| known.is_replicated)
    }
}
