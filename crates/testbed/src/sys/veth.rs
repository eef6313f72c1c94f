//! A pair of virtual Ethernet interfaces in place of a TAP interface, where `/dev/net/tun` cannot be opened. One end is in the network namespace of a
//! station; the other in one of its own, in which nobody speaks, and the emulator has a packet socket on it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};

use super::checked;
use super::interface::{bring_up_silent, request};
use super::netlink::{attribute, create};
use super::packet::PacketSocket;

/// `VETH_INFO_PEER` of `linux/veth.h`.
const VETH_INFO_PEER: u16 = 1;
/// `IFLA_NET_NS_FD` of `linux/if_link.h`.
const IFLA_NET_NS_FD: u16 = 28;
/// `SIOCETHTOOL` of `linux/sockios.h`.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// Of `linux/ethtool.h`: checksums of what is sent, and segmentation of what is longer than a packet, left to the interface.
const OFFLOADS: [u32; 3] = [0x17, 0x1f, 0x24];

/// Makes an interface of this name in the network namespace of this process, and a packet socket on its other end. The process must have one
/// thread only.
pub(crate) fn create_veth(name: &str, mtu: i32) -> io::Result<PacketSocket> {
    let own = File::open("/proc/self/ns/net")?;
    unshare(CloneFlags::CLONE_NEWNET)?;
    let made = other_end(name, &own, mtu);
    // Whatever came of it, this process belongs there.
    setns(&own, CloneFlags::CLONE_NEWNET)?;
    let socket = made?;
    offload_nothing(name)?;
    Ok(socket)
}

/// The pair, from the namespace of the other end.
fn other_end(name: &str, own: &File, mtu: i32) -> io::Result<PacketSocket> {
    // As where stations are: what IPv6 says by itself is nobody's.
    let _ = super::quiet_ipv6();
    new_pair(name, own)?;
    offload_nothing(name)?;
    bring_up_silent(name, mtu)?;
    PacketSocket::open(name)
}

/// Asks the kernel for a pair of this name, one end here and the other in the namespace `there` (rtnetlink(7), `RTM_NEWLINK`).
fn new_pair(name: &str, there: &File) -> io::Result<()> {
    let of_name = [name.as_bytes(), &[0]].concat();
    let ends = attribute(libc::IFLA_IFNAME, &of_name);
    let descriptor = there.as_raw_fd().to_ne_bytes();
    let peer = [&link_header()[..], &ends, &attribute(IFLA_NET_NS_FD, &descriptor)].concat();
    let kind = attribute(libc::IFLA_INFO_KIND, b"veth");
    let data = attribute(libc::IFLA_INFO_DATA, &attribute(VETH_INFO_PEER, &peer));
    let body = [&link_header()[..], &ends, &attribute(libc::IFLA_LINKINFO, &[kind, data].concat())].concat();
    create(libc::RTM_NEWLINK, &body)
}

/// An `ifinfomsg` that chooses nothing.
const fn link_header() -> [u8; size_of::<libc::ifinfomsg>()] {
    [0; size_of::<libc::ifinfomsg>()]
}

/// What is sent over an interface has its checksums and is no longer than a packet, since a packet socket takes it as it is. What an
/// interface cannot do anyway need not be switched off.
fn offload_nothing(name: &str) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: `socket` has just returned this descriptor to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    for command in OFFLOADS {
        // An `ethtool_value`: the command and 0 for off.
        let mut value = [command, 0u32];
        let mut named = request(name)?;
        named.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        // SAFETY: SIOCETHTOOL reads one `ifreq`, and the two words it points to; both live through the call.
        match checked(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut named) }) {
            Err(error) if error.raw_os_error() != Some(libc::EOPNOTSUPP) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
