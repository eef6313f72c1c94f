//! The sending end: greets its receivers until they answer, and seals what it sends to each of them.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;

use chronoseal_contract::{Body, Publisher, Stream, now_ns};
use chronoseal_frameauth::{Moment, Sealer};
use chronoseal_wire::part_header::PARTS_MAX;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, getsockopt, sendmsg, setsockopt, sockopt};

use crate::datagram::{DATAGRAM_MAX, FRONT_LEN, Front, TRAILER_LEN};
use crate::session::{Drawn, Hello, Secrets, draw};
use crate::{BUFFER, PORT};

/// Most datagrams that every kernel with `UDP_SEGMENT` takes in one call.
const AT_ONCE_MAX: usize = 64;
const GREET_EVERY_NS: i64 = 20_000_000;
/// Headers of IPv4 and UDP `[byte]`.
const HEADERS_LEN: usize = 28;

/// A stream that is sent.
pub(crate) struct Sender {
    stream: Stream,
    secrets: Secrets,
    peers: Vec<Peer>,
    greeted_ns: i64,
}

/// A receiver of it.
struct Peer {
    socket: UdpSocket,
    address: Ipv4Addr,
    drawn: Drawn,
    /// Data in each datagram but the last of a message `[byte]`.
    data_len: u16,
    sealer: Option<Sealer>,
    /// The kernel cuts what it is given, or has not been asked to.
    cuts: bool,
}

impl Sender {
    pub(crate) fn open(own: Ipv4Addr, stream: &Stream, secrets: &Secrets) -> io::Result<Self> {
        let peer = |address: &Ipv4Addr| Peer::open(own, SocketAddrV4::new(*address, PORT + stream.number));
        let peers: Vec<Peer> = stream.peers.iter().map(peer).collect::<io::Result<_>>()?;
        let longest = peers.iter().map(|peer| usize::from(peer.data_len) * PARTS_MAX).min().unwrap_or(usize::MAX);
        if stream.length_max as usize > longest {
            let why = format!("a message of {} B needs more than {PARTS_MAX} datagrams", stream.length_max);
            chronoseal_contract::fail(chronoseal_contract::Exit::OverLimit, &stream.name, why);
        }
        Ok(Self { stream: stream.clone(), secrets: secrets.clone(), peers, greeted_ns: i64::MIN })
    }
}

impl Publisher for Sender {
    fn matched(&mut self) -> usize {
        let now_ns = now_ns();
        let is_time = now_ns.saturating_sub(self.greeted_ns) >= GREET_EVERY_NS;
        if is_time {
            self.greeted_ns = now_ns;
        }
        let (secrets, number) = (&self.secrets, self.stream.number);
        self.peers.iter_mut().for_each(|peer| peer.meet(secrets, number, is_time));
        self.peers.iter().filter(|peer| peer.sealer.is_some()).count()
    }

    fn send(&mut self, number: u64, body: Body) {
        for peer in &mut self.peers {
            if let Err(error) = peer.send(self.stream.number, number, body) {
                self.stream.say(format_args!("message {number} to {}: {error}", peer.address));
            }
        }
    }
}

impl Peer {
    fn open(own: Ipv4Addr, to: SocketAddrV4) -> io::Result<Self> {
        let socket = UdpSocket::bind(SocketAddrV4::new(own, 0))?;
        setsockopt(&socket, sockopt::SndBuf, &BUFFER)?;
        socket.connect(to)?;
        let mtu = usize::try_from(getsockopt(&socket, sockopt::IpMtu)?).unwrap_or_default();
        let datagram_len = mtu.saturating_sub(HEADERS_LEN).min(DATAGRAM_MAX);
        let data_len = datagram_len.saturating_sub(FRONT_LEN + TRAILER_LEN).max(1) as u16;
        Ok(Self { socket, address: *to.ip(), drawn: draw()?, data_len, sealer: None, cuts: true })
    }

    /// Greets if it is time, and looks for an answer.
    fn meet(&mut self, secrets: &Secrets, stream: u16, is_time: bool) {
        if self.sealer.is_some() {
            return;
        }
        if is_time {
            let hello =
                Hello { is_answer: false, stream, data_len: self.data_len, publisher: self.drawn, receiver: [0; 16] };
            // Who is not there yet refuses; the next greeting may find it.
            let _ = self.socket.send(&secrets.write(&hello));
        }
        let mut bytes = [0; 256];
        while let Ok(len) = nix::sys::socket::recv(self.socket.as_raw_fd(), &mut bytes, MsgFlags::MSG_DONTWAIT) {
            let answer = secrets.read_hello(&bytes[..len]).filter(|hello| {
                hello.is_answer
                    && (hello.stream, hello.data_len, hello.publisher) == (stream, self.data_len, self.drawn)
            });
            self.sealer = answer.and_then(|answer| secrets.sealer(&answer));
            if self.sealer.is_some() {
                return;
            }
        }
    }

    fn send(&mut self, stream: u16, number: u64, body: Body) -> io::Result<()> {
        let Some(sealer) = &mut self.sealer else { return Ok(()) };
        let data_len = usize::from(self.data_len);
        let datagram_len = FRONT_LEN + data_len + TRAILER_LEN;
        let at_once = (DATAGRAM_MAX / datagram_len).clamp(1, AT_ONCE_MAX);
        let parts = body.bytes.len().div_ceil(data_len).max(1);
        let mut around = [([0; FRONT_LEN], [0; TRAILER_LEN]); AT_ONCE_MAX];
        for first in (0..parts).step_by(at_once) {
            let count = at_once.min(parts - first);
            let data = |part: usize| &body.bytes[part * data_len..body.bytes.len().min((part + 1) * data_len)];
            for (at, (front, trailer)) in around[..count].iter_mut().enumerate() {
                let part = first + at;
                let more = part + 1 < parts;
                *front = Front { stream, part: part as u16, more, number, checksum: body.checksum }.bytes();
                sealer.seal_next_apart([front, data(part)], trailer, Moment::Unknown).map_err(io::Error::other)?;
            }
            let pieces: Vec<IoSlice<'_>> = around[..count]
                .iter()
                .enumerate()
                .flat_map(|(at, (front, trailer))| [&front[..], data(first + at), trailer])
                .map(IoSlice::new)
                .collect();
            send_datagrams(&self.socket, &pieces, datagram_len as u16, &mut self.cuts)?;
        }
        Ok(())
    }
}

/// Sends datagrams of three pieces each, all of one length but the last.
fn send_datagrams(socket: &UdpSocket, pieces: &[IoSlice<'_>], len: u16, cuts: &mut bool) -> io::Result<()> {
    let send = |pieces: &[IoSlice<'_>], control: &[ControlMessage<'_>]| loop {
        match sendmsg::<()>(socket.as_raw_fd(), pieces, control, MsgFlags::empty(), None) {
            // The first says that an earlier datagram found nobody.
            Err(Errno::ECONNREFUSED | Errno::EINTR) => {}
            sent => return sent,
        }
    };
    if *cuts && pieces.len() > 3 {
        match send(pieces, &[ControlMessage::UdpGsoSegments(&len)]) {
            // No such option, or an interface that cannot do without checksums of ours.
            Err(Errno::EIO | Errno::EINVAL | Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) => *cuts = false,
            sent => return Ok(sent.map(drop)?),
        }
    }
    pieces.chunks(3).try_for_each(|datagram| Ok(send(datagram, &[]).map(drop)?))
}
