//! The daemon: the services over a Unix socket. The protocol is described in `docs/reference/vss-protocol.md`.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chronoseal_v2x::types::{CertificateBuf, Psid, ThreeDLocation, Time64};
use chronoseal_v2x::verify::{Context, Outcome};
use chronoseal_v2x::vss::{Answered, LayerId, NetworkIds, Relevance, Surroundings};

use super::VssError;
use super::service::{Notice, Verified, Vss, summary};

/// Version of the protocol, the first byte of every request.
pub const PROTOCOL_VERSION: u8 = 1;
/// Longest request or answer [byte].
const FRAME_LEN_MAX: usize = 1 << 18;
/// How often the station's clock is looked at.
const TICK: Duration = Duration::from_millis(50);

const OK: u8 = 0;
const REFUSED: u8 = 1;
const MALFORMED: u8 = 2;
const EVENT: u8 = 0x80;

const EVENT_REQUEST_NETWORK_ID_CHANGE: u8 = 1;
const EVENT_CHANGED: u8 = 2;
const EVENT_ABANDONED: u8 = 3;

const UNKNOWN: u32 = u32::MAX;

/// The time of the system's clock.
pub fn now() -> Time64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time64::from_unix_us(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// Requests pseudonyms from an authority and adds them; called in a thread of its own.
pub type PseudonymSource = Box<dyn FnMut(&Mutex<Vss>, usize) -> Result<(), String> + Send>;

/// A station that listens.
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    shared: Arc<Shared>,
    requests: Receiver<usize>,
}

struct Shared {
    vss: Mutex<Vss>,
    /// Who registered a layer, and how to tell it something.
    layers: Mutex<BTreeMap<LayerId, Arc<Mutex<UnixStream>>>>,
    requests: Mutex<Sender<usize>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in them is whole between calls, whatever became of a thread.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Listens at `path`, for this user alone. A socket nobody listens at any more is taken over.
    ///
    /// # Errors
    /// [`VssError::Io`].
    pub fn bind(path: &Path, vss: Vss) -> Result<Self, VssError> {
        let at = |error| VssError::io(path, error);
        if path.exists() && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path).map_err(at)?;
        }
        let listener = UnixListener::bind(path).map_err(at)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(at)?;
        let (sender, requests) = channel();
        let shared = Shared { vss: Mutex::new(vss), layers: Mutex::new(BTreeMap::new()), requests: Mutex::new(sender) };
        Ok(Self { listener, path: path.to_owned(), shared: Arc::new(shared), requests })
    }

    /// Serves until `stop` is set. `source` gets pseudonyms when the pool asks for some.
    ///
    /// # Errors
    /// [`VssError::Io`] of the socket. A client's trouble is its own.
    pub fn run(self, source: Option<PseudonymSource>, stop: &AtomicBool) -> Result<(), VssError> {
        self.listener.set_nonblocking(true).map_err(|error| VssError::io(&self.path, error))?;
        let Self { listener, path, shared, requests } = self;
        let fetcher = Arc::clone(&shared);
        thread::spawn(move || fetch(&fetcher, &requests, source));
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((client, _)) => {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || serve_client(&shared, client));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => thread::sleep(TICK),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(VssError::io(&path, error)),
            }
            tick(&shared);
        }
        let _ = std::fs::remove_file(&path);
        Ok(())
    }
}

/// Gets what the pool asks for, one request after the other.
fn fetch(shared: &Shared, requests: &Receiver<usize>, mut source: Option<PseudonymSource>) {
    while let Ok(count) = requests.recv() {
        let fetched = match &mut source {
            Some(source) => source(&shared.vss, count),
            None => Err("no authority is configured".into()),
        };
        if fetched.is_err() {
            // The pool asks again when the next message is signed; not at once, for that would be a storm.
            thread::sleep(Duration::from_secs(5));
            lock(&shared.vss).asked_in_vain(count);
        }
    }
}

fn tick(shared: &Shared) {
    let mut vss = lock(&shared.vss);
    // What could not be written down is tried again; the station signs nothing new until it is.
    let _ = vss.handle_timeout(now());
    tell(shared, &mut vss);
}

/// Passes the station's notices on.
fn tell(shared: &Shared, vss: &mut Vss) {
    while let Some(notice) = vss.poll_notice() {
        match notice {
            Notice::AskLayers { layers, ids } => {
                let clients = lock(&shared.layers).clone();
                for layer in layers {
                    let mut body = vec![EVENT_REQUEST_NETWORK_ID_CHANGE];
                    body.extend(layer.0.to_be_bytes());
                    body.extend(ids_of(&ids));
                    if let Some(client) = clients.get(&layer) {
                        send(client, EVENT, 0, &body);
                    }
                }
            }
            Notice::Changed(ids) => tell_all(shared, &[&[EVENT_CHANGED][..], &ids_of(&ids)].concat()),
            Notice::Abandoned(why) => {
                tell_all(shared, &[&[EVENT_ABANDONED][..], why.to_string().as_bytes()].concat());
            }
            Notice::RequestPseudonyms(count) => {
                // The other end goes away with the process only.
                let _ = lock(&shared.requests).send(count);
            }
        }
    }
}

fn tell_all(shared: &Shared, body: &[u8]) {
    for client in lock(&shared.layers).values() {
        send(client, EVENT, 0, body);
    }
}

fn ids_of(ids: &NetworkIds) -> Vec<u8> {
    [&ids.certificate.0[..], &ids.station_id.to_be_bytes(), &ids.link_address].concat()
}

fn send(client: &Mutex<UnixStream>, status: u8, id: u32, body: &[u8]) {
    let mut frame = Vec::with_capacity(body.len() + 9);
    frame.extend(u32::try_from(body.len() + 5).unwrap_or(u32::MAX).to_be_bytes());
    frame.push(status);
    frame.extend(id.to_be_bytes());
    frame.extend(body);
    // A client that is gone is noticed when it is read from.
    let _ = lock(client).write_all(&frame);
}

fn serve_client(shared: &Shared, mut client: UnixStream) {
    // The listener's own mode may have been inherited.
    if client.set_nonblocking(false).is_err() {
        return;
    }
    let Ok(writer) = client.try_clone() else { return };
    // A client that does not read must not hold up the others.
    let _ = writer.set_write_timeout(Some(Duration::from_secs(1)));
    let writer = Arc::new(Mutex::new(writer));
    let mut layers = Vec::new();
    while let Some(request) = receive(&mut client) {
        let Some((id, operation, body)) = header(&request) else {
            send(&writer, MALFORMED, 0, b"a request is a version 1, an operation, an id of 4 bytes, and a body");
            break;
        };
        let mut vss = lock(&shared.vss);
        let answer = perform(&mut vss, operation, &mut Body(body), &mut layers);
        for layer in &layers {
            lock(&shared.layers).entry(*layer).or_insert_with(|| Arc::clone(&writer));
        }
        match answer {
            Ok(answer) => send(&writer, OK, id, &answer),
            Err(Refusal::Service(error)) => send(&writer, REFUSED, id, error.to_string().as_bytes()),
            Err(Refusal::Malformed(what)) => send(&writer, MALFORMED, id, what.as_bytes()),
        }
        tell(shared, &mut vss);
    }
    let mut vss = lock(&shared.vss);
    for layer in layers {
        lock(&shared.layers).remove(&layer);
        let _ = vss.remove_layer(now(), layer);
    }
    tell(shared, &mut vss);
}

/// One request; none at the end, or if its length is absurd.
fn receive(client: &mut UnixStream) -> Option<Vec<u8>> {
    let mut len = [0; 4];
    client.read_exact(&mut len).ok()?;
    let len = usize::try_from(u32::from_be_bytes(len)).ok().filter(|len| *len <= FRAME_LEN_MAX)?;
    let mut request = vec![0; len];
    client.read_exact(&mut request).ok()?;
    Some(request)
}

fn header(request: &[u8]) -> Option<(u32, u8, &[u8])> {
    let (head, body) = request.split_first_chunk::<6>()?;
    let [version, operation, id @ ..] = head;
    (*version == PROTOCOL_VERSION).then(|| (u32::from_be_bytes(*id), *operation, body))
}

enum Refusal {
    Service(VssError),
    Malformed(&'static str),
}

impl<E: Into<VssError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Reads a request's body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Refusal::Malformed("the body is too short"))?;
        self.0 = rest;
        Ok(*head)
    }
    fn u8(&mut self) -> Result<u8, Refusal> {
        self.array::<1>().map(|[byte]| byte)
    }
    fn u16(&mut self) -> Result<u16, Refusal> {
        self.array().map(u16::from_be_bytes)
    }
    fn u32(&mut self) -> Result<u32, Refusal> {
        self.array().map(u32::from_be_bytes)
    }
    fn known(&mut self) -> Result<Option<u32>, Refusal> {
        self.u32().map(|value| (value != UNKNOWN).then_some(value))
    }
    fn take(&mut self, len: usize) -> Result<&'a [u8], Refusal> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Refusal::Malformed("the body is too short"))?;
        self.0 = rest;
        Ok(head)
    }
    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

fn perform(vss: &mut Vss, operation: u8, body: &mut Body<'_>, layers: &mut Vec<LayerId>) -> Result<Vec<u8>, Refusal> {
    let now = now();
    let mine = |layers: &[LayerId], layer| {
        if layers.contains(&layer) {
            Ok(layer)
        } else {
            Err(Refusal::Malformed("this client did not register that layer"))
        }
    };
    Ok(match operation {
        1 => {
            let psid = Psid(body.u32()?.into());
            let location = if body.u8()? == 0 {
                None
            } else {
                let [latitude, longitude] = [body.u32()?.cast_signed(), body.u32()?.cast_signed()];
                Some(ThreeDLocation { latitude, longitude, elevation: body.u16()? })
            };
            vss.create_signature(now, psid, body.rest(), location)?
        }
        2 => {
            let is_demanded = body.u8()? != 0;
            let relevance = Relevance { is_demanded, distance_m: body.known()?, time_to_collision_ms: body.known()? };
            answer_of(&vss.verify_signature(body.rest(), &relevance, &Context::at(now)))
        }
        3 => {
            let mut certificates = Vec::new();
            for _ in 0..body.u8()? {
                let len = body.u16()?.into();
                certificates.push(CertificateBuf::new(body.take(len)?)?);
            }
            let views: Vec<_> = certificates.iter().map(CertificateBuf::view).collect();
            vss.encrypt_sending_frame(body.rest(), &views)?
        }
        4 => vss.decrypt_received_frame(body.rest())?,
        5 => vss.change_pseudonym(now).map(|()| Vec::new())?,
        6 => {
            let duration_s = body.u8()?;
            vss.block_pseudonym_change(now, duration_s);
            Vec::new()
        }
        7 => {
            vss.free_pseudonym_change(now);
            Vec::new()
        }
        8 => {
            let layer = vss.register_request_network_id_change();
            layers.push(layer);
            layer.0.to_be_bytes().to_vec()
        }
        9 => {
            let layer = mine(layers, LayerId(body.u16()?))?;
            let answered = vss.answer(now, layer, body.u8()? != 0)?;
            vec![match answered {
                Answered::Waiting => 0,
                Answered::AllReady => 1,
                Answered::Refused(_) => 2,
                Answered::Unexpected => 3,
            }]
        }
        10 => {
            let layer = mine(layers, LayerId(body.u16()?))?;
            vss.indicate_network_id_change(now, layer).map(|()| Vec::new())?
        }
        11 => {
            let distance_mm = body.u32()?.into();
            let (near, alike) = (body.u32()?, body.u32()?);
            vss.moved(distance_mm, Surroundings { near, alike, in_mix_zone: body.u8()? != 0 });
            Vec::new()
        }
        12 => vss.statistics().prometheus().into_bytes(),
        13 => {
            let audit = vss.audit();
            let mut lines = format!("total {} chain {}\n", audit.total(), hex(&audit.chain()));
            for skipped in audit.last() {
                lines += &format!("{} {} {}\n", skipped.at_us, skipped.message, skipped.reason.name());
            }
            lines.into_bytes()
        }
        _ => return Err(Refusal::Malformed("no such operation")),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How a verdict travels.
fn answer_of(verified: &Verified) -> Vec<u8> {
    let outcome = match (verified.verdict.failure(), verified.skipped) {
        (Some(_), _) => 1,
        (None, Some(_)) => 2,
        (None, None) => 0,
    };
    let mut answer = vec![outcome];
    answer.extend(verified.verdict.signer.map_or([0; 8], |id| id.0));
    answer.extend(verified.generation_time.map_or(0, |time| time.0).to_be_bytes());
    answer.push(verified.verdict.checks.len() as u8);
    for check in &verified.verdict.checks {
        let (code, name) = match check.outcome {
            Outcome::Passed => (0, ""),
            Outcome::Failed(code) => (1, code.name()),
            Outcome::Skipped(reason) => (2, reason.name()),
        };
        for text in [check.kind.name(), name] {
            answer.push(text.len() as u8);
            answer.extend(text.as_bytes());
        }
        answer.push(code);
        answer.extend(check.took_ns.to_be_bytes());
    }
    let text = summary(verified);
    answer.extend((text.len() as u16).to_be_bytes());
    answer.extend(text.as_bytes());
    answer.extend(verified.payload.as_deref().unwrap_or_default());
    answer
}
