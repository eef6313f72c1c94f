//! Stations that speak through sockets of the kernel: it cuts their messages into packets, puts them together again, and checks them.
//!
//! A node of such a port gives and gets each message as one frame, headers of Ethernet, IPv4 and UDP included, whatever its length. What
//! is sent is the data behind these headers; what comes gets headers again, with the addresses that the kernel says. So what the
//! emulator carries are other bytes than the node saw, and a message is known by its destination and the number at its front.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use chronoseal_core::StreamId;
use chronoseal_wire::ethernet::{HEADER_LEN, Header, MacAddress, TypeOrLength};
use chronoseal_wire::ipv4::{self, ETHERTYPE_IPV4, PROTOCOL_UDP, Packet};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::tcp::{self, PROTOCOL_TCP};
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;
use nix::sys::socket::sockopt::{Ipv4PacketInfo, RcvBufForce, ReceiveTimestampns, SndBufForce};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use crate::connection::channel::Channel;
use crate::connection::{self, ConnectionEnd, Connections};
use crate::log::hash_of;
use crate::parts::{self, PartSender, PartedStream};
use crate::sys::{Received, leave_checksum_out};

/// Longest message with its headers `[byte]`: what a datagram over IPv4 can be.
pub(crate) const MESSAGE_LEN_MAX: usize = HEADER_LEN + ipv4::TOTAL_LEN_MAX;

/// Headers in front of a message `[byte]`.
pub(crate) const HEADERS_LEN: usize = HEADER_LEN + ipv4::HEADER_LEN + udp::HEADER_LEN;

/// Asked for; the kernel may grant less without a privilege.
const BUFFER: usize = 8 << 20;
/// The same for one that holds a message in parts and what the kernel keeps beside each of them `[byte]`.
const BUFFER_MAX: usize = 64 << 20;

/// The send buffer of a station that its interface holds back, of which the kernel makes twice as much, as of any that is asked for: what Linux
/// gives a socket that asks for nothing `[byte]`.
const HELD_BUFFER: usize = 106_496;

/// A port whose node speaks UDP through the kernel.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct SocketLink {
    /// Of its interface.
    pub address: [u8; 4],
    /// The groups whose messages it gets.
    pub groups: Vec<[u8; 4]>,
    /// The port at both ends.
    pub port: u16,
    /// The longest packet, its header included `[byte]`.
    pub mtu: u32,
    /// The hardware address of its interface.
    pub hardware: [u8; 6],
    /// Addresses of the others on the segment, of IPv4 and of their interfaces.
    pub neighbours: Vec<([u8; 4], [u8; 6])>,
    /// The connections that end here.
    pub connections: Vec<ConnectionEnd>,
    /// The streams that leave here in several datagrams a message.
    pub parted: Vec<PartedStream>,
    /// The longest message that comes in several datagrams, or 0 `[byte]`.
    pub parted_len_max: u32,
    /// Datagrams leave without a checksum of UDP, so that the kernel at the other end hands over those that were altered on the way.
    pub leaves_checksum_out: bool,
    /// The rate at which its interface holds back whoever sends faster over it, as the kernel does with a slow device; `None`: it holds
    /// nobody back `[bit/s]`.
    pub held_to: Option<u64>,
}

/// A UDP socket on an interface, and the connections that end there.
pub(crate) struct SocketPort {
    socket: Socket,
    port: u16,
    /// Its interface holds it back: it waits for room as a program does whose socket blocks.
    is_held: bool,
    connections: Option<Connections>,
    parted: Vec<PartedStream>,
    parts: PartSender,
    control: Control,
}

impl SocketPort {
    /// A socket on the interface that has the address of `link`, and its connections over `channels`.
    pub(crate) fn open(link: &SocketLink, channels: Vec<Box<dyn Channel>>) -> io::Result<Self> {
        let own = Ipv4Addr::from(link.address);
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, link.port).into())?;
        socket.set_multicast_if_v4(&own)?;
        socket.set_multicast_loop_v4(false)?;
        for group in &link.groups {
            socket.join_multicast_v4(&Ipv4Addr::from(*group), &own)?;
        }
        prepare(&socket, link.parted_len_max)?;
        if link.leaves_checksum_out {
            leave_checksum_out(&socket)?;
        }
        let wait = match link.held_to {
            // What a program has unless it asks for more, so that a sender that is held back waits as one of those does.
            Some(_) => {
                let _ = socket.set_send_buffer_size(HELD_BUFFER);
                parts::HELD_WAIT
            }
            None => parts::SHORT_WAIT,
        };
        let connections = match &link.connections[..] {
            [] => None,
            ends => Some(Connections::open(ends, channels)?),
        };
        if let Some(connections) = &connections {
            connections.watch(&socket)?;
        }
        let (parted, parts) = (link.parted.clone(), PartSender::waiting(wait));
        let is_held = link.held_to.is_some();
        Ok(Self { socket, port: link.port, is_held, connections, parted, parts, control: Control::default() })
    }

    /// Its interface holds it back.
    pub(crate) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Its connections, if it has any.
    pub(crate) fn connections(&self) -> Option<&Connections> {
        self.connections.as_ref()
    }

    /// The same, to be changed.
    pub(crate) fn connections_mut(&mut self) -> Option<&mut Connections> {
        self.connections.as_mut()
    }

    /// The longest frame that its node gives or gets `[byte]`.
    pub(crate) fn frame_len_max(&self) -> usize {
        let parted = self.parted.iter().map(|stream| HEADER_LEN + stream.parts.message_len as usize).max();
        self.connections.as_ref().map_or(0, Connections::frame_len_max).max(MESSAGE_LEN_MAX).max(parted.unwrap_or(0))
    }

    /// The stream of a message that leaves in several datagrams.
    fn parted(&self, frame: &[u8]) -> Option<&PartedStream> {
        let message = frame.get(HEADER_LEN..).filter(|_| connection::is_message(frame))?;
        parts::stream_of(message, &self.parted)
    }

    /// True of a message that leaves in several datagrams.
    pub(crate) fn sends_in_parts(&self, frame: &[u8]) -> bool {
        self.parted(frame).is_some()
    }

    /// By what the message in a frame is known, as the emulator knows it by its first packet: one that its node gives or gets whole, or in
    /// parts. `None` if there is none.
    pub(crate) fn identity_of(&self, frame: &[u8]) -> Option<u64> {
        if let Some(stream) = self.parted(frame) {
            let header = TestBedHeader::parse(&frame[HEADER_LEN..]).ok()?;
            return Some(identity(stream.group, header.stream, header.sequence));
        }
        let packet = packet(frame)?;
        let header = PartHeader::parse(packet.data.get(udp::HEADER_LEN..)?).ok()?;
        let is_its = !header.is_whole() || packet.offset == 0 && tcp::stream_of(&packet).is_none();
        is_its.then(|| identity(packet.destination, header.stream, header.sequence))
    }

    /// Sends the message in a frame.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if let Some(PartedStream { group, parts, .. }) = self.parted(frame).copied() {
            let to = SocketAddrV4::new(Ipv4Addr::from(group), self.port);
            return self.parts.send(&self.socket, to, &frame[HEADER_LEN..], parts);
        }
        if let Some(connections) = self.connections.as_mut().filter(|_| connection::is_message(frame)) {
            return connections.send(frame);
        }
        let (packet, data) = message(frame).ok_or(io::ErrorKind::InvalidInput)?;
        let to = SocketAddrV4::new(Ipv4Addr::from(packet.destination), self.port);
        let sent = match self.socket.send_to(data, &to.into()) {
            Err(error) if self.is_held && error.kind() == io::ErrorKind::WouldBlock => {
                parts::await_room(&self.socket, parts::HELD_WAIT)?;
                self.socket.send_to(data, &to.into())?
            }
            sent => sent?,
        };
        if sent == data.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// The next message as a frame, or `None` if there is none yet. Only datagrams come with the kernel's receive time.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        if let Some(connections) = &mut self.connections {
            let is_other = connections.turn()?;
            if let Some(len) = connections.receive(buffer) {
                return Ok(Some(Received { len, realtime_ns: None }));
            }
            if !is_other {
                return Ok(None);
            }
        }
        let Some(Datagram { source, destination, len, realtime_ns }) =
            receive_datagram(&self.socket, buffer, &mut self.control)?
        else {
            return Ok(None);
        };
        write_headers(buffer, source, destination, len);
        Ok(Some(Received { len: HEADERS_LEN + len, realtime_ns }))
    }
}

/// Gives a socket room, also for messages of so many bytes in parts, and has the kernel say when and where each datagram came in.
pub(crate) fn prepare(socket: &Socket, parted_len: u32) -> io::Result<()> {
    let room = (3 * parted_len as usize).clamp(BUFFER, BUFFER_MAX);
    // The kernel grants more than its limit to root of a network namespace only; what finds no room is lost, and missed.
    if setsockopt(socket, RcvBufForce, &room).is_err() {
        let _ = socket.set_recv_buffer_size(room);
    }
    if setsockopt(socket, SndBufForce, &BUFFER).is_err() {
        let _ = socket.set_send_buffer_size(BUFFER);
    }
    setsockopt(socket, ReceiveTimestampns, &true)?;
    setsockopt(socket, Ipv4PacketInfo, &true)?;
    Ok(())
}

/// Room for what the kernel says beside a datagram.
pub(crate) struct Control(Vec<u8>);

impl Default for Control {
    fn default() -> Self {
        Self(nix::cmsg_space!(libc::in_pktinfo, libc::timespec))
    }
}

/// What the kernel says of a datagram.
pub(crate) struct Datagram {
    pub(crate) source: ipv4::Address,
    pub(crate) destination: ipv4::Address,
    /// Of its data `[byte]`.
    pub(crate) len: usize,
    pub(crate) realtime_ns: Option<i64>,
}

/// The next datagram, its data behind room for headers; `None` if there is none yet.
pub(crate) fn receive_datagram(
    socket: &Socket,
    buffer: &mut [u8],
    Control(control): &mut Control,
) -> io::Result<Option<Datagram>> {
    let Some(room) = buffer.get_mut(HEADERS_LEN..) else { return Ok(None) };
    let mut parts = [IoSliceMut::new(room)];
    let heard = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(control), MsgFlags::MSG_DONTWAIT);
    let heard = match heard {
        Ok(heard) => heard,
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (mut destination, mut realtime_ns) = ([0; 4], None);
    for message in heard.cmsgs()? {
        match message {
            ControlMessageOwned::Ipv4PacketInfo(info) => destination = info.ipi_addr.s_addr.to_ne_bytes(),
            ControlMessageOwned::ScmTimestampns(stamp) => {
                realtime_ns = Some(stamp.tv_sec() * 1_000_000_000 + stamp.tv_nsec());
            }
            _ => {}
        }
    }
    let source = heard.address.map_or([0; 4], |address| address.ip().octets());
    Ok(Some(Datagram { source, destination, len: heard.bytes, realtime_ns }))
}

impl AsFd for SocketPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connections.as_ref().map_or_else(|| self.socket.as_fd(), AsFd::as_fd)
    }
}

/// Puts headers in front of a message of which `data_len` bytes stand behind them. There is no checksum: the kernel has checked it.
pub(crate) fn write_headers(buffer: &mut [u8], source: ipv4::Address, destination: ipv4::Address, data_len: usize) {
    let end = HEADERS_LEN + data_len;
    let header = Header {
        destination: MacAddress([0; 6]),
        source: MacAddress([0; 6]),
        type_or_length: TypeOrLength::EtherType(ETHERTYPE_IPV4),
    };
    header.emit(buffer);
    udp::emit(&mut buffer[HEADER_LEN + ipv4::HEADER_LEN..end]);
    let packet = ipv4::Header { source, destination, identification: 0, protocol: PROTOCOL_UDP };
    packet.emit((0, udp::HEADER_LEN + data_len), false, &mut buffer[HEADER_LEN..]);
}

/// The packet in a frame and the data of the message in it, if it is a whole one.
pub(crate) fn message(frame: &[u8]) -> Option<(Packet<'_>, &[u8])> {
    let packet = packet(frame).filter(Packet::is_whole)?;
    Some((packet, packet.data.get(udp::HEADER_LEN..)?))
}

fn packet(frame: &[u8]) -> Option<Packet<'_>> {
    Packet::in_frame(frame).and_then(Result::ok).filter(|packet| packet.protocol == PROTOCOL_UDP)
}

/// What of a message a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// The whole or its beginning, which says which message it is.
    First {
        /// Which.
        identity: u64,
        /// Nothing follows.
        is_whole: bool,
    },
    /// More of one.
    Rest,
    /// No message of the test bed.
    Other,
}

/// What of a message a frame is, as a node or the kernel wrote it.
pub(crate) fn piece(frame: &[u8]) -> Piece {
    let Some(packet) = Packet::in_frame(frame).and_then(Result::ok) else { return Piece::Other };
    match packet.protocol {
        // Messages on a connection have no packets of their own: both ends write down what they sent and got.
        PROTOCOL_TCP => return Piece::Rest,
        PROTOCOL_UDP if tcp::stream_of(&packet).is_some() => return Piece::Rest,
        PROTOCOL_UDP => {}
        _ => return Piece::Other,
    }
    if packet.offset > 0 {
        return Piece::Rest;
    }
    let header = packet.data.get(udp::HEADER_LEN..).and_then(|data| PartHeader::parse(data).ok());
    header.map_or(Piece::Other, |PartHeader { stream, part, more, sequence }| match part {
        0 => Piece::First {
            identity: identity(packet.destination, stream, sequence),
            is_whole: packet.is_whole() && !more,
        },
        _ => Piece::Rest,
    })
}

/// Which datagram of a kernel a packet is a part of: to whom, and its identification.
pub(crate) type Cut = (ipv4::Address, u16);

/// The datagram that a packet is a part of, if it is not the whole of one.
pub(crate) fn cut_of(frame: &[u8]) -> Option<Cut> {
    let packet = packet(frame).filter(|packet| !packet.is_whole())?;
    Some((packet.destination, packet.identification))
}

/// By what a message is known to all who see a piece of it.
fn identity(group: ipv4::Address, stream: StreamId, sequence: u32) -> u64 {
    let mut identity = [0; 4 + TestBedHeader::LEN];
    identity[..4].copy_from_slice(&group);
    TestBedHeader { stream, sequence }.emit(&mut identity[4..]);
    hash_of(&identity)
}

/// True for what the kernel sends by itself where it is in a group (IGMP, RFC 3376): nobody on a link is meant by it.
pub(crate) fn is_membership(frame: &[u8]) -> bool {
    const PROTOCOL_AT: usize = HEADER_LEN + 9;
    const IGMP: u8 = 2;
    frame.get(12..14) == Some(&ETHERTYPE_IPV4.to_be_bytes()) && frame.get(PROTOCOL_AT) == Some(&IGMP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_by_its_group_and_number_whoever_wrote_its_headers() {
        let mut written = vec![0; HEADERS_LEN + 3000];
        TestBedHeader { stream: StreamId(1), sequence: 7 }.emit(&mut written[HEADERS_LEN..]);
        write_headers(&mut written, [10, 0, 0, 1], [239, 192, 0, 1], 3000);
        let Piece::First { identity, is_whole: true } = piece(&written) else { panic!("it is one") };
        // The kernel's first packet of it: another identification, a checksum, and less data.
        let mut first = written[..HEADER_LEN + 1500].to_vec();
        let header = ipv4::Header {
            source: [10, 0, 0, 1],
            destination: [239, 192, 0, 1],
            identification: 99,
            protocol: PROTOCOL_UDP,
        };
        header.emit((0, 1480), true, &mut first[HEADER_LEN..]);
        assert_eq!(piece(&first), Piece::First { identity, is_whole: false });
        header.emit((1480, 1480), true, &mut first[HEADER_LEN..]);
        assert_eq!(piece(&first), Piece::Rest);
        assert_eq!(piece(&[0; 60]), Piece::Other);
        // Of a message in several datagrams the first stands for it, and the others are the rest.
        let mut part = |part, more| {
            PartHeader { stream: StreamId(1), part, more, sequence: 7 }.emit(&mut written[HEADERS_LEN..]);
            piece(&written)
        };
        assert_eq!(part(0, true), Piece::First { identity, is_whole: false });
        assert_eq!([part(1, true), part(2, false)], [Piece::Rest, Piece::Rest]);
        part(0, false);
        let (packet, data) = message(&written).expect("a message");
        assert_eq!((packet.destination, data.len()), ([239, 192, 0, 1], 3000));
        assert!(!is_membership(&written));
    }
}
