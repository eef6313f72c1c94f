//! Frames of a socket, and whether it had sent them itself.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The next frame's length in `buffer` and if it is this socket's own (`MSG_CONFIRM`), or `None` if there is none yet.
pub(crate) fn receive_confirmed(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<(usize, bool)>> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a `msghdr` is plain data, valid when all zero.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    // SAFETY: every pointer in `message` names memory of the length beside it that lives through the call.
    let len = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    match usize::try_from(len) {
        Ok(len) => Ok(Some((len, message.msg_flags & libc::MSG_CONFIRM != 0))),
        Err(_) => {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error),
            }
        }
    }
}
