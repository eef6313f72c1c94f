//! The bus's end of python-can's `udp_multicast` interface: IPv4 over loopback only. What a Linux sends to an IPv6
//! group by way of its loopback interface it does not hear.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::CanFrame;
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use socket2::{Domain, Protocol, Socket, Type};

use super::datagram::{self, DATAGRAM_LEN_MAX};

/// Datagrams the kernel keeps while the bus is busy `[byte]`.
const BUFFER_LEN: usize = 1 << 20;

/// A multicast group and a port: where one client of python-can is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MulticastGroup {
    /// python-can calls it the channel.
    pub group: Ipv4Addr,
    /// Clients of one port hear each other without the bus, so each has its own.
    pub port: u16,
}

impl MulticastGroup {
    /// python-can's IPv4 group. Its default is another one, for IPv6.
    pub const GROUP: Ipv4Addr = Ipv4Addr::new(239, 74, 163, 2);
    /// python-can's port.
    pub const PORT: u16 = 43113;

    /// Where client `index` is by default: python-can's IPv4 group, its port for the first and one more for each other.
    pub const fn of_client(index: u16) -> Self {
        Self { group: Self::GROUP, port: Self::PORT.saturating_add(index) }
    }
}

impl std::fmt::Display for MulticastGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        SocketAddrV4::new(self.group, self.port).fmt(f)
    }
}

/// The sockets of one client.
pub(crate) struct Multicast {
    receiver: UdpSocket,
    sender: UdpSocket,
    to: SocketAddr,
    /// What comes from here is the bus's own.
    own_port: u16,
}

/// What a client's datagram holds.
pub(crate) enum Datagram {
    /// A frame; its length in the layout of [`chronoseal_wire::can::layout`].
    Frame(usize),
    /// The bus's own, back from the loopback.
    Own,
    /// No frame.
    Bad(DiscardReason),
}

impl Multicast {
    /// Joins the group on the loopback interface.
    pub(crate) fn join(at: &MulticastGroup) -> io::Result<Self> {
        let to = SocketAddrV4::new(at.group, at.port);
        if !at.group.is_multicast() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is no multicast group", at.group)));
        }
        let receiver = socket()?;
        receiver.set_reuse_address(true)?;
        receiver.set_reuse_port(true)?;
        // More than the default if the kernel grants it; what does not fit is lost, as on any UDP socket.
        let _ = receiver.set_recv_buffer_size(BUFFER_LEN);
        // Bound to the group, not to any address: nothing but this group's datagrams comes in.
        receiver.bind(&to.into())?;
        // Of this socket's own memberships only, not of whatever else the host has joined elsewhere.
        receiver.set_multicast_all_v4(false)?;
        receiver.join_multicast_v4(&at.group, &Ipv4Addr::LOCALHOST)?;
        let sender = socket()?;
        sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
        // It may not leave this host even if somebody routes loopback elsewhere.
        sender.set_multicast_ttl_v4(0)?;
        sender.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into())?;
        let (receiver, sender) = (UdpSocket::from(receiver), UdpSocket::from(sender));
        let own_port = sender.local_addr()?.port();
        Ok(Self { receiver, sender, to: to.into(), own_port })
    }

    /// The next datagram, or `None` if there is none yet. A frame is written to the front of `buffer`.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
        let mut bytes = [0; DATAGRAM_LEN_MAX];
        let (len, from) = match self.receiver.recv_from(&mut bytes) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if from.port() == self.own_port {
            return Ok(Some(Datagram::Own));
        }
        Ok(Some(match datagram::decode(&bytes[..len]) {
            Ok(frame) => Datagram::Frame(frame.emit(buffer)),
            Err(error) => Datagram::Bad(error.into()),
        }))
    }

    /// Tells the client of a frame that was on the bus. False if the kernel did not take it.
    pub(crate) fn send(&self, frame: &[u8], is_own: bool) -> bool {
        let Ok(frame) = CanFrame::parse(frame) else { return false };
        let mut bytes = [0; DATAGRAM_LEN_MAX];
        let len = datagram::encode(&frame, realtime_s(), is_own, &mut bytes);
        self.sender.send_to(&bytes[..len], self.to).is_ok_and(|sent| sent == len)
    }
}

fn socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The wall clock, as python-can's own datagrams have it `[s]`.
fn realtime_s() -> f64 {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    now.num_nanoseconds() as f64 / 1e9
}

impl AsFd for Multicast {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}
