//! Messages that are longer than a datagram: sent in several, each in a packet of its own ([`chronoseal_wire::part_header`]).
//!
//! A node gives such a message as one frame, as one of a connection. Its parts go to the kernel many at a time, in one system call:
//! as one buffer that the kernel cuts as late as it can (`UDP_SEGMENT`), or, where it does not do that, as many datagrams
//! (`sendmmsg`). What comes is given to the node part by part, and the node puts it together.

use std::io::{self, IoSlice};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd};

use chronoseal_core::StreamId;
use chronoseal_wire::ipv4::{PROTOCOL_UDP, Packet};
use chronoseal_wire::part_header::PartHeader;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::udp;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, sendmmsg, sendmsg};
use serde::{Deserialize, Serialize};
use socket2::Socket;

/// Most datagrams that every kernel with `UDP_SEGMENT` takes in one buffer.
const AT_ONCE_MAX: usize = 64;

/// So long a sender waits for room in the kernel before a message is refused `[ms]`.
pub(crate) const SHORT_WAIT: u16 = 100;
/// The same where its interface holds it back, and waiting is what it is to do: a send buffer drains in that time from 200 kbit/s on.
pub(crate) const HELD_WAIT: u16 = 5_000;

/// How the messages of a stream are cut.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Parts {
    /// A message, its test-bed header included `[byte]`.
    pub message_len: u32,
    /// What of it is in each datagram but the last, behind the header `[byte]`.
    pub data_len: u16,
}

/// A stream that a port sends in parts.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct PartedStream {
    /// Which stream.
    pub stream: u16,
    /// The group that it is sent to.
    pub group: [u8; 4],
    /// How its messages are cut.
    pub parts: Parts,
}

/// What cuts messages into datagrams.
pub(crate) struct PartSender {
    /// The kernel cuts buffers, or has not been asked to.
    cuts: bool,
    /// So long it waits for room in the kernel `[ms]`.
    wait: u16,
    buffer: Vec<u8>,
}

impl Default for PartSender {
    fn default() -> Self {
        Self::waiting(SHORT_WAIT)
    }
}

impl PartSender {
    /// One that waits so long for room in the kernel before it refuses a message `[ms]`.
    pub(crate) fn waiting(wait: u16) -> Self {
        Self { cuts: true, wait, buffer: Vec::new() }
    }

    /// Sends a message in its parts.
    ///
    /// # Errors
    /// If the kernel does not take all of them; those before may have left.
    pub(crate) fn send(
        &mut self,
        socket: &Socket,
        to: SocketAddrV4,
        message: &[u8],
        Parts { data_len, .. }: Parts,
    ) -> io::Result<()> {
        let header = TestBedHeader::parse(message).map_err(|_| io::ErrorKind::InvalidInput)?;
        let data_len = usize::from(data_len).max(1);
        let len = PartHeader::LEN + data_len;
        let at_once = (udp::DATA_LEN_MAX / len).clamp(1, AT_ONCE_MAX);
        let data = &message[TestBedHeader::LEN..];
        let last = data.len().div_ceil(data_len).saturating_sub(1);
        for (batch, chunk) in data.chunks(at_once * data_len).enumerate() {
            self.buffer.clear();
            for (index, data) in chunk.chunks(data_len).enumerate() {
                let part = batch * at_once + index;
                let mut front = [0; PartHeader::LEN];
                let more = part != last;
                let part = u16::try_from(part).map_err(|_| io::ErrorKind::InvalidInput)?;
                PartHeader { stream: header.stream, part, more, sequence: header.sequence }.emit(&mut front);
                self.buffer.extend_from_slice(&front);
                self.buffer.extend_from_slice(data);
            }
            self.send_buffer(socket, to.into(), len)?;
        }
        Ok(())
    }

    /// Sends the datagrams of this length that are in the buffer.
    fn send_buffer(&mut self, socket: &Socket, to: SockaddrIn, len: usize) -> io::Result<()> {
        if self.cuts && self.buffer.len() > len {
            let size = u16::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
            let cut = [ControlMessage::UdpGsoSegments(&size)];
            let parts = [IoSlice::new(&self.buffer)];
            let sent = with_room(socket, self.wait, || {
                sendmsg(socket.as_raw_fd(), &parts, &cut, MsgFlags::MSG_DONTWAIT, Some(&to))
            });
            match sent {
                // No such option, or an interface that cannot do without checksums of ours.
                Err(Errno::EIO | Errno::EINVAL | Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) => self.cuts = false,
                sent => return sent.map(|_| ()).map_err(io::Error::from),
            }
        }
        let datagrams: Vec<[IoSlice<'_>; 1]> = self.buffer.chunks(len).map(|data| [IoSlice::new(data)]).collect();
        let mut from = 0;
        while from < datagrams.len() {
            let rest = &datagrams[from..];
            let addresses = vec![Some(to); rest.len()];
            from += with_room(socket, self.wait, || {
                let mut headers = MultiHeaders::preallocate(rest.len(), None);
                let sent = sendmmsg(socket.as_raw_fd(), &mut headers, rest, &addresses, [], MsgFlags::MSG_DONTWAIT)?;
                Ok(sent.count())
            })?;
        }
        Ok(())
    }
}

/// Tries again when there is room in the kernel, once.
fn with_room<T>(socket: &Socket, wait: u16, mut send: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    match send() {
        Err(Errno::EAGAIN | Errno::ENOBUFS) => {
            await_room(socket, wait)?;
            send()
        }
        Err(Errno::EINTR) => send(),
        sent => sent,
    }
}

/// Until there is room in the kernel for what a socket sends, at most so long `[ms]`.
pub(crate) fn await_room(socket: &Socket, wait: u16) -> nix::Result<()> {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    nix::poll::poll(&mut polled, PollTimeout::from(wait)).map(|_| ())
}

/// The stream among these that a message is of.
pub(crate) fn stream_of<'a>(message: &[u8], streams: &'a [PartedStream]) -> Option<&'a PartedStream> {
    let StreamId(stream) = TestBedHeader::parse(message).ok()?.stream;
    streams.iter().find(|parted| parted.stream == stream)
}

/// True of a frame that is one of several datagrams of a message.
pub(crate) fn is_part(frame: &[u8]) -> bool {
    let packet = Packet::in_frame(frame).and_then(Result::ok).filter(|packet| packet.protocol == PROTOCOL_UDP);
    let header = packet.and_then(|packet| PartHeader::parse(packet.data.get(udp::HEADER_LEN..)?).ok());
    header.is_some_and(|header| !header.is_whole())
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Protocol, Type};
    use std::net::Ipv4Addr;

    /// What comes out at the other end of a socket, part by part.
    fn received(sender: &mut PartSender, message: &[u8], data_len: u16) -> Vec<Vec<u8>> {
        let socket = || Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).expect("a socket");
        let (from, to) = (socket(), socket());
        to.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
        to.set_nonblocking(true).expect("it is possible");
        let _ = nix::sys::socket::setsockopt(&to, nix::sys::socket::sockopt::RcvBufForce, &(8 << 20));
        let address = to.local_addr().expect("it is bound").as_socket_ipv4().expect("IPv4");
        let parts = Parts { message_len: message.len() as u32, data_len };
        sender.send(&from, address, message, parts).expect("it is sent");
        let mut buffer = [0; 1 << 16];
        let next =
            || nix::sys::socket::recv(to.as_raw_fd(), &mut buffer, MsgFlags::empty()).map(|len| buffer[..len].to_vec());
        std::iter::from_fn({
            let mut next = next;
            move || next().ok()
        })
        .collect()
    }

    #[test]
    fn a_message_leaves_in_the_same_parts_whoever_cuts_it() {
        let mut message: Vec<u8> = (0..20_003u32).map(|at| (at * 7) as u8).collect();
        TestBedHeader { stream: StreamId(5), sequence: 9 }.emit(&mut message);
        for data_len in [100u16, 1_464, 19_994, 19_995, 20_000] {
            let by_kernel = received(&mut PartSender::default(), &message, data_len);
            let one_by_one = received(&mut PartSender { cuts: false, ..PartSender::default() }, &message, data_len);
            assert!(by_kernel == one_by_one, "{data_len}");
            let parts = (message.len() - TestBedHeader::LEN).div_ceil(usize::from(data_len));
            assert_eq!(by_kernel.len(), parts);
            let mut whole = message[..TestBedHeader::LEN].to_vec();
            for (number, datagram) in by_kernel.iter().enumerate() {
                let header = PartHeader::parse(datagram).expect("a header");
                assert_eq!((header.part, header.more), (number as u16, number + 1 < parts));
                assert_eq!((header.stream, header.sequence), (StreamId(5), 9));
                whole.extend_from_slice(&datagram[PartHeader::LEN..]);
            }
            assert!(whole == message, "{data_len}");
        }
    }

    #[test]
    fn the_kernel_of_this_host_cuts() {
        let mut sender = PartSender::default();
        received(&mut sender, &[0; 5_000], 1_000);
        // Linux has it since 4.18, and the loopback interface needs no checksums.
        assert!(sender.cuts);
    }
}
