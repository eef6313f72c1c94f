//! An agent: waits for controllers and takes part in one run at a time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chronoseal_testbed::AgentCommand;
use rustls::{ServerConfig, ServerConnection};

use crate::channel::{Channel, ChannelError};
use crate::clocks::VirtualClock;
use crate::identity::Identity;
use crate::limits::Limits;
use crate::session;
use crate::tls::{self, Unusable};

/// Connections at a time; what comes beside them is closed.
const CONNECTIONS_MAX: usize = 16;

/// It looks for new ones, and at its stop flag, this often.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How to be an agent.
pub struct ServeOptions {
    /// Who it is.
    pub identity: Identity,
    /// Where it listens for controllers.
    pub listen: SocketAddr,
    /// The address that messages of runs go through.
    pub data: Ipv4Addr,
    /// What it takes part in.
    pub limits: Limits,
    /// The clock it shows; that of the host but for tests.
    pub clock: VirtualClock,
    /// Where ptp4l of this host listens, if there is one.
    pub ptp: PathBuf,
    /// How to start the process of a station; `None`: this executable with the one argument `agent`.
    pub agent_command: Option<AgentCommand>,
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It cannot listen.
    #[error("cannot listen at {address} ({reason}): the address must be one of this host, and the port free")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// As the host put it.
        reason: io::Error,
    },
    /// Messages cannot go through an address.
    #[error(
        "messages cannot go through {address} ({reason}): it must be an address of this host; `ip address` shows them"
    )]
    Data {
        /// Which.
        address: Ipv4Addr,
        /// As the host put it.
        reason: io::Error,
    },
    /// The identity.
    #[error(transparent)]
    Identity(#[from] Unusable),
}

/// Who uses an agent, and since when.
struct Busy {
    words: String,
    since: Instant,
}

/// An agent that listens.
pub struct Server {
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    pub(crate) data: Ipv4Addr,
    pub(crate) limits: Limits,
    pub(crate) clock: VirtualClock,
    pub(crate) ptp: PathBuf,
    pub(crate) agent_command: Option<AgentCommand>,
    busy: Mutex<Option<Busy>>,
    open: AtomicUsize,
}

impl Server {
    /// Listens; controllers are answered by [`Self::run`].
    ///
    /// # Errors
    /// [`ServeError`]
    pub fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        let ServeOptions { identity, listen, data, limits, clock, ptp, agent_command } = options;
        let is_there = UdpSocket::bind((IpAddr::from(data), 0)).map(drop);
        let is_there = is_there.and_then(|()| match data.is_unspecified() {
            true => Err(io::Error::other("it stands for any address")),
            false => Ok(()),
        });
        is_there.map_err(|reason| ServeError::Data { address: data, reason })?;
        let tls = tls::server(&identity)?;
        let listened = TcpListener::bind(listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listened.map_err(|reason| ServeError::Listen { address: listen, reason })?;
        let (busy, open) = (Mutex::new(None), AtomicUsize::new(0));
        Ok(Self { listener, tls, data, limits, clock, ptp, agent_command, busy, open })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Answers controllers until `stop`. What happens is told to `note`, a line at a time.
    pub fn run(&self, note: &(dyn Fn(&str) + Sync), stop: &AtomicBool) {
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                match self.listener.accept() {
                    Ok((tcp, from)) if self.open.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX => {
                        scope.spawn(move || {
                            self.answer(tcp, from, note, stop);
                            self.open.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                    Ok((_, from)) => {
                        self.open.fetch_sub(1, Ordering::Relaxed);
                        note(&format!("{from}: closed, since {CONNECTIONS_MAX} connections are open"));
                    }
                    Err(_) => thread::sleep(LOOK_EVERY),
                }
            }
        });
    }

    fn answer(&self, tcp: TcpStream, from: SocketAddr, note: &(dyn Fn(&str) + Sync), stop: &AtomicBool) {
        let opened = tcp.set_nonblocking(false).map_err(ChannelError::Host).and_then(|()| {
            let tls = ServerConnection::new(Arc::clone(&self.tls));
            Channel::open(tls.map_err(|error| ChannelError::Refused(error.to_string()))?, tcp, "a controller")
        });
        let ended = match opened {
            Ok(channel) => session::run(self, channel, from, note, stop),
            Err(error) => Err(error),
        };
        match ended {
            // Whoever only looks whether somebody is there has nothing to hear.
            Ok(()) | Err(ChannelError::Closed) => {}
            Err(error) => note(&format!("{from}: {error}")),
        }
    }

    /// Takes the agent for a run.
    ///
    /// # Errors
    /// Who has it.
    pub(crate) fn claim(&self, words: String) -> Result<Claim<'_>, String> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Busy { words, since }) = &*busy {
            return Err(format!("it is busy: {words}, for {:.1} s", since.elapsed().as_secs_f64()));
        }
        *busy = Some(Busy { words, since: Instant::now() });
        Ok(Claim(self))
    }
}

/// The agent is taken as long as this is there.
pub(crate) struct Claim<'s>(&'s Server);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
