//! QUIC, by quinn's state machine: each message is a unidirectional stream that ends behind it. Older messages go first, and none waits for a lost
//! packet of another.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use chronoseal_testbed::{Channel, ChannelState, ConnectionEnd, TransportError, WAITING_MAX, Watch, port_of};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, IdleTimeout,
    MtuDiscoveryConfig, ReadError, ServerConfig, StreamEvent, StreamId, Transmit, TransportConfig, VarInt, WriteError,
};
use quinn_udp::{RecvMeta, UdpSocketState};
use rustls::pki_types::CertificateDer;
use socket2::{Domain, Protocol, Socket, Type};

use crate::credentials::{Identity, is_of};
use crate::refused;

/// What both ends speak on a connection (ALPN).
const PROTOCOL: &[u8] = b"chronoseal-messages";

/// Headers of IPv4 and UDP `[byte]`.
const HEADERS_LEN: u32 = 28;

/// The datagrams that every path has to carry (RFC 9000 §14) `[byte]`.
const DATAGRAM_LEN_MIN: u16 = 1_200;

/// A peer that says nothing for so long is gone; half of that between words where there is nothing else to say.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Messages that may be on their way at once.
const MESSAGES_MAX: u32 = 1_024;

/// What may be sent and not acknowledged, beside two messages `[byte]`.
const WINDOW: u64 = 4 << 20;

/// Datagrams are received in so many buffers, each for what the kernel joins of one flow `[byte]`.
const BUFFERS: usize = 4;
const BUFFER_LEN: usize = 64 << 10;

/// Read at a time from one connection `[byte]`, so that others and timers get their turn.
const READ_MAX: usize = 256 << 10;

/// Asked for; the kernel may grant less without a privilege.
const SOCKET_BUFFER: usize = 8 << 20;

/// What ends a connection of ours.
const REFUSED: VarInt = VarInt::from_u32(1);

/// One end of a connection.
pub(crate) struct QuicChannel {
    config: ConnectionEnd,
    own: IpAddr,
    port: u16,
    client: Option<ClientConfig>,
    endpoint: Endpoint,
    wire: Option<Wire>,
    connection: Option<(ConnectionHandle, Connection)>,
    state: State,
    /// Of a sender: messages that are not all in their streams, the first of them perhaps in part.
    waiting: VecDeque<Bytes>,
    waiting_len: usize,
    writing: Option<StreamId>,
    /// Of a receiver: what has come of messages.
    coming: BTreeMap<StreamId, Vec<u8>>,
}

#[derive(PartialEq)]
enum State {
    Opening,
    Open,
    /// Nothing goes over it any more.
    Broken(String),
}

/// What a connection has of the kernel.
struct Wire {
    socket: Socket,
    udp: UdpSocketState,
    timer: TimerFd,
    received: Vec<u8>,
    /// What is to be sent next; the kernel has had no room for it.
    datagrams: Vec<u8>,
    unsent: Option<Transmit>,
    watches_writable: bool,
}

impl QuicChannel {
    /// An end that has not said anything yet.
    pub(crate) fn new(
        identity: &Identity,
        config: &ConnectionEnd,
        own: [u8; 4],
        mtu: u32,
    ) -> Result<Self, TransportError> {
        let datagram_len = u16::try_from(mtu.saturating_sub(HEADERS_LEN)).unwrap_or(u16::MAX).max(DATAGRAM_LEN_MIN);
        let transport = Arc::new(transport(config, datagram_len));
        let mut of_endpoint = EndpointConfig::default();
        of_endpoint.max_udp_payload_size(datagram_len).map_err(refused)?;
        let (mut client, mut server) = (None, None);
        if config.sends {
            let mut tls = identity.client()?;
            tls.alpn_protocols = vec![PROTOCOL.to_vec()];
            let mut made = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).map_err(refused)?));
            made.transport_config(transport);
            client = Some(made);
        } else {
            let mut tls = identity.server()?;
            tls.alpn_protocols = vec![PROTOCOL.to_vec()];
            let mut made = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).map_err(refused)?));
            made.transport_config(transport).migration(false);
            server = Some(Arc::new(made));
        }
        Ok(Self {
            config: *config,
            own: own.into(),
            port: port_of(config).ok_or_else(|| TransportError("there is no port for its stream".into()))?,
            client,
            endpoint: Endpoint::new(Arc::new(of_endpoint), server, true, None),
            wire: None,
            connection: None,
            state: State::Opening,
            waiting: VecDeque::new(),
            waiting_len: 0,
            writing: None,
            coming: BTreeMap::new(),
        })
    }

    /// Makes the socket, which takes datagrams of its peer only.
    fn prepare(&mut self, watch: Watch<'_>) -> io::Result<SocketAddr> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        // Connections to several receivers have one port.
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::new(self.own, self.port).into())?;
        let peer = SocketAddr::new(self.config.peer.into(), self.port);
        socket.connect(&peer.into())?;
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
        let udp = UdpSocketState::new((&socket).into())?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        watch.add(&socket, false)?;
        watch.add(&timer, false)?;
        self.wire = Some(Wire {
            socket,
            udp,
            timer,
            received: vec![0; BUFFERS * BUFFER_LEN],
            datagrams: Vec::new(),
            unsent: None,
            watches_writable: false,
        });
        Ok(peer)
    }

    /// Takes the datagrams that have come.
    fn receive(&mut self) -> io::Result<()> {
        let Some(Wire { socket, udp, received, .. }) = &mut self.wire else { return Ok(()) };
        let mut left = READ_MAX;
        let mut answer = Vec::new();
        while left > 0 {
            let mut metas = [RecvMeta::default(); BUFFERS];
            let mut buffers = received.chunks_mut(BUFFER_LEN).map(IoSliceMut::new).collect::<Vec<_>>();
            let count = match udp.recv((&*socket).into(), &mut buffers, &mut metas) {
                Ok(count) => count,
                // Somebody says that nobody is there: whether that is so shows when nothing comes any more.
                Err(_) => return Ok(()),
            };
            for (buffer, meta) in buffers.iter().zip(&metas[..count]) {
                left = left.saturating_sub(meta.len.max(1));
                let ecn = meta.ecn.and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
                for datagram in buffer[..meta.len].chunks(meta.stride.max(1)) {
                    let (now, data) = (Instant::now(), BytesMut::from(datagram));
                    answer.clear();
                    match self.endpoint.handle(now, meta.addr, None, ecn, data, &mut answer) {
                        Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                            if let Some((_, connection)) = self.connection.as_mut().filter(|(own, _)| *own == handle) {
                                connection.handle_event(event);
                            }
                        }
                        Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                            answer.clear();
                            match self.endpoint.accept(incoming, now, &mut answer, None) {
                                Ok(accepted) => self.connection = Some(accepted),
                                Err(error) => {
                                    error
                                        .response
                                        .iter()
                                        .for_each(|transmit| send_once(socket, udp, transmit, &answer));
                                }
                            }
                        }
                        // Only a peer that has one already can ask for another.
                        Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
                        Some(DatagramEvent::Response(transmit)) => send_once(socket, udp, &transmit, &answer),
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Does all that can be done now, and has the kernel say when there is more.
    fn drive(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        loop {
            self.write();
            let (Some(wire), Some((handle, connection))) = (&mut self.wire, &mut self.connection) else {
                return Ok(());
            };
            let now = Instant::now();
            if connection.poll_timeout().is_some_and(|at| at <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            wire.transmit(connection, now);
            let Some(event) = connection.poll() else { break };
            self.hear(event, came);
        }
        self.look(watch)
    }

    fn hear(&mut self, event: Event, came: &mut VecDeque<Vec<u8>>) {
        match event {
            Event::Connected => self.connected(),
            Event::ConnectionLost { reason } => {
                if let State::Opening | State::Open = self.state {
                    let at = if self.state == State::Open { "" } else { "the handshake failed: " };
                    self.state = State::Broken(format!("{at}{reason}"));
                }
            }
            // Whoever is not who it should be may have sent something with the end of its handshake.
            Event::Stream(_) if self.state != State::Open => {}
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some((_, connection)) = &mut self.connection
                    && let Some(id) = connection.streams().accept(Dir::Uni)
                {
                    self.coming.insert(id, Vec::new());
                    self.read(id, came);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(id, came),
            // What waits is written after every event; nobody of ours opens other streams.
            Event::Stream(_) | Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {}
        }
    }

    /// The handshake is over. Whoever dials has checked the name of the other end.
    fn connected(&mut self) {
        let Some((_, connection)) = &self.connection else { return };
        let shown = connection.crypto_session().peer_identity();
        let chain = shown.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
        let is_peer = chain.as_deref().and_then(|chain| chain.first()).is_some_and(|own| is_of(own, self.config.peer));
        if is_peer {
            self.state = State::Open;
        } else {
            self.give_up("the handshake failed: the certificate is that of another station".into());
        }
    }

    fn give_up(&mut self, reason: String) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), REFUSED, Bytes::from(reason.clone()));
        }
        self.state = State::Broken(reason);
    }

    /// Puts what waits into streams, as far as there is room.
    fn write(&mut self) {
        let Some((_, connection)) = self.connection.as_mut().filter(|_| self.state == State::Open) else { return };
        while let Some(message) = self.waiting.front_mut() {
            let Some(id) = self.writing.or_else(|| connection.streams().open(Dir::Uni)) else { return };
            self.writing = Some(id);
            match connection.send_stream(id).write_chunks(std::slice::from_mut(message)) {
                Ok(written) => self.waiting_len -= written.bytes,
                Err(WriteError::Blocked) => return,
                Err(error) => return self.give_up(format!("its receiver takes no message: {error}")),
            }
            if message.is_empty() {
                // It has just been written to.
                let _ = connection.send_stream(id).finish();
                self.waiting.pop_front();
                self.writing = None;
            }
        }
    }

    /// Takes what has come of a message.
    fn read(&mut self, id: StreamId, came: &mut VecDeque<Vec<u8>>) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Some(message) = self.coming.get_mut(&id) else { return };
        let longest = self.config.message_len as usize;
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let end = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) if message.len() + chunk.bytes.len() > longest => break Err("a message is too long"),
                Ok(Some(chunk)) => message.extend_from_slice(&chunk.bytes),
                Ok(None) => break Ok(true),
                Err(ReadError::Blocked) => break Ok(false),
                Err(ReadError::Reset(_)) => break Err("a message was broken off"),
            }
        };
        // Whatever is to be sent for it is sent after every event.
        let _ = chunks.finalize();
        match end {
            Ok(true) => came.extend(self.coming.remove(&id)),
            Ok(false) => {}
            Err(reason) => self.give_up(format!("{reason}, on a stream of {longest} bytes")),
        }
    }

    fn look(&mut self, watch: Watch<'_>) -> io::Result<()> {
        let (Some(wire), Some((_, connection))) = (&mut self.wire, &mut self.connection) else { return Ok(()) };
        if connection.is_drained() {
            watch.remove(&wire.socket)?;
            watch.remove(&wire.timer)?;
            (self.wire, self.connection) = (None, None);
            return Ok(());
        }
        match connection.poll_timeout() {
            Some(at) => {
                // Zero would stop it.
                let left = at.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
                wire.timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
            }
            None => wire.timer.unset()?,
        }
        let wants = wire.unsent.is_some();
        if wants != wire.watches_writable {
            wire.watches_writable = wants;
            watch.change(&wire.socket, wants)?;
        }
        Ok(())
    }
}

impl Wire {
    /// Sends what a connection has to say, as far as the kernel takes it.
    fn transmit(&mut self, connection: &mut Connection, now: Instant) {
        loop {
            if self.unsent.is_none() {
                self.datagrams.clear();
                self.unsent = connection.poll_transmit(now, self.udp.max_gso_segments(), &mut self.datagrams);
            }
            let Some(transmit) = &self.unsent else { return };
            let sent = self.udp.send((&self.socket).into(), &of_socket(transmit, &self.datagrams));
            if sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                return;
            }
            self.unsent = None;
        }
    }
}

/// Sends what will be asked for again if it gets lost.
fn send_once(socket: &Socket, udp: &UdpSocketState, transmit: &Transmit, bytes: &[u8]) {
    let _ = udp.send(socket.into(), &of_socket(transmit, bytes));
}

fn of_socket<'b>(transmit: &Transmit, bytes: &'b [u8]) -> quinn_udp::Transmit<'b> {
    quinn_udp::Transmit {
        destination: transmit.destination,
        ecn: transmit.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
        contents: &bytes[..transmit.size],
        segment_size: transmit.segment_size,
        src_ip: None,
    }
}

/// How a connection for messages of a stream behaves.
fn transport(end: &ConnectionEnd, datagram_len: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(datagram_len);
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(MESSAGES_MAX))
        .datagram_receive_buffer_size(None)
        .stream_receive_window(VarInt::from_u32(end.message_len.saturating_add(1)))
        .send_window(WINDOW + 2 * u64::from(end.message_len))
        // What began first is there first.
        .send_fairness(false)
        .mtu_discovery_config(Some(discovery))
        .max_idle_timeout(IdleTimeout::try_from(SILENCE_MAX).ok())
        .keep_alive_interval(Some(SILENCE_MAX / 2));
    transport
}

impl Channel for QuicChannel {
    fn open(&mut self, watch: Watch<'_>) -> io::Result<()> {
        if !self.config.sends {
            self.prepare(watch)?;
        }
        Ok(())
    }

    fn dial(&mut self, watch: Watch<'_>) -> io::Result<()> {
        let peer = self.prepare(watch)?;
        let Some(client) = self.client.clone() else { return Ok(()) };
        let name = IpAddr::from(self.config.peer).to_string();
        let made = self.endpoint.connect(Instant::now(), client, peer, &name).map_err(io::Error::other)?;
        self.connection = Some(made);
        self.drive(watch, &mut VecDeque::new())
    }

    fn state(&self) -> ChannelState<'_> {
        match &self.state {
            State::Opening => ChannelState::Opening,
            State::Open => ChannelState::Open,
            State::Broken(reason) => ChannelState::Broken(reason),
        }
    }

    fn send(&mut self, message: &[u8], watch: Watch<'_>) -> io::Result<bool> {
        if matches!(self.state, State::Broken(_)) || self.waiting_len + message.len() > WAITING_MAX {
            return Ok(false);
        }
        self.waiting.push_back(Bytes::copy_from_slice(message));
        self.waiting_len += message.len();
        // A sender gets no messages.
        self.drive(watch, &mut VecDeque::new())?;
        Ok(true)
    }

    fn attend(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()> {
        self.receive()?;
        self.drive(watch, came)
    }
}
