//! The checksum that the kernel puts into datagrams.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use super::checked;

/// Has the kernel send the datagrams of a socket without a checksum (`SO_NO_CHECK`), as IPv4 allows (RFC 768).
pub(crate) fn leave_checksum_out(socket: &impl AsFd) -> io::Result<()> {
    let yes: libc::c_int = 1;
    let len = size_of_val(&yes) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_NO_CHECK);
    // SAFETY: the pointer names a variable of the length beside it that lives through the call.
    checked(unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, option, (&raw const yes).cast(), len) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};

    #[test]
    fn a_socket_of_udp_takes_it() {
        leave_checksum_out(&Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap()).unwrap();
    }
}
