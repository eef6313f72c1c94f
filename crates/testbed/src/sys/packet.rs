//! Raw packet sockets: whole frames of one interface, each with the kernel's receive time.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::checked;

/// Asked for; the kernel may grant less without a privilege.
const RECEIVE_BUFFER: libc::c_int = 8 << 20;

/// A non-blocking `AF_PACKET` socket bound to one interface.
pub(crate) struct PacketSocket(OwnedFd);

/// Room for the two control messages asked for, aligned as `cmsghdr` wants.
#[repr(C, align(8))]
struct ControlSpace([u8; 128]);

/// The addresses of a frame, behind which a VLAN tag stands `[byte]`.
const ADDRESSES_LEN: usize = 12;
/// A VLAN tag `[byte]`.
const TAG_LEN: usize = 4;

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
        // The kernel takes a VLAN tag out of each frame that comes in, and says beside the frame what was in it.
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)?;
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
        let mut control = ControlSpace([0; 128]);
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
        let (mut realtime_ns, mut tag) = (None, None);
        // SAFETY: the kernel has filled `message`, and the control memory is still there.
        let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
        while !header.is_null() {
            // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return whole headers inside the control memory or null.
            let kind = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
            if kind == (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
                // SAFETY: a message of this type holds one `tpacket_auxdata`; it may be unaligned.
                tag = tag_of(&unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() });
            }
            if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                // SAFETY: a message of this type holds one `timespec`; it may be unaligned.
                let stamp = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
                realtime_ns = Some(stamp.tv_sec * 1_000_000_000 + stamp.tv_nsec);
            }
            // SAFETY: as above.
            header = unsafe { libc::CMSG_NXTHDR(&raw const message, header) };
        }
        let len = tag.map_or(len as usize, |tag| with_tag(buffer, len as usize, tag));
        Ok(Some(Received { len, realtime_ns }))
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

/// The VLAN tag that the kernel took out of a frame, if there was one.
fn tag_of(auxiliary: &libc::tpacket_auxdata) -> Option<[u8; TAG_LEN]> {
    let has = |flag: u32| auxiliary.tp_status & flag != 0;
    let tpid = if has(libc::TP_STATUS_VLAN_TPID_VALID) { auxiliary.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    let ([t0, t1], [c0, c1]) = (tpid.to_be_bytes(), auxiliary.tp_vlan_tci.to_be_bytes());
    has(libc::TP_STATUS_VLAN_VALID).then_some([t0, t1, c0, c1])
}

/// Puts a VLAN tag back where it was, as far as there is room, and returns the length of the whole frame.
fn with_tag(buffer: &mut [u8], len: usize, tag: [u8; TAG_LEN]) -> usize {
    let held = len.min(buffer.len().saturating_sub(TAG_LEN));
    if held >= ADDRESSES_LEN {
        buffer.copy_within(ADDRESSES_LEN..held, ADDRESSES_LEN + TAG_LEN);
        buffer[ADDRESSES_LEN..ADDRESSES_LEN + TAG_LEN].copy_from_slice(&tag);
    }
    len + TAG_LEN
}

/// One that another process has opened, and handed over.
impl From<OwnedFd> for PacketSocket {
    fn from(socket: OwnedFd) -> Self {
        Self(socket)
    }
}

impl From<PacketSocket> for OwnedFd {
    fn from(socket: PacketSocket) -> Self {
        socket.0
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_put_back_where_the_kernel_took_it_from() {
        let status = libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID;
        // SAFETY: a `tpacket_auxdata` is plain data, valid when all zero.
        let none: libc::tpacket_auxdata = unsafe { std::mem::zeroed() };
        let some = libc::tpacket_auxdata { tp_status: status, tp_vlan_tpid: 0x8100, tp_vlan_tci: 0xc001, ..none };
        assert_eq!(tag_of(&none), None);
        let tag = tag_of(&some).expect("it has one");
        let mut buffer = [0; 20];
        buffer[..14].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x88, 0xb5]);
        assert_eq!(with_tag(&mut buffer, 14, tag), 18);
        assert_eq!(buffer[..18], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0xc0, 1, 0x88, 0xb5]);
        // One that has no room is told by its length, as one that was cut.
        let mut short = [7; 14];
        assert_eq!(with_tag(&mut short, 14, tag), 18);
    }
}
