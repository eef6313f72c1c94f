//! One interface of a node that has several.

use chronoseal_core::{AttackKind, Event, EventKind, LocalTime, Node, StreamId};

use super::SEQUENCE_LEN;

/// What a gateway carries from one segment to another: a stream's payload, with its end-to-end protection if it has one; or a
/// whole frame that belongs to no stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pdu {
    /// Of which stream. [`StreamId::NONE`]: `bytes` are a whole frame, which leaves as it came.
    pub stream: StreamId,
    /// Which of the stream, as far as its frame told.
    pub sequence: u64,
    /// What is carried.
    pub bytes: Vec<u8>,
    /// Where it comes from, for records.
    pub mark: Mark,
}

/// The number at the front of a PDU: its first [`SEQUENCE_LEN`] bytes, big-endian, or as many as it has.
pub fn number_of(pdu: &[u8]) -> u64 {
    pdu.iter().take(SEQUENCE_LEN).fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Where a PDU comes from. For records only: nothing is decided by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The frame it came in, as its node counts frames; `None` if it was made here.
    pub origin: Option<u64>,
    /// True if the stack that hands it over made it itself, as a message of a key exchange.
    pub is_own: bool,
    /// What an attacker here did to it.
    pub attack: Option<Attempt>,
    /// Of a container that was collected here: its stream, and which of it.
    pub container: Option<(StreamId, u64)>,
}

/// One attempt of an attacker in a gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// What was done.
    pub kind: AttackKind,
    /// To which stream.
    pub stream: StreamId,
    /// Which attempt, from 0.
    pub number: u64,
}

impl Attempt {
    /// What is told of it.
    pub const fn event(&self) -> Event {
        Event::of(EventKind::Attacked(self.kind), self.stream, self.number)
    }
}

impl Pdu {
    /// A whole frame that belongs to no stream.
    pub fn of_frame(bytes: &[u8], is_own: bool) -> Self {
        let mark = Mark { is_own, ..Mark::default() };
        Self { stream: StreamId::NONE, sequence: 0, bytes: bytes.to_vec(), mark }
    }

    /// True for a whole frame that belongs to no stream.
    pub fn is_frame(&self) -> bool {
        self.stream == StreamId::NONE
    }
}

/// What a stack hands over of a stream that goes on from its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HandOver {
    /// Nothing: the stream ends here.
    #[default]
    Nothing,
    /// What is left when the protection of this hop is off.
    Opened,
    /// The first bytes as they came; whoever is at the end of the way opens them.
    Sealed {
        /// How many `[byte]`.
        len: usize,
    },
}

/// A node that is one interface of a larger one. It hands over what goes on from there, and sends what it is given.
pub trait Stack: Node {
    /// The next PDU that it has for its owner.
    fn take(&mut self) -> Option<Pdu>;

    /// The processor that it shares was busy until now, so what came for it meanwhile is still to be handed to it.
    fn has_waited(&mut self, now: LocalTime) {
        let _ = now;
    }

    /// Takes a PDU as the next one of its stream, or a whole frame. One that finds no room is gone, which an event tells.
    fn send(&mut self, now: LocalTime, pdu: Pdu);

    /// Where the frame just given by [`Node::poll_output`] comes from, asked for once; `None` if the stack made it by itself.
    fn take_sent(&mut self) -> Option<Mark>;

    /// Forgets what it holds and begins its counters again, as after a power cut. It waits for the start then.
    fn restart(&mut self, now: LocalTime);
}
