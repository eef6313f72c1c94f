//! The nodes of these tests: a sensor on a CAN bus, a station on Ethernet, and a gateway that puts two readings into one
//! Ethernet frame and takes the answers back.

use std::collections::VecDeque;

use chronoseal_core::{
    Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeId, Output, PortId, Priority,
    StreamId, Transmit, TxToken,
};
use chronoseal_testbed::FactoryError;
use chronoseal_wire::can::{CanFrame, CanFrameView, CanId};
use chronoseal_wire::ethernet::{Frame, Header, TypeOrLength};
use chronoseal_wire::virtual_link;

pub(crate) const SENSOR: NodeId = NodeId(0);
/// Port 0 is on the bus, port 1 at the switch.
pub(crate) const GATEWAY: NodeId = NodeId(1);
pub(crate) const STATION: NodeId = NodeId(2);

/// From the sensor, on the bus.
pub(crate) const READINGS: StreamId = StreamId(0);
/// Two readings, from the gateway to the station.
pub(crate) const PAIRS: StreamId = StreamId(1);
/// To each pair one, from the station to the gateway.
pub(crate) const ANSWERS: StreamId = StreamId(2);
/// To each answer one, from the gateway on the bus.
pub(crate) const REPLIES: StreamId = StreamId(3);

const PERIOD: Duration = Duration::from_ms(2);
const ETHERNET_LEN: usize = 60;
const PAYLOAD_AT: usize = 14;

pub(crate) fn build(_: &[u8], node: NodeId) -> Result<Box<dyn Node + Send>, FactoryError> {
    let role = match node {
        SENSOR => Role::Sensor { sent: 0, runs: false },
        GATEWAY => Role::Gateway { held: Vec::new() },
        STATION => Role::Station,
        _ => return Err(format!("there is no node {}", node.0).into()),
    };
    Ok(Box::new(Member { role, inputs: 0, pending: VecDeque::new(), origins: Vec::new() }))
}

fn identifier_of(stream: StreamId) -> CanId {
    CanId::standard(0x100 + stream.0).expect("11 bits")
}

/// Stream and number of a frame on the bus.
pub(crate) fn read_can(bytes: &[u8]) -> Option<(StreamId, u32)> {
    let view = CanFrameView::new_checked(bytes).ok()?;
    let stream = [READINGS, REPLIES].into_iter().find(|stream| identifier_of(*stream) == view.id())?;
    Some((stream, u32::from_be_bytes(*view.data().first_chunk()?)))
}

/// Stream and number of an Ethernet frame.
pub(crate) fn read_ethernet(bytes: &[u8]) -> Option<(StreamId, u32)> {
    let stream = virtual_link::stream(Frame::new_checked(bytes).ok()?.destination())?;
    Some((stream, u32::from_be_bytes(*bytes.get(PAYLOAD_AT..)?.first_chunk()?)))
}

enum Role {
    /// Sends a reading every [`PERIOD`] and reports each reply.
    Sensor { sent: u32, runs: bool },
    /// Holds a reading until there is another; what it holds: number of the input, number of the reading.
    Gateway { held: Vec<(u64, u32)> },
    /// Reports each pair and answers it.
    Station,
}

/// What a node is about to do.
enum Step {
    Tell(Event),
    Send { stream: StreamId, number: u32, origins: Vec<u64> },
}

struct Member {
    role: Role,
    /// Frames it was given.
    inputs: u64,
    pending: VecDeque<Step>,
    /// Of the frame given to the driver last.
    origins: Vec<u64>,
}

impl Member {
    fn tell(&mut self, kind: EventKind, stream: StreamId, number: u64) {
        self.pending.push_back(Step::Tell(Event::of(kind, stream, number)));
    }

    fn send(&mut self, stream: StreamId, number: u32, origins: Vec<u64>) {
        self.pending.push_back(Step::Send { stream, number, origins });
    }

    fn frame(&mut self, port: PortId, bytes: &[u8]) {
        let input = self.inputs;
        self.inputs += 1;
        let is_on_bus = matches!((&self.role, port.0), (Role::Sensor { .. }, _) | (Role::Gateway { .. }, 0));
        let Some((stream, number)) = (if is_on_bus { read_can(bytes) } else { read_ethernet(bytes) }) else { return };
        match (&mut self.role, stream) {
            (Role::Sensor { .. }, REPLIES) => self.tell(EventKind::Delivered, stream, number.into()),
            (Role::Gateway { held }, READINGS) => {
                held.push((input, number));
                if held.len() == 2 {
                    let origins = held.iter().map(|(input, _)| *input).collect();
                    held.clear();
                    self.send(PAIRS, number / 2, origins);
                }
            }
            (Role::Gateway { .. }, ANSWERS) => self.send(REPLIES, number, vec![input]),
            (Role::Station, PAIRS) => {
                self.tell(EventKind::Delivered, stream, number.into());
                self.send(ANSWERS, number, vec![input]);
            }
            _ => {}
        }
    }

    fn due(&self) -> Option<LocalTime> {
        match self.role {
            Role::Sensor { sent, runs: true } => Some(LocalTime::ZERO + PERIOD * (i64::from(sent) + 1)),
            _ => None,
        }
    }
}

impl Node for Member {
    fn handle_input(&mut self, _: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match (input, &mut self.role) {
            (Input::Command(command), Role::Sensor { runs, .. }) => *runs = command == Command::Start,
            (Input::Frame { port, bytes, .. }, _) => self.frame(port, bytes),
            // The token is the stream and the number.
            (Input::Transmitted { token, .. }, _) => {
                self.tell(EventKind::Sent, StreamId((token.id() >> 32) as u16), token.id() & 0xffff_ffff);
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(due) = self.due().filter(|due| *due <= now)
            && let Role::Sensor { sent, .. } = &mut self.role
        {
            let number = *sent;
            *sent += 1;
            self.origins.clear();
            let (port, len) = write(READINGS, number, frame);
            return Output::Transmit(Transmit { port, priority: Priority(0), launch_at: due, len, token: None });
        }
        match self.pending.pop_front() {
            Some(Step::Tell(event)) => Output::Event(event),
            Some(Step::Send { stream, number, origins }) => {
                self.origins = origins;
                let (port, len) = write(stream, number, frame);
                let token = Some(TxToken::new(u64::from(stream.0) << 32 | u64::from(number)));
                Output::Transmit(Transmit { port, priority: Priority(0), launch_at: now, len, token })
            }
            None => Output::Timeout(self.due()),
        }
    }

    fn origins(&self) -> &[u64] {
        &self.origins
    }
}

/// Writes a frame of `stream` and says from which port it leaves and how long it is.
fn write(stream: StreamId, number: u32, frame: &mut [u8]) -> (PortId, usize) {
    if matches!(stream, READINGS | REPLIES) {
        let can = CanFrame::classical(identifier_of(stream), &number.to_be_bytes()).expect("4 bytes");
        return (PortId(0), can.emit(frame));
    }
    frame[..ETHERNET_LEN].fill(0);
    let (sender, port) = if stream == PAIRS { (GATEWAY, PortId(1)) } else { (STATION, PortId(0)) };
    let destination = virtual_link::stream_address(stream);
    let source = virtual_link::station_address(sender);
    Header { destination, source, type_or_length: TypeOrLength::EtherType(0x88b5) }.emit(frame);
    frame[PAYLOAD_AT..PAYLOAD_AT + 4].copy_from_slice(&number.to_be_bytes());
    (port, ETHERNET_LEN)
}
