//! SocketCAN: frames of a CAN interface of the kernel, real or virtual.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use chronoseal_wire::can::layout;
use nix::sys::socket::{setsockopt, sockopt};
use socketcan::{CanFdSocket, Socket, SocketOptions};

use crate::sys;

/// Frames the kernel keeps while nobody reads, its own records included `[byte]`.
const BUFFER_LEN: usize = 8 << 20;

/// A non-blocking raw CAN socket that takes classical and FD frames. It hears what others put on the interface, on
/// this host too, and, if it asked for that, what it put there itself once that was on the bus.
pub(crate) struct CanInterface(CanFdSocket);

/// A frame of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    /// Its length `[byte]`.
    pub(crate) len: usize,
    /// This socket had sent it: it has left.
    pub(crate) is_own: bool,
}

/// The identifier word `[byte]`. The layout of [`chronoseal_wire::can::layout`] is the kernel's but for its byte order.
const ID_LEN: usize = 4;

impl CanInterface {
    /// Opens the interface called `name` in the network namespace of this process.
    pub(crate) fn open(name: &str, hears_own: bool) -> io::Result<Self> {
        let socket = CanFdSocket::open(name)?;
        socket.set_nonblocking(true)?;
        socket.set_recv_own_msgs(hears_own)?;
        // The default is some 270 frames, and interfaces without bit times are fast. The kernel grants less without a
        // privilege.
        if setsockopt(&socket, sockopt::RcvBufForce, &BUFFER_LEN).is_err() {
            let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER_LEN);
        }
        Ok(Self(socket))
    }

    /// The next frame in `buffer`, or `None` if there is none yet.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Heard>> {
        let Some((len, is_own)) = sys::receive_confirmed(self.0.as_fd(), buffer)? else { return Ok(None) };
        turn_identifier(buffer, len);
        Ok(Some(Heard { len, is_own }))
    }

    /// Hands one frame to the interface.
    pub(crate) fn send(&self, frame: &[u8]) -> io::Result<()> {
        let mut native = [0; layout::FRAME_LEN_MAX];
        let native = native.get_mut(..frame.len()).ok_or(io::ErrorKind::InvalidInput)?;
        native.copy_from_slice(frame);
        turn_identifier(native, frame.len());
        let sent = nix::unistd::write(&self.0, native)?;
        if sent == frame.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

/// Between the host's byte order and the network's.
fn turn_identifier(buffer: &mut [u8], len: usize) {
    if cfg!(target_endian = "little")
        && len >= ID_LEN
        && let Some(identifier) = buffer.get_mut(..ID_LEN)
    {
        identifier.reverse();
    }
}

impl AsFd for CanInterface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
