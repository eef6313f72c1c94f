//! TLS 1.3 and QUIC for the streams of live runs, as channels of the test bed. A program gives them to the processes of its stations:
//! [`Secured`].
//!
//! Nothing here decides what travels when, and nothing measures; the agents of `testbed` do both, as with TCP. What stations show
//! each other is made for one run and dies with it: an authority whose key is kept nowhere, and a certificate for the address of each
//! station. Neither ever is in a file.
//!
//! A message over TLS goes as over TCP, and one that waits for a packet holds up those behind it. Over QUIC each message is a
//! unidirectional stream of its own, which its length ends: what a sensor says next is worth more than what it said before, so no message
//! waits for a lost packet of another.

mod credentials;
mod quic;
mod tls;

use chronoseal_testbed::{Channel, ConnectionEnd, Credentials, TcpChannel, Transport, TransportError, Transports};

/// TLS 1.3 and QUIC, by rustls.
#[derive(Clone, Copy, Debug)]
pub struct Secured;

impl Transports for Secured {
    fn enrol(&self, addresses: &[[u8; 4]]) -> Result<Vec<Credentials>, TransportError> {
        credentials::enrol(addresses)
    }

    fn channel(
        &self,
        end: &ConnectionEnd,
        own: [u8; 4],
        mtu: u32,
        credentials: &Credentials,
    ) -> Result<Box<dyn Channel>, TransportError> {
        let identity = credentials::Identity::read(credentials)?;
        match end.transport {
            Transport::Tls => {
                let layer = tls::TlsLayer::new(&identity, end)?;
                Ok(Box::new(TcpChannel::new(*end, own, Box::new(layer)).map_err(refused)?))
            }
            Transport::Quic => Ok(Box::new(quic::QuicChannel::new(&identity, end, own, mtu)?)),
            Transport::Tcp => Err(TransportError("TCP is the kernel's".into())),
        }
    }
}

fn refused(error: impl std::fmt::Display) -> TransportError {
    TransportError(error.to_string())
}
