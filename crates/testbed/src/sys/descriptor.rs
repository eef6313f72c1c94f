//! File descriptors across a Unix socket (`SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Most descriptors in one message.
const COUNT_MAX: usize = 16;

/// Sends copies of `descriptors`, a byte with each few of them, and one if there are none.
pub(crate) fn send_descriptors(socket: &UnixStream, descriptors: &[OwnedFd]) -> io::Result<()> {
    if descriptors.is_empty() {
        return send_some(socket, &[]);
    }
    descriptors.chunks(COUNT_MAX).try_for_each(|some| send_some(socket, some))
}

fn send_some(socket: &UnixStream, descriptors: &[OwnedFd]) -> io::Result<()> {
    let raw: Vec<_> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let rights = if raw.is_empty() { &[] } else { &rights[..] };
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(b"F")], rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives what [`send_descriptors`] sent: `count` descriptors, or fewer if a message has none.
pub(crate) fn receive_descriptors(socket: &UnixStream, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut received = receive_some(socket)?;
    while received.len() < count {
        match receive_some(socket)? {
            none if none.is_empty() => break,
            some => received.extend(some),
        }
    }
    Ok(received)
}

fn receive_some(socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut byte = [0u8];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; COUNT_MAX]);
    let message = loop {
        // A signal ends the wait if the socket has a timeout, even one that the process ignores.
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC) {
            Err(Errno::EINTR) => {}
            result => break result?,
        }
    };
    let mut received = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            // SAFETY: the kernel has just made these descriptors for this process, and nobody else knows them.
            received.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok(received)
}
