//! A connection of TCP, plain or with a [`Layer`] over it. On it a message is its length, 4 bytes big-endian, and its data.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

use chronoseal_wire::tcp::LENGTH_LEN;
use socket2::{Domain, Protocol, Socket, Type};

use super::channel::{Channel, ChannelState, Watch};
use super::{ConnectionEnd, WAITING_MAX, port_of};

/// Read at a time from one connection `[byte]`, so that others and timers get their turn.
const READ_MAX: usize = 256 << 10;

/// What is between messages and a connection of TCP. None of its functions waits: what the kernel does not take or have yet is
/// [`io::ErrorKind::WouldBlock`].
pub trait Layer: Send {
    /// Goes on with its handshake. True once messages may go.
    ///
    /// # Errors
    /// Why none ever will, in words.
    fn open(&mut self, socket: &Socket) -> io::Result<bool>;

    /// Takes up to `budget` bytes from the socket, and gives what is in them. 0 if the peer has ended the connection.
    ///
    /// # Errors
    /// Why nothing comes any more, and [`io::ErrorKind::WouldBlock`] only if it holds nothing either.
    fn read(&mut self, socket: &Socket, into: &mut [u8], budget: &mut usize) -> io::Result<usize>;

    /// Takes some of what is to be sent.
    ///
    /// # Errors
    /// Why nothing goes any more.
    fn write(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<usize>;

    /// Hands over what it holds.
    ///
    /// # Errors
    /// Why nothing goes any more.
    fn flush(&mut self, socket: &Socket) -> io::Result<()>;

    /// It holds something that the kernel has not taken.
    fn wants_to_write(&self) -> bool;
}

/// Nothing: messages go as they are.
pub(super) struct Plain;

impl Layer for Plain {
    fn open(&mut self, _: &Socket) -> io::Result<bool> {
        Ok(true)
    }

    fn read(&mut self, mut socket: &Socket, into: &mut [u8], budget: &mut usize) -> io::Result<usize> {
        let part = into.len().min(*budget);
        if part == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let len = socket.read(&mut into[..part])?;
        *budget -= len;
        Ok(len)
    }

    fn write(&mut self, mut socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
        socket.write(bytes)
    }

    fn flush(&mut self, _: &Socket) -> io::Result<()> {
        Ok(())
    }

    fn wants_to_write(&self) -> bool {
        false
    }
}

/// One end of a connection of TCP.
pub struct TcpChannel {
    config: ConnectionEnd,
    own: Ipv4Addr,
    port: u16,
    layer: Box<dyn Layer>,
    state: State,
    /// Of a sender: what the kernel has not taken, of which the first so many bytes are gone.
    waiting: VecDeque<Vec<u8>>,
    gone: usize,
    waiting_len: usize,
    coming: Coming,
    watches_writable: bool,
}

enum State {
    /// Not dialled, or not listening, yet.
    Closed,
    /// Of a receiver.
    Listens(Socket),
    Connecting(Socket),
    /// The layer shakes hands.
    Securing(Socket),
    Open(Socket),
    /// It broke: nothing goes over it any more.
    Broken(String),
}

/// What has come of the message that is coming.
#[derive(Default)]
struct Coming {
    length: [u8; LENGTH_LEN],
    length_len: usize,
    message: Vec<u8>,
    message_len: usize,
}

impl TcpChannel {
    /// An end that is not open yet; its ports are those of its stream.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`]: there is no port for its stream.
    pub fn new(config: ConnectionEnd, own: [u8; 4], layer: Box<dyn Layer>) -> io::Result<Self> {
        let port = port_of(&config).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self {
            config,
            own: own.into(),
            port,
            layer,
            state: State::Closed,
            waiting: VecDeque::new(),
            gone: 0,
            waiting_len: 0,
            coming: Coming::default(),
            watches_writable: false,
        })
    }

    /// Goes on with the handshake of a connection that stands, and with what waits for it.
    fn secure(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        let socket = match std::mem::replace(&mut self.state, State::Closed) {
            State::Securing(socket) => socket,
            other => {
                self.state = other;
                return Ok(());
            }
        };
        match self.layer.open(&socket) {
            Ok(true) => {
                self.state = State::Open(socket);
                self.exchange(watch, came)
            }
            Ok(false) => {
                self.state = State::Securing(socket);
                self.look(watch)
            }
            Err(error) => self.end(&socket, watch, format!("the handshake failed: {error}")),
        }
    }

    /// Reads and writes what can be.
    fn exchange(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        let result = self.read(came).and_then(|()| self.write());
        self.settle(result, watch)
    }

    /// Ends a connection over which something failed, and else has the kernel say when more can be done.
    fn settle(&mut self, result: io::Result<()>, watch: Watch<'_>) -> io::Result<()> {
        match (result, &self.state) {
            (Err(error), State::Open(_)) => {
                let State::Open(socket) = std::mem::replace(&mut self.state, State::Closed) else { return Ok(()) };
                self.end(&socket, watch, error.to_string())
            }
            _ => self.look(watch),
        }
    }

    fn end(&mut self, socket: &Socket, watch: Watch<'_>, reason: String) -> io::Result<()> {
        self.state = State::Broken(reason);
        watch.remove(socket)
    }

    fn look(&mut self, watch: Watch<'_>) -> io::Result<()> {
        let (State::Securing(socket) | State::Open(socket)) = &self.state else { return Ok(()) };
        let waits = !self.waiting.is_empty() && matches!(self.state, State::Open(_));
        let wants = waits || self.layer.wants_to_write();
        if wants != self.watches_writable {
            self.watches_writable = wants;
            watch.change(socket, wants)?;
        }
        Ok(())
    }

    /// Hands over what waits for a connection that is open.
    fn write(&mut self) -> io::Result<()> {
        let State::Open(socket) = &self.state else { return Ok(()) };
        would_block(self.layer.flush(socket))?;
        while let Some(first) = self.waiting.front() {
            match self.layer.write(socket, &first[self.gone..]) {
                Ok(len) => {
                    self.gone += len;
                    self.waiting_len -= len;
                    if self.gone == first.len() {
                        self.waiting.pop_front();
                        self.gone = 0;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        let State::Open(socket) = &self.state else { return Ok(()) };
        let mut budget = READ_MAX;
        loop {
            match self.layer.read(socket, self.coming.room(), &mut budget) {
                Ok(0) => return Err(io::Error::other("the peer ended the connection")),
                Ok(_) if self.config.sends => return Err(io::Error::other("its receiver sent something")),
                Ok(len) => came.extend(self.coming.add(len, self.config.message_len)?),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Channel for TcpChannel {
    fn open(&mut self, watch: Watch<'_>) -> io::Result<()> {
        if !self.config.sends {
            let socket = socket(self.own, self.port)?;
            socket.listen(1)?;
            watch.add(&socket, false)?;
            self.state = State::Listens(socket);
        }
        Ok(())
    }

    fn dial(&mut self, watch: Watch<'_>) -> io::Result<()> {
        let socket = socket(self.own, self.port)?;
        let peer = SocketAddrV4::new(Ipv4Addr::from(self.config.peer), self.port);
        match socket.connect(&peer.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        watch.add(&socket, true)?;
        self.watches_writable = true;
        self.state = State::Connecting(socket);
        Ok(())
    }

    fn state(&self) -> ChannelState<'_> {
        match &self.state {
            State::Open(_) => ChannelState::Open,
            State::Broken(reason) => ChannelState::Broken(reason),
            State::Closed | State::Listens(_) | State::Connecting(_) | State::Securing(_) => ChannelState::Opening,
        }
    }

    fn send(&mut self, message: &[u8], watch: Watch<'_>) -> io::Result<bool> {
        let len = LENGTH_LEN + message.len();
        if matches!(self.state, State::Broken(_)) || self.waiting_len + len > WAITING_MAX {
            return Ok(false);
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
        bytes.extend_from_slice(message);
        self.waiting.push_back(bytes);
        self.waiting_len += len;
        let written = self.write();
        self.settle(written, watch)?;
        Ok(true)
    }

    fn attend(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Listens(listener) => match listener.accept() {
                // Whoever else dials is not of this run.
                Ok((_, from)) if from.as_socket_ipv4().map(|from| from.ip().octets()) != Some(self.config.peer) => {
                    self.state = State::Listens(listener);
                }
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    socket.set_tcp_nodelay(true)?;
                    watch.remove(&listener)?;
                    watch.add(&socket, false)?;
                    self.state = State::Securing(socket);
                }
                Err(_) => self.state = State::Listens(listener),
            },
            State::Connecting(socket) => match socket.take_error()? {
                None => self.state = State::Securing(socket),
                Some(error) => return self.end(&socket, watch, error.to_string()),
            },
            state => self.state = state,
        }
        match self.state {
            State::Securing(_) => self.secure(watch, came),
            State::Open(_) => self.exchange(watch, came),
            State::Closed | State::Listens(_) | State::Connecting(_) | State::Broken(_) => Ok(()),
        }
    }
}

impl Coming {
    /// Where the next bytes go; never empty.
    fn room(&mut self) -> &mut [u8] {
        if self.length_len < LENGTH_LEN {
            &mut self.length[self.length_len..]
        } else {
            &mut self.message[self.message_len..]
        }
    }

    /// So many bytes have been written to the room. A message that is whole now.
    fn add(&mut self, len: usize, message_len_max: u32) -> io::Result<Option<Vec<u8>>> {
        if self.length_len < LENGTH_LEN {
            self.length_len += len;
            if self.length_len == LENGTH_LEN {
                let announced = u32::from_be_bytes(self.length);
                if !(1..=message_len_max).contains(&announced) {
                    // Nobody of ours sends such a message, and where the next one begins is unknown.
                    let text =
                        format!("a message of {announced} bytes was announced, on a stream of {message_len_max}");
                    return Err(io::Error::other(text));
                }
                self.message = vec![0; announced as usize];
                self.message_len = 0;
            }
            return Ok(None);
        }
        self.message_len += len;
        if self.message_len < self.message.len() {
            return Ok(None);
        }
        self.length_len = 0;
        Ok(Some(std::mem::take(&mut self.message)))
    }
}

/// What the kernel does not take now is no failure.
fn would_block(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
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
