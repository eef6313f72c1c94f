//! A network namespace with nothing in it but a loopback interface that carries multicast.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::interface::{LOOPBACK, add_flags, request};
use super::{checked, enter_own_network};

/// Moves this process, which must have one thread only, and all it starts into such a namespace.
pub(crate) fn enter_private_loopback() -> io::Result<()> {
    enter_own_network()?;
    // SAFETY: no pointers are passed.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: `socket` has just returned this descriptor to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    add_flags(&socket, request(LOOPBACK)?, libc::IFF_UP | libc::IFF_MULTICAST, 0)?;
    add_multicast_route(&socket)
}

/// All IPv4 multicast, 224.0.0.0/4, by way of the loopback interface.
fn add_multicast_route(socket: &OwnedFd) -> io::Result<()> {
    let address = |octets: [u8; 4]| {
        // SAFETY: both are plain data of 16 bytes, valid for any content; `sockaddr_in` is how the kernel reads it.
        unsafe {
            let mut address: libc::sockaddr_in = std::mem::zeroed();
            address.sin_family = libc::AF_INET as libc::sa_family_t;
            address.sin_addr.s_addr = u32::from_ne_bytes(octets);
            std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address)
        }
    };
    let mut device = request(LOOPBACK)?.ifr_name;
    // SAFETY: an `rtentry` is plain data, valid when all zero.
    let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
    route.rt_dst = address([224, 0, 0, 0]);
    route.rt_genmask = address([240, 0, 0, 0]);
    route.rt_flags = libc::RTF_UP;
    route.rt_dev = device.as_mut_ptr();
    // SAFETY: SIOCADDRT reads one `rtentry` and the device name it points to; both live through the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCADDRT, &raw const route) })?;
    Ok(())
}
