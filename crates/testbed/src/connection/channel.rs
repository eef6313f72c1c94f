//! What is behind a connection: a [`Channel`] carries the messages of one stream to or from one station. TCP is here; a program adds others,
//! such as TLS and QUIC, as [`Transports`].

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::AsFd;

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use super::ConnectionEnd;

/// What carries the messages of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub enum Transport {
    /// TCP of the kernel.
    Tcp,
    /// TLS 1.3 over TCP, with certificates on both sides.
    Tls,
    /// QUIC, with certificates on both sides; each message is a stream of its own, so they may overtake each other.
    Quic,
}

impl Transport {
    /// It is not the kernel's, so the station's program has to have it, and its stations need [`Credentials`].
    pub const fn is_secured(self) -> bool {
        !matches!(self, Self::Tcp)
    }
}

/// How a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelState<'a> {
    /// Messages cannot go yet.
    Opening,
    /// Messages go.
    Open,
    /// Nothing goes over it any more, for this reason.
    Broken(&'a str),
}

/// One end of a connection. None of its functions waits.
pub trait Channel: Send {
    /// Listens, if this end gets messages; nothing is dialled yet.
    ///
    /// # Errors
    /// As the host puts it.
    fn open(&mut self, watch: Watch<'_>) -> io::Result<()>;

    /// Begins to connect; called once, and only of an end that sends.
    ///
    /// # Errors
    /// As the host puts it. What the peer refuses is a [`ChannelState`].
    fn dial(&mut self, watch: Watch<'_>) -> io::Result<()>;

    /// How it is.
    fn state(&self) -> ChannelState<'_>;

    /// Takes a message, now or when the channel opens. False if it is broken, or has no room.
    ///
    /// # Errors
    /// As the host puts it.
    fn send(&mut self, message: &[u8], watch: Watch<'_>) -> io::Result<bool>;

    /// Does what the kernel has got ready at what it watches. Whole messages that came go to `came`.
    ///
    /// # Errors
    /// As the host puts it. What the peer does wrong is a [`ChannelState`].
    fn attend(&mut self, watch: Watch<'_>, came: &mut VecDeque<Vec<u8>>) -> io::Result<()>;
}

/// By which a channel has the kernel call for [`Channel::attend`].
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    epoll: &'a Epoll,
    index: u64,
}

impl<'a> Watch<'a> {
    /// Events of an epoll that have this for their data.
    pub fn new(epoll: &'a Epoll, index: u64) -> Self {
        Self { epoll, index }
    }

    /// Begins to watch a descriptor.
    ///
    /// # Errors
    /// As the host puts it.
    pub fn add(&self, descriptor: impl AsFd, writable: bool) -> io::Result<()> {
        Ok(self.epoll.add(descriptor, EpollEvent::new(flags(writable), self.index))?)
    }

    /// Changes whether room to write calls too.
    ///
    /// # Errors
    /// As the host puts it.
    pub fn change(&self, descriptor: impl AsFd, writable: bool) -> io::Result<()> {
        Ok(self.epoll.modify(descriptor, &mut EpollEvent::new(flags(writable), self.index))?)
    }

    /// Ends watching a descriptor.
    ///
    /// # Errors
    /// As the host puts it.
    pub fn remove(&self, descriptor: impl AsFd) -> io::Result<()> {
        Ok(self.epoll.delete(descriptor)?)
    }
}

fn flags(writable: bool) -> EpollFlags {
    EpollFlags::EPOLLIN | if writable { EpollFlags::EPOLLOUT } else { EpollFlags::empty() }
}

/// What a station shows of itself, and by what it knows others: made for one run by [`Transports::enrol`], and opaque here. It has keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(Zeroizing<Vec<u8>>);

impl Credentials {
    /// Of these bytes.
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Credentials {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Credentials {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Zeroizing::new(Vec::deserialize(deserializer)?)))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// Why a program cannot secure a connection, in words for the controller.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

/// The transports that a program adds to the kernel's.
pub trait Transports {
    /// An authority for one run, and what each station that it knows by an address has of it. The authority's key is kept nowhere.
    ///
    /// # Errors
    /// [`TransportError`]
    fn enrol(&self, addresses: &[[u8; 4]]) -> Result<Vec<Credentials>, TransportError>;

    /// One end of a connection at an address of this station, whose longest packet has `mtu` bytes.
    ///
    /// # Errors
    /// [`TransportError`], such as credentials that are not its own.
    fn channel(
        &self,
        end: &ConnectionEnd,
        own: [u8; 4],
        mtu: u32,
        credentials: &Credentials,
    ) -> Result<Box<dyn Channel>, TransportError>;
}

/// Of a program that has none but the kernel's.
#[derive(Clone, Copy, Debug)]
pub struct NoTransports;

impl NoTransports {
    fn none<T>() -> Result<T, TransportError> {
        Err(TransportError("this program has neither TLS nor QUIC; start stations by chronoseal-testbed".into()))
    }
}

impl Transports for NoTransports {
    fn enrol(&self, _: &[[u8; 4]]) -> Result<Vec<Credentials>, TransportError> {
        Self::none()
    }

    fn channel(
        &self,
        _: &ConnectionEnd,
        _: [u8; 4],
        _: u32,
        _: &Credentials,
    ) -> Result<Box<dyn Channel>, TransportError> {
        Self::none()
    }
}
