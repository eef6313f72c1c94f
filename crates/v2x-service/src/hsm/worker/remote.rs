//! The daemon's side: starts a worker, asks it, notices when it is gone.

use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zeroize::Zeroizing;

use super::wire::{self, Answer, Info, Point, Request};
use crate::hsm::config::BackEnd;
use crate::hsm::ledger::Ledger;
use crate::hsm::{
    Capabilities, Curve, EcdsaSignature, Hsm, HsmError, ImportedKey, KeyHandle, KeyInfo, NONCE_LEN, Persistence,
    PublicPoint, Recovery, SharedX, check_label, curve,
};

/// A worker that has not answered for this long is taken for dead. Smart cards need seconds for a key.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Most digests in one request.
const BATCH_LEN_MAX: usize = 256;

/// A back end in a worker process.
pub struct Remote {
    program: PathBuf,
    back_end: BackEnd,
    pin: Zeroizing<String>,
    timeout: Duration,
    /// `None` after it was lost.
    worker: Option<Worker>,
    capabilities: Capabilities,
    predefined: Option<RangeInclusive<u32>>,
    ledger: Ledger,
}

struct Worker {
    child: Child,
    socket: UnixStream,
}

impl Remote {
    /// Starts `program` and has it open `back_end`.
    ///
    /// # Errors
    /// [`HsmError::Io`] if the program does not start, [`HsmError::NoDevice`] if it ends or stays silent, else what opening
    /// the back end returned.
    pub fn start(program: PathBuf, back_end: BackEnd, pin: Zeroizing<String>) -> Result<Self, HsmError> {
        Self::start_with(program, back_end, pin, ANSWER_TIMEOUT)
    }

    /// As [`Remote::start`], with another limit on the time of one call.
    ///
    /// # Errors
    /// As [`Remote::start`].
    pub fn start_with(
        program: PathBuf,
        back_end: BackEnd,
        pin: Zeroizing<String>,
        timeout: Duration,
    ) -> Result<Self, HsmError> {
        let (worker, capabilities, predefined) = open(&program, &back_end, &pin, timeout)?;
        let worker = Some(worker);
        let ledger = Ledger::default();
        let mut remote = Self { program, back_end, pin, timeout, worker, capabilities, predefined, ledger };
        let present = remote.list()?;
        remote.ledger.recover(&present);
        Ok(remote)
    }

    /// Process of the worker, while there is one.
    #[must_use]
    pub fn worker_id(&self) -> Option<u32> {
        self.worker.as_ref().map(|worker| worker.child.id())
    }

    /// One request, one answer. Anything wrong with the worker ends it.
    fn ask(&mut self, request: &Request) -> Result<Answer, HsmError> {
        let Some(worker) = &mut self.worker else { return Err(self.ledger.device_lost()) };
        match worker.ask(request) {
            Ok(Answer::Refused(error)) => Err(error),
            Ok(answer) => Ok(answer),
            Err(_) => {
                // Dropping it kills and reaps it.
                self.worker = None;
                Err(self.ledger.device_lost())
            }
        }
    }

    fn keep(&mut self, request: &Request, persistence: Persistence) -> Result<KeyHandle, HsmError> {
        let Answer::Key(handle) = self.ask(request)? else { return Err(unexpected()) };
        self.ledger.insert(handle, persistence);
        Ok(handle)
    }
}

impl Worker {
    fn start(program: &Path, back_end: &BackEnd, timeout: Duration) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(timeout))?;
        socket.set_write_timeout(Some(timeout))?;
        let environment = back_end.environment().into_iter().flatten();
        let child = Command::new(program)
            .arg(super::WORKER_ARGUMENT)
            .envs(environment)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self { child, socket })
    }

    fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        wire::send(&self.socket, request)?;
        wire::receive(&self.socket)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

type Opened = (Worker, Capabilities, Option<RangeInclusive<u32>>);

fn open(program: &Path, back_end: &BackEnd, pin: &str, timeout: Duration) -> Result<Opened, HsmError> {
    let mut worker = Worker::start(program, back_end, timeout).map_err(|error| HsmError::file(program, &error))?;
    let request = Request::Open { back_end: back_end.clone(), pin: pin.to_owned() };
    match worker.ask(&request) {
        Ok(Answer::Opened { capabilities, predefined }) => {
            Ok((worker, capabilities.capabilities(), predefined.map(|(first, last)| first..=last)))
        }
        Ok(Answer::Refused(error)) => Err(error),
        Ok(_) => Err(unexpected()),
        Err(error) => Err(HsmError::NoDevice(format!("the worker ended while opening it: {error}"))),
    }
}

fn unexpected() -> HsmError {
    HsmError::Protocol("the worker answered another question".into())
}

impl Hsm for Remote {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create_symmetric(&mut self, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        self.keep(&Request::CreateSymmetric { persistence, label: label.into() }, persistence)
    }

    fn create_pair(&mut self, curve: Curve, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        let curve = curve::code(curve);
        self.keep(&Request::CreatePair { curve, persistence, label: label.into() }, persistence)
    }

    fn import(&mut self, key: &ImportedKey, persistence: Persistence, label: &str) -> Result<KeyHandle, HsmError> {
        check_label(label)?;
        let secret = match key {
            ImportedKey::Aes128(key) => key.to_vec(),
            ImportedKey::Pair(_, scalar) => scalar.to_vec(),
        };
        let kind = wire::kind_code(key.kind());
        let mut request = Request::Import { kind, secret, persistence, label: label.into() };
        let result = self.keep(&request, persistence);
        if let Request::Import { secret, .. } = &mut request {
            zeroize::Zeroize::zeroize(secret);
        }
        result
    }

    fn export_public(&mut self, key: KeyHandle) -> Result<PublicPoint, HsmError> {
        let Answer::Point(point) = self.ask(&Request::ExportPublic { key })? else { return Err(unexpected()) };
        point.public()
    }

    fn list(&mut self) -> Result<Vec<KeyInfo>, HsmError> {
        let Answer::Infos(infos) = self.ask(&Request::List)? else { return Err(unexpected()) };
        infos.into_iter().map(Info::info).collect()
    }

    fn delete(&mut self, key: KeyHandle) -> Result<(), HsmError> {
        let Answer::Done = self.ask(&Request::Delete { key })? else { return Err(unexpected()) };
        self.ledger.remove(key);
        Ok(())
    }

    fn sign_digest(&mut self, key: KeyHandle, digest: &[u8]) -> Result<EcdsaSignature, HsmError> {
        let Answer::Point(signature) = self.ask(&Request::Sign { key, digest: digest.into() })? else {
            return Err(unexpected());
        };
        signature.signature()
    }

    fn sign_batch(&mut self, key: KeyHandle, digests: &[&[u8]]) -> Result<Vec<EcdsaSignature>, HsmError> {
        let mut signatures = Vec::with_capacity(digests.len());
        // A message has a greatest length, and a worker a greatest time to answer.
        for some in digests.chunks(BATCH_LEN_MAX) {
            let digests = some.iter().map(|digest| digest.to_vec()).collect();
            let Answer::Points(points) = self.ask(&Request::SignBatch { key, digests })? else {
                return Err(unexpected());
            };
            for point in &points {
                signatures.push(point.signature()?);
            }
        }
        if signatures.len() == digests.len() { Ok(signatures) } else { Err(unexpected()) }
    }

    fn verify(&mut self, public: &PublicPoint, digest: &[u8], signature: &EcdsaSignature) -> Result<bool, HsmError> {
        let (public, signature) = (Point::of_public(public), Point::of_signature(signature));
        let request = Request::Verify { public, digest: digest.into(), signature };
        let Answer::Holds(holds) = self.ask(&request)? else { return Err(unexpected()) };
        Ok(holds)
    }

    fn encrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let request = Request::Encrypt { key, nonce: *nonce, plaintext: plaintext.into() };
        let Answer::Bytes(bytes) = self.ask(&request)? else { return Err(unexpected()) };
        Ok(bytes)
    }

    fn decrypt(&mut self, key: KeyHandle, nonce: &[u8; NONCE_LEN], ciphertext: &[u8]) -> Result<Vec<u8>, HsmError> {
        let request = Request::Decrypt { key, nonce: *nonce, ciphertext: ciphertext.into() };
        let Answer::Bytes(bytes) = self.ask(&request)? else { return Err(unexpected()) };
        Ok(bytes)
    }

    fn agree(&mut self, key: KeyHandle, peer: &PublicPoint) -> Result<SharedX, HsmError> {
        let Answer::Bytes(x) = self.ask(&Request::Agree { key, peer: Point::of_public(peer) })? else {
            return Err(unexpected());
        };
        Ok(SharedX::new(&Zeroizing::new(x))?)
    }

    fn predefined_key_range(&self) -> Option<RangeInclusive<u32>> {
        self.predefined.clone()
    }

    fn reload_predefined(&mut self) -> Result<Vec<KeyHandle>, HsmError> {
        let Answer::Keys(keys) = self.ask(&Request::ReloadPredefined)? else { return Err(unexpected()) };
        self.ledger.forget_volatile();
        Ok(keys)
    }

    fn recover(&mut self) -> Result<Recovery, HsmError> {
        // A worker that lives still may have lost its device: then it finds it itself.
        if self.worker.is_some()
            && let Ok(Answer::Recovery { .. }) = self.ask(&Request::Recover)
        {
            let present = self.list()?;
            return Ok(self.ledger.recover(&present));
        }
        let (worker, capabilities, predefined) = open(&self.program, &self.back_end, &self.pin, self.timeout)?;
        (self.worker, self.capabilities, self.predefined) = (Some(worker), capabilities, predefined);
        let present = self.list()?;
        Ok(self.ledger.recover(&present))
    }
}
