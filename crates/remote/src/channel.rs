//! Messages over a TLS connection, in whole or not at all.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustls::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tls;

/// A side that takes nothing for so long is gone.
const WRITE_WITHIN: Duration = Duration::from_secs(10);

/// A handshake may take so long.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);

/// Read at a time `[byte]`.
const READ_LEN: usize = 1 << 16;

const LENGTH_LEN: usize = 8;

/// The longest message before both sides know each other `[byte]`.
pub(crate) const FIRST_LEN_MAX: u64 = 1 << 16;

/// Why a connection is over, or a message no message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The other side ended it.
    #[error("the connection ended")]
    Closed,
    /// It said nothing for too long.
    #[error("nothing was heard for {:.0} s", .0.as_secs_f64())]
    Silent(Duration),
    /// TLS refuses it.
    #[error("{0}")]
    Refused(String),
    /// It speaks otherwise.
    #[error("what it says is no message of this protocol ({0}): is chronoseal of the same version on both sides?")]
    Strange(String),
    /// As the host put it.
    #[error("{0}")]
    Host(io::Error),
}

/// A connection on which both sides have shown who they are.
pub(crate) struct Channel {
    tls: Connection,
    tcp: TcpStream,
    /// What has come and is no whole message yet.
    inbox: Vec<u8>,
    /// What the other side should be, for messages.
    peer: &'static str,
    /// The longest message it may send `[byte]`.
    pub(crate) len_max: u64,
}

impl Channel {
    /// Shakes hands. `peer` is what the other side should be.
    pub(crate) fn open(tls: impl Into<Connection>, tcp: TcpStream, peer: &'static str) -> Result<Self, ChannelError> {
        let mut opened = Self { tls: tls.into(), tcp, inbox: Vec::new(), peer, len_max: FIRST_LEN_MAX };
        opened.shake_hands()?;
        Ok(opened)
    }

    /// However slowly the other side speaks, it has this much time for all of it.
    fn shake_hands(&mut self) -> Result<(), ChannelError> {
        let prepared = self.tcp.set_nodelay(true).and_then(|()| self.tcp.set_write_timeout(Some(WRITE_WITHIN)));
        prepared.map_err(ChannelError::Host)?;
        let end = Instant::now() + HANDSHAKE_WITHIN;
        while self.tls.is_handshaking() || self.tls.wants_write() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ChannelError::Silent(HANDSHAKE_WITHIN));
            }
            self.tcp.set_read_timeout(Some(left)).map_err(ChannelError::Host)?;
            let turned = if self.tls.wants_write() { self.tls.write_tls(&mut self.tcp) } else { self.take_in() };
            match turned {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(_) => {}
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(ChannelError::Silent(HANDSHAKE_WITHIN)),
                    ErrorKind::Interrupted => {}
                    _ => return Err(of_io(error, self.peer)),
                },
            }
        }
        Ok(())
    }

    /// Reads what has come and looks at it; 0 when the other side is gone.
    fn take_in(&mut self) -> io::Result<usize> {
        let len = self.tls.read_tls(&mut self.tcp)?;
        if let Err(error) = self.tls.process_new_packets() {
            // The other side learns why, if it still listens.
            let _ = self.tls.write_tls(&mut self.tcp);
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(len)
    }

    /// The name in the other side's certificate.
    pub(crate) fn peer_name(&self) -> String {
        let certificate = self.tls.peer_certificates().and_then(<[_]>::first);
        certificate.and_then(crate::identity::name_of).unwrap_or_default()
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<(), ChannelError> {
        let body = serde_json::to_vec(message).map_err(|error| ChannelError::Strange(error.to_string()))?;
        let mut bytes = Vec::with_capacity(LENGTH_LEN + body.len());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        self.write(&bytes).map_err(|error| of_io(error, self.peer))
    }

    fn write(&mut self, mut left: &[u8]) -> io::Result<()> {
        while !left.is_empty() {
            // It takes what it has room for, until that is sent.
            let len = self.tls.writer().write(left)?;
            left = &left[len..];
            while self.tls.wants_write() {
                self.tls.write_tls(&mut self.tcp)?;
            }
        }
        Ok(())
    }

    /// What has come, at least a byte of it; 0 when the other side has ended the connection.
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(part) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            if self.take_in()? == 0 {
                return Ok(0);
            }
        }
    }

    /// The next message, or `None` if there was none within a time; and `stamp` right after the last of it was read.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
        within: Duration,
        stamp: impl Fn() -> i64,
    ) -> Result<Option<(T, i64)>, ChannelError> {
        let end = Instant::now() + within;
        loop {
            if let Some(body) = self.take_message()? {
                let at = stamp();
                let message =
                    serde_json::from_slice(&body).map_err(|error| ChannelError::Strange(error.to_string()))?;
                return Ok(Some((message, at)));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() && !within.is_zero() {
                return Ok(None);
            }
            // No timeout at all would be for ever.
            let left = left.max(Duration::from_micros(1));
            self.tcp.set_read_timeout(Some(left)).map_err(ChannelError::Host)?;
            let mut part = [0; READ_LEN];
            match self.read(&mut part) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(len) => self.inbox.extend_from_slice(&part[..len]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(None),
                    ErrorKind::Interrupted => {}
                    _ => return Err(of_io(error, self.peer)),
                },
            }
        }
    }

    /// A message that may take as long as it is long; only in the middle nothing may come for so long.
    pub(crate) fn receive_long<T: DeserializeOwned>(&mut self, within: Duration) -> Result<T, ChannelError> {
        loop {
            let before = self.inbox.len();
            if let Some((message, _)) = self.receive(within, || 0)? {
                return Ok(message);
            }
            if self.inbox.len() == before {
                return Err(ChannelError::Silent(within));
            }
        }
    }

    fn take_message(&mut self) -> Result<Option<Vec<u8>>, ChannelError> {
        let Some(len) = self.inbox.first_chunk().map(|len| u64::from_le_bytes(*len)) else { return Ok(None) };
        if len > self.len_max {
            return Err(ChannelError::Strange(format!("a message of {len} bytes, and {} is the most", self.len_max)));
        }
        let end = LENGTH_LEN + len as usize;
        if self.inbox.len() < end {
            return Ok(None);
        }
        let rest = self.inbox.split_off(end);
        let mut message = std::mem::replace(&mut self.inbox, rest);
        message.drain(..LENGTH_LEN);
        Ok(Some(message))
    }

    /// Ends it in order, so that what was said last arrives.
    pub(crate) fn close(mut self) {
        self.tls.send_close_notify();
        // If the other side is gone already, nothing is left to say.
        let _ = self.tls.complete_io(&mut self.tcp);
        let _ = self.tcp.shutdown(Shutdown::Write);
    }
}

fn of_io(error: io::Error, peer: &'static str) -> ChannelError {
    if let Some(tls_error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return ChannelError::Refused(tls::reason(tls_error, peer));
    }
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::BrokenPipe
        | ErrorKind::ConnectionAborted => ChannelError::Closed,
        _ => ChannelError::Host(error),
    }
}
