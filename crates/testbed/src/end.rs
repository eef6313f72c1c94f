//! Where a wire of the emulator ends, and how frames get there.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::layout;
use nix::errno::Errno;

use crate::can::interface::CanInterface;
use crate::can::multicast::{Datagram, Multicast};

/// What tells a station that its frame has left: the frame without its data, which is shorter than any frame.
pub(crate) fn confirmation_of(frame: &[u8]) -> &[u8] {
    frame.get(..CONFIRMATION_LEN).unwrap_or(frame)
}

/// Identifier, length and flags of a CAN frame `[byte]`.
pub(crate) const CONFIRMATION_LEN: usize = layout::HEADER_LEN;

/// The emulator's end of one wire.
pub(crate) enum End {
    /// A TAP interface in an agent's namespace: Ethernet frames.
    Tap(OwnedFd),
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
            Self::Tap(socket) | Self::Station(socket) => match nix::unistd::read(socket, buffer) {
                Ok(len @ 1..) => Read::Frame(len.min(buffer.len())),
                Ok(0) | Err(_) => Read::Nothing,
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
            Self::Tap(socket) | Self::Station(socket) => loop {
                match nix::unistd::write(socket, bytes) {
                    Err(Errno::EINTR) => {}
                    result => return result == Ok(bytes.len()),
                }
            },
            Self::Multicast(client) => client.send(bytes, false),
            Self::Interface(interface) => interface.send(bytes).is_ok(),
            Self::Recorder => true,
            Self::Listener(_) => false,
        }
    }

    /// Tells the sender of a frame that it was on the bus, if such an end is told. True if it got a copy of the frame.
    pub(crate) fn confirm(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Multicast(client) => client.send(bytes, true),
            Self::Station(socket) => {
                // One that is gone needs no word; the controller sees that it is.
                let _ = nix::unistd::write(socket, confirmation_of(bytes));
                false
            }
            Self::Tap(_) | Self::Interface(_) | Self::Listener(_) | Self::Recorder => false,
        }
    }

    /// What to wait on; `None` if nothing ever comes.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Tap(socket) | Self::Station(socket) => Some(socket.as_fd()),
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

    /// Frames here are Ethernet frames.
    pub(crate) fn is_ethernet(&self) -> bool {
        matches!(self, Self::Tap(_))
    }
}
