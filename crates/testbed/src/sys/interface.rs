//! TAP interfaces: made, brought up, and kept quiet.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::checked;

/// Longest packet behind the 14-byte header `[byte]`: what the frame buffers of nodes and media hold.
pub(crate) const MTU: i32 = chronoseal_core::node::FRAME_LEN_MAX as i32 - 14;

/// Frames the interface queues towards the emulator; the default of 500 would drop a burst without a word. A message of 10 MB has 6850.
const QUEUE_LEN: i32 = 16_384;

/// What TAP interfaces are made with.
const TUN: &str = "/dev/net/tun";

/// The loopback interface of every network namespace.
pub(super) const LOOPBACK: &str = "lo";

pub(super) fn request(name: &str) -> io::Result<libc::ifreq> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.bytes().any(|byte| byte == 0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no interface can be called {name:?}")));
    }
    // SAFETY: an `ifreq` is plain data, valid when all zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// True if this process may open what TAP interfaces are made with.
pub(crate) fn can_create_taps() -> bool {
    std::fs::OpenOptions::new().read(true).write(true).open(TUN).is_ok()
}

/// A TAP interface without packet information header. It vanishes when the last copy of the descriptor is closed.
pub(crate) fn create_tap(name: &str) -> io::Result<OwnedFd> {
    let path = CString::new(TUN).expect("the literal has no zero byte");
    // SAFETY: the path is a valid C string that outlives the call.
    let raw = checked(unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC) })?;
    // SAFETY: `open` has just returned this descriptor to us alone.
    let tap = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives through the call.
    checked(unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let send_buffer: libc::c_int = 8 << 20;
    // SAFETY: TUNSETSNDBUF reads one int, which lives through the call.
    checked(unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETSNDBUF, &raw const send_buffer) })?;
    Ok(tap)
}

/// Sets MTU and queue length and brings the interface up, without multicast and address resolution: nobody but the
/// node shall speak on its wire.
pub(crate) fn bring_up(name: &str) -> io::Result<()> {
    bring_up_silent(name, MTU)
}

/// The same with the longest packet `[byte]`.
pub(super) fn bring_up_silent(name: &str, mtu: i32) -> io::Result<()> {
    let socket = sized(name, mtu)?;
    add_flags(&socket, request(name)?, libc::IFF_UP | libc::IFF_NOARP, libc::IFF_MULTICAST)
}

/// The same for an interface over which the kernel speaks, with the longest packet `[byte]`, an address in a network of 8 bits, and
/// that of the hardware.
pub(crate) fn bring_up_with_address(name: &str, mtu: u32, address: [u8; 4], hardware: [u8; 6]) -> io::Result<()> {
    let socket = sized(name, mtu as i32)?;
    let mut named = request(name)?;
    named.ifr_ifru.ifru_hwaddr = hardware_address(hardware);
    // SAFETY: SIOCSIFHWADDR reads one `ifreq`, which lives through the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFHWADDR, &raw mut named) })?;
    let mut own = request(name)?;
    own.ifr_ifru.ifru_addr = internet_address(address);
    // SAFETY: SIOCSIFADDR reads one `ifreq`, which lives through the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFADDR, &raw mut own) })?;
    add_flags(&socket, request(name)?, libc::IFF_UP | libc::IFF_NOARP | libc::IFF_MULTICAST, 0)
}

/// Says which hardware address an address of IPv4 has on an interface, for good: nobody has to ask.
pub(crate) fn add_neighbour(name: &str, (address, hardware): ([u8; 4], [u8; 6])) -> io::Result<()> {
    let socket = control_socket()?;
    // SAFETY: an `arpreq` is plain data, valid when all zero.
    let mut entry: libc::arpreq = unsafe { std::mem::zeroed() };
    entry.arp_pa = internet_address(address);
    entry.arp_ha = hardware_address(hardware);
    entry.arp_flags = libc::ATF_COM | libc::ATF_PERM;
    for (to, from) in entry.arp_dev.iter_mut().zip(request(name)?.ifr_name) {
        *to = from;
    }
    // SAFETY: SIOCSARP reads one `arpreq`, which lives through the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSARP, &raw mut entry) })?;
    Ok(())
}

fn internet_address(address: [u8; 4]) -> libc::sockaddr {
    // SAFETY: a `sockaddr_in` is plain data, valid when all zero.
    let mut written: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    written.sin_family = libc::AF_INET as u16;
    written.sin_addr.s_addr = u32::from_ne_bytes(address);
    // SAFETY: the two types have the same size, and every byte of the one is valid in the other.
    unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(written) }
}

fn hardware_address(address: [u8; 6]) -> libc::sockaddr {
    // SAFETY: a `sockaddr` is plain data, valid when all zero.
    let mut written: libc::sockaddr = unsafe { std::mem::zeroed() };
    written.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in written.sa_data.iter_mut().zip(address) {
        *to = from as libc::c_char;
    }
    written
}

fn control_socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let raw = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: `socket` has just returned this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A socket to set up interfaces with, after MTU and queue length are set.
fn sized(name: &str, mtu: i32) -> io::Result<OwnedFd> {
    let socket = control_socket()?;
    let set = |code: libc::Ioctl, request: &mut libc::ifreq| {
        // SAFETY: these requests read and write one `ifreq`, which lives through the call.
        checked(unsafe { libc::ioctl(socket.as_raw_fd(), code, std::ptr::from_mut(request)) })
    };
    let mut longest = request(name)?;
    longest.ifr_ifru.ifru_mtu = mtu;
    set(libc::SIOCSIFMTU, &mut longest)?;
    let mut queue = request(name)?;
    queue.ifr_ifru.ifru_metric = QUEUE_LEN;
    // The kernel grants this to the host's own root only; without it a burst of more than 500 frames is cut, and counted.
    let _ = set(libc::SIOCSIFTXQLEN, &mut queue);
    Ok(socket)
}

/// Sets some flags of the interface in `request` and clears others.
pub(super) fn add_flags(
    socket: &OwnedFd,
    mut request: libc::ifreq,
    set: libc::c_int,
    clear: libc::c_int,
) -> io::Result<()> {
    // SAFETY: SIOCGIFFLAGS reads and writes one `ifreq`, which lives through the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: SIOCGIFFLAGS has just filled this variant of the union.
    let old = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    request.ifr_ifru.ifru_flags = ((old | set) & !clear) as libc::c_short;
    // SAFETY: as above.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) })?;
    Ok(())
}

/// No interface of this network namespace speaks IPv6 from here on. A kernel without IPv6 has nothing to switch off.
pub(crate) fn quiet_ipv6() -> io::Result<()> {
    for which in ["all", "default"] {
        match std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
