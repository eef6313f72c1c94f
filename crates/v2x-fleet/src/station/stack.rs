//! An ITS station as an interface of a node that has several: what it accepts goes on from there.

use chronoseal_core::{DiscardReason, Event, EventKind, HandleError, Input, LocalTime, Node, Output, StreamId};
use chronoseal_nodes::gateway::{Mark, Pdu, SEQUENCE_LEN, Stack};

use super::ItsStation;

/// Accepted messages of one poll that wait for their owner.
pub const HANDED_MAX: usize = 64;

/// A stream that goes on from a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandedOn {
    /// Which stream.
    pub stream: StreamId,
    /// Its PDU: sequence number and message, filled up with zeros `[byte]`.
    pub len: usize,
    /// True if the station's own application has it too.
    pub delivers: bool,
}

/// Makes the station, anew after each restart.
pub type Maker = Box<dyn Fn() -> Option<ItsStation> + Send>;

/// A station, and which of the messages that it accepts go on from its node.
pub struct StationStack {
    station: ItsStation,
    maker: Maker,
    hands_on: Vec<HandedOn>,
}

impl StationStack {
    /// A station as its maker gives it, if there is one. It has to keep what it accepts:
    /// [`received_max`](super::ItsStationConfig::received_max).
    pub fn new(maker: Maker, hands_on: Vec<HandedOn>) -> Option<Self> {
        Some(Self { station: maker()?, maker, hands_on })
    }

    fn handed_on(&self, stream: StreamId) -> Option<HandedOn> {
        self.hands_on.iter().find(|one| one.stream == stream).copied()
    }
}

impl Node for StationStack {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.station.handle_input(now, input)
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        match self.station.poll_output(now, frame) {
            // What only passes here is delivered where it ends.
            Output::Event(event) if event.kind == EventKind::Delivered => {
                let passes = self.handed_on(event.stream).is_some_and(|one| !one.delivers);
                Output::Event(Event { kind: if passes { EventKind::Relayed } else { event.kind }, ..event })
            }
            output => output,
        }
    }
}

impl Stack for StationStack {
    fn take(&mut self) -> Option<Pdu> {
        loop {
            let message = self.station.take_received()?;
            let Some(HandedOn { stream, len, .. }) = self.handed_on(message.stream) else { continue };
            let mut bytes = vec![0; len];
            let (number, text) = bytes.split_at_mut(SEQUENCE_LEN.min(len));
            // The number's last four bytes: receivers follow it.
            number.copy_from_slice(&(message.sequence as u32).to_be_bytes()[..number.len()]);
            let said = message.frame.text();
            let said_len = said.len().min(text.len());
            text[..said_len].copy_from_slice(&said[..said_len]);
            return Some(Pdu { stream, sequence: message.sequence, bytes, mark: Mark::default() });
        }
    }

    /// A station sends only what it has to say itself.
    fn send(&mut self, _: LocalTime, pdu: Pdu) {
        let reason = EventKind::Discarded(DiscardReason::UnknownStream);
        self.station.base.push(Event::of(reason, pdu.stream, pdu.sequence));
    }

    fn take_sent(&mut self) -> Option<Mark> {
        None
    }

    fn restart(&mut self, _: LocalTime) {
        // What could be made once can be made again.
        self.station.base.clear();
        if let Some(mut station) = (self.maker)() {
            // Time goes on; what was to be reported is lost.
            std::mem::swap(&mut station.base, &mut self.station.base);
            self.station = station;
        }
    }
}
