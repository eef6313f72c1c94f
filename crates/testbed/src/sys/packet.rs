//! Raw packet sockets: whole frames of one interface, each with the kernel's receive time.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

/// Asked for; the kernel may grant less without a privilege.
const RECEIVE_BUFFER: libc::c_int = 8 << 20;

/// A non-blocking `AF_PACKET` socket bound to one interface.
pub(crate) struct PacketSocket(OwnedFd);

/// Room for the one control message asked for, aligned as `cmsghdr` wants.
#[repr(C, align(8))]
struct ControlSpace([u8; 64]);

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Its length; more than the buffer held if it was cut.
    pub(crate) len: usize,
    /// When the kernel took it from the interface, by `CLOCK_REALTIME` `[ns]`.
    pub(crate) realtime_ns: Option<i64>,
}

impl PacketSocket {
    pub(crate) fn open(interface: &str) -> io::Result<Self> {
        let index = nix::net::if_::if_nametoindex(interface)?;
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // Protocol 0: nothing is received before the socket is bound to its interface.
        // SAFETY: no pointers are passed.
        let raw = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: `socket` has just returned this descriptor to us alone.
        let socket = Self(unsafe { OwnedFd::from_raw_fd(raw) });
        socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        // Straight to the interface: a queueing discipline would only add its own delay.
        socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)?;
        if socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER)?;
        }
        // SAFETY: a `sockaddr_ll` is plain data, valid when all zero.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as i32;
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address is a `sockaddr_ll` of the length given and lives through the call.
        checked(unsafe { libc::bind(socket.0.as_raw_fd(), (&raw const address).cast(), len) })?;
        Ok(socket)
    }

    fn set(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the value is an int of the length given and lives through the call.
        checked(unsafe { libc::setsockopt(self.0.as_raw_fd(), level, option, (&raw const value).cast(), len) })?;
        Ok(())
    }

    /// The next frame, or `None` if there is none yet.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = ControlSpace([0; 64]);
        // SAFETY: a `msghdr` is plain data, valid when all zero.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control.0).cast();
        message.msg_controllen = control.0.len();
        // SAFETY: every pointer in `message` names memory of the length beside it that lives through the call.
        let len = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, libc::MSG_TRUNC) };
        if len < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            };
        }
        let mut realtime_ns = None;
        // SAFETY: the kernel has filled `message`, and the control memory is still there.
        let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
        while !header.is_null() {
            // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return whole headers inside the control memory or null.
            let is_stamp =
                unsafe { (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_TIMESTAMPNS };
            if is_stamp {
                // SAFETY: a message of this type holds one `timespec`; it may be unaligned.
                let stamp = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
                realtime_ns = Some(stamp.tv_sec * 1_000_000_000 + stamp.tv_nsec);
            }
            // SAFETY: as above.
            header = unsafe { libc::CMSG_NXTHDR(&raw const message, header) };
        }
        Ok(Some(Received { len: len as usize, realtime_ns }))
    }

    /// Hands one frame to the interface.
    pub(crate) fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the buffer is valid for its length and lives through the call.
        let sent = unsafe {
            libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        match usize::try_from(sent) {
            Ok(len) if len == frame.len() => Ok(()),
            Ok(_) => Err(io::Error::from(io::ErrorKind::WriteZero)),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }

    /// Frames the kernel threw away because the socket's buffer was full, since the last call.
    pub(crate) fn dropped(&self) -> u64 {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut len = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the buffer is a `tpacket_stats` of the length given; both live through the call.
        let result = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut len,
            )
        };
        if result == 0 { u64::from(statistics.tp_drops) } else { 0 }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
