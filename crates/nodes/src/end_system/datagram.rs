//! Messages of a station that are longer than a frame: UDP datagrams in fragments of IPv4 (RFC 768, RFC 791).
//!
//! What protects a message covers the whole of it: it is sealed before it is cut, and opened when all of it is there. Its sender
//! makes all of its frames at once, one behind the other; those of a virtual link go one in each bandwidth allocation gap.
//!
//! # In slots
//! A message has a slot for each of its frames. It is sealed before the first of them, with the count of that slot as its freshness
//! value, and each of its other frames is made when its own slot comes. A receiver takes in each window the frame whose turn it is and
//! none else. It gives a message up with its time, or when the next one begins, and not when a window closes: its processor may then
//! still have a frame to look at that came in time.
//!
//! # Frames that come several times
//! Each frame of a message has a number of its own, of its virtual link or in its redundancy tag, and of its copies the first one is
//! taken, before it is put together with others. It is taken unopened, since there is nothing to open before all of a message is
//! there, so a forged frame can keep away the true one of its number; what it spoils is refused by the tag of the message. Each way
//! keeps frames in their order, so what comes first of each number is in order as long as a way that loses one frame loses all behind
//! it. A copy that was overtaken by the frame behind it comes out of order, and its message is lost. In slots none is: the windows of one
//! frame, over whichever network, have closed when the first of the next one opens, so that each frame may come by either network.

use std::ops::Range;

use chronoseal_core::{
    DiscardReason, Duration, Event, EventKind, LocalTime, Output, PortId, StreamId, TransferFault, Transmit,
};
use chronoseal_wire::ethernet::{FRAME_LEN_MIN, Frame, HEADER_LEN, TypeOrLength};
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, PROTOCOL_UDP, Packet};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;
use chronoseal_wire::virtual_link::SequenceNumber;

use super::listener::Numbered;
use super::receive::Admitted;
use super::talker::{Regulation, number_r_tag};
use super::{Begun, EndSystem, Sealing};
use crate::gateway::Mark;
use crate::reassembly::{Reassembly, ReassemblyConfig, Taken};

/// A stream whose messages are datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramConfig {
    /// The addresses of its packets.
    pub ends: udp::Ends,
    /// How they are cut, and how long a receiver waits for the rest of one.
    pub reassembly: ReassemblyConfig,
    /// Which of the streams that share its virtual link it is, if several do: the two highest bits of identifications, so that each
    /// fragment says whose it is.
    pub sub_link: Option<u8>,
}

impl DatagramConfig {
    /// The identification of the packets of a message.
    const fn identification(&self, sequence: u64) -> u16 {
        // Of a number that grows by one the low bits are another one for 65,536 messages, or 16,384.
        match self.sub_link {
            None => sequence as u16,
            Some(sub_link) => (sub_link as u16) << SUB_LINK_SHIFT | sequence as u16 & ((1 << SUB_LINK_SHIFT) - 1),
        }
    }
}

/// Behind the two bits for one of four sub-virtual links.
const SUB_LINK_SHIFT: u32 = 14;

/// Which of the streams that share a virtual link a fragment with this identification is of.
pub const fn sub_link_of(identification: u16) -> u8 {
    (identification >> SUB_LINK_SHIFT) as u8
}

/// Makes the frames of one message after the other.
pub(super) struct Fragmenter {
    config: DatagramConfig,
    /// Of every frame, tags included.
    header: Vec<u8>,
    /// The message as a frame would have it that has room for it: its data begin behind a header, of which the datagram's own takes
    /// the place. Only the front is written if only headers are.
    pub(super) bytes: Vec<u8>,
    identification: u16,
    /// Where the next fragment begins; behind the datagram if none is on its way.
    next: usize,
    /// In slots: the count of that in which the message began.
    slot: u64,
    /// True if each frame has a redundancy tag, and how many were made.
    has_r_tag: bool,
    made: u64,
    /// Where the message comes from, if a gateway passes it on.
    mark: Option<Mark>,
}

impl Fragmenter {
    /// For a stream of which this would be a frame, had it room for a message. Its header has so many bytes.
    pub(super) fn new(config: DatagramConfig, template: &[u8], header_len: usize, has_r_tag: bool) -> Self {
        let mut header = template[..header_len].to_vec();
        header[header_len - 2..].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
        let next = config.reassembly.cut.datagram_len;
        let bytes = vec![0; template.len()];
        Self { config, header, bytes, identification: 0, next, slot: 0, has_r_tag, made: 0, mark: None }
    }

    const fn cut(&self) -> Cut {
        self.config.reassembly.cut
    }

    /// The message in [`Self::bytes`] is complete, and this is where it comes from.
    pub(super) fn begin(&mut self, (sequence, freshness): (u64, u64), mark: Option<Mark>, real_bytes: bool) {
        (self.mark, self.slot) = (mark, freshness);
        let datagram = self.datagram();
        udp::emit(&mut self.bytes[datagram.clone()]);
        if real_bytes {
            udp::fill_checksum(&mut self.bytes[datagram], self.config.ends);
        }
        (self.identification, self.next) = (self.config.identification(sequence), 0);
    }

    /// What is written of a frame if only headers are: up to the test-bed header at the front of the message `[byte]`.
    fn headers_len(&self) -> usize {
        self.header.len() + ipv4::HEADER_LEN + udp::HEADER_LEN + TestBedHeader::LEN
    }

    /// Where it stands in [`Self::bytes`].
    fn datagram(&self) -> Range<usize> {
        let from = self.header.len() - udp::HEADER_LEN;
        from..from + self.cut().datagram_len
    }

    /// True if the next frame of the message is that for the slot with this count.
    fn is_due_in(&self, slot_count: u64) -> bool {
        let place = (self.next / self.cut().fragment_len) as u64;
        self.is_on_its_way() && self.slot + place == slot_count
    }

    /// True if a message is on its way.
    pub(super) const fn is_on_its_way(&self) -> bool {
        self.next < self.cut().datagram_len
    }

    /// Writes the next frame, in front of a trailer of so many bytes, and returns its length.
    fn write(&mut self, frame: &mut [u8], trailer_len: usize, real_bytes: bool) -> usize {
        let (cut, offset) = (self.cut(), self.next);
        let (header_len, len) = (self.header.len(), cut.len_at(offset));
        let data_at = header_len + ipv4::HEADER_LEN;
        let least = FRAME_LEN_MIN + header_len - HEADER_LEN;
        let datagram = self.datagram();
        let frame_len = (data_at + len + trailer_len).max(least);
        frame[..header_len].copy_from_slice(&self.header);
        if self.has_r_tag {
            number_r_tag(&mut frame[..header_len], self.made);
        }
        self.made += 1;
        let udp::Ends { source, destination } = self.config.ends;
        let header = ipv4::Header { source, destination, identification: self.identification, protocol: PROTOCOL_UDP };
        header.emit((offset, len), !cut.is_last(offset), &mut frame[header_len..]);
        if real_bytes {
            frame[data_at..frame_len].fill(0);
            frame[data_at..data_at + len].copy_from_slice(&self.bytes[datagram][offset..offset + len]);
        } else if offset == 0 {
            let front = udp::HEADER_LEN + TestBedHeader::LEN;
            frame[data_at..data_at + front].copy_from_slice(&self.bytes[datagram][..front]);
        }
        self.next += len;
        frame_len
    }
}

/// What a listener has of a message.
pub(super) struct Collecting {
    config: DatagramConfig,
    reassembly: Reassembly,
    /// The number at the front of the message.
    sequence: u64,
    /// In slots: the count of that in which it began.
    slot: Option<u64>,
    /// On a virtual link: the numbers of its first frame and of the last that has come.
    numbers: Option<(SequenceNumber, SequenceNumber)>,
}

/// A message of which all frames have come.
struct Whole {
    datagram: Vec<u8>,
    sequence: u64,
    slot: Option<u64>,
    numbers: Option<(SequenceNumber, SequenceNumber)>,
}

impl Collecting {
    pub(super) const fn new(config: DatagramConfig) -> Self {
        Self { config, reassembly: Reassembly::new(config.reassembly), sequence: 0, slot: None, numbers: None }
    }

    /// When it gives up what it has.
    pub(super) fn deadline(&self) -> Option<LocalTime> {
        self.reassembly.deadline()
    }

    /// True if a packet is the frame of a message whose turn it is in the slot with this count, of a message that began in its own
    /// first slot.
    fn is_its_turn(&self, packet: &Packet<'_>, slot_count: u64) -> bool {
        let cut = self.config.reassembly.cut;
        let place = (packet.offset / cut.fragment_len) as u64;
        let goes_on = || self.slot.is_none_or(|slot| slot + place == slot_count);
        slot_count % cut.fragments() as u64 == place && (packet.offset == 0 || goes_on())
    }

    /// Takes a packet, which has a number on a virtual link. The numbers of a message's frames follow each other; whether it
    /// follows the one before is asked when it can be believed.
    fn take(&mut self, rx_at: LocalTime, packet: &Packet<'_>, number: Option<SequenceNumber>) -> Taken {
        let taken = self.reassembly.take(rx_at, packet);
        match &taken {
            Taken::Began => {
                self.sequence = number_of(packet);
                self.numbers = number.map(|number| (number, number));
            }
            Taken::GoesOn | Taken::Whole(_) => {
                if let (Some((_, last)), Some(number)) = (&mut self.numbers, number) {
                    if number != last.next() {
                        self.reassembly.give_up();
                        return Taken::Ended(DiscardReason::OutOfSequence);
                    }
                    *last = number;
                }
            }
            Taken::Ended(_) | Taken::Nothing => {}
        }
        taken
    }

    /// The packet in a frame, if it is one of the stream.
    fn packet<'a>(&self, frame: &Frame<'_>, payload: &'a [u8]) -> Result<Packet<'a>, DiscardReason> {
        if frame.type_or_length() != TypeOrLength::EtherType(ETHERTYPE_IPV4) {
            return Err(DiscardReason::Malformed);
        }
        let packet = Packet::parse(payload)?;
        let udp::Ends { source, destination } = self.config.ends;
        let is_its = (packet.source, packet.destination, packet.protocol) == (source, destination, PROTOCOL_UDP);
        if is_its { Ok(packet) } else { Err(DiscardReason::Malformed) }
    }
}

impl EndSystem {
    /// The next frame of the message that a talker has on its way.
    pub(super) fn send_fragment(&mut self, sealing: Sealing, frame: &mut [u8]) -> Option<Output> {
        let real_bytes = self.config.real_bytes;
        let talker = &mut self.talkers[sealing.talker];
        let trailer_len = talker.trailer_len();
        let fragmenter = talker.fragmenter.as_mut()?;
        self.sent = fragmenter.mark;
        // What an attacker did to the message is told of one of its frames.
        fragmenter.mark = fragmenter.mark.map(|mark| Mark { attack: None, ..mark });
        let len = fragmenter.write(frame, trailer_len, real_bytes);
        let is_last = !fragmenter.is_on_its_way();
        let mut launch_at = sealing.launch_at;
        let number = match &mut talker.regulation {
            Regulation::Own(regulator) => {
                launch_at = regulator.release(sealing.launch_at);
                let number = regulator.number();
                // Receivers tell copies apart by it even if only headers are written.
                (real_bytes || talker.config.virtual_link.is_some_and(|link| link.is_replicated)).then_some(number)
            }
            Regulation::Numbered(numbering) => Some(numbering.number()),
            Regulation::Free | Regulation::Shared { .. } => None,
        };
        if let Some(number) = number {
            frame[len - SequenceNumber::LEN] = number.0;
        }
        let priority = talker.priority;
        // Each slot asks for its frame.
        self.in_fragments = (!is_last && !talker.has_slots).then_some(sealing);
        self.due_at = self.next_wake();
        Some(Output::Transmit(Transmit { port: PortId(0), priority, launch_at, len, token: None }))
    }

    /// Puts all frames of a message that was made into the queue of its sub-virtual link.
    pub(super) fn hold_fragments(&mut self, sealing: Sealing, frame: &mut [u8]) {
        let real_bytes = self.config.real_bytes;
        while let Some(fragmenter) =
            self.talkers[sealing.talker].fragmenter.as_mut().filter(|fragmenter| fragmenter.is_on_its_way())
        {
            self.sent = fragmenter.mark;
            // What an attacker did to the message is told of one of its frames.
            fragmenter.mark = fragmenter.mark.map(|mark| Mark { attack: None, ..mark });
            let len = fragmenter.write(frame, SequenceNumber::LEN, real_bytes);
            let headers_len = fragmenter.headers_len().min(len);
            self.hold(sealing.launch_at, sealing.talker, frame, (len, headers_len));
        }
    }

    /// The next frame of a message in the slot that this is about, if it is that slot's.
    pub(super) fn go_on_in_slot(&self, sealing: Sealing) -> Begun {
        let fragmenter = self.talkers[sealing.talker].fragmenter.as_ref();
        let is_due = fragmenter.is_some_and(|fragmenter| fragmenter.is_due_in(sealing.freshness));
        if is_due { Begun::Fragment(sealing) } else { Begun::Nothing }
    }

    /// Takes a frame of a stream whose messages have several.
    pub(super) fn receive_fragment(
        &mut self,
        rx_at: LocalTime,
        index: usize,
        frame: &Frame<'_>,
        (payload, admitted): (&[u8], Admitted),
    ) {
        let Some(whole) = self.take_fragment(rx_at, index, frame, (payload, admitted.slot_count)) else { return };
        let Whole { datagram, sequence, slot, numbers } = whole;
        let before = admitted.slot_count.map_or(Duration::ZERO, |count| self.listeners[index].since_first(count));
        let admitted = Admitted { sequence, numbers, slot_count: slot, since_slot: before + admitted.since_slot };
        let config = &self.listeners[index].config;
        let stream = config.stream;
        let ends = config.datagram.map(|datagram| datagram.ends);
        let data = ends.ok_or(DiscardReason::Malformed);
        let data = data.and_then(|ends| Ok(udp::parse(&datagram, ends, self.config.real_bytes)?));
        match data {
            Ok(data) => self.begin_open(rx_at, index, data, admitted),
            Err(reason) => self.tell(EventKind::Discarded(reason), stream, sequence),
        }
        self.due_at = self.next_wake();
    }

    /// The message that a frame completes.
    fn take_fragment(
        &mut self,
        rx_at: LocalTime,
        index: usize,
        frame: &Frame<'_>,
        (payload, slot_count): (&[u8], Option<u64>),
    ) -> Option<Whole> {
        let listener = &self.listeners[index];
        // What is noted of a stream without numbers is of another one's last frame.
        let numbered = if listener.is_numbered { self.numbered.take() } else { None };
        // The numbers of frames that come several times, or that are those of several streams, are judged one by one.
        let is_judged = listener.is_replicated() || listener.counter.is_some();
        let number = numbered.filter(|_| !is_judged).map(|numbered| SequenceNumber(numbered.number as u8));
        let stream = listener.config.stream;
        let collecting = listener.collecting.as_ref()?;
        let packet = match collecting.packet(frame, payload) {
            Ok(packet) => packet,
            Err(reason) => {
                self.discard(reason, stream);
                return None;
            }
        };
        if let Some(numbered) = numbered.filter(|_| is_judged)
            && !self.takes_fragment(index, numbered, (&packet, slot_count))
        {
            return None;
        }
        let collecting = self.listeners[index].collecting.as_mut()?;
        if slot_count.is_some_and(|count| !collecting.is_its_turn(&packet, count)) {
            self.tell(UNEXPECTED, stream, 0);
            return None;
        }
        let before = collecting.sequence;
        let is_interrupted = collecting.reassembly.is_first(&packet) && collecting.reassembly.give_up();
        let taken = collecting.take(rx_at, &packet, number);
        if taken == Taken::Began {
            collecting.slot = slot_count;
        }
        let (sequence, slot, numbers) = (collecting.sequence, collecting.slot, collecting.numbers);
        if is_interrupted {
            self.tell(EventKind::Discarded(DiscardReason::Interrupted), stream, before);
        }
        match taken {
            Taken::Began => self.tell(EventKind::TransferBegan, stream, sequence),
            Taken::GoesOn => {}
            Taken::Whole(datagram) => return Some(Whole { datagram, sequence, slot, numbers }),
            Taken::Ended(reason) => self.tell(EventKind::Discarded(reason), stream, sequence),
            Taken::Nothing => self.tell(UNEXPECTED, stream, 0),
        }
        None
    }

    /// True if a frame is the first of its copies, if there are several, and follows those that came before. The number of one that cannot be a fragment of
    /// the stream's messages changes nothing.
    fn takes_fragment(
        &mut self,
        index: usize,
        numbered: Numbered,
        (packet, slot_count): (&Packet<'_>, Option<u64>),
    ) -> bool {
        let (sequence, is_first) = match self.listeners[index].collecting.as_ref() {
            Some(collecting) if collecting.reassembly.is_cut_so(packet) => (number_of(packet), packet.offset == 0),
            _ => {
                self.tell(UNEXPECTED, self.listeners[index].config.stream, 0);
                return false;
            }
        };
        let stream = self.listeners[index].config.stream;
        // Frames of a virtual link are counted by one of those that share it.
        let counter = self.listeners[index].counter.unwrap_or(index);
        let refused = match self.eliminate(counter, numbered) {
            Some((reason, since_first)) => Some((reason, since_first)),
            None if self.listeners[index].has_taken(slot_count) => {
                Some((DiscardReason::DuplicateInWindow, Duration::ZERO))
            }
            None => self.listeners[counter].follows(numbered).err().map(|reason| (reason, Duration::ZERO)),
        };
        match refused {
            None => {
                self.listeners[index].take_slot(slot_count);
                return true;
            }
            // A message is counted by its first frame, and so are its copies.
            Some((reason, since)) if reason == DiscardReason::CopyEliminated || is_first => {
                let event = Event::of(EventKind::Discarded(reason), stream, sequence);
                self.base.push(Event { value: since.as_ps(), ..event });
            }
            Some(_) => self.base.push(Event::of(UNEXPECTED, stream, 0)),
        }
        self.due_at = self.next_wake();
        false
    }

    /// Gives up the first message whose time is over. False if there is none.
    pub(super) fn give_up_overdue(&mut self, now: LocalTime) -> bool {
        let overdue = self.listeners.iter_mut().find_map(|listener| {
            let stream = listener.config.stream;
            let collecting = listener.collecting.as_mut()?;
            let is_over = collecting.deadline().is_some_and(|deadline| deadline <= now);
            (is_over && collecting.reassembly.give_up()).then_some((stream, collecting.sequence))
        });
        if let Some((stream, sequence)) = overdue {
            self.tell(EventKind::Discarded(DiscardReason::FrameMissing), stream, sequence);
        }
        overdue.is_some()
    }

    fn tell(&mut self, kind: EventKind, stream: StreamId, sequence: u64) {
        self.base.push(Event::of(kind, stream, sequence));
        self.due_at = self.next_wake();
    }
}

/// The number at the front of a message, if a packet is the first of it; else 0.
fn number_of(packet: &Packet<'_>) -> u64 {
    let front = packet.data.get(udp::HEADER_LEN..).filter(|_| packet.offset == 0);
    front.and_then(|data| TestBedHeader::parse(data).ok()).map_or(0, |header| u64::from(header.sequence))
}

const UNEXPECTED: EventKind = EventKind::TransferFault(TransferFault::UnexpectedFrame);
