//! Namespace, interfaces, scheduling: everything before the first frame.

use std::os::fd::OwnedFd;

use super::Failure;
use crate::message::{AgentFacts, Setup, Step};
use crate::sys::{self, PacketSocket};

/// One packet socket a port, the emulator's ends of their wires, and what the host granted.
pub(super) fn make(setup: &Setup) -> Result<(Vec<PacketSocket>, Vec<OwnedFd>, AgentFacts), Failure> {
    let (mut ports, mut taps) = (Vec::new(), Vec::new());
    let namespace = if let Some((namespace, interface)) = &setup.existing {
        sys::enter_named_network(namespace).map_err(Failure::at(Step::Namespace))?;
        ports.push(PacketSocket::open(interface).map_err(Failure::at(Step::Interface))?);
        sys::Namespace::Privileged
    } else {
        let namespace = sys::enter_own_network().map_err(Failure::at(Step::Namespace))?;
        make_wires(setup, &mut ports, &mut taps)?;
        namespace
    };
    sys::tighten_timers().map_err(Failure::at(Step::Run))?;
    let facts = AgentFacts {
        fifo: setup.fifo.is_some_and(sys::try_fifo),
        user_namespace: namespace == sys::Namespace::User,
        cpu: setup.cpu.filter(|cpu| sys::pin_to(*cpu)),
    };
    Ok((ports, taps, facts))
}

/// A TAP interface and a packet socket on it for every port.
fn make_wires(setup: &Setup, ports: &mut Vec<PacketSocket>, taps: &mut Vec<OwnedFd>) -> Result<(), Failure> {
    // Where /proc/sys cannot be written, the interfaces without multicast keep IPv6 almost silent; what still comes
    // is counted as foreign.
    let _ = sys::quiet_ipv6();
    for port in 0..setup.ports {
        let name = format!("cs{}p{port}", setup.node);
        taps.push(sys::create_tap(&name).map_err(Failure::at(Step::Tap))?);
        ports
            .push(sys::bring_up(&name).and_then(|()| PacketSocket::open(&name)).map_err(Failure::at(Step::Interface))?);
    }
    Ok(())
}
