//! The bus's end of python-can's `udp_multicast` interface: loopback only.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::CanFrame;
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use socket2::{Domain, Protocol, Socket, Type};

use super::datagram::{self, DATAGRAM_LEN_MAX};

/// Datagrams the kernel keeps while the bus is busy [byte].
const BUFFER_LEN: usize = 1 << 20;

/// A multicast group and a port: where one client of python-can is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MulticastGroup {
    /// python-can calls it the channel.
    pub group: IpAddr,
    /// Clients of one port hear each other without the bus, so each has its own.
    pub port: u16,
}

impl MulticastGroup {
    /// python-can's IPv4 group.
    pub const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 74, 163, 2));
    /// python-can's IPv6 group, its default.
    pub const GROUP_V6: IpAddr =
        IpAddr::V6(Ipv6Addr::new(0xff15, 0x7079, 0x7468, 0x6f6e, 0x6465, 0x6d6f, 0x6d63, 0x6173));
    /// python-can's port.
    pub const PORT: u16 = 43113;

    /// Where client `index` is by default: python-can's IPv4 group, its port for the first and one more for each other.
    pub const fn of_client(index: u16) -> Self {
        Self { group: Self::GROUP, port: Self::PORT.saturating_add(index) }
    }
}

impl std::fmt::Display for MulticastGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        SocketAddr::new(self.group, self.port).fmt(f)
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
        let receiver = socket(at)?;
        let sender = socket(at)?;
        receiver.set_reuse_address(true)?;
        receiver.set_reuse_port(true)?;
        // More than the default if the kernel grants it; what does not fit is lost, as on any UDP socket.
        let _ = receiver.set_recv_buffer_size(BUFFER_LEN);
        // Bound to the group, not to any address: nothing but this group's datagrams comes in.
        receiver.bind(&SocketAddr::new(at.group, at.port).into())?;
        match at.group {
            IpAddr::V4(group) => {
                receiver.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
                sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
                sender.set_multicast_ttl_v4(0)?;
                sender.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
            }
            IpAddr::V6(group) => {
                let loopback = nix::net::if_::if_nametoindex("lo")?;
                receiver.join_multicast_v6(&group, loopback)?;
                sender.set_multicast_if_v6(loopback)?;
                sender.set_multicast_hops_v6(0)?;
                sender.bind(&SocketAddr::from((Ipv6Addr::LOCALHOST, 0)).into())?;
            }
        }
        let (receiver, sender) = (UdpSocket::from(receiver), UdpSocket::from(sender));
        let own_port = sender.local_addr()?.port();
        Ok(Self { receiver, sender, to: SocketAddr::new(at.group, at.port), own_port })
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

fn socket(at: &MulticastGroup) -> io::Result<Socket> {
    if !at.group.is_multicast() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is no multicast group", at.group)));
    }
    let domain = if at.group.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The wall clock, as python-can's own datagrams have it [s].
fn realtime_s() -> f64 {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    now.num_nanoseconds() as f64 / 1e9
}

impl AsFd for Multicast {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}
