//! Messages over connections: one message of a stream to one receiver goes into a [`Channel`], and comes out of that at the other end.
//!
//! A node gives and gets each message as one frame: a header of Ethernet with the EtherType of best effort, and the message. Each
//! stream has a connection to each of its receivers, dialled by its sender before the run begins. What the kernel does not take
//! yet waits in the channel.

pub(crate) mod channel;
mod tcp;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_core::StreamId;
use chronoseal_wire::ethernet::{HEADER_LEN, Header, MacAddress, TypeOrLength};
use chronoseal_wire::tcp::port_of as tcp_port_of;
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde::{Deserialize, Serialize};
use socket2::Socket;

use self::channel::{Channel, ChannelState, Credentials, Transport, TransportError, Transports, Watch};
pub use self::tcp::{Layer, TcpChannel};
use crate::clock::monotonic_ns;

/// What may wait for one connection `[byte]`; a message that finds no room is refused.
pub const WAITING_MAX: usize = 256 << 20;
/// Looked at in one turn.
const EVENTS: usize = 32;
/// What an event of the socket of UDP says of itself.
pub(crate) const OTHER: u64 = u64::MAX;

/// One end of a connection that carries a stream to one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct ConnectionEnd {
    /// Which stream.
    pub stream: u16,
    /// What carries it.
    pub transport: Transport,
    /// The address at the other end.
    pub peer: [u8; 4],
    /// This end sends, and dials.
    pub sends: bool,
    /// The longest message `[byte]`.
    pub message_len: u32,
}

/// The port of a connection at both ends; `None` beyond the last port that there is.
pub fn port_of(end: &ConnectionEnd) -> Option<u16> {
    tcp_port_of(StreamId(end.stream))
}

/// Makes the channels of a port at an address, none of which is open yet.
///
/// # Errors
/// [`TransportError`] of those that are not the kernel's.
pub(crate) fn channels(
    (own, mtu): ([u8; 4], u32),
    ends: &[ConnectionEnd],
    transports: &dyn Transports,
    credentials: Option<&Credentials>,
) -> Result<Vec<Box<dyn Channel>>, TransportError> {
    let channel = |end: &ConnectionEnd| -> Result<Box<dyn Channel>, TransportError> {
        if end.transport.is_secured() {
            let credentials = credentials.ok_or_else(|| TransportError("this station has no credentials".into()))?;
            return transports.channel(end, own, mtu, credentials);
        }
        let channel = TcpChannel::new(*end, own, Box::new(tcp::Plain));
        Ok(Box::new(channel.map_err(|error| TransportError(error.to_string()))?))
    };
    ends.iter().map(channel).collect()
}

/// All connections of a port.
pub(crate) struct Connections {
    epoll: Epoll,
    ends: Vec<End>,
    /// Messages that came, in their order.
    came: VecDeque<Vec<u8>>,
}

struct End {
    channel: Box<dyn Channel>,
    history: ConnectionHistory,
}

/// What became of one end of a connection; times of `CLOCK_MONOTONIC` `[ns]`.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionHistory {
    pub(crate) config: ConnectionEnd,
    pub(crate) dialled_ns: Option<i64>,
    pub(crate) opened_ns: Option<i64>,
    pub(crate) broken: Option<(i64, String)>,
}

impl End {
    /// Notes how it is now.
    fn note(&mut self) {
        let history = &mut self.history;
        match self.channel.state() {
            ChannelState::Opening => {}
            ChannelState::Open if history.opened_ns.is_none() => history.opened_ns = Some(monotonic_ns()),
            ChannelState::Open => {}
            ChannelState::Broken(reason) if history.broken.is_none() => {
                history.broken = Some((monotonic_ns(), reason.to_owned()));
            }
            ChannelState::Broken(_) => {}
        }
    }
}

impl Connections {
    /// Listens where this end gets messages; nothing is dialled yet.
    pub(crate) fn open(ends: &[ConnectionEnd], channels: Vec<Box<dyn Channel>>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let end = |(config, channel): (&ConnectionEnd, _)| End {
            channel,
            history: ConnectionHistory { config: *config, dialled_ns: None, opened_ns: None, broken: None },
        };
        let mut ends: Vec<End> = ends.iter().zip(channels).map(end).collect();
        for (index, end) in (0..).zip(&mut ends) {
            end.channel.open(Watch::new(&epoll, index))?;
        }
        Ok(Self { epoll, ends, came: VecDeque::new() })
    }

    /// Has [`Connections::turn`] say when there is something on another socket too.
    pub(crate) fn watch(&self, other: &Socket) -> io::Result<()> {
        Ok(self.epoll.add(other, EpollEvent::new(EpollFlags::EPOLLIN, OTHER))?)
    }

    /// The longest message, with its header `[byte]`.
    pub(crate) fn frame_len_max(&self) -> usize {
        let longest = self.ends.iter().map(|end| end.history.config.message_len as usize).max();
        HEADER_LEN + longest.unwrap_or_default()
    }

    /// Begins to connect, without waiting for it.
    pub(crate) fn dial(&mut self) -> io::Result<()> {
        for (index, end) in (0..).zip(&mut self.ends).filter(|(_, end)| end.history.config.sends) {
            end.history.dialled_ns = Some(monotonic_ns());
            end.channel.dial(Watch::new(&self.epoll, index))?;
        }
        Ok(())
    }

    /// Those that do not stand: the stream, and the address at the other end.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (u16, [u8; 4])> {
        let stands = |end: &End| end.channel.state() == ChannelState::Open;
        let ends = self.ends.iter().filter(move |end| !stands(end));
        ends.map(|End { history, .. }| (history.config.stream, history.config.peer))
    }

    /// What became of each so far.
    pub(crate) fn histories(&self) -> impl Iterator<Item = &ConnectionHistory> {
        self.ends.iter().map(|end| &end.history)
    }

    /// Sends the message in a frame to all its receivers.
    ///
    /// # Errors
    /// If none of its connections takes it any more.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let message = message(frame).ok_or(io::ErrorKind::InvalidInput)?;
        let stream = TestBedHeader::parse(message).map_err(|_| io::ErrorKind::InvalidInput)?.stream.0;
        let mut is_taken = false;
        for (index, end) in (0..).zip(&mut self.ends) {
            let ConnectionEnd { sends, stream: its, .. } = end.history.config;
            if sends && its == stream {
                is_taken |= end.channel.send(message, Watch::new(&self.epoll, index))?;
                end.note();
            }
        }
        if is_taken { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    /// Does what the kernel has got ready. True if there is something on the other socket.
    pub(crate) fn turn(&mut self) -> io::Result<bool> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = match self.epoll.wait(&mut events, EpollTimeout::ZERO) {
            Err(nix::errno::Errno::EINTR) => 0,
            result => result?,
        };
        let mut is_other = false;
        for index in events[..count].iter().map(EpollEvent::data) {
            match usize::try_from(index).ok().and_then(|index| self.ends.get_mut(index)) {
                Some(end) => {
                    end.channel.attend(Watch::new(&self.epoll, index), &mut self.came)?;
                    end.note();
                }
                None => is_other = true,
            }
        }
        Ok(is_other)
    }

    /// The next message that came, as a frame; its length `[byte]`.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let message = self.came.pop_front()?;
        let len = HEADER_LEN + message.len();
        let frame = buffer.get_mut(..len)?;
        let header = Header {
            destination: MacAddress([0; 6]),
            source: MacAddress([0; 6]),
            type_or_length: TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT),
        };
        header.emit(frame);
        frame[HEADER_LEN..].copy_from_slice(&message);
        Some(len)
    }
}

impl AsFd for Connections {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}

/// The message in a frame of its own.
fn message(frame: &[u8]) -> Option<&[u8]> {
    is_message(frame).then(|| &frame[HEADER_LEN..])
}

/// True for a message that goes over connections.
pub(crate) fn is_message(frame: &[u8]) -> bool {
    frame.get(HEADER_LEN - 2..HEADER_LEN) == Some(&ETHERTYPE_BEST_EFFORT.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of these tests, so that two of them at once do not want one port.
    const FIRST: u16 = 9_000;

    fn pair(stream: u16, message_len: u32) -> (Connections, Connections) {
        let (robot, station) = ([127, 0, 0, 2], [127, 0, 0, 3]);
        let open = |own, peer, sends| {
            let ends = [ConnectionEnd { stream, transport: Transport::Tcp, peer, sends, message_len }];
            let channels = channels((own, 1_500), &ends, &channel::NoTransports, None).expect("TCP is the kernel's");
            Connections::open(&ends, channels).expect("it opens")
        };
        let receiver = open(station, robot, false);
        let mut sender = open(robot, station, true);
        sender.dial().expect("it dials");
        (sender, receiver)
    }

    fn frame(stream: u16, sequence: u32, len: usize) -> Vec<u8> {
        let mut frame = vec![sequence as u8; HEADER_LEN + len];
        let type_or_length = TypeOrLength::EtherType(ETHERTYPE_BEST_EFFORT);
        let (destination, source) = (MacAddress([1; 6]), MacAddress([2; 6]));
        Header { destination, source, type_or_length }.emit(&mut frame);
        TestBedHeader { stream: StreamId(stream), sequence }.emit(&mut frame[HEADER_LEN..]);
        frame
    }

    /// Turns both ends until there is a message, or for a second.
    fn next(sender: &mut Connections, receiver: &mut Connections, buffer: &mut [u8]) -> Option<usize> {
        let clock = crate::clock::RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
        while clock.now().since_zero() < chronoseal_core::Duration::from_s(1) {
            sender.turn().expect("it turns");
            receiver.turn().expect("it turns");
            if let Some(len) = receiver.receive(buffer) {
                return Some(len);
            }
        }
        None
    }

    #[test]
    fn messages_come_whole_and_in_order_whatever_their_length() {
        let (mut sender, mut receiver) = pair(FIRST, 10_000_000);
        let lengths = [8, 9, 1_000, 70_000, 10_000_000, 8];
        for (sequence, len) in (0..).zip(lengths) {
            sender.send(&frame(FIRST, sequence, len)).expect("it takes it");
        }
        let mut buffer = vec![0; receiver.frame_len_max()];
        for (sequence, len) in (0..).zip(lengths) {
            let came = next(&mut sender, &mut receiver, &mut buffer).expect("it comes");
            assert_eq!(came, HEADER_LEN + len);
            assert!(buffer[HEADER_LEN..came] == frame(FIRST, sequence, len)[HEADER_LEN..], "message {sequence}");
        }
        assert_eq!(sender.missing().count() + receiver.missing().count(), 0);
    }

    #[test]
    fn a_message_longer_than_agreed_ends_the_connection_and_its_sender_hears_of_it() {
        let (mut sender, mut receiver) = pair(FIRST + 1, 100);
        sender.send(&frame(FIRST + 1, 0, 101)).expect("the sender does not count");
        let mut buffer = vec![0; 1_000];
        assert_eq!(next(&mut sender, &mut receiver, &mut buffer), None);
        assert_eq!(receiver.missing().next(), Some((FIRST + 1, [127, 0, 0, 2])));
        let refused = (1..1_000).any(|sequence| {
            sender.turn().expect("it turns");
            sender.send(&frame(FIRST + 1, sequence, 100)).is_err()
        });
        assert!(refused, "nothing goes over a broken connection");
        let reason = |end: &Connections| end.histories().find_map(|history| history.broken.clone()).map(|(_, why)| why);
        let why = reason(&receiver).expect("it says why");
        assert!(why.contains("101 bytes was announced, on a stream of 100"), "{why}");
        assert!(reason(&sender).is_some());
    }

    #[test]
    fn a_frame_that_is_no_message_is_refused() {
        let (mut sender, _receiver) = pair(FIRST + 2, 100);
        assert!(sender.send(&[0; 60]).is_err());
        assert!(sender.send(&frame(FIRST + 2, 0, 8)[..HEADER_LEN + 4]).is_err());
        assert!(sender.send(&frame(FIRST + 3, 0, 8)).is_err(), "a stream that it does not send");
    }

    #[test]
    fn what_waits_has_a_limit() {
        // Nobody reads.
        let (mut sender, receiver) = pair(FIRST + 4, 10_000_000);
        let frame = frame(FIRST + 4, 0, 10_000_000);
        let taken = (0..40).take_while(|_| sender.send(&frame).is_ok()).count();
        assert!((25..35).contains(&taken), "{taken}");
        drop(receiver);
    }
}
