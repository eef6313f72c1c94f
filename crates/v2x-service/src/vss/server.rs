//! The daemon: the services over a Unix socket. The protocol is described in `docs/reference/vss-protocol.md`.
//!
//! One thread takes turns between the clients and the messages that wait for verification. While a batch is verified,
//! the next one gathers in the sockets; when nothing waits, a message is verified as it comes.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chronoseal_v2x::vss::{LayerId, PseudonymOrder};
use nix::poll::{PollFd, PollFlags, ppoll};

use super::VssError;
use super::connection::Connection;
use super::credential::{self, CredentialKeeper};
use super::lists::ListSource;
use super::misbehaviour::{self, Reporter};
use super::protocol::{self, Request, Status, answer, answer_of, ids_of};
use super::receiving::{Asker, Verified};
use super::service::{Notice, Vss};
use crate::pki::Clock;

/// How often the station's clock is looked at.
const TICK: Duration = Duration::from_millis(50);
/// Clients served at once; more of them wait until one is gone, or has been silent for [`SILENT_MAX`].
const CLIENTS_MAX: usize = 64;
/// How long a client that is no layer may be silent while others wait.
const SILENT_MAX: Duration = Duration::from_secs(1);

/// Requests pseudonyms from an authority and adds them; called in a thread of its own.
pub type PseudonymSource = Box<dyn FnMut(&Mutex<Vss>, &PseudonymOrder) -> Result<(), VssError> + Send>;

/// A station that listens.
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    vss: Arc<Mutex<Vss>>,
    users: Vec<u32>,
    lists: Option<ListSource>,
    credential: Option<CredentialKeeper>,
    reporter: Option<Reporter>,
    clock: Clock,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in them is whole between calls, whatever became of a thread.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Listens at `path`, for this user alone. A socket nobody listens at any more is taken over; anything else that is
    /// there stays.
    ///
    /// # Errors
    /// [`VssError::Io`]: of kind [`std::io::ErrorKind::AlreadyExists`] if there is a file that is no socket, of kind
    /// [`std::io::ErrorKind::AddrInUse`] if somebody listens.
    pub fn bind(path: &Path, vss: Vss) -> Result<Self, VssError> {
        let at = |error| VssError::io(path, error);
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => {
                if UnixStream::connect(path).is_err() {
                    std::fs::remove_file(path).map_err(at)?;
                }
            }
            Ok(_) => {
                let reason = "there is a file that is no socket; name another path, or move the file away";
                return Err(at(std::io::Error::new(std::io::ErrorKind::AlreadyExists, reason)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(error)),
        }
        let listener = UnixListener::bind(path).map_err(at)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(at)?;
        listener.set_nonblocking(true).map_err(at)?;
        let users = vec![nix::unistd::geteuid().as_raw()];
        Ok(Self {
            listener,
            path: path.to_owned(),
            vss: Arc::new(Mutex::new(vss)),
            users,
            lists: None,
            credential: None,
            reporter: None,
            clock: Clock::default(),
        })
    }

    /// Serves these users of the host, by their numbers, besides the one this process runs as. The kernel says who connects;
    /// whoever is not among them is disconnected at once.
    ///
    /// # Errors
    /// [`VssError::Io`].
    pub fn permit(mut self, users: &[u32]) -> Result<Self, VssError> {
        if !users.is_empty() {
            let mode = std::fs::Permissions::from_mode(0o666);
            std::fs::set_permissions(&self.path, mode).map_err(|error| VssError::io(&self.path, error))?;
        }
        self.users.extend(users);
        Ok(self)
    }

    /// Fetches trust lists and revocation lists, at once and then as often as `source` says.
    #[must_use]
    pub fn with_lists(mut self, source: ListSource) -> Self {
        self.lists = Some(source);
        self
    }

    /// Has the enrolment credential renewed before it ends.
    #[must_use]
    pub fn with_credential(mut self, keeper: Option<CredentialKeeper>) -> Self {
        self.credential = keeper;
        self
    }

    /// Has misbehaviour of others reported.
    #[must_use]
    pub fn with_reporter(mut self, reporter: Option<Reporter>) -> Self {
        self.reporter = reporter;
        self
    }

    /// Goes by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Serves until `stop` is set. `source` gets pseudonyms when the pool asks for some.
    ///
    /// # Errors
    /// [`VssError::Io`] of the socket. A client's trouble is its own.
    pub fn run(self, source: Option<PseudonymSource>, stop: &AtomicBool) -> Result<(), VssError> {
        let Self { listener, path, vss, users, lists, credential, reporter, clock } = self;
        // Ends with this function; whatever is fetched then is of no use any more.
        let (_end, ended) = channel::<()>();
        if let Some((source, every)) = lists.and_then(|source| source.every().map(|every| (source, every))) {
            let (vss, clock) = (Arc::clone(&vss), clock.clone());
            thread::spawn(move || refresh(&vss, &source, every, &clock, &ended));
        }
        let mut ends = Vec::new();
        if let Some(mut keeper) = credential {
            let (vss, clock) = (Arc::clone(&vss), clock.clone());
            ends.push(every(credential::LOOK_EVERY, move || keeper.look(&vss, &clock)));
        }
        if let Some(mut reporter) = reporter {
            let (vss, clock) = (Arc::clone(&vss), clock.clone());
            ends.push(every(misbehaviour::LOOK_EVERY, move || reporter.look(&vss, &clock)));
        }
        let (requests, to_fetch) = channel();
        let (fetcher, fetchers_clock) = (Arc::clone(&vss), clock.clone());
        thread::spawn(move || fetch(&fetcher, &to_fetch, source, &fetchers_clock));
        let mut clients = Clients {
            all: BTreeMap::new(),
            next: 0,
            layers: BTreeMap::new(),
            requests,
            users,
            clock,
            accepts_from: Instant::now(),
        };
        let mut ticked = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let ready = clients.wait(&listener, &vss, TICK.saturating_sub(ticked.elapsed()));
            let ready = ready.map_err(|error| VssError::io(&path, error))?;
            let mut vss = lock(&vss);
            clients.read(&ready);
            clients.serve(&mut vss);
            clients.verify(&mut vss);
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                // What could not be written down is tried again; the station signs nothing new until it is.
                let _ = vss.handle_timeout(clients.clock.now());
            }
            clients.tell(&mut vss);
            clients.write();
            clients.finish(&mut vss);
        }
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.file_type().is_socket()) {
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    }
}

/// Does something at once and then again and again, in a thread of its own, until what is given back is gone.
fn every(pause: Duration, mut act: impl FnMut() + Send + 'static) -> Sender<()> {
    let (end, ended) = channel::<()>();
    thread::spawn(move || {
        act();
        while matches!(ended.recv_timeout(pause), Err(RecvTimeoutError::Timeout)) {
            act();
        }
    });
    end
}

/// Keeps trust lists and revocation lists up to date, until the other end of `ended` is gone.
fn refresh(vss: &Mutex<Vss>, source: &ListSource, every: Duration, clock: &Clock, ended: &Receiver<()>) {
    loop {
        source.refresh(vss, clock);
        if !matches!(ended.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
            return;
        }
    }
}

/// Gets what the pool asks for, one request after the other.
fn fetch(vss: &Mutex<Vss>, requests: &Receiver<PseudonymOrder>, mut source: Option<PseudonymSource>, clock: &Clock) {
    while let Ok(order) = requests.recv() {
        let fetched = match &mut source {
            Some(source) => source(vss, &order).map_err(|error| error.to_string()),
            None => {
                Err("no authority is configured; name one in [authority], or set pseudonyms.ask = false".to_owned())
            }
        };
        if let Err(reason) = fetched {
            // The station knows when to ask again.
            lock(vss).asked_in_vain(clock.now(), &reason);
        }
    }
}

/// Whoever is connected.
struct Clients {
    all: BTreeMap<u64, Connection>,
    /// Number of the next one.
    next: u64,
    /// Who registered a layer.
    layers: BTreeMap<LayerId, u64>,
    requests: Sender<PseudonymOrder>,
    /// Who may connect.
    users: Vec<u32>,
    clock: Clock,
    /// From when on a client is accepted: a while after there was no descriptor for one.
    accepts_from: Instant,
}

impl Clients {
    /// Waits until a client wants something or takes something, a message is due, or the time is over. Tells whom to
    /// read from, and accepts whoever is new.
    fn wait(&mut self, listener: &UnixListener, vss: &Mutex<Vss>, at_most: Duration) -> std::io::Result<Vec<u64>> {
        let go_on = self.all.values().any(Connection::can_go_on).then_some(Duration::ZERO);
        let at_most = lock(vss).due_in().into_iter().chain(go_on).fold(at_most, Duration::min);
        let has_room = self.all.len() < CLIENTS_MAX || self.silent().is_some();
        let accepts = has_room && self.accepts_from <= Instant::now();
        let mut descriptors = vec![PollFd::new(listener.as_fd(), flags(accepts, false))];
        descriptors.extend(
            self.all
                .values()
                .map(|client| PollFd::new(client.as_fd(), flags(client.wants_to_read(), client.wants_to_write()))),
        );
        match ppoll(&mut descriptors, Some(at_most.into()), None) {
            Err(nix::errno::Errno::EINTR) => return Ok(Vec::new()),
            other => other?,
        };
        let events = descriptors.iter().map(|one| one.revents().unwrap_or(PollFlags::empty())).collect::<Vec<_>>();
        let mut ready = Vec::new();
        for ((number, client), events) in self.all.iter_mut().zip(&events[1..]) {
            if events.contains(PollFlags::POLLIN) {
                ready.push(*number);
            } else if events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR) {
                client.give_up();
            }
        }
        for client in self.all.values_mut() {
            if client.is_stuck() {
                client.give_up();
            }
        }
        if events[0].contains(PollFlags::POLLIN) {
            if self.all.len() >= CLIENTS_MAX {
                self.end_silent();
            }
            self.accept(listener)?;
        }
        Ok(ready)
    }

    /// Ends the client that has been silent for longest, for another.
    fn end_silent(&mut self) {
        if let Some(client) = self.silent().and_then(|number| self.all.get_mut(&number)) {
            client.give_up();
        }
    }

    /// The client that has been silent for longest, if that is long enough to make room for another.
    fn silent(&self) -> Option<u64> {
        let idle = self.all.iter().filter_map(|(number, client)| Some((client.idle_for()?, *number)));
        idle.max().filter(|(idle_for, _)| *idle_for >= SILENT_MAX).map(|(_, number)| number)
    }

    /// Whether the user at the other end may ask for anything.
    fn is_permitted(&self, stream: &UnixStream) -> bool {
        let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials);
        peer.is_ok_and(|peer| self.users.contains(&peer.uid()))
    }

    fn accept(&mut self, listener: &UnixListener) -> std::io::Result<()> {
        use std::io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
        let accepted = match listener.accept() {
            Ok((stream, _)) if !self.is_permitted(&stream) => return Ok(()),
            Ok((stream, _)) => Connection::new(stream),
            Err(error) => Err(error),
        };
        match accepted {
            Ok(client) => {
                self.all.insert(self.next, client);
                self.next += 1;
                Ok(())
            }
            Err(error) if matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted) => Ok(()),
            Err(error) if is_shortage(&error) => {
                // Those who are connected are served as before; who waits gets the descriptor of a silent one.
                self.end_silent();
                self.accepts_from = Instant::now() + TICK;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, ready: &[u64]) {
        for number in ready {
            if let Some(client) = self.all.get_mut(number) {
                client.read();
            }
        }
    }

    /// Takes every request that is not held up.
    fn serve(&mut self, vss: &mut Vss) {
        let numbers: Vec<u64> = self.all.keys().copied().collect();
        for number in numbers {
            self.take_requests(vss, number);
        }
    }

    fn take_requests(&mut self, vss: &mut Vss, number: u64) {
        while let Some(client) = self.all.get_mut(&number)
            && let Some(request) = client.next_request()
        {
            let place = client.owe(request.id);
            if request.operation == protocol::VERIFY_SIGNATURE {
                self.let_wait(vss, &request, Asker { client: number, number: place });
            } else {
                let result = request.perform(vss, self.clock.now(), &mut client.layers);
                for layer in &client.layers {
                    self.layers.insert(*layer, number);
                }
                client.answer(place, answer(result));
                self.tell(vss);
            }
        }
    }

    fn let_wait(&mut self, vss: &mut Vss, request: &Request, asker: Asker) {
        match request.to_verify() {
            Ok((message, relevance)) => {
                if let Some((asker, dropped)) = vss.receive(asker, message, relevance, self.clock.now()) {
                    self.deliver(asker, &dropped);
                }
            }
            Err(refusal) => {
                if let Some(client) = self.all.get_mut(&asker.client) {
                    client.answer(asker.number, answer(Err(refusal)));
                }
            }
        }
    }

    /// Verifies a batch, if one is due, and takes requests that waited for its end.
    fn verify(&mut self, vss: &mut Vss) {
        if vss.due_in().is_none_or(|due| !due.is_zero()) {
            return;
        }
        vss.verify_waiting(self.clock.now(), |asker, verified| self.deliver(asker, &verified));
        self.serve(vss);
    }

    /// Unless the asker is gone.
    fn deliver(&mut self, asker: Asker, verified: &Verified) {
        if let Some(client) = self.all.get_mut(&asker.client) {
            client.answer(asker.number, (Status::Ok, answer_of(verified)));
        }
    }

    /// Lets go of those who are gone, and of their layers.
    fn finish(&mut self, vss: &mut Vss) {
        for (_, client) in self.all.extract_if(.., |_, client| client.is_over()) {
            for layer in client.layers {
                self.layers.remove(&layer);
                let _ = vss.remove_layer(self.clock.now(), layer);
            }
        }
        self.tell(vss);
    }

    /// Passes the station's notices on.
    fn tell(&mut self, vss: &mut Vss) {
        while let Some(notice) = vss.poll_notice() {
            match notice {
                Notice::AskLayers { layers, ids } => {
                    for layer in layers {
                        let mut body = vec![protocol::EVENT_REQUEST_NETWORK_ID_CHANGE];
                        body.extend(layer.0.to_be_bytes());
                        body.extend(ids_of(&ids));
                        self.tell_layer(layer, &body);
                    }
                }
                Notice::Changed(ids) => self.tell_all(&[&[protocol::EVENT_CHANGED][..], &ids_of(&ids)].concat()),
                Notice::Abandoned(why) => {
                    self.tell_all(&[&[protocol::EVENT_ABANDONED][..], why.to_string().as_bytes()].concat());
                }
                Notice::RequestPseudonyms(order) => {
                    // The other end goes away with the process only.
                    let _ = self.requests.send(order);
                }
            }
        }
    }

    fn tell_all(&mut self, body: &[u8]) {
        let layers: Vec<LayerId> = self.layers.keys().copied().collect();
        for layer in layers {
            self.tell_layer(layer, body);
        }
    }

    fn tell_layer(&mut self, layer: LayerId, body: &[u8]) {
        if let Some(client) = self.layers.get(&layer).and_then(|number| self.all.get_mut(number)) {
            client.tell(body);
        }
    }

    fn write(&mut self) {
        for client in self.all.values_mut() {
            client.write();
        }
    }
}

/// Whether the system has no descriptor or no memory for a connection now.
fn is_shortage(error: &std::io::Error) -> bool {
    use nix::libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
    error.raw_os_error().is_some_and(|number| [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(&number))
}

fn flags(reads: bool, writes: bool) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::POLLIN, reads);
    flags.set(PollFlags::POLLOUT, writes);
    flags
}
