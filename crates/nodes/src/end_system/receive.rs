//! What a station does with a frame.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, PortId, StreamId};
use chronoseal_frameauth::Moment;
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::ipv4::{ETHERTYPE_IPV4, Packet};
use chronoseal_wire::protocol_control_frame::{ETHERTYPE_PROTOCOL_CONTROL, ProtocolControlFrame};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::virtual_link::{self, SequenceNumber};

use super::datagram::sub_link_of;
use super::listener::{Listener, Numbered, Opened};
use super::{EndSystem, Stage};
use crate::clock::Clock;
use crate::sync_client::BeaconEffect;

/// A frame whose computation is still to be done; its payload waits in [`EndSystem::held`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    listener: usize,
    admitted: Admitted,
}

/// What is known of a frame that came when and as its stream may.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admitted {
    /// The number of its message, if that is known before it is opened.
    pub(super) sequence: u64,
    /// The numbers of its first and last frame, if it is a message of several on a virtual link.
    pub(super) numbers: Option<(SequenceNumber, SequenceNumber)>,
    /// The slots of its stream since the cluster started; `None` if it has none.
    pub(super) slot_count: Option<u64>,
    pub(super) since_slot: Duration,
}

impl EndSystem {
    #[inline(never)]
    pub(super) fn receive(&mut self, now: LocalTime, rx_at: LocalTime, port: PortId, bytes: &[u8]) {
        let frame = match Frame::new_checked(bytes) {
            Ok(frame) => frame,
            Err(error) => return self.discard(error.into(), StreamId::NONE),
        };
        if frame.type_or_length() == TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL) {
            return self.receive_beacon(rx_at, port, &frame);
        }
        let Some(index) = self.listener_of_frame(&frame) else {
            return match self.container_of_frame(&frame) {
                Some(container) => self.begin_container(container, None, frame.payload()),
                None if self.receive_time_message(now, (port, rx_at), &frame) => {}
                None => self.discard(DiscardReason::UnknownStream, StreamId::NONE),
            };
        };
        let listener = &mut self.listeners[index];
        if listener.is_plain {
            let (kind, sequence) = match listener.open_plain(frame.payload()) {
                Ok(sequence) => (listener.accepted_as(), sequence),
                Err(reason) => (EventKind::Discarded(reason), 0),
            };
            return self.base.push(Event::of(kind, listener.config.stream, sequence));
        }
        match self.admit(rx_at, port, index, &frame) {
            Ok((payload, admitted)) => {
                let (counter, mut index) = (index, index);
                if self.listeners[counter].counter.is_some() {
                    index = self.sharer(counter, &frame, payload);
                }
                if self.listeners[index].collecting.is_some() {
                    return self.receive_fragment(rx_at, index, &frame, (payload, admitted));
                }
                if self.listeners[counter].is_numbered {
                    let numbered = self.numbered;
                    if let Some((reason, since_first)) = numbered.and_then(|frame| self.eliminate(counter, frame)) {
                        return self.refuse(index, reason, since_first);
                    }
                    if self.listeners[index].has_taken(admitted.slot_count) {
                        return self.refuse(index, DiscardReason::DuplicateInWindow, Duration::ZERO);
                    }
                    if numbered.is_some_and(|frame| self.listeners[counter].refuses(frame)) {
                        return self.refuse(index, DiscardReason::OutOfSequence, Duration::ZERO);
                    }
                }
                match self.listeners[index].container {
                    Some(container) => self.begin_container(container, Some(counter), payload),
                    None => self.begin_open(rx_at, index, payload, admitted),
                }
            }
            Err(reason) => self.discard(reason, self.listeners[index].config.stream),
        }
    }

    /// Why a frame with a number is not even opened, and how much later than the first it came if it is a copy.
    #[cold]
    #[inline(never)]
    pub(super) fn eliminate(&mut self, index: usize, frame: Numbered) -> Option<(DiscardReason, Duration)> {
        let listener = &mut self.listeners[index];
        if let Some(missing) = listener.latent_error(frame.came_at) {
            let event = Event::of(EventKind::LatentError, listener.config.stream, 0);
            self.base.push(Event { value: missing, ..event });
        }
        listener.eliminate(frame)
    }

    /// The listener whose frame it is, of those that share the virtual link of a listener. Who is none of them is refused when the
    /// frame is opened.
    #[cold]
    #[inline(never)]
    fn sharer(&self, counter: usize, frame: &Frame<'_>, payload: &[u8]) -> usize {
        if frame.type_or_length() == TypeOrLength::EtherType(ETHERTYPE_IPV4) {
            let sub_link = Packet::parse(payload).ok().map(|packet| sub_link_of(packet.identification));
            let is_its = |listener: &Listener| {
                let own = listener.config.datagram.and_then(|datagram| datagram.sub_link);
                listener.counter == Some(counter) && own.is_some() && own == sub_link
            };
            return self.listeners.iter().position(is_its).unwrap_or(counter);
        }
        let header = TestBedHeader::parse(payload).ok();
        let is_its = |header: &TestBedHeader, listener: &Listener| {
            listener.counter == Some(counter) && listener.config.stream == header.stream
        };
        let found = header.and_then(|header| self.listeners.iter().position(|listener| is_its(&header, listener)));
        found.unwrap_or(counter)
    }

    /// Time-triggered frames must come in their window, once unless several copies come. Gives the payload without the number behind
    /// it.
    fn admit<'a>(
        &mut self,
        rx_at: LocalTime,
        port: PortId,
        index: usize,
        frame: &Frame<'a>,
    ) -> Result<(&'a [u8], Admitted), DiscardReason> {
        let (listener, mut payload) = (&mut self.listeners[index], frame.payload());
        if listener.is_numbered {
            self.numbered = None;
        }
        if listener.is_numbered && (self.config.real_bytes || listener.is_replicated()) {
            let (rest, number) = match listener.has_r_tag() {
                // Whoever leaves the tag out of such a stream is not its sender.
                true => (payload, frame.r_tag().ok_or(DiscardReason::Malformed)?.sequence),
                false => {
                    let (payload, number) = SequenceNumber::split(payload).ok_or(DiscardReason::TooShort)?;
                    (payload, u16::from(number.0))
                }
            };
            self.numbered = Some(Numbered { number, network: port.index(), came_at: rx_at });
            payload = rest;
        }
        if !listener.has_windows() {
            return Ok((payload, Admitted::default()));
        }
        if !self.clock.is_synchronised() {
            return Err(DiscardReason::NotSynchronised);
        }
        let window = listener.window(port, self.clock.cluster_time(rx_at), self.config.cluster_cycle)?;
        // Of copies the first valid one is taken, so that a forged one keeps away no other.
        if !listener.mark_seen(window) && !listener.is_replicated() {
            return Err(DiscardReason::DuplicateInWindow);
        }
        let slot_count = Some(listener.slot_count(window));
        Ok((payload, Admitted { slot_count, since_slot: window.since_slot, ..Admitted::default() }))
    }

    pub(super) fn begin_open(&mut self, now: LocalTime, index: usize, payload: &[u8], admitted: Admitted) {
        if self.config.real_bytes {
            self.work = self.listeners[index].work(payload.len());
        }
        if self.work.is_some() {
            self.held.clear();
            self.held.extend_from_slice(payload);
            self.stage = Stage::Open(Received { listener: index, admitted });
        } else {
            self.open(now, index, payload, admitted);
        }
    }

    pub(super) fn finish_receive(&mut self, now: LocalTime, received: Received) {
        let Received { listener, admitted } = received;
        let payload = std::mem::take(&mut self.held);
        self.open(now, listener, &payload, admitted);
        // The buffer is kept for the next frame.
        self.held = payload;
    }

    #[inline(always)]
    fn open(&mut self, now: LocalTime, index: usize, payload: &[u8], admitted: Admitted) {
        let Admitted { slot_count, since_slot, sequence: expected, numbers } = admitted;
        let mut listener = &mut self.listeners[index];
        let opened = listener.open(payload, slot_count, self.config.real_bytes);
        // Numbers follow one another only from frames that are what they say to be.
        if listener.is_numbered
            && let (Some(frame), Ok(Opened { refused: None, .. })) = (self.numbered, &opened)
        {
            let (stream, counter) = (listener.config.stream, listener.counter.unwrap_or(index));
            if let Err(reason) = self.listeners[counter].follows(frame) {
                return self.discard(reason, stream);
            }
            listener = &mut self.listeners[index];
            listener.take_slot(slot_count);
        }
        if let (Some(numbers), Ok(_)) = (numbers, &opened)
            && let Err(reason) = listener.message_follows(numbers)
        {
            return self.base.push(Event::of(EventKind::Discarded(reason), listener.config.stream, expected));
        }
        match opened {
            Ok(Opened { sequence, pdu, refused }) => {
                if let (Some(supervision), None) = (&mut listener.supervision, refused) {
                    supervision.met(now, sequence);
                }
                let kind = match refused {
                    Some(reason) => EventKind::Discarded(reason),
                    None => listener.accepted_as(),
                };
                let mut event = Event::of(kind, listener.config.stream, sequence);
                event.value = since_slot.as_ps();
                self.base.push(event);
                if let Some(pdu) = pdu {
                    self.handed.push_back(pdu);
                }
            }
            Err(reason) => {
                let stream = listener.config.stream;
                self.base.push(Event::of(EventKind::Discarded(reason), stream, expected));
            }
        }
    }

    fn container_of_frame(&self, frame: &Frame<'_>) -> Option<usize> {
        self.containers.find(virtual_link::stream(frame.destination())?)
    }

    /// Begins with a frame of a container; `listener` judges its number, if it has one.
    fn begin_container(&mut self, container: usize, listener: Option<usize>, payload: &[u8]) {
        self.held.clear();
        self.held.extend_from_slice(payload);
        self.work = self.containers.work(container, payload.len());
        match self.work {
            Some(_) => self.stage = Stage::OpenContainer { container, listener },
            None => self.finish_container(container, listener),
        }
    }

    /// Takes a frame with PDUs of several streams apart. Its number counts only if the frame is what it says to be.
    pub(super) fn finish_container(&mut self, container: usize, listener: Option<usize>) {
        let stream = self.containers.stream(container);
        match TestBedHeader::parse(&self.held) {
            Ok(header) if header.stream == stream => {
                let judge = listener.and_then(|index| self.listeners.get_mut(index)).zip(self.numbered);
                let admits = || judge.map_or(Ok(()), |(listener, frame)| listener.follows(frame));
                let secured = (self.held.as_slice(), TestBedHeader::LEN);
                let events = self.containers.open(container, secured, Moment::Unknown, admits);
                events.into_iter().for_each(|event| self.base.push(event));
                self.due_at = self.next_wake();
            }
            Ok(_) => self.discard(DiscardReason::Malformed, stream),
            Err(error) => self.discard(error.into(), stream),
        }
    }

    /// Begins with the next PDU that was in a frame with others. False if there is none.
    pub(super) fn begin_contained(&mut self, now: LocalTime) -> bool {
        let Some(work) = self.containers.next_work() else { return false };
        match work {
            Some(work) => (self.work, self.stage) = (Some(work), Stage::JudgeContained),
            None => self.judge_contained(now),
        }
        true
    }

    pub(super) fn judge_contained(&mut self, now: LocalTime) {
        if let Some((event, pdu)) = self.containers.judge_next(now, Moment::Unknown) {
            self.base.push(event);
            self.handed.extend(pdu);
        }
    }

    fn listener_of_frame(&self, frame: &Frame<'_>) -> Option<usize> {
        let destination = frame.destination();
        if let Some(ct_id) = virtual_link::ct_id(destination, self.config.ct_marker) {
            return self.listener_of.get(usize::from(ct_id)).copied().flatten().map(usize::from);
        }
        let stream = virtual_link::stream(destination)?;
        self.listener_of_stream.get(stream.index()).copied().flatten().map(usize::from)
    }

    fn receive_beacon(&mut self, rx_at: LocalTime, port: PortId, frame: &Frame<'_>) {
        let is_beacon = virtual_link::ct_id(frame.destination(), self.config.ct_marker) == Some(self.config.sync_id);
        if !is_beacon {
            return self.discard(DiscardReason::UnknownStream, StreamId::NONE);
        }
        let beacon = match ProtocolControlFrame::parse(frame.payload()) {
            Ok(beacon) => beacon,
            Err(error) => return self.discard(error.into(), StreamId::NONE),
        };
        let Clock::Beacon(client) = &mut self.clock else {
            return self.receive_control(rx_at, port, frame, &beacon);
        };
        let (kind, span) = match client.handle_beacon(rx_at, &beacon) {
            BeaconEffect::Joined(step) => {
                self.agenda.skip_to(self.clock.cluster_time(rx_at));
                (EventKind::SyncAcquired, step)
            }
            BeaconEffect::Corrected(error) => (EventKind::ClockCorrected, error),
            BeaconEffect::Rejected(error) => (EventKind::BeaconRejected, error),
            BeaconEffect::Lost(error) => (EventKind::SyncLost, error),
            BeaconEffect::Unusable => {
                return self.discard(DiscardReason::TransmissionDelayExceeded, StreamId::NONE);
            }
        };
        self.due_at = self.next_wake();
        let mut event = Event::of(kind, StreamId::NONE, u64::from(beacon.integration_cycle));
        event.value = span.as_ps();
        self.base.push(event);
    }

    /// A frame that nobody has to open, most often a copy of one that was accepted.
    fn refuse(&mut self, index: usize, reason: DiscardReason, since_first: Duration) {
        let event = Event::of(EventKind::Discarded(reason), self.listeners[index].config.stream, 0);
        self.base.push(Event { value: since_first.as_ps(), ..event });
    }

    pub(super) fn discard(&mut self, reason: DiscardReason, stream: StreamId) {
        self.base.push(Event::of(EventKind::Discarded(reason), stream, 0));
    }
}
