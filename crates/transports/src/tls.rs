//! TLS 1.3 over a connection of TCP.

use std::io::{self, Read, Write};
use std::sync::Arc;

use chronoseal_testbed::{ConnectionEnd, Layer, TransportError};
use rustls::{ClientConnection, Connection, ServerConnection};
use socket2::Socket;

use crate::credentials::{Identity, is_of, name_of};
use crate::refused;

/// Read at a time `[byte]`: some records of the longest kind.
const READ_LEN: usize = 64 << 10;

/// What is sealed and has not been taken by the kernel, at most `[byte]`.
const SEALED_MAX: usize = 256 << 10;

/// One end of a session.
pub(crate) struct TlsLayer {
    connection: Connection,
    peer: [u8; 4],
    /// Read and not looked at yet.
    raw: Box<[u8]>,
    start: usize,
    end: usize,
}

impl TlsLayer {
    /// An end that has not said anything yet.
    pub(crate) fn new(identity: &Identity, end: &ConnectionEnd) -> Result<Self, TransportError> {
        let mut connection = if end.sends {
            let client = ClientConnection::new(Arc::new(identity.client()?), name_of(end.peer));
            Connection::from(client.map_err(refused)?)
        } else {
            Connection::from(ServerConnection::new(Arc::new(identity.server()?)).map_err(refused)?)
        };
        connection.set_buffer_limit(Some(SEALED_MAX));
        let raw = vec![0; READ_LEN].into_boxed_slice();
        Ok(Self { connection, peer: end.peer, raw, start: 0, end: 0 })
    }

    /// Takes what has been read apart, or reads if nothing has.
    fn take(&mut self, mut socket: &Socket, budget: &mut usize) -> io::Result<usize> {
        if self.start == self.end {
            let most = self.raw.len().min(*budget);
            if most == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.start = 0;
            self.end = 0;
            self.end = socket.read(&mut self.raw[..most])?;
            *budget -= self.end;
        }
        let mut unread = &self.raw[self.start..self.end];
        let len = self.connection.read_tls(&mut unread)?;
        self.start += len;
        if let Err(error) = self.connection.process_new_packets() {
            // The alert says why; if nobody takes it any more, nobody needs it.
            let _ = self.flush(socket);
            return Err(io::Error::other(error));
        }
        Ok(len)
    }
}

impl Layer for TlsLayer {
    fn open(&mut self, socket: &Socket) -> io::Result<bool> {
        let mut budget = READ_LEN;
        loop {
            match self.flush(socket) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ if !self.connection.is_handshaking() => break,
                Err(_) => return Ok(false),
                Ok(()) => {}
            }
            match self.take(socket, &mut budget) {
                Ok(0) => return Err(io::Error::other("the peer ended the connection")),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        let own = self.connection.peer_certificates().and_then(|chain| chain.first());
        match own.is_some_and(|certificate| is_of(certificate, self.peer)) {
            true => Ok(true),
            false => Err(io::Error::other("the certificate is that of another station")),
        }
    }

    fn read(&mut self, socket: &Socket, into: &mut [u8], budget: &mut usize) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            if self.take(socket, budget)? == 0 {
                return Ok(0);
            }
        }
    }

    fn write(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
        let len = self.connection.writer().write(bytes)?;
        match self.flush(socket) {
            // It has been taken and waits here.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && len > 0 => Ok(len),
            Err(error) => Err(error),
            Ok(()) if len == 0 => self.connection.writer().write(bytes),
            Ok(()) => Ok(len),
        }
    }

    fn flush(&mut self, socket: &Socket) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut &*socket)?;
        }
        Ok(())
    }

    fn wants_to_write(&self) -> bool {
        self.connection.wants_write()
    }
}
