//! Where a wire of the emulator ends, and how frames get there.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::layout;
use nix::errno::Errno;

use crate::can::interface::CanInterface;
use crate::can::multicast::{Datagram, Multicast};
use crate::socket::is_membership;
use crate::sys::{PacketSocket, Received};

/// What became of a frame that a station sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// The whole of it has left.
    Left,
    /// The medium threw it away.
    Dropped,
}

/// Which frame a notice is of: its identifier, length and flags.
pub(crate) type NoticeOf = [u8; layout::HEADER_LEN];

/// Length of what tells a station the fate of its frame `[byte]`. No frame has it.
pub(crate) const NOTICE_LEN: usize = layout::HEADER_LEN + 1;

/// What tells a station the fate of its frame; `None` if that is shorter than the header of one.
pub(crate) fn notice(frame: &[u8], fate: Fate) -> Option<[u8; NOTICE_LEN]> {
    let mut notice = [0; NOTICE_LEN];
    let (header, told) = notice.split_at_mut(layout::HEADER_LEN);
    header.copy_from_slice(frame.get(..layout::HEADER_LEN)?);
    told[0] = u8::from(fate == Fate::Dropped);
    Some(notice)
}

/// The frame a [`notice`] is of and what became of it.
pub(crate) fn read_notice(notice: &[u8; NOTICE_LEN]) -> (NoticeOf, Fate) {
    let [header @ .., told] = *notice;
    (header, if told == 0 { Fate::Left } else { Fate::Dropped })
}

/// The emulator's end of one wire.
pub(crate) enum End {
    /// A TAP interface in an agent's namespace: Ethernet frames.
    Tap(OwnedFd),
    /// A TAP interface in an agent's namespace, over which its kernel speaks: Ethernet frames with packets of IPv4.
    Sockets(OwnedFd),
    /// A pair of interfaces in place of a TAP interface, the other end in an agent's namespace.
    Veth {
        /// On the end of the emulator.
        socket: PacketSocket,
        /// The kernel of the agent speaks over it, as on [`Self::Sockets`].
        is_spoken: bool,
    },
    /// A socket pair to an agent: CAN frames.
    Station(OwnedFd),
    /// A client that speaks python-can's `udp_multicast`.
    Multicast(Multicast),
    /// A CAN interface of the kernel that is joined to a bus of ours.
    Interface(CanInterface),
    /// A CAN interface of the kernel that carries frames itself: they are recorded, and nobody sends any from here.
    Listener(CanInterface),
    /// Nowhere: frames that come here are recorded, nobody sends any.
    Recorder,
}

/// What there was to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// A frame of this length `[byte]`.
    Frame(usize),
    /// Something that is no frame.
    Bad(DiscardReason),
    /// Something that is nobody's.
    Skip,
    /// Nothing yet.
    Nothing,
}

impl End {
    /// Takes one frame, if there is one.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Read {
        match self {
            Self::Tap(socket) | Self::Sockets(socket) | Self::Station(socket) => {
                match nix::unistd::read(socket, buffer) {
                    Ok(len @ 1..)
                        if matches!(self, Self::Sockets(_)) && is_membership(&buffer[..len.min(buffer.len())]) =>
                    {
                        Read::Skip
                    }
                    Ok(len @ 1..) => Read::Frame(len.min(buffer.len())),
                    Ok(0) | Err(_) => Read::Nothing,
                }
            }
            Self::Veth { socket, is_spoken } => match socket.receive(buffer) {
                Ok(Some(Received { len, .. })) if *is_spoken && is_membership(&buffer[..len.min(buffer.len())]) => {
                    Read::Skip
                }
                Ok(Some(Received { len, .. })) => Read::Frame(len.min(buffer.len())),
                Ok(None) | Err(_) => Read::Nothing,
            },
            Self::Multicast(client) => match client.receive(buffer) {
                Ok(Some(Datagram::Frame(len))) => Read::Frame(len),
                Ok(Some(Datagram::Own)) => Read::Skip,
                Ok(Some(Datagram::Bad(reason))) => Read::Bad(reason),
                Ok(None) | Err(_) => Read::Nothing,
            },
            Self::Interface(interface) | Self::Listener(interface) => match interface.receive(buffer) {
                Ok(Some(heard)) => Read::Frame(heard.len),
                Ok(None) | Err(_) => Read::Nothing,
            },
            Self::Recorder => Read::Nothing,
        }
    }

    /// True if the kernel took the frame.
    pub(crate) fn write(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Tap(socket) | Self::Sockets(socket) | Self::Station(socket) => loop {
                match nix::unistd::write(socket, bytes) {
                    Err(Errno::EINTR) => {}
                    result => return result == Ok(bytes.len()),
                }
            },
            Self::Veth { socket, .. } => socket.send(bytes).is_ok(),
            Self::Multicast(client) => client.send(bytes, false),
            Self::Interface(interface) => interface.send(bytes).is_ok(),
            Self::Recorder => true,
            Self::Listener(_) => false,
        }
    }

    /// Tells the sender of a frame what became of it, if such an end is told. True if it got a copy of the frame.
    pub(crate) fn tell(&self, bytes: &[u8], fate: Fate) -> bool {
        match self {
            Self::Multicast(client) => fate == Fate::Left && client.send(bytes, true),
            Self::Station(socket) => {
                // One that is gone needs no word; the controller sees that it is.
                let _ = notice(bytes, fate).map(|notice| nix::unistd::write(socket, &notice));
                false
            }
            Self::Tap(_)
            | Self::Sockets(_)
            | Self::Veth { .. }
            | Self::Interface(_)
            | Self::Listener(_)
            | Self::Recorder => false,
        }
    }

    /// What to wait on; `None` if nothing ever comes.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Tap(socket) | Self::Sockets(socket) | Self::Station(socket) => Some(socket.as_fd()),
            Self::Veth { socket, .. } => Some(socket.as_fd()),
            Self::Multicast(client) => Some(client.as_fd()),
            Self::Interface(interface) | Self::Listener(interface) => Some(interface.as_fd()),
            Self::Recorder => None,
        }
    }

    /// Frames that come here leave the emulator: how late they do is the emulator's error.
    pub(crate) fn leads_out(&self) -> bool {
        !matches!(self, Self::Recorder | Self::Listener(_))
    }

    /// What is read here has been carried already: it is none of the medium's.
    pub(crate) fn is_carried(&self) -> bool {
        matches!(self, Self::Listener(_))
    }

    /// Messages come here in frames that the kernel makes of them.
    pub(crate) fn has_messages(&self) -> bool {
        matches!(self, Self::Sockets(_) | Self::Veth { is_spoken: true, .. })
    }

    /// Frames here are Ethernet frames.
    pub(crate) fn is_ethernet(&self) -> bool {
        matches!(self, Self::Tap(_) | Self::Veth { is_spoken: false, .. })
    }
}
