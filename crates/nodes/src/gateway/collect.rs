//! Several PDUs in one frame: what waits for it, and when it leaves.
//!
//! A container is sent when it is full, that is when no PDU of its streams finds room in it any more, when the next one finds
//! none, or when the first PDU in it has waited for a given time. In AUTOSAR's terms: the first contained PDU starts the timeout, and
//! collection is queued. Each PDU goes out as it came, a later one of a stream behind an earlier one.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, PortId, StreamId};
use chronoseal_wire::container::{ContainedPdu, HeaderType};

use super::stack::{Mark, Pdu};
use super::{Gateway, Life, at_port};

/// Which PDUs leave together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectConfig {
    /// The stream of the frames they leave in.
    pub container: StreamId,
    /// Where.
    pub port: PortId,
    /// The streams, with the identifier and the length `[byte]` of their PDUs there.
    pub streams: Vec<(StreamId, u32, usize)>,
    /// What stands before each PDU.
    pub header: HeaderType,
    /// PDUs and headers together, at most `[byte]`.
    pub len_max: usize,
    /// The first PDU waits for others so long.
    pub within: Duration,
}

/// A PDU that is in a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) stream: StreamId,
    pub(super) sequence: u64,
    pub(super) mark: Mark,
}

impl Part {
    fn of(pdu: &Pdu) -> Self {
        Self { stream: pdu.stream, sequence: pdu.sequence, mark: pdu.mark }
    }

    /// What is told of it when it is lost, or kept back.
    pub(super) const fn event(&self, kind: EventKind) -> Event {
        Event::of(kind, self.stream, self.sequence)
    }
}

/// What waits for one frame.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) config: CollectConfig,
    bytes: Vec<u8>,
    parts: Vec<Part>,
    due: Option<LocalTime>,
    /// Containers made.
    made: u64,
    /// Header and PDU of the stream with the shortest `[byte]`.
    shortest: usize,
}

/// A container that leaves, and what is in it.
type Collected = (Pdu, Vec<Part>);

impl Collector {
    pub(super) fn new(config: CollectConfig) -> Self {
        let shortest =
            config.streams.iter().map(|(_, _, len)| config.header.wire_len() + len).min().unwrap_or_default();
        Self { config, bytes: Vec::new(), parts: Vec::new(), due: None, made: 0, shortest }
    }

    /// True if PDUs of a stream that leave at a port leave in its frames.
    pub(super) fn takes(&self, stream: StreamId, port: usize) -> bool {
        usize::from(self.config.port.0) == port && self.config.streams.iter().any(|(known, ..)| *known == stream)
    }

    /// Takes a PDU. The containers that leave for it: the one without room for it, and the one that is full with it.
    ///
    /// # Errors
    /// What is told of a PDU that no container has room for.
    pub(super) fn add(&mut self, now: LocalTime, pdu: &Pdu) -> Result<Vec<Collected>, Event> {
        let mut leaving = Vec::new();
        let (header, len) = (self.config.header, pdu.bytes.len());
        let known = self.config.streams.iter().find(|(stream, ..)| *stream == pdu.stream);
        let needs = header.wire_len() + len;
        let id = known.map(|(_, id, _)| *id).filter(|_| needs <= self.config.len_max && len <= header.pdu_len_max());
        let too_long = Event::of(EventKind::Discarded(DiscardReason::TooLong), pdu.stream, pdu.sequence);
        let id = id.ok_or(too_long)?;
        if self.bytes.len() + needs > self.config.len_max {
            leaving.extend(self.close());
        }
        let from = self.bytes.len();
        self.bytes.resize(from + needs, 0);
        if header.emit(ContainedPdu { id, bytes: &pdu.bytes }, &mut self.bytes[from..]).is_err() {
            self.bytes.truncate(from);
            return Err(too_long);
        }
        self.parts.push(Part::of(pdu));
        self.due.get_or_insert(now + self.config.within);
        if self.bytes.len() + self.shortest > self.config.len_max {
            leaving.extend(self.close());
        }
        Ok(leaving)
    }

    /// The container, if its first PDU has waited long enough.
    pub(super) fn take_due(&mut self, now: LocalTime) -> Option<Collected> {
        self.due.filter(|due| *due <= now)?;
        self.close()
    }

    /// When its first PDU has waited long enough.
    pub(super) const fn due(&self) -> Option<LocalTime> {
        self.due
    }

    fn close(&mut self) -> Option<Collected> {
        self.due = None;
        let (bytes, parts) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.parts));
        if parts.is_empty() {
            return None;
        }
        let (stream, sequence) = (self.config.container, self.made);
        self.made += 1;
        let mark = Mark { container: Some((stream, sequence)), ..Mark::default() };
        Some((Pdu { stream, sequence, bytes, mark }, parts))
    }

    /// Forgets what it holds, and begins to count again.
    pub(super) fn clear(&mut self) {
        (self.due, self.made) = (None, 0);
        self.bytes.clear();
        self.parts.clear();
    }

    /// Forgets what it holds.
    pub(super) fn drop_all(&mut self) {
        let made = self.made;
        self.clear();
        self.made = made;
    }
}

impl Gateway {
    /// Gives a PDU to the stack it leaves at, or puts it into the frame in which it leaves with others.
    pub(super) fn hand_to(&mut self, now: LocalTime, port: usize, pdu: Pdu) {
        let Some(collector) = self.collectors.iter_mut().find(|collector| collector.takes(pdu.stream, port)) else {
            if let Some(stack) = self.stacks.get_mut(port) {
                stack.send(now, pdu);
            }
            return;
        };
        // Nothing is collected by a gateway that was stopped.
        if self.life == Life::Off {
            return;
        }
        match collector.add(now, &pdu) {
            Ok(full) => full.into_iter().for_each(|container| self.send_container(now, port, container)),
            Err(event) => self.base.push(at_port(event, port)),
        }
    }

    fn send_container(&mut self, now: LocalTime, port: usize, (container, parts): Collected) {
        self.leaving.insert((container.stream, container.sequence), parts);
        if let Some(stack) = self.stacks.get_mut(port) {
            stack.send(now, container);
        }
    }

    /// Sends on what has waited long enough. False if there is nothing.
    pub(super) fn send_collected(&mut self, now: LocalTime) -> bool {
        let due = |collector: &mut Collector| Some((usize::from(collector.config.port.0), collector.take_due(now)?));
        let Some((port, container)) = self.collectors.iter_mut().find_map(due) else { return false };
        self.send_container(now, port, container);
        true
    }

    /// An event of a stack. What it says of a container is told of each PDU in it.
    pub(super) fn tell(&mut self, event: Event, port: usize) -> Event {
        let lost = matches!(event.kind, EventKind::Discarded(_) | EventKind::Withheld);
        let parts = lost.then(|| self.leaving.remove(&(event.stream, event.sequence))).flatten().unwrap_or_default();
        let mut events = parts.iter().map(|part| at_port(part.event(event.kind), port));
        let Some(first) = events.next() else { return at_port(event, port) };
        events.for_each(|other| self.base.push(other));
        first
    }
}
