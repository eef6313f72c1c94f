//! Stations for the tests of the live bus: they talk, listen, and tell what they heard.

use chronoseal_core::{
    Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeId, Output, PortId, Priority,
    StreamId, TransferFault, Transmit, TxToken,
};
use chronoseal_testbed::FactoryError;
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId};

/// Frames each station sends.
pub(crate) const FRAMES: u32 = 50;
/// Stations of [`build`].
pub(crate) const STATIONS: u16 = 3;

/// With this configuration the last station says nothing of what it hears.
pub(crate) const LAST_IS_SILENT: &[u8] = b"the last is silent";

/// With this configuration a station wants to know what becomes of its frames, and tells of those that were thrown away.
pub(crate) const ASKS: &[u8] = b"what becomes of frames";

/// Station `node`: frames of its own identifier, kind and length, three at once every few milliseconds.
pub(crate) fn build(config: &[u8], node: NodeId) -> Result<Box<dyn Node + Send>, FactoryError> {
    if node.0 >= STATIONS {
        return Err(format!("there is no station {}", node.0).into());
    }
    let is_silent = config == LAST_IS_SILENT && node.0 == STATIONS - 1;
    let asks = config == ASKS;
    Ok(Box::new(Talker { node, is_silent, asks, sent: 0, started: false, stopped: false, heard: Vec::new() }))
}

/// Frame `number` of station `node`.
pub(crate) fn frame_of(node: u16, number: u32) -> CanFrame {
    let mut data = [0xaa; 64];
    data[..4].copy_from_slice(&number.to_be_bytes());
    match node {
        0 => CanFrame::classical(CanId::standard(0x300).expect("11 bits"), &data[..8]).expect("8 bytes"),
        1 => CanFrame::fd(CanId::extended(0x18da_f110).expect("29 bits"), &data, true).expect("64 bytes"),
        _ => CanFrame::fd(CanId::standard(0x100).expect("11 bits"), &data[..12], false).expect("12 bytes"),
    }
}

/// Which station a frame of this identifier is from; `None` for a stranger.
pub(crate) fn station_of(id: CanId) -> Option<u16> {
    (0..STATIONS).find(|node| frame_of(*node, 0).id() == id)
}

struct Talker {
    node: NodeId,
    is_silent: bool,
    asks: bool,
    sent: u32,
    started: bool,
    stopped: bool,
    heard: Vec<Event>,
}

impl Talker {
    /// Three frames at once, so that they queue and compete.
    fn due(&self) -> Option<LocalTime> {
        let burst = i64::from(self.sent / 3) + 1;
        (self.started && !self.stopped && self.sent < FRAMES).then_some(LocalTime::ZERO + Duration::from_ms(4) * burst)
    }
}

impl Node for Talker {
    fn handle_input(&mut self, _now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match input {
            Input::Command(Command::Start) => self.started = true,
            Input::Command(Command::Stop) => self.stopped = true,
            Input::Dropped { token } => {
                let thrown_away = EventKind::TransferFault(TransferFault::NotTransmitted);
                self.heard.insert(0, Event::of(thrown_away, StreamId(self.node.0), token.id()));
            }
            Input::Frame { bytes, .. } if !self.is_silent => {
                let view = CanFrameView::new_checked(bytes).expect("the driver delivers whole frames");
                let number = view.data().first_chunk().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes));
                let stream = station_of(view.id()).map_or(StreamId::NONE, StreamId);
                self.heard.insert(0, Event::of(EventKind::Delivered, stream, u64::from(number)));
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(event) = self.heard.pop() {
            return Output::Event(event);
        }
        let Some(launch_at) = self.due().filter(|due| *due <= now) else { return Output::Timeout(self.due()) };
        let len = frame_of(self.node.0, self.sent).emit(frame);
        let token = self.asks.then(|| TxToken::new(self.sent.into()));
        self.sent += 1;
        Output::Transmit(Transmit { port: PortId(0), priority: Priority(0), launch_at, len, token })
    }
}
