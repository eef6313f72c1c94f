//! Why there is no live run, and what to do about it.

use std::io;

use chronoseal_core::NodeId;
use thiserror::Error;

use crate::live::LiveOutcome;
use crate::message::Step;

/// A live run that could not be made, or broke off.
#[derive(Error, Debug)]
#[non_exhaustive]
pub enum LiveError {
    /// The configuration cannot be run.
    #[error("{0}")]
    Configuration(String),
    /// The agent's program could not be started.
    #[error("cannot start an agent process: {0}")]
    Start(#[source] io::Error),
    /// The host refuses network namespaces.
    #[error(
        "this host refuses network namespaces ({reason}). Run as root, or allow user namespaces: \
         `sysctl user.max_user_namespaces=10000 user.max_net_namespaces=10000`, on Debian `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu \
         `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container add the capability SYS_ADMIN"
    )]
    NamespaceRefused {
        /// As the kernel put it.
        reason: String,
    },
    /// There is no TAP device to be had.
    #[error(
        "this host refuses TAP interfaces ({reason}). `modprobe tun` and make sure /dev/net/tun exists and can be read \
         and written; in a container add `--device /dev/net/tun`"
    )]
    TapRefused {
        /// As the kernel put it.
        reason: String,
    },
    /// What takes the place of TAP interfaces cannot be had either.
    #[error(
        "/dev/net/tun cannot be opened, and this host refuses the pairs of virtual interfaces that take its place ({reason}). \
         `modprobe tun` and make /dev/net/tun readable and writable, or `modprobe veth`; in a container add `--device /dev/net/tun`"
    )]
    VethRefused {
        /// As the kernel put it.
        reason: String,
    },
    /// An interface exists but cannot be used.
    #[error("this host refuses packet sockets or interface settings ({reason}). Run as root or allow user namespaces")]
    InterfaceRefused {
        /// As the kernel put it.
        reason: String,
    },
    /// The kernel has nothing that holds senders back.
    #[error(
        "this host cannot hold senders back at the rate of a link (`shaper = \"sender\"`): its kernel refuses a token bucket ({reason}). \
         `modprobe sch_tbf`, or leave `shaper` out: the rate is then kept behind the sender's device, and what is too much is lost"
    )]
    ShaperRefused {
        /// As the kernel put it.
        reason: String,
    },
    /// A CAN interface of the kernel cannot be used.
    #[error(
        "this host refuses the CAN interface `{interface}` ({reason}). For a virtual one, as root: `modprobe vcan`, \
         `ip link add {interface} type vcan`, `ip link set {interface} mtu 72 up`; on our own bus the scenario needs \
         no CAN in the kernel"
    )]
    CanRefused {
        /// As asked for.
        interface: String,
        /// As the kernel put it.
        reason: String,
    },
    /// A multicast group of python-can's cannot be joined.
    #[error("this host refuses the multicast group {group} on its loopback interface ({reason})")]
    MulticastRefused {
        /// Group and port.
        group: crate::can::MulticastGroup,
        /// As the kernel put it.
        reason: String,
    },
    /// What is to secure connections cannot be made.
    #[error("cannot secure the connections of {name}: {reason}")]
    TransportRefused {
        /// Whose.
        node: NodeId,
        /// What people call it.
        name: String,
        /// As its program put it.
        reason: String,
    },
    /// An address of the host cannot be used.
    #[error(
        "cannot open its sockets on {}.{}.{}.{} ({reason}): the address must be one of this host, and the ports of the run, from 49152 on, \
         must be free; `ip address` and `ss -tulpn` show both", address[0], address[1], address[2], address[3]
    )]
    AddressRefused {
        /// As asked for.
        address: [u8; 4],
        /// As the kernel put it.
        reason: String,
    },
    /// The bus of CAN controllers contradicts itself.
    #[error("no such CAN bus can be: {0}")]
    CanBus(#[from] chronoseal_media::can::CanBusError),
    /// A node cannot be built from the scenario.
    #[error("{name} cannot be built: {reason}")]
    Node {
        /// Which node.
        node: NodeId,
        /// What people call it.
        name: String,
        /// As its factory put it.
        reason: String,
    },
    /// An agent ended during the run. What was recorded until then is kept.
    #[error("the process of {name} ended during the run: {reason}")]
    AgentLost {
        /// Which node.
        node: NodeId,
        /// What people call it.
        name: String,
        /// How.
        reason: String,
        /// Everything the others and the emulator recorded.
        partial: Box<LiveOutcome>,
    },
}

impl LiveError {
    /// True if this host does not allow live runs at all, whatever the scenario.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::NamespaceRefused { .. }
                | Self::TapRefused { .. }
                | Self::VethRefused { .. }
                | Self::InterfaceRefused { .. }
                | Self::ShaperRefused { .. }
                | Self::CanRefused { .. }
                | Self::MulticastRefused { .. }
        )
    }

    pub(crate) fn of_step((node, name): (NodeId, String), step: Step, reason: String) -> Self {
        match step {
            Step::CanInterface(interface) => Self::CanRefused { interface, reason },
            Step::Transport => Self::TransportRefused { node, name, reason },
            Step::Address(address) => Self::AddressRefused { address, reason },
            Step::Namespace => Self::NamespaceRefused { reason },
            Step::Tap => Self::TapRefused { reason },
            Step::Veth => Self::VethRefused { reason },
            Step::Shaper => Self::ShaperRefused { reason },
            Step::Interface => Self::InterfaceRefused { reason },
            Step::Node | Step::Run => Self::Node { node, name, reason },
        }
    }
}
