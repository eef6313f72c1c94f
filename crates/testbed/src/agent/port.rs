//! One port of an agent's node: where its frames leave and come in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;

use crate::can::interface::CanInterface;
use crate::sys::{PacketSocket, Received};

pub(super) enum Port {
    /// A network interface of its own: Ethernet frames.
    Packet(PacketSocket),
    /// A socket pair to the emulator: CAN frames.
    Local(OwnedFd),
    /// A CAN interface of the kernel.
    Can(CanInterface),
}

impl Port {
    /// The next frame, or `None` if there is none yet. Only packet sockets come with the kernel's receive time.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let received = |len| Received { len, realtime_ns: None };
        match self {
            Self::Packet(socket) => socket.receive(buffer),
            Self::Local(socket) => match nix::unistd::read(socket, buffer) {
                Ok(len @ 1..) => Ok(Some(received(len))),
                // The emulator is gone; the controller will say what that means.
                Ok(0) | Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNRESET) => Ok(None),
                Err(error) => Err(error.into()),
            },
            Self::Can(interface) => Ok(interface.receive(buffer)?.map(received)),
        }
    }

    pub(super) fn send(&self, frame: &[u8]) -> io::Result<()> {
        match self {
            Self::Packet(socket) => socket.send(frame),
            Self::Local(socket) => match nix::unistd::write(socket, frame)? {
                len if len == frame.len() => Ok(()),
                _ => Err(io::ErrorKind::WriteZero.into()),
            },
            Self::Can(interface) => interface.send(frame),
        }
    }

    /// Frames the kernel threw away because nobody read them in time, where it counts them for each socket. A socket
    /// pair loses none; what is lost at a CAN interface shows when logs are joined.
    pub(super) fn dropped(&self) -> u64 {
        match self {
            Self::Packet(socket) => socket.dropped(),
            Self::Local(_) | Self::Can(_) => 0,
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Packet(socket) => socket.as_fd(),
            Self::Local(socket) => socket.as_fd(),
            Self::Can(interface) => interface.as_fd(),
        }
    }
}
