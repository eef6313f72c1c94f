//! Stations whose messages the host's own network carries: UDP and TCP between addresses that are there already. Nothing is made, and
//! nothing between the stations is emulated.
//!
//! A node sees what it sees on a lossy link ([`crate::socket`]): it sends to the group of a stream and gets a message from the
//! address of the sending station. Here the group stands for the hosts of the receivers, and the station for its host.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::test_bed_header::TestBedHeader;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use crate::connection::channel::Channel;
use crate::connection::{self, ConnectionEnd, Connections};
use crate::parts::{PartSender, Parts};
use crate::socket::{self, Control, Datagram, HEADERS_LEN, MESSAGE_LEN_MAX};
use crate::sys::Received;

/// Datagrams of nobody that are passed over before timers and others get their turn.
const STRANGERS_PER_TURN: usize = 32;

/// A port whose node speaks through the host's own network.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct HostLink {
    /// The address of this host that its sockets are bound to.
    pub address: [u8; 4],
    /// The port of UDP at both ends.
    pub port: u16,
    /// The streams that it sends or gets in datagrams.
    pub datagrams: Vec<DatagramEnd>,
    /// The connections that end here; their peers are addresses of hosts.
    pub connections: Vec<ConnectionEnd>,
}

/// One end of a stream that travels in datagrams.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct DatagramEnd {
    /// Which stream.
    pub stream: u16,
    /// This end sends.
    pub sends: bool,
    /// The group that nodes send it to.
    pub group: [u8; 4],
    /// The address of the station that sends it, as nodes know it.
    pub station: [u8; 4],
    /// The hosts at the other end: all receivers, or the one sender.
    pub peers: Vec<[u8; 4]>,
    /// If its messages travel in several datagrams: how they are cut.
    pub parts: Option<Parts>,
}

/// Sockets on an address of the host.
pub(crate) struct HostPort {
    socket: Socket,
    link: HostLink,
    connections: Option<Connections>,
    parts: PartSender,
    control: Control,
    strangers: u64,
}

impl HostPort {
    /// Opens the sockets, connections over `channels`; nothing is sent yet.
    pub(crate) fn open(link: &HostLink, channels: Vec<Box<dyn Channel>>) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddrV4::new(Ipv4Addr::from(link.address), link.port).into())?;
        let parted = link.datagrams.iter().filter_map(|end| end.parts).map(|parts| parts.message_len);
        socket::prepare(&socket, parted.max().unwrap_or(0))?;
        let connections = match &link.connections[..] {
            [] => None,
            ends => Some(Connections::open(ends, channels)?),
        };
        if let Some(connections) = &connections {
            connections.watch(&socket)?;
        }
        let (parts, control) = (PartSender::default(), Control::default());
        Ok(Self { socket, link: link.clone(), connections, parts, control, strangers: 0 })
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
        let parted = self.link.datagrams.iter().filter_map(|end| end.parts);
        let parted = parted.map(|parts| HEADER_LEN + parts.message_len as usize).max();
        self.connections.as_ref().map_or(0, Connections::frame_len_max).max(MESSAGE_LEN_MAX).max(parted.unwrap_or(0))
    }

    /// The end of a stream whose messages leave in several datagrams, and how they are cut.
    fn parted(&self, frame: &[u8]) -> Option<(&DatagramEnd, Parts)> {
        let message = frame.get(HEADER_LEN..).filter(|_| connection::is_message(frame))?;
        let stream = TestBedHeader::parse(message).ok()?.stream.0;
        let end = self.link.datagrams.iter().find(|end| end.sends && end.stream == stream)?;
        Some((end, end.parts?))
    }

    /// Datagrams that came and belong to no stream of this run, or came from a host that does not send it.
    pub(crate) fn strangers(&self) -> u64 {
        self.strangers
    }

    /// Sends the message in a frame to the hosts of all its receivers.
    ///
    /// # Errors
    /// If the kernel takes none of them.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let port = self.link.port;
        let to_all = |peers: &[[u8; 4]], send: &mut dyn FnMut(SocketAddrV4) -> io::Result<()>| {
            let mut sent = Err(io::ErrorKind::NotConnected.into());
            for peer in peers {
                let one = send(SocketAddrV4::new(Ipv4Addr::from(*peer), port));
                sent = if sent.is_ok() { sent } else { one };
            }
            sent
        };
        if let Some((end, parts)) = self.parted(frame) {
            let peers = end.peers.clone();
            let (sender, socket) = (&mut self.parts, &self.socket);
            return to_all(&peers, &mut |to| sender.send(socket, to, &frame[HEADER_LEN..], parts));
        }
        if let Some(connections) = self.connections.as_mut().filter(|_| connection::is_message(frame)) {
            return connections.send(frame);
        }
        let (packet, data) = socket::message(frame).ok_or(io::ErrorKind::InvalidInput)?;
        let is_its = |end: &&DatagramEnd| end.sends && end.group == packet.destination;
        let end = self.link.datagrams.iter().find(is_its).ok_or(io::ErrorKind::InvalidInput)?;
        to_all(&end.peers, &mut |to| self.socket.send_to(data, &to.into()).map(|_| ()))
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
        for _ in 0..STRANGERS_PER_TURN {
            let Some(Datagram { source, len, realtime_ns, .. }) =
                socket::receive_datagram(&self.socket, buffer, &mut self.control)?
            else {
                return Ok(None);
            };
            let Some(end) = self.end_of(source, &buffer[HEADERS_LEN..][..len]) else {
                self.strangers += 1;
                continue;
            };
            socket::write_headers(buffer, end.station, end.group, len);
            return Ok(Some(Received { len: HEADERS_LEN + len, realtime_ns }));
        }
        Ok(None)
    }

    /// The stream that a datagram is of, if its sender's host sent it.
    fn end_of(&self, source: [u8; 4], data: &[u8]) -> Option<&DatagramEnd> {
        let stream = PartHeader::parse(data).ok()?.stream.0;
        let ends = self.link.datagrams.iter();
        ends.filter(|end| !end.sends && end.stream == stream).find(|end| end.peers.contains(&source))
    }
}

impl AsFd for HostPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connections.as_ref().map_or_else(|| self.socket.as_fd(), AsFd::as_fd)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::StreamId;
    use chronoseal_wire::ipv4::Packet;

    use super::*;
    use crate::clock::{RunClock, monotonic_ns};

    const PORT: u16 = 49_991;
    const GROUP: [u8; 4] = [239, 192, 0, 3];
    const STATION: [u8; 4] = [10, 0, 0, 1];

    fn port(own: u8, other: u8, sends: bool) -> HostPort {
        let peers = vec![[127, 0, 0, other]];
        let datagrams = vec![DatagramEnd { stream: 3, sends, group: GROUP, station: STATION, peers, parts: None }];
        let link = HostLink { address: [127, 0, 0, own], port: PORT, datagrams, connections: Vec::new() };
        HostPort::open(&link, Vec::new()).expect("the loopback interface has every such address")
    }

    fn frame(stream: u16, sequence: u32) -> Vec<u8> {
        let mut frame = vec![0; HEADERS_LEN + 100];
        TestBedHeader { stream: StreamId(stream), sequence }.emit(&mut frame[HEADERS_LEN..]);
        socket::write_headers(&mut frame, STATION, GROUP, 100);
        frame
    }

    /// What comes within a second.
    fn next(port: &mut HostPort, buffer: &mut [u8]) -> Option<Received> {
        let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
        while clock.now().since_zero() < chronoseal_core::Duration::from_s(1) {
            if let Some(received) = port.receive(buffer).expect("it can be read") {
                return Some(received);
            }
        }
        None
    }

    #[test]
    fn a_message_comes_with_the_addresses_that_nodes_know() {
        let (mut sender, mut receiver, mut stranger) = (port(41, 42, true), port(42, 41, false), port(43, 42, true));
        stranger.send(&frame(3, 9)).expect("it is sent");
        sender.send(&frame(3, 7)).expect("it is sent");
        let mut buffer = vec![0; receiver.frame_len_max()];
        let received = next(&mut receiver, &mut buffer).expect("it comes");
        assert_eq!(received.len, HEADERS_LEN + 100);
        let packet = Packet::in_frame(&buffer[..received.len]).expect("IPv4").expect("whole");
        assert_eq!((packet.source, packet.destination), (STATION, GROUP));
        assert_eq!(TestBedHeader::parse(&buffer[HEADERS_LEN..]).map(|header| header.sequence), Ok(7));
        assert_eq!(receiver.strangers(), 1, "the other came from a host that does not send this stream");
        let unknown = &mut frame(3, 0);
        unknown[HEADER_LEN + 16..HEADER_LEN + 20].copy_from_slice(&[239, 192, 0, 4]);
        assert!(sender.send(unknown).is_err(), "a stream that it does not send");
    }
}
