//! Namespace, interfaces, scheduling: everything before the first frame.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};

use super::Failure;
use super::port::Port;
use crate::can::interface::CanInterface;
use crate::message::{AgentFacts, Link, Setup, Step};
use crate::sys::{self, PacketSocket};

/// What a socket pair holds of frames nobody has read yet [byte]: hundreds, the kernel's own records included.
const PAIR_BUFFER_LEN: usize = 1 << 20;

/// The node's ports, the emulator's ends of their wires, and what the host granted.
pub(super) fn make(setup: &Setup) -> Result<(Vec<Port>, Vec<OwnedFd>, AgentFacts), Failure> {
    let (mut ports, mut ends) = (Vec::new(), Vec::new());
    let mut user_namespace = false;
    match &setup.link {
        Link::Existing { namespace, interface } => {
            sys::enter_named_network(namespace).map_err(Failure::at(Step::Namespace))?;
            ports.push(Port::Packet(PacketSocket::open(interface).map_err(Failure::at(Step::Interface))?));
        }
        Link::Tap => {
            let namespace = sys::enter_own_network().map_err(Failure::at(Step::Namespace))?;
            user_namespace = namespace == sys::Namespace::User;
            make_wires(setup, &mut ports, &mut ends)?;
        }
        Link::Pair => {
            for _ in 0..setup.ports {
                let (ours, theirs) = pair().map_err(Failure::at(Step::Run))?;
                ports.push(Port::Local(ours));
                ends.push(theirs);
            }
        }
        Link::Can { interface } => {
            ports.push(Port::Can(CanInterface::open(interface, true).map_err(Failure::at(Step::CanInterface))?));
        }
    }
    sys::tighten_timers().map_err(Failure::at(Step::Run))?;
    let facts = AgentFacts {
        fifo: setup.fifo.is_some_and(sys::try_fifo),
        user_namespace,
        cpu: setup.cpu.filter(|cpu| sys::pin_to(*cpu)),
    };
    Ok((ports, ends, facts))
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

/// A TAP interface and a packet socket on it for every port.
fn make_wires(setup: &Setup, ports: &mut Vec<Port>, taps: &mut Vec<OwnedFd>) -> Result<(), Failure> {
    // Where /proc/sys cannot be written, the interfaces without multicast keep IPv6 almost silent; what still comes
    // is counted as foreign.
    let _ = sys::quiet_ipv6();
    for port in 0..setup.ports {
        let name = format!("cs{}p{port}", setup.node);
        taps.push(sys::create_tap(&name).map_err(Failure::at(Step::Tap))?);
        let socket = sys::bring_up(&name).and_then(|()| PacketSocket::open(&name));
        ports.push(Port::Packet(socket.map_err(Failure::at(Step::Interface))?));
    }
    Ok(())
}
