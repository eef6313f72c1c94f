//! Namespace, interfaces, scheduling: everything before the first frame.

use std::io;
use std::mem::take;
use std::os::fd::OwnedFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};

use super::Failure;
use super::port::Port;
use crate::can::interface::CanInterface;
use crate::config::{ExistingInterface, PortLink};
use crate::connection;
use crate::connection::channel::{Channel, Transports};
use crate::host_link::HostPort;
use crate::message::{AgentFacts, PortSetup, Setup, Step, Wires};
use crate::socket::{SocketLink, SocketPort};
use crate::sys::{self, PacketSocket};

/// What a socket pair holds of frames nobody has read yet `[byte]`: hundreds, the kernel's own records included.
const PAIR_BUFFER_LEN: usize = 1 << 20;

/// The ports of all nodes in order, the emulator's ends of those that are wires, and what the host granted.
pub(super) fn make(
    setup: &Setup,
    transports: &dyn Transports,
) -> Result<(Vec<Port>, Vec<OwnedFd>, AgentFacts), Failure> {
    let ports: Vec<(String, &PortSetup)> = (setup.members.iter())
        .flat_map(|member| {
            let name = |number: usize| format!("cs{}p{number}", member.node);
            member.ports.iter().enumerate().map(move |(number, port)| (name(number), port))
        })
        .collect();
    let mut channels = ports.iter().map(|(_, port)| channels(port, transports)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<(String, &PortLink)> = ports.into_iter().map(|(name, port)| (name, &port.link)).collect();
    let mut opened: Vec<Option<(Port, Option<OwnedFd>)>> = all.iter().map(|_| None).collect();
    // A socket stays in the network namespace it was made in: first what is in the controller's, then what is in others,
    // and last what is in one of this process's own.
    for ((opened, (_, link)), channels) in opened.iter_mut().zip(&all).zip(&mut channels) {
        match link {
            PortLink::Pair => {
                let (ours, theirs) = pair().map_err(Failure::at(Step::Run))?;
                *opened = Some((Port::Local(ours), Some(theirs)));
            }
            PortLink::CanInterface(name) => {
                let refused = Failure::at(Step::CanInterface(name.clone()));
                *opened = Some((Port::Can(CanInterface::open(name, true).map_err(refused)?), None));
            }
            PortLink::Host(link) => {
                let refused = Failure::at(Step::Address(link.address));
                *opened = Some((Port::Host(HostPort::open(link, take(channels)).map_err(refused)?), None));
            }
            PortLink::Existing(_) | PortLink::Tap | PortLink::Socket(_) => {}
        }
    }
    for (opened, (_, link)) in opened.iter_mut().zip(&all) {
        if let PortLink::Existing(ExistingInterface { namespace, interface }) = link {
            sys::enter_named_network(namespace).map_err(Failure::at(Step::Namespace))?;
            let socket = PacketSocket::open(interface).map_err(Failure::at(Step::Interface))?;
            *opened = Some((Port::Packet(socket), None));
        }
    }
    let mut user_namespace = false;
    let wires = if setup.no_tun || !sys::can_create_taps() { Wires::Veth } else { Wires::Tap };
    if all.iter().any(|(_, link)| matches!(link, PortLink::Tap | PortLink::Socket(_))) {
        let namespace = sys::enter_own_network().map_err(Failure::at(Step::Namespace))?;
        user_namespace = namespace == sys::Namespace::User;
        // Where /proc/sys cannot be written, the interfaces without multicast keep IPv6 almost silent; what still comes
        // is counted as foreign.
        let _ = sys::quiet_ipv6();
        // Nor can the kernel be told then to wait for fragments as a scenario does; what it gives up is counted.
        let _ = sys::keep_fragments();
    }
    for ((opened, (name, link)), channels) in opened.iter_mut().zip(&all).zip(&mut channels) {
        let made = match link {
            PortLink::Tap => wired(name, wires)?,
            PortLink::Socket(socket) => spoken(name, wires, socket, take(channels))?,
            PortLink::Pair | PortLink::Host(_) | PortLink::Existing(_) | PortLink::CanInterface(_) => continue,
        };
        *opened = Some((made.0, Some(made.1)));
    }
    sys::tighten_timers().map_err(Failure::at(Step::Run))?;
    let facts = AgentFacts {
        fifo: setup.fifo.is_some_and(sys::try_fifo),
        user_namespace,
        cpu: setup.cpu.filter(|cpu| sys::pin_to(*cpu)),
        wires,
    };
    let (ports, ends): (Vec<Port>, Vec<Option<OwnedFd>>) = opened.into_iter().flatten().unzip();
    Ok((ports, ends.into_iter().flatten().collect(), facts))
}

/// The channels of a port's connections.
fn channels(port: &PortSetup, transports: &dyn Transports) -> Result<Vec<Box<dyn Channel>>, Failure> {
    let (own, mtu, ends) = match &port.link {
        PortLink::Socket(link) => (link.address, link.mtu, &link.connections),
        // The longest packet on the way to another host is not known; no transport that needs it goes there.
        PortLink::Host(link) => (link.address, 0, &link.connections),
        PortLink::Tap | PortLink::Pair | PortLink::Existing(_) | PortLink::CanInterface(_) => return Ok(Vec::new()),
    };
    let made = connection::channels((own, mtu), ends, transports, port.credentials.as_ref());
    made.map_err(|error| Failure::Told(Step::Transport, error.to_string()))
}

/// Two ends that keep each frame whole and lose none.
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let (one, other) = socketpair(AddressFamily::Unix, SockType::Datagram, None, flags)?;
    for end in [&one, &other] {
        // The kernel may grant less; a frame that finds no room is refused, and counted.
        let _ = setsockopt(end, sockopt::SndBuf, &PAIR_BUFFER_LEN);
    }
    Ok((one, other))
}

/// An interface of this name that leads to the emulator, and the emulator's end.
fn interface(name: &str, wires: Wires, mtu: i32) -> Result<OwnedFd, Failure> {
    match wires {
        Wires::Tap => sys::create_tap(name).map_err(Failure::at(Step::Tap)),
        Wires::Veth => sys::create_veth(name, mtu).map(OwnedFd::from).map_err(Failure::at(Step::Veth)),
    }
}

/// An interface, a packet socket on it, and the emulator's end.
fn wired(name: &str, wires: Wires) -> Result<(Port, OwnedFd), Failure> {
    let end = interface(name, wires, sys::MTU)?;
    let socket = sys::bring_up(name).and_then(|()| PacketSocket::open(name));
    Ok((Port::Packet(socket.map_err(Failure::at(Step::Interface))?), end))
}

/// An interface with an address, sockets on it, and the emulator's end.
fn spoken(
    name: &str,
    wires: Wires,
    link: &SocketLink,
    channels: Vec<Box<dyn Channel>>,
) -> Result<(Port, OwnedFd), Failure> {
    let end = interface(name, wires, link.mtu as i32)?;
    if let Some(rate) = link.held_to {
        sys::hold_to(name, link.mtu, rate).map_err(Failure::at(Step::Shaper))?;
    }
    let socket = sys::bring_up_with_address(name, link.mtu, link.address, link.hardware)
        .and_then(|()| link.neighbours.iter().try_for_each(|neighbour| sys::add_neighbour(name, *neighbour)))
        .and_then(|()| SocketPort::open(link, channels));
    Ok((Port::Socket(socket.map_err(Failure::at(Step::Interface))?), end))
}
