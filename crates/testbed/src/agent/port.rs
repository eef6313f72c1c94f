//! One port of an agent's node: where its frames leave and come in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use chronoseal_core::node::FRAME_LEN_MAX;
use chronoseal_wire::ethernet::HEADER_LEN;
use nix::errno::Errno;

use crate::can::interface::{CanInterface, Heard};
use crate::connection::{Connections, is_message};
use crate::end::{Fate, NOTICE_LEN, NoticeOf, read_notice};
use crate::host_link::HostPort;
use crate::log::hash_of;
use crate::parts;
use crate::socket::{HEADERS_LEN, SocketPort};
use crate::sys::{PacketSocket, Received};

pub(super) enum Port {
    /// A network interface of its own: Ethernet frames.
    Packet(PacketSocket),
    /// Sockets of the kernel: whole messages.
    Socket(SocketPort),
    /// Sockets on the host's own network: whole messages.
    Host(HostPort),
    /// A socket pair to the emulator: CAN frames, and what became of those that were sent.
    Local(OwnedFd),
    /// A CAN interface of the kernel.
    Can(CanInterface),
}

/// What comes in at a port.
pub(super) enum Incoming {
    /// A frame.
    Frame(Received),
    /// Word of what became of a frame of this node.
    Notice(NoticeOf, Fate),
}

impl Port {
    /// What comes next, or `None` if there is nothing yet. Only packet sockets come with the kernel's receive time.
    /// `is_told` if word of frames that were sent comes in here.
    pub(super) fn receive(&mut self, buffer: &mut [u8], is_told: bool) -> io::Result<Option<Incoming>> {
        let received = |len| Incoming::Frame(Received { len, realtime_ns: None });
        match self {
            Self::Packet(socket) => Ok(socket.receive(buffer)?.map(Incoming::Frame)),
            Self::Socket(socket) => Ok(socket.receive(buffer)?.map(Incoming::Frame)),
            Self::Host(socket) => Ok(socket.receive(buffer)?.map(Incoming::Frame)),
            Self::Local(socket) => match nix::unistd::read(socket, buffer) {
                Ok(NOTICE_LEN) if is_told => {
                    Ok(buffer.first_chunk().map(read_notice).map(|(of, fate)| Incoming::Notice(of, fate)))
                }
                Ok(len @ 1..) => Ok(Some(received(len))),
                // The emulator is gone; the controller will say what that means.
                Ok(0) | Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNRESET) => Ok(None),
                Err(error) => Err(error.into()),
            },
            Self::Can(interface) => match interface.receive(buffer)? {
                Some(Heard { is_own: true, .. }) => {
                    Ok(buffer.first_chunk().map(|of| Incoming::Notice(*of, Fate::Left)))
                }
                heard => Ok(heard.map(|heard| received(heard.len))),
            },
        }
    }

    /// The longest frame that its node gives or gets `[byte]`.
    pub(super) fn frame_len_max(&self) -> usize {
        match self {
            Self::Socket(socket) => socket.frame_len_max(),
            Self::Host(socket) => socket.frame_len_max(),
            Self::Packet(_) | Self::Local(_) | Self::Can(_) => FRAME_LEN_MAX,
        }
    }

    /// By what both ends know a frame.
    pub(super) fn hash(&self, frame: &[u8]) -> u64 {
        match self {
            Self::Socket(socket) => socket.identity_of(frame).unwrap_or_else(|| hash_of(frame)),
            Self::Packet(_) | Self::Host(_) | Self::Local(_) | Self::Can(_) => hash_of(frame),
        }
    }

    /// The message in a frame, if no frame that the emulator sees stands for it, so that only both ends can say what became of it.
    pub(super) fn own_message<'f>(&self, frame: &'f [u8]) -> Option<&'f [u8]> {
        match self {
            // Packets stand for one that leaves in parts.
            Self::Socket(socket) if is_message(frame) && socket.sends_in_parts(frame) => None,
            Self::Socket(_) | Self::Host(_) if is_message(frame) => frame.get(HEADER_LEN..),
            Self::Host(_) => frame.get(HEADERS_LEN..),
            Self::Socket(_) | Self::Packet(_) | Self::Local(_) | Self::Can(_) => None,
        }
    }

    /// True of a frame that is one of several datagrams of a message.
    pub(super) fn is_part(&self, frame: &[u8]) -> bool {
        match self {
            Self::Socket(_) | Self::Host(_) => parts::is_part(frame),
            Self::Packet(_) | Self::Local(_) | Self::Can(_) => false,
        }
    }

    /// What it sends may have to wait for its interface.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Socket(socket) if socket.is_held())
    }

    /// Its connections, if it has any.
    pub(super) fn connections(&self) -> Option<&Connections> {
        match self {
            Self::Socket(socket) => socket.connections(),
            Self::Host(socket) => socket.connections(),
            Self::Packet(_) | Self::Local(_) | Self::Can(_) => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn connections_mut(&mut self) -> Option<&mut Connections> {
        match self {
            Self::Socket(socket) => socket.connections_mut(),
            Self::Host(socket) => socket.connections_mut(),
            Self::Packet(_) | Self::Local(_) | Self::Can(_) => None,
        }
    }

    pub(super) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        match self {
            Self::Packet(socket) => socket.send(frame),
            Self::Socket(socket) => socket.send(frame),
            Self::Host(socket) => socket.send(frame),
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
            Self::Socket(_) | Self::Host(_) | Self::Local(_) | Self::Can(_) => 0,
        }
    }

    /// What came in and is no part of the run, where the port is open to others.
    pub(super) fn strangers(&self) -> u64 {
        match self {
            Self::Host(socket) => socket.strangers(),
            Self::Packet(_) | Self::Socket(_) | Self::Local(_) | Self::Can(_) => 0,
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Packet(socket) => socket.as_fd(),
            Self::Socket(socket) => socket.as_fd(),
            Self::Host(socket) => socket.as_fd(),
            Self::Local(socket) => socket.as_fd(),
            Self::Can(interface) => interface.as_fd(),
        }
    }
}
