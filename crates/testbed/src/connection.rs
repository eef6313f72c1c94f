//! Messages over connections of the kernel (TCP): it sends again what is lost and keeps the order, and one message waits for another.
//!
//! A node gives and gets each message as one frame: a header of Ethernet with the EtherType of best effort, and the message. Each
//! stream has a connection to each of its receivers, dialled by its sender before the run begins. What the kernel does not take
//! yet waits here, in its order.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_core::StreamId;
use chronoseal_wire::ethernet::{HEADER_LEN, Header, MacAddress, TypeOrLength};
use chronoseal_wire::tcp::{self, LENGTH_LEN};
use chronoseal_wire::test_bed_header::{ETHERTYPE_BEST_EFFORT, TestBedHeader};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

/// What may wait for one connection `[byte]`; a message that finds no room is refused.
const WAITING_MAX: usize = 256 << 20;
/// Read at a time from one connection `[byte]`, so that others and timers get their turn.
const READ_MAX: usize = 256 << 10;
/// Looked at in one turn.
const EVENTS: usize = 32;
/// What an event of the socket of UDP says of itself.
pub(crate) const OTHER: u64 = u64::MAX;

/// One end of a connection that carries a stream to one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct ConnectionEnd {
    /// Which stream.
    pub stream: u16,
    /// The address at the other end.
    pub peer: [u8; 4],
    /// This end sends, and dials.
    pub sends: bool,
    /// The longest message `[byte]`.
    pub message_len: u32,
}

/// All connections of a port.
pub(crate) struct Connections {
    epoll: Epoll,
    ends: Vec<End>,
    /// Messages that came, in their order.
    came: VecDeque<Vec<u8>>,
}

struct End {
    config: ConnectionEnd,
    port: u16,
    own: Ipv4Addr,
    state: State,
    /// Of a sender: what the kernel has not taken, of which the first so many bytes are gone.
    waiting: VecDeque<Vec<u8>>,
    gone: usize,
    waiting_len: usize,
    /// Of a receiver: what has come of the message that is coming, its length in front of it.
    coming: Vec<u8>,
    wants_to_write: bool,
}

enum State {
    /// Not dialled yet.
    Closed,
    /// Of a receiver.
    Listens(Socket),
    Connecting(Socket),
    Open(Socket),
    /// It broke: nothing goes over it any more.
    Broken,
}

impl Connections {
    /// Listens where this end gets messages; nothing is dialled yet.
    pub(crate) fn open(address: [u8; 4], ends: &[ConnectionEnd]) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let own = Ipv4Addr::from(address);
        let mut opened = Vec::new();
        for (index, config) in ends.iter().enumerate() {
            let port = tcp::port_of(StreamId(config.stream)).ok_or(io::ErrorKind::InvalidInput)?;
            let state = match config.sends {
                true => State::Closed,
                false => {
                    let socket = socket(own, port)?;
                    socket.listen(1)?;
                    epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
                    State::Listens(socket)
                }
            };
            opened.push(End {
                config: *config,
                port,
                own,
                state,
                waiting: VecDeque::new(),
                gone: 0,
                waiting_len: 0,
                coming: Vec::new(),
                wants_to_write: false,
            });
        }
        Ok(Self { epoll, ends: opened, came: VecDeque::new() })
    }

    /// Has [`Connections::turn`] say when there is something on another socket too.
    pub(crate) fn watch(&self, other: &Socket) -> io::Result<()> {
        Ok(self.epoll.add(other, EpollEvent::new(EpollFlags::EPOLLIN, OTHER))?)
    }

    /// The longest message, with its header `[byte]`.
    pub(crate) fn frame_len_max(&self) -> usize {
        let longest = self.ends.iter().map(|end| end.config.message_len as usize).max();
        HEADER_LEN + longest.unwrap_or_default()
    }

    /// Begins to connect, without waiting for it.
    pub(crate) fn dial(&mut self) -> io::Result<()> {
        for (index, end) in self.ends.iter_mut().enumerate().filter(|(_, end)| end.config.sends) {
            let socket = socket(end.own, end.port)?;
            let peer = SocketAddrV4::new(Ipv4Addr::from(end.config.peer), end.port);
            match socket.connect(&peer.into()) {
                Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
                _ => {}
            }
            self.epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLOUT, index as u64))?;
            end.wants_to_write = true;
            end.state = State::Connecting(socket);
        }
        Ok(())
    }

    /// Those that do not stand: the stream, and the address at the other end.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (u16, [u8; 4])> {
        let stands = |end: &End| matches!(end.state, State::Open(_));
        self.ends.iter().filter(move |end| !stands(end)).map(|end| (end.config.stream, end.config.peer))
    }

    /// Sends the message in a frame to all its receivers.
    ///
    /// # Errors
    /// If none of its connections takes it any more.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let message = message(frame).ok_or(io::ErrorKind::InvalidInput)?;
        let stream = TestBedHeader::parse(message).map_err(|_| io::ErrorKind::InvalidInput)?.stream.0;
        let mut is_taken = false;
        for index in 0..self.ends.len() {
            let end = &mut self.ends[index];
            if !end.config.sends || end.config.stream != stream {
                continue;
            }
            let len = LENGTH_LEN + message.len();
            if matches!(end.state, State::Broken) || end.waiting_len + len > WAITING_MAX {
                continue;
            }
            let mut bytes = Vec::with_capacity(len);
            bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
            bytes.extend_from_slice(message);
            end.waiting.push_back(bytes);
            end.waiting_len += len;
            is_taken = true;
            self.write(index)?;
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
        for event in &events[..count] {
            let Some(index) = usize::try_from(event.data()).ok().filter(|index| *index < self.ends.len()) else {
                is_other = true;
                continue;
            };
            self.attend(index, event.events())?;
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

    fn attend(&mut self, index: usize, events: EpollFlags) -> io::Result<()> {
        let end = &mut self.ends[index];
        match std::mem::replace(&mut end.state, State::Broken) {
            State::Listens(listener) => match listener.accept() {
                // Whoever else dials is not of this run.
                Ok((_, from)) if from.as_socket_ipv4().map(|from| from.ip().octets()) != Some(end.config.peer) => {
                    end.state = State::Listens(listener);
                }
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    self.epoll.delete(&listener)?;
                    self.epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
                    end.state = State::Open(socket);
                }
                Err(_) => end.state = State::Listens(listener),
            },
            State::Connecting(socket) => match socket.take_error()? {
                None => {
                    end.state = State::Open(socket);
                    self.write(index)?;
                }
                Some(_) => self.epoll.delete(&socket)?,
            },
            State::Open(socket)
                if end.config.sends && events.intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP) =>
            {
                self.epoll.delete(&socket)?;
            }
            State::Open(socket) => {
                end.state = State::Open(socket);
                if end.config.sends { self.write(index)? } else { self.read(index)? }
            }
            state @ (State::Closed | State::Broken) => end.state = state,
        }
        Ok(())
    }

    /// Hands over what waits for a connection that stands.
    fn write(&mut self, index: usize) -> io::Result<()> {
        let end = &mut self.ends[index];
        let State::Open(socket) = &mut end.state else { return Ok(()) };
        let mut is_broken = false;
        while let Some(first) = end.waiting.front() {
            match socket.write(&first[end.gone..]) {
                Ok(len) => {
                    end.gone += len;
                    end.waiting_len -= len;
                    if end.gone == first.len() {
                        end.waiting.pop_front();
                        end.gone = 0;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    is_broken = true;
                    break;
                }
            }
        }
        let wants = !end.waiting.is_empty() && !is_broken;
        if wants != end.wants_to_write {
            end.wants_to_write = wants;
            let flags = if wants { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
            self.epoll.modify(&*socket, &mut EpollEvent::new(flags, index as u64))?;
        }
        if is_broken {
            self.epoll.delete(&*socket)?;
            end.state = State::Broken;
        }
        Ok(())
    }

    fn read(&mut self, index: usize) -> io::Result<()> {
        let end = &mut self.ends[index];
        let State::Open(socket) = &mut end.state else { return Ok(()) };
        let mut left = READ_MAX;
        let mut is_broken = false;
        while left > 0 {
            let wanted = match end.coming.first_chunk() {
                Some(len) => LENGTH_LEN + u32::from_be_bytes(*len) as usize,
                None => LENGTH_LEN,
            };
            if wanted > LENGTH_LEN + end.config.message_len as usize {
                // Nobody of ours sends such a message, and where the next one begins is unknown.
                is_broken = true;
                break;
            }
            let has = end.coming.len();
            if has == wanted && wanted > LENGTH_LEN {
                self.came.push_back(end.coming.split_off(LENGTH_LEN));
                end.coming.clear();
                continue;
            }
            let part = (wanted - has).min(left);
            end.coming.resize(has + part, 0);
            let read = socket.read(&mut end.coming[has..]);
            end.coming.truncate(has + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => {
                    is_broken = true;
                    break;
                }
                Ok(len) => left -= len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    is_broken = true;
                    break;
                }
            }
        }
        if is_broken {
            self.epoll.delete(&*socket)?;
            end.state = State::Broken;
        }
        Ok(())
    }
}

impl AsFd for Connections {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}

/// A socket at a port of an address. What is small is sent at once.
fn socket(own: Ipv4Addr, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.bind(&SocketAddrV4::new(own, port).into())?;
    Ok(socket)
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
        let end = |peer, sends| ConnectionEnd { stream, peer, sends, message_len };
        let receiver = Connections::open(station, &[end(robot, false)]).expect("it listens");
        let mut sender = Connections::open(robot, &[end(station, true)]).expect("it opens");
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
        let clock = crate::clock::RunClock { epoch_ns: crate::clock::monotonic_ns(), shares_processor: false };
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
