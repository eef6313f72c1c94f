//! What the kernel makes when it is asked by netlink: interfaces, and what holds back who sends over them.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::checked;

/// An attribute with its length, padded to four bytes (netlink(7)).
pub(super) fn attribute(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len() + 8);
    bytes.extend((data.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Asks the kernel for something that must not be there yet (rtnetlink(7)): `kind` is such as `RTM_NEWLINK`, and `body` what it takes.
pub(super) fn create(kind: u16, body: &[u8]) -> io::Result<()> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let len = (size_of::<libc::nlmsghdr>() + body.len()) as u32;
    let mut message = Vec::with_capacity(len as usize);
    message.extend(len.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    acknowledged(&message)
}

/// Says something to the kernel by netlink and waits for its answer.
fn acknowledged(message: &[u8]) -> io::Result<()> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers are passed.
    let raw = checked(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: `socket` has just returned this descriptor to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: the buffer is valid for its length and lives through the call.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = [0u8; 1024];
    // SAFETY: the buffer is valid for its length and lives through the call.
    let heard = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let heard = usize::try_from(heard).map_err(|_| io::Error::last_os_error())?;
    // Behind the header of 16 bytes stands the error, negative, or 0.
    let code = answer[..heard].get(16..20).and_then(|code| code.try_into().ok()).map(i32::from_ne_bytes);
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the kernel gave no answer")),
    }
}
