//! The receiving end: answers greetings, opens what comes, and puts messages together.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

use chronoseal_contract::{Stream, Subscriber, is_stopped, now_ns};
use chronoseal_frameauth::Opener;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, sendto, setsockopt, sockopt};

use crate::assembly::Assembly;
use crate::datagram::Front;
use crate::session::{HELLO_LEN, Hello, Secrets, draw, is_hello};

/// Publishers that have greeted and sent nothing yet.
const GREETED_MAX: usize = 16;

/// A stream that is received.
pub(crate) struct Receiver {
    socket: UdpSocket,
    sessions: Sessions,
}

/// Who may send it.
struct Sessions {
    secrets: Secrets,
    /// Whose messages are taken.
    current: Option<Session>,
    /// Those who greeted since the last message of a new session, the latest last.
    greeted: Vec<Session>,
}

struct Session {
    answer: Hello,
    opener: Opener,
    assembly: Assembly,
}

impl Receiver {
    pub(crate) fn open(own: SocketAddrV4, stream: &Stream, secrets: &Secrets) -> io::Result<Self> {
        let socket = UdpSocket::bind(own)?;
        // A kernel without it gives datagrams one by one.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        let sessions = Sessions { secrets: secrets.clone(), current: None, greeted: Vec::new() };
        Ok(Self { socket, sessions })
    }
}

impl Subscriber for Receiver {
    fn receive(&mut self, stream: &Stream) {
        let mut buffer = vec![0; 1 << 16];
        let mut refused = 0_u64;
        while !is_stopped() {
            let mut readable = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            if !matches!(nix::poll::poll(&mut readable, PollTimeout::from(100_u8)), Ok(1..)) {
                continue;
            }
            while let Some((len, each, from)) = datagrams(&self.socket, &mut buffer) {
                for datagram in buffer[..len].chunks(each) {
                    if is_hello(datagram) {
                        if let Some((answer, from)) = self.sessions.answer(stream.number, datagram).zip(from) {
                            // A publisher that hears nothing greets again.
                            let _ = sendto(self.socket.as_raw_fd(), &answer, &from, MsgFlags::MSG_DONTWAIT);
                        }
                    } else if !self.sessions.take(stream, datagram) {
                        refused += 1;
                        if refused == 1 {
                            stream.say("a datagram is refused: its seal does not fit");
                        }
                    }
                }
            }
        }
        if refused > 1 {
            stream.say(format_args!("{refused} datagrams were refused"));
        }
    }
}

/// Datagrams that the kernel has put together: how many bytes, the length of each but the last, and who sent them.
fn datagrams(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, usize, Option<SockaddrIn>)> {
    let mut control = nix::cmsg_space!(i32);
    let mut parts = [IoSliceMut::new(buffer)];
    loop {
        match recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_DONTWAIT) {
            Ok(came) => {
                let each = came.cmsgs().ok().and_then(|mut all| {
                    all.find_map(|message| match message {
                        ControlMessageOwned::UdpGroSegments(len) => usize::try_from(len).ok(),
                        _ => None,
                    })
                });
                return Some((came.bytes, each.unwrap_or(came.bytes).max(1), came.address));
            }
            Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

impl Sessions {
    /// What a greeting is answered with, if it is one for this stream.
    fn answer(&mut self, stream: u16, bytes: &[u8]) -> Option<[u8; HELLO_LEN]> {
        let hello = self.secrets.read_hello(bytes).filter(|hello| !hello.is_answer && hello.stream == stream)?;
        let is_known = |session: &&Session| session.answer.publisher == hello.publisher;
        let known = self.current.iter().chain(&self.greeted).find(is_known).map(|session| session.answer);
        let answer = match known {
            Some(answer) => answer,
            None => {
                let answer = Hello { is_answer: true, receiver: draw().ok()?, ..hello };
                let session = Session { answer, opener: self.secrets.opener(&answer)?, assembly: Assembly::default() };
                if self.greeted.len() == GREETED_MAX {
                    self.greeted.remove(0);
                }
                self.greeted.push(session);
                answer
            }
        };
        Some(self.secrets.write(&answer))
    }

    /// Takes a datagram that is no greeting; false if no seal fits.
    fn take(&mut self, stream: &Stream, datagram: &[u8]) -> bool {
        if let Some(session) = &mut self.current
            && session.take(stream, datagram)
        {
            return true;
        }
        let Some(place) = self.greeted.iter_mut().position(|session| session.take(stream, datagram)) else {
            return false;
        };
        // Nothing of an earlier session opens from here on, and who greeted before has to greet again.
        self.current = Some(self.greeted.swap_remove(place));
        self.greeted.clear();
        true
    }
}

impl Session {
    fn take(&mut self, stream: &Stream, datagram: &[u8]) -> bool {
        let Ok(opened) = self.opener.open_unordered(datagram) else { return false };
        if let Some((front, data)) = Front::read(opened.payload).filter(|(front, _)| front.stream == stream.number)
            && let Some(whole) = self.assembly.take(front, data, usize::from(self.answer.data_len))
        {
            let at_ns = now_ns();
            stream.received(whole.number, whole.bytes, whole.checksum, at_ns);
        }
        true
    }
}
